package typetext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// Handlers is the text of ehinfo.
func Handlers(p *report.Page, h *answer.Handlers) {
	if h.Details == nil {
		p.Print("No EH info available\n")
		return
	}
	p.Printf("MethodDesc:   %s\n", report.Hex16(h.Method))
	Method(p, h.Details)
	p.Print("\n")
	for i := range h.Clauses {
		handler(p, h.Start, i, &h.Clauses[i])
	}
}

func handler(p *report.Page, start target.Addr, i int, c *answer.HandlerClause) {
	p.Printf("EHHandler %d: %s ", i, c.Kind)
	if c.Kind == answer.HandlerTyped {
		p.Printf("catch(%s) ", report.Escape(c.Catches.String()))
	}
	switch {
	case c.Cloned:
		p.Print("(cloned finally)")
	case c.Duplicate:
		p.Print("(duplicate)")
	}
	p.Printf("\nClause:  %s\nHandler: %s\n", codeRange(start, c.Try), codeRange(start, c.Handler))
	if c.Filter != nil {
		p.Printf("Filter: [%s] [%x]\n", tickAddress(start+target.Addr(*c.Filter)), *c.Filter)
	}
	p.Print("\n")
}

// codeRange returns a range as addresses and as offsets, in SOS's form.
func codeRange(start target.Addr, s answer.CodeSpan) string {
	return fmt.Sprintf("[%s, %s] [%x, %x]",
		tickAddress(start+target.Addr(s.Start)), tickAddress(start+target.Addr(s.End)), s.Start, s.End)
}

// tickAddress returns an address as Windows debuggers print it.
func tickAddress(a target.Addr) string {
	s := report.Hex16(a)
	return s[:8] + "`" + s[8:]
}
