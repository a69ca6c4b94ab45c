package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
)

// endless reports whether the innermost method of the program on a thread's stack has no way out of the loop that it is in: it neither ends nor
// leaves a block, and calls nothing that could release a lock. An exception may end it all the same.
func (s *survey) endless(t *stackwalk.Thread) bool {
	return s.endlessBut(t, func(*tasks.Call) bool { return false })
}

// endlessBut is endless, but for loops with a call that useful selects.
func (s *survey) endlessBut(t *stackwalk.Thread, useful func(*tasks.Call) bool) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		around, err := s.around(t, &f.Frame, f.md)
		if err != nil {
			return false
		}
		at, err := reach.ILOffset(&f.Frame)
		if err != nil {
			return false
		}
		g, err := ilflow.ReadFlow(&f.body)
		if err != nil {
			return false
		}
		reached, ends := g.From(at)
		return !ends && !slices.ContainsFunc(slices.Concat(around.Before, around.Later), func(c tasks.Call) bool {
			return reached[c.Offset] && (useful(&c) || c.Unknown || strings.HasPrefix(c.Method, "Monitor.") || strings.Contains(c.Method, "Exit") || strings.Contains(c.Method, "Release"))
		})
	}
	return false
}

// endsByItself reports whether each loop that a thread may be in is a counted one: all loops of the program's innermost method on its stack, as the
// place in optimized code is not exact, and the loops around the calls of the others. Code that can't be read may have no end.
func (s *survey) endsByItself(t *stackwalk.Thread) bool {
	inner := true
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		loops, err := ilflow.All(f.body.Code)
		if !inner && err == nil {
			_, loops, err = s.loopsOf(&f.Frame, f.md)
		}
		if err != nil || !loops.End(f.body.Code) {
			return false
		}
		inner = false
	}
	return !inner
}

// mayNotEnd reports whether a thread that runs is in a loop that may have no end, and does not let others have their turns.
func (s *survey) mayNotEnd(at stand) bool {
	return !s.endsByItself(at.thread) && !s.takesTurns(at.thread)
}

// takesTurns reports whether the program's innermost method on a thread's stack is in a loop that enters a lock and leaves it in each turn: it works on
// what it shares with others, and lets them have their turns.
func (s *survey) takesTurns(t *stackwalk.Thread) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		loops, err := ilflow.All(f.body.Code)
		if err != nil {
			return false
		}
		calls, err := s.around(t, &f.Frame, f.md)
		return err == nil && locksIn(slices.Concat(calls.Before, calls.Later), loops)
	}
	return false
}

// locksIn reports whether all outermost loops have calls that enter a lock and that leave one.
func locksIn(calls []tasks.Call, loops ilflow.Loops) bool {
	for start, end := range loops {
		has := func(is func(string) bool) bool {
			return slices.ContainsFunc(calls, func(c tasks.Call) bool { return is(c.Method) && start <= c.Offset && c.Offset < end })
		}
		inner := false
		for other, last := range loops {
			inner = inner || other != start && other <= start && end <= last
		}
		if !inner && !(has(entersLock) && has(leavesLock)) {
			return false
		}
	}
	return len(loops) > 0
}
