package locks

import (
	"cmp"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
)

// leftBehind is what it rests on that code has left a lock or a permit behind. A collector at work can look like that.
var leftBehind = []answer.Premise{answer.HeapAtRest}

// held describes each held lock and its waiters.
func (g *grapher) held() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		var names []answer.Statement
		strength := answer.StrengthProved
		var alike []*wait
		var first *wait
		for _, w := range g.s.waits {
			if w.lock != l || w.pulse || len(w.runners) == 0 || g.circled[w] {
				continue // a cycle already includes it
			}
			first = cmp.Or(first, w)
			names = append(names, g.name(w.thread))
			alike = append(alike, w)
			if w.how != answer.HowRecorded {
				strength = answer.StrengthLikely
			}
		}
		if len(names) == 0 {
			continue
		}
		if g.passing(l, first) {
			g.soon(alike)
			continue
		}
		waiting := words.ManyWait.Of(words.N(len(names)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
		if len(names) == 1 {
			waiting = words.OneWaits.Of(names[0])
		}
		var onward answer.Statement
		var kind answer.FindingKind
		var severity answer.Severity
		switch {
		case len(first.runners) == 1 && first.runners[0].OS == nil:
			kind = answer.FindingAbandoned
			onward = g.onward(first.runners, first)
		case len(first.runners) == 1 && l.Kind != answer.LockLazy && g.idles(first.runners[0]):
			kind, strength = answer.FindingAbandoned, answer.Weakest(strength, answer.StrengthLikely)
			onward = words.LeftHeld.Of(g.name(first.runners[0]))
		default:
			onward = g.onward(first.runners, first)
			how := isMoment
			if l.Kind == answer.LockLazy {
				kind, severity = g.madeBy(first.runners[0], len(names), isLazy)
			} else {
				kind, severity, how = g.heldBy(l, first.runners, len(names))
				switch age := g.s.waited(l); {
				case age.least >= briefWait:
					onward = onward.Plus(words.NotPassedOn.Of(words.Duration(age.least)))
				case how == isAsking && !age.known:
					onward = onward.Plus(words.NoAge.Of())
				}
			}
			if kind == answer.NoFinding && how != isAsking {
				g.soon(alike)
			}
		}
		holds := g.holds(l, first)
		switch g.s.possession(first.runners, l) {
		case heldUnread:
			strength = answer.Weakest(strength, answer.StrengthLikely)
		case heldUnseen:
			strength = answer.Weakest(strength, answer.StrengthLikely)
			holds = words.RecordHolds.Of(g.name(first.runners[0]), words.Text(holdsVerb(l)))
			onward = words.Join("", onward, words.LeftById.Of())
		}
		if next := g.of[first.runners[0]]; next != nil && next.lock != nil && !next.pulse && g.s.possession(next.runners, next.lock) != heldEntered {
			strength = answer.Weakest(strength, answer.StrengthLikely) // the sentence goes on with the owner of that lock
		}
		v := answer.Conclude(kind, words.HeldLock.Of(holds, g.lockName(l), waiting, limitOf(alike), onward), strength, g.evidences(alike)...)
		v.Count, v.Sites, v.Thing, v.Severity = len(names), g.sites(alike), g.lockName(l).Text, severity
		if len(first.runners) == 1 {
			v.Behind = g.waitingIDs([]holder{{thread: first.runners[0]}})
		}
		v.Show = append([]string{"dumpobj " + addressText(l.Address)}, g.showRunner(first)...)
		if kind == answer.FindingAbandoned {
			v.Rests = leftBehind
		}
		out = append(out, v)
	}
	return append(out, g.constructing()...)
}

// constructing describes the static constructors for which at least three threads wait. Fewer are described as other waits.
func (g *grapher) constructing() (out []answer.Verdict) {
	for _, first := range g.s.waits {
		alike := g.constructorWaits(first)
		if len(alike) < contended || alike[0] != first || len(first.runners) != 1 {
			continue
		}
		kind, severity := g.madeBy(first.runners[0], len(alike), isConstructor)
		names := make([]answer.Statement, len(alike))
		for k, w := range alike {
			names[k] = g.name(w.thread)
		}
		waiting := words.ManyWait.Of(words.N(len(names)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
		v := answer.Conclude(kind, words.HeldLock.Of(words.ThreadHolds.Of(g.name(first.runners[0]), words.Text("runs")), g.what(first), waiting, limitOf(alike), g.onward(first.runners, first)),
			answer.StrengthLikely, g.evidences(alike)...)
		v.Count, v.Sites, v.Thing, v.Severity = len(names), g.sites(alike), g.what(first).Text, severity
		v.Show = g.showRunner(first)
		out = append(out, v)
	}
	return out
}

// constructorWaits returns the waits for the same static constructor as a wait, but for those in a cycle.
func (g *grapher) constructorWaits(w *wait) (out []*wait) {
	for _, other := range g.s.waits {
		if w.class != 0 && other.class == w.class && !g.circled[other] {
			out = append(out, other)
		}
	}
	return out
}

// madeBy judges what one thread makes once for all who wait, the value of a Lazy or what a static constructor sets up: a start looks so. While it runs, or uses
// files, many have to wait. isMaker names the method that begins it.
func (g *grapher) madeBy(t *stackwalk.Thread, waiting int, isMaker func(method string) bool) (answer.FindingKind, answer.Severity) {
	made := g.course().releases(t, 1, 0) // one turn serves all
	switch {
	case g.transferring(t):
		made = isBusy
	case made > isLong && g.of[t] == nil && g.runs(t):
		made = g.s.making(t, isMaker)
	}
	switch {
	case made <= isLong:
		return answer.FindingHeld, ""
	case made != isMoment && waiting >= crowd:
		return answer.FindingHeld, answer.SeverityWarning
	}
	return answer.NoFinding, ""
}

// isLazy and isConstructor report whether a method begins to make the value of a Lazy, or is a static constructor.
func isLazy(method string) bool        { return strings.HasPrefix(method, "System.Lazy") }
func isConstructor(method string) bool { return strings.HasSuffix(method, "..cctor") }

// making judges a thread that runs by the loops in which it stands, up to the method that began to make something: each ends by itself, or one only waits.
func (s *survey) making(t *stackwalk.Thread, isMaker func(method string) bool) release {
	inner := true
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || err == nil && md == nil {
			continue
		}
		if err = cmp.Or(f.Missing(), err); err != nil {
			return isBusy
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		if err != nil {
			return isBusy
		}
		maker := isMaker(name)
		if !answer.LibraryMethod(name) {
			body, err := dac.CodeOf(f.Runtime).IL(md)
			if err != nil {
				return isBusy
			}
			loops, err := ilflow.All(body.Code) // the place in optimized code is not exact
			if !inner && err == nil {
				_, loops, err = s.loopsOf(&f, md)
			}
			calls, callsErr := s.around(t, &f, md)
			switch {
			case err != nil || callsErr != nil:
				return isBusy
			case inner && loops.Spin(body.Code, calls):
				return isStuck
			case !loops.End(body.Code):
				return isBusy
			}
			inner = false
		}
		if maker {
			return isMoment
		}
	}
	return isBusy
}

// idles reports whether a thread is a thread pool worker without work: its stack has no code of the program.
func (g *grapher) idles(t *stackwalk.Thread) bool {
	if t.OS == nil || t.Managed == nil || t.Managed.Finalizer || g.of[t] != nil {
		return false
	}
	a := threads.ActivityOf(t, g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
	return a.Activity == threads.ActivityIdle && a.Caller == nil && a.Err == nil
}

// unheld describes the ReaderWriterLockSlims that readers hold although no reader was found. Those readers have ended
// or continued in another thread; only the thread that entered can leave.
func (g *grapher) unheld() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		if l.Kind != answer.LockReaderWriter || !l.Held || l.owner != nil || len(l.readers) > 0 || l.unread || g.s.r.unread != nil {
			continue
		}
		var alike []*wait
		for _, w := range g.s.waits {
			if w.lock == l && !g.circled[w] {
				alike = append(alike, w)
			}
		}
		if len(alike) == 0 {
			continue
		}
		v := answer.Conclude(answer.FindingAbandoned, words.Unheld.Of(g.waiting(alike), g.lockName(l), l.Counts, limitOf(alike)), answer.StrengthLikely, g.evidences(alike)...)
		v.Count, v.Sites, v.Thing = len(alike), g.sites(alike), g.lockName(l).Text
		v.Show = append([]string{"dumpobj " + addressText(l.Address)}, g.show(alike[0])...)
		v.Because(words.EnteredLists.Of())
		out = append(out, v)
	}
	return out
}

// limitOf states how waits end by themselves, if all of them do.
func limitOf(list []*wait) answer.Statement {
	longest := int32(-1)
	for _, w := range list {
		switch {
		case w.ends.IsZero():
			return answer.Statement{}
		case w.timeout < 0:
			return words.CanEnd.Of()
		}
		longest = max(longest, w.timeout)
	}
	return words.ForAtMost.Of(words.Duration(time.Duration(longest) * time.Millisecond))
}

// holdsVerb returns the verb for a lock's owner.
func holdsVerb(l *lock) string {
	if l.Kind == answer.LockLazy {
		return "makes"
	}
	return "holds"
}

// holds names the holders of a lock that a thread waits for.
func (g *grapher) holds(l *lock, w *wait) answer.Statement {
	list := w.runners
	if len(list) == 1 {
		says := words.ThreadHolds
		if list[0].OS == nil {
			says = words.EndedHolds
		}
		return says.Of(g.name(list[0]), words.Text(holdsVerb(l)))
	}
	names := make([]answer.Statement, len(list))
	for i, t := range list {
		names[i] = g.name(t)
	}
	return words.ThreadsHold.Of(words.N(len(list)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
}
