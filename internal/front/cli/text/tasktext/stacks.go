package tasktext

import (
	"iter"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// stacks writes the stacks of dumpasync for people.
func stacks(p *report.Page, a *answer.Async) {
	n, missing := 0, len(a.Noted())
	w := &frameWriter{p: p}
	for s := range report.Each(p, countMissing(a.Stacks, &missing)) {
		if s.Part {
			continue
		}
		n++
		p.Printf("STACK %d waits for %s\n", n, report.Escape(s.Reason.String()))
		for i := len(s.Waits) - 1; i >= 0; i-- {
			w.write(&s.Waits[i], "  ↑ ")
		}
		for i := 0; i < len(s.Frames); i++ {
			w.write(&s.Frames[i], "")
			if n := links(s.Frames[i:]); n > shownLinks {
				p.Printf("%s… %s more, each the continuation of the one before\n", indent(s.Frames[i].Depth+1), report.Commas(uint64(n-2)))
				i += n - 2 // the last one follows
			}
		}
		roots(p, s.Roots)
		p.Print("\n")
	}
	if n == 0 {
		nothing(p, missing)
	}
}

// countMissing returns a list that counts its missing rows in n.
func countMissing[T any](rows iter.Seq2[T, error], n *int) iter.Seq2[T, error] {
	if rows == nil {
		return nil
	}
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if err != nil {
				*n++
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// shownLinks is how many equal links of a chain are shown.
const shownLinks = 8

// links returns how many tasks at the start of frames are equal but for their addresses, each the continuation of the one before.
func links(frames []answer.AsyncFrame) int {
	first := &frames[0]
	for i := range frames {
		f := &frames[i]
		if !chained(f.Kind) || f.Kind != first.Kind || f.Name.IsZero() || f.Name.String() != first.Name.String() || f.Status != first.Status ||
			f.Depth != first.Depth+i || f.Again || !alike(&f.AsyncPlace, &first.AsyncPlace, f.State, first.State) ||
			len(f.Suspended)+len(f.Fields)+len(f.Variables) > 0 {
			return i
		}
	}
	return len(frames)
}

// chained reports whether objects of a kind are links of long chains: tasks, and the boxes of async methods that call themselves.
func chained(k answer.AsyncKind) bool {
	return k == answer.AsyncTask || k == answer.AsyncMethod || k == answer.AsyncPooled
}

// alike reports whether two async methods are suspended at one place.
func alike(a, b *answer.AsyncPlace, in, other *int32) bool {
	return a.Method.String() == b.Method.String() && a.Await.String() == b.Await.String() && a.File == b.File && a.Line == b.Line &&
		(in == nil) == (other == nil) && (in == nil || *in == *other)
}

// nothing reports that no stack was found, and whether some data is missing.
func nothing(p *report.Page, missing int) {
	if missing > 0 {
		p.Print("No matching stacks found; some data could not be read.\n")
		return
	}
	p.Print("No matching stacks.\n")
}

// A frameWriter writes frames for people.
type frameWriter struct {
	p   *report.Page
	buf []byte // to be used again
}

// write writes a frame, with a mark instead of its depth if there is one.
func (w *frameWriter) write(f *answer.AsyncFrame, mark string) {
	b := append(w.buf[:0], mark...)
	if mark == "" {
		b = append(b, indent(f.Depth)...)
	}
	b = report.AppendHex(b, uint64(f.Object), 12)
	switch {
	case f.State != nil:
		b = append(strconv.AppendInt(append(b, " ("...), int64(*f.State), 10), ')')
	case f.Status != "":
		b = append(append(append(b, " ("...), f.Status...), ')')
	}
	b = append(b, ' ')
	if !f.Method.IsZero() {
		b = append(b, report.Escape(f.Method.String())...)
		b = appendPlace(b, &f.AsyncPlace)
	} else {
		b = append(b, report.Escape(f.AsyncName.Name.String())...)
	}
	if f.Meaning != "" {
		b = append(append(b, ": "...), f.Meaning...)
	}
	if f.Again {
		b = append(b, " (as above)"...)
	}
	w.buf = append(b, '\n')
	_, _ = w.p.Write(w.buf) // the page keeps the error
	w.details(f)
}

// details writes the fields and variables of a frame.
func (w *frameWriter) details(f *answer.AsyncFrame) {
	p := w.p
	for i := range f.Suspended {
		suspended(p, indent(f.Depth)+"    ", &f.Suspended[i])
		if i < len(f.Saved) {
			variables(p, f.Depth, "      ", f.Saved[i])
		}
	}
	for i := range f.Fields {
		x := &f.Fields[i]
		_, value := fieldText(x)
		if note := x.Text.String(); note != "" && note != value {
			value += " = " + note
		}
		p.Printf("%s    %s %s = %s\n", indent(f.Depth), report.Escape(x.Type.String()), report.Escape(x.Name.String()), report.Escape(value))
	}
	variables(p, f.Depth, "    ", f.Variables)
}

// variables writes variables of a frame, each on a line that begins as far in as the frame's and more.
func variables(p *report.Page, depth int, more string, list []answer.AsyncVariable) {
	for i := range list {
		v := &list[i]
		p.Printf("%s%s%s %s = %s\n", indent(depth), more, report.Escape(v.Type.String()), report.Escape(v.Name), report.Escape(v.Value))
	}
}

// suspended writes the position of a method suspended by the runtime itself.
func suspended(p *report.Page, indent string, at *answer.AsyncPlace) {
	p.Printf("%sin %s", indent, report.Escape(at.Method.String()))
	place(p, at)
	p.Print("\n")
}

// appendPlace appends the position of an async method.
func appendPlace(b []byte, at *answer.AsyncPlace) []byte {
	if at == nil {
		return b
	}
	if at.Await.S != "" {
		b = append(append(b, " awaits "...), report.Escape(at.Await.S)...)
	}
	if at.Line > 0 {
		b = append(append(b, " ["...), report.Escape(at.File)...)
		b = append(strconv.AppendInt(append(b, " @ "...), int64(at.Line), 10), ']')
	}
	return b
}

// place writes the position of an async method.
func place(p *report.Page, at *answer.AsyncPlace) { _, _ = p.Write(appendPlace(nil, at)) }

// roots writes what keeps a stack alive.
func roots(p *report.Page, r *answer.RootPaths) {
	switch {
	case r == nil:
		return
	case len(r.Paths) > 0:
	case r.Verdict == answer.Garbage:
		p.Print("  nothing keeps it alive\n")
	default:
		p.Print("  what keeps it alive is unknown\n")
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
