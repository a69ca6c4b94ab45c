package objecttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// SizeStatistics is the text of sizestats.
func SizeStatistics(p *report.Page, s *answer.SizeStatistics) {
	for i := range s.Generations {
		histogram(p, &s.Generations[i])
	}
}

func histogram(p *report.Page, h *answer.SizeHistogram) {
	name, free := h.Generation, ""
	if name >= "0" && name <= "9" {
		name = "generation" + name
	}
	if h.Free {
		free = "free "
	}
	p.Printf("Size Statistics for %s %sobjects\n\n", name, free)
	if len(h.Sizes) == 0 {
		p.Print("(none)\n\n")
		return
	}
	t := p.Table(
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Name: "Count", Kind: report.Integer},
		report.Column{Name: "Cumulative Size", Kind: report.Integer, Width: 15},
		report.Column{Name: "Cumulative Count", Kind: report.Integer, Width: 16})
	t.Header()
	var size, count uint64
	for _, n := range h.Sizes {
		t.Row(n.Size, n.Count, size, count)
		size += n.Size * n.Count
		count += n.Count
	}
	p.Print("\n")
}
