package heap_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
)

// benchHeap is the heap of the dump that SOSGO_BENCH_DUMP names.
func benchHeap(b *testing.B) *heap.Heap {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		b.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { d.Close() })
	h, err := d.Heap()
	require.NoError(b, err)
	return h
}

func BenchmarkDumpStats(b *testing.B) {
	h := benchHeap(b)
	b.ReportAllocs()
	var n uint64
	for b.Loop() {
		s, err := h.Stats(context.Background(), &heap.Filter{}, heap.ScanOptions{})
		require.NoError(b, err)
		n += s.Count
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mobjects/s")
}
