package heap

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// FinalizerOptions selects the objects that ListFinalizers lists.
type FinalizerOptions struct {
	Filter         *Filter // Segments, Generations and Range are ignored
	OnlyStatistics bool    // leaves the list empty
	ByCount        bool    // sorts the statistics by the number of objects, not by their size
	// Live, if not nil, excludes live objects from the queues' registered parts. Objects that await
	// finalization stay: the queue itself keeps them alive.
	Live func(target.Addr) bool
}

// ListFinalizers lists the objects in the finalizer queues of all heaps: registered ones, the oldest generation
// first, then those that await finalization. It notes unreadable parts, which
// are also missing rows of the list. If no queue is readable it returns an
// error and an answer with only these notes.
func (h *Heap) ListFinalizers(o FinalizerOptions) (*answer.Finalizers, error) {
	a := &answer.Finalizers{}
	var objects []Object
	a.OnlyReady, a.COM = o.Live != nil, h.Runtime().Target().Platform().HasCOM()
	a.SyncBlocks = answer.Of(h.Runtime().CleanupSyncBlocks())
	sieve, total := NewSieve(o.Filter), NewCounter(h, o.Filter)
	for i := range h.subHeaps {
		q, err := h.FinalizerQueue(i)
		if err != nil {
			a.Note(err)
			continue
		}
		a.Queues = append(a.Queues, finalizerQueue(&q))
		ready := q.FReachable()
		a.Unread += h.finalizable(&a.Gaps, &q, func(slot target.Addr, x *Object) {
			if !sieve.Pass(x) || o.Live != nil && !ready.Contains(slot) && o.Live(x.Addr) {
				return
			}
			total.countOne(h.Segment(x.Addr), x)
			if !o.OnlyStatistics {
				objects = append(objects, *x)
			}
		})
	}
	lost := a.Noted()
	if len(a.Queues) == 0 && len(lost) > 0 {
		return a, lost[len(lost)-1]
	}
	a.Note(a.SyncBlocks.Err())
	list := &sliceList{h: h}
	if !o.OnlyStatistics {
		list.list, list.lost = objects, slices.Clone(lost)
	}
	a.Objects = answer.NewObjects(&a.Gaps, list)
	s := total.Stats()
	a.Statistics = h.statistics(&a.Gaps, &s, o.ByCount)
	return a, nil
}

// finalizable calls visit with the objects of a queue in order, and returns the number of unreadable ones.
func (h *Heap) finalizable(g *answer.Gaps, q *FinalizerQueue, visit func(slot target.Addr, o *Object)) (unread uint64) {
	all := target.Range{Start: q.Finalizable().Start, End: q.FReachable().End}
	for r, err := range h.FinalizerSlots(all) {
		if err != nil {
			g.Note(err)
			return unread + uint64(all.End-r.Slot)/8
		}
		o, err := h.ObjectAt(r.Target)
		if err != nil {
			g.Note(fmt.Errorf("object %016x of the finalizer queue: %w", uint64(r.Target), err))
			unread++
			continue
		}
		visit(r.Slot, &o)
	}
	return unread
}

func finalizerQueue(q *FinalizerQueue) answer.FinalizerQueue {
	a := answer.FinalizerQueue{Heap: q.SubHeap, Queue: q.Addr, Ready: finalizerPart("", q.Ready), Critical: finalizerPart("", q.Critical), Bounds: q.Bounds}
	for g, r := range q.Generations {
		a.Generations = append(a.Generations, finalizerPart(Generation(g).String(), r))
	}
	return a
}

func finalizerPart(generation string, r target.Range) answer.FinalizerPart {
	return answer.FinalizerPart{Generation: generation, Count: r.Size() / 8, Start: r.Start, End: r.End}
}
