package tasktext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Async is the text of dumpasync.
func Async(p *report.Page, a *answer.Async) {
	switch {
	case a.Never && p.SOS:
		p.Print("Unable to find required type.\n")
	case a.Never:
		p.Print("There never was a task: the runtime has not loaded System.Threading.Tasks.Task.\n")
	case a.Types != nil:
		counts(p, a.Types)
	case a.Merged != nil:
		merged(p, a.Merged)
	case p.SOS:
		n := 0
		w := &sosStack{p: p}
		for s := range report.Each(p, a.Stacks) {
			n++
			p.Printf("STACK %d\n", n)
			w.set(s)
			w.write()
			roots(p, s.Roots)
		}
	default:
		stacks(p, a)
	}
}

// counts writes the text of dumpasync -stats.
func counts(p *report.Page, rows []answer.AsyncCount) {
	p.Print("MT               Count    Type\n")
	for i := range rows {
		r := &rows[i]
		p.Printf("%s %-8s %s\n", report.Hex16(r.MethodTable), report.Commas(r.Count), report.Escape(nameIn(p, r.Name, r.SOS)))
	}
}

// nameIn returns the name of objects in the page's form.
func nameIn(p *report.Page, name, sos answer.Text) string {
	if p.SOS {
		return sos.String()
	}
	return name.String()
}

// merged writes the text of dumpasync -coalesce. SOS does not recognize pooled boxes: in its form, stacks that begin
// with one come last.
func merged(p *report.Page, groups []answer.AsyncGroup) {
	n := 0
	for i := range groups {
		if g := &groups[i]; g.Depth == 0 && !(p.SOS && g.Kind == answer.AsyncPooled) && (p.SOS || !g.Part) {
			n++
			mergedStack(p, groups[i:], n)
		}
	}
	for i := range groups {
		if g := &groups[i]; g.Depth == 0 && p.SOS && g.Kind == answer.AsyncPooled {
			n++
			mergedStack(p, groups[i:], n)
		}
	}
}

// mergedStack writes the first group of the list with its continuations.
func mergedStack(p *report.Page, groups []answer.AsyncGroup, number int) {
	p.Printf("STACKS %d\n", number)
	n := 1
	for n < len(groups) && groups[n].Depth > 0 {
		n++
	}
	if p.SOS {
		mergedAsSOS(p, groups[:n])
	} else {
		foldCircles(p, n, func(i int) { group(p, &groups[i]) },
			func(i, j int) bool {
				return equalGroups(&groups[i], &groups[j]) && groups[i].Depth == groups[j].Depth+i-j
			},
			func(i int) string { return indent(groups[i].Depth + 1) })
	}
	p.Print("\n")
}

// mergedAsSOS writes a stack in SOS's form, which has no ValueTasks' boxes unless the stack begins with a pooled one.
func mergedAsSOS(p *report.Page, groups []answer.AsyncGroup) {
	left := -1 // the depth of a group with omitted continuations
	for i := range groups {
		g := &groups[i]
		if left >= 0 && g.Depth > left {
			continue
		}
		if left = -1; g.Value && groups[0].Kind != answer.AsyncPooled {
			left = g.Depth
			continue
		}
		group(p, g)
	}
}

// group writes a group.
func group(p *report.Page, g *answer.AsyncGroup) {
	p.Printf("%s[%d] %s ", indent(g.Depth), g.Count, report.Hex16(g.MethodTable))
	if g.State != nil {
		p.Printf("(%d) ", *g.State)
	}
	p.Printf("%s", report.Escape(nameIn(p, g.Name, g.SOS)))
	if !p.SOS {
		place(p, &g.AsyncPlace)
	}
	p.Print("\n")
	for n := 0; n < len(g.Suspended) && !p.SOS; n++ {
		suspended(p, "  "+indent(g.Depth), &g.Suspended[n])
	}
	members(p, g)
}

// equalGroups reports whether two groups of a chain are equal but for their objects and depths, and show nothing below their lines.
func equalGroups(a, b *answer.AsyncGroup) bool {
	bare := func(g *answer.AsyncGroup) bool { return len(g.Suspended)+len(g.Members) == 0 }
	return chained(a.Kind) && a.Kind == b.Kind && a.MethodTable == b.MethodTable && a.Count == b.Count &&
		alike(&a.AsyncPlace, &b.AsyncPlace, a.State, b.State) && bare(a) && bare(b)
}

// members writes the variables of a group's async methods.
func members(p *report.Page, g *answer.AsyncGroup) {
	for i := range g.Members {
		m := &g.Members[i]
		p.Printf("%s    %s\n", indent(g.Depth), report.Hex12(m.Object))
		variables(p, g.Depth, "      ", m.Variables)
		for n := range m.Saved {
			variables(p, g.Depth, "      ", m.Saved[n])
		}
	}
	if g.MoreMembers > 0 {
		p.Printf("%s    … %d more\n", indent(g.Depth), g.MoreMembers)
	}
}

func indent(depth int) string { return report.Indent(depth, 2) }

// NoTask writes the text of SOS's taskstate for an object that is not a task.
func NoTask(p *report.Page) {
	if p.SOS {
		p.Print("Either a valid task address or -v <state value> is expected...\n\n")
	}
}

// State is the text of taskstate.
func State(p *report.Page, s *answer.TaskState) {
	if p.SOS {
		p.Printf("%s\n\n", s.Status)
		return
	}
	text.TaskState(p, s)
}
