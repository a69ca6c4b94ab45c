package hosting_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestDbContexts checks the program's three contexts. One tracks eight entities, two of them of an owned type with its
// own map; one was never queried; one is disposed.
func TestDbContexts(t *testing.T) {
	d, _ := testdump.Libraries(t)
	r, h := open(t, d)
	out, err := r.DbContexts(t.Context(), h, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Contexts, 3)
	used := out.Contexts[0]
	assert.Equal(t, "Fakes.ShopContext", used.Type.S)
	assert.True(t, used.Used)
	assert.Equal(t, answer.Known[int64](8), used.Tracked)
	assert.Equal(t, answer.Known[int64](3), used.Changed)
	assert.Equal(t, answer.Known(false), used.Disposed)
	counts := map[string]int64{}
	for _, e := range used.Entities {
		counts[e.State+" "+e.Type.S] = e.Count
		assert.NotZero(t, e.First)
	}
	assert.Equal(t, map[string]int64{"Unchanged Fakes.Order": 2, "Unchanged Fakes.Customer": 1, "Unchanged Fakes.Address": 2, "Modified Fakes.Order": 1, "Added Fakes.Customer": 2}, counts)
	disposed := 0
	for _, c := range out.Contexts[1:] {
		assert.False(t, c.Used)
		assert.Empty(t, c.Entities)
		if c.Disposed.Value {
			disposed++
		}
	}
	assert.Equal(t, 1, disposed)
}
