package leaks_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/together"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestTogether checks that the common retained size is the sum over the objects that no other one dominates.
func TestTogether(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		x, err := v.Holders(t.Context(), graph.Options{})
		if err != nil || x.Graph().Objects() == 0 {
			t.Skip("there is no heap")
		}
		g := x.Graph()
		doms, err := g.Dominators(t.Context())
		require.NoError(t, err)
		r, nested := rand.New(rand.NewPCG(7, 11)), 0
		for range 200 {
			in := map[graph.Node]bool{}
			var nodes []graph.Node
			for range 1 + r.IntN(300) {
				n := graph.Node(r.IntN(g.Objects()))
				nodes = append(nodes, n)
				in[n] = true
			}
			want := uint64(0)
			for n := range in {
				owned := false
				for at := n; ; {
					up := doms.Idom(at)
					if up == at || up >= graph.Node(g.Nodes()) {
						break
					}
					at = up
					owned = owned || in[at]
				}
				if owned {
					nested++
				} else {
					want += doms.Retained(n)
				}
			}
			require.Equal(t, want, together.Retained(g, doms, nodes))
		}
		assert.NotZero(t, nested)
	})
}
