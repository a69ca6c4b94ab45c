package locks

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/target"
)

// mostPromises bounds the promises for which standstills looks for what completes them.
const mostPromises = 16

// standstills adds to the graph of waits who alone can end a wait for room in a queue, for a promise or for a semaphore, where all of them wait themselves for what
// only waits in such a circle end, over things of any kind. Where others may end one of the waits, nothing is added.
func (g *grapher) standstills() error {
	needs := map[*wait][]*wait{} // by wait: all that can end it
	promises := map[target.Addr]bool{}
	seen := map[*wait]bool{}
	var todo []*wait
	for _, op := range g.s.ops {
		if op.wait.fullChannel() != nil {
			todo = append(todo, op.wait)
		}
	}
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		if w.lock != nil {
			todo = append(todo, w)
		}
	}
	for len(todo) > 0 {
		w := todo[0]
		if todo = todo[1:]; w == nil || seen[w] || !w.ends.IsZero() || w.timeout >= 0 || w.op != nil && w.op.limited {
			continue
		}
		seen[w] = true
		list, err := g.needs(w, promises)
		if err != nil {
			return err
		}
		if len(list) > 0 && !slices.Contains(list, nil) {
			needs[w] = list
			todo = append(todo, list...)
		}
	}
	for changed := true; changed; {
		changed = false
		for w, list := range needs {
			if slices.ContainsFunc(list, func(by *wait) bool { return len(needs[by]) == 0 }) {
				delete(needs, w)
				changed = true
			}
		}
	}
	for _, w := range slices.Concat(g.s.waits, opWaits(g.s.ops)) {
		list := needs[w]
		if len(list) == 0 || len(w.behind)+len(w.runners) > 0 || w.lock != nil && slices.Contains(list, w) {
			continue // it is there, or is said of the semaphore alone
		}
		if w.lock != nil && g.s.boundedOf(w).collection == 0 {
			list = list[:1] // one of those that have entered shows the circle
		}
		w.behind = append(w.behind, list...)
		if w.fullChannel() != nil || g.s.boundedOf(w).collection != 0 || w.lock == nil {
			w.proved = false // the IL says who ends it
			w.byIL = w.fullChannel() == nil
		}
		if w.op != nil && !slices.Contains(g.ops, w) {
			g.ops = append(g.ops, w)
		}
	}
	return nil
}

// opWaits returns the waits of operations.
func opWaits(list []*operation) (out []*wait) {
	for _, op := range list {
		out = append(out, op.wait)
	}
	return out
}

// needs returns the waits of all that can end a wait, nil among them for what does not wait. It returns nothing if others may end it, or if it is not known.
// promises has those that were looked at.
func (g *grapher) needs(w *wait, promises map[target.Addr]bool) ([]*wait, error) {
	switch b := g.s.boundedOf(w); {
	case w.fullChannel() != nil:
		c := w.fullChannel()
		if g.course().channel(c).moves {
			return nil, nil
		}
		list, unknown := g.readersOf(c)
		if reads, sure := g.readingOf(c); unknown || reads || !sure {
			return nil, nil
		}
		return g.waitsOf(list), nil
	case b.collection != 0 && w.thread != nil && !b.items && !w.library:
		return g.takersIn(b.collection)
	case w.lock != nil && w.lock.Kind == answer.LockSemaphore:
		if w.lock.count > 0 || b.collection != 0 {
			return nil, nil
		}
		return g.entered[w.lock], nil
	case w.lock != nil && !w.pulse && w.thread != nil:
		var out []*wait
		for _, t := range w.runners {
			out = append(out, g.of[t])
		}
		return out, nil
	case w.op != nil && w.op.own && !w.op.first && w.op.thing.kind == answer.WaitPromise && w.op.thing.source != 0:
		promise := w.op.thing.source
		if promises[promise] = true; len(promises) > mostPromises || g.completed(promise) {
			return nil, nil
		}
		goers, ok, err := g.s.code.OnlySuspended(func(method string) (target.Addr, bool) { return promise, settles(method) }, nil)
		if err != nil || !ok {
			return nil, err
		}
		return g.waitsOf(holdersOf(goers)), nil
	}
	return nil, nil
}

// waitsOf returns the waits of holders, nil for one that does not wait.
func (g *grapher) waitsOf(list []holder) (out []*wait) {
	for i := range list {
		out = append(out, g.waitOf(&list[i]))
	}
	return out
}

// holdersOf returns suspended methods as holders.
func holdersOf(list []target.Addr) (out []holder) {
	for _, a := range list {
		out = append(out, holder{box: a})
	}
	return out
}

// takersIn returns the waits of the threads that take from a full collection again and again, if nothing else may take from it.
func (g *grapher) takersIn(collection target.Addr) ([]*wait, error) {
	list := g.takersOf(collection)
	threads := 0
	for i := range list {
		if list[i].thread != nil {
			threads++
		}
	}
	if len(list) == 0 || slices.ContainsFunc(list, g.takesOn) {
		return nil, nil
	}
	if n, err := g.s.enumeratorsOf(collection); err != nil || n > threads {
		return nil, g.s.ctx.Err()
	}
	var r *reach.Callers
	r, err := g.s.code.Callers(func(method string) (target.Addr, bool) { return collection, takes(method) })
	if r == nil || r.Outside || err != nil {
		return nil, err
	}
	for t := range r.Threads {
		if !slices.ContainsFunc(list, func(h holder) bool { return h.thread == t }) {
			return nil, nil
		}
	}
	return g.waitsOf(list), nil
}
