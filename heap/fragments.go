package heap

// A Fragment is a free block and the live object that follows it.
type Fragment struct{ Free, Next Object }

// FragmentSize is the minimum size in bytes of a reported free block.
const FragmentSize = 512 << 10

// fragment returns the fragment of the free block o, if it is one. The block must be large, be followed directly by a live object, and lie
// where the GC compacts. Large and pinned objects are not moved, and frozen ones not freed, so holes between them mean nothing.
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
