package sosgo

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/heap"
)

// Roots iterates over what keeps objects of the runtime alive: those of
// heap.Heap.Roots, then what the compilers say that the stacks of threads hold.
// What can't be read is an error of the iteration, and the rest goes on; so does
// the context's error, which is the last. An object may be a root several times.
func (v *View) Roots(ctx context.Context) iter.Seq2[heap.Root, error] {
	return func(yield func(heap.Root, error) bool) {
		h, err := v.Heap()
		if err != nil {
			yield(heap.Root{}, err)
			return
		}
		for r, err := range h.Roots() {
			if ctx.Err() != nil {
				yield(heap.Root{}, ctx.Err())
				return
			}
			if !yield(r, err) {
				return
			}
		}
		v.stackRoots(ctx, h, yield)
	}
}

// stackRoots yields the roots of all stacks.
func (v *View) stackRoots(ctx context.Context, h *heap.Heap, yield func(heap.Root, error) bool) {
	walker, err := v.Walker()
	if err != nil {
		yield(heap.Root{}, err)
		return
	}
	threads, err := v.Threads()
	if err != nil && !yield(heap.Root{}, err) {
		return
	}
	for i := range threads {
		t := &threads[i]
		if t.Managed == nil || t.OS == nil {
			continue
		}
		for ref, err := range walker.Roots(ctx, t.Managed, t.OS.Registers) {
			if ctx.Err() != nil {
				yield(heap.Root{}, ctx.Err())
				return
			}
			root, ok := heap.Root{}, err != nil
			if err != nil {
				err = fmt.Errorf("stack of thread %#x: %w", t.OS.ID, err)
			} else {
				root, ok = h.StackRoot(ref.Object, ref.Interior)
			}
			if ok && !yield(root, err) {
				return
			}
		}
	}
}
