package crash

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
)

// nativeStack adds the frames of the thread that died in a dump with only stacks: by unwind data of module files, by
// frame pointers, or by a scan.
func (d *describer) nativeStack() {
	t := d.died.Thread
	if t == nil || t.OS == nil {
		return
	}
	walker, err := d.walker()
	if err != nil {
		d.out.Note(err)
		return
	}
	describer := threads.NewDescriber(threads.DescribeOptions{Symbols: d.symbols()}, &d.out.Gaps)
	for f := range walker.Walk(d.ctx, nil, t.OS.Registers, stackwalk.WalkOptions{Native: true}) {
		if f.Err != nil {
			d.out.Note(fmt.Errorf("the stack ends at %#x: %w", uint64(f.SP), f.Err))
		}
		d.out.Frames++
		row := describer.Frame(&f)
		out := answer.CrashFrame{SP: f.SP, IP: f.IP, Method: answer.Text{S: row.NativeName()}, Place: d.place(f.IP), AtException: f.AtException}
		if row.Guessed {
			out.Guess = row.Trust
		}
		d.out.Stack = append(d.out.Stack, out)
	}
}

// carried describes the exceptions of all threads.
func (d *describer) carried() {
	d.out.Carried = describeCarried(d.rt, d.died.carried, &d.out.Gaps)
}

func describeCarried(rt *dac.Runtime, list []carried, g *answer.Gaps) []answer.CarriedException {
	var out []answer.CarriedException
	for _, c := range once(list) {
		row := answer.CarriedException{Thread: c.thread.Describe(g), State: c.state, Exception: c.thrown}
		x, err := dac.CodeOf(rt).DescribeException(c.thrown, dac.ExceptionOptions{Brief: true})
		if err != nil {
			row.Type = g.Text("", err)
		} else {
			g.NoteAll(x.Noted())
			row.Type, row.Message = x.Type, x.Message
		}
		out = append(out, row)
	}
	return out
}

// stack adds the managed frames of the thread that died, with repeated calls folded, and looks for
// Environment.FailFast.
func (d *describer) stack() {
	t := d.died.Thread
	if t == nil || t.Managed == nil || t.OS == nil {
		return
	}
	walker, err := d.walker()
	if err != nil {
		d.out.Note(err)
		return
	}
	describer := threads.NewDescriber(threads.DescribeOptions{Source: true}, &d.out.Gaps)
	rows := func(yield func(answer.CrashFrame) bool) {
		leading, began := true, false
		for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			d.out.Note(f.Missing())
			began = began || f.AtException
			d.outside(&f)
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			d.out.Frames++
			if was := leading; leading && isFailFast(&f) {
				fatal := f
				d.fatal = &fatal
			} else if leading = false; was && d.fatal != nil && ofHandling(&f) {
				d.fatal, d.gaveUp = nil, true
			}
			row := describer.Frame(&f)
			d.outer = outer{f.CallerSP, row.Method.S}
			out := answer.CrashFrame{SP: f.SP, IP: f.IP, Method: row.Method, File: row.File, Line: row.Line, AtException: began}
			if row.Method.Err != nil {
				if md, err := f.Method(); err == nil && md != nil {
					out.Definition = md.Definition()
				}
			}
			if !yield(out) {
				return
			}
			began = false
		}
	}
	for f := range threads.Fold(rows, sameCall) {
		row := f.Row
		if f.Cycle > 0 {
			row.Cycle, row.Repeat = f.Cycle, f.Times
		}
		d.out.Stack = append(d.out.Stack, row)
	}
	d.failFast(walker)
}

// outside records the thread's innermost frame and the native method that it calls.
func (d *describer) outside(f *stackwalk.Frame) {
	if d.innermost == 0 {
		d.innermost = f.SP
	}
	if d.out.Frames > 0 || d.invoked != "" || f.Kind != stackwalk.FrameExplicit || !f.Explicit.CallsUnmanaged() {
		return
	}
	if md, err := f.Method(); err == nil && md != nil {
		d.invoked, _ = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
	}
}

func sameCall(a, b *answer.CrashFrame) bool {
	return a.Method.Err == nil && b.Method.Err == nil && a.IP == b.IP && a.Method.S == b.Method.S
}

// innermostCode describes where a stack without repeated calls overflowed: in the innermost method, or in native code
// that it calls.
func (d *describer) innermostCode() answer.Statement {
	switch caller := d.caller(); {
	case caller == "":
		return answer.Statement{}
	case d.invoked != "" || d.out.Stack[0].Method.Err == nil && d.out.Stack[0].Method.S != caller:
		return words.OverflowNative.Of(d.calledFrom())
	default:
		return words.OverflowInner.Of(words.Method(caller))
	}
}
