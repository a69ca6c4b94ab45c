package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// joined returns one conclusion for each chain of semaphores, about the last one: all that have entered one of the others wait for the next. Few that wait, with
// those that wait behind them, are a warning.
func (g *grapher) joined(list []permitLink) (out []answer.Verdict) {
	at := map[*lock]int{}
	for i := range list {
		at[list[i].lock] = i
	}
	behind := make([]int, len(list))
	linked := make([]bool, len(list))
	for i := range list {
		end := i
		for seen := map[int]bool{}; !seen[end]; {
			seen[end] = true
			if next, ok := at[g.nextLock(list[end].lock)]; ok {
				end = next
			}
		}
		if _, more := at[g.nextLock(list[end].lock)]; end != i && !more { // no circle
			linked[i] = true
			behind[end] += list[i].count
			list[end].verdict.Waiting = append(list[end].verdict.Waiting, list[i].verdict.Waiting...)
		}
	}
	var told []permitLink
	for i := range list {
		if linked[i] {
			continue
		}
		v := &list[i].verdict
		if behind[i] > 0 {
			v.Statement = v.Plus(words.WaitBehind.Of(words.N(behind[i])))
		}
		if list[i].count+behind[i] < fewOperations {
			v.Severity = answer.SeverityWarning
		}
		told = append(told, list[i])
	}
	for _, l := range g.oneField(told) {
		out = append(out, l.verdict)
	}
	return out
}

// oneField joins the conclusions about semaphores that are in the same field of several objects, as where each key has a lock: into the most severe one, and among
// several such into the one about the most operations.
func (g *grapher) oneField(list []permitLink) (out []permitLink) {
	of := map[string][]permitLink{}
	var order []string
	for _, l := range list {
		name := g.s.names[l.lock.Address]
		if g.s.alike[name] < 2 || name == "" {
			name = addressText(l.lock.Address)
		}
		if of[name] == nil {
			order = append(order, name)
		}
		of[name] = append(of[name], l)
	}
	for _, name := range order {
		alike := of[name]
		slices.SortStableFunc(alike, func(a, b permitLink) int {
			if warns := b.verdict.Severity == answer.SeverityWarning; warns != (a.verdict.Severity == answer.SeverityWarning) {
				if warns {
					return -1
				}
				return 1
			}
			return cmp.Compare(b.count, a.count)
		})
		first := alike[0]
		more := 0
		for _, l := range alike[1:] {
			more += l.count
			first.verdict.Waiting = append(first.verdict.Waiting, l.verdict.Waiting...)
		}
		if more > 0 {
			first.verdict.Statement = first.verdict.Plus(words.AlikeWait.Of(words.N(more), words.N(len(alike)-1)))
		}
		out = append(out, first)
	}
	return out
}

// nextLock returns the semaphore that all wait for which have entered another one, or nil.
func (g *grapher) nextLock(l *lock) (next *lock) {
	u := g.s.uses[l]
	if u == nil {
		return nil
	}
	for i := range u.holders {
		w := g.waitOf(&u.holders[i])
		if u.holders[i].strength != answer.StrengthLikely || w == nil || w.lock == nil || w.lock == l || next != nil && w.lock != next {
			return nil
		}
		next = w.lock
	}
	return next
}

// rings describes the async methods that await each other.
func (g *grapher) rings() []answer.Verdict {
	var out []answer.Verdict
	for _, list := range g.s.circles {
		var methods []answer.Statement
		var show []string
		var sites []answer.Site
		for _, f := range list[:min(len(list), listedOperations)] {
			method, _ := methodOf(f)
			methods = append(methods, words.MethodObject.Of(words.Method(compilernames.Pretty(method.String())), words.Object(f.Object)))
			show = append(show, "dumpasync -address "+addressText(f.Object))
			sites = append(sites, answer.Site{Method: method, Does: string(answer.WaitTask)})
		}
		if more := len(list) - listedOperations; more > 0 {
			methods = append(methods, words.MoreMethods.Of(words.N(more)))
		}
		v := answer.Conclude(answer.FindingDeadlock, words.AwaitsItself.Of(methods[0]), answer.StrengthProved, words.Continuations.Of())
		if len(list) > 1 {
			v.Statement = words.AwaitRing.Of(methods[0], words.Join(", which awaits ", methods[1:]...))
		}
		v.Show, v.Sites = show, sites
		out = append(out, v)
	}
	return out
}

// onePromise describes the promises that many suspended operations of the program wait for.
func (g *grapher) onePromise(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	of := map[target.Addr][]*waiters{}
	var order []target.Addr
	for _, w := range groups {
		op := w.ops[0]
		if w.thing.kind != answer.WaitPromise || w.thing.addr != 0 || !op.own || op.forgotten || g.lostThings[w.thing.source] ||
			slices.ContainsFunc(w.ops, func(other *operation) bool { return other.leaf != op.leaf }) {
			continue
		}
		if of[op.leaf] == nil {
			order = append(order, op.leaf)
		}
		of[op.leaf] = append(of[op.leaf], w)
	}
	for _, leaf := range order {
		alike, count := of[leaf], 0
		for _, w := range alike {
			count += w.Count
		}
		t := alike[0].thing
		if count < manyOnOne || len(g.completing[t.source].holders()) == 0 && g.blind(count, alike...) {
			continue
		}
		v := answer.Conclude(answer.FindingPromises, words.OnePromise.Of(words.N(count), g.thingText(t)), answer.StrengthRecorded)
		v.Severity, v.Thing, v.Show = inTurn(alike...), g.thingText(t).Text, []string{"dumpobj " + addressText(leaf)}
		for i, w := range alike {
			if i < listedOperations {
				v.Because(g.groupText(w))
				v.Show = append(v.Show, "dumpasync -address "+addressText(w.First[0]))
			}
			v.Waiting = append(v.Waiting, boxes(w.ops)...)
			v.Sites = append(v.Sites, answer.Site{Method: w.Method, Does: string(t.kind), Count: w.Count})
		}
		if g.completer(&v, t) {
			out = append(out, v)
		}
	}
	return out
}

// isQueue reports whether a collection hands out its elements in turn. A dictionary of promises holds awaited answers.
func isQueue(collection string) bool { return !strings.Contains(collection, "Dictionary") }
