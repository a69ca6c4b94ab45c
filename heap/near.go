package heap

import (
	"sort"

	"github.com/sosgo/sosgo/target"
)

// Neighbours describes the surroundings of an address of the heap.
type Neighbours struct {
	Segment *Segment
	Before  *Object       // the last object that starts before the address
	Current *Object       // the object that starts at the address
	Next    *Object       // the first object after the address
	Gap     target.Range  // the allocation context between the objects, or empty
	Corrupt []*Corruption // unreadable places between the neighbours
}

// Near returns the neighbours of a, or nil if a is not in the objects of a segment. The first call for
// a segment walks it up to a. Later calls walk a few kilobytes.
func (h *Heap) Near(a target.Addr) *Neighbours {
	s := h.Segment(a)
	if s == nil {
		return nil
	}
	n := &Neighbours{Segment: s}
	h.walkAround(s, a, &nearSink{n, a})
	n.Gap = h.gapBetween(n)
	return n
}

// A nearSink fills in the neighbours of an address.
type nearSink struct {
	*Neighbours
	a target.Addr
}

func (n *nearSink) objects(_ *Segment, batch []Object) bool {
	i := sort.Search(len(batch), func(i int) bool { return batch[i].Addr >= n.a })
	if i > 0 {
		before := batch[i-1]
		n.Before, n.Corrupt = &before, nil // earlier corruptions are not among the neighbours
	}
	if i < len(batch) && batch[i].Addr == n.a {
		current := batch[i]
		n.Current = &current
		i++
	}
	if i < len(batch) {
		next := batch[i]
		n.Next = &next
	}
	return n.Next == nil
}

func (n *nearSink) corrupt(c *Corruption) bool {
	n.Corrupt = append(n.Corrupt, c)
	return true
}

// ObjectContaining returns the object or free block that contains a, by a walk. It is exact, whereas ObjectAt
// accepts an address that looks like an object. It takes as long as Near. It returns target.ErrCorrupt for an
// address outside of all objects, and the *Corruption if the walk skipped the address.
func (h *Heap) ObjectContaining(a target.Addr) (Object, error) {
	s := h.Segment(a)
	if s == nil {
		return Object{}, target.CorruptHeapf("%#x is in no segment of the heap", uint64(a))
	}
	find := containingSink{a: a}
	h.walkAround(s, a, &find)
	switch {
	case find.last.Type != nil && a < find.last.Next():
		return find.last, nil
	case find.bad != nil:
		return Object{}, find.bad
	}
	return Object{}, target.CorruptHeapf("%#x is in an allocation context, which holds no objects", uint64(a))
}

// A containingSink finds the last object that starts at or before an address.
type containingSink struct {
	a    target.Addr
	last Object
	bad  *Corruption // the one that contains a
}

func (f *containingSink) objects(_ *Segment, batch []Object) bool {
	i := sort.Search(len(batch), func(i int) bool { return batch[i].Addr > f.a })
	if i > 0 {
		f.last = batch[i-1]
	}
	return i == len(batch)
}

func (f *containingSink) corrupt(c *Corruption) bool {
	if c.Addr <= f.a && f.a < c.Next {
		f.bad = c
	}
	return c.Next <= f.a
}

// gapBetween returns the first gap between the neighbours.
func (h *Heap) gapBetween(n *Neighbours) target.Range {
	from, to := n.Segment.Objects.Start, n.Segment.Objects.End
	if n.Before != nil {
		from = n.Before.Next()
	}
	if n.Next != nil {
		to = n.Next.Addr
	}
	gaps := h.gapsFrom(from)
	if len(gaps) == 0 || gaps[0].Start >= to {
		return target.Range{}
	}
	i := sort.Search(len(h.contexts), func(i int) bool { return h.contexts[i].Pointer >= gaps[0].Start })
	return target.Range{Start: h.contexts[i].Pointer, End: h.contexts[i].Limit}
}
