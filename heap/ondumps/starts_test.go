package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestStarts looks up every object of real heaps, and the words after each. These are not starts, except where
// the next object starts.
func TestStarts(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		x := heap.NewStarts(h)
		n, wrong := 0, 0
		for o, err := range h.Objects() {
			if err != nil {
				continue
			}
			n++
			start, err := x.IsStart(o.Addr)
			inside, err2 := x.IsStart(o.Addr + 8)
			if !start || inside || err != nil || err2 != nil {
				wrong++
			}
			odd, err := x.IsStart(o.Addr + 1)
			assert.False(t, odd)
			assert.NoError(t, err)
		}
		assert.Zero(t, wrong, "of %d objects", n)
		outside, err := x.IsStart(h.Bounds().End + 0x10000)
		assert.False(t, outside)
		assert.NoError(t, err)
		return n
	})
}
