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
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// graphOf builds a graph from lists of targets, keeping their order.
func graphOf(edges [][]uint32) *digraph.Graph {
	g := &digraph.Graph{Offsets: []uint32{0}}
	for _, row := range edges {
		g.Targets = append(g.Targets, row...)
		g.Offsets = append(g.Offsets, uint32(len(g.Targets)))
	}
	return g
}

// shapes are generators of random edges between n nodes.
var shapes = []struct {
	name string
	make func(r *rand.Rand, edges [][]uint32)
}{
	{"sparse", func(r *rand.Rand, e [][]uint32) { sprinkle(r, e, len(e)) }},
	{"dense", func(r *rand.Rand, e [][]uint32) { sprinkle(r, e, 5*len(e)) }},
	{"thin", func(r *rand.Rand, e [][]uint32) { sprinkle(r, e, len(e)/2) }},
	{"chain", func(r *rand.Rand, e [][]uint32) {
		chain(e)
		sprinkle(r, e, len(e)/4)
	}},
	{"back edges", func(r *rand.Rand, e [][]uint32) {
		chain(e)
		for u := range e {
			if r.IntN(2) == 0 {
				e[u] = append(e[u], uint32(r.IntN(u+1)))
			}
		}
	}},
	{"list and array", func(r *rand.Rand, e [][]uint32) { // an array holds all elements of a list
		k := len(e) / 2
		for u := 1; u < k; u++ {
			e[u-1] = append(e[u-1], uint32(u))
			e[u] = append(e[u], uint32(k+u))
			e[0] = append(e[0], uint32(k+u))
		}
	}},
	{"hubs", func(r *rand.Rand, e [][]uint32) {
		for u := range e {
			for range r.IntN(3) {
				e[u] = append(e[u], uint32(r.IntN(1+len(e)/8)))
			}
			e[r.IntN(1+len(e)/8)] = append(e[r.IntN(1+len(e)/8)], uint32(u))
		}
	}},
	{"cycles", func(r *rand.Rand, e [][]uint32) {
		for u := 0; u < len(e); {
			k := min(len(e)-u, 1+r.IntN(5))
			for i := range k {
				e[u+i] = append(e[u+i], uint32(u+(i+1)%k))
			}
			u += k
		}
		sprinkle(r, e, len(e)/3)
	}},
	{"multiple", func(r *rand.Rand, e [][]uint32) {
		sprinkle(r, e, len(e))
		for u := range e {
			e[u] = append(e[u], e[u]...)
			if r.IntN(3) == 0 {
				e[u] = append(e[u], uint32(u))
			}
		}
	}},
	{"tree", func(r *rand.Rand, e [][]uint32) {
		for u := 1; u < len(e); u++ {
			p := r.IntN(u)
			e[p] = append(e[p], uint32(u))
		}
		sprinkle(r, e, len(e)/5)
	}},
}

func sprinkle(r *rand.Rand, e [][]uint32, count int) {
	for range count {
		u := r.IntN(len(e))
		e[u] = append(e[u], uint32(r.IntN(len(e))))
	}
}

func chain(e [][]uint32) {
	for u := 1; u < len(e); u++ {
		e[u-1] = append(e[u-1], uint32(u))
	}
}

// eachGraph calls f with count graphs of each shape, with up to most nodes.
func eachGraph(t *testing.T, count, most int, f func(t *testing.T, r *rand.Rand, edges [][]uint32)) {
	if testing.Short() {
		count /= 4
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for seed := range count {
				r := rand.New(rand.NewPCG(uint64(seed), 11))
				edges := make([][]uint32, 1+r.IntN(most))
				shape.make(r, edges)
				// Renumber the nodes, so that numbers don't follow the shape.
				perm := r.Perm(len(edges))
				mixed := make([][]uint32, len(edges))
				for u, row := range edges {
					for _, v := range row {
						mixed[perm[u]] = append(mixed[perm[u]], uint32(perm[v]))
					}
				}
				f(t, r, mixed)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// reach returns the nodes reached from sources on paths that avoid the node without.
func reach(edges [][]uint32, sources []uint32, without uint32) []bool {
	seen := make([]bool, len(edges))
	var stack []uint32
	add := func(v uint32) {
		if v != without && !seen[v] {
			seen[v] = true
			stack = append(stack, v)
		}
	}
	for _, s := range sources {
		add(s)
	}
	for len(stack) > 0 {
		u := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, v := range edges[u] {
			add(v)
		}
	}
	return seen
}

// bruteDominators removes each node in turn and marks what is still reached. dominated has a set
// for each node: the nodes that it dominates.
func bruteDominators(edges [][]uint32, sources []uint32) (live []bool, dominated []([]bool)) {
	live = reach(edges, sources, digraph.None)
	for u := range edges {
		left := reach(edges, sources, uint32(u))
		set := make([]bool, len(edges))
		for v := range edges {
			set[v] = live[u] && live[v] && !left[v]
		}
		dominated = append(dominated, set)
	}
	return live, dominated
}

func TestDominatorsBrute(t *testing.T) {
	eachGraph(t, testcase.Part(t, 400, 4), 40, func(t *testing.T, r *rand.Rand, edges [][]uint32) {
		checkDominators(t, edges, uint32(r.IntN(len(edges))), r)
	})
}

// checkDominators compares dominators, retained sizes and classes of both trees with brute force.
func checkDominators(t *testing.T, edges [][]uint32, root uint32, r *rand.Rand) {
	ctx := context.Background()
	n := len(edges)
	g := graphOf(edges)
	live := reach(edges, []uint32{root}, digraph.None)
	var entries []uint32
	dead := make([][]uint32, n)
	for u := range edges {
		if live[u] {
			continue
		}
		if r.IntN(3) > 0 {
			entries = append(entries, uint32(u))
		}
		for _, v := range edges[u] {
			if !live[v] {
				dead[u] = append(dead[u], v)
			}
		}
	}
	budget := offheap.NewBudget(0)
	d, err := g.Dominators(ctx, root, entries, digraph.Options{Budget: budget, Workers: 1 + r.IntN(3)})
	require.NoError(t, err)
	sizes, classes := make([]uint32, n), make([]uint16, n)
	for u := range sizes {
		sizes[u], classes[u] = r.Uint32(), uint16(r.IntN(4))
	}
	more := map[uint32]uint64{}
	if r.IntN(2) == 0 { // sums of 32 bits
		for u := range sizes {
			sizes[u] >>= 8
		}
	} else {
		more[uint32(r.IntN(n))] = r.Uint64() >> 20
	}
	more[uint32(r.IntN(n))] += 5
	retained, err := d.Retained(ctx, sizes, more, digraph.Options{Budget: budget})
	require.NoError(t, err)
	check := func(live []bool, dominated [][]bool, top uint32) {
		for v := range edges {
			if !live[v] {
				continue
			}
			// The immediate dominator is dominated by all other dominators.
			want := top
			for u := range edges {
				if u != v && dominated[u][v] && (want == top || int(want) == n || dominated[want][u]) {
					want = uint32(u)
				}
			}
			if uint32(v) == root {
				want = root
			}
			if d.Idom[v] != want {
				t.Fatalf("node %d of %v from %d, entries %v: %d, and not %d", v, edges, root, entries, d.Idom[v], want)
			}
			sum := uint64(0)
			for w := range edges {
				if dominated[v][w] {
					sum += uint64(sizes[w]) + more[uint32(w)]
				}
			}
			if retained.At(uint32(v)) != sum {
				t.Fatalf("node %d of %v from %d retains %d, and not %d", v, edges, root, retained.At(uint32(v)), sum)
			}
		}
	}
	_, dominated := bruteDominators(edges, []uint32{root})
	check(live, dominated, root)
	liveSums := bruteClasses(live, dominated, classes, retained)
	rest, restDominated := bruteDominators(dead, entries)
	check(rest, restDominated, uint32(n))
	for u := range edges {
		if !live[u] && !rest[u] && (d.Idom[u] != digraph.None || retained.At(uint32(u)) != 0) {
			t.Fatalf("node %d was not reached", u)
		}
	}
	children, err := d.Children(ctx, g, digraph.Options{Budget: budget, Workers: 1 + r.IntN(3)})
	require.NoError(t, err)
	sums, err := digraph.SumByClass(ctx, children, root, classes, 4, retained, digraph.Options{Budget: budget})
	require.NoError(t, err)
	require.Equal(t, liveSums, sums)
	sums, err = digraph.SumByClass(ctx, children, uint32(n), classes, 4, retained, digraph.Options{Budget: budget})
	require.NoError(t, err)
	require.Equal(t, bruteClasses(rest, restDominated, classes, retained), sums)
	checkTree(t, d, children)
	checkReversed(t, g, children, budget)
	children.Free()
	retained.Free()
	d.Free()
	require.Zero(t, budget.InUse())
}

// bruteClasses sums the retained sizes of the nodes that no other node of their class dominates.
func bruteClasses(live []bool, dominated [][]bool, classes []uint16, retained *digraph.Sums) []uint64 {
	sums := make([]uint64, 4)
	for v := range live {
		top := live[v]
		for u := range live {
			top = top && (u == v || classes[u] != classes[v] || !dominated[u][v])
		}
		if top {
			sums[classes[v]] += retained.At(uint32(v))
		}
	}
	return sums
}

// checkTree compares Order and Children with Idom.
func checkTree(t *testing.T, d *digraph.Dominators, children *digraph.Children) {
	want := make([][]uint32, len(d.Idom))
	reached := 0
	for u, p := range d.Idom {
		if p != digraph.None {
			reached++
			if int(p) != u {
				want[p] = append(want[p], uint32(u))
			}
		}
	}
	for u, row := range want {
		if got := children.Append([]uint32{9}, uint32(u))[1:]; !slices.Equal(row, got) {
			t.Fatalf("children of %d: %v, and not %v", u, got, row)
		}
	}
	if reached != len(d.Order) {
		t.Fatalf("%d nodes in order, and not %d", len(d.Order), reached)
	}
	before := make([]bool, len(d.Idom))
	for i, u := range d.Order {
		if begins := i == 0 || i == d.Live; begins != (d.Idom[u] == u) || !begins && !before[d.Idom[u]] {
			t.Fatalf("%d does not stand after its dominator %d: %v", u, d.Idom[u], d.Order)
		}
		before[u] = true
	}
}

// checkReversed compares the rows of Children.Reverse with those of Graph.Reverse.
func checkReversed(t *testing.T, g *digraph.Graph, children *digraph.Children, budget *offheap.Budget) {
	want, err := g.Reverse(context.Background(), digraph.Options{Budget: budget})
	require.NoError(t, err)
	defer want.Free()
	got, err := children.Reverse(context.Background(), digraph.Options{Budget: budget})
	require.NoError(t, err)
	defer got.Free()
	require.Equal(t, want.Nodes(), got.Nodes())
	require.Equal(t, want.Edges(), got.Edges())
	for u := range uint32(g.Nodes()) {
		if !slices.Equal(want.Row(u), got.Row(u)) {
			t.Fatalf("edges to %d: %v, and not %v", u, got.Row(u), want.Row(u))
		}
	}
}

func ExampleGraph_Dominators() {
	// 0 holds 1 and 2, both of them hold 3, and 3 holds 4. 5 and 6 hold each other, and 4.
	g := &digraph.Graph{Offsets: []uint32{0, 2, 3, 4, 5, 5, 7, 8}, Targets: []uint32{1, 2, 3, 3, 4, 6, 4, 5}}
	ctx := context.Background()
	d, err := g.Dominators(ctx, 0, []uint32{5}, digraph.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Free()
	retained, err := d.Retained(ctx, []uint32{24, 24, 24, 100, 1000, 32, 32}, nil, digraph.Options{})
	if err != nil {
		panic(err)
	}
	defer retained.Free()
	fmt.Println("dominators", d.Idom)
	fmt.Println("retained", retained.Low)
	// Output:
	// dominators [0 0 0 0 3 7 5 7]
	// retained [1172 24 24 1100 1000 64 32 64]
}
