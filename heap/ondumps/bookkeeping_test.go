package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestBookkeeping compares the range that the collector reserved with its segments.
func TestBookkeeping(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net10-zoo-servergc", "net9-zoo", "net8-zoo", "win-net10-zoo", "win-net8-zoo"} {
		t.Run(name, func(t *testing.T) {
			h, err := testdump.Open(t, name).Heap()
			require.NoError(t, err)
			b, err := h.Bookkeeping()
			if name == "win-net10-zoo" {
				assert.ErrorIs(t, err, target.ErrNotInDump, "the slice lacks the table's header")
				return
			}
			require.NoError(t, err)
			require.NotEmpty(t, b.Tables)
			inside := 0
			for _, s := range h.Segments() {
				if s.Kind == heap.KindFrozen {
					continue
				}
				assert.GreaterOrEqual(t, s.Committed.Start, b.Reserved.Start)
				assert.LessOrEqual(t, s.Reserved.End, b.Reserved.End)
				inside++
			}
			assert.NotZero(t, inside)
			for _, table := range b.Tables {
				assert.Greater(t, table.Size(), b.Reserved.Size()/1024, "a brick takes two bytes for 4,096 of the heap")
			}
		})
	}
	for _, name := range []string{"net31-zoo", "win-net6-zoo"} {
		h, err := testdump.Open(t, name).Heap()
		require.NoError(t, err)
		_, err = h.Bookkeeping()
		assert.ErrorIs(t, err, target.ErrUnsupported, name)
	}
}
