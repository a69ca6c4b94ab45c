package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/internal/caches"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestCaches: names are as in dumpheap. A name that only starts like a cache's is not a cache.
func TestCaches(t *testing.T) {
	for name, want := range map[string]bool{
		"System.Buffers.SharedArrayPool<System.Byte>":                                     true,
		"System.Buffers.SharedArrayPool<System.Char>+Partitions":                          true,
		"System.Buffers.ConfigurableArrayPool<System.Byte>+Bucket[]":                      true,
		"System.Buffers.TlsOverPerCoreLockedStacksArrayPool<System.Byte>+LockedStack":     true,
		"Microsoft.Extensions.Caching.Memory.CacheEntry":                                  true,
		"Microsoft.Extensions.Caching.Memory.CacheEntryExtensions":                        false,
		"System.Collections.Generic.List<Microsoft.Extensions.Caching.Memory.CacheEntry>": false,
		"System.Buffers.SharedArrayPoolPartitions+Partition[]":                            true,
		"System.Buffers.SharedArrayPoolThreadLocalArray[]":                                true,
		"System.Buffers.SharedArrayPoolStatics":                                           false,
		"System.Runtime.Caching.MemoryCacheEntry":                                         true,
	} {
		require.Equal(t, want, caches.IsCache(name), name)
	}
}

// TestStrength: a dependent handle attaches. An object that is also referred to from memory is held.
func TestStrength(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	sound, r := built(t, d, graph.Options{})
	v, err := d.View("")
	require.NoError(t, err)
	reader, err := v.Objects()
	require.NoError(t, err)
	require.NotEmpty(t, r.Dependents)
	pair := r.Dependents[0]
	from, ok := sound.Node(pair.Primary)
	require.True(t, ok)
	to, ok := sound.Node(pair.Secondary)
	require.True(t, ok)
	names := sound.Names(reader)
	require.Equal(t, graph.Attached, names.Strength(from, to))
	require.Equal(t, graph.Strong, names.Strength(sound.Root(), sound.SourceNode(0)))
	for n := range graph.Node(sound.Objects()) {
		for _, to := range sound.Referents(n) {
			if n != from {
				require.NotEqual(t, graph.Attached, names.Strength(n, to))
			}
		}
	}
}

// TestBadRoots: roots that do not fit together are refused. Roots that lead to no object are counted.
func TestBadRoots(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	sound, _ := built(t, d, graph.Options{})
	h := sound.Heap()
	for _, r := range []*graph.Roots{
		{Sources: []graph.Source{{Parent: 0}}},
		{Sources: []graph.Source{{Parent: -3}}},
		{Sources: []graph.Source{{Parent: graph.UnderRoot}}, Edges: []graph.RootEdge{{Source: 1}}},
		{Edges: []graph.RootEdge{{Source: -1}}},
	} {
		_, err := graph.Build(t.Context(), h, r, graph.Options{})
		require.Error(t, err)
	}
	a := sound.Address(5)
	r := &graph.Roots{}
	k := r.Add(graph.Source{Kind: graph.SourceHandles, Parent: graph.UnderRoot})
	for _, at := range []target.Addr{a, a + 8, 0x10, a + 4, 0x4141414141414140} {
		r.Edges = append(r.Edges, graph.RootEdge{Source: k, Object: at, Slot: 0x77})
	}
	r.Dependents = []graph.Dependent{{Primary: a + 8, Secondary: a}}
	g, err := graph.Build(t.Context(), h, r, graph.Options{})
	require.NoError(t, err)
	defer g.Close()
	require.Equal(t, []graph.Node{5}, g.Referents(g.SourceNode(k)))
	for ref := range g.RootRefs(g.SourceNode(k)) {
		require.EqualValues(t, 0x77, ref.Slot)
		root, ok := g.RootOf(g.SourceNode(k), ref)
		require.True(t, ok)
		require.Equal(t, a, root.Object)
	}
	s := g.Stats()
	require.EqualValues(t, 3, s.RootFaults[graph.FaultInside])
	require.EqualValues(t, 2, s.RootFaults[graph.FaultNowhere])
	require.False(t, s.Complete())
}
