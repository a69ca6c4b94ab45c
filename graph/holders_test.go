package graph_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// holders returns a Holders for a dump's first heap.
func holders(t *testing.T, d *testdump.Dump) (*graph.Holders, *graph.Graph) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	needsRuntime(t, v)
	h, err := v.Heap()
	if err != nil || len(h.Segments()) == 0 {
		t.Skip("no heap in the dump")
	}
	x, err := v.Holders(t.Context(), graph.Options{})
	if errors.Is(err, target.ErrNotInDump) {
		t.Skip(err)
	}
	require.NoError(t, err)
	g, err := v.Graph(t.Context(), graph.Options{})
	require.NoError(t, err)
	return x, g
}

// address returns the address in a fact: "0x7efbcd805be8 Debuggee.Zoo.Everything gen0".
func address(fact string) target.Addr {
	a, _, _ := strings.Cut(fact, " ")
	return testdump.Address(a)
}

// edgesHold requires that each object of a path refers to the next one, or keeps it alive by a dependent handle.
func edgesHold(t *testing.T, g *graph.Graph, steps []answer.PathStep) {
	t.Helper()
	for i := 1; i < len(steps); i++ {
		require.NotNil(t, steps[i].Edge)
		if steps[i].Edge.Kind == answer.EdgeDependent || steps[i].Edge.Kind == answer.EdgeAllocator {
			continue
		}
		o, err := g.Heap().ObjectAt(steps[i-1].Address)
		require.NoError(t, err)
		found := false
		for r, err := range g.Heap().References(o) {
			found = found || err == nil && r.Target == steps[i].Address
		}
		require.True(t, found, "%v does not refer to %v", steps[i-1].Address, steps[i].Address)
		if err := steps[i].Edge.Name.Err; err != nil {
			require.ErrorIs(t, err, target.ErrNotInDump, "slices lack metadata")
			continue
		}
		require.NotEmpty(t, steps[i].Edge.Name.S)
	}
}

// TestRootPaths: the objects in fields of the debuggee's root, which is in a static field, have a path with the names
// of the fields, whatever the options.
func TestRootPaths(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		root, ok := d.Manifest.Fact("root")
		if !ok || d.Manifest.Scenario == "single-file" {
			t.Skip("another debuggee")
		}
		x, g := holders(t, d)
		if len(g.Stats().Roots) > 0 {
			t.Skip(g.Stats().Roots[0])
		}
		paths := 0
		for _, fact := range d.Manifest.Objects() {
			if !strings.HasPrefix(fact.Name, "root.") || fact.Name == "root.Primitives.FunctionPointer" {
				continue // the pointer was boxed to be printed, and the box is garbage
			}
			if _, err := x.Object(fact.Addr); err != nil {
				continue // not in the slice
			}
			out, err := x.RootPaths(t.Context(), fact.Addr, graph.HoldOptions{})
			require.NoError(t, err)
			if out.Object.Generation == heap.GenerationFrozen.String() {
				continue // code has its address
			}
			require.Equal(t, answer.Held, out.Verdict, fact.Name)
			last := 0
			for _, p := range out.Paths {
				edgesHold(t, g, p.Objects)
				assert.GreaterOrEqual(t, len(p.Objects), last, "the shortest path comes first")
				last = len(p.Objects)
				assert.Equal(t, fact.Addr, p.Objects[last-1].Address)
				if strings.HasPrefix(p.Root.Name, "static ") && p.Objects[0].Address == address(root) && last == 1+strings.Count(fact.Name, ".") {
					paths++
					names := []string{"root"}
					for _, s := range p.Objects[1:] {
						names = append(names, strings.TrimSuffix(strings.TrimLeft(s.Edge.Name.S, "<_"), ">k__BackingField"))
					}
					assert.True(t, strings.EqualFold(fact.Name, strings.Join(names, ".")), "a property is called as its field is: %s, %v", fact.Name, names)
				}
			}
			sos, err := x.RootPaths(t.Context(), fact.Addr, graph.HoldOptions{Order: graph.OrderSOS})
			require.NoError(t, err)
			require.NotEmpty(t, sos.Paths)
			for _, p := range sos.Paths {
				edgesHold(t, g, p.Objects)
			}
			all, err := x.RootPaths(t.Context(), fact.Addr, graph.HoldOptions{All: true})
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(all.Paths), len(out.Paths))
			quiet, err := x.RootPaths(t.Context(), fact.Addr, graph.HoldOptions{All: true, NoStacks: true})
			require.NoError(t, err)
			for _, p := range quiet.Paths {
				assert.NotEqual(t, answer.RootStack, p.Root.Kind)
			}
			one, err := x.RootPaths(t.Context(), fact.Addr, graph.HoldOptions{All: true, Limit: 1})
			require.NoError(t, err)
			assert.Len(t, one.Paths, 1)
			assert.Equal(t, len(all.Paths) > 1, one.Limited)
			disjoint(t, x, fact.Addr)
		}
		assert.NotZero(t, paths)
	})
}

// TestSOSRoots: in SOS's form each root that leads to an object has a path, unless SOS's search loses it. If there is a
// root, there is a path.
func TestSOSRoots(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		v, err := d.View("")
		require.NoError(t, err)
		var held []target.Addr
		for r := range v.Roots(t.Context()) {
			if _, ok := g.Node(r.Object); ok {
				held = append(held, r.Object)
			}
		}
		asked, most := 0, testcase.Part(t, 40, 3)
		for n := graph.Node(11); int(n) < g.Objects() && asked < most; n += 97 {
			asked++
			out, err := x.RootPaths(t.Context(), g.Address(n), graph.HoldOptions{Order: graph.OrderSOS})
			require.NoError(t, err)
			want := 0
			for _, root := range held {
				p, err := x.PathTo(t.Context(), root, g.Address(n), graph.OrderSOS)
				require.NoError(t, err)
				if p.Found {
					want++
				}
			}
			assert.LessOrEqual(t, len(out.Paths), want)
			assert.Equal(t, want > 0, len(out.Paths) > 0, "%v", g.Address(n))
			if len(out.Paths) < want {
				assert.ErrorContains(t, errors.Join(out.Noted()...), "that SOS's search loses")
			}
			for _, p := range out.Paths {
				edgesHold(t, g, p.Objects)
			}
		}
	})
}

// disjoint requires paths that have only the object in common.
func disjoint(t *testing.T, x *graph.Holders, a target.Addr) {
	t.Helper()
	out, err := x.RootPaths(t.Context(), a, graph.HoldOptions{Disjoint: 4})
	require.NoError(t, err)
	assert.LessOrEqual(t, len(out.Paths), 4)
	seen := map[target.Addr]bool{}
	for _, p := range out.Paths {
		for _, s := range p.Objects[:len(p.Objects)-1] {
			assert.False(t, seen[s.Address])
			seen[s.Address] = true
		}
	}
}

// TestStackOnly: an object that only a local variable refers to has paths from stacks alone, and no path without
// stacks.
func TestStackOnly(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		fact, ok := d.Manifest.Fact("stack only")
		if !ok {
			t.Skip("another debuggee")
		}
		x, g := holders(t, d)
		if len(g.Stats().Roots) > 0 {
			t.Skip(g.Stats().Roots[0])
		}
		a := address(fact)
		out, err := x.RootPaths(t.Context(), a, graph.HoldOptions{})
		require.NoError(t, err)
		require.Len(t, out.Paths, 1)
		assert.Equal(t, answer.RootStack, out.Paths[0].Root.Kind)
		assert.Contains(t, out.Paths[0].Root.Name, "Debuggee.Zoo.Scenario.")
		quiet, err := x.RootPaths(t.Context(), a, graph.HoldOptions{NoStacks: true})
		require.NoError(t, err)
		assert.Empty(t, quiet.Paths)
		assert.Equal(t, answer.NotKnown, quiet.Verdict, "it is no garbage: stacks were left out")
		if quiet.Evidence.Unread == 0 {
			assert.Equal(t, "only stacks hold it", quiet.Conclusion.Text)
		}
	})
}

// TestGarbage: a dead object has no path. It is called garbage only if nothing is missing.
func TestGarbage(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		asked := 0
		for n := graph.Node(0); int(n) < g.Objects() && asked < 50; n++ {
			if reach.Live(n) || g.Generation(n) == heap.GenerationFrozen {
				continue
			}
			asked++
			out, err := x.RootPaths(t.Context(), g.Address(n), graph.HoldOptions{})
			require.NoError(t, err)
			assert.Empty(t, out.Paths)
			want := answer.Garbage
			if !g.Stats().Complete() {
				want = answer.NotKnown
			}
			assert.Equal(t, want, out.Verdict)
			assert.Equal(t, want == answer.Garbage, strings.HasPrefix(out.Conclusion.Text, "nothing holds it"))
			assert.EqualValues(t, g.Objects(), out.Evidence.Objects)
			for _, o := range out.Evidence.First {
				r, ok := g.Node(o.Address)
				assert.True(t, ok && !reach.Live(r))
				assert.True(t, slices.Contains(g.Referents(r), n))
			}
		}
	})
}

// TestYoungPaths: in a collection of generation 0 every path starts at an object of an older generation, and passes no
// other.
func TestYoungPaths(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		gen, asked := 0, 0
		for n := graph.Node(0); int(n) < g.Objects() && asked < 30; n += 7 {
			out, err := x.RootPaths(t.Context(), g.Address(n), graph.HoldOptions{Condemned: &gen})
			require.NoError(t, err)
			young := g.Generation(n) == heap.Generation0
			require.Equal(t, !young, out.Older)
			if !young {
				continue
			}
			asked++
			for _, p := range out.Paths {
				steps := p.Objects
				if p.Root.Kind == answer.RootOlder {
					assert.NotEqual(t, "0", steps[0].Generation)
					steps = steps[1:]
				}
				for _, s := range steps {
					assert.Equal(t, "0", s.Generation)
				}
			}
		}
	})
}

// TestPathTo: an object with a shortest path also has one in SOS's order, which is no shorter.
func TestPathTo(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		fact, ok := d.Manifest.Fact("root")
		if !ok {
			t.Skip("another debuggee")
		}
		x, g := holders(t, d)
		from := address(fact)
		if _, err := x.Object(from); err != nil {
			t.Skip(err)
		}
		for _, to := range d.Manifest.Objects() {
			if _, err := x.Object(to.Addr); err != nil || to.Name == "root.Primitives.FunctionPointer" {
				continue
			}
			short, err := x.PathTo(t.Context(), from, to.Addr, graph.OrderShortest)
			require.NoError(t, err)
			long, err := x.PathTo(t.Context(), from, to.Addr, graph.OrderSOS)
			require.NoError(t, err)
			if strings.HasPrefix(to.Name, "root") && g.Stats().Complete() {
				assert.True(t, short.Found, to.Name)
			}
			assert.Equal(t, short.Found, long.Found, to.Name)
			assert.LessOrEqual(t, len(short.Objects), len(long.Objects))
			edgesHold(t, g, short.Objects)
			edgesHold(t, g, long.Objects)
		}
		_, err := x.PathTo(t.Context(), from+8, from, graph.OrderShortest)
		assert.ErrorIs(t, err, target.ErrCorrupt)
	})
}

// TestFreeBlock: a free block has another error than an address without an object.
func TestFreeBlock(t *testing.T) {
	free := 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		for o, err := range g.Heap().Objects() {
			if err != nil || !o.Free {
				continue
			}
			_, err = x.Object(o.Addr)
			require.ErrorIs(t, err, target.ErrArgument)
			require.NotErrorIs(t, err, target.ErrCorrupt)
			require.ErrorContains(t, err, "not an object")
			_, err = x.Object(o.Addr + 8)
			require.NotErrorIs(t, err, target.ErrArgument, "its middle is no block")
			free++
			break
		}
	})
	require.Positive(t, free)
}
