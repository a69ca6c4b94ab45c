package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
)

// endless reports whether the innermost method of the program on a thread's stack has no way out of the loop that it is in: it neither ends nor
// leaves a block, and calls nothing that could release a lock. An exception may end it all the same.
func (s *survey) endless(t *stackwalk.Thread) bool {
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil {
			return false
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		if err == nil && answer.LibraryMethod(name) {
			continue
		}
		if err != nil {
			return false
		}
		body, err := dac.CodeOf(f.Runtime).IL(md)
		if err != nil {
			return false
		}
		around, err := s.around(t, &f, md)
		if err != nil {
			return false
		}
		at, err := ilOffset(&f)
		if err != nil {
			return false
		}
		g, err := readFlow(&body)
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
