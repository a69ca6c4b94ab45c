package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// cannedObjects returns the objects of a canned dump.
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

// BenchmarkAppend is BenchmarkEdges by Append.
func BenchmarkAppend(b *testing.B) {
	h, list := cannedObjects(b, "net10-zoo")
	b.ReportAllocs()
	n := 0
	edges := h.Edges(heap.EdgeOptions{})
	var refs []target.Addr
	for b.Loop() {
		for i := range list {
			refs, _, _ = edges.Append(refs[:0], &list[i], 0, list[i].Size+7)
			n += len(refs)
		}
	}
	b.ReportMetric(float64(b.N*len(list))/b.Elapsed().Seconds()/1e6, "Mobjects/s")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mreferences/s")
}

// TestAppend checks that Append returns the references of Of, in pieces of any size, and counts missing words.
func TestAppend(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net10-crash-nested", "net31-zoo", "win-net10-zoo"} {
		h, list := cannedObjects(t, name)
		rt, err := testdump.Open(t, name).Runtime()
		require.NoError(t, err)
		mem := rt.Memory()
		edges := h.Edges(heap.EdgeOptions{})
		missed := uint64(0)
		for i := range list {
			o := &list[i]
			var want []target.Addr
			lacks := uint64(0)
			for ref, err := range edges.Of(o) {
				if err == nil {
					want = append(want, ref.Target)
				}
			}
			if o.Type.ContainsPointers() {
				desc, err := heap.ReadGCDesc(mem, o.Type)
				require.NoError(t, err)
				desc.Slots(o.Size, func(off uint64) bool {
					if !target.Available(mem, o.Addr+target.Addr(off), 8) {
						lacks++
					}
					return true
				})
			}
			for _, piece := range []uint64{8, 24, 64, o.Size + 7} {
				var got []target.Addr
				n := uint64(0)
				for from := uint64(0); from < o.Size; from += piece {
					refs, missing, err := edges.Append(got, o, from, from+piece)
					require.NoError(t, err)
					got, n = refs, n+missing
				}
				require.Equal(t, want, got, "%v in pieces of %d", o.Addr, piece)
				require.Equal(t, lacks, n)
			}
			missed += lacks
		}
		t.Log(name, missed, "words are missing")
	}
}
