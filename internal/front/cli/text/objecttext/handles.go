package objecttext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// HandlesOptions select the form of gchandles.
type HandlesOptions struct {
	Stat      bool // only the statistics
	PerDomain bool // statistics for each application domain
}

// handleLabels are SOS's names of the types of handles, in its order.
var handleLabels = [...]struct{ typ, label string }{
	{"Strong", "Strong Handles:"},
	{"Pinned", "Pinned Handles:"},
	{"AsyncPinned", "Async Pinned Handles:"},
	{"RefCounted", "Ref Count Handles:"},
	{"WeakLong", "Weak Long Handles:"},
	{"WeakShort", "Weak Short Handles:"},
	{"WeakNativeCOM", "Weak WinRT Handles:"},
	{"WeakInteriorPointer", "Weak Interior Pointer Handles:"},
	{"Variable", "Variable Handles:"},
	{"SizedRef", "SizedRef Handles:"},
	{"Dependent", "Dependent Handles:"},
	{"CrossReference", "Other Handles:"},
}

// The widths of the columns of types and of their labels.
const (
	handleTypeWidth  = 11
	handleLabelWidth = 21
)

// Handles is the text of gchandles.
func Handles(p *report.Page, h *answer.Handles, o HandlesOptions) {
	if !o.Stat {
		p.Printf("%16s %-11s %16s %8s %16s %s\n", "Handle", "Type", "Object", "Size", "Data", "Type")
	}
	var tally answer.HandleTally
	for row := range report.Each(p, h.Handles) {
		if p.SOS && row.Table >= h.Heaps {
			continue // SOS ignores the tables of processors without a heap
		}
		tally.Add(&row)
		if !o.Stat {
			handleRow(p, &row)
		}
	}
	if h.Count.Err() != nil {
		return // the list has failed
	}
	if !o.Stat && !o.PerDomain {
		p.Print("\n")
	}
	if o.PerDomain && !domainHeadings(p, h) {
		return
	}
	handleStatistics(p, &tally, h.All)
}

func handleRow(p *report.Page, h *answer.Handle) {
	data := ""
	switch h.Type {
	case "Dependent":
		data = report.Hex16(h.Dependent)
	case "WeakNativeCOM", "WeakInteriorPointer":
		data = report.Hex16(h.Extra)
	}
	name := h.ObjectType.String()
	if p.SOS && h.MethodTable == 0 {
		name = "<error>"
	}
	p.Printf("%s %-*s %s %8d %16s %s\n", report.Hex16(h.Address), handleTypeWidth, cut(p, h.Type, handleTypeWidth), report.Hex16(h.Object),
		h.Size, data, report.Escape(name))
}

// cut truncates a text to a column's width in SOS's form.
func cut(p *report.Page, s string, width int) string {
	if p.SOS && len(s) > width {
		return s[:width]
	}
	return s
}

// domainHeadings writes the headings before the statistics of the application domain, including the system domain
// without handles.
func domainHeadings(p *report.Page, h *answer.Handles) bool {
	if h.SystemDomain.Err() != nil {
		p.Fail(h.SystemDomain.Err())
		return false
	}
	domainHeading(p, h.SystemDomain.Value, " (System Domain)")
	handleStatistics(p, &answer.HandleTally{}, h.All)
	if h.AppDomain.Err() != nil {
		p.Fail(h.AppDomain.Err())
		return false
	}
	domainHeading(p, h.AppDomain.Value, "")
	return true
}

func domainHeading(p *report.Page, a target.Addr, note string) {
	p.Printf("%s\nGC Handle Statistics for AppDomain %s%s\n\n", strings.Repeat("-", 78), report.Hex16(a), note)
}

func handleStatistics(p *report.Page, t *answer.HandleTally, counts bool) {
	plainStatistics(p, t.Types(), func(c *answer.TypeCount) string { return c.Type.String() })
	p.Printf("Total %d objects\n", t.Count)
	if !counts {
		return
	}
	p.Print("\nHandles:\n")
	for _, l := range handleLabels {
		if n := t.Of(l.typ); n != 0 {
			p.Printf("    %-*s %d\n", handleLabelWidth, cut(p, l.label, handleLabelWidth), n)
		}
	}
}
