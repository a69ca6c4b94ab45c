package tasktext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// stacks writes the stacks of dumpasync for people.
func stacks(p *report.Page, a *answer.Async) {
	n := 0
	for s := range report.Each(p, a.Stacks) {
		if s.Part {
			continue
		}
		n++
		p.Printf("STACK %d waits for %s\n", n, report.Escape(s.Reason.String()))
		for i := len(s.Waits) - 1; i >= 0; i-- {
			frame(p, &s.Waits[i], "  ↑ ")
		}
		for i := range s.Frames {
			frame(p, &s.Frames[i], "")
		}
		roots(p, s.Roots)
		p.Print("\n")
	}
	if n == 0 {
		nothing(p, a.Noted())
	}
}

// nothing says that no stack was found, and whether there may be some all the same.
func nothing(p *report.Page, missing []error) {
	if len(missing) > 0 {
		p.Print("No such stack was found in what could be read.\n")
		return
	}
	p.Print("There is no such stack.\n")
}

func frame(p *report.Page, f *answer.AsyncFrame, mark string) {
	in := indent(f.Depth)
	if mark != "" {
		in = mark
	}
	p.Printf("%s%s", in, report.Hex12(f.Object))
	switch {
	case f.State != nil:
		p.Printf(" (%d)", *f.State)
	case f.Status != "":
		p.Printf(" (%s)", f.Status)
	}
	if f.AsyncPlace != nil {
		p.Printf(" %s", report.Escape(f.Method.String()))
		place(p, f.AsyncPlace)
	} else {
		p.Printf(" %s", report.Escape(f.AsyncName.Name.String()))
	}
	if f.Meaning != "" {
		p.Printf(": %s", f.Meaning)
	}
	if f.Again {
		p.Print(" (as above)")
	}
	p.Print("\n")
	for i := range f.Fields {
		x := &f.Fields[i]
		_, value := fieldText(x)
		if note := x.Text.String(); note != "" && note != value {
			value += " = " + note
		}
		p.Printf("%s    %s %s = %s\n", indent(f.Depth), report.Escape(x.Type.String()), report.Escape(x.Name.String()), report.Escape(value))
	}
	for i := range f.Variables {
		v := &f.Variables[i]
		p.Printf("%s    %s %s = %s\n", indent(f.Depth), report.Escape(v.Type.String()), report.Escape(v.Name), report.Escape(v.Value))
	}
}

// place writes where an async method stands.
func place(p *report.Page, at *answer.AsyncPlace) {
	if at == nil {
		return
	}
	if at.Await.S != "" {
		p.Printf(" awaits %s", report.Escape(at.Await.S))
	}
	if at.Line > 0 {
		p.Printf(" [%s @ %d]", report.Escape(at.File), at.Line)
	}
}

// roots writes what keeps a stack alive.
func roots(p *report.Page, r *answer.RootPaths) {
	switch {
	case r == nil:
		return
	case len(r.Paths) > 0:
	case r.Verdict == answer.Garbage:
		p.Print("  nothing keeps it alive\n")
	default:
		p.Print("  it is not known what keeps it alive\n")
	}
	for i := range r.Paths {
		path := &r.Paths[i]
		p.Printf("  kept alive by %s\n", report.Escape(path.Root.Name))
		for k := range path.Objects {
			o := &path.Objects[k]
			p.Printf("    -> %s %s\n", report.Hex12(o.Address), report.Escape(o.Type.String()))
		}
	}
}
