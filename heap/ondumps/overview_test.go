package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestOverview checks that the parts of a heap add up, and that each segment agrees with gcwhere.
func TestOverview(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		all := h.Overview(nil)
		assert.False(t, all.Partial)
		require.Len(t, all.Segments, len(h.Segments()))
		require.Len(t, all.SubHeaps, all.Heaps)
		var allocated uint64
		for i, s := range all.Segments {
			one := h.Overview(func(x *heap.Segment) bool { return x.Addr == s.Address })
			require.Len(t, one.Segments, 1)
			assert.True(t, one.Partial)
			assert.Equal(t, s, one.Segments[0])
			assert.Equal(t, s.Objects.Size(), one.Allocated)
			assert.LessOrEqual(t, one.Allocated, all.MaxAllocated)
			assert.Equal(t, all.MaxAllocated, one.MaxAllocated)
			allocated += one.Allocated
			if w := h.Where(s.Objects.Start); s.Objects.Size() > 0 {
				assert.Equal(t, s.Address, w.Segment)
				assert.Equal(t, h.Segments()[i].Objects, h.Segment(w.Address).Objects)
			}
		}
		assert.Equal(t, all.Allocated, allocated)
	})
}
