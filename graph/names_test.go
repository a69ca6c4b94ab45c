package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestNames: each edge of the graph has a name, as often as it occurs, and other pairs of nodes have no name.
func TestNames(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net31-zoo", "net10-zoo-noregions"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testdump.Open(t, name)
			g, _ := built(t, d, graph.Options{})
			v, err := d.View("")
			require.NoError(t, err)
			r, err := v.Objects()
			require.NoError(t, err)
			names := g.Names(r)
			kinds := map[graph.EdgeKind]int{}
			unnamed := 0
			for from := range graph.Node(g.Nodes()) {
				count := map[graph.Node]int{}
				for _, to := range g.Referents(from) {
					count[to]++
				}
				for to, n := range count {
					list, err := names.Edges(t.Context(), from, to, 1000)
					if err != nil {
						require.ErrorIs(t, err, target.ErrNotInDump) // metadata
					}
					require.Len(t, list, n, "%v to %v", g.Address(from), g.Address(to))
					for _, e := range list {
						kinds[e.Kind]++
						if strings.HasPrefix(e.Name, "+") {
							unnamed++
						}
						require.Equal(t, e.Kind == graph.EdgeRoot || e.Kind == graph.EdgeGroup, e.Name == "")
					}
				}
			}
			for n := graph.Node(g.Objects()); n < graph.Node(g.Nodes()); n++ {
				name, err := names.Source(n)
				if err != nil {
					require.ErrorIs(t, err, target.ErrNotInDump) // metadata
					continue
				}
				require.NotEmpty(t, name)
			}
			require.NotZero(t, kinds[graph.EdgeField])
			require.NotZero(t, kinds[graph.EdgeRoot])
			require.NotZero(t, kinds[graph.EdgeGroup])
			if name == "net10-zoo" {
				require.NotZero(t, kinds[graph.EdgeDependent])
			}
			require.Less(t, unnamed, kinds[graph.EdgeField]/50)
			t.Log(kinds, unnamed)
		})
	}
}

// TestAsyncLocalNames: edges from execution contexts' maps name the AsyncLocal of each value. Other edges have no
// AsyncLocal.
func TestAsyncLocalNames(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	g, _ := built(t, d, graph.Options{})
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	names := g.Names(r)
	found := map[string]int{}
	for from := range graph.Node(g.Objects()) {
		typ, err := g.Heap().Runtime().TypeName(g.Type(from).Addr, dac.NameNative)
		if err != nil {
			continue
		}
		isMap := strings.HasPrefix(typ, "System.Threading.AsyncLocalValueMap+")
		if !isMap && !strings.HasPrefix(typ, "System.Collections.Generic.KeyValuePair`2[[") {
			continue
		}
		for _, to := range g.Referents(from) {
			list, err := names.Edges(t.Context(), from, to, 10)
			require.NoError(t, err)
			for _, e := range list {
				if e.Local == "" {
					continue
				}
				require.True(t, isMap, typ)
				require.Contains(t, e.Name, ".value (AsyncLocal "+e.Local+")")
				found[e.Local]++
			}
		}
	}
	require.NotZero(t, found["System.Diagnostics.Activity.s_current"])
	require.NotZero(t, found["WebDebuggee.Collections.Ambient"])
}
