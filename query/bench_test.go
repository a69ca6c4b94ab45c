package query_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/query"
)

// BenchmarkQuery asks the dump that SOSGO_BENCH_DUMP names, one of make-dump big.
func BenchmarkQuery(b *testing.B) {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		b.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { d.Close() })
	v, err := d.View("")
	require.NoError(b, err)
	p, err := rows.Env(v.Process)
	require.NoError(b, err)
	for _, q := range []struct{ name, text string }{
		{"columns", `from objects | where size > 1000 && gen == 2 && type.StartsWith("System.") | select count(), sum(size)`},
		{"types", `from objects | group by type | select count(), sum(size)`},
		{"size", `from objects | where size > 30 && gen == 0 | select count()`},
		{"field", `from objects of Debuggee.Heap.Big.Order | where Id > 100 | select count()`},
		{"fields", `from objects of Debuggee.Heap.Big.Line | where Product > 1 && Price > 3 | select count(), sum(Price)`},
		{"strings", `from objects of Debuggee.Heap.Big.Order | group by Customer | select count(), max(Id) | top 5`},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			var n uint64
			for b.Loop() {
				a, err := query.Run(b.Context(), p, q.text, query.Options{})
				if err != nil {
					b.Skip(err)
				}
				for _, err := range a.Rows {
					require.NoError(b, err)
				}
				n += a.Looked.Value
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mobjects/s")
		})
	}
}
