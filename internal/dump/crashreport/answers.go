package crashreport

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// StackOptions select the stacks and frames that Stacks lists.
type StackOptions struct {
	Threads []uint32 // OS ids, in this order
	Native  bool     // list native frames of threads with managed frames, too
	Limit   *int     // maximum number of frames of a thread, from the leaf; nil means all
	Lacking bool     // variables, registers or references are requested; no report has them
}

// Stacks lists the frames of threads. For a thread without managed frames it lists the native ones.
func (r *Report) Stacks(ctx context.Context, o StackOptions) *answer.Stacks {
	out := answer.NewStacks(func(yield func(*answer.ThreadStack, error) bool) {
		index := make(map[uint32]int, len(r.threads))
		for i := range slices.Backward(r.threads) {
			index[r.threads[i].ID] = i // the first of equal ids
		}
		for _, id := range o.Threads {
			i, ok := index[id]
			if !ok {
				continue
			}
			out := &answer.ThreadStack{ThreadID: answer.ThreadID{OSID: id, Index: i}, Frames: r.threads[i].list(ctx, &o)}
			if !yield(out, ctx.Err()) {
				return
			}
		}
	})
	if o.Lacking {
		out.Note(fmt.Errorf("variables, registers and references of frames: %w", &NoMemoryError{}))
	}
	return out
}

// listedFrames returns the frames of a thread to list.
func (t *thread) listedFrames(native bool) []frame {
	if native || !slices.ContainsFunc(t.frames, func(f frame) bool { return f.managed }) {
		return t.frames
	}
	var out []frame
	var cycle, repeat int // of a cycle without a managed frame so far
	for i, f := range t.frames {
		if f.cycle > 0 {
			cycle, repeat = countManaged(t.frames[i:i+f.cycle]), f.repeat
		}
		if !f.managed {
			continue
		}
		f.cycle, f.repeat = cycle, repeat
		if cycle == 0 {
			f.repeat = 0
		}
		cycle, repeat = 0, 0
		out = append(out, f)
	}
	return out
}

// countManaged counts managed frames.
func countManaged(list []frame) int {
	n := 0
	for i := range list {
		if list[i].managed {
			n++
		}
	}
	return n
}

// list lists the frames of t.
func (t *thread) list(ctx context.Context, o *StackOptions) iter.Seq2[*answer.Frame, error] {
	return func(yield func(*answer.Frame, error) bool) {
		for i, f := range t.listedFrames(o.Native) {
			if o.Limit != nil && i == *o.Limit {
				return
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			row := f.describe()
			row.OSID = t.ID
			if !yield(row, nil) {
				return
			}
		}
	}
}

// describe describes a frame.
func (f *frame) describe() *answer.Frame {
	out := &answer.Frame{Kind: answer.FrameNative, SP: address(f.sp), IP: address(f.ip), Trust: answer.TrustReport, Module: f.module,
		Cycle: f.cycle, Repeat: f.repeat}
	if f.managed {
		out.Kind, out.Offset, out.Method = answer.FrameManaged, f.offset, f.name()
		return out
	}
	out.Symbol = f.symbol
	if f.symbol != "" && f.offset != nil {
		out.SymbolOffset = *f.offset
	}
	if place := f.place(); place != nil {
		offset := uint64(place.Offset)
		out.Offset = &offset
	}
	return out
}

// name returns the method of a managed frame.
func (f *frame) name() answer.Text {
	if f.method == "" {
		return answer.Text{Err: target.ErrNotInDump}
	}
	return answer.Text{S: f.method}
}

// place returns the location of a native frame in its module, or nil if it is unknown.
func (f *frame) place() *answer.CodePlace {
	if f.managed || f.ip == nil || f.base == 0 || *f.ip < uint64(f.base) || f.module == "" {
		return nil
	}
	return &answer.CodePlace{Module: f.module, Offset: answer.Hex(*f.ip - uint64(f.base))}
}

// code describes the code of a frame.
func (f *frame) code() answer.Text {
	switch d := f.describe(); {
	case f.managed:
		return f.name()
	case f.module == "":
		return answer.Text{Err: target.ErrNotInDump}
	case d.Offset == nil && d.Symbol == "":
		return answer.Text{S: f.module}
	default:
		return answer.Text{S: d.NativeName()}
	}
}

func address(a *uint64) answer.Maybe[target.Addr] {
	if a == nil {
		return answer.Missing[target.Addr](target.ErrNotInDump)
	}
	return answer.Known(target.Addr(*a))
}

// ManagedThreads lists the threads that the report marks as managed, with their exceptions. All
// other data of the runtime about threads is a *NoMemoryError.
func (r *Report) ManagedThreads() *answer.ManagedThreads {
	absent := &NoMemoryError{}
	out := &answer.ManagedThreads{Counts: answer.Missing[answer.ThreadCounts](absent), Threads: []answer.ManagedThread{}}
	out.Note(fmt.Errorf("managed ids, states, GC modes, allocation contexts and domains of threads: %w", absent))
	for i := range r.threads {
		t := &r.threads[i]
		if !t.managed {
			continue
		}
		m := answer.ManagedThread{Thread: answer.Thread{Index: &i, OSID: t.ID}, State: answer.Missing[answer.Hex](absent), GCMode: answer.Text{Err: absent},
			AllocPointer: answer.Missing[target.Addr](absent), AllocLimit: answer.Missing[target.Addr](absent),
			Domain: answer.Missing[target.Addr](absent), Apartment: answer.Text{Err: absent},
			User: answer.Missing[answer.Seconds](absent), Kernel: answer.Missing[answer.Seconds](absent)}
		if t.exception.isSet() {
			m.Exception = &answer.ThrownObject{Address: t.exception.object, Type: t.exception.name()}
		}
		out.Threads = append(out.Threads, m)
	}
	return out
}

// Crash describes the crash.
func (r *Report) Crash() *answer.Crash {
	out := &answer.Crash{Address: answer.Missing[target.Addr](target.ErrNotInDump)}
	for i := range r.threads {
		if t := &r.threads[i]; t.exception.isSet() {
			out.Carried = append(out.Carried, answer.CarriedException{Thread: answer.Thread{Index: &i, OSID: t.ID}, State: answer.CarriedReported,
				Exception: t.exception.object, Type: t.exception.name()})
		}
	}
	x := r.crash
	if x == nil {
		out.Alive, out.Why = true, words.ReasonNoneMarked.Of()
		out.Reason = out.Why.Text
		return out
	}
	i := slices.IndexFunc(r.threads, func(t thread) bool { return t.ID == x.ThreadID && x.ThreadID != 0 })
	out.ThreadID, out.Why = x.ThreadID, words.ReasonReport.Of(words.Text(x.Words))
	marks, marked, signal := words.ReportMarksNone, []answer.Statement{}, answer.Statement{}
	if x.ThreadID != 0 {
		died := answer.Thread{OSID: x.ThreadID}
		if i >= 0 {
			died.Index, out.Thread = &i, &died
		}
		marks, marked = words.ReportMarks, []answer.Statement{words.ThreadAndID(died)}
	}
	if x.Code != 0 {
		out.Code = x.Words
		out.Signal = &answer.CrashSignal{Number: int32(x.Code), Name: x.Words}
		signal = words.ReportSignal.Of(words.Number(x.Code))
	} else if x.Words == crashed {
		out.Why = words.ReasonNoSignal.Of()
	}
	out.Reason = out.Why.Text
	out.Verdicts = []answer.Verdict{answer.Conclude(answer.NoFinding, out.Why, answer.StrengthRecorded, marks.Of(append(marked, signal)...))}
	if i >= 0 {
		r.threads[i].crash(out)
	}
	return out
}

// crash describes the crashed thread.
func (t *thread) crash(out *answer.Crash) {
	if t.exception.isSet() {
		e := answer.Exception{Address: t.exception.object, Type: t.exception.name(), HResult: answer.Hex(t.exception.hresult),
			Message: &answer.Text{Err: target.ErrNotInDump}, TraceError: target.ErrNotInDump}
		out.Exceptions, out.Causes = []answer.Exception{e}, [][]int{nil}
		out.Verdicts = append(out.Verdicts, answer.Conclude(answer.NoFinding, words.ReportException.Of(words.Type(e.Type.String())), answer.StrengthRecorded, words.ExceptionInReport.Of()))
	}
	if t.Registers.Known() {
		c := answer.CrashContext{Source: "the report's registers", IP: register(t.Registers.IP()), SP: register(t.Registers.SP()), FP: register(t.Registers.FP())}
		if len(t.frames) > 0 && t.frames[0].ip != nil && answer.Is(c.IP, target.Addr(*t.frames[0].ip)) {
			c.Where, c.Place = t.frames[0].code().S, t.frames[0].place()
		}
		out.Contexts = []answer.CrashContext{c}
	}
	list := t.listedFrames(false)
	for i := range list {
		f := &list[i]
		out.StacksOnly = out.StacksOnly || !f.managed
		out.Stack = append(out.Stack, answer.CrashFrame{SP: address(f.sp).Value, IP: address(f.ip).Value, Method: f.code(), Place: f.place(),
			Cycle: f.cycle, Repeat: f.repeat})
		out.Frames++
		if f.cycle > 0 {
			out.Frames += (f.repeat - 1) * f.cycle
		}
	}
}

func register(a target.Addr, known bool) answer.Maybe[target.Addr] {
	if !known {
		return answer.Missing[target.Addr](target.ErrNotInDump)
	}
	return answer.Known(a)
}

// isSet reports whether there is an exception.
func (x *exception) isSet() bool { return x.typ != "" || x.object != 0 }

// name returns the name of the type.
func (x *exception) name() answer.Text {
	if x.typ == "" {
		return answer.Text{Err: target.ErrNotInDump}
	}
	return answer.Text{S: x.typ}
}

// Of returns the crash report if t is one, and nil for a dump.
func Of(t target.Target) *Report {
	r, _ := t.(*Report)
	return r
}
