package acceptance_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestHeapAtOnce: sixteen goroutines ask one heap everything and get the same answers. With -race
// it finds answers that change the heap. It is in this package because the packages above the heap
// are compiled for it anyway.
func TestHeapAtOnce(t *testing.T) {
	d := testdump.Open(t, "net10-zoo-servergc")
	h, err := d.Damaged(t).Heap() // not used by another test
	require.NoError(t, err)
	answers := make([]string, 16)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = everythingOf(t.Context(), h, d.Manifest.Objects()[i%4].Addr) })
	}
	wg.Wait()
	for i, a := range answers {
		require.Equal(t, answers[i%4], a)
	}
}

// everythingOf returns everything about the heap and about the object at a.
func everythingOf(ctx context.Context, h *heap.Heap, a target.Addr) (all string) {
	o := heap.ScanOptions{Jobs: 2}
	handles := 0
	for range h.Handles() {
		handles++
	}
	stats, err := h.Stats(ctx, nil, o)
	all += fmt.Sprintln(handles, stats.Count, stats.Size, err)
	v, err := h.Verify(ctx, nil, o)
	all += fmt.Sprintln(v.Objects, v.Faulty, v.Missing, err)
	strs, _, err := h.Strings(ctx, nil, o)
	all += fmt.Sprintln(len(strs), err)
	sizes, err := h.Sizes(ctx, o)
	all += fmt.Sprintln(len(sizes.Heaps), err)
	near := h.Near(a)
	all += fmt.Sprintln(near.Current.Size, near.Gap)
	all += fmt.Sprintln(h.Where(a).Generation, len(h.Overview(nil).Segments), h.Server(), h.InGC())
	for i := range h.SubHeaps() {
		q, err := h.FinalizerQueue(i)
		all += fmt.Sprintln(q.Bounds, err)
	}
	found, err := h.ObjectContaining(a + 8)
	all += fmt.Sprintln(found.Addr, err)
	for r, err := range h.References(found) {
		all += fmt.Sprintln(r, err)
	}
	return all
}
