package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestCensusOfDumps compares the census of each dump with separate walks.
func TestCensusOfDumps(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil {
			t.Skip(err)
		}
		stats, serr := h.Stats(t.Context(), &heap.Filter{MinSize: 1}, heap.ScanOptions{}) // a separate walk
		census, err := h.Census(t.Context(), heap.ScanOptions{})
		if serr != nil {
			require.Zero(t, stats.Count)
			return
		}
		require.NoError(t, err)
		known, err := h.Stats(t.Context(), &heap.Filter{}, heap.ScanOptions{Progress: func(uint64, uint64) { t.Error("the census was not used") }})
		require.NoError(t, err)
		assert.Equal(t, stats, known)
		locked, _, err := h.ThinLocks(t.Context(), nil, heap.ScanOptions{})
		if err == nil {
			assert.Equal(t, locked, census.Thin)
		}
		objects, free := stats.Count, uint64(0)
		for _, s := range stats.Types {
			if s.Type.Addr == h.Runtime().WellKnown().Free {
				objects, free = objects-s.Count, s.Count
			}
		}
		blocks := uint64(0)
		for _, f := range census.Free {
			blocks += f.Blocks
		}
		assert.Equal(t, objects, census.Objects)
		assert.Equal(t, free, blocks)
	})
}
