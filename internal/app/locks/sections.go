package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
)

// A section says what a thread does since it has entered a lock, by the IL of its methods.
type section uint8

const (
	sectionUnknown  section = iota
	sectionStraight         // each instruction runs once: it ends soon
	sectionLoops            // a loop has begun
	sectionSpins            // a loop only reads: it waits for another thread
)

// sectionOf looks at the methods of the program on the stack of a thread that runs, up to the outermost one that has entered a lock and leaves it later.
func (s *survey) sectionOf(t *stackwalk.Thread) section {
	found, loops, pending, spins, inner := false, false, false, false, true
	for f, err := range s.programFrames(t) {
		if err != nil {
			return sectionUnknown
		}
		at, around, err := s.loopsOf(&f.Frame, f.md)
		if err != nil {
			return sectionUnknown
		}
		calls, err := s.around(t, &f.Frame, f.md)
		if err != nil {
			return sectionUnknown
		}
		if inner {
			inner, spins = false, around.Spin(f.body.Code, calls)
		}
		entered := enteredAt(calls)
		if entered < 0 {
			pending = pending || len(around) > 0
			continue
		}
		found, loops, pending = true, loops || pending || ilflow.Behind(f.body.Code, at, entered), false
	}
	switch {
	case !found:
		return sectionUnknown
	case loops && spins:
		return sectionSpins
	case loops:
		return sectionLoops
	}
	return sectionStraight
}

// enteredAt returns the offset of the first call by which a method has entered a lock, if it leaves one later, or -1.
func enteredAt(calls *tasks.Around) int {
	if !slices.ContainsFunc(calls.Later, func(c tasks.Call) bool { return strings.Contains(c.Method, ".Exit") || c.Method == "Scope.Dispose" }) {
		return -1
	}
	at := slices.IndexFunc(calls.Before, func(c tasks.Call) bool {
		return strings.Contains(c.Method, ".Enter") || strings.Contains(c.Method, ".TryEnter")
	})
	if at < 0 {
		return -1
	}
	return calls.Before[at].Offset
}
