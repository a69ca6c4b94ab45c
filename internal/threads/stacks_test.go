package threads_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestStacksAgree: the profile of a process and the stacks of its threads have the same managed frames. A cancelled
// context ends them.
func TestStacksAgree(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		rt, err := d.Runtime()
		if err != nil {
			t.Skip("no runtime")
		}
		if err := rt.Check(dac.FeatureMethods); err != nil {
			t.Skip(err)
		}
		w, err := d.Walker()
		require.NoError(t, err)
		list, err := d.Threads()
		require.NoError(t, err)
		running, err := stackwalk.RunningThreads(list, rt)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		o := threads.StackOptions{References: true, Registers: true, Arguments: true, Locals: true}
		p, err := threads.Profile(ctx, w, running, threads.ProfileOptions{})
		require.NoError(t, err)
		managed := map[uint32]int{}
		for f, err := range threads.Stacks(ctx, w, running, o).Frames {
			require.NoError(t, err)
			if f.Kind == answer.FrameManaged {
				managed[f.OSID]++
				assert.NotZero(t, f.MethodDesc)
			}
		}
		for i := range p.Threads {
			assert.Len(t, p.Threads[i].Frames, managed[p.Threads[i].OSID])
		}
		cancel()
		_, err = threads.ParallelStacks(ctx, w, running, threads.ParallelOptions{})
		if len(running) > 0 {
			assert.ErrorIs(t, err, context.Canceled)
		}
		for _, err := range threads.Stacks(ctx, w, running, o).Frames {
			assert.ErrorIs(t, err, context.Canceled)
		}
	})
}

// TestStackOfUnmanagedThread: a thread that never ran managed code has only native frames.
func TestStackOfUnmanagedThread(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	w, err := d.Walker()
	require.NoError(t, err)
	list, err := d.Threads()
	require.NoError(t, err)
	for i := range list {
		if list[i].Managed != nil {
			continue
		}
		of := []*stackwalk.Thread{&list[i]}
		for th := range threads.Stacks(t.Context(), w, of, threads.StackOptions{}).Threads {
			assert.Nil(t, th.Frames)
		}
		n := 0
		for f, err := range threads.Stacks(t.Context(), w, of, threads.StackOptions{Native: true, References: true}).Frames {
			require.NoError(t, err)
			assert.Equal(t, answer.FrameNative, f.Kind)
			n++
		}
		assert.Greater(t, n, 1)
		merged := 0
		for f := range d.MergedWalk(t.Context(), list[i].OS.ID, stackwalk.WalkOptions{Native: true}) {
			assert.Equal(t, stackwalk.FrameNative, f.Kind)
			merged++
		}
		assert.Equal(t, n, merged)
		return
	}
	t.Fatal("all threads are managed")
}

// TestReferencesOfHandler: the GCFrames, which no walk yields, come after the frames of a handler on a stack of its
// own.
func TestReferencesOfHandler(t *testing.T) {
	d := testdump.Open(t, "net10-crash-null-triage")
	w, err := d.Walker()
	require.NoError(t, err)
	list, err := d.Threads()
	require.NoError(t, err)
	th := &list[0]
	require.NotNil(t, th.Managed)
	for _, signal := range []target.Addr{th.Managed.Stack.Start - 0x10000, th.Managed.Stack.End + 0x10000} {
		o := threads.StackOptions{References: true, Walk: func(ctx context.Context, _ uint32, wo stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
			return func(yield func(stackwalk.Frame) bool) {
				if !yield(stackwalk.Frame{Kind: stackwalk.FrameNative, SP: signal}) {
					return
				}
				w.Walk(ctx, th.Managed, th.OS.Registers, wo)(yield)
			}
		}}
		var got []*answer.Frame
		for f, err := range threads.Stacks(t.Context(), w, []*stackwalk.Thread{th}, o).Frames {
			require.NoError(t, err)
			got = append(got, f)
		}
		require.Greater(t, len(got), 5)
		assert.Equal(t, answer.Known(signal), got[0].SP)
		assert.Equal(t, "GCFrame", got[len(got)-1].Class)
	}
}
