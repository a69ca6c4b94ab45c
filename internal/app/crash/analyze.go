package crash

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
)

// Analyze describes what a thread of w's runtime ran and threw last, whether or not it died of that. The answer has the
// managed frames, the exception with its causes, and the other exceptions being handled, as in the analysis for Windows
// Error Reporting (clrma.h). o selects what the frames show. The answer records the unreadable parts.
func Analyze(ctx context.Context, w *stackwalk.Walker, t *stackwalk.Thread, o threads.StackOptions) *answer.ThreadAnalysis {
	if t == nil {
		return &answer.ThreadAnalysis{}
	}
	out := &answer.ThreadAnalysis{OSID: t.ID()}
	if t.Index >= 0 {
		out.Index = &t.Index
	}
	stacks := threads.Stacks(ctx, w, []*stackwalk.Thread{t}, o)
	rt := w.Runtime()
	if out.Frames = stacks.Frames; !w.AllNative() {
		out.Frames = managedFrames(stacks.Frames)
	}
	out.Frames = noted(out.Frames, stacks, &out.Gaps)
	if t.Managed == nil || rt == nil {
		return out
	}
	if err := t.Managed.LastThrownError; err != nil {
		out.Unread = err
		out.Note(fmt.Errorf("exception of thread %#x: %w", t.ID(), err))
	} else if a := t.Managed.LastThrown; a != 0 {
		out.Thrown = a
		out.ExceptionTree = exceptionTree(rt, a, &out.Gaps)
	}
	nested, err := rt.NestedExceptions(t.Managed)
	if err != nil {
		out.Note(fmt.Errorf("nested exceptions of thread %d: %w", t.Managed.ManagedID, err))
	}
	for _, a := range nested {
		out.Nested = append(out.Nested, answer.NestedTree{Address: a, ExceptionTree: exceptionTree(rt, a, &out.Gaps)})
	}
	return out
}

// noted passes on the frames of a stack. At the end it adds the gaps of the walk to g.
func noted(frames iter.Seq2[*answer.Frame, error], s *answer.Stacks, g *answer.Gaps) iter.Seq2[*answer.Frame, error] {
	return answer.NewRows(g, func(yield func(*answer.Frame, error) bool) error {
		frames(yield)
		g.NoteAll(s.Noted())
		return nil
	})
}

// managedFrames passes on the managed frames.
func managedFrames(frames iter.Seq2[*answer.Frame, error]) iter.Seq2[*answer.Frame, error] {
	return func(yield func(*answer.Frame, error) bool) {
		for f, err := range frames {
			if err == nil && f.Kind != answer.FrameManaged {
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}
}
