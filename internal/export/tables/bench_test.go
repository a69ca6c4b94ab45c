package tables_test

import (
	"io"
	"os"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/internal/export/tables"
)

// BenchmarkParquet writes the tables of the heap of a large dump; SOSGO_BENCH_DUMP names it.
func BenchmarkParquet(b *testing.B) {
	path := os.Getenv("SOSGO_BENCH_DUMP")
	if path == "" {
		b.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(path, sosgo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		b.Fatal(err)
	}
	g, err := v.Graph(b.Context(), graph.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := g.Dominators(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := g.Referrers(b.Context()); err != nil {
		b.Fatal(err)
	}
	names, err := v.Objects()
	if err != nil {
		b.Fatal(err)
	}
	p := &tables.Input{Summary: &answer.Summary{}, Heap: &pieces.Heap{Graph: g, Objects: names, Jobs: 2}}
	for b.Loop() {
		var gaps answer.Gaps
		if _, err := tables.Write(b.Context(), p, tables.Options{Form: tables.Parquet}, &gaps, func(_ string, write func(io.Writer) error) error { return write(io.Discard) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(g.Objects())*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}
