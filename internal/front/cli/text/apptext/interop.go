package apptext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// ComWrappers is the text of comwrappers.
func ComWrappers(p *report.Page, a *answer.ComWrappers) {
	if len(a.Managed)+len(a.Native) == 0 {
		none(p, len(a.Noted()), "wrappers of ComWrappers")
		return
	}
	if len(a.Managed) > 0 {
		p.Print("Managed objects that native code can refer to (CCW)\n")
	}
	for i := range a.Managed {
		w := &a.Managed[i]
		p.Printf("  %s %s: wrapper %s, references %s", report.Hex12(w.Object), report.Escape(w.Type.String()), pointer(w.Wrapper), maybe(w.References))
		if w.Trackers.Err == nil && w.Trackers.Value > 0 {
			p.Printf(" and of trackers %s", maybe(w.Trackers))
		}
		p.Printf(", interfaces %s, pointers at %s\n", maybe(w.Interfaces), pointer(w.Dispatches))
	}
	if len(a.Native) > 0 {
		p.Print("Native objects that managed code refers to (RCW)\n")
	}
	for i := range a.Native {
		w := &a.Native[i]
		p.Printf("  %s %s: native object %s, made by %s", report.Hex12(w.Object), report.Escape(w.Type.String()), pointer(w.External), report.Escape(w.Factory.String()))
		if w.Inner.Err == nil && w.Inner.Value != 0 {
			p.Printf(", inner object %s", pointer(w.Inner))
		}
		if w.Unique.Value {
			p.Print(", unique")
		}
		if w.Aggregated.Value {
			p.Print(", aggregated")
		}
		p.Print("\n")
	}
}

func pointer(a answer.Maybe[target.Addr]) string {
	if a.Err != nil {
		return answer.Absent(a.Err)
	}
	return report.Hex12(a.Value)
}
