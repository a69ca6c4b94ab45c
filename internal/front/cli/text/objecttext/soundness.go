package objecttext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Soundness is the text of verifyheap. SOS verifies the sync blocks of a part of the heap only. During a collection the faults are counted, and
// listed if traces is set: most are the collector's work.
func Soundness(p *report.Page, s *answer.Soundness, traces bool) {
	if s.Moving && !traces && !p.SOS {
		p.Printf("%s objects verified. The heap can't be judged: a garbage collection was in progress.\n", report.Commas(s.Objects))
		if s.Errors > 0 {
			p.Printf("Left by the collection, or damaged (-ignoregcstate lists all): %s.\n", report.Commas(uint64(s.Errors)))
		}
		return
	}
	if len(s.Faults) > 0 {
		faultTable(p, s)
	}
	badBlocks := 0
	if s.SyncBlocks != nil && (s.Partial || !p.SOS) {
		badBlocks = *s.SyncBlockErrors
		p.Printf("%s SyncBlocks verified, %s errors.\n", report.Commas(uint64(*s.SyncBlocks)), report.Commas(uint64(badBlocks)))
	}
	p.Printf("%s objects verified, %s errors.\n", report.Commas(s.Objects), report.Commas(uint64(s.Errors)))
	switch {
	case s.Errors > 0 || badBlocks > 0:
	case (s.Incomplete || s.Moving) && !p.SOS: // SOS says nothing of it
		p.Print("No heap corruption detected in what could be read.\n")
	default:
		p.Print("No heap corruption detected.\n")
	}
}

func faultTable(p *report.Page, s *answer.Soundness) {
	t := p.Columns(-4, -16, -16, -32, 0)
	t.Row("Heap", "Segment", "Object", "Failure", "Reason")
	for i := range s.Faults {
		f := &s.Faults[i]
		t.Row(fmt.Sprint(f.Heap), report.Hex12(f.Segment), report.Hex12(f.Object), f.Kind, f.Reason)
	}
	if more := s.Errors - len(s.Faults); more > 0 {
		p.Printf("... and %s more\n", report.Commas(uint64(more)))
	}
	p.Print("\n")
}

// ObjectSoundness is the text of verifyobj.
func ObjectSoundness(p *report.Page, s *answer.ObjectSoundness) {
	if s.Errors == 0 {
		p.Printf("object 0x%x is a valid object\n", uint64(s.Object))
		return
	}
	t := p.Columns(-6, -32, 0)
	t.Row("Offset", "Issue", "Description")
	for i := range s.Faults {
		f := &s.Faults[i]
		t.Row(fmt.Sprintf("0x%02x", f.Offset), f.Kind, f.Reason)
	}
	plural := "s"
	if s.Errors == 1 {
		plural = ""
	}
	p.Printf("\n%d error%s  detected.\n", s.Errors, plural)
}

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

// last returns the last object found, or the requested address.
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
