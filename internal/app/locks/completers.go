package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// settles reports whether a call completes the promise that it is made on.
func settles(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return class == "TaskCompletionSource" && (strings.HasPrefix(name, "Set") || strings.HasPrefix(name, "TrySet"))
}

// A completerList has the suspended methods that complete a promise (TaskCompletionSource) behind their present await.
type completerList struct {
	sure    []holder
	perhaps []holder // they go on soon and lead to this promise, but their code does not show which one it completes
}

// completers finds the suspended methods that complete promises behind their present await, by promise. Operations of the groups wait for these.
func (g *grapher) completers(groups []*waiters) map[target.Addr]*completerList {
	out := map[target.Addr]*completerList{}
	for _, w := range groups {
		for _, op := range w.ops {
			if w.thing.kind == answer.WaitPromise && op.thing.source != 0 {
				out[op.thing.source] = &completerList{}
			}
		}
	}
	if len(out) == 0 {
		return out
	}
	searches := 0
	for m, err := range g.s.set.Suspended(g.s.ctx, settles, nil) {
		if err != nil {
			return out // the context's
		}
		if m.Err == nil {
			g.completes(m, out, &searches)
		}
	}
	return out
}

// completes adds a suspended method to the promises that it completes behind its present await, there or in the next turn of a loop.
func (g *grapher) completes(m *tasks.Suspended, known map[target.Addr]*completerList, searches *int) {
	op := g.s.standing[m.Object]
	waits := func(promise target.Addr) bool { return op != nil && op.thing.source == promise }
	var done []target.Addr
	hidden := false
	for _, c := range slices.Concat(m.Later, m.Calls) {
		of := known[c.Object]
		later := slices.ContainsFunc(m.Later, func(l tasks.Call) bool { return l.Offset == c.Offset })
		again, _ := g.s.readsAgain(m, func(r tasks.Call) bool { return r.Offset == c.Offset })
		switch {
		case !later && !again:
		case c.Object == 0 && !c.Unknown:
			hidden = true
		case of == nil || slices.Contains(done, c.Object) || waits(c.Object):
		default:
			done = append(done, c.Object)
			h := holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthLikely}
			h.again, _ = g.s.readsAgain(m, func(r tasks.Call) bool { return r.Object == c.Object })
			of.sure = append(of.sure, h)
		}
	}
	if !hidden || *searches == nearSearches {
		return
	}
	h := holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthPossible}
	h.again, _ = g.s.readsAgain(m, func(r tasks.Call) bool { return r.Object == 0 && settles(r.Method) })
	if !g.soonCompletes(&h) {
		return
	}
	*searches++
	q := tracer{s: g.s, steps: nearDepth, objects: nearObjects}
	for r := range q.from(m.Object) {
		if promise := r.object; known[promise] != nil && !waits(promise) && !slices.Contains(done, promise) {
			known[promise].perhaps = append(known[promise].perhaps, h)
		}
	}
}

// Bounds of the objects among which a suspended method finds a promise, in a field of its object or in a collection there, and of the methods that are
// searched so.
const (
	nearSearches = 256
	nearDepth    = 4
	nearObjects  = 1 << 14
)

// completer adds to a conclusion about a promise who completes it, as far as that is known. It returns false if that goes on.
func (g *grapher) completer(v *answer.Verdict, t *thing) bool {
	if g.completing[t.source].soon(g) || g.completed(t.source) {
		return false
	}
	of := g.completing[t.source]
	if of == nil || len(of.sure) == 0 {
		v.Statement = v.Plus(words.NobodyCompletes.Of())
		return true
	}
	h, does := &of.sure[0], answer.Statement{}
	if w := g.waitOf(h); w != nil {
		does = words.AndWaits.Of(g.what(w))
	}
	v.Statement, v.Strength = v.Plus(words.CompletesLater.Of(g.holderName(h), does)), answer.Weakest(v.Strength, h.strength)
	v.Because(words.CompletesIL.Of(g.holderName(h)))
	v.Show = append(v.Show, g.showHolder(h)...)
	if g.moves(h) {
		v.Severity = answer.SeverityWarning
	}
	return true
}

// soon reports whether one of the methods goes on soon.
func (l *completerList) soon(g *grapher) bool {
	return l != nil && (len(l.perhaps) > 0 || slices.ContainsFunc(l.sure, func(h holder) bool { return g.soonCompletes(&h) }))
}

// holders returns the methods that complete a promise for sure.
func (l *completerList) holders() []holder {
	if l == nil {
		return nil
	}
	return l.sure
}

// anyCompleted reports whether one of the promises that operations wait for is soon completed.
func (g *grapher) anyCompleted(ops []*operation) bool {
	return slices.ContainsFunc(ops, func(op *operation) bool { return g.completing[op.thing.source].soon(g) }) || g.completed(ops[0].thing.source)
}

// completed reports whether a thread that goes on completes a promise, or a delegate that something may run does, such as the callback of a timer. What
// can't be read does not.
func (g *grapher) completed(promise target.Addr) bool {
	if promise == 0 {
		return false
	}
	s := g.s
	sought := func(method string) (target.Addr, bool) { return promise, settles(method) }
	leads, err := s.code.Leads(sought, nil)
	if err != nil {
		return false
	}
	if s.code.SomeDelegate(leads, sought, nil) {
		return true
	}
	frames, err := s.code.Frames()
	if err != nil {
		return false
	}
	for _, f := range frames {
		if goes, err := s.code.Goes(f, leads); err == nil && goes && g.soonCompletes(&holder{thread: f.Thread}) {
			return true
		}
	}
	return false
}

// soonCompletes reports whether what completes a promise goes on soon, in no loop without an end that does not complete it.
func (g *grapher) soonCompletes(h *holder) bool {
	if !g.moves(h) {
		return false
	}
	if h.thread != nil {
		return !g.s.endless(h.thread)
	}
	return h.again || !g.s.repeats(h, false)
}
