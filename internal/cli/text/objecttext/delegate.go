package objecttext

import (
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Delegate is the text of dumpdelegate. SOS lists the last call first.
func Delegate(p *report.Page, calls iter.Seq2[answer.DelegateCall, error]) {
	list := slices.Collect(report.Each(p, calls))
	if p.SOS {
		slices.Reverse(list)
	}
	p.Print("Target           Method           Name\n")
	for _, call := range list {
		if call.Method == 0 {
			p.Printf("%s (unknown)\n", report.Hex16(call.Target))
			continue
		}
		name := answer.Text{S: call.Name, Err: call.Missing.Err}
		p.Printf("%s %s %s\n", report.Hex16(call.Target), report.Hex16(call.Method), report.Escape(name.String()))
	}
}

// NotDelegate says, in SOS's form, that an object of the type is no delegate.
func NotDelegate(p *report.Page, typ answer.Text) {
	if p.SOS {
		p.Printf("Object of type '%s' is not a delegate.\n", report.Escape(typ.String()))
	}
}
