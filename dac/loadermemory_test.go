package dac_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
)

// TestLoaderHeaps: every heap has an owner that the answer names, and holds no
// more than it reserved.
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
