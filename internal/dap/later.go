package dap

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// mostLater bounds the frames behind a stack.
const mostLater = 64

// A laterFrame is code that goes on when the async method at the bottom of a thread's stack completes. The first of them is a label.
type laterFrame struct {
	label string
	link  answer.TaskLink
	at    *answer.AsyncPlace
	view  *sosgo.View
}

// later returns who waits for the outermost async method that a thread runs, who waits for that, and so on: the thread's logical stack.
func (s *session) later(ctx context.Context, t *thread, frames []*frame) []*frame {
	for i := len(frames) - 1; i >= 0; i-- {
		if f := frames[i]; f.Kind == answer.FrameManaged && strings.Contains(f.Method.S, ".MoveNext(") {
			return s.laterThan(ctx, t, f)
		}
	}
	return nil
}

func (s *session) laterThan(ctx context.Context, t *thread, f *frame) []*frame {
	box, v, err := s.boxOf(ctx, f)
	if err != nil {
		return nil // it is an iterator, or the frame has no place for this any more
	}
	state, err := v.TaskState(ctx, box)
	var out []*frame
	add := func(l *laterFrame) {
		out = append(out, &frame{thread: t, index: -1, Frame: &answer.Frame{Kind: answer.FrameManaged}, later: l})
	}
	seen := map[target.Addr]bool{box: true}
	for err == nil && len(state.Then) > 0 && len(out) < mostLater {
		if len(out) == 0 {
			add(&laterFrame{label: "[goes on when " + cmpText(state.Name.S, "this") + " completes]"})
		}
		var next *answer.TaskState
		for i, link := range state.Then {
			l := &laterFrame{link: link, view: v}
			if st, nerr := v.TaskState(ctx, link.Object); nerr == nil {
				l.at = st.At
				if i == 0 {
					next = st
				}
			}
			add(l)
		}
		if next == nil || seen[state.Then[0].Object] {
			break
		}
		seen[state.Then[0].Object], state = true, next
	}
	return out
}

// boxOf returns the object that holds the state machine that a frame of MoveNext runs.
func (s *session) boxOf(ctx context.Context, f *frame) (target.Addr, *sosgo.View, error) {
	list, err := s.walk(ctx, f.thread, stackwalk.DescribeOptions{Arguments: true}, f.index, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(list) != 1 || len(list[0].Arguments) == 0 || list[0].Arguments[0].Name != "this" {
		return 0, nil, errors.New("there is no this")
	}
	this := &list[0].Arguments[0].Stored
	if this.Missing.Err != nil {
		return 0, nil, this.Missing.Err
	}
	at := f.thread.view.Resolve(ctx, target.Addr(this.Value.Bits))
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
	if more := cmpText(l.link.Meaning, l.link.Status); more != "" {
		out.Name += " (" + more + ")"
	}
	if l.at != nil {
		if l.at.Method.S != "" {
			out.Name = "[async] " + l.at.Method.S
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
