package heap

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// Where describes the heap, segment and generation of a. Memory that a segment has reserved after its objects counts.
func (h *Heap) Where(a target.Addr) *answer.Where {
	w := &answer.Where{Address: a}
	s := h.SegmentAround(a)
	if s == nil {
		w.Lost = len(h.lost)
		return w
	}
	w.Found, w.Heap, w.Segment = true, s.SubHeap, s.Addr
	w.Generation = s.Generation(a).String()
	if s.Reserved.Contains(a) {
		w.Generation = "reserve"
	}
	w.Allocated, w.Committed, w.Reserved = rangeOf(s.Objects), rangeOf(s.Committed), rangeOf(s.Reserved)
	return w
}

func rangeOf(r target.Range) *answer.Range { return &answer.Range{Start: r.Start, End: r.End} }
