package graph_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// livesWithout returns the live bytes if skip omits references: the i-th of a node.
func livesWithout(g *graph.Graph, skip func(n graph.Node, i int) bool) uint64 {
	size := uint64(0)
	met := make([]bool, g.Nodes())
	met[g.Root()] = true
	for queue := []graph.Node{g.Root()}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if g.IsObject(n) {
			size += g.Size(n)
		}
		for i, to := range g.Referents(n) {
			if !met[to] && !skip(n, i) {
				met[to] = true
				queue = append(queue, to)
			}
		}
	}
	return size
}

// TestHandlesHold: a handle retains what is not live if its reference is omitted. The handles of a type retain what is
// not live if the type's node is omitted.
func TestHandlesHold(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		out, err := x.HandlesHold(t.Context(), graph.HandleOptions{Holds: 1000, Path: true})
		if g.Objects() == 0 {
			assert.Error(t, err)
			return
		}
		require.NoError(t, err)
		all := livesWithout(g, func(graph.Node, int) bool { return false })
		assert.Equal(t, out.Live.Size, all)
		sources := map[string]graph.Node{}
		for n := graph.Node(g.Objects()); n < g.Root(); n++ {
			if s := g.Source(n); s.Kind == graph.SourceHandles {
				sources[s.Handle.String()] = n
			}
		}
		for i := range out.Rows {
			r := &out.Rows[i]
			object, ok := g.Node(r.Object.Address)
			require.True(t, ok)
			from, nth := sources[r.Type], 0
			if r.Primary != 0 {
				from, _ = g.Node(r.Primary)
			} else {
				for ref := range g.RootRefs(from) {
					if ref.Slot == r.Handle {
						break
					}
					if ref.Object == object {
						nth++
					}
				}
			}
			at := -1
			for i, to := range g.Referents(from) {
				if to == object {
					if nth == 0 {
						at = i
					}
					nth--
				}
			}
			require.GreaterOrEqual(t, at, 0)
			rest := livesWithout(g, func(n graph.Node, i int) bool { return n == from && i == at })
			assert.Equal(t, all-rest, r.Freed, "%s handle %v", r.Type, r.Handle)
			sum := uint64(0)
			for _, typ := range r.Types {
				sum += typ.Size
			}
			assert.Equal(t, r.Freed, sum)
			assert.Equal(t, r.Live && r.Freed == 0, r.Else != nil, "%s handle %v", r.Type, r.Handle)
			if r.Else != nil {
				assert.NotEqual(t, r.Handle, r.Else.Root.Address)
			}
		}
		for _, k := range out.Kinds {
			if from, ok := sources[k.Name.S]; ok {
				assert.Equal(t, all-livesWithout(g, func(n graph.Node, _ int) bool { return n == from }), k.Freed, k.Name.S)
			}
		}
		strong, err := x.HandlesHold(t.Context(), graph.HandleOptions{Types: []heap.HandleType{heap.HandleStrong}, Top: 1})
		require.NoError(t, err)
		if len(strong.Rows) > 0 {
			assert.Len(t, strong.Rows, 1)
			assert.Equal(t, "Strong", strong.Rows[0].Type)
		}
	})
}
