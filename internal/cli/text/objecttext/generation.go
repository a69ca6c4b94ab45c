package objecttext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// Generation is the text of dumpgen.
func Generation(p *report.Page, g *answer.GenerationObjects) {
	if g.Objects != nil {
		p.Printf("%16s %16s %8s\n", "Address", "MT", "Size")
		p.Fail(g.Objects.Format(0, func() answer.AppendObject { return appendPlain }, writer(p)))
	} else {
		plainStatistics(p, g.Types, func(c *answer.TypeCount) string { return typeName(p, c.Type, c.MethodTable) })
	}
	if g.Count.Err == nil {
		p.Printf("Total %d objects\n\n", g.Count.Value)
	}
}

func appendPlain(b []byte, o *answer.HeapObject) []byte {
	b = append(report.AppendHex(b, uint64(o.Address), 16), ' ')
	return fmt.Appendf(report.AppendHex(b, uint64(o.MethodTable), 16), " %8d\n", o.Size)
}

// plainStatistics are statistics by type in the form of SOS's native commands.
func plainStatistics(p *report.Page, list []answer.TypeCount, name func(*answer.TypeCount) string) {
	p.Printf("Statistics:\n%16s %8s %12s %s\n", "MT", "Count", "TotalSize", "Class Name")
	for i := range list {
		e := &list[i]
		p.Printf("%s %8d %12d %s\n", report.Hex16(e.MethodTable), e.Count, e.Size, report.Escape(name(e)))
	}
}

// typeName returns the name of a type. SOS has words of its own for one that is
// missing.
func typeName(p *report.Page, name answer.Text, mt target.Addr) string {
	if name.Err != nil && p.SOS {
		return fmt.Sprintf("<unknown_type_%x>", uint64(mt))
	}
	return name.String()
}
