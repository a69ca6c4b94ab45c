package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
)

// yields reports whether a thread gives way to others in a loop that does nothing else but read.
func (s *survey) yields(at *stand) bool {
	_, method, _ := strings.Cut(at.called, "System.Threading.Thread.")
	return (strings.HasPrefix(method, "Yield") || strings.HasPrefix(method, "Sleep")) && s.spinsAt(at)
}

// inlinedYield returns the name of the method by which a thread gives way if f is its call, as the compiler may inline what is around it, or else "".
func inlinedYield(f *stackwalk.Frame, md *dac.MethodDesc) string {
	name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
	if err != nil || !strings.HasPrefix(name, "System.Threading.Thread.Yield") {
		return ""
	}
	return name
}

// spinners returns the threads of a list that spin in a loop of their method, if there are several, and the others. One alone may be on its way.
func (s *survey) spinners(list []stand) (spinners, others []stand) {
	for i := range list {
		at := list[i]
		if !spinWait(at.called) && s.spinsAt(&at) {
			at.spins = true
			spinners = append(spinners, at)
			continue
		}
		others = append(others, at)
	}
	if len(spinners) > 1 {
		return spinners, others
	}
	for i := range list { // what gives way to others does not run
		list[i].spins = false
	}
	return nil, slices.DeleteFunc(list, func(at stand) bool {
		return !spinWait(at.called) && !at.activity.Activity.Runs()
	})
}

// spinsAt reports whether the outermost loop around a thread's place in its method only reads, compares and gives way, whatever the method does elsewhere. Code
// that can't be read may do more.
func (s *survey) spinsAt(at *stand) bool {
	if dac.CodeOf(s.r.rt).ILReplaced(at.method) != nil {
		return false
	}
	body, err := dac.CodeOf(s.r.rt).IL(at.method)
	if err != nil {
		return false
	}
	_, loops, err := s.loopsOf(&at.frame, at.method)
	if err != nil {
		return false
	}
	calls, err := s.around(at.thread, &at.frame, at.method)
	return err == nil && loops.OutermostSpins(body.Code, slices.Concat(calls.Before, calls.Later))
}
