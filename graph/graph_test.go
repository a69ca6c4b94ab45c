package graph_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/internal/tuning"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// built returns the graph of a dump's first heap.
func built(t testing.TB, d *testdump.Dump, o graph.Options) (*graph.Graph, *graph.Roots) {
	t.Helper()
	return builtTuned(t, d, way{Options: o})
}

// A way is how a graph is built. With bounds, a small heap is read and numbered like a large one.
type way struct {
	graph.Options
	tuning.Bounds
}

func (w way) build(t testing.TB, h *heap.Heap, r *graph.Roots) *graph.Graph {
	t.Helper()
	g, err := graph.Build(tuning.With(t.Context(), w.Bounds), h, r, w.Options)
	require.NoError(t, err)
	return g
}

func builtTuned(t testing.TB, d *testdump.Dump, w way) (*graph.Graph, *graph.Roots) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	needsRuntime(t, v)
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.RootReader()
	require.NoError(t, err)
	r, err := graph.RootsOf(t.Context(), h, reader)
	require.NoError(t, err)
	g := w.build(t, h, r)
	t.Cleanup(g.Close)
	return g, r
}

// needsRuntime skips a process with a heap but without a CLR, which has no known roots.
func needsRuntime(t testing.TB, v *sosgo.View) {
	if _, err := v.Runtime(); errors.Is(err, target.ErrUnsupported) {
		t.Skip(err)
	}
}

// TestObjects: the nodes are the objects of the walk, found by their start and by addresses inside them.
func TestObjects(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
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
		for _, from := range []graph.Node{0, 1, 63, n / 2, n} {
			list := g.Addresses(nil, min(from, n), n+5)
			require.Len(t, list, int(n-min(from, n)))
			for i, a := range list {
				require.Equal(t, g.Address(from+graph.Node(i)), a)
			}
		}
	})
}

// TestEdges: the row of each object has the references of heap.Edges and of dependent handles. The slot of a static
// field is replaced by the field's node.
func TestEdges(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
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

// reached returns the nodes that the root reaches without passing one node.
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

// TestLive: live nodes are the reachable ones, each path leads to its node, and the referrers of a node have it in
// their rows.
func TestLive(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
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

// sumOf returns the size of the objects that are only in the first set.
func sumOf(g *graph.Graph, in, notIn []bool) (size uint64) {
	for n := range graph.Node(g.Objects()) {
		if in[n] && !notIn[n] {
			size += g.Size(n)
		}
	}
	return size
}

// TestDominators: an object retains what can't be reached without it. All objects with references are tested, and
// others at random.
func TestDominators(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo", "net31-zoo", "net10-zoo-noregions"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, _ := built(t, testdump.Open(t, name), graph.Options{})
			dom, err := g.Dominators(t.Context())
			require.NoError(t, err)
			reach, err := g.Reach(t.Context())
			require.NoError(t, err)
			all := reached(g, graph.NoNode)
			checked := 0
			for n := range graph.Node(g.Nodes()) {
				if !all[n] || len(g.Referents(n)) == 0 && n%7 != 0 {
					continue
				}
				checked++
				without := reached(g, n)
				require.Equal(t, sumOf(g, all, without), dom.Retained(n), "node %d", n)
				if n != g.Root() {
					require.False(t, reached(g, dom.Idom(n))[n], "its dominator is on all paths to %d", n)
				}
			}
			_, live := reach.Count()
			require.Equal(t, live, dom.Retained(g.Root()))
			require.Equal(t, g.Stats().Bytes-live, dom.Retained(dom.Garbage()))
			t.Log(checked, "nodes")
			testChildren(t, g, dom)
		})
	}
}

// testChildren: the tree has each node once, and the largest children come first.
func testChildren(t *testing.T, g *graph.Graph, dom *graph.Dominators) {
	seen := 0
	for _, n := range []graph.Node{g.Root(), dom.Garbage()} {
		for queue := []graph.Node{n}; len(queue) > 0; queue = queue[1:] {
			children, err := dom.Children(t.Context(), queue[0])
			require.NoError(t, err)
			for _, c := range children {
				require.Equal(t, queue[0], dom.Idom(c))
			}
			seen += len(children)
			queue = append(queue, children...)
		}
	}
	require.Equal(t, g.Nodes()-1, seen)
	children, err := dom.Children(t.Context(), g.Root())
	require.NoError(t, err)
	sum := uint64(0)
	for _, c := range children {
		sum += dom.Retained(c)
	}
	for _, most := range []int{0, 1, 3, len(children), len(children) + 1} {
		top, others, rest, err := dom.Largest(t.Context(), g.Root(), most)
		require.NoError(t, err)
		require.Len(t, top, min(most, len(children)))
		require.Equal(t, len(children)-len(top), others)
		for i, c := range top {
			rest += dom.Retained(c)
			require.True(t, i == 0 || dom.Retained(top[i-1]) >= dom.Retained(c))
		}
		require.Equal(t, sum, rest)
	}
}

// TestRetainedByClass: the objects of a type or generation retain together what its topmost objects retain.
func TestRetainedByClass(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net31-zoo"} {
		g, _ := built(t, testdump.Open(t, name), graph.Options{})
		dom, err := g.Dominators(t.Context())
		require.NoError(t, err)
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		naive := func(p graph.Part, count int, class func(graph.Node) int) []uint64 {
			sums := make([]uint64, count)
			for n := range graph.Node(g.Objects()) {
				top := reach.Live(n) == (p == graph.PartLive)
				for d := dom.Idom(n); top && dom.Idom(d) != d; d = dom.Idom(d) {
					top = !g.IsObject(d) || class(d) != class(n)
				}
				if top {
					sums[class(n)] += dom.Retained(n)
				}
			}
			return sums
		}
		half := make([]uint32, len(g.Types()))
		for i := range half {
			half[i] = uint32(i % 3)
		}
		for _, p := range []graph.Part{graph.PartLive, graph.PartDead} {
			got, err := dom.ByType(t.Context(), p)
			require.NoError(t, err)
			require.Equal(t, naive(p, len(g.Types()), g.TypeIndex), got)
			got, err = dom.ByTypeClass(t.Context(), p, half, 3)
			require.NoError(t, err)
			require.Equal(t, naive(p, 3, func(n graph.Node) int { return g.TypeIndex(n) % 3 }), got)
			got, err = dom.ByGeneration(t.Context(), p)
			require.NoError(t, err)
			require.Equal(t, naive(p, len(got), func(n graph.Node) int { return int(g.Generation(n)) }), got)
		}
	}
}

// TestPaths: the paths from each kind, Source and reference are as short as possible, and there is one from each that
// reaches the object.
func TestPaths(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	g, r := built(t, d, graph.Options{})
	reach, err := g.Reach(t.Context())
	require.NoError(t, err)
	for n := graph.Node(0); int(n) < g.Objects(); n += 37 {
		shortest := 0
		kinds := map[graph.Node]bool{}
		for p, err := range g.Paths(t.Context(), n, graph.PathOptions{}) {
			require.NoError(t, err)
			require.Equal(t, n, p.Nodes[len(p.Nodes)-1])
			for i := 1; i < len(p.Nodes); i++ {
				require.Contains(t, g.Referents(p.Nodes[i-1]), p.Nodes[i])
			}
			require.Contains(t, g.Referents(g.Root()), p.Nodes[0])
			require.False(t, kinds[p.Nodes[0]])
			kinds[p.Nodes[0]] = true
			if l := len(p.Nodes); shortest == 0 || l < shortest {
				shortest = l
			}
		}
		require.Equal(t, reach.Live(n), len(kinds) > 0)
		if reach.Live(n) {
			require.Equal(t, len(reach.Path(n))-1, shortest)
		}
		roots, sources := 0, map[graph.Node]bool{}
		for p, err := range g.Paths(t.Context(), n, graph.PathOptions{Each: graph.EachRoot}) {
			require.NoError(t, err)
			roots++
			_ = p
		}
		for p, err := range g.Paths(t.Context(), n, graph.PathOptions{Each: graph.EachSource}) {
			require.NoError(t, err)
			for _, at := range p.Nodes {
				if !g.IsObject(at) {
					sources[at] = true
				}
			}
		}
		wantRoots := 0
		to := map[graph.Node]bool{}
		for _, e := range r.Edges {
			at, ok := g.Node(e.Object)
			if !ok || r.Sources[e.Source].Parent == graph.InTable {
				continue
			}
			if _, known := to[at]; !known {
				to[at] = reachesFrom(g, at, n)
			}
			if to[at] {
				wantRoots++
				require.True(t, sources[g.SourceNode(e.Source)])
			}
		}
		require.Equal(t, wantRoots, roots)
	}
}

// TestPathsToSeveral: the paths to several ends start where those to each of them do, and each leads to the nearest one.
func TestPathsToSeveral(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	g, _ := built(t, d, graph.Options{})
	shortest := func(n graph.Node, more ...graph.Node) map[graph.Node]int {
		out := map[graph.Node]int{}
		for p, err := range g.Paths(t.Context(), n, graph.PathOptions{Each: graph.EachSource, Ends: more}) {
			require.NoError(t, err)
			source := p.Nodes[0]
			for _, at := range p.Nodes {
				if !g.IsObject(at) {
					source = at
				}
			}
			require.NotContains(t, out, source)
			require.Contains(t, append(more, n), p.Nodes[len(p.Nodes)-1])
			out[source] = len(p.Nodes)
		}
		return out
	}
	step := graph.Node(g.Objects() / 40)
	for n := graph.Node(0); n+2*step < graph.Node(g.Objects()); n += step {
		want := shortest(n)
		for _, other := range []graph.Node{n + step, n + 2*step} {
			for source, length := range shortest(other) {
				if known, ok := want[source]; !ok || length < known {
					want[source] = length
				}
			}
		}
		require.Equal(t, want, shortest(n, n+step, n+2*step, n))
	}
}

func reachesFrom(g *graph.Graph, from, to graph.Node) bool {
	seen := map[graph.Node]bool{from: true}
	for queue := []graph.Node{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		for _, n := range g.Referents(queue[0]) {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return false
}
