//go:build unix

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
)

// cpu returns the processor time that the process has used.
func cpu() (user, system time.Duration) {
	var u syscall.Rusage
	_ = syscall.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// TestBig measures a graph of the dump that SOSGO_BENCH_DUMP names, in a process of its own: go test -c, then -test.run
// TestBig -test.v. The figures in docs/performance.md are from make-dump big 4000000.
func TestBig(t *testing.T) {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		t.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	start := time.Now()
	user, system := cpu()
	lap := func(what string) {
		u, s := cpu()
		fmt.Printf("%-12s %8.3f s wall %8.3f user s %8.3f system s\n", what, time.Since(start).Seconds(), (u - user).Seconds(), (s - system).Seconds())
		start = time.Now()
		user, system = cpu()
	}
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(t, err)
	h, err := d.Heap()
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	r := &graph.Roots{}
	k := r.Add(graph.Source{Kind: graph.SourceRuntime, Parent: graph.UnderRoot})
	for root, err := range v.Roots(context.Background()) {
		if err == nil {
			r.Edges = append(r.Edges, graph.RootEdge{Source: k, Object: root.Object})
		}
	}
	lap("open+roots")
	if os.Getenv("CAL") != "" {
		_, err := h.Stats(context.Background(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		lap("stats")
	}
	g, err := graph.Build(context.Background(), h, r, graph.Options{})
	require.NoError(t, err)
	lap("build")
	reach, err := g.Reach(context.Background())
	require.NoError(t, err)
	lap("reach")
	fmt.Println(reach.Count())
	starts, err := g.LiveStarts(context.Background())
	require.NoError(t, err)
	lap("live starts")
	_, err = h.Stats(context.Background(), &heap.Filter{Start: starts}, heap.ScanOptions{})
	require.NoError(t, err)
	lap("-live -stat")
	_, err = g.Dominators(context.Background())
	require.NoError(t, err)
	lap("dominators")
	s := g.Stats()
	now, peak := g.Memory()
	fmt.Println(s.Objects, s.Edges, s.Faults, s.RootFaults, float64(now)/float64(s.Objects), float64(peak)/float64(s.Objects), s.Warnings())
}

// TestBigCancel cancels each step on the dump that SOSGO_BENCH_DUMP names at many points, and logs how long the step
// continued.
func TestBigCancel(t *testing.T) {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		t.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.RootReader()
	require.NoError(t, err)
	r, err := graph.RootsOf(t.Context(), h, reader)
	require.NoError(t, err)
	g, err := graph.Build(t.Context(), h, r, graph.Options{})
	require.NoError(t, err)
	defer func() { g.Close() }()
	for _, step := range []struct {
		name string
		f    func(ctx context.Context) error
	}{
		{"build", func(ctx context.Context) error {
			g, err := graph.Build(ctx, h, r, graph.Options{})
			if err == nil {
				g.Close()
			}
			return err
		}},
		{"referrers", func(ctx context.Context) error { _, err := g.Referrers(ctx); return err }},
		{"reach", func(ctx context.Context) error { _, err := g.Reach(ctx); return err }},
		{"dominators", func(ctx context.Context) error { _, err := g.Dominators(ctx); return err }},
	} {
		var late []time.Duration
		for wait := 5 * time.Millisecond; ; wait += wait/2 + 7*time.Millisecond {
			ctx, cancel := context.WithCancel(t.Context())
			var at time.Time
			timer := time.AfterFunc(wait, func() { at = time.Now(); cancel() })
			err := step.f(ctx)
			if timer.Stop() || err == nil {
				break // it was faster
			}
			late = append(late, time.Since(at))
			require.True(t, errors.Is(err, context.Canceled), err)
		}
		slices.Sort(late)
		fmt.Println(step.name, "cancelled", len(late), "times; until it ended:", late)
		if len(late) > 0 {
			require.Less(t, late[len(late)/2], 50*time.Millisecond, step.name)
		}
	}
}
