package threads_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
)

// TestDeadlock: in the scenario "stacks" two threads hold what the other waits for, and no other threads do.
func TestDeadlock(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		walker, err := d.Walker()
		if err != nil {
			t.Skip("no runtime that is read")
		}
		list, err := d.Threads()
		require.NoError(t, err)
		w, err := threads.Waiting(context.Background(), walker, list)
		require.NoError(t, err)
		assert.NotEmpty(t, w.Threads)
		if d.Manifest.Scenario != "stacks" || !d.HasHeap() {
			assert.Empty(t, w.Deadlocks)
			return
		}
		require.Len(t, w.Deadlocks, 1)
		require.Len(t, w.Deadlocks[0], 2)
		names := []string{w.Deadlocks[0][0].Name, w.Deadlocks[0][1].Name}
		assert.ElementsMatch(t, []string{"deadlock one", "deadlock two"}, names)
		require.Len(t, w.Monitors, 2)
		for _, m := range w.Monitors {
			assert.EqualValues(t, 1, m.Waiters)
			require.Len(t, m.Waiting, 1)
			require.NotNil(t, m.Owner)
			assert.NotEqual(t, m.Waiting[0].OSID, m.Owner.OSID)
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = threads.Waiting(ended, walker, list)
		assert.ErrorIs(t, err, context.Canceled)
	})
}
