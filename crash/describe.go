package crash

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
)

// Describe describes the crash of a process on one page: its record, the thread
// that died with its managed stack, and the exception with its causes. The error
// is that of Read where it found no crash.
func Describe(ctx context.Context, p Process) (*answer.Crash, error) {
	died, err := Read(p)
	if died == nil {
		if err != nil {
			return nil, err
		}
		return &answer.Crash{Reason: "the dump is of a process that had not crashed", Alive: true}, nil
	}
	if died.Record != nil {
		out := describeRecord(died.Record, p.Target.Modules())
		out.Note(err)
		return out, nil
	}
	out := describeReason(died)
	out.Note(err)
	if t := died.Thread; t != nil {
		out.ThreadID = t.ID()
		out.ThreadName = out.Text(t.Name())
	}
	if _, err := p.Runtime(); err != nil {
		out.Note(err)
		return out, nil
	}
	p.describeCauses(out, died.Thrown)
	p.describeStack(ctx, out, died.Thread)
	out.Likely = LikelyCause(faults(out.Exceptions))
	return out, nil
}

// DescribeBriefly describes what a crash is called: the reason and, of the
// exception, type and message. It is nil where there was no crash, and leaves out
// what can't be read.
func DescribeBriefly(p Process) *answer.Crash {
	died, _ := Read(p) // Describe tells what failed
	if died == nil {
		return nil
	}
	if died.Record != nil {
		return describeRecord(died.Record, nil)
	}
	out := describeReason(died)
	rt, err := p.Runtime()
	if err != nil || died.Thrown == 0 {
		return out
	}
	x, err := code.Of(rt).DescribeException(died.Thrown, code.ExceptionOptions{Brief: true})
	if err == nil && x.Type.Err == nil {
		out.Exceptions = []answer.Exception{*x}
	}
	return out
}

func describeReason(died *Crash) *answer.Crash {
	out := &answer.Crash{Reason: "unknown"}
	if x := died.Exception; x != nil {
		out.Reason, out.Code, out.Address = Reason(x), x.Words, x.Address
	}
	return out
}

// describeCauses adds the exception at a and those that caused it.
func (p *Process) describeCauses(out *answer.Crash, a target.Addr) {
	rt, err := p.Runtime()
	if err != nil {
		return
	}
	seen := map[target.Addr]bool{}
	for a != 0 && !seen[a] && len(seen) < limits.ParentChain {
		seen[a] = true
		x, err := code.Of(rt).DescribeException(a, code.ExceptionOptions{})
		if err != nil {
			out.Note(err)
			return
		}
		out.NoteAll(x.Noted())
		out.Exceptions = append(out.Exceptions, *x)
		a = x.Inner
	}
}

// describeStack adds the managed frames of the thread that died.
func (p *Process) describeStack(ctx context.Context, out *answer.Crash, t *threads.Thread) {
	if t == nil || t.Managed == nil || t.OS == nil {
		return
	}
	walker, err := p.Walker()
	if err != nil {
		out.Note(err)
		return
	}
	describer := stackwalk.NewDescriber(stackwalk.DescribeOptions{Source: true}, &out.Gaps)
	for f := range walker.Walk(ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Err != nil {
			out.Note(fmt.Errorf("the stack ends at %#x: %w", uint64(f.SP), f.Err))
		}
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		d := describer.Frame(&f)
		row := answer.CrashFrame{SP: d.SP, IP: d.IP, Method: d.Method, File: d.File, Line: d.Line}
		// A stack overflow has a hundred thousand frames of one method.
		if n := len(out.Stack); n > 0 && sameCall(&out.Stack[n-1], &row) {
			out.Stack[n-1].Repeat = max(out.Stack[n-1].Repeat, 1) + 1
			continue
		}
		out.Stack = append(out.Stack, row)
	}
}

func sameCall(a, b *answer.CrashFrame) bool {
	return !b.Method.IsZero() && a.Method.String() == b.Method.String() && a.Line == b.Line
}

// faults are the exceptions as far as the likely cause goes by them.
func faults(list []answer.Exception) []Fault {
	out := make([]Fault, len(list))
	for i := range list {
		x := &list[i]
		out[i].Type = x.Type.String()
		if x.Message != nil {
			out[i].Message = x.Message.String()
		}
		for _, f := range x.Frames {
			out[i].Trace = append(out[i].Trace, Place{Function: f.Function.String(), File: f.File, Line: f.Line})
		}
	}
	return out
}

// describeRecord describes what a NativeAOT process wrote about itself; modules
// name those of its frames.
func describeRecord(r *Record, modules []target.Module) *answer.Crash {
	record := &answer.CrashRecord{Reason: word(recordReasons, r.Reason), Thread: r.Thread, HResult: r.HResult,
		RuntimeType: word(recordTypes, r.RuntimeType), RuntimeBase: r.RuntimeBase, RuntimeVersion: r.RuntimeVersion, Message: r.Message}
	out := &answer.Crash{Reason: record.Reason, Code: fmt.Sprintf("%#x", r.HResult), ThreadID: r.Thread, Likely: r.Message, Record: record}
	if r.Exception != nil {
		x := describeRecorded(r.Exception, modules)
		record.Exception = &x
		out.Exceptions = flatten(nil, &x)
	}
	return out
}

func describeRecorded(r *RecordedException, modules []target.Module) answer.RecordedException {
	x := answer.RecordedException{Exception: answer.Exception{Address: r.Address, Type: answer.Text{S: r.Type},
		Message: &answer.Text{S: r.Message}, HResult: answer.Hex(r.HResult)}}
	for i := range r.Stack {
		f := &r.Stack[i]
		x.Frames = append(x.Frames, answer.TraceFrame{IP: f.IP, Function: answer.Text{S: f.function(modules)}, Offset: &f.Offset})
	}
	for _, inner := range r.Inner {
		x.Inners = append(x.Inners, describeRecorded(inner, modules))
	}
	return x
}

// flatten appends an exception and those in it, outermost first.
func flatten(list []answer.Exception, x *answer.RecordedException) []answer.Exception {
	list = append(list, x.Exception)
	for i := range x.Inners {
		list = flatten(list, &x.Inners[i])
	}
	return list
}

// function is Module.so!Name.
func (f *RecordedFrame) function(modules []target.Module) string {
	name := f.Name
	if name == "" {
		name = "<unknown>"
	}
	for i := range modules {
		if modules[i].Base == f.Module {
			return target.BaseName(modules[i].Path) + "!" + name
		}
	}
	return name
}

// The words for the numbers of a Record (nativeaot, CrashInfo.cs and the
// runtime's enum RuntimeType).
var (
	recordReasons = []string{"Unknown", "UnhandledException", "EnvironmentFailFast", "InternalFailFast"}
	recordTypes   = []string{"Unknown", "Desktop", "NetCore", "SingleFile", "NativeAOT", "Other"}
)

func word(words []string, n int) string {
	if n < 0 || n >= len(words) {
		return fmt.Sprint(n)
	}
	return words[n]
}
