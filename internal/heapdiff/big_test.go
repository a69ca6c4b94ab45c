//go:build unix

package heapdiff_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/heapdiff"
)

// TestBig measures a comparison of the dumps that SOSGO_BENCH_DUMP and SOSGO_BENCH_DUMP2 (by default the same) name, in
// a process of its own: go test -c, then -test.run TestBig -test.v.
func TestBig(t *testing.T) {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		t.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	other := os.Getenv("SOSGO_BENCH_DUMP2")
	if other == "" {
		other = name
	}
	var u syscall.Rusage
	start, used := time.Now(), time.Duration(0)
	lap := func(what string) {
		_ = syscall.Getrusage(0, &u)
		all := time.Duration(u.Utime.Nano() + u.Stime.Nano())
		fmt.Printf("%-12s %8.3f s wall %8.3f s of processors\n", what, time.Since(start).Seconds(), (all - used).Seconds())
		start, used = time.Now(), all
	}
	var list []*heapdiff.Summary
	var graphs []*graph.Graph
	for _, path := range []string{name, other} {
		d, err := sosgo.Open(path, sosgo.Options{})
		require.NoError(t, err)
		defer d.Close()
		v, err := d.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
		lap("graph")
		_, err = g.Reach(t.Context())
		require.NoError(t, err)
		lap("reach")
		r, err := v.Objects()
		require.NoError(t, err)
		s, err := heapdiff.SummarizeGraph(t.Context(), path, g, g.Names(r), heapdiff.GraphOptions{})
		require.NoError(t, err)
		lap("summary")
		list, graphs = append(list, s), append(graphs, g)
	}
	d := heapdiff.Compare(list, heapdiff.Options{Top: 25})
	lap("compare")
	same, err := heapdiff.CompareAddresses(t.Context(), graphs[0], graphs[1])
	require.NoError(t, err)
	lap("addresses")
	fmt.Println(len(d.Types), len(d.Paths), same.Of, same.Same)
}
