package heap

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// Overview describes the segments of the heap that keep selects, or all if keep is nil.
func (h *Heap) Overview(keep func(*Segment) bool) *answer.GCHeap {
	a := &answer.GCHeap{Server: h.server, Regions: h.regions, InGC: h.inGC, DATAS: h.datas, Heaps: len(h.subHeaps),
		Segments: []answer.Segment{}, Partial: keep != nil}
	for i := range h.segments {
		s := &h.segments[i]
		a.MaxAllocated = max(a.MaxAllocated, s.Objects.Size())
		a.MaxCommitted = max(a.MaxCommitted, s.Committed.Size())
		if keep != nil && !keep(s) {
			continue
		}
		a.Allocated += s.Objects.Size()
		a.Committed += s.Committed.Size()
		a.Segments = append(a.Segments, answer.Segment{Heap: s.SubHeap, Address: s.Addr, Kind: answer.SegmentKind(s.Kind.String()),
			Objects: *rangeOf(s.Objects), Committed: *rangeOf(s.Committed), Reserved: *rangeOf(s.Reserved)})
	}
	a.Lost = h.lostAnswers()
	for i := range h.subHeaps {
		a.SubHeaps = append(a.SubHeaps, h.subHeaps[i].part())
	}
	return a
}

func (h *Heap) lostAnswers() (list []answer.LostSegment) {
	for _, l := range h.lost {
		list = append(list, answer.LostSegment{Heap: l.SubHeap, Address: l.Addr, Generation: l.Generation.String(), Reason: l.Err.Error(), Err: l.Err})
	}
	return list
}

func (s *SubHeap) part() answer.GCPart {
	p := answer.GCPart{Index: s.Index, Address: s.Addr}
	for _, g := range s.Generations {
		context := target.Range{Start: g.AllocContext.Pointer, End: g.AllocContext.Limit}
		p.Generations = append(p.Generations, answer.GCGeneration{Start: g.AllocationStart, AllocContext: *rangeOf(context)})
	}
	return p
}
