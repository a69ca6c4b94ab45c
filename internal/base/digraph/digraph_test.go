package digraph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

func TestReverseNaive(t *testing.T) {
	eachGraph(t, 60, 60, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		want := make([][]uint32, len(edges))
		for u, row := range edges {
			for _, v := range row {
				want[v] = append(want[v], uint32(u))
			}
		}
		budget := offheap.NewBudget(0)
		rev, err := graphOf(edges).Reverse(context.Background(), digraph.Options{Budget: budget, Workers: 1 + r.IntN(3)})
		require.NoError(t, err)
		require.NoError(t, rev.Check(context.Background(), digraph.Options{}))
		for v := range want {
			if !slices.Equal(want[v], rev.Row(uint32(v))) {
				t.Fatalf("into %d: %v, and not %v", v, rev.Row(uint32(v)), want[v])
			}
		}
		rev.Free()
		rev.Free()
		require.Zero(t, budget.InUse())
	})
}

// TestShortestPathsNaive compares with a search level by level.
func TestShortestPathsNaive(t *testing.T) {
	eachGraph(t, 60, 60, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		roots := []uint32{uint32(r.IntN(len(edges))), uint32(r.IntN(len(edges))), uint32(r.IntN(len(edges)))}
		want, level := make([]uint32, len(edges)), map[uint32]int{}
		for u := range want {
			want[u] = digraph.None
		}
		for _, u := range roots {
			want[u], level[u] = u, 0
		}
		for depth := 0; ; depth++ {
			found := false
			for u := range edges {
				if d, ok := level[uint32(u)]; !ok || d != depth {
					continue
				}
				for _, v := range edges[u] {
					if _, ok := level[v]; !ok {
						want[v], level[v], found = uint32(u), depth+1, true
					}
				}
			}
			if !found {
				break
			}
		}
		budget := offheap.NewBudget(0)
		parents, err := graphOf(edges).ShortestPaths(context.Background(), roots, digraph.Options{Budget: budget})
		require.NoError(t, err)
		require.Equal(t, want, parents.Slice())
		for u := range edges {
			path := digraph.Path(parents.Slice(), uint32(u))
			if d, ok := level[uint32(u)]; !ok && path != nil || ok && (len(path) != d+1 || !slices.Contains(roots, path[0])) {
				t.Fatalf("path to %d: %v", u, path)
			}
		}
		parents.Free()
		require.Zero(t, budget.InUse())
	})
}

// TestDepthFirstNaive compares with a recursion.
func TestDepthFirstNaive(t *testing.T) {
	eachGraph(t, 60, 200, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		roots := []uint32{uint32(r.IntN(len(edges))), uint32(r.IntN(len(edges)))}
		number := map[uint32]uint32{}
		var order, parent []uint32
		var visit func(u, from uint32)
		visit = func(u, from uint32) {
			if _, ok := number[u]; ok {
				return
			}
			num := uint32(len(order))
			if from == digraph.None {
				from = num
			}
			number[u] = num
			order, parent = append(order, u), append(parent, from)
			for _, v := range edges[u] {
				visit(v, num)
			}
		}
		for _, root := range roots {
			visit(root, digraph.None)
		}
		budget := offheap.NewBudget(0)
		f, err := graphOf(edges).DepthFirst(context.Background(), roots, digraph.Options{Budget: budget})
		require.NoError(t, err)
		require.Equal(t, order, f.Order)
		require.Equal(t, parent, f.Parent)
		f.Free()
		require.Zero(t, budget.InUse())
	})
}

func TestCheck(t *testing.T) {
	ctx := context.Background()
	require.NoError(t, (&digraph.Graph{}).Check(ctx, digraph.Options{}))
	for _, g := range []*digraph.Graph{
		{Targets: []uint32{0}},
		{Offsets: []uint32{0, 1}, Targets: []uint32{1}},
		{Offsets: []uint32{0, 2}, Targets: []uint32{0}},
		{Offsets: []uint32{1, 1}, Targets: []uint32{0}},
		{Offsets: []uint32{0, 2, 1, 2}, Targets: []uint32{0, 0}},
	} {
		require.ErrorIs(t, g.Check(ctx, digraph.Options{}), target.ErrCorrupt)
	}
	require.NoError(t, digraph.CheckSize(digraph.MaxNodes, digraph.MaxEdges))
	err := digraph.CheckSize(1, digraph.MaxEdges+1)
	require.ErrorIs(t, err, target.ErrLimit)
	require.EqualError(t, err, "a graph of 1 nodes and 4294967296 edges: 4294967293 nodes and 4294967295 edges are the most that can be numbered")
}

func ExampleGraph_ShortestPaths() {
	g := &digraph.Graph{Offsets: []uint32{0, 1, 3, 4, 4}, Targets: []uint32{1, 2, 3, 3}}
	parents, err := g.ShortestPaths(context.Background(), []uint32{0}, digraph.Options{})
	if err != nil {
		panic(err)
	}
	defer parents.Free()
	fmt.Println(digraph.Path(parents.Slice(), 3))
	// Output: [0 1 3]
}
