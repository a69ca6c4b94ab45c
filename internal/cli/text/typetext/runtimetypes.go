package typetext

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// RuntimeTypes is the text of dumpruntimetypes. SOS knows no domain of types
// that have no MethodTable.
func RuntimeTypes(p *report.Page, types iter.Seq2[answer.RuntimeType, error]) {
	table := p.Table(report.Column{Name: "Address", Kind: report.Pointer}, report.Column{Name: "Domain", Kind: report.Pointer},
		report.Column{Name: "MT", Kind: report.Pointer}, report.Column{Name: "Type Name", Kind: report.TypeName})
	none := true
	for t := range report.Each(p, types) {
		if none {
			p.Fail(table.Header())
			none = false
		}
		var domain any
		if t.Handle&2 == 0 {
			domain = uint64(t.Domain)
		}
		p.Fail(table.Row(uint64(t.Address), domain, uint64(t.Handle), t.Name))
	}
	if none && p.Err() == nil {
		p.Print("No System.RuntimeType objects found.\n")
	}
}
