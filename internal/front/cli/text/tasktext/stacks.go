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
		foldCircles(p, len(s.Frames), func(i int) { w.write(&s.Frames[i], "") },
			func(i, j int) bool {
				return equalFrames(&s.Frames[i], &s.Frames[j]) && s.Frames[i].Depth == s.Frames[j].Depth+i-j
			},
			func(i int) string { return indent(s.Frames[i].Depth + 1) })
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

const (
	// shownLinks is how many rounds of a chain are shown if there are no more.
	shownLinks = 8
	// mostInTurn is how many links may take turns in a chain: a method that calls itself has one, A that awaits B that awaits A two.
	mostInTurn = 8
)

// foldCircles writes n links. Where few of them take turns many times, it writes the first and the last round, and how many links stand
// between. equal reports whether a link equals an earlier one.
func foldCircles(p *report.Page, n int, write func(i int), equal func(i, j int) bool, indented func(i int) string) {
	for i := 0; i < n; i++ {
		turns, length := circle(i, n, equal)
		for range turns - 1 {
			write(i)
			i++
		}
		write(i)
		if length == 0 {
			continue
		}
		between, which := report.Commas(uint64(length-2*turns)), ""
		if turns > 1 {
			which = " these " + strconv.Itoa(turns) + " in turn,"
		}
		p.Printf("%s… %s more,%s each the continuation of the one before\n", indented(i), between, which)
		i += length - 2*turns // the last round follows
	}
}

// circle returns how many links take turns at the start of a chain, and the length of all rounds that they take, or 1 and 0 if these are few.
func circle(start, n int, equal func(i, j int) bool) (turns, length int) {
	for turns = 1; turns <= mostInTurn && start+turns < n; turns++ {
		end := start + turns
		for end < n && equal(end, end-turns) {
			end++
		}
		if rounds := (end - start) / turns; rounds > shownLinks {
			return turns, rounds * turns
		}
	}
	return 1, 0
}

// equalFrames reports whether two tasks of a chain are equal but for their addresses and depths, and show nothing below their lines.
func equalFrames(a, b *answer.AsyncFrame) bool {
	bare := func(f *answer.AsyncFrame) bool {
		return len(f.Suspended)+len(f.Fields)+len(f.Variables) == 0 && !f.Again
	}
	return chained(a.Kind) && a.Kind == b.Kind && !a.Name.IsZero() && a.Name.String() == b.Name.String() && a.Status == b.Status &&
		alike(&a.AsyncPlace, &b.AsyncPlace, a.State, b.State) && bare(a) && bare(b)
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
