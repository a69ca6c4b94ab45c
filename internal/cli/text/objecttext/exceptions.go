package objecttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Exceptions is the text of dumpexceptions.
func Exceptions(p *report.Page, a *answer.Exceptions) {
	p.Printf("%16s %16s %s %s\n", "Address", "MethodTable", "Message", "Name")
	for e := range report.Each(p, a.Exceptions) {
		message := "<null>"
		if e.Message != nil {
			message = report.EscapeText(e.Message.String())
		}
		p.Printf("%16s %16s %s\n        Message: %s\n", report.Hex12(e.Address), report.Hex12(e.MethodTable),
			report.Escape(typeName(p, e.Type, e.MethodTable)), message)
		if !e.Frame.IsZero() {
			p.Printf("        StackFrame: %s\n", report.Escape(e.Frame.String()))
		}
	}
	if a.Count.Err == nil {
		p.Printf("\n    Total: %d objects\n", a.Count.Value)
	}
}
