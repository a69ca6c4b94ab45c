package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestOldReferences checks that the rows add up to the references from older generations to younger ones. If
// some are unreadable, the answer must be incomplete.
func TestOldReferences(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		out, err := h.OldReferences(t.Context(), heap.ScanOptions{})
		if err != nil {
			t.Skip(err)
		}
		gen := func(a target.Addr) heap.Generation {
			if s := h.Segment(a); s != nil {
				return s.Generation(a)
			}
			return heap.GenerationUnknown
		}
		young, count := map[target.Addr]bool{}, uint64(0)
		_, err = h.Graph(t.Context(), nil, heap.GraphOptions{}, func(n *heap.Node) error {
			from := gen(n.Object.Addr)
			if n.Err != nil && from >= heap.Generation1 && from < heap.GenerationFrozen {
				require.True(t, out.Incomplete, "%v is not known whole: %v", n.Object.Addr, n.Err)
			}
			for _, a := range n.References {
				to := gen(a)
				if from >= heap.GenerationFrozen || to >= from || to > heap.Generation1 {
					continue
				}
				if o, err := h.ObjectAt(a); err == nil && !o.Free {
					young[a] = true
					count++
				}
			}
			return nil
		})
		require.NoError(t, err)
		got, rows := uint64(0), uint64(0)
		for _, g := range out.Groups {
			for _, o := range g.Objects {
				assert.Equal(t, g.From, gen(o.Address).String())
				got += o.Count
				rows++
			}
		}
		assert.Equal(t, count, got)
		assert.Equal(t, rows, out.Objects)
		assert.EqualValues(t, len(young), out.Young)
	})
}

// TestLargeReferences checks the pairs, and finds the array of doubles in a field of the debuggee.
func TestLargeReferences(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		out, err := h.LargeReferences(t.Context(), heap.ScanOptions{})
		if err != nil {
			t.Skip(err)
		}
		found := false
		large, named := d.Manifest.Fact("root.Arrays.Large")
		for _, p := range append(out.ToLarge, out.FromLarge...) {
			o, err := h.ObjectAt(p.From.Address)
			require.NoError(t, err)
			refers := false
			for r, err := range h.References(o) {
				refers = refers || err == nil && r.Target == p.To.Address
			}
			assert.True(t, refers)
			found = found || named && len(large) > 14 && p.To.Address.String() == "0000"+large[2:14]
		}
		if d.Name == "net10-zoo" {
			assert.True(t, found)
		}
	})
}

// TestDead checks that dead, live and free bytes add up for any set of live objects.
func TestDead(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		all, err := h.Count(t.Context(), heap.ListOptions{})
		if err != nil {
			t.Skip(err)
		}
		even := func(a target.Addr) bool { return a>>3&1 == 0 }
		odd := func(a target.Addr) bool { return !even(a) }
		var parts [2]uint64
		for i, start := range []func(target.Addr) bool{even, odd} {
			l, err := h.Count(t.Context(), heap.ListOptions{Filter: &heap.Filter{Start: start}})
			require.NoError(t, err)
			parts[i] = l.Statistics.Count
		}
		assert.Equal(t, all.Statistics.Count, parts[0]+parts[1])

		dead, err := h.SizesWithDead(t.Context(), func(target.Addr) bool { return false }, heap.ScanOptions{})
		require.NoError(t, err)
		live, err := h.SizesWithDead(t.Context(), func(target.Addr) bool { return true }, heap.ScanOptions{})
		require.NoError(t, err)
		half, err := h.SizesWithDead(t.Context(), even, heap.ScanOptions{})
		require.NoError(t, err)
		other, err := h.SizesWithDead(t.Context(), odd, heap.ScanOptions{})
		require.NoError(t, err)
		for i := range dead.Heaps {
			for g := range dead.Heaps[i].Generations {
				x := &dead.Heaps[i].Generations[g]
				assert.Equal(t, x.Live, x.Dead)
				assert.Zero(t, live.Heaps[i].Generations[g].Dead)
				assert.Equal(t, x.Live, half.Heaps[i].Generations[g].Dead+other.Heaps[i].Generations[g].Dead)
			}
		}

		queue, err := h.ListFinalizers(heap.FinalizerOptions{})
		if err != nil {
			return
		}
		none, err := h.ListFinalizers(heap.FinalizerOptions{Live: func(target.Addr) bool { return true }})
		require.NoError(t, err)
		every, err := h.ListFinalizers(heap.FinalizerOptions{Live: func(target.Addr) bool { return false }})
		require.NoError(t, err)
		assert.Equal(t, queue.Statistics.Count, every.Statistics.Count)
		ready := uint64(0)
		for i := range queue.Queues {
			q := &queue.Queues[i]
			ready += q.Ready.Count + q.Critical.Count
			bounds := target.Range{Start: q.Generations[len(q.Generations)-1].Start, End: q.Ready.End}
			for g := range q.Generations {
				bounds.Start = min(bounds.Start, q.Generations[g].Start)
			}
			u, err := h.UnreachableIn(bounds, func(target.Addr) bool { return false })
			if err != nil {
				continue
			}
			assert.Equal(t, bounds.Size()/8, u.Words)
			assert.Equal(t, u.Words, u.Statistics.Count+uint64(len(u.Others)))
			for i, w := range u.Others { // in the order of the words
				assert.Equal(t, bounds.Start+target.Addr(8*(i+w.After)), w.Slot)
			}
		}
		assert.LessOrEqual(t, none.Statistics.Count, ready)
		assert.True(t, none.OnlyReady)
	})
}
