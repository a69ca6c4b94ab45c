package graph_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestMaxMemory: the arrays of all answers about a dump share one limit. Work that needs more fails with the amount, and
// takes no more memory than the limit.
func TestMaxMemory(t *testing.T) {
	const objects, size, limit = 2_500_000, 32, 64 << 20
	d := testdump.Open(t, "net10-zoo")
	l := newLargeHeap(t, d)
	arrays, _, _ := l.types(t)
	list := make([]byte, objects*size) // each array of one element refers to the next
	for i := range objects {
		words := list[i*size:]
		binary.LittleEndian.PutUint64(words, uint64(arrays))
		words[8] = 1
		if i+1 < objects {
			binary.LittleEndian.PutUint64(words[16:], uint64(largeStart)+uint64(i+1)*size)
		}
	}
	l.objects = append(l.objects, testdump.Damage{At: largeStart, Bytes: list})
	l.at += objects * size
	l.point(t, d.Options())

	for _, max := range []int64{limit / 4, limit, 0} {
		o := d.Options()
		o.MaxMemory = max
		v, err := l.open(t, o, target.Range{Start: largeStart, End: l.at}).View("")
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if max == limit/4 {
			_, err = v.Graph(t.Context(), graph.Options{})
			refused(t, err, max)
			continue
		}
		reader, err := v.RootReader()
		require.NoError(t, err)
		h, err := v.Heap()
		require.NoError(t, err)
		r, err := graph.RootsOf(t.Context(), h, reader)
		require.NoError(t, err)
		k := r.Add(graph.Source{Kind: graph.SourceRuntime, Parent: graph.UnderRoot})
		r.Edges = append(r.Edges, graph.RootEdge{Source: k, Object: largeStart})
		g, err := graph.Build(v.Dump().WithMaxMemory(t.Context()), h, r, graph.Options{})
		require.NoError(t, err)
		_, err = g.Dominators(t.Context())
		now, peak := g.Memory()
		if max == 0 {
			require.NoError(t, err)
			assert.Greater(t, peak, int64(limit), "what the limit must prevent")
			continue
		}
		refused(t, err, max)
		assert.LessOrEqual(t, peak, max)
		runtime.ReadMemStats(&after)
		assert.Less(t, int64(after.HeapSys-before.HeapSys), max, "Go's heap does not hold the graph instead")

		_, err = g.Reach(t.Context())
		require.NoError(t, err, "what fits is still answered")
		again, _ := g.Memory()
		assert.Greater(t, again, now)
		g.Close()
		now, _ = g.Memory()
		assert.Zero(t, now)
	}
}

func refused(t *testing.T, err error, limit int64) {
	t.Helper()
	require.ErrorIs(t, err, target.ErrLimit)
	var e *offheap.LimitError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, limit, e.Limit)
	assert.Greater(t, e.Need, limit-e.InUse)
}
