package heap

import (
	"sort"

	"github.com/sosgo/sosgo/target"
)

// Neighbours are an address of the heap and what lies around it.
type Neighbours struct {
	Segment *Segment
	Before  *Object // the last object that starts before the address
	Current *Object // the object that starts at the address
	Next    *Object // the first object behind
	// Gap is the allocation context between the objects, empty if there is none.
	Gap target.Range
	// Corrupt lists what the walk could not read among them.
	Corrupt []*Corruption
}

// Near walks the segment around a and returns the neighbours of a, or nil if a
// lies in no segment's objects.
func (h *Heap) Near(a target.Addr) *Neighbours {
	s := h.Segment(a)
	if s == nil {
		return nil
	}
	n := &Neighbours{Segment: s}
	var before Object
	for o, err := range h.ObjectsIn(s, s.Objects) {
		switch {
		case err != nil:
			n.corrupt(err.(*Corruption), a)
		case o.Addr < a:
			before = o
			n.Before = &before
		case o.Addr == a:
			current := o
			n.Current = &current
		default:
			next := o
			n.Next = &next
		}
		if n.Next != nil {
			break
		}
	}
	n.Gap = h.gapBetween(n)
	return n
}

// corrupt keeps a corruption that lies at or behind the object before a.
func (n *Neighbours) corrupt(c *Corruption, a target.Addr) {
	if c.Next >= a || n.Before == nil {
		n.Corrupt = append(n.Corrupt, c)
	}
}

// gapBetween is the first gap between the neighbours.
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
