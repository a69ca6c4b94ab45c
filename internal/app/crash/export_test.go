package crash

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Subject is a process with the examined threads.
type Subject struct {
	*process.Process
	list []stackwalk.Thread
}

// NewSubject returns a process with list in place of its own threads.
func NewSubject(p *process.Process, list ...stackwalk.Thread) *Subject {
	return &Subject{Process: p, list: list}
}

// DescribeSubject is Describe.
func DescribeSubject(ctx context.Context, s *Subject) *answer.Crash {
	return describeFrom(ctx, s.Process, s.list, nil, Options{})
}

// DescribeWithoutHeap is Describe with NoHeap.
func DescribeWithoutHeap(ctx context.Context, s *Subject) *answer.Crash {
	return describeFrom(ctx, s.Process, s.list, nil, Options{NoHeap: true})
}

// NoRecord returns what is said of a dump without a crash record. lost is why threads may be missing.
func NoRecord(unhandled bool, lost error) string {
	return (&describer{died: &Crash{Unhandled: unhandled, lost: lost}}).noRecord().Text
}

// FailFastAt returns the FailFast description of t if f were a frame of Environment.FailFast.
func FailFastAt(p *Subject, rt *dac.Runtime, w *stackwalk.Walker, t *stackwalk.Thread, f *stackwalk.Frame) *answer.FailFast {
	d := &describer{ctx: context.Background(), p: p.Process, rt: rt, died: &Crash{Thread: t}, out: &answer.Crash{}, fatal: f}
	d.failFast(w)
	return d.out.FailFast
}

// ProvedCause is LikelyCause without the usual meaning of types.
func ProvedCause(chain []Fault) answer.Statement { return notCaught(chain, false) }

// IsFailFast is isFailFast.
var IsFailFast = isFailFast

// Unreported returns the described access for an exception with its CONTEXT at context and the reported address a.
func Unreported(p *Subject, context, a target.Addr) *answer.Touched {
	state := carried{thread: &stackwalk.Thread{}, in: &dac.ExceptionState{Context: context}}
	d := &describer{p: p.Process, died: &Crash{Thread: state.thread, carried: []carried{state}}, out: &answer.Crash{}}
	a, by := d.unreported(a, words.ByRuntimesRecord)
	d.touch(a, "", by)
	return d.out.Touched
}

// Sender is sender for an exception with its CONTEXT at context.
func Sender(p *Subject, context, a target.Addr) (pid, user uint32, sent bool) {
	state := carried{thread: &stackwalk.Thread{}, in: &dac.ExceptionState{Context: context}}
	return (&describer{p: p.Process, died: &Crash{Thread: state.thread, carried: []carried{state}}}).sender(a)
}

// CoreStatic is coreStatic.
var CoreStatic = coreStatic

// Exiting returns the verdicts about the exit of a process with the waits w, without reading frames.
func Exiting(rt *dac.Runtime, w *answer.Waiting) []answer.Verdict {
	d := &describer{ctx: context.Background(), rt: rt, out: &answer.Crash{}}
	d.exiting(nil, nil, w)
	return d.out.Verdicts
}

// ExitHandlers returns the methods that are called when rt's process exits.
func ExitHandlers(rt *dac.Runtime) []target.Addr { return (&describer{rt: rt}).exitHandlers() }

// ExitFrame is exitFrame.
func ExitFrame(rt *dac.Runtime, w *stackwalk.Walker, t *stackwalk.Thread, handlers []target.Addr) string {
	return (&describer{ctx: context.Background(), rt: rt}).exitFrame(w, t, handlers).Text
}

// Meaning is meaning. It returns root as well.
func Meaning(p *Subject, rt *dac.Runtime, root Fault, x *answer.Exception) (Fault, string) {
	evidence := (&describer{p: p.Process, rt: rt}).meaning(&root, x)
	return root, evidence.Text
}

// ReadAsText returns the text of readAsText.
func ReadAsText(a target.Addr) string { return readAsText(a).Text }

// Touching is touching.
var Touching = touching

// PassageOf returns how far the exception has come that a thread handles: the outermost method that it has reached, and the caller of that.
func PassageOf(p *Subject, rt *dac.Runtime, t *stackwalk.Thread) (method, caller string) {
	list, err := carriedBy(rt, []stackwalk.Thread{*t})
	if err != nil || len(list) == 0 {
		return "", ""
	}
	d := &describer{ctx: context.Background(), p: p.Process, rt: rt, out: &answer.Crash{}, died: &Crash{Thread: list[0].thread, Thrown: list[0].thrown, carried: list}}
	return d.passage().method.Text, d.passage().caller.Text
}
