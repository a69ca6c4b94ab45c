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
)

func TestReachNaive(t *testing.T) {
	ctx := context.Background()
	eachGraph(t, 60, 150, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		budget := offheap.NewBudget(0)
		set, err := graphOf(edges).NewReach(digraph.Options{Budget: budget})
		require.NoError(t, err)
		sizes := make([]uint32, len(edges)-r.IntN(2))
		for u := range sizes {
			sizes[u] = r.Uint32()
		}
		for range 3 {
			before := make([]bool, len(edges))
			var sources []uint32
			for range 3 {
				more := []uint32{uint32(r.IntN(len(edges))), uint32(r.IntN(len(edges)))}
				nodes, sum, err := set.Add(ctx, more, sizes)
				require.NoError(t, err)
				sources = append(sources, more...)
				want, wantNodes := uint64(0), 0
				after := reach(edges, sources, digraph.None)
				for u, in := range after {
					if in != set.Has(uint32(u)) || in != (set.Bits()[u/64]>>(u%64)&1 == 1) || in != slices.Contains(set.Nodes(), uint32(u)) {
						t.Fatalf("node %d of %v from %v: %v", u, edges, sources, !in)
					}
					if in && !before[u] {
						wantNodes++
						if u < len(sizes) {
							want += uint64(sizes[u])
						}
					}
				}
				require.Equal(t, want, sum)
				require.Len(t, nodes, wantNodes)
				before = after
			}
			set.Reset()
			require.Empty(t, set.Nodes())
		}
		set.Free()
		require.Zero(t, budget.InUse())
	})
}

// TestEntriesBrute compares with strongly connected components: two nodes are in one if each
// reaches the other.
func TestEntriesBrute(t *testing.T) {
	ctx := context.Background()
	eachGraph(t, 200, 40, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		g := graphOf(edges)
		budget := offheap.NewBudget(0)
		set, err := g.NewReach(digraph.Options{Budget: budget})
		require.NoError(t, err)
		if r.IntN(4) > 0 {
			_, _, err = set.Add(ctx, []uint32{uint32(r.IntN(len(edges)))}, nil)
			require.NoError(t, err)
		}
		var reached [][]bool
		for u := range edges {
			reached = append(reached, reach(edges, []uint32{uint32(u)}, digraph.None))
		}
		var want []uint32
		for u := range edges {
			entry := !set.Has(uint32(u))
			for v := range edges {
				if set.Has(uint32(v)) || u == v || !reached[v][u] {
					continue
				}
				entry = entry && reached[u][v] && u < v // v is in the same component
			}
			if entry {
				want = append(want, uint32(u))
			}
		}
		entries, err := g.Entries(ctx, set.Bits(), digraph.Options{Budget: budget})
		require.NoError(t, err)
		if !slices.Equal(want, entries.Slice()) {
			t.Fatalf("entries of %v outside of %v: %v, and not %v", edges, set.Nodes(), entries.Slice(), want)
		}
		entries.Free()
		set.Free()
		require.Zero(t, budget.InUse())
	})
}

func TestChains(t *testing.T) {
	ctx := context.Background()
	eachGraph(t, 100, 40, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		budget := offheap.NewBudget(0)
		g := graphOf(edges)
		held, err := g.Reverse(ctx, digraph.Options{Budget: budget})
		require.NoError(t, err)
		n := uint32(len(edges))
		u := r.Uint32N(n)
		root := func(v uint32) bool { return v%5 == 0 }
		skip := func(v uint32) bool { return v%7 == 3 }
		chains, err := digraph.Chains(ctx, held, u, 4, root, skip, digraph.Options{Budget: budget})
		require.NoError(t, err)
		held.Free()
		require.Zero(t, budget.InUse())
		blocked := map[uint32]bool{}
		for i, chain := range append(chains, nil) {
			length := bruteChain(edges, u, func(v uint32) bool { return skip(v) || blocked[v] }, root, i == 0)
			if i == len(chains) {
				if i < 4 && length != 0 {
					t.Fatalf("%v: no chain to %d after %v", edges, u, chains)
				}
				break
			}
			if len(chain) != length || chain[len(chain)-1] != u || !root(chain[0]) {
				t.Fatalf("%v: chain %v to %d, and not one of %d nodes", edges, chain, u, length)
			}
			for k, v := range chain[:len(chain)-1] {
				if blocked[v] || skip(v) || !slices.Contains(edges[v], chain[k+1]) {
					t.Fatalf("%v: chain %v", edges, chain)
				}
				blocked[v] = true
			}
		}
	})
}

// bruteChain returns the length in nodes of the shortest chain to u, or 0.
func bruteChain(edges [][]uint32, u uint32, skip, root func(uint32) bool, alone bool) int {
	if alone && root(u) {
		return 1
	}
	level, seen := []uint32{u}, map[uint32]bool{u: true}
	for length := 2; len(level) > 0; length++ {
		var next []uint32
		for v := range edges {
			if seen[uint32(v)] || skip(uint32(v)) || !slices.ContainsFunc(edges[v], func(w uint32) bool { return slices.Contains(level, w) }) {
				continue
			}
			if root(uint32(v)) {
				return length
			}
			next = append(next, uint32(v))
		}
		for _, v := range next {
			seen[v] = true
		}
		level = next
	}
	return 0
}

// Find what two caches hold together, and what only the second holds.
func ExampleReach() {
	g := &digraph.Graph{Offsets: []uint32{0, 2, 4, 4, 4, 4}, Targets: []uint32{2, 3, 3, 4}}
	set, err := g.NewReach(digraph.Options{})
	if err != nil {
		panic(err)
	}
	defer set.Free()
	for _, source := range []uint32{0, 1} {
		nodes, bytes, err := set.Add(context.Background(), []uint32{source}, []uint32{24, 24, 100, 100, 1000})
		fmt.Println(nodes, bytes, err)
	}
	// Output:
	// [0 2 3] 224 <nil>
	// [1 4] 1024 <nil>
}
