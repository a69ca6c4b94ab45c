package locks

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// closed concludes that semaphores are never released, although who has entered which of them is not known, as where each key has one: all that may have entered one of
// them wait for one of them, and there are as many as permits are taken.
func (g *grapher) closed() []answer.Verdict {
	set := map[*lock][]target.Addr{} // with the suspended methods that may have entered it
	for l, u := range g.s.uses {
		if boxes, ok := g.mayHaveEntered(l, u); ok {
			set[l] = boxes
		}
	}
	for before := 0; before != len(set); {
		before = len(set)
		for l, list := range set {
			if slices.ContainsFunc(list, func(box target.Addr) bool { return !g.waitsAmong(box, set) }) {
				delete(set, l)
			}
		}
	}
	of := map[string][]*lock{} // by field
	for l := range set {
		if name := g.s.names[l.Address]; g.s.alike[name] > 1 {
			of[name] = append(of[name], l)
		}
	}
	var out []answer.Verdict
	for name, list := range of {
		slices.SortFunc(list, func(a, b *lock) int { return cmp.Compare(a.Address, b.Address) })
		taken, holders := int64(0), []target.Addr{}
		for _, l := range list {
			taken += l.most
			for _, box := range set[l] {
				if !slices.Contains(holders, box) {
					holders = append(holders, box)
				}
			}
		}
		if int64(len(holders)) == taken { // else permits are lost, or a method has entered several
			out = append(out, g.closedOver(name, list, holders))
		}
	}
	slices.SortFunc(out, func(a, b answer.Verdict) int { return cmp.Compare(a.Text, b.Text) })
	return out
}

// mayHaveEntered returns the suspended methods that may have entered a semaphore without permits. It reports false if others may have, or if that is not known.
func (g *grapher) mayHaveEntered(l *lock, u *semaphoreUse) (boxes []target.Addr, ok bool) {
	if l.Kind != answer.LockSemaphore || l.count > 0 || l.most == math.MaxInt32 || !u.gives || u.partial || u.blindWaiters || u.unread+u.blind+len(u.inside) > 0 || g.s.incomplete() {
		return nil, false
	}
	for i := range u.holders {
		if u.holders[i].thread != nil {
			return nil, false
		}
		boxes = append(boxes, u.holders[i].box)
	}
	for _, h := range u.hiding {
		if h.box == 0 {
			return nil, false
		}
		if !slices.Contains(boxes, h.box) {
			boxes = append(boxes, h.box)
		}
	}
	return boxes, len(boxes) > 0
}

// waitsAmong reports whether a suspended method waits without a limit for one of some semaphores.
func (g *grapher) waitsAmong(box target.Addr, set map[*lock][]target.Addr) bool {
	op := g.s.standing[box]
	if op == nil || op.thing.lock == nil || op.limited || slices.Contains(op.library, timedWait) {
		return false
	}
	_, ok := set[op.thing.lock]
	return ok
}

// closedOver describes the semaphores in a field that are never released.
func (g *grapher) closedOver(name string, list []*lock, holders []target.Addr) answer.Verdict {
	var ops []*operation
	for _, op := range g.s.ops {
		if slices.Contains(list, op.thing.lock) {
			ops = append(ops, op)
		}
	}
	method := words.MethodObject.Of(words.Method(g.s.standing[holders[0]].method.String()), words.Object(holders[0]))
	v := answer.Conclude(answer.FindingDeadlock, words.ClosedPermits.Of(words.N(len(ops)), words.N(len(list)), words.Field(name), words.N(len(holders)), method), answer.StrengthLikely)
	v.Because(words.WhoeverEntered.Of())
	v.Count, v.Waiting, v.Class, v.Thing = len(ops), boxes(ops), g.s.classes[list[0].Address], g.lockText(list[0]).Text
	v.Show = []string{"dumpobj " + addressText(list[0].Address)}
	for _, box := range holders[:min(len(holders), listedOperations)] {
		v.Show = append(v.Show, "dumpasync -address "+addressText(box))
	}
	at := map[string]int{}
	for _, op := range ops {
		if op.wait != nil {
			g.circled[op.wait] = true
		}
		at[op.method.S]++
	}
	for _, method := range slices.Sorted(maps.Keys(at)) {
		v.Sites = append(v.Sites, answer.Site{Method: answer.Text{S: method}, Does: string(ops[0].thing.kind), Count: at[method]})
	}
	return v
}
