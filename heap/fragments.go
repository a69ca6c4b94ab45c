package heap

// A Fragment is a free block and the live object right behind it.
type Fragment struct{ Free, Next Object }

// FragmentSize is the size in bytes from which a free block is worth a line.
const FragmentSize = 512 << 10

// fragment returns the fragment that the free block o makes, and whether it
// makes one: it is large, a live object follows it without a gap, and it lies
// where the GC compacts. Large and pinned objects are not moved, and frozen
// ones not freed, so that holes between them say nothing.
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
