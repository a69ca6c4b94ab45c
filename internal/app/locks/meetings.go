package locks

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// signals are the methods that end waits for things that no thread owns. An EventWaitHandle has no kind of lock.
var signals = map[answer.WaitKind][]string{
	answer.LockBarrier:   {"Barrier.SignalAndWait", "Barrier.RemoveParticipant", "Barrier.RemoveParticipants"},
	answer.LockCountdown: {"CountdownEvent.Signal", "CountdownEvent.Reset"},
	answer.LockEvent:     {"ManualResetEventSlim.Set"},
	answer.WaitHandle:    {"EventWaitHandle.Set"},
}

// signalKind returns the kind of thing that a method signals, or "".
func signalKind(method string) answer.WaitKind {
	for kind, list := range signals {
		if slices.Contains(list, method) {
			return kind
		}
	}
	return ""
}

func isSignal(method string) bool { return signalKind(method) != "" }

// A signal is a call that ends waits for a thing. object is 0 if the code does not show the thing.
type signal struct {
	kind   answer.WaitKind
	object target.Addr
}

// signaled returns what would end a wait, if it is for a thing that no thread owns.
func (w *wait) signaled() (signal, bool) {
	s := signal{kind: answer.WaitHandle, object: w.object.Addr}
	if w.lock != nil {
		s = signal{w.lock.Kind, w.lock.Address}
	}
	return s, s.object != 0 && !w.pulse && !w.join && w.more == 0 && len(w.runners) == 0 && signals[s.kind] != nil
}

// meets reports whether a thread waits, without a limit, for a Barrier or CountdownEvent.
func (g *grapher) meets(w *wait) bool {
	return w.lock != nil && (w.lock.Kind == answer.LockBarrier || w.lock.Kind == answer.LockCountdown) && w.ends.IsZero() && !g.circled[w]
}

// meetings describes the Barriers and CountdownEvents that threads wait for, if all other threads in a method that signals them wait, too: for what only
// threads in these waits are about to end. It concludes nothing if code outside of them may reach such a method.
func (g *grapher) meetings() ([]answer.Verdict, error) {
	if g.s.lost || g.s.partial || !slices.ContainsFunc(g.s.waits, g.meets) {
		return nil, nil
	}
	if g.s.pool == nil {
		if err := g.s.queued(); err != nil {
			return nil, err
		}
	}
	if len(g.s.items) > 0 {
		return nil, nil // an item may signal it
	}
	of, all, err := g.s.signalers()
	if err != nil || !all {
		return nil, err
	}
	stuck := g.stuck(of)
	group := map[*stackwalk.Thread]bool{}
	for w := range stuck {
		group[w.thread] = true
	}
	if len(stuck) == 0 || g.s.fromOutside(group, isSignal) {
		return nil, g.s.ctx.Err()
	}
	var out []answer.Verdict
	var seen []*lock
	for _, w := range g.s.waits {
		if g.meets(w) && stuck[w] != nil && !slices.Contains(seen, w.lock) {
			seen = append(seen, w.lock)
			out = append(out, g.meeting(w.lock, stuck))
		}
	}
	return out, nil
}

// signalers returns what the methods on the stacks of threads signal. all is false if some are unknown, or suspended code signals something.
func (s *survey) signalers() (of map[*stackwalk.Thread][]signal, all bool, err error) {
	for m, err := range s.set.Suspended(s.ctx, isSignal, nil) {
		if err != nil {
			return nil, false, err
		}
		signals := func(c tasks.Call) bool { return isSignal(c.Method) }
		if m.Err != nil || slices.ContainsFunc(m.Calls, signals) || slices.ContainsFunc(m.Later, signals) {
			return nil, false, nil
		}
	}
	of = map[*stackwalk.Thread][]signal{}
	known := map[target.Addr]*methodCalls{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil {
			continue
		}
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if f.Missing() != nil {
				return nil, false, nil
			}
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil && md == nil {
				continue
			}
			var m *methodCalls
			if err == nil {
				m, err = s.calls(f.Runtime, md, known, isSignal)
			}
			if err == nil {
				err = s.reaches(m)
			}
			if err != nil {
				return nil, false, nil //nolint:nilerr // nothing is concluded then
			}
			of[t] = append(of[t], s.signalsIn(t, &f, m)...)
		}
	}
	return of, true, s.ctx.Err()
}

// signalsIn returns what the method of a frame signals, itself or by the methods that it calls. In a loop, what is before the place in the code comes again.
func (s *survey) signalsIn(t *stackwalk.Thread, f *stackwalk.Frame, m *methodCalls) (out []signal) {
	for _, method := range m.reach.Calls {
		if kind := signalKind(method); kind != "" {
			out = append(out, signal{kind, 0})
		}
	}
	if len(m.list) == 0 {
		return out
	}
	around, err := s.around(t, f, m.method)
	if err != nil {
		for _, method := range m.list {
			out = append(out, signal{signalKind(method), 0})
		}
		return out
	}
	for _, c := range slices.Concat(around.Before, around.Later) {
		if kind := signalKind(c.Method); kind != "" {
			out = append(out, signal{kind, c.Object})
		}
	}
	return out
}

// stuck returns, for each wait that only threads in such waits can end, these threads. The waiters of one thing do not end each other's waits: at a
// Barrier they have arrived.
func (g *grapher) stuck(of map[*stackwalk.Thread][]signal) map[*wait][]*stackwalk.Thread {
	out := map[*wait][]*stackwalk.Thread{}
	for _, w := range g.s.waits {
		if !w.ends.IsZero() {
			continue
		}
		need := w.runners
		if is, ok := w.signaled(); ok {
			need = g.signalersOf(w, is, of)
		}
		if len(need) > 0 {
			out[w] = need
		}
	}
	for changed := true; changed; {
		changed = false
		for w, need := range out {
			if slices.ContainsFunc(need, func(t *stackwalk.Thread) bool { return g.of[t] == nil || out[g.of[t]] == nil }) {
				delete(out, w)
				changed = true
			}
		}
	}
	return out
}

// signalersOf returns the threads that can end a wait, or nil if one may be missing.
func (g *grapher) signalersOf(w *wait, is signal, of map[*stackwalk.Thread][]signal) (out []*stackwalk.Thread) {
	sure := false
	for i := range g.s.r.threads {
		t := &g.s.r.threads[i]
		if by := g.of[t]; t == w.thread || by != nil && by.lock != nil && by.lock == w.lock {
			continue
		}
		if slices.ContainsFunc(of[t], func(s signal) bool { return s.kind == is.kind && (s.object == 0 || s.object == is.object) }) {
			out, sure = append(out, t), sure || slices.Contains(of[t], is)
		}
	}
	if !sure {
		return nil
	}
	return out
}

// meeting describes the threads that wait for a Barrier or CountdownEvent, and the waits of those that would end theirs.
func (g *grapher) meeting(l *lock, stuck map[*wait][]*stackwalk.Thread) answer.Verdict {
	var alike, others []*wait
	for _, w := range g.s.waits {
		if w.lock != l || stuck[w] == nil {
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
	v := answer.Conclude(answer.FindingWait, words.Meeting.Of(g.waiting(alike), g.lockName(l), state, words.N(len(others)), words.Join("", each...)),
		answer.StrengthPossible, g.evidences(slices.Concat(alike, others))...)
	v.Because(words.SignalsIL.Of())
	v.Count, v.Sites, v.Thing = len(alike), g.sites(alike), g.lockName(l).Text
	v.Show = append([]string{"dumpobj " + addressText(l.Address)}, g.show(others[0])...)
	return v
}
