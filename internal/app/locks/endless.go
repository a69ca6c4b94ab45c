package locks

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
)

// endless reports whether the innermost method of the program on a thread's stack has no way out of the loop that it is in: it neither ends nor
// leaves a block, and calls nothing that could release a lock. An exception may end it all the same.
func (s *survey) endless(t *stackwalk.Thread) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		around, err := s.around(t, &f.Frame, f.md)
		if err != nil {
			return false
		}
		at, err := ilOffset(&f.Frame)
		if err != nil {
			return false
		}
		g, err := readFlow(&f.body)
		if err != nil {
			return false
		}
		reached, ends := g.from(at)
		return !ends && !slices.ContainsFunc(slices.Concat(around.Before, around.Later), func(c tasks.Call) bool {
			return reached[c.Offset] && (c.Unknown || strings.HasPrefix(c.Method, "Monitor.") || strings.Contains(c.Method, "Exit") || strings.Contains(c.Method, "Release"))
		})
	}
	return false
}

// A programFrame is a frame in a method of the program.
type programFrame struct {
	stackwalk.Frame
	md   *dac.MethodDesc
	body metadata.MethodBody
}

// programFrames yields the frames of a thread that are in methods of the program, the innermost first. It ends with an error at a frame, a name or IL
// that can't be read.
func (s *survey) programFrames(t *stackwalk.Thread) iter.Seq2[*programFrame, error] {
	return func(yield func(*programFrame, error) bool) {
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if err = cmp.Or(f.Missing(), err); err != nil {
				yield(nil, err)
				return
			}
			if f.Kind != stackwalk.FrameManaged || md == nil {
				continue
			}
			code := dac.CodeOf(f.Runtime)
			name, err := code.MethodName(md, dac.MethodQualified)
			if err == nil && answer.LibraryMethod(name) {
				continue
			}
			out := &programFrame{Frame: f, md: md}
			if err == nil {
				out.body, err = code.IL(md)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}
