package locks

import (
	"cmp"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
)

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
