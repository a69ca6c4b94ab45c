package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// callback is a Timer, or a registration with a CancellationToken, before .NET 6 in one of several lists. A registration of an Action has it as the state.
type callback struct {
	_     objects.Shape    `of:"System.Threading.TimerQueueTimer|System.Threading.CancellationTokenSource+CallbackNode"`
	Calls objects.RefField `field:"_timerCallback|Callback"`
	State objects.RefField `field:"_state|CallbackState"`
}

// fromOutside reports whether code may reach a wanted call that is not in the waits of a group of threads: in another thread of the program, which
// sleeps, runs, or waits for something else, or in a callback. What can't be read may reach it.
func (s *survey) fromOutside(group map[*stackwalk.Thread]bool, wanted func(method string) bool) bool {
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || group[t] || s.waitsFor(t, group) {
			continue
		}
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Missing() != nil || err != nil {
				return true
			}
			if f.Kind != stackwalk.FrameManaged || md == nil {
				continue
			}
			at, loops, err := s.loopsOf(&f, md)
			if err != nil || len(loops) > 0 {
				at = 0
			}
			if s.mayReach(f.Runtime, md, at, wanted) {
				return true
			}
		}
	}
	for _, a := range s.found.callbacks {
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			return true
		}
		c, x, _, err := shapes.TryBind[*callback](s.r.b, o)
		if err != nil || s.delegateReaches(c.Calls.Value(x), wanted) || s.delegateReaches(c.State.Value(x), wanted) {
			return true
		}
	}
	return s.found.more || s.ctx.Err() != nil
}

// waitsFor reports whether a thread waits, without a limit, for threads of a group alone.
func (s *survey) waitsFor(t *stackwalk.Thread, group map[*stackwalk.Thread]bool) bool {
	for _, w := range s.waits {
		if w.thread != t || w.timeout >= 0 || len(w.runners) == 0 {
			continue
		}
		for _, r := range w.runners {
			if !group[r] {
				return false
			}
		}
		return true
	}
	return false
}

// delegateReaches reports whether v is a delegate that may reach a wanted call.
func (s *survey) delegateReaches(v objects.Value, wanted func(method string) bool) bool {
	if v.Err() != nil {
		return true
	}
	if v.IsNull() {
		return false
	}
	o, err := v.Object()
	if err != nil {
		return true
	}
	calls, err := o.Delegate()
	if err != nil {
		return false // the state of a callback may be anything
	}
	for i := range calls {
		md, err := calls[i].Method()
		if err != nil || md == nil || s.mayReach(s.r.rt, md, 0, wanted) {
			return true
		}
	}
	return false
}

// mayReach reports whether a method of the program has a wanted call from an offset on, or calls another method of the program, which may.
func (s *survey) mayReach(rt *dac.Runtime, md *dac.MethodDesc, from int, wanted func(method string) bool) bool {
	name, err := dac.CodeOf(rt).MethodName(md, dac.MethodQualified)
	if err != nil {
		return true
	}
	if answer.LibraryMethod(name) {
		return false
	}
	reaches, err := s.found.tasks.Reaches(md, from, wanted)
	return err != nil || reaches
}
