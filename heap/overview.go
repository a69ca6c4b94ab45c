package heap

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
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

// A Fragment is a free block and the live object that follows it.
type Fragment struct{ Free, Next Object }

// FragmentSize is the minimum size in bytes of a reported free block.
const FragmentSize = 512 << 10

// fragment returns the fragment of the free block o, or false. The block must be large, be followed directly by
// a live object, and lie where the GC compacts. Large and pinned objects are not moved, and frozen ones not
// freed, so holes between them do not count.
func (h *Heap) fragment(s *Segment, o *Object) (Fragment, bool) {
	if !o.Free || o.Size < FragmentSize || s.Kind == KindLarge || s.Kind == KindPinned || s.Kind == KindFrozen {
		return Fragment{}, false
	}
	next := o.Next()
	if !s.Objects.Contains(next) || h.isGap(next) {
		return Fragment{}, false
	}
	n, err := h.ObjectAt(next)
	return Fragment{Free: *o, Next: n}, err == nil && !n.Free
}

// Where describes the heap, segment and generation of a, which may be in memory reserved after a segment's
// objects.
func (h *Heap) Where(a target.Addr) *answer.Where {
	w := &answer.Where{Address: a}
	s := h.segmentAround(a)
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

// Version describes the version of a runtime and the kind of its GC. h may be nil if the heap is not in the
// dump; err is the reason.
func Version(inst *dac.Instance, h *Heap, err error) *answer.EEVersion {
	v := &answer.EEVersion{Version: inst.Version(), Release: inst.Release(), Text: inst.VersionText(), Core3: inst.IsCore3()}
	if h == nil {
		v.Note(err)
		v.NoGC.Err, v.Heaps, v.InGC = err, answer.Missing[int](err), answer.Missing[bool](err)
		return v
	}
	server := h.Server()
	v.Server, v.Heaps, v.InGC = &server, answer.Known(len(h.SubHeaps())), answer.Known(h.InGC())
	if mode, ok := h.DATAS(); ok && server {
		v.DATAS = &mode
	}
	return v
}
