package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestHandles compares every GC handle with the oracle.
func TestHandles(t *testing.T) {
	type handle struct {
		kind              string
		object, dependent target.Addr
		strong            bool
	}
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		got, want, more := map[target.Addr]handle{}, map[target.Addr]handle{}, 0
		for e, err := range h.Handles() {
			require.NoError(t, err)
			require.NotContains(t, got, e.Addr)
			if e.Table >= len(h.SubHeaps()) {
				// The oracle reads the tables of the heaps that exist now.
				_, err := h.ObjectAt(e.Object)
				require.NoError(t, err)
				more++
				continue
			}
			got[e.Addr] = handle{e.Type.String(), e.Object, e.Dependent(), e.Type.Strong()}
		}
		d.Oracle(t, "handles", func(m map[string]any) {
			e := handle{m["kind"].(string), hex(m["object"]), hex(m["dependent"]), m["strong"].(bool)}
			if e.kind == "10" { // a type that the oracle does not know
				e.kind, e.strong = heap.HandleWeakInteriorPointer.String(), false
			}
			want[hex(m["address"])] = e
		})
		require.Equal(t, want, got)
		t.Logf("%d handles, %d of other tables", len(got), more)
		return len(got)
	})
}

// TestFinalizerQueues compares the queues' bounds and objects with the oracle.
func TestFinalizerQueues(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		roots, all := map[target.Addr]target.Addr{}, map[target.Addr]int{}
		var queues []heap.FinalizerQueue
		for i := range h.SubHeaps() {
			q, err := h.FinalizerQueue(i)
			require.NoError(t, err)
			queues = append(queues, q)
			for r, err := range h.FinalizerSlots(q.FReachable()) {
				require.NoError(t, err)
				roots[r.Slot] = r.Target
				all[r.Target]++
			}
			for r, err := range h.FinalizerSlots(q.Finalizable()) {
				require.NoError(t, err)
				all[r.Target]++
			}
			for g, part := range q.Generations {
				for r, err := range h.FinalizerSlots(part) {
					require.NoError(t, err)
					requireInPart(t, h, r.Target, heap.Generation(g))
				}
			}
		}
		wantRoots, wantAll := map[target.Addr]target.Addr{}, map[target.Addr]int{}
		d.Oracle(t, "roots", func(m map[string]any) {
			if m["kind"] == "FinalizerQueue" {
				wantRoots[hex(m["address"])] = hex(m["object"])
			} else if m["finalizable"] != nil {
				wantAll[hex(m["finalizable"])]++
			}
		})
		require.Equal(t, wantRoots, roots)
		require.Equal(t, wantAll, all)
		compared := 0
		d.Oracle(t, "segments", func(m map[string]any) {
			if m["finalizerRoots"] == nil {
				return
			}
			q := queues[int(m["subHeap"].(float64))]
			bounds := func(name string) target.Range {
				list := m[name].([]any)
				return target.Range{Start: hex(list[0]), End: hex(list[1])}
			}
			compared++
			require.Equal(t, bounds("finalizerRoots"), q.FReachable())
			require.Equal(t, bounds("finalizerObjects"), target.Range{Start: q.Finalizable().Start, End: q.FReachable().End})
		})
		return compared
	})
}

// requireInPart checks that an object is in the part of its generation or, until the next collection moves it,
// of a younger one.
func requireInPart(t *testing.T, h *heap.Heap, a target.Addr, g heap.Generation) {
	s := h.Segment(a)
	require.NotNil(t, s)
	if own := s.Generation(a); own <= heap.Generation2 {
		require.LessOrEqual(t, g, own)
	}
}

// TestVerify checks that the heaps of the corpus are sound, and that every object is verified.
func TestVerify(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		v, err := h.Verify(t.Context(), &heap.Filter{}, heap.ScanOptions{Jobs: 3})
		require.NoError(t, err)
		s, err := h.Stats(t.Context(), &heap.Filter{}, heap.ScanOptions{})
		require.NoError(t, err)
		require.Empty(t, v.Faults)
		require.Zero(t, v.Missing, v.MissingErr)
		require.Equal(t, s.Count, v.Objects)
		return int(v.Objects)
	})
}
