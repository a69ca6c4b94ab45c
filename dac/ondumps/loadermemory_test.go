package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestLoaderHeaps checks that every heap has a listed owner, and no more memory than it reserved.
func TestLoaderHeaps(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			return
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		l, err := rt.LoaderHeaps()
		require.NoError(t, err)
		assert.NotZero(t, l.SystemDomain)
		n := len(l.Of(l.GlobalAllocator)) + len(l.Of(l.JITManager))
		for _, c := range l.Collectible {
			n += len(l.Of(c.Address))
		}
		require.Len(t, l.Heaps, n)
		for i := range l.Heaps {
			h := &l.Heaps[i]
			assert.Equal(t, h.Err == nil, h.Complete)
			size, _ := h.Sizes()
			var reserved uint64
			for _, b := range h.Blocks {
				reserved += b.Size
			}
			assert.LessOrEqual(t, size, (reserved+0xfff)&^0xfff+0x1000*uint64(len(h.Blocks)), h.Kind)
		}
	})
}

// TestPartialLoaderHeaps checks that a heap is partial if a block is missing from the dump, or has a gap, and
// that the sum is then partial too. In a dump with all memory no heap is partial.
func TestPartialLoaderHeaps(t *testing.T) {
	rt, err := testdump.Open(t, "net10-crash-null-triage").Runtime()
	require.NoError(t, err)
	l, err := rt.LoaderHeaps()
	require.NoError(t, err)
	assert.True(t, l.Partial)
	partial := 0
	for _, h := range l.Heaps {
		size, _ := h.Sizes()
		if h.Partial {
			partial++
		}
		assert.True(t, h.Partial || h.Complete && size > 0, h.Kind)
	}
	assert.NotZero(t, partial)
	testdump.Corpus(t, testcase.Named("net10-*-full"), func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		l, err := rt.LoaderHeaps()
		require.NoError(t, err)
		assert.False(t, l.Partial)
		return len(l.Heaps)
	})
}
