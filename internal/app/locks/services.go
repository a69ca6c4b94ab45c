package locks

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
)

// Serves reports whether a thread that waits does so again and again, as one that waits for its next work: a method of the program on its stack is in a
// loop that is not counted, and does more in it than to wait until a condition changes. The error says which IL could not be read that may decide it.
func (r *Reader) Serves(ctx context.Context, t *stackwalk.Thread) (bool, error) {
	if t.Managed == nil || t.OS == nil {
		return false, nil
	}
	reader, s := tasks.New(r.b), &survey{r: r, ctx: ctx}
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false, err
		}
		if serves(reader, f) {
			return true, nil
		}
	}
	return false, nil
}

// serves is Serves for the method of a frame.
func serves(reader *tasks.Reader, f *programFrame) bool {
	at, err := reach.ILOffset(&f.Frame)
	if err != nil {
		return false
	}
	loops, err := ilflow.Around(f.body.Code, at)
	if err != nil || len(loops) == 0 {
		return false
	}
	calls, err := reader.CallsAround(f.md, at, tasks.Receiver{})
	return err == nil && loops.Serve(f.body.Code, slices.Concat(calls.Before, calls.Later))
}

// inLoop reports whether a method of the program on a thread's stack is in a loop. Code that can't be read may be.
func (s *survey) inLoop(t *stackwalk.Thread) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return true
		}
		if _, loops, err := s.loopsOf(&f.Frame, f.md); err != nil || len(loops) > 0 {
			return true
		}
	}
	return false
}
