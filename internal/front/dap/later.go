package dap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// mostLater bounds the async frames added to a stack.
const mostLater = 64

// A laterFrame is code that resumes when the async method at the bottom of a thread's stack completes. The first one
// is a label.
type laterFrame struct {
	label string
	link  answer.TaskLink
	at    *answer.AsyncPlace
	view  *process.Process
}

// laterFrames collects the async frames below a thread's stack.
type laterFrames struct {
	s    *session
	t    *thread
	list []*frame
	seen map[target.Addr]bool
}

func (l *laterFrames) add(f *laterFrame) {
	l.list = append(l.list, &frame{thread: l.t, index: -1, Frame: &answer.Frame{Kind: answer.FrameManaged}, later: f})
}

func (l *laterFrames) label(text string) { l.add(&laterFrame{label: "[" + text + "]"}) }

func (l *laterFrames) unknown(err error) { l.label("the async callers can't be read: " + words(err)) }

// What a frame runs.
const (
	runsNothing = iota
	runsMachine // the state machine of an async method or an iterator
	runsBox     // the object that holds and resumes an async method's state machine
	runsTask    // a task with a delegate
	runsRuntime // a task that resumes methods suspended by the runtime itself
)

func runs(method string) int {
	switch {
	case strings.HasPrefix(method, "System.Threading.Tasks.Task.ExecuteWithThreadLocal("):
		return runsTask
	case strings.Contains(method, "RuntimeAsyncTask`1"):
		return runsRuntime
	case !strings.Contains(method, ".MoveNext("):
		return runsNothing
	case strings.Contains(method, "StateMachineBox`1"):
		return runsBox
	}
	return runsMachine
}

// later returns the code that waits for the async methods on a thread's stack, its waiters, and so on. If a thread
// runs several such methods, the innermost comes first. failed is the error that ended the stack walk, or nil.
//
// The frame that resumes a method keeps the object alive after the method has overwritten its own this. So later asks
// the caller's frame first.
func (s *session) later(ctx context.Context, t *thread, frames []*frame, failed error) []*frame {
	l := &laterFrames{s: s, t: t, seen: map[target.Addr]bool{}}
	var machine *frame // its holder has not been found yet
	found := false     // the holder of the previous machine was found
	var missed error   // the reason if it was not
	flush := func() {
		if missed != nil {
			l.unknown(missed)
		}
		missed = nil
	}
	for _, f := range frames {
		what := runsNothing
		if f.Kind == answer.FrameManaged {
			what = runs(f.Method.S)
		}
		switch what {
		case runsNothing:
			continue
		case runsMachine:
			flush()
			machine, found = f, false
			continue
		case runsTask, runsRuntime:
			flush()
			found = false
		}
		err := l.waiters(ctx, f, what)
		if err != nil && machine != nil && what == runsBox {
			err = l.waiters(ctx, machine, what)
		}
		machine = nil
		if found = found || err == nil; found {
			err = nil // another frame of the same holder
		}
		if missed = err; what != runsBox {
			flush()
			found = false
		}
	}
	flush()
	if machine != nil && failed != nil && l.waiters(ctx, machine, runsMachine) != nil {
		l.label("async callers, if there are any, can't be read: " + words(failed))
	}
	return l.list
}

// waiters adds the waiters of the object that frame f runs. It returns an error if they cannot be read.
func (l *laterFrames) waiters(ctx context.Context, f *frame, what int) error {
	box, v, err := l.s.boxOf(ctx, f)
	if err != nil {
		return err
	}
	state, err := async.State(ctx, v, box)
	if err != nil || l.seen[state.Task] {
		return err
	}
	l.seen[state.Task] = true
	if what == runsRuntime {
		l.label("callers that the runtime suspended together with " + cmpText(state.Name.S, "this") + " are not read")
	}
	from := len(l.list)
	for len(state.Then) > 0 {
		if len(l.list)-from >= mostLater {
			l.label("further async callers are left out")
			return nil
		}
		if len(l.list) == from {
			does := " completes"
			if state.Then[0].Element {
				does = " yields its next element, or completes"
			}
			l.label("goes on when " + cmpText(state.Name.S, "this") + does)
		}
		var next *answer.TaskState
		for i, link := range state.Then {
			st, err := async.State(ctx, v, link.Object)
			for _, to := range framesOf(link, st, v) {
				l.add(to)
			}
			switch {
			case i > 0:
			case err == nil:
				next = st
			case link.Meaning == "":
				l.unknown(err)
			}
		}
		first := state.Then[0].Object
		if next == nil || l.seen[first] {
			return nil
		}
		l.seen[first], state = true, next
	}
	if noted := state.Noted(); len(l.list) == from && len(noted) > 0 {
		l.unknown(noted[0])
	}
	return nil
}

// framesOf returns the waiter's frames: one, or one per method suspended by the runtime, innermost first. st is nil
// if the state cannot be read.
func framesOf(link answer.TaskLink, st *answer.TaskState, v *process.Process) []*laterFrame {
	if st == nil || len(st.Suspended) == 0 {
		f := &laterFrame{link: link, view: v}
		if st != nil {
			f.at = st.At
		}
		return []*laterFrame{f}
	}
	list := make([]*laterFrame, len(st.Suspended))
	for i := range list {
		list[i] = &laterFrame{link: link, at: &st.Suspended[i], view: v}
	}
	return list
}

var errNoThis = fmt.Errorf("%w: this was optimised away", target.ErrNotInDump)

// boxOf returns the object that holds the state machine of a MoveNext frame.
func (s *session) boxOf(ctx context.Context, f *frame) (target.Addr, *process.Process, error) {
	list, noted, err := s.walk(ctx, f.thread, threads.StackOptions{Arguments: true}, f.index, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(list) != 1 || len(list[0].Arguments) == 0 || list[0].Arguments[0].Name != "this" {
		return 0, nil, cmp.Or(append(noted, errors.New("there is no this"))...)
	}
	this := &list[0].Arguments[0].Stored
	if list[0].Arguments[0].State == answer.VariableNoData {
		return 0, nil, errNoThis
	}
	if this.Missing.Err != nil {
		return 0, nil, this.Missing.Err
	}
	at := resolve.Address(ctx, f.thread.view, target.Addr(this.Value.Bits))
	if at.Kind != answer.AddressObject && at.Kind != answer.AddressInObject {
		return 0, nil, errors.New("this is in no object")
	}
	return at.Start, f.thread.view, nil
}

func (s *session) showLater(ctx context.Context, f *frame, out dap.StackFrame) dap.StackFrame {
	l := f.later
	if l.label != "" {
		out.Name, out.PresentationHint = l.label, "label"
		return out
	}
	out.Name = "[async] " + l.link.Name.String()
	if more := cmpText(l.link.Meaning, string(l.link.Status)); more != "" {
		out.Name += " (" + more + ")"
	}
	if l.at != nil {
		if l.at.Method.S != "" {
			out.Name = "[async] " + s.method(l.at.Method.S)
		}
		if await := l.at.Await.String(); await != "" {
			out.Name += " awaits " + await
		}
		if l.at.Line > 0 {
			out.Source, out.Line, out.Column = s.sourceOf(ctx, l.view, 0, l.at.File), l.at.Line, 1
		}
	}
	return out
}
