package tasktext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Calls is the text of asyncstacks.
func Calls(p *report.Page, a *answer.AsyncCalls) {
	if len(a.Calls) == 0 {
		nothing(p, len(a.Noted()))
		return
	}
	foldCircles(p, len(a.Calls), func(i int) { call(p, a, i) },
		func(i, j int) bool {
			return equalCalls(&a.Calls[i], &a.Calls[j]) && a.Calls[i].Depth == a.Calls[j].Depth+i-j
		},
		func(i int) string { return "         " + indent(a.Calls[i].Depth+1) })
	p.Printf("\n==> %s\n", report.Count(a.Stacks, "async stack", "async stacks"))
}

// call writes a call, with what it waits for.
func call(p *report.Page, a *answer.AsyncCalls, i int) {
	c := &a.Calls[i]
	if c.Depth == 0 && i > 0 {
		p.Print("\n")
	}
	name := c.Name
	if !c.Method.IsZero() {
		name = c.Method
	}
	p.Printf("%8s %s%s", report.Commas(c.Count), indent(c.Depth), report.Escape(name.String()))
	place(p, &c.AsyncPlace)
	if c.Blocked > 0 {
		p.Printf(" (%s blocked on it)", report.Count(c.Blocked, "thread is", "threads are"))
	}
	p.Print("\n")
	for n := len(c.Suspended) - 1; n >= 0; n-- { // the outermost first, as the calls are
		suspended(p, "           "+indent(c.Depth), &c.Suspended[n])
		if n < len(c.Saved) {
			variables(p, c.Depth, "             ", c.Saved[n])
		}
	}
	variables(p, c.Depth, "           ", c.Variables)
	for _, e := range c.Ends {
		p.Printf("%8s %swaits for %s\n", report.Commas(e.Count), indent(c.Depth+1), report.Escape(e.Reason))
	}
}

// equalCalls reports whether two calls of a chain are equal but for their objects and depths, and show nothing below their lines.
func equalCalls(a, b *answer.AsyncCall) bool {
	bare := func(c *answer.AsyncCall) bool {
		return len(c.Suspended)+len(c.Ends)+len(c.Variables) == 0 && c.Blocked == 0
	}
	return chained(a.Kind) && a.Kind == b.Kind && a.Name.String() == b.Name.String() && a.Count == b.Count &&
		alike(&a.AsyncPlace, &b.AsyncPlace, a.State, b.State) && bare(a) && bare(b)
}

// Tasks is the text of tasks.
func Tasks(p *report.Page, t *answer.Tasks) {
	if t.Faults != nil {
		faults(p, t)
		return
	}
	if t.Count == 0 {
		words := "No matching tasks.\n"
		if len(t.Noted()) > 0 {
			words = "No matching tasks found; some data could not be read.\n"
		}
		p.Print(words)
		return
	}
	p.Printf("%8s %-28s %-12s %s\n", "Count", "Status", "First", "Name")
	for i := range t.Counts {
		r := &t.Counts[i]
		p.Printf("%8s %-28s %s %s\n", report.Commas(r.Count), r.Status, report.Hex12(r.First), report.Escape(r.Name.String()))
	}
	p.Printf("Total %s\n", report.Count(t.Count, "task", "tasks"))
}

// faults writes the tasks that failed.
func faults(p *report.Page, t *answer.Tasks) {
	for i := range t.Faults {
		f := &t.Faults[i]
		about := ""
		if f.Awaited {
			about = "  (what waits for it has not gone on yet)"
		}
		p.Printf("%s %s%s\n", report.Hex12(f.Task), report.Escape(f.Name.String()), about)
		exceptions(p, f.Exceptions)
	}
	if t.More > 0 {
		p.Printf("... and %s more\n", report.Commas(t.More))
	}
	end := "."
	if len(t.Noted()) > 0 {
		end = " (incomplete)."
	}
	p.Printf("%s failed unobserved; exceptions of %s were observed%s\n", report.Count(uint64(len(t.Faults))+t.More, "task", "tasks"),
		report.Count(t.Seen, "other failed task", "other failed tasks"), end)
	for i := range t.Services {
		v := &t.Services[i]
		p.Printf("The hosted service %s %s failed; its host has observed this:\n", report.Hex12(v.Address), report.Escape(v.Type.String()))
		exceptions(p, v.Exceptions)
	}
}

func exceptions(p *report.Page, list []answer.TaskException) {
	for _, e := range list {
		p.Printf("    %s %s: %s\n", report.Hex12(e.Object), report.Escape(e.Type.String()), report.Escape(e.Message.String()))
	}
}
