package ondumps_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
)

// benchHeap returns the heap of the dump in SOSGO_BENCH_DUMP.
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

// BenchmarkDumpStrings counts strings by content, and lists them, as dumpheap -strings does.
func BenchmarkDumpStrings(b *testing.B) {
	h := benchHeap(b)
	for name, ask := range map[string]func(context.Context, heap.ListOptions) *answer.Listing{"counted": h.CountStrings, "listed": h.ListStrings} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l, bytes := ask(b.Context(), heap.ListOptions{}), 0
				emit := func(rows []byte) error { bytes += len(rows); return nil }
				if l.Objects != nil {
					require.NoError(b, l.Objects.StreamJSON(emit))
				}
				require.NoError(b, l.Strings.StreamJSON(emit))
				b.SetBytes(int64(bytes))
			}
		})
	}
}
