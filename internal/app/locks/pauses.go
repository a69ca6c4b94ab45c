package locks

import (
	"errors"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
)

// pauseOf returns for how long a holder stands in a delay, a sleep or a timed wait, if it does and the dump has the time.
func (g *grapher) pauseOf(h *holder) (length time.Duration, known bool) {
	if t := h.thread; t != nil {
		if w := g.of[t]; w != nil {
			return time.Duration(w.timeout) * time.Millisecond, w.timeout >= 0 && w.how == answer.HowRecorded
		}
		if t.OS == nil || t.Managed == nil {
			return 0, false
		}
		length, known = g.s.sleepOf(t)
		return length, known && length >= 0
	}
	op := g.s.standing[h.box]
	switch {
	case op == nil:
		return 0, false
	case op.thing.cause == tasks.CauseTick:
		length, err := g.s.found.tasks.TickOf(op.leaf)
		return length, err == nil
	case op.thing.cause != tasks.CauseDelay:
		return 0, false
	}
	length, err := g.s.found.tasks.DelayOf(op.leaf)
	return length, err == nil || errors.Is(err, tasks.ErrElapsed) // a worker is about to go on with it
}

// sleepOf returns for how long a thread sleeps, negative for ever, if the program's method calls Thread.Sleep with a constant.
func (s *survey) sleepOf(t *stackwalk.Thread) (length time.Duration, known bool) {
	called := ""
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil {
			return 0, false
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		if err != nil {
			return 0, false
		}
		if answer.LibraryMethod(name) {
			called = name
			continue
		}
		if !sleeps(called) {
			return 0, false
		}
		ms, known := s.constantArgument(&f, md)
		return time.Duration(ms) * time.Millisecond, known
	}
	return 0, false
}

// sleeps reports whether a method of the class library is the one in which a thread sleeps. The compiler may inline the first.
func sleeps(method string) bool {
	return method == "System.Threading.Thread.Sleep" || method == "System.Threading.Thread.SleepInternal"
}

// constantArgument returns the constant with which a frame's method calls Thread.Sleep, in which it is: the longest of several calls that may be meant, because the place of a
// frame is the begin of a statement, or of what a compiler leaves on the evaluation stack for it.
func (s *survey) constantArgument(f *stackwalk.Frame, md *dac.MethodDesc) (value int64, known bool) {
	il, err := reach.ILOffset(f)
	if err != nil || dac.CodeOf(f.Runtime).ILReplaced(md) != nil {
		return 0, false
	}
	meta, err := md.Metadata()
	if err != nil {
		return 0, false
	}
	body, err := dac.CodeOf(f.Runtime).IL(md)
	if err != nil {
		return 0, false
	}
	return ilflow.SleepAt(body.Code, il, func(t metadata.Token) string { return tasks.MemberName(meta, t) })
}
