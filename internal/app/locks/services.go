package locks

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
)

// Serves reports whether a thread that waits does so again and again, as one that waits for its next work: a method of the program on its stack is in a
// loop that is not counted, and does more in it than to wait until a condition changes. It does not if the IL can't be read.
func Serves(ctx context.Context, p *process.Process, t *stackwalk.Thread) bool {
	r, err := Of(p)
	if err != nil || t.Managed == nil || t.OS == nil {
		return false
	}
	reader, err := tasks.Of(p)
	if err != nil {
		return false
	}
	s := &survey{r: r, ctx: ctx}
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		if serves(reader, f) {
			return true
		}
	}
	return false
}

// serves is Serves for the method of a frame.
func serves(reader *tasks.Reader, f *programFrame) bool {
	at, err := ilOffset(&f.Frame)
	if err != nil {
		return false
	}
	loops, err := loopsAround(f.body.Code, at)
	if err != nil || len(loops) == 0 {
		return false
	}
	calls, err := reader.CallsAround(f.md, at, tasks.Receiver{})
	return err == nil && servesIn(f.body.Code, loops, slices.Concat(calls.Before, calls.Later))
}

// servesIn reports whether one of the loops of il is not counted, and works. calls are the method's.
func servesIn(il []byte, loops map[int]int, calls []tasks.Call) bool {
	for start, end := range loops {
		if counted(il, map[int]int{start: end}) {
			continue
		}
		works := slices.ContainsFunc(calls, func(c tasks.Call) bool {
			return c.Offset >= start && c.Offset < end && c.Method != "Monitor.Wait" && c.Method != "WaitHandle.WaitOne" && !onlyWaits(c.Method)
		})
		if reads, _, err := readsInLoop(il[start:end]); err == nil && (works || !reads) {
			return true
		}
	}
	return false
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
