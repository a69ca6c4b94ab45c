package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestGarbageFaults: a reference to free memory is damage in a live object, but not in garbage: a background collection frees, in place, what
// younger garbage refers to. If what is alive is not known, it is damage.
func TestGarbageFaults(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	sound, _ := built(t, d, graph.Options{})
	require.True(t, sound.Stats().Complete())
	live, err := sound.Live(t.Context())
	require.NoError(t, err)
	slots := map[bool]target.Addr{} // of a live object, and of garbage
	var free heap.Object
	edges := h.Edges(heap.EdgeOptions{})
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if o.Free {
			free = o
			continue
		}
		n, _ := sound.Node(o.Addr)
		for ref, err := range edges.Of(&o) {
			if err == nil && ref.Slot != 0 && slots[live.Live(n)] == 0 {
				slots[live.Live(n)] = ref.Slot
			}
		}
	}
	require.Len(t, slots, 2)
	require.NotNil(t, free.Type)
	for name, c := range map[string]struct {
		damage   []testdump.Damage
		complete bool
	}{
		"garbage": {[]testdump.Damage{testdump.Words(slots[false], uint64(free.Addr))}, true},
		"live":    {[]testdump.Damage{testdump.Words(slots[true], uint64(free.Addr))}, false},
		"both":    {[]testdump.Damage{testdump.Words(slots[false], uint64(free.Addr)), testdump.Words(slots[true], uint64(free.Addr))}, false},
		"unknown": {[]testdump.Damage{testdump.Words(slots[false], uint64(free.Addr)), testdump.Words(free.Addr+8, 1<<40)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := d.Damaged(t, c.damage...).View("")
			require.NoError(t, err)
			g, err := v.Graph(t.Context(), graph.Options{})
			require.NoError(t, err)
			require.Equal(t, c.complete, g.Stats().Complete(), "%v", g.Stats().Warnings())
			require.False(t, g.Stats().Followed())
		})
	}
}
