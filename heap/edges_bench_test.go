package heap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/testdump"
)

// cannedObjects are the objects of the canned dump of that name.
func cannedObjects(t testing.TB, name string) (*heap.Heap, []heap.Object) {
	h, err := testdump.Open(t, name).Heap()
	require.NoError(t, err)
	var list []heap.Object
	for o, err := range h.Objects() {
		if err == nil && !o.Free {
			list = append(list, o)
		}
	}
	require.NotEmpty(t, list)
	return h, list
}

// BenchmarkEdges follows the references of every object of a canned dump.
func BenchmarkEdges(b *testing.B) {
	h, list := cannedObjects(b, "net10-zoo")
	b.ReportAllocs()
	n := 0
	edges := h.Edges(heap.EdgeOptions{LoaderAllocators: true})
	for b.Loop() {
		for i := range list {
			for range edges.Of(&list[i]) {
				n++
			}
		}
	}
	b.ReportMetric(float64(b.N*len(list))/b.Elapsed().Seconds()/1e6, "Mobjects/s")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mreferences/s")
}
