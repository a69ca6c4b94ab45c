package objects_test

import (
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// BenchmarkItems lists the collection at SOSGO_BENCH_COLLECTION, a hexadecimal address, of the dump that
// SOSGO_BENCH_DUMP names; docs/performance.md has a program with large ones.
func BenchmarkItems(b *testing.B) {
	name, at := os.Getenv("SOSGO_BENCH_DUMP"), os.Getenv("SOSGO_BENCH_COLLECTION")
	if name == "" || at == "" {
		b.Skip("SOSGO_BENCH_DUMP and SOSGO_BENCH_COLLECTION name no collection")
	}
	a, err := strconv.ParseUint(at, 16, 64)
	require.NoError(b, err)
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { d.Close() })
	v, err := d.View("")
	require.NoError(b, err)
	r, err := v.Collections()
	require.NoError(b, err)
	reader, err := v.Objects()
	require.NoError(b, err)
	o, err := reader.Proven(target.Addr(a))
	require.NoError(b, err)
	c, err := r.Of(o)
	require.NoError(b, err)
	count, err := c.Count()
	require.NoError(b, err)
	rate := func(b *testing.B) {
		b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mitems/s")
	}
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			for _, err := range c.Items() {
				require.NoError(b, err)
			}
		}
		rate(b)
	})
	warn := func(err error) { b.Error(err) }
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l, err := r.Describe(b.Context(), target.Addr(a), objects.CollectionOptions{})
			require.NoError(b, err)
			objecttext.Collection(report.NewPage(io.Discard, false, warn), l)
		}
		rate(b)
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l, err := r.Describe(b.Context(), target.Addr(a), objects.CollectionOptions{})
			require.NoError(b, err)
			require.NoError(b, report.NewJSONEncoder(io.Discard, "items").Answer(l, warn))
		}
		rate(b)
	})
}
