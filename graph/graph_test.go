package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/target"
)

// built is the graph of a dump's first heap.
func built(t testing.TB, d *testdump.Dump, o graph.Options) (*graph.Graph, *graph.Roots) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.RootReader()
	require.NoError(t, err)
	r, err := graph.RootsOf(t.Context(), h, reader)
	require.NoError(t, err)
	g, err := graph.Build(t.Context(), h, r, o)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g, r
}

// TestObjects: the nodes are the objects of the walk, found by address and by what lies in them.
func TestObjects(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil {
			t.Skip(err)
		}
		g, _ := built(t, d, graph.Options{})
		n := graph.Node(0)
		for o, err := range h.Objects() {
			if err != nil {
				continue
			}
			got, ok := g.Node(o.Addr)
			in, inside := g.Containing(o.Addr + 8)
			if o.Free {
				require.False(t, ok || inside, "a free block is no object")
				continue
			}
			require.True(t, ok && inside)
			require.Equal(t, n, got)
			require.Equal(t, n, in)
			require.Equal(t, o.Addr, g.Address(n))
			require.Equal(t, o.Size, g.Size(n))
			require.Equal(t, o.Type, g.Type(n))
			require.Equal(t, h.Segment(o.Addr).Generation(o.Addr), g.Generation(n))
			last := o.Addr + target.Addr((o.Size+7)&^7) - 1
			in, inside = g.Containing(last)
			require.True(t, inside && in == n)
			_, ok = g.Node(o.Addr + 4)
			require.False(t, ok)
			n++
		}
		require.EqualValues(t, n, g.Objects())
	})
}

// TestEdges: the row of each object is what heap.Edges says that it refers to, but for the slots of static
// fields, whose nodes stand for them, and with what dependent handles add.
func TestEdges(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil {
			t.Skip(err)
		}
		g, r := built(t, d, graph.Options{})
		fields := map[target.Addr]int{}
		for i := range r.Sources {
			if s := &r.Sources[i]; s.Kind == graph.SourceField {
				fields[s.Slot] = i
			}
		}
		pairs := map[target.Addr][]target.Addr{}
		for _, p := range r.Dependents {
			pairs[p.Primary] = append(pairs[p.Primary], p.Secondary)
		}
		edges := h.Edges(heap.EdgeOptions{LoaderAllocators: true})
		for o, err := range h.Objects() {
			if err != nil || o.Free {
				continue
			}
			var want []graph.Node
			add := func(a target.Addr) {
				if to, ok := g.Node(a); ok {
					want = append(want, to)
				}
			}
			for ref, err := range edges.Of(&o) {
				if err != nil {
					continue
				}
				if i, ok := fields[ref.Slot]; ok {
					if r.Sources[i].Parent == graph.InTable {
						want = append(want, g.SourceNode(i))
					}
					continue
				}
				if ref.Slot != 0 {
					add(ref.Target)
				}
			}
			for _, to := range pairs[o.Addr] {
				add(to)
			}
			if keeper, err := edges.LoaderAllocator(&o); err == nil && keeper != 0 {
				add(keeper)
			}
			n, ok := g.Node(o.Addr)
			require.True(t, ok)
			got := g.Referents(n)
			if len(want) != len(got) || len(want) > 0 {
				require.Equal(t, want, got, "%v", o.Addr)
			}
		}
	})
}

// reached is what can be reached from the root without a node.
func reached(g *graph.Graph, without graph.Node) []bool {
	seen := make([]bool, g.Nodes())
	if without == g.Root() {
		return seen
	}
	seen[g.Root()] = true
	for queue := []graph.Node{g.Root()}; len(queue) > 0; queue = queue[1:] {
		for _, to := range g.Referents(queue[0]) {
			if to != without && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// TestLive: what lives is what can be reached, each path leads there, and what refers to a node is
// what has it in its row.
func TestLive(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if _, err := d.Heap(); err != nil {
			t.Skip(err)
		}
		g, r := built(t, d, graph.Options{})
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		rev, err := g.Referrers(t.Context())
		require.NoError(t, err)
		want := reached(g, graph.NoNode)
		for n := range graph.Node(g.Nodes()) {
			require.Equal(t, want[n], reach.Live(n))
			path := reach.Path(n)
			require.Equal(t, want[n], path != nil)
			for i, at := range path {
				if i == 0 {
					require.Equal(t, g.Root(), at)
					continue
				}
				require.Contains(t, g.Referents(path[i-1]), at)
				require.Contains(t, rev.Of(at), path[i-1])
			}
		}
		for _, e := range r.Edges {
			if n, ok := g.Node(e.Object); ok && r.Sources[e.Source].Parent != graph.InTable {
				require.True(t, reach.Live(n), "root %v", e.Object)
			}
		}
		objects, size := reach.Count()
		t.Log(g.Objects(), g.Edges(), objects, size, g.Stats().Warnings())
	})
}
