package typetext

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// LoadedTypes is the text of types.
func LoadedTypes(p *report.Page, types iter.Seq2[answer.LoadedType, error]) {
	table := p.Table(
		report.Column{Name: "MT", Kind: report.Pointer},
		report.Column{Name: "BaseSize", Kind: report.PlainInteger},
		report.Column{Name: "Count", Kind: report.Integer},
		report.Column{Name: "TotalSize", Kind: report.Integer},
		report.Column{Name: "Class Name", Kind: report.Text})
	p.Fail(table.Header())
	for t := range report.Each(p, types) {
		if t.Count == nil {
			p.Fail(table.Row(uint64(t.MethodTable), t.BaseSize, nil, nil, t.Name))
			continue
		}
		p.Fail(table.Row(uint64(t.MethodTable), t.BaseSize, *t.Count, *t.Size, t.Name))
	}
}
