package graph_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestKeptBy: an object keeps alive what is reachable from it, each object once, the object first.
func TestKeptBy(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		for _, fact := range d.Manifest.Objects() {
			n, err := x.Object(fact.Addr)
			if err != nil {
				continue
			}
			out, err := x.KeptBy(t.Context(), fact.Addr, graph.KeepOptions{})
			require.NoError(t, err)
			seen, size := map[graph.Node]bool{}, uint64(0)
			for left := []graph.Node{n}; len(left) > 0; {
				u := left[len(left)-1]
				if left = left[:len(left)-1]; seen[u] {
					continue
				}
				seen[u] = true
				left = append(append(left, g.Referents(u)...), g.Statics(u)...)
				size += g.Size(u)
			}
			maps.DeleteFunc(seen, func(u graph.Node, _ bool) bool { return !g.IsObject(u) })
			assert.EqualValues(t, len(seen), out.Statistics.Count, fact.Name)
			assert.Equal(t, size, out.Statistics.Size)
			rows := 0
			for o, err := range out.Objects.All() {
				require.NoError(t, err)
				if rows++; rows == 1 {
					assert.Equal(t, fact.Addr, o.Address)
				}
			}
			assert.Len(t, seen, rows)
		}
	})
}

// TestKeptByType: the objects of a type are among those that they keep alive, and strings are counted as strings.
func TestKeptByType(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		for i, mt := range g.Types() {
			if i%17 != 0 {
				continue
			}
			out, err := x.KeptByType(t.Context(), mt.Addr, graph.KeepOptions{OnlyStatistics: true})
			require.NoError(t, err)
			assert.Nil(t, out.Objects)
			for _, c := range out.Statistics.Types {
				if c.MethodTable == mt.Addr {
					assert.Equal(t, out.Of.Count, c.Count)
					assert.Equal(t, out.Of.Size, c.Size)
				}
			}
			strings, err := x.KeptByType(t.Context(), mt.Addr, graph.KeepOptions{OnlyStatistics: true, Strings: true})
			require.NoError(t, err)
			said, all := uint64(0), uint64(0)
			for s, err := range strings.Strings.All() {
				require.NoError(t, err)
				said += s.Count
			}
			for _, c := range out.Statistics.Types {
				if c.MethodTable == g.Heap().Runtime().WellKnown().String {
					all = c.Count
				}
			}
			assert.LessOrEqual(t, said, all)
		}
	})
}

// TestLiveStarts: live and dead objects are all objects. Without the finalizer queue there are no more live ones.
func TestLiveStarts(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		_, g := holders(t, d)
		live, err := g.LiveStarts(t.Context())
		require.NoError(t, err)
		without, err := g.LiveWithout(t.Context(), graph.SourceFinalizer)
		require.NoError(t, err)
		nothing, err := g.LiveWithout(t.Context(), graph.SourceFrame)
		require.NoError(t, err)
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		objects, size := reach.Count()
		l, err := g.Heap().Count(t.Context(), heap.ListOptions{Filter: &heap.Filter{Start: live}})
		if err != nil {
			t.Skip(err)
		}
		assert.Equal(t, objects, l.Statistics.Count)
		assert.Equal(t, size, l.Statistics.Size)
		for n := range graph.Node(g.Objects()) {
			a := g.Address(n)
			assert.False(t, without(a) && !live(a))
			assert.Equal(t, live(a), nothing(a), "frames are no children of the root")
			assert.False(t, live(a+4))
		}
	})
}
