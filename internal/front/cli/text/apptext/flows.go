package apptext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Flows is the text of flows.
func Flows(p *report.Page, a *answer.Flows) {
	if len(a.Flows) == 0 {
		if len(a.Noted()) > 0 {
			p.Print("No AsyncLocal values found; some data could not be read.\n")
		} else {
			p.Print("No AsyncLocal values found.\n")
		}
		return
	}
	for i := range a.Flows {
		flow(p, &a.Flows[i])
	}
	if a.More > 0 {
		p.Printf("… and %d more ExecutionContexts\n", a.More)
	}
}

// flow describes one ExecutionContext.
func flow(p *report.Page, f *answer.Flow) {
	p.Printf("ExecutionContext %s\n", report.Hex12(f.Context))
	for i := range f.Threads {
		p.Printf("  thread     %s\n", report.Escape(thread(&f.Threads[i])))
	}
	if f.First != nil {
		p.Printf("  async      %s", report.Escape(frame(f.First, f.First.AsyncPlace == nil)))
		switch {
		case f.Methods == 2:
			p.Print(", and 1 method more")
		case f.Methods > 2:
			p.Printf(", and %d methods more", f.Methods-1)
		}
		p.Print("\n")
	}
	for i := range f.Values {
		value(p, &f.Values[i])
	}
	p.Print("\n")
}

// value describes the value of an AsyncLocal.
func value(p *report.Page, v *answer.FlowValue) {
	for i := range v.Activities {
		name := "  activity  "
		if i > 0 {
			name = "    part of "
		}
		p.Printf("%s %s %s\n", name, report.Hex12(v.Activities[i].Address), report.Escape(activity(&v.Activities[i])))
	}
	for _, s := range v.Scopes {
		p.Printf("  log scope  %s\n", report.Escape(s))
	}
	if v.Activities == nil && v.Scopes == nil {
		p.Printf("  value      %s %s\n", report.Hex12(v.Address), report.Escape(strings.TrimSpace(v.Type.String()+" "+v.Text)))
	}
}

// activity returns an activity in words.
func activity(a *answer.Activity) string {
	parts := []string{a.Operation.String()}
	add := func(name string, t answer.Text) {
		if !t.IsZero() {
			parts = append(parts, name+" "+t.String())
		}
	}
	if a.Trace.IsZero() {
		add("id", a.ID)
	}
	add("trace", a.Trace)
	add("span", a.Span)
	add("parent", a.Parent)
	if a.Started != nil {
		parts = append(parts, "since "+a.Started.Format("2006-01-02 15:04:05.000 MST"))
	}
	if a.Took != "" {
		parts = append(parts, "took "+a.Took)
	}
	return strings.Join(parts, ", ")
}
