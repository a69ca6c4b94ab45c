package objecttext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// Neighbours is the text of listnearobj.
func Neighbours(p *report.Page, n *answer.Neighbours) {
	if n.Before == nil {
		p.Printf("Address %x is the first object on the segment.\n", uint64(n.Address))
	}
	neighbour(p, "Before:", n.Before)
	gap(p, n.Gap, n.Before)
	neighbour(p, "Current:", n.Current)
	gap(p, n.Gap, n.Current)
	neighbour(p, "Next:", n.Next)
	for _, err := range n.Corrupt {
		p.Printf("Error Detected: %s\n", report.Escape(err.Error()))
	}
	if n.Next == nil {
		p.Printf("%x is the last object on the segment\n", uint64(last(n)))
	}
	if n.Consistent {
		p.Print("Heap local consistency confirmed.\n")
	} else {
		p.Print("Heap local consistency not confirmed.\n")
	}
}

// last returns the last object that there is, else what was asked for.
func last(n *answer.Neighbours) target.Addr {
	switch {
	case n.Current != nil:
		return n.Current.Address
	case n.Before != nil:
		return n.Before.Address
	}
	return n.Address
}

func neighbour(p *report.Page, label string, o *answer.Neighbour) {
	if o != nil {
		p.Printf("%-22s %s %-30s %s\n", label, report.Hex12(o.Address), bytesText(o.Size), report.Escape(typeName(p, o.Type, o.MethodTable)))
	}
}

// gap writes the allocation context that begins where o ends.
func gap(p *report.Page, g *answer.Range, o *answer.Neighbour) {
	if o != nil && g != nil && o.End == g.Start {
		p.Printf("%-22s %s %-30s %s\n", "Gap:", rangeText(g), bytesText(g.Size()), "GC Allocation Context (expected gap in the heap)")
	}
}

func bytesText(n uint64) string { return fmt.Sprintf("%s (0x%x)", report.Commas(n), n) }
