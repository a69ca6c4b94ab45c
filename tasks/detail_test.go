package tasks_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/tasks"
)

// suspended is a dump with tasks of methods that the runtime itself suspends, as Suspended.cs there makes them by reflection.
const suspended = "../testdata/dumps/suspended/net10-suspended/net10-suspended.dmp.zst"

// TestRuntimeAsync: the methods behind such a task are told, the innermost first; of a ring each once, with an error, and of a
// task that runs none.
func TestRuntimeAsync(t *testing.T) {
	if _, err := os.Stat(suspended); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(suspended, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	list := stacks(t, collect(t, d), tasks.StackOptions{})
	require.Len(t, list, 3)
	want := [][]string{{"Suspended.Inner", "Suspended.Middle", "Suspended.Outer"}, {"Suspended.Inner", "Suspended.Outer"}, nil}
	for i, s := range list {
		var got []string
		for _, p := range s.Frames[0].Suspended {
			got = append(got, p.Method.String())
		}
		assert.Equal(t, want[i], got, "task %d", i)
		if i == 1 {
			require.Len(t, s.Noted(), 1)
			assert.ErrorIs(t, s.Noted()[0], target.ErrCorrupt)
		} else {
			assert.Empty(t, s.Noted())
		}
	}
}

// TestTaskDetail: what a task failed with is told with its state, and where its cancellation comes from.
func TestTaskDetail(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	r, err := view(t, d.Dump).Tasks()
	require.NoError(t, err)
	faulted, err := r.DescribeState(0x7fea85811918)
	require.NoError(t, err)
	assert.Equal(t, tasks.Faulted, faulted.Status)
	require.Len(t, faulted.Exceptions, 1)
	assert.Equal(t, "System.InvalidOperationException", faulted.Exceptions[0].Type.S)
	assert.Equal(t, "faulted task", faulted.Exceptions[0].Message.S)
	assert.False(t, faulted.Observed)
	assert.Empty(t, faulted.Noted())
	canceled, err := r.DescribeState(0x7fea85811ab0)
	require.NoError(t, err)
	assert.Equal(t, tasks.Canceled, canceled.Status)
	assert.NotZero(t, canceled.CancellationSource)
	waiting, err := r.DescribeState(0x7fea85808250)
	require.NoError(t, err)
	assert.Zero(t, waiting.CancellationSource)
	assert.Empty(t, waiting.Result)
}
