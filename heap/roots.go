package heap

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A RootKind says what keeps an object alive from outside of the heap.
type RootKind uint8

// The kinds.
const (
	RootHandle    RootKind = iota // a strong handle
	RootFinalizer                 // the finalizer thread has yet to run its finalizer
	RootStack                     // a frame, or a register, of a thread
)

var rootNames = [...]string{"handle", "finalizer", "stack"}

// String is the kind in a word.
func (k RootKind) String() string {
	if int(k) < len(rootNames) {
		return rootNames[k]
	}
	return fmt.Sprintf("RootKind(%d)", uint8(k))
}

// A Root keeps an object alive.
type Root struct {
	Kind   RootKind
	Object target.Addr
}

// Roots iterates over the roots that the GC keeps itself: the handles that keep
// their object alive, then the objects that wait for their finalizer. Those of
// stacks take a walk of the stacks and are no part of a heap. What can't be
// read is an error of the iteration, and the rest goes on.
func (h *Heap) Roots() iter.Seq2[Root, error] {
	return func(yield func(Root, error) bool) {
		for e, err := range h.Handles() {
			if (err != nil || e.Type.Strong()) && !yield(Root{RootHandle, e.Object}, err) {
				return
			}
		}
		for i := range h.subHeaps {
			if !h.finalizerRoots(i, yield) {
				return
			}
		}
	}
}

// finalizerRoots yields the roots in the finalizer queue of a sub heap, up to
// the first error, and reports whether yield wants more.
func (h *Heap) finalizerRoots(subHeap int, yield func(Root, error) bool) bool {
	q, err := h.FinalizerQueue(subHeap)
	if err != nil {
		return yield(Root{}, err)
	}
	for r, err := range h.FinalizerSlots(q.FReachable()) {
		if !yield(Root{RootFinalizer, r.Target}, err) {
			return false
		}
		if err != nil {
			break
		}
	}
	return true
}

// StackRoot is the root that a reference of a stack is: to an object, or into
// one if it is interior. It reports false if it leads to none: interior
// references may lead to other memory, and frames that an exception has left to
// anything.
func (h *Heap) StackRoot(a target.Addr, interior bool) (Root, bool) {
	if h.Segment(a) == nil {
		return Root{}, false
	}
	read := h.ObjectAt
	if interior {
		read = h.ObjectContaining
	}
	o, err := read(a)
	return Root{RootStack, o.Addr}, err == nil && !o.Free
}
