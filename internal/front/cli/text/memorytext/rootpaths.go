package memorytext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// RootPaths is the text of gcroot.
func RootPaths(p *report.Page, r *answer.RootPaths) {
	if p.SOS {
		sosRootPaths(p, r)
		return
	}
	p.Printf("%s%s\n", object(&r.Object), retained(r))
	switch {
	case r.Older:
		p.Printf("It survives a collection of generation %d: it is in an older one.\n", *r.Condemned)
		return
	case len(r.Paths) == 0:
		notHeld(p, r)
		return
	}
	for i := range r.Paths {
		path := &r.Paths[i]
		p.Printf("\n%s\n", report.Escape(rootName(&path.Root)))
		steps(p, path.Objects)
	}
	if r.Limited {
		p.Print("\nThere may be more paths (-limit reached).\n")
	}
}

// object returns an object on one line.
func object(o *answer.PathObject) string {
	generation := o.Generation
	if len(generation) == 1 {
		generation = "generation " + generation
	}
	return fmt.Sprintf("%s %s, %s bytes, %s", report.Hex12(o.Address), report.Escape(o.Type.String()), report.Commas(o.Size), generation)
}

func retained(r *answer.RootPaths) string {
	if r.Retained == nil {
		return ""
	}
	return fmt.Sprintf(", retains %s bytes", report.Commas(*r.Retained))
}

// rootName returns a root in words, with where it is.
func rootName(r *answer.GCRoot) string {
	name := r.Name
	switch r.Kind {
	case answer.RootHandle, answer.RootFinalizer:
		name += " " + report.Hex12(r.Address)
	case answer.RootStack:
		if t := r.Thread; t != nil {
			name += threadIDs(t)
		}
	}
	return name
}

// threadIDs returns the ids of a thread that the name of a root lacks, in brackets.
func threadIDs(t *answer.GCRootThread) string {
	var parts []string
	if t.Index >= 0 {
		parts = append(parts, fmt.Sprintf("thread %d", t.Index))
	}
	if t.ManagedID != 0 && t.OSID != 0 {
		parts = append(parts, fmt.Sprintf("managed %d", t.ManagedID))
	}
	if t.Name.Err == nil && t.Name.S != "" {
		parts = append(parts, answer.Quote(t.Name.S))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// maxEdge is how wide the column of references gets.
const maxEdge = 40

// shownSteps is how many lines at each end of a long path are written.
const shownSteps = 100

// steps writes the objects of a path, in front of each how the one before refers to it. Of a long path it writes the
// ends.
func steps(p *report.Page, list []answer.PathStep) {
	width := 0
	for i := range list {
		width = max(width, min(maxEdge, len([]rune(edge(list[i].Edge)))))
	}
	var lines []string
	for i := 0; i < len(list); i++ {
		s := &list[i]
		lines = append(lines, fmt.Sprintf("    %-*s -> %s %s\n", width, edge(s.Edge), report.Hex12(s.Address), report.Escape(s.Type.String())))
		if n := alike(list[i:]); n >= folded {
			lines = append(lines, fmt.Sprintf("    %-*s    ... %s more %s, each by %s\n", width, "", report.Commas(uint64(n-1)), report.Escape(s.Type.String()), edge(list[i+1].Edge)))
			i += n - 1
		}
	}
	for i := range lines {
		if left := len(lines) - 2*shownSteps; left > 1 && i >= shownSteps && i < shownSteps+left {
			if i == shownSteps {
				p.Printf("    %-*s    ... %s more lines; --json lists all steps\n", width, "", report.Commas(uint64(left)))
			}
			continue
		}
		p.Print(lines[i])
	}
}

// folded is how many steps that are alike are written as one line: a list of objects by which a path goes.
const folded = 4

// alike returns how many steps follow the first that lead to objects of its type, all by one field.
func alike(list []answer.PathStep) int {
	n := 1
	for n < len(list) && list[n].Type.String() == list[0].Type.String() && list[n].MethodTable == list[0].MethodTable && edge(list[n].Edge) == edge(list[1].Edge) {
		n++
	}
	return n - 1
}

// edge returns a reference in words.
func edge(e *answer.PathEdge) string {
	if e == nil {
		return ""
	}
	name := report.Escape(e.Name.String())
	switch {
	case e.Kind == answer.EdgeStatic:
		name = "static " + name
	case !strings.HasPrefix(name, "[") && !strings.HasPrefix(name, "(") && !strings.HasPrefix(name, "<"):
		name = "." + name
	}
	if e.More {
		name += " ..."
	}
	return name
}

// notHeld reports that no path was found, and what that means.
func notHeld(p *report.Page, r *answer.RootPaths) {
	e := r.Evidence
	if r.Conclusion != nil {
		p.Printf("%s\n", r.Conclusion.Text)
	}
	p.Printf("%s roots keep %s of %s objects alive, not this one.\n",
		report.Commas(e.Roots), report.Commas(e.Live), report.Commas(e.Objects))
	switch {
	case e.Referrers == 0 && r.Verdict == answer.NotKnown:
		p.Print("No object that could be read references it.\n")
		return
	case e.Referrers == 0:
		p.Print("No object references it.\n")
		return
	case e.Referrers > uint64(len(e.First)):
		p.Printf("%s unreachable objects reference it; the first:\n", report.Commas(e.Referrers))
	default:
		p.Print("Referenced by unreachable objects:\n")
	}
	for i := range e.First {
		p.Printf("    %s\n", object(&e.First[i]))
	}
}

// ObjectPath is the text of pathto.
func ObjectPath(p *report.Page, o *answer.ObjectPath) {
	switch {
	case !o.Found && p.SOS:
		p.Printf("Could not find a path from %x to %x\n", uint64(o.From.Address), uint64(o.To.Address))
	case !o.Found:
		p.Printf("%s\ndoes not lead to\n%s\n", object(&o.From), object(&o.To))
	case p.SOS:
		sosSteps(p, o.Objects, false)
	default:
		steps(p, o.Objects)
	}
}

// sosRootPaths is the form of SOS: a heading for each kind of root, thread and frame.
func sosRootPaths(p *report.Page, r *answer.RootPaths) {
	if r.Older {
		p.Printf("Object %x will survive this collection:\n    gen(%[1]x) = %s > %d = condemned generation.\n", uint64(r.Object.Address),
			sosGeneration(r.Object.Generation), *r.Condemned)
		return
	}
	var last *answer.RootPath
	for i := range r.Paths {
		path := &r.Paths[i]
		sosRoot(p, path, last)
		sosSteps(p, path.Objects, true)
		p.Print("\n")
		last = path
	}
	p.Printf("Found %s unique roots.\n", report.Commas(uint64(len(r.Paths))))
}

// sosGeneration returns the name of a generation in ClrMD.
func sosGeneration(name string) string {
	if len(name) == 1 {
		return "Generation" + name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// sosRoot writes what a path starts at, with the headings that differ from the last one's.
func sosRoot(p *report.Page, path, last *answer.RootPath) {
	r := &path.Root
	var kind answer.RootKind
	if last != nil {
		kind = last.Root.Kind
	}
	switch r.Kind {
	case answer.RootStack:
		sosStackRoot(p, path, last)
	case answer.RootHandle:
		if kind != r.Kind {
			p.Print("HandleTable:\n")
		}
		p.Printf("    %s (%s)\n", report.Hex16(r.Address), sosHandle(r.Handle))
	case answer.RootFinalizer:
		if kind != r.Kind {
			p.Print("Finalizer Queue:\n")
		}
		p.Printf("    %s (finalizer root)\n", report.Hex16(r.Address))
	case answer.RootOlder:
		if kind != r.Kind {
			p.Print("Older Generation:\n")
		}
		p.Printf("    %x\n", uint64(r.Object))
	default:
		if kind != r.Kind {
			p.Printf("%s:\n", strings.ToUpper(string(r.Kind[:1]))+string(r.Kind[1:]))
		}
		p.Printf("    %s\n", strings.TrimSpace(fmt.Sprintf("%s (%s)", report.Hex16(r.Address), report.Escape(r.Name))))
	}
}

// sosHandle returns the kind of a handle in the words of SOS.
func sosHandle(kind string) string {
	switch kind {
	case "AsyncPinned":
		return "async pinned handle"
	case "RefCounted":
		return "ref counted handle"
	case "SizedRef":
		return "sized ref handle"
	}
	return strings.ToLower(kind) + " handle"
}

func sosStackRoot(p *report.Page, path, last *answer.RootPath) {
	r := &path.Root
	onStack := last != nil && last.Root.Kind == answer.RootStack
	if r.Thread != nil && (!onStack || !sameThread(last.Root.Thread, r.Thread)) {
		p.Printf("Thread %x:\n", r.Thread.OSID)
		onStack = false
	}
	if f := r.Frame; f != nil && (!onStack || last.Root.Frame == nil || last.Root.Frame.SP != f.SP || last.Root.Frame.IP != f.IP) {
		line := fmt.Sprintf("    %x", uint64(f.SP))
		if f.IP != 0 {
			line += fmt.Sprintf(" %x", uint64(f.IP))
		}
		method := report.Escape(path.Method.String())
		if method == "" {
			method = report.Escape(f.Method.String())
		}
		switch {
		case f.Class != "" && method != "":
			line += fmt.Sprintf(" [%s]  (%s)", f.Class, method)
		case f.Class != "":
			line += fmt.Sprintf(" [%s] ", f.Class)
		case method != "":
			line += " " + method
		}
		p.Print(line + "\n")
	}
	line := "        "
	if r.Place != "" {
		line += r.Place + ":"
	}
	if r.Address != target.Addr(0) {
		line += " " + report.Hex16(r.Address)
	}
	p.Print(line + "\n")
}

func sameThread(a, b *answer.GCRootThread) bool {
	return a != nil && a.Index == b.Index && a.OSID == b.OSID && a.ManagedID == b.ManagedID
}

// sosSteps writes the objects of a path as SOS does.
func sosSteps(p *report.Page, list []answer.PathStep, statics bool) {
	for i := range list {
		s, extra := &list[i], ""
		switch e := s.Edge; {
		case e == nil:
		case e.Kind == answer.EdgeDependent:
			extra = "(dependent handle)"
		case e.Kind == answer.EdgeStatic && i == 1 && statics:
			extra = fmt.Sprintf("(static variable: %s)", report.Escape(e.Name.String()))
		}
		p.Printf("          -> %-16s %s %s\n", report.Hex12(s.Address), report.Escape(s.Type.String()), extra)
	}
}
