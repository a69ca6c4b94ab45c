package apptext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Messages is the text of dumphttp.
func Messages(p *report.Page, a *answer.Messages) {
	method, status := report.Column{Name: "Method", Kind: report.Text, Width: 6}, report.Column{Name: "StatusCode", Kind: report.Integer, Width: 10}
	if a.Counts != nil {
		p.Print("Statistics:\n")
		t := p.Table(report.Column{Name: "Count", Kind: report.Integer}, method, status, report.Column{Name: "Host", Kind: report.Text})
		p.Fail(t.Header())
		for i := range a.Counts {
			c := &a.Counts[i]
			p.Fail(t.Row(c.Count, c.Method, statusCell(c.Status), c.Host))
		}
	} else {
		t := p.Table(report.Column{Name: "Address", Kind: report.Pointer}, report.Column{Name: "MethodTable", Kind: report.Pointer}, method, status,
			report.Column{Name: "Uri", Kind: report.Text})
		p.Fail(t.Header())
		for i := range a.Requests {
			m := &a.Requests[i]
			p.Fail(t.Row(m.Address, m.MethodTable, m.Method.String(), statusCell(m.Status), m.URI.String()))
		}
	}
	if !p.SOS && a.Total == 0 && len(a.Noted()) > 0 {
		p.Print("No matching requests found; some data could not be read.\n")
		return
	}
	p.Printf("Total %d requests\n", a.Total)
}

func statusCell(n *int64) any {
	if n == nil {
		return ""
	}
	return *n
}
