package sosgo_test

import (
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/test/answers"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

func openAgain(t *testing.T, c *testdump.Dump) *sosgo.Dump {
	t.Helper()
	d, err := sosgo.Open(c.Plain(), c.Options())
	require.NoError(t, err)
	return d
}

// TestCloseDuringEachCall closes a dump while each method of it and of its view runs, twice from two goroutines. No
// call may panic, and a failing call must return an error. A read of the unmapped file would crash the test.
func TestCloseDuringEachCall(t *testing.T) {
	c := testdump.Open(t, "net10-crash-null-triage")
	if testcase.Complete() {
		c = testdump.Open(t, "net10-zoo")
	}
	for i, name := range callNames() {
		d := openAgain(t, c)
		v, err := d.View("")
		require.NoError(t, err)
		f := callOf(name)
		if i%3 == 0 {
			_, _ = v.Heap()
		}
		where := t.TempDir()
		var all sync.WaitGroup
		started := make(chan struct{})
		all.Go(func() {
			close(started)
			assert.NotPanics(t, func() { f(d, v, where) }, name)
			assert.NotPanics(t, func() { f(d, v, where) }, name)
		})
		all.Go(func() {
			<-started
			for range i % 5 {
				runtime.Gosched()
			}
			assert.NoError(t, d.Close())
		})
		all.Go(func() {
			<-started
			assert.NoError(t, d.Close())
		})
		all.Wait()
		assert.NoError(t, d.Close())
	}
}

// TestAfterClose checks that every answer of a closed dump is an error. Values read before stay readable, even if
// only a row of metadata still refers to the dump.
func TestAfterClose(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	d := openAgain(t, c)
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	modules, err := rt.KnownModules()
	require.NoError(t, err)
	var md *metadata.Metadata
	for _, m := range modules {
		if md, err = m.Metadata(); err == nil {
			break
		}
	}
	require.NotNil(t, md)
	before, err := md.Module(1)
	require.NoError(t, err)
	listed, err := memory.HeapObjects(t.Context(), v.Process, memory.HeapOptions{})
	require.NoError(t, err)
	holders, err := v.Holders(t.Context(), graph.Options{})
	require.NoError(t, err)
	at := h.Segments()[0].Objects.Start
	require.NoError(t, d.Close())

	for name := range answers.All {
		_, err := answers.Call(t.Context(), name, v.Process)
		assert.ErrorIs(t, err, target.ErrClosed, name)
		assert.ErrorContains(t, err, "closed", name)
	}
	_, err = h.Stats(t.Context(), nil, heap.ScanOptions{})
	assert.ErrorIs(t, err, target.ErrClosed)
	_, err = d.Memory().ReadMemory(make([]byte, 8), at)
	assert.ErrorIs(t, err, target.ErrClosed)
	_, err = d.Target().ReadMemory(make([]byte, 8), at)
	assert.ErrorIs(t, err, target.ErrClosed)
	assert.Nil(t, d.Memory().Span(at))
	_, ok := d.Memory().View(at, 8)
	assert.False(t, ok)
	_, err = d.Pack(t.Context(), io.Discard, nil)
	assert.Error(t, err)
	_, err = holders.Retained(t.Context(), graph.RetainedOptions{})
	assert.ErrorIs(t, err, target.ErrClosed)
	for o, err := range h.Objects() {
		if !assert.Error(t, err, "%v", o) {
			break
		}
	}
	if list, ok := any(listed.Objects).(interface {
		All() func(func(answer.HeapObject, error) bool)
	}); ok {
		for _, err := range list.All() {
			assert.Error(t, err)
			break
		}
	}
	d, v, h, rt, modules, listed, holders = nil, nil, nil, nil, nil, nil, nil //nolint:ineffassign // the collector must not find them here
	for range 4 {
		runtime.GC()
	}
	after, err := md.Module(1)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	name, err := md.String(after.Name)
	assert.NoError(t, err)
	assert.NotEmpty(t, name)
}
