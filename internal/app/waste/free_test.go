package waste_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/waste"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestShortWays compares two answers that a triage takes from the heap's census and the graph with full scans: the free
// space between objects, and the soundness of the heap.
func TestShortWays(t *testing.T) {
	followed, pinned := 0, 0
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		h, err := v.Heap()
		if err != nil {
			t.Skip(err)
		}
		short, err := h.Fragmentation(t.Context(), heap.ScanOptions{})
		long, lerr := waste.Waste(t.Context(), v.Process, waste.Options{})
		if err != nil || lerr != nil {
			require.Equal(t, err == nil, lerr == nil)
			return
		}
		require.Len(t, short.Generations, len(long.Free))
		for i, want := range long.Free {
			got := short.Generations[i]
			assert.Equal(t, want.Generation, got.Generation)
			assert.Equal(t, want.Blocks, got.Blocks)
			assert.Equal(t, want.Largest, got.Largest)
			assert.InDelta(t, want.Free, got.Free, float64(8*want.Blocks), "without the padding of blocks")
			for _, p := range got.Pins {
				pinned += int(p.Objects)
			}
		}
		g, err := v.Graph(t.Context(), graph.Options{})
		if err != nil || !g.Stats().Followed() {
			return
		}
		followed++
		want, err := h.Soundness(t.Context(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		got, err := h.HeaderSoundness(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		want.Objects, got.Objects = 0, 0 // with free blocks, and without
		assert.Equal(t, want, got)
	})
	assert.NotZero(t, followed)
	assert.NotZero(t, pinned)
}

// TestDamageIsNotFollowed checks that a damaged reference or an object without a type makes the graph prove nothing
// about the heap.
func TestDamageIsNotFollowed(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	edges := h.Edges(heap.EdgeOptions{})
	tried := 0
	for o, err := range h.Objects() {
		if err != nil || o.Free || tried == 3 {
			continue
		}
		for ref := range edges.Of(&o) {
			tried++
			for _, to := range []uint64{uint64(ref.Target) + 8, 0x10, uint64(ref.Target) + 1} {
				v, err := d.Damaged(t, testdump.Words(ref.Slot, to)).View("")
				require.NoError(t, err)
				g, err := v.Graph(t.Context(), graph.Options{})
				require.NoError(t, err)
				assert.False(t, g.Stats().Followed(), "%x at %x", to, uint64(ref.Slot))
			}
			break
		}
	}
	assert.Equal(t, 3, tried)
}
