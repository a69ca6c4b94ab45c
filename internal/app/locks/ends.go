package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// maxEndings bounds the things for which a grapher looks for what ends the waits for them.
const maxEndings = 64

// endsDepth bounds the references from code to an object that it may end a wait for, through a queue of items that have it.
const endsDepth = 8

// waitItem is the wait for an item of a BlockingCollection.
const waitItem answer.WaitKind = "item"

// waitSource is the wait for an object with a ManualResetValueTaskSourceCore, which code completes by that.
const waitSource answer.WaitKind = "source"

// ends reports whether a call of a method ends waits for a thing, if it is made on that.
func (s signal) ends(method string) bool {
	switch s.kind {
	case answer.LockSemaphore:
		return releasesPermit(method)
	case answer.WaitPromise:
		return settles(method)
	case answer.WaitChannel:
		return endsChannel(method)
	case answer.WaitLimiter:
		return replenishes(method)
	case waitItem:
		return endsTaking(method)
	case waitSource:
		return strings.HasPrefix(method, sourceCore+".Set")
	}
	return slices.Contains(signals[s.kind], method)
}

// on returns the object of the calls that end waits for a thing, or 0 if code does not show it: the core of a source is a part of that.
func (s signal) on() target.Addr {
	if s.kind == waitSource {
		return 0
	}
	return s.object
}

// An enderList has the threads and suspended methods with code that may end the waits for a thing.
type enderList struct {
	list   []holder
	called bool // a delegate that lives may, such as the callback of a timer
}

// endersOf returns what may end the waits for a thing. What can't be read does not.
func (g *grapher) endersOf(is signal) enderList {
	out, known := g.enders[is]
	if known || len(g.enders) == maxEndings {
		return out
	}
	out = g.findEnders(is)
	g.enders[is] = out
	return out
}

// findEnders is endersOf.
func (g *grapher) findEnders(is signal) (out enderList) {
	s := g.s
	sought := func(method string) (target.Addr, bool) { return is.on(), is.ends(method) }
	leads, err := s.code.Leads(sought, nil)
	if err != nil {
		return out
	}
	begun := s.begun()
	out.called = s.code.SomeDelegate(leads, sought, func(delegate target.Addr) bool {
		return begun[delegate] || !g.apart(delegate) || !s.mayKnow(delegate, is.object)
	})
	if _, err := s.code.Frames(); err == nil {
		for i := range s.r.threads {
			if t := &s.r.threads[i]; g.threadEnds(t, leads, is.object) {
				out.list = append(out.list, holder{thread: t, strength: answer.StrengthLikely})
			}
		}
	}
	shown := map[target.Addr][]target.Addr{} // by method: the objects on which it makes such calls
	for m, err := range s.set.Suspended(s.ctx, is.ends, nil) {
		if err != nil {
			return out
		}
		for _, c := range slices.Concat(m.Calls, m.Later) {
			if m.Err == nil && !c.Unknown {
				shown[m.Object] = append(shown[m.Object], c.Object)
			}
		}
	}
	for m := range leads.Going(s.ctx, s.set) {
		if m == nil {
			continue
		}
		on := shown[m.Object]
		known := slices.Contains(on, is.object)
		if !known && len(on) > 0 && !slices.Contains(on, 0) || !s.comesTo(m) {
			continue
		}
		if known || s.isNear([]target.Addr{m.Object}, is.object) {
			out.list = append(out.list, holder{box: m.Object, strength: answer.StrengthLikely})
		}
	}
	return out
}

// comesTo reports whether a suspended method comes to a call by itself: each loop around its await, from the innermost one, ends by itself up to one that makes it.
func (s *survey) comesTo(m *tasks.Goer) bool {
	p, err := s.found.tasks.AwaitOf(m.Object)
	return err == nil && p != nil && comesOut(p.Code, p.At, m.Within)
}

// comesOut reports whether each loop of il around an offset, from the innermost one, ends by itself up to one in which code does what is sought.
func comesOut(il []byte, at int, within func(start, end int) bool) bool {
	loops, err := ilflow.Around(il, at)
	if err != nil {
		return false
	}
	for len(loops) > 0 {
		start := -1
		for other, end := range loops {
			if start < 0 || end-other < loops[start]-start {
				start = other
			}
		}
		end := loops[start]
		if within(start, end) {
			return true
		}
		if !(ilflow.Loops{start: end}).End(il) {
			return false
		}
		delete(loops, start)
	}
	return true
}

// threadEnds reports whether the code of a thread leads to a call that ends waits for an object, by itself: no loop without an end of its own is before that.
func (g *grapher) threadEnds(t *stackwalk.Thread, leads *tasks.Leads, on target.Addr) bool {
	s, first := g.s, true
	for _, f := range s.code.Of(t) {
		way, err := leads.WayFrom(f.Method, f.Reaches, f.At, f.Inner, s.code.This(f))
		if err != nil {
			return false
		}
		within := func(start, end int) bool {
			goes, err := leads.From(f.Method, func(offset int) bool { return start <= offset && offset < end }, f.At, f.Inner, s.code.This(f))
			return goes && err == nil
		}
		w := g.of[t]
		waits := first && w != nil && w.pulse // in a loop until there is something to do
		if first = false; !waits && f.At >= 0 && !s.comesThrough(f, within) {
			return false
		}
		if way == tasks.KnownWay || way == tasks.HiddenWay && s.hasNear(t, on) {
			return true
		}
	}
	return false
}

// comesThrough is comesOut for the place of a frame.
func (s *survey) comesThrough(f *reach.Frame, within func(start, end int) bool) bool {
	body, err := dac.CodeOf(f.Frame.Runtime).IL(f.Method)
	return err == nil && comesOut(body.Code, f.At, within)
}

// hasNear reports whether a few references lead from the variables of a thread to an object.
func (s *survey) hasNear(t *stackwalk.Thread, to target.Addr) bool {
	var list []target.Addr
	for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			break
		}
		if !root.Interior {
			list = append(list, root.Object)
		}
	}
	return s.isNear(list, to)
}

// isNear reports whether a few references may lead from some objects to another one.
func (s *survey) isNear(from []target.Addr, to target.Addr) bool {
	q := tracer{s: s, steps: endsDepth, objects: nearObjects}
	for r := range q.from(from...) {
		if r.object == to {
			return true
		}
	}
	return q.cut
}

// mayKnow reports whether a delegate leads to an object: by references, or by static fields, where it has no variables.
func (s *survey) mayKnow(delegate, object target.Addr) bool {
	variables := false
	q := tracer{s: s, steps: endsDepth, objects: nearObjects}
	for r := range q.from(delegate) {
		if r.object == object {
			return true
		}
		variables = variables || r.steps == 1 && !strings.HasSuffix(s.nameAt(r.object), "+<>c")
	}
	return q.cut || !variables
}

// apart reports whether code may find an object that runs later and is none of the threads and suspended methods which wait for others: what these do is read from their
// code. Each object may be, if the heap is not whole.
func (g *grapher) apart(a target.Addr) bool {
	if g.found == nil {
		g.found = g.findApart()
	}
	return g.found(a)
}

// findApart is apart for all objects.
func (g *grapher) findApart() func(target.Addr) bool {
	s := g.s
	live, ctx, done := s.code.WholeGraph()
	if live == nil {
		return func(target.Addr) bool { return true }
	}
	defer done()
	waits := map[target.Addr]bool{}
	for _, op := range s.ops {
		if op.thing.cause == tasks.CauseSemaphore || op.thing.cause == tasks.CausePromise || op.thing.channel != nil || op.thing.kind == answer.WaitOther {
			for _, a := range op.path {
				waits[a] = true
			}
		}
	}
	seen := s.code.Later(ctx, live, func(n graph.Node) bool {
		if src := live.Source(n); src != nil {
			return src.Thread != nil && g.of[src.Thread] != nil
		}
		return live.IsObject(n) && waits[live.Address(n)]
	})
	return func(a target.Addr) bool {
		n, ok := live.Node(a)
		return !ok || seen == nil || seen.Has(n)
	}
}

// begun returns the delegates of the tasks that threads run: their threads show what they still do.
func (s *survey) begun() map[target.Addr]bool {
	out := map[target.Addr]bool{}
	s.runs(0)
	for a := range s.running.tasks {
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			continue
		}
		if k, x, is, err := shapes.TryBind[*taskWork](s.r.b, o); is && err == nil {
			if action, err := k.Action.Addr(x); err == nil {
				out[action] = true
			}
		}
	}
	return out
}

// ends returns the pace of a wait for a thing that others end by a call: one of those that may make it goes on.
func (c *course) ends(is signal) pace {
	return c.judged(is.object, func() pace {
		e := c.enders(is)
		if e.called {
			return pace{moves: true}
		}
		best := pace{}
		for i := range e.list {
			if p := c.of(&e.list[i]); p.moves && (!best.moves || p.before(best)) || p.asks && !best.moves {
				best = p
			}
		}
		return best
	})
}

// before reports whether a pace is known to be faster than another one.
func (p pace) before(other pace) bool {
	if p.vague != other.vague {
		return other.vague
	}
	return cmp.Compare(p.turn, other.turn) < 0
}

// task returns the pace of a thread that waits for a task: all that it waits for in its turn goes on.
func (c *course) task(w *wait) pace {
	g := c.g
	if promise := g.promiseOf(w); promise != 0 {
		return c.ends(signal{answer.WaitPromise, promise})
	}
	if len(w.tasks) != 1 || w.ready || len(w.leaves)+len(w.runners) == 0 {
		return pace{}
	}
	var list []holder
	for _, t := range w.runners {
		list = append(list, holder{thread: t})
	}
	for _, l := range w.leaves {
		if len(w.runners) > 0 {
			break // the threads show how far it is
		}
		i := slices.IndexFunc(g.s.ops, func(op *operation) bool { return op.leaf == l.addr })
		if i < 0 || g.s.repeats(&holder{box: g.s.ops[i].box}, false) {
			return pace{}
		}
		list = append(list, holder{box: g.s.ops[i].box})
	}
	out := pace{moves: true}
	for i := range list {
		p := c.of(&list[i])
		if t := list[i].thread; !p.moves || t != nil && g.s.endless(t) {
			return pace{}
		}
		out.timed, out.turn, out.vague = out.timed || p.timed, max(out.turn, p.turn), out.vague || p.vague
	}
	return out
}
