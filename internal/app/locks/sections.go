package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
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

// sectionOf looks at the methods of the program on the stack of a thread, up to the outermost one that has entered a lock and leaves it later. h is the thread as
// the holder of that lock. Loops that pause for one constant time and end after a constant number of turns do not count, nor does one that only waits for a pulse.
func (s *survey) sectionOf(t *stackwalk.Thread) (is section, h holder) {
	found, loops, pending, spins, inner := false, false, false, false, true
	h.thread = t
	for f, err := range s.programFrames(t) {
		if err != nil {
			return sectionUnknown, holder{thread: t}
		}
		_, around, err := s.loopsOf(&f.Frame, f.md)
		if err != nil {
			return sectionUnknown, holder{thread: t}
		}
		calls, err := s.around(t, &f.Frame, f.md)
		if err != nil {
			return sectionUnknown, holder{thread: t}
		}
		if inner {
			spins = around.Spin(f.body.Code, calls)
		}
		s.withoutPauses(f, around, inner)
		inner = false
		entered := enteredAt(calls)
		if entered < 0 {
			pending = pending || len(around) > 0
			continue
		}
		h.frame, h.entered = f.SP, entered
		found, loops, pending = true, loops || pending || around.Since(entered), false
	}
	switch {
	case !found && s.straightInLibrary(t):
		return sectionStraight, h
	case !found:
		return sectionUnknown, h
	case loops && spins:
		return sectionSpins, h
	case loops:
		return sectionLoops, h
	}
	return sectionStraight, h
}

// straightInLibrary reports whether a thread stands in code of a library, which has entered a lock and begun no loop since: a logger, a cache. Code of the program, which
// it may call back, has none of its frames there.
func (s *survey) straightInLibrary(t *stackwalk.Thread) bool {
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if cmp.Or(f.Missing(), err) != nil {
			return false
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		if name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified); err != nil || !answer.LibraryMethod(name) {
			return false
		}
		_, around, err := s.loopsOf(&f, md)
		if err != nil {
			return false
		}
		calls, err := s.around(t, &f, md)
		if err != nil {
			return false
		}
		if entered := enteredAt(calls); entered >= 0 {
			return !around.Since(entered)
		}
		if len(around) > 0 {
			return false
		}
	}
	return false
}

// withoutPauses removes loops of a frame's method that pause and end by themselves, or that wait for a pulse of the innermost frame and do nothing else.
func (s *survey) withoutPauses(f *programFrame, loops ilflow.Loops, inner bool) {
	meta, err := f.md.Metadata()
	if err != nil {
		return
	}
	g, err := ilflow.ReadFlow(&f.body)
	if err != nil {
		return
	}
	pauses := s.pausesOf(f.md, &f.body)
	member := func(t metadata.Token) string { return tasks.MemberName(meta, t) }
	for start, end := range loops {
		if _, ends := pauses(start, end); ends || inner && g.Retests(start, end, member) {
			delete(loops, start)
		}
	}
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
