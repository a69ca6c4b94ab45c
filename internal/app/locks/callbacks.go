package locks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Waits of the class library for the end of a callback. It records the thread of a callback of a CancellationToken, and waits by spinning and
// sleeping (CancellationTokenSource.cs, .NET 6 and later). A disposed Timer sets the caller's event, or completes its
// task, after its last callback (Timer.cs).
type (
	registrations struct {
		_         objects.Shape    `of:"System.Threading.CancellationTokenSource+Registrations"`
		Executing objects.IntField `field:"ExecutingCallbackId,optional"`
		Thread    objects.IntField `field:"ThreadIDExecutingCallbacks,optional"`
	}
	disposedTimer struct {
		_      objects.Shape    `of:"System.Threading.TimerQueueTimer"`
		Notify objects.RefField `field:"_notifyWhenNoCallbacksRunning,optional"`
	}
)

// What waits for the end of callbacks wait for.
const (
	callbackOfToken = "a callback of a CancellationToken"
	callbackOfTimer = "the callback of a Timer"
)

// callback makes w a wait for the thread that runs a callback of a CancellationToken, if the thread of w disposes of the registration meanwhile.
func (s *survey) callback(w *wait) {
	for f := range s.r.walker.Walk(s.ctx, w.thread.Managed, w.thread.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil {
			return
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
		if err != nil || !strings.HasPrefix(class, "System.") {
			return
		}
		if name, err := md.Name(); err != nil || class != "System.Threading.CancellationTokenSource+Registrations" || name != "WaitForCallbackToComplete" {
			continue
		}
		for root := range s.framework(w.thread) {
			o, err := s.r.b.Objects().TrustedObject(root.Object)
			if root.Interior || err != nil {
				continue
			}
			k, x, is, err := shapes.TryBind[*registrations](s.r.b, o)
			if !is || err == nil && !(k.Executing.Has() && k.Thread.Has()) {
				continue
			}
			var v []int64
			if err == nil {
				v, err = ints(x, &k.Executing, &k.Thread)
			}
			if err != nil {
				s.gaps.Note(fmt.Errorf("the callback that thread %#x waits for: %w", w.thread.ID(), err))
				return
			}
			if t := stackwalk.ThreadByManagedID(s.r.threads, uint32(v[1])); v[0] != 0 && t != nil && t != w.thread {
				w.callback = callbackOfToken
				w.add(t)
			}
			return
		}
		return
	}
}

// lastTick makes w a wait for the threads that run callbacks of a disposed timer, if what it waits for, an event or a task, ends with them. Its own thread may be one of them.
func (s *survey) lastTick(w *wait, ends target.Addr) {
	list := s.lastTicks()[ends]
	if len(list) == 0 {
		return
	}
	w.callback = callbackOfTimer
	for _, t := range list {
		if !slices.Contains(w.runners, t) {
			w.runners = append(w.runners, t)
		}
	}
}

// lastTicks returns the threads that run callbacks of disposed timers, by the events that are set and the tasks that complete after them.
func (s *survey) lastTicks() map[target.Addr][]*stackwalk.Thread {
	if s.ticks != nil {
		return s.ticks
	}
	s.ticks = map[target.Addr][]*stackwalk.Thread{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.OS == nil || t.Managed == nil {
			continue
		}
		for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
			if err != nil {
				break // the thread may run one: the wait has no known end then
			}
			if root.Interior || root.Object == 0 || root.Method == nil {
				continue
			}
			if class, err := s.r.rt.TypeName(root.Method.MethodTable, dac.NameNative); err != nil || class != "System.Threading.TimerQueueTimer" {
				continue
			}
			o, err := s.r.b.Objects().TrustedObject(root.Object)
			if err != nil {
				continue
			}
			k, x, is, err := shapes.TryBind[*disposedTimer](s.r.b, o)
			if !is || err != nil || !k.Notify.Has() {
				continue
			}
			if event, err := k.Notify.Addr(x); err == nil && event != 0 && !slices.Contains(s.ticks[event], t) {
				s.ticks[event] = append(s.ticks[event], t)
			}
		}
	}
	return s.ticks
}
