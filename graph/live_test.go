package graph_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestLiveAlike: the same objects are live whether or not shortest paths or dominators were computed before. LiveStarts
// reports the addresses of live objects and no others.
func TestLiveAlike(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		tree, _ := built(t, d, graph.Options{})
		reach, err := tree.Reach(t.Context())
		require.NoError(t, err)
		objects, size := reach.Count()
		require.NotZero(t, objects)
		for _, first := range []func(*graph.Graph) error{
			func(*graph.Graph) error { return nil },
			func(g *graph.Graph) error { _, err := g.Reach(t.Context()); return err },
			func(g *graph.Graph) error { _, err := g.Dominators(t.Context()); return err },
		} {
			g, _ := built(t, d, graph.Options{Jobs: 3})
			require.NoError(t, first(g))
			live, err := g.Live(t.Context())
			require.NoError(t, err)
			starts, err := g.LiveStarts(t.Context())
			require.NoError(t, err)
			none, err := g.LiveWithout(t.Context(), graph.SourceRoot)
			require.NoError(t, err)
			n, b := live.Count()
			require.Equal(t, objects, n)
			require.Equal(t, size, b)
			for n := range graph.Node(g.Nodes()) {
				require.Equal(t, reach.Parent(n) != graph.NoNode, live.Live(n))
				if a := g.Address(n); a != 0 {
					require.Equal(t, live.Live(n), starts(a))
					require.Equal(t, live.Live(n), none(a), "all Sources are left")
					require.False(t, starts(a+8) && !startsObject(g, a+8))
					require.False(t, starts(a+1))
				}
			}
			require.False(t, starts(0))
			require.False(t, starts(^target.Addr(7)))
			g.Close()
		}
	}
}

func startsObject(g *graph.Graph, a target.Addr) bool {
	_, ok := g.Node(a)
	return ok
}

// TestCountLive: the graph counts the same as a walk, in the same order, for all objects and for a selection.
func TestCountLive(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil {
			t.Skip(err)
		}
		for _, jobs := range []int{1, 4} {
			g, _ := built(t, d, graph.Options{Jobs: jobs})
			starts, err := g.LiveStarts(t.Context())
			require.NoError(t, err)
			for _, f := range []heap.Filter{
				{}, {MinSize: 40}, {MaxSize: 64}, {Type: func(mt *dac.MethodTable) bool { return mt.ComponentSize != 0 }},
				{Type: func(mt *dac.MethodTable) bool { return mt.BaseSize == 24 }, MinSize: 25, MaxSize: 100},
			} {
				f.Start = starts
				want, err := h.Stats(t.Context(), &f, heap.ScanOptions{})
				if errors.Is(err, target.ErrNotInDump) {
					t.Skip(err)
				}
				require.NoError(t, err)
				got, err := g.CountLive(t.Context(), &f)
				require.NoError(t, err)
				require.Equal(t, want.Count, got.Count)
				require.Equal(t, want.Size, got.Size)
				require.Equal(t, want.Corrupt, got.Corrupt)
				require.Equal(t, len(want.Types), len(got.Types))
				for i := range want.Types {
					require.Equal(t, want.Types[i], got.Types[i])
				}
				require.Empty(t, want.Fragments)
				f.Counts = g.CountLive
				again, err := h.Stats(t.Context(), &f, heap.ScanOptions{})
				require.NoError(t, err)
				require.Equal(t, got, again)
			}
			g.Close()
		}
	})
}

// TestLiveProved: an object is live without unproved roots if and only if a proved root leads to it.
func TestLiveProved(t *testing.T) {
	d := testdump.Open(t, "win-net10-zoo") // without GC info of the frames' methods
	x, _ := holders(t, d)
	g := x.Graph()
	require.NotZero(t, g.Unproved())
	live, err := g.LiveStarts(t.Context())
	require.NoError(t, err)
	proved, err := g.LiveProved(t.Context())
	require.NoError(t, err)
	kinds := map[bool]int{}
	for n := range graph.Node(g.Objects()) {
		a := g.Address(n)
		if !live(a) {
			require.False(t, proved(a))
			continue
		}
		kinds[proved(a)]++
		if proved(a) && kinds[true] > 100 {
			continue
		}
		out, err := x.RootPaths(t.Context(), a, graph.HoldOptions{All: true})
		require.NoError(t, err)
		require.NotEmpty(t, out.Paths)
		exact := slices.ContainsFunc(out.Paths, func(p answer.RootPath) bool { return !p.Root.Conservative })
		require.Equal(t, exact, proved(a), "%#x", uint64(a))
	}
	require.NotZero(t, kinds[true])
	require.NotZero(t, kinds[false])

	all, _ := built(t, testdump.Open(t, "net10-zoo"), graph.Options{})
	require.Zero(t, all.Unproved())
	live, err = all.LiveStarts(t.Context())
	require.NoError(t, err)
	proved, err = all.LiveProved(t.Context())
	require.NoError(t, err)
	for n := range graph.Node(all.Objects()) {
		require.Equal(t, live(all.Address(n)), proved(all.Address(n)))
	}
}
