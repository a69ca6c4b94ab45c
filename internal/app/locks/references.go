package locks

import (
	"iter"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// A tracer follows references from objects.
type tracer struct {
	s       *survey
	steps   int                    // bound of the references from an object at the start
	objects int                    // bound of the objects that are seen
	through func(target.Addr) bool // the objects that it goes on from; nil: all

	cut bool // an object could not be read, or there were more objects: what is not found may be there
}

// A reached is an object that references lead to.
type reached struct {
	object target.Addr
	first  target.Addr // the object after the first step on the way; the object itself if it is one at the start
	steps  int         // references from an object at the start
}

// from yields some objects and what references lead to from them: each once, by the shortest way, the nearest first.
func (q *tracer) from(objects ...target.Addr) iter.Seq[reached] {
	return func(yield func(reached) bool) {
		seen := map[target.Addr]bool{}
		var todo []reached
		see := func(r reached) bool {
			switch {
			case r.object == 0 || seen[r.object]:
				return true
			case len(seen) == q.objects:
				q.cut = true
				return true
			}
			seen[r.object] = true
			if r.steps < q.steps && (r.steps == 0 || q.through == nil || q.through(r.object)) {
				todo = append(todo, r)
			}
			return yield(r)
		}
		for _, a := range objects {
			if !see(reached{object: a, first: a}) {
				return
			}
		}
		edges := q.s.r.heap.Edges(heap.EdgeOptions{})
		for i := 0; i < len(todo); i++ {
			at := todo[i]
			o, err := q.s.r.heap.ObjectAt(at.object)
			if err != nil {
				q.cut = true
				continue
			}
			for ref, err := range edges.Of(&o) {
				if err != nil {
					q.cut = true
					continue
				}
				next := reached{object: ref.Target, first: at.first, steps: at.steps + 1}
				if at.steps == 0 {
					next.first = ref.Target
				}
				if !see(next) {
					return
				}
			}
		}
	}
}
