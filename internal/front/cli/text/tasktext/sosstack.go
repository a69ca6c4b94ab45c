package tasktext

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// A sosStack writes a stack in SOS's order. Of several continuations of a frame, the last one comes first.
// Continuations that SOS does not recognize as frames come at once. A frame is repeated each time that something
// leads to it.
type sosStack struct {
	p      *report.Page
	s      *answer.AsyncStack
	next   [][]int32             // by frame: the frames that continue it
	first  map[target.Addr]int32 // of an object that several frames are: the one that has its continuations
	on     []bool                // a frame is one of those around the current one
	path   []int32               // of set
	todo   []sosStep
	buf    []byte // of line
	lines  int
	shift  int  // one deeper, behind an awaiter
	pooled bool // SOS knows nothing of the stack
}

// A sosStep is a frame to be written; with leave the end of what continues it.
type sosStep struct {
	frame int32
	depth int
	leave bool
}

// maxSOSLines bounds the lines of one stack: frames that many lead to are written as often.
const maxSOSLines = 1 << 22

// set takes a stack to be written. What the writer has allocated for the one before is used again.
func (w *sosStack) set(s *answer.AsyncStack) {
	n := len(s.Frames)
	w.s, w.first, w.lines, w.shift, w.todo = s, nil, 0, 0, w.todo[:0]
	w.next, w.on = slices.Grow(w.next[:0], n)[:n], slices.Grow(w.on[:0], n)[:n]
	clear(w.on)
	for i := range w.next {
		w.next[i] = w.next[i][:0]
	}
	w.pooled = n > 0 && s.Frames[0].Kind == answer.AsyncPooled
	again := false
	path := w.path[:0]
	for i := range s.Frames {
		f := &s.Frames[i]
		path = path[:f.Depth]
		if f.Depth > 0 && (!f.Value || w.pooled) {
			above := path[f.Depth-1]
			w.next[above] = append(w.next[above], int32(i))
		}
		path = append(path, int32(i))
		again = again || f.Again
	}
	w.path = path
	if !again {
		return
	}
	w.first = make(map[target.Addr]int32, n)
	for i := range s.Frames {
		if f := &s.Frames[i]; !f.Again {
			w.first[f.Object] = int32(i)
		}
	}
}

func (w *sosStack) write() {
	if a := w.s.Awaiter; a != nil {
		w.p.Printf("<< Awaiting: %s %s %s >>\n", report.Hex16(a.Address), report.Hex16(a.MethodTable), report.Escape(a.Type.String()))
		w.shift = 1
	}
	w.todo = append(w.todo, sosStep{0, w.shift, false})
	for len(w.todo) > 0 && w.p.Err() == nil {
		at := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if at.leave {
			w.on[at.frame] = false
			continue
		}
		if w.lines++; w.lines > maxSOSLines {
			w.p.Warn(target.Unsupportedf("the stack has more than %d lines", maxSOSLines))
			break
		}
		w.frame(at)
	}
	w.p.Print("\n")
}

// frame writes a frame, and puts off what continues it.
func (w *sosStack) frame(at sosStep) {
	f := &w.s.Frames[at.frame]
	state := f.Words
	if f.State != nil {
		state = strconv.Itoa(int(*f.State))
	}
	w.line(f, at.depth, state)
	w.fields(f, at.depth+4)
	from := at.frame
	if f.Again {
		var ok bool
		if from, ok = w.first[f.Object]; !ok {
			return
		}
	}
	if w.on[from] {
		return // a ring
	}
	w.on[from] = true
	w.todo = append(w.todo, sosStep{from, 0, true})
	for _, n := range w.next[from] {
		if g := &w.s.Frames[n]; w.known(g) {
			w.todo = append(w.todo, sosStep{n, at.depth + 1, false})
		} else {
			w.line(g, at.depth+1, g.Words)
		}
	}
}

// known reports whether a frame is one for SOS.
func (w *sosStack) known(f *answer.AsyncFrame) bool {
	return f.Kind != answer.AsyncOther && !f.Left && (f.Kind != answer.AsyncPooled || w.pooled)
}

func (w *sosStack) line(f *answer.AsyncFrame, depth int, state string) {
	b := append(w.buf[:0], indent(depth)...)
	b = append(report.AppendHex(b, uint64(f.Object), 16), ' ')
	b = append(report.AppendHex(b, uint64(f.MethodTable), 16), " ("...)
	b = append(append(append(b, state...), ") "...), report.Escape(f.AsyncName.SOS.String())...)
	w.buf = append(b, '\n')
	_, _ = w.p.Write(w.buf) // the page keeps the error
}

// fields writes the fields of a frame.
func (w *sosStack) fields(f *answer.AsyncFrame, depth int) {
	if f.Fields == nil {
		return
	}
	tab := indent(depth)
	w.p.Printf("%s%16s %16s %-32s %16s Name\n", tab, "Address", "MT", "Type", "Value")
	for i := range f.Fields {
		x := &f.Fields[i]
		at, value := fieldText(x)
		w.p.Printf("%s%s %s %-32s %16s %s\n", tab, report.Hex16(at), report.Hex16(x.MethodTable.Value), report.Escape(lastPart(x.Type.String(), 32)),
			report.Escape(lastPart(value, 16)), report.Escape(x.Name.String()))
	}
}

// lastPart returns the end of a text that is longer than n characters, with dots before it.
func lastPart(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "..." + string(r[len(r)-n+3:])
}

// fieldText returns where a field is, of a reference what it refers to, and its value.
func fieldText(f *answer.AsyncField) (at target.Addr, value string) {
	if f.Missing.Err != nil {
		return f.Address, answer.Absent(f.Missing.Err)
	}
	v := f.Value
	switch v.Kind {
	case answer.KindReference:
		return target.Addr(v.Bits), referenceText(f)
	case answer.KindStruct:
		return f.Address, report.Hex16(f.Address)
	case answer.KindPointer, answer.KindByRef:
		return f.Address, report.Hex16(v.Bits)
	case answer.KindChar:
		if v.Bits >= 32 && v.Bits < 127 {
			return f.Address, fmt.Sprintf("'%c'", rune(v.Bits))
		}
		return f.Address, fmt.Sprintf("'\\u%04X'", v.Bits)
	}
	return f.Address, v.Plain()
}

func referenceText(f *answer.AsyncField) string {
	switch {
	case f.Value.Bits == 0:
		return "null"
	case f.Array != nil:
		return fmt.Sprintf("%s[%d]", f.Array.Element, f.Array.Length)
	case f.Type.S == "System.String":
		return f.Text.String()
	}
	return report.Hex16(f.Value.Bits)
}
