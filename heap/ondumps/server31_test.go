package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestServerGCOf31 opens the heaps of a server GC that does not publish the offsets of gc_heap's members, as in
// .NET Core 3.1. Each object that the program printed must be in its heap. The other heap has its segments,
// nearly empty.
func TestServerGCOf31(t *testing.T) {
	d := testdump.Open(t, "net31-servergc")
	h, err := d.Heap()
	require.NoError(t, err)
	require.True(t, h.Server())
	require.Len(t, h.SubHeaps(), 2)
	objects := map[int]int{}
	for _, fact := range d.Manifest.Objects() {
		w := h.Where(fact.Addr)
		require.True(t, w.Found, fact.Name)
		objects[w.Heap]++
	}
	assert.Greater(t, objects[0], 50)
	assert.Zero(t, objects[1])
	segments := map[int]int{}
	for _, s := range h.Segments() {
		segments[s.SubHeap]++
	}
	assert.Equal(t, map[int]int{0: 2, 1: 2}, segments)
	for _, s := range h.SubHeaps() {
		assert.NotZero(t, s.OOMHistoryAt)
	}
}
