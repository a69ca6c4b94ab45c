package locks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
)

// circles describes the cycles of threads that wait for each other. Cycles through several tasks of one wait that differ
// only in the threads that run them are one conclusion.
func (g *grapher) circles() []answer.Verdict {
	out := []answer.Verdict{}
	for _, alike := range alikeCircles(g.cycles()) {
		out = append(out, g.circle(alike))
	}
	slices.SortStableFunc(out, func(a, b answer.Verdict) int { return cmp.Or(byKind(a, b), byStrength(a, b)) })
	return out
}

// cycles finds the cycles of waits, each once. A cycle closes where the search returns to a wait on its path.
func (g *grapher) cycles() (out [][]*wait) {
	var path []*wait
	done := map[*wait]bool{}
	var visit func(*wait)
	visit = func(w *wait) {
		if from := slices.Index(path, w); from >= 0 {
			out = append(out, slices.Clone(path[from:]))
			return
		}
		if done[w] {
			return
		}
		path = append(path, w)
		for _, next := range g.next(w) {
			visit(next)
		}
		path = path[:len(path)-1]
		done[w] = true
	}
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		visit(w)
	}
	return withoutParts(out)
}

// withoutParts leaves out the cycles through signals with nothing but waits of a longer cycle: of several threads that would give a signal, one is enough, so
// they are in one circle together.
func withoutParts(cycles [][]*wait) [][]*wait {
	all := slices.Clone(cycles)
	return slices.DeleteFunc(cycles, func(path []*wait) bool {
		signaled := false
		for i, w := range path {
			signaled = signaled || w.thread != nil && path[(i+len(path)-1)%len(path)].isSignaledBy(w)
		}
		return signaled && slices.ContainsFunc(all, func(longer []*wait) bool {
			return len(longer) > len(path) && !slices.ContainsFunc(path, func(w *wait) bool { return !slices.Contains(longer, w) })
		})
	})
}

// alikeCircles groups the cycles through one wait for several tasks, if their other waits are for the same things.
func alikeCircles(cycles [][]*wait) (out [][][]*wait) {
	at := map[string]int{}
	for _, path := range cycles {
		from := slices.IndexFunc(path, func(w *wait) bool { return len(w.tasks) > 1 })
		if from < 0 {
			out = append(out, [][]*wait{path})
			continue
		}
		path = slices.Concat(path[from:], path[:from])
		key := fmt.Sprintf("%p", path[0])
		for _, w := range path[1:] {
			key += fmt.Sprintf("|%p %x %x %x", w.lock, w.class, w.object.Addr, w.tasks)
		}
		if i, ok := at[key]; ok {
			out[i] = append(out[i], path)
			continue
		}
		at[key] = len(out)
		out = append(out, [][]*wait{path})
	}
	return out
}

// circle describes the waits of a cycle, and names the threads of the others, which are alike.
func (g *grapher) circle(alike [][]*wait) answer.Verdict {
	path := alike[0]
	var says, ends []answer.Statement
	for i, w := range path {
		before := path[(i+len(path)-1)%len(path)]
		awaits := g.awaits(w)
		if len(path) == 1 && (len(w.tasks) == 1 || w.callback != "") {
			awaits = words.ItsCompletion.Of()
		}
		says = append(says, words.WaitInCircle.Of(g.holdsFor(before, w), g.keeps(before, w), awaits))
		if !w.ends.IsZero() {
			ends = append(ends, words.EndsIn.Of(g.who(w), w.ends))
		}
		g.circled[w] = true
	}
	others, more := g.alsoRun(alike[1:])
	v := answer.Conclude(answer.FindingDeadlock, words.Deadlock.Of(words.Join(", ", says...), words.Join("", more, g.alsoWait(path))), answer.StrengthProved)
	if len(ends) > 0 {
		v.Kind = answer.FindingCircle
		v.Statement = words.CircleOfWaits.Of(words.Join(", ", says...), words.Join(", ", ends...))
	}
	for i, w := range path {
		before := path[(i+len(path)-1)%len(path)]
		if w.op != nil {
			v.Rests = words.Suspended
			v.Waiting = append(v.Waiting, w.op.box)
		}
		if h := g.holderOf(before.lock, w); h != nil {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely) // a semaphore does not record who has entered
			v.Because(g.holderEvidence(h, before.lock))
		}
		if l := before.lock; l != nil && w.thread != nil && w.thread == l.owner {
			switch g.s.possession([]*stackwalk.Thread{w.thread}, l) {
			case heldUnread:
				v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
			case heldUnseen:
				v.Strength = answer.Weakest(v.Strength, answer.StrengthPossible)
				v.Because(words.OnlyById.Of(g.name(w.thread), g.lockText(l)))
			}
		}
		if before.byCode {
			v.Strength, v.Rests = answer.Weakest(v.Strength, answer.StrengthLikely), append(slices.Clip(v.Rests), answer.CodeFound, answer.FilesThere)
			v.Because(words.PastMutex.Of(g.name(w.thread), g.what(before)))
		}
		if before.isSignaledBy(w) {
			v.Strength, v.Rests = answer.Weakest(v.Strength, answer.StrengthLikely), slices.Concat(v.Rests, words.Searched)
			if il := words.SignalsIL.Of(); !slices.Contains(v.Evidence, il.Text) {
				v.Because(il)
			}
		}
		if before.byIL {
			v.Strength, v.Rests = answer.Weakest(v.Strength, answer.StrengthLikely), slices.Concat(v.Rests, words.Searched)
			if il := words.SignalsIL.Of(); !slices.Contains(v.Evidence, il.Text) {
				v.Because(il)
			}
		}
		if before.anew && before.isSignaledBy(w) {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthPossible)
			if says := words.TakersAnew.Of(); !slices.Contains(v.Evidence, says.Text) {
				v.Because(says)
			}
		}
		if w.how != answer.HowRecorded || !w.proved || !w.ends.IsZero() {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
		v.Because(g.evidence(w))
		v.Show = append(v.Show, g.show(w)...)
		v.Sites = append(v.Sites, g.site(w))
	}
	if len(others) > 0 {
		v.Because(g.evidences(others)...)
		v.Sites, v.Count = append(v.Sites, g.sites(others)...), len(others)+len(path)
	}
	return v
}

// alsoRun returns the waits of threads that run other tasks of a wait, in cycles like the one that circle describes, and names the threads.
func (g *grapher) alsoRun(alike [][]*wait) (others []*wait, says answer.Statement) {
	var names []answer.Statement
	for _, path := range alike {
		for _, w := range path[1:] {
			g.circled[w] = true
		}
		if w := path[1]; w.thread != nil && !slices.Contains(others, w) {
			others, names = append(others, w), append(names, g.name(w.thread))
		}
	}
	if len(others) == 0 {
		return nil, answer.Statement{}
	}
	return others, words.AlsoRun.Of(words.N(len(others)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
}

// alsoWait counts the suspended code outside a cycle that waits for something held in it.
func (g *grapher) alsoWait(path []*wait) answer.Statement {
	var more []answer.Statement
	var seen []*lock
	for _, w := range path {
		if w.lock == nil || slices.Contains(seen, w.lock) {
			continue
		}
		seen = append(seen, w.lock)
		n := 0
		for _, other := range g.ops {
			if other.lock == w.lock && !slices.Contains(path, other) {
				g.circled[other] = true
				n++
			}
		}
		if n > 0 {
			more = append(more, words.MoreWait.Of(words.N(n), g.lockText(w.lock)))
		}
	}
	return words.Join("", more...)
}

// awaits describes what a thread in a cycle waits for.
func (g *grapher) awaits(w *wait) answer.Statement {
	if w.pulse {
		return words.PulseOfObject.Of(g.what(w))
	}
	if c := g.s.boundedOf(w); w.thread != nil && c.collection != 0 && !c.items {
		return words.RoomIn.Of(g.collectionName(w.lock, c.collection))
	}
	return g.what(w)
}

// holdsFor names the thread or method that keeps w waiting by its own wait by.
func (g *grapher) holdsFor(w, by *wait) answer.Statement {
	if h := g.holderOf(w.lock, by); h != nil {
		return g.holderName(h)
	}
	return g.who(by)
}

// keeps describes how by makes w wait.
func (g *grapher) keeps(w, by *wait) answer.Statement {
	if q, ok := w.gets[by.thread]; ok && q != 0 {
		return words.WouldTake.Of(g.addressName(q), words.Text(w.signalVerb()), g.what(w))
	} else if ok {
		return words.HasEnder.Of(words.Text(w.signalVerb()), g.what(w))
	}
	switch {
	case w.isSignaledBy(by):
		return words.WouldSignal.Of(words.Text(w.signalVerb()), g.lockOrObject(w))
	case w.byIL && w.thread != nil:
		return words.TakesFromFull.Of(g.collectionName(w.lock, g.s.boundedOf(w).collection))
	case w.byIL:
		return words.WouldSignal.Of(words.Text("complete"), g.thingText(w.op.thing))
	case w.fullChannel() != nil:
		return words.IsToRead.Of(g.channelText(w.op.thing))
	case g.holderOf(w.lock, by) != nil:
		return words.HasEntered.Of(g.lockText(w.lock))
	case w.op != nil && w.lock == nil:
		return words.RunsAwaited.Of(g.who(w))
	case w.join:
		return words.HasNotEnded.Of()
	case w.serves != "":
		return words.Text(w.serves)
	case w.callback != "":
		return words.Runs.Of(words.Text(w.callback))
	case w.class != 0:
		return words.Runs.Of(g.what(w))
	case w.object.Addr != 0:
		return words.Holds.Of(g.what(w))
	case len(w.tasks) > 1:
		return g.runsOneOf(w, by)
	case w.lock == nil && len(w.chain) > 1:
		return words.RunsAwaited.Of(g.what(w))
	case w.lock == nil:
		return words.Runs.Of(g.what(w))
	}
	return words.Holds.Of(g.what(w))
}

// runsOneOf names the task of those that w waits for that the thread of by runs.
func (g *grapher) runsOneOf(w, by *wait) answer.Statement {
	for _, a := range w.tasks {
		if by.thread != nil && g.s.runs(a) == by.thread {
			return words.Runs.Of(words.TaskAt.Of(words.Object(a)))
		}
	}
	return words.RunsAwaited.Of(g.who(w))
}
