package objecttext

import (
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Where is the text of gcwhere.
func Where(p *report.Page, w *answer.Where) {
	if !w.Found {
		p.Printf("Address %x not found in the managed heap", uint64(w.Address))
		if w.Lost > 0 {
			p.Printf("; %s", lostSegments(w.Lost))
		}
		p.Print(".\n")
		return
	}
	t := p.Columns(-16, -6, -16, -10, -25, -25, -25)
	t.Row("Address", "Heap", "Segment", "Generation", "Allocated", "Committed", "Reserved")
	t.Row(report.Hex12(w.Address), strconv.Itoa(w.Heap), report.Hex12(w.Segment), w.Generation,
		rangeText(w.Allocated), rangeText(w.Committed), rangeText(w.Reserved))
}

// lostSegments returns what a look at all segments left out.
func lostSegments(n int) string {
	if n == 1 {
		return "1 segment can't be read"
	}
	return strconv.Itoa(n) + " segments can't be read"
}

func rangeText(r *answer.Range) string { return report.Hex12(r.Start) + "-" + report.Hex12(r.End) }
