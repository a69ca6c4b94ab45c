package crash

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A passage says how far an exception has come on the stack of its thread, by its stack trace. The runtime adds each method that it looks for a handler in,
// so that an exception which nobody catches has all methods of the thread, or those up to native code that it can't pass.
type passage struct {
	method answer.Statement // the outermost method in the stack trace
	caller answer.Statement // the method that called it, which the exception has not reached; zero if no such method is known
}

// within reports whether the exception has methods of the thread before it.
func (p *passage) within() bool { return !p.caller.IsZero() }

// passage returns how far the exception has come that the thread which died was handling.
func (d *describer) passage() *passage {
	if d.passed == nil {
		d.passed = &passage{}
		if d.rt != nil && !d.died.Unhandled && d.died.state() != nil {
			d.pass(d.passed)
		}
	}
	return d.passed
}

// pass finds the outermost method in the stack trace on the stack, and its caller. What can't be read leaves p as it is.
func (d *describer) pass(p *passage) {
	t := d.died.Thread
	if t == nil || t.OS == nil || t.Managed == nil {
		return
	}
	e, err := d.rt.Exception(d.died.Thrown)
	if err != nil {
		return
	}
	trace, err := d.rt.StackTrace(&e)
	if err != nil || len(trace) == 0 {
		return
	}
	last := &trace[len(trace)-1]
	walker, err := d.walker()
	if err != nil || last.SP == 0 || last.Foreign {
		return
	}
	reached := answer.Statement{}
	for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil || f.Runtime != d.rt {
			return
		}
		managed := f.Kind == stackwalk.FrameManaged && md != nil
		switch {
		case reached.IsZero() && managed && f.SP == last.SP && md.Addr == last.Method:
			reached = d.methodSays(md)
		case reached.IsZero() && f.SP <= last.SP:
		case reached.IsZero() || !managed: // its frame was not found, or the call comes from native code
			return
		default:
			p.method, p.caller = reached, d.methodSays(md)
			return
		}
	}
}

// methodSays names a method, or returns the zero Statement.
func (d *describer) methodSays(md *dac.MethodDesc) answer.Statement {
	name, err := dac.CodeOf(d.rt).MethodName(md, dac.MethodFull)
	if err != nil {
		return answer.Statement{}
	}
	return words.Method(sourceName(name))
}

// handling reports whether the process aborted itself in the middle of its thread's exception.
func (d *describer) handling() bool {
	x := d.died.Exception
	return x != nil && x.Signal != nil && x.Signal.Number == target.SIGABRT && !received(x, d.p.Target().Process().ID) && d.passage().within()
}

// concludeHandling describes an abort in the middle of an exception that need not be its cause: the runtime may have failed itself, or code that ran
// because of the exception.
func (d *describer) concludeHandling() {
	path, _, unthrown := d.path()
	if len(path) == 0 {
		return
	}
	p := d.passage()
	d.blame(words.AbortedHandling.Of(itsException(path).Plus(unthrown), p.method), answer.StrengthLikely, words.WasHandling.Of(), words.TraceEndsIn.Of(p.method, p.caller))
}
