package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// contextAt returns the address of the thread's allocation context or, for a nil thread, of the process's.
func contextAt(t *testing.T, rt *dac.Runtime, thread *dac.Thread) target.Addr {
	t.Helper()
	l := rt.Layout()
	inner := 0 // since 10, the GC's part of the runtime's structure
	if off, err := l.Offset("EEAllocContext", "GCAllocationContext"); err == nil {
		inner = off
	}
	if thread == nil {
		at, err := l.Variable("GlobalAllocContext")
		require.NoError(t, err)
		return at + target.Addr(inner)
	}
	if off, err := l.Offset("Thread", "AllocContext"); err == nil {
		return thread.Addr + target.Addr(off)
	}
	off, err := l.Offset("Thread", "RuntimeThreadLocals")
	require.NoError(t, err)
	locals, err := target.Pointer(rt.Memory(), thread.Addr+target.Addr(off))
	require.NoError(t, err)
	off, err = l.Offset("RuntimeThreadLocals", "AllocContext")
	require.NoError(t, err)
	return locals + target.Addr(off+inner)
}

// walkOf lists the objects of a heap, and the places where its walk stopped.
func walkOf(h *heap.Heap) (objects []target.Addr, bad []error) {
	for o, err := range h.Objects() {
		switch {
		case err != nil:
			bad = append(bad, err)
		case !o.Free:
			objects = append(objects, o.Addr)
		}
	}
	return objects, bad
}

// widest returns the thread with the largest allocation context, or nil.
func widest(threads []dac.Thread) (out *dac.Thread) {
	size := func(c dac.AllocContext) target.Addr { return c.Limit - c.Pointer }
	for i := range threads {
		if c := threads[i].AllocContext; c.Limit > c.Pointer && (out == nil || size(c) > size(out.AllocContext)) {
			out = &threads[i]
		}
	}
	return out
}

// TestGlobalContext checks that the memory of the global allocation context contains no objects, like a
// thread's, and that the objects after it are found.
func TestGlobalContext(t *testing.T) {
	for _, name := range []string{"net8-zoo", "win-net8-zoo", "net9-zoo", "net10-zoo", "net10-zoo-noregions", "win-net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			sound, err := d.Heap()
			require.NoError(t, err)
			rt := sound.Runtime()
			global, err := rt.GlobalAllocContext()
			require.NoError(t, err)
			assert.Equal(t, dac.AllocContext{}, global, "the process has more processors than one, or is on Linux")
			threads, err := rt.Threads()
			require.NoError(t, err)
			thread := widest(threads)
			require.NotNil(t, thread)
			c := thread.AllocContext
			h, err := d.Damaged(t, testdump.Words(contextAt(t, rt, thread), 0, 0),
				testdump.Words(contextAt(t, rt, nil), uint64(c.Pointer), uint64(c.Limit))).Heap()
			require.NoError(t, err)
			assert.Equal(t, sound.AllocContexts(), h.AllocContexts())
			assert.Empty(t, h.Warnings())
			want, _ := walkOf(sound)
			got, bad := walkOf(h)
			assert.Empty(t, bad)
			assert.Equal(t, want, got)
		})
	}
}

// TestUnusedContext checks that the global context of a runtime before 8 is known to be empty where each thread has its own: on Linux.
func TestUnusedContext(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	global, err := rt.GlobalAllocContext()
	require.NoError(t, err)
	assert.Zero(t, global)
	threads, err := rt.Threads()
	require.NoError(t, err)
	var none []testdump.Damage // as after a collection
	for i := range threads {
		none = append(none, testdump.Words(contextAt(t, rt, &threads[i]), 0, 0))
	}
	h, err := d.Damaged(t, none...).Heap()
	require.NoError(t, err)
	assert.Empty(t, h.Warnings())
	_, bad := walkOf(h)
	assert.NotEmpty(t, bad, "unused memory that no context explains")
}

// TestUnknownContext checks runtimes before 8, which do not record the global context. If no thread has a
// context, unused memory in generation 0 is not a corruption, no object after it is lost, and a warning reports
// the unknown context.
func TestUnknownContext(t *testing.T) {
	for _, name := range []string{"win-net6-zoo"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			sound, err := d.Heap()
			require.NoError(t, err)
			assert.Empty(t, sound.Warnings(), "contexts of threads are all that there are")
			_, err = sound.Runtime().GlobalAllocContext()
			require.ErrorIs(t, err, target.ErrUnsupported)
			threads, err := sound.Runtime().Threads()
			require.NoError(t, err)
			require.NotNil(t, widest(threads))
			var none []testdump.Damage
			for i := range threads {
				none = append(none, testdump.Words(contextAt(t, sound.Runtime(), &threads[i]), 0, 0))
			}
			h, err := d.Damaged(t, none...).Heap()
			require.NoError(t, err)
			require.Len(t, h.Warnings(), 1)
			assert.ErrorIs(t, h.Warnings()[0], target.ErrUnsupported)
			assert.ErrorContains(t, h.Warnings()[0], "no thread has an allocation context")
			want, _ := walkOf(sound)
			got, bad := walkOf(h)
			assert.Empty(t, bad)
			assert.Equal(t, want, got)
			s, err := h.Soundness(t.Context(), nil, heap.ScanOptions{})
			require.NoError(t, err)
			assert.Zero(t, s.Errors)
			assert.True(t, s.Incomplete)

			// Other bytes than zeros are a corruption.
			inside := widest(threads).AllocContext.Pointer + 8
			h, err = d.Damaged(t, append(none, testdump.Words(inside, 0x1234))...).Heap()
			require.NoError(t, err)
			_, bad = walkOf(h)
			assert.Len(t, bad, 1)
		})
	}
}
