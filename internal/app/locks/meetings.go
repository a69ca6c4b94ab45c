package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// signals are the methods that end waits for things that no thread owns. An EventWaitHandle has no kind of lock.
var signals = map[answer.WaitKind][]string{
	answer.LockBarrier:   {"Barrier.SignalAndWait", "Barrier.RemoveParticipant", "Barrier.RemoveParticipants"},
	answer.LockCountdown: {"CountdownEvent.Signal", "CountdownEvent.Reset"},
	answer.LockEvent:     {"ManualResetEventSlim.Set"},
	answer.WaitHandle:    {"EventWaitHandle.Set", "WaitHandle.SignalAndWait"},
	waitRelease:          {"Semaphore.Release"},
	waitPulse:            {"Monitor.Pulse", "Monitor.PulseAll"},
}

// Waits that have no kind: for a pulse of a monitor, and for a Semaphore or Mutex of the operating system.
const (
	waitPulse   answer.WaitKind = "pulse"
	waitRelease answer.WaitKind = "release"
	waitMutex   answer.WaitKind = "mutex" // its owner ends it
)

// A signal is a call that ends waits for a thing.
type signal struct {
	kind   answer.WaitKind
	object target.Addr
}

// verb returns what the calls do.
func (s signal) verb() string {
	switch s.kind {
	case answer.LockBarrier, answer.LockCountdown:
		return "signals it"
	case waitPulse:
		return "gives one"
	case waitRelease:
		return "releases it"
	}
	return "sets it"
}

// signaled returns what would end a wait, if it is for a thing that no thread owns.
func (w *wait) signaled() (signal, bool) {
	s := signal{kind: cmp.Or(w.handle, answer.WaitHandle), object: w.object.Addr}
	switch {
	case w.lock != nil && w.pulse:
		s = signal{waitPulse, w.lock.Address}
	case w.lock != nil:
		s = signal{w.lock.Kind, w.lock.Address}
	}
	return s, s.object != 0 && !w.join && w.more == 0 && len(w.runners) == 0 && signals[s.kind] != nil
}

// meets reports whether a thread waits, without a limit, for a Barrier or CountdownEvent.
func (g *grapher) meets(w *wait) bool {
	return w.lock != nil && w.lock.meets() && w.ends.IsZero() && !g.circled[w] &&
		strings.HasPrefix(w.called, "System.Threading."+string(w.lock.Kind)+".") // and no library does for itself
}

// meets reports whether several meet at a lock: it is a Barrier or CountdownEvent.
func (l *lock) meets() bool { return l.Kind == answer.LockBarrier || l.Kind == answer.LockCountdown }

// meetings describes the Barriers and CountdownEvents that threads wait for, if only threads can still signal them that wait for what only threads in such
// waits would do. It concludes nothing if other code may reach such a method.
func (g *grapher) meetings() ([]answer.Verdict, error) {
	if !slices.ContainsFunc(g.s.waits, g.meets) {
		return nil, nil
	}
	stuck, err := g.stuck(g.meets)
	if err != nil {
		return nil, err
	}
	var out []answer.Verdict
	var seen []*lock
	for _, w := range g.s.waits {
		if _, ok := stuck[w]; ok && g.meets(w) && !slices.Contains(seen, w.lock) {
			seen = append(seen, w.lock)
			out = append(out, g.meeting(w.lock, stuck))
		}
	}
	return out, nil
}

// stuck returns the waits that only threads in such waits can end, with these threads. It begins with the waits that start selects. The waiters of one thing do not end each other's waits: at a
// Barrier they have arrived.
func (g *grapher) stuck(start func(*wait) bool) (map[*wait][]*stackwalk.Thread, error) {
	out := map[*wait][]*stackwalk.Thread{}
	seen := map[*wait]bool{}
	todo := slices.DeleteFunc(slices.Clone(g.s.waits), func(w *wait) bool { return !start(w) })
	for len(todo) > 0 {
		w := todo[0]
		if todo = todo[1:]; w == nil || seen[w] || !w.ends.IsZero() {
			continue
		}
		seen[w] = true
		need := w.runners
		is, ok := w.signaled()
		if ok {
			r, err := g.s.signalers(is)
			if err != nil {
				return nil, err
			}
			if r == nil || r.Calls == 0 {
				continue
			}
			if need = g.signalersOf(w, r); r.Outside {
				if g.ownSignal(w) { // whatever sets it has it
					need = g.havers(w, []target.Addr{is.object}, nil)
				} else {
					need = g.havers(w, r.Delegates, need)
				}
			}
			if len(need) == 0 {
				continue
			}
			if w.gets != nil { // what is in a queue has not run
			} else if before, err := g.signaledBefore(w, need, r); before || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		} else if promise := g.promiseOf(w); promise != 0 {
			if need = g.havers(w, []target.Addr{promise}, nil); need == nil {
				continue
			}
		} else if len(need) == 0 {
			continue
		}
		out[w] = need
		for _, t := range need {
			todo = append(todo, g.of[t])
		}
	}
	for changed := true; changed; {
		changed = false
		for w, need := range out {
			if slices.ContainsFunc(need, func(t *stackwalk.Thread) bool { _, ok := out[g.of[t]]; return !ok }) {
				delete(out, w)
				changed = true
			}
		}
	}
	return out, nil
}

// ownSignal reports whether a thread waits for an event that only code with the object can set.
func (g *grapher) ownSignal(w *wait) bool {
	if w.lock != nil {
		return w.lock.Kind == answer.LockEvent && !w.pulse
	}
	return g.s.ownHandle(w.object)
}

// signalers returns what may still signal a thing, or nil if that can't be known.
func (s *survey) signalers(is signal) (*reach.Callers, error) {
	if r, ok := s.signaling[is]; ok {
		return r, nil
	}
	r, err := s.code.Callers(func(method string) (target.Addr, bool) { return is.object, slices.Contains(signals[is.kind], method) })
	s.signaling[is] = r
	return r, err
}

// signalersOf returns the threads that can end a wait.
func (g *grapher) signalersOf(w *wait, r *reach.Callers) (out []*stackwalk.Thread) {
	for i := range g.s.r.threads {
		t := &g.s.r.threads[i]
		if by := g.of[t]; r.Threads[t] && t != w.thread && !(by != nil && by.waitsAlike(w)) {
			out = append(out, t)
		}
	}
	return out
}

// meeting describes the threads that wait for a Barrier or CountdownEvent, and the waits of those that would end theirs.
func (g *grapher) meeting(l *lock, stuck map[*wait][]*stackwalk.Thread) answer.Verdict {
	var alike, others []*wait
	for _, w := range g.s.waits {
		if _, ok := stuck[w]; w.lock != l || !ok {
			continue
		}
		alike, g.described[w] = append(alike, w), true
		for _, t := range stuck[w] {
			if by := g.of[t]; !slices.Contains(others, by) {
				others, g.described[by] = append(others, by), true
			}
		}
	}
	state := l.Counts
	if !l.arrived.IsZero() {
		state = l.arrived
	}
	var each []answer.Statement
	for _, w := range others[:min(len(others), listedWaiters)] {
		each = append(each, words.ItselfWaits.Of(g.name(w.thread), g.waits(w), g.placeOf(w), answer.Statement{}))
	}
	says := words.Meeting.Of(g.waiting(alike), g.lockName(l), state, words.N(len(others)), words.Join("", each...))
	v := answer.Conclude(answer.FindingWait, says, answer.StrengthPossible, g.evidences(slices.Concat(alike, others))...)
	v.Because(words.SignalsIL.Of())
	v.Count, v.Sites, v.Thing = len(alike), g.sites(alike), g.lockName(l).Text
	v.Show = append([]string{"dumpobj " + addressText(l.Address)}, g.show(slices.Concat(others, alike)[0])...)
	return v
}
