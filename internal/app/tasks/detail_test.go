package tasks_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// suspended is a dump with tasks of methods that the runtime itself suspends. Its program Suspended.cs creates them by
// reflection.
const suspended = "../../../testdata/dumps/suspended/net10-suspended/net10-suspended.dmp.zst"

// TestRuntimeAsync lists the methods of such a task, the innermost first. A ring is listed once with an error. A task
// may have no methods.
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
		reason := "the await of its innermost method, which the runtime does not record"
		if i == 2 {
			reason = "nothing: its methods run or are about to run"
		}
		assert.Equal(t, reason, s.Reason.S, "task %d", i)
		if i == 1 {
			require.Len(t, s.Noted(), 1)
			assert.ErrorIs(t, s.Noted()[0], target.ErrCorrupt)
		} else {
			assert.Empty(t, s.Noted())
		}
	}
}

// TestRuntimeAsyncVariables checks that variables of methods suspended by the runtime are reported as unsupported, not
// as an empty list.
func TestRuntimeAsyncVariables(t *testing.T) {
	if _, err := os.Stat(suspended); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(suspended, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	for i, s := range stacks(t, collect(t, d), tasks.StackOptions{Variables: true}) {
		noted := slices.ContainsFunc(s.Noted(), func(err error) bool { return errors.Is(err, target.ErrUnsupported) })
		assert.Equal(t, len(s.Frames[0].Suspended) > 0, noted, "task %d", i)
	}
}

// TestRuntimeAsyncMerged checks that tasks at different positions are not merged.
func TestRuntimeAsyncMerged(t *testing.T) {
	if _, err := os.Stat(suspended); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(suspended, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	set := collect(t, d)
	calls, err := set.Calls(t.Context(), tasks.StackOptions{})
	require.NoError(t, err)
	merged, err := set.Merged(t.Context(), tasks.StackOptions{})
	require.NoError(t, err)
	require.Len(t, calls.Calls, 3)
	require.Len(t, merged.Merged, 3)
	for i, want := range []int{3, 2, 0} {
		assert.Equal(t, uint64(1), calls.Calls[i].Count)
		assert.Len(t, calls.Calls[i].Suspended, want)
		assert.Len(t, merged.Merged[i].Suspended, want)
	}
}

// TestTaskWaits checks that a task's state includes its method's position, what it waits for and what waits for it.
func TestTaskWaits(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	r, err := tasks.Of(view(t, d.Dump).Process)
	require.NoError(t, err)
	s, err := r.DescribeState(0x7fea858081e8)
	require.NoError(t, err)
	assert.Equal(t, "Debuggee.AsyncWork.Scenario.Middle", s.Name.S)
	require.NotNil(t, s.At)
	assert.Equal(t, "Scenario.Inner", s.At.Await.S)
	require.NotNil(t, s.WaitsOn)
	assert.Equal(t, target.Addr(0x7fea85806ca8), s.WaitsOn.Object)
	assert.Equal(t, "Debuggee.AsyncWork.Scenario.Inner", s.WaitsOn.Name.S)
	require.Len(t, s.Then, 1)
	assert.Equal(t, "Debuggee.AsyncWork.Scenario.Outer", s.Then[0].Name.S)
	assert.Equal(t, answer.StatusWaitingForActivation, s.Then[0].Status)

	inner, err := r.DescribeState(0x7fea85805bb8) // a TaskCompletionSource's task
	require.NoError(t, err)
	assert.Nil(t, inner.At)
	assert.Nil(t, inner.WaitsOn)
	assert.Contains(t, inner.WaitsFor.S, "TaskCompletionSource")
	assert.Len(t, inner.Then, 12)
	done, err := r.DescribeState(0x7fea85811918)
	require.NoError(t, err)
	assert.True(t, done.WaitsFor.IsZero())
	assert.Empty(t, done.Then)
}

// TestTaskDetail checks that a task's state includes its exception and its cancellation token.
func TestTaskDetail(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	r, err := tasks.Of(view(t, d.Dump).Process)
	require.NoError(t, err)
	faulted, err := r.DescribeState(0x7fea85811918)
	require.NoError(t, err)
	assert.Equal(t, answer.StatusFaulted, faulted.Status)
	require.Len(t, faulted.Exceptions, 1)
	assert.Equal(t, "System.InvalidOperationException", faulted.Exceptions[0].Type.S)
	assert.Equal(t, "faulted task", faulted.Exceptions[0].Message.S)
	assert.False(t, faulted.Observed)
	assert.Empty(t, faulted.Noted())
	canceled, err := r.DescribeState(0x7fea85811ab0)
	require.NoError(t, err)
	assert.Equal(t, answer.StatusCanceled, canceled.Status)
	assert.NotZero(t, canceled.CancellationSource)
	waiting, err := r.DescribeState(0x7fea85808250)
	require.NoError(t, err)
	assert.Zero(t, waiting.CancellationSource)
	assert.Empty(t, waiting.Result)
}

// TestIterator checks that a wait for the next element of an async iterator is a wait for its task, also if queried by
// its state machine. After the element has arrived nothing waits.
func TestIterator(t *testing.T) {
	const numbers, stream = "Debuggee.AsyncWork.Scenario.Numbers", "Debuggee.AsyncWork.Scenario.Stream"
	d := testdump.Open(t, "net10-async")
	var box target.Addr
	for _, s := range stacks(t, collect(t, d.Dump), tasks.StackOptions{}) {
		for i := range s.Frames {
			if p := &s.Frames[i].AsyncPlace; p.Method.S == numbers {
				box = s.Frames[i].Object
			}
		}
	}
	require.NotZero(t, box)
	r, err := view(t, d.Dump).Objects()
	require.NoError(t, err)
	o, err := r.Object(box)
	require.NoError(t, err)
	machine, err := o.Field("StateMachine").Object()
	require.NoError(t, err)
	for _, at := range []target.Addr{box, machine.Addr} {
		state, err := async.State(t.Context(), view(t, d.Dump).Process, at)
		require.NoError(t, err)
		assert.Equal(t, box, state.Task)
		require.Len(t, state.Then, 1)
		assert.Equal(t, stream, state.Then[0].Name.S)
		assert.True(t, state.Then[0].Element)
		consumer, err := async.State(t.Context(), view(t, d.Dump).Process, state.Then[0].Object)
		require.NoError(t, err)
		assert.Empty(t, consumer.Then)
	}
	promise, err := machine.Field("<>v__promiseOfValueOrEnd").Struct()
	require.NoError(t, err)
	done := d.Damaged(t, testdump.Damage{At: promise.Field("_completed").Location(), Bytes: []byte{1}})
	defer done.Close()
	state, err := async.State(t.Context(), view(t, done).Process, box)
	require.NoError(t, err)
	assert.Empty(t, state.Then)
	for _, s := range stacks(t, collect(t, done), tasks.StackOptions{}) {
		for i := range s.Frames {
			if p := &s.Frames[i].AsyncPlace; p.Method.S == stream {
				assert.Zero(t, s.Frames[i].Depth)
			}
		}
	}
	_, err = async.State(t.Context(), view(t, d.Dump).Process, machine.Field("<>1__state").Location())
	assert.Error(t, err)
}

// TestMergedVariables checks that each async method of a group has its own variables if they are requested.
func TestMergedVariables(t *testing.T) {
	set := collect(t, testdump.Open(t, "net10-async").Dump)
	merged, err := set.Merged(t.Context(), tasks.StackOptions{Variables: true})
	require.NoError(t, err)
	found := false
	for i := range merged.Merged {
		g := &merged.Merged[i]
		if g.Method.IsZero() || g.Method.S != "Debuggee.AsyncWork.Scenario.Inner" {
			continue
		}
		found = true
		require.EqualValues(t, 7, g.Count)
		require.Len(t, g.Members, 7)
		ids, boxes := map[string]bool{}, map[target.Addr]bool{}
		for _, m := range g.Members {
			boxes[m.Object] = true
			for _, v := range m.Variables {
				if v.Name == "id" {
					ids[v.Value] = true
				}
			}
		}
		assert.Len(t, boxes, 7)
		assert.Len(t, ids, 7, "each call of the program has its own id")
		assert.True(t, ids["101"])
		assert.True(t, boxes[g.Object])
	}
	assert.True(t, found)
	merged, err = set.Merged(t.Context(), tasks.StackOptions{})
	require.NoError(t, err)
	for i := range merged.Merged {
		assert.Empty(t, merged.Merged[i].Members)
	}
}
