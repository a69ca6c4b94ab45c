package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
)

// mostSignals bounds the events and pulses with waits for which crossings looks for what would end them.
const mostSignals = 32

// crossings adds to the graph of waits which threads would end waits for events and pulses: each of these threads waits itself, and for what only threads
// in such waits would do. Where other code may lead to such a call, or may have made it a moment ago, nothing is added.
func (g *grapher) crossings() error {
	var seen []signal
	stuck, err := g.stuck(func(w *wait) bool {
		is, ok := w.signaled()
		if promise := g.promiseOf(w); promise != 0 {
			is, ok = signal{answer.WaitPromise, promise}, true
		}
		if !ok || w.library || g.meets(w) || !strings.HasPrefix(w.called, "System.Threading.") || w.set() {
			return false
		}
		if !slices.Contains(seen, is) {
			seen = append(seen, is)
		}
		return len(seen) <= mostSignals
	})
	for w, need := range stuck {
		if _, ok := w.signaled(); ok && !g.meets(w) || w.gets != nil {
			w.signals = need
		}
	}
	return cmp.Or(err, g.standstills(), g.nameQueues())
}

// set reports whether a thread waits for an event that is set: it is about to go on.
func (w *wait) set() bool {
	return w.lock != nil && w.lock.Kind == answer.LockEvent && w.lock.Counts.Says == words.EventSet.Kind()
}

// waitsAlike reports whether two threads wait for the same thing. A thread without a wait does not.
func (w *wait) waitsAlike(other *wait) bool {
	if w == nil {
		return false
	}
	if w.lock != nil || other.lock != nil {
		return w.lock == other.lock && w.pulse == other.pulse
	}
	return w.object.Addr != 0 && w.object.Addr == other.object.Addr && w.join == other.join
}

// isSignaledBy reports whether the thread of another wait would end a wait for a signal.
func (w *wait) isSignaledBy(by *wait) bool {
	return by.thread != nil && slices.Contains(w.signals, by.thread)
}

// signalVerb returns the verb for what ends a wait for a signal.
func (w *wait) signalVerb() string {
	switch {
	case w.pulse:
		return "pulse"
	case len(w.tasks) > 0:
		return "complete"
	}
	return "set"
}

// lockOrObject names what a thread waits for a signal of.
func (g *grapher) lockOrObject(w *wait) answer.Statement {
	if w.pulse {
		return words.ObjectOfType.Of(words.Type(w.lock.Type.String()), g.addressName(w.lock.Address))
	}
	return g.what(w)
}

// signaledBefore reports whether a thread may have ended a wait just before it began to wait itself: code on its stack that is done, or that a loop
// repeats, leads to such a call. Calls under a lock that the waiter has held since do not count.
func (g *grapher) signaledBefore(w *wait, threads []*stackwalk.Thread, r *reach.Callers) (bool, error) {
	if g.meets(w) {
		return false, nil // each participant signals once in a phase
	}
	for _, t := range threads {
		list := g.s.code.Of(t)
		loops := slices.ContainsFunc(list, (*reach.Frame).MayRepeat)
		by := g.of[t]
		end := -1 // of the section that the thread is about to enter
		if loops {
			if by == nil || by.lock == nil || by.pulse || len(by.runners) != 1 || by.runners[0] != w.thread || len(list) == 0 || list[0].At < 0 {
				return true, nil
			}
			if end = g.s.sectionEnd(list[0], by.lock); end < 0 {
				return true, nil
			}
		}
		for i, f := range list {
			before := func(offset int) bool {
				switch {
				case i > 0 && loops:
					return true
				case loops && offset > end:
					return true
				}
				return offset < f.At
			}
			goes, err := r.Leads.From(f.Method, before, f.At, f.Inner, g.s.code.This(f))
			if goes || err != nil {
				return true, g.s.ctx.Err()
			}
		}
	}
	return false, nil
}

// sectionEnd returns the offset of the first call behind the place of a frame that may leave a lock, or -1 if it does not.
func (s *survey) sectionEnd(f *reach.Frame, l *lock) int {
	around, err := s.around(f.Thread, &f.Frame, f.Method)
	if err != nil {
		return -1
	}
	i := slices.IndexFunc(around.Later, func(c tasks.Call) bool { return leavesLock(c.Method) && c.Object == l.Address })
	if i < 0 {
		return -1
	}
	return around.Later[i].Offset
}

// fullChannel returns the channel that suspended code waits for room in, or nil.
func (w *wait) fullChannel() *channelWait {
	if w.op == nil || !w.op.thing.writes || w.op.thing.channel == nil || w.op.thing.channel.kind != &channelKind {
		return nil
	}
	return w.op.thing.channel
}

// channelText names a channel by the field that holds it, or by its address.
func (g *grapher) channelText(t *thing) answer.Statement {
	if name := g.nameOf(t); name != "" {
		return words.Field(name)
	}
	return words.Object(t.addr)
}
