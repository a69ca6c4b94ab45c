package graph_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestLyingGCDesc: a type with a wrong GCDesc has the references that the GCDesc describes, or no references and a
// warning.
func TestLyingGCDesc(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	counts := map[*heap.Object]int{}
	first := map[target.Addr]*heap.Object{}
	for o, err := range h.Objects() {
		if err != nil || o.Free || o.Length > 0 || !o.Type.ContainsPointers() {
			continue
		}
		if first[o.Type.Addr] == nil {
			one := o
			first[o.Type.Addr] = &one
		}
		counts[first[o.Type.Addr]]++
	}
	var most *heap.Object
	for o, n := range counts {
		if most == nil || n > counts[most] || n == counts[most] && o.Addr < most.Addr {
			most = o
		}
	}
	mt, instances := most.Type.Addr, counts[most]
	for name, c := range map[string]struct {
		words []uint64 // the words before the MethodTable
		blind bool
	}{
		"too many series":      {[]uint64{1 << 40}, true},
		"as many as there may": {[]uint64{1 << 16}, true}, // the words before are not series, or are not in the dump
		"all of the object":    {[]uint64{0, 8, 1}, false},
		"behind the object":    {[]uint64{0, 1 << 20, 1}, false},
		"one slot twice":       {[]uint64{0, 8, 0, 8, 2}, false},
		"not aligned":          {[]uint64{0, 12, 1}, true},
		"endless elements":     {[]uint64{0xfffffff8_ffffffff, 16, ^uint64(0)}, false},
		"elements of nothing":  {[]uint64{0, 16, ^uint64(0)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dump := d.Damaged(t, testdump.Words(mt-target.Addr(8*len(c.words)), c.words...))
			testDamage(t, dump, 0)
			v, err := dump.View("")
			require.NoError(t, err)
			g, err := v.Graph(t.Context(), graph.Options{})
			require.NoError(t, err)
			if c.blind {
				require.GreaterOrEqual(t, g.Stats().BlindObjects, uint64(instances))
				require.NotEmpty(t, g.Stats().BlindTypes)
				require.NotEmpty(t, g.Stats().Warnings())
			}
			h, err := v.Heap()
			require.NoError(t, err)
			met := 0
			for n := range graph.Node(g.Objects()) {
				if g.Type(n).Addr != mt {
					continue
				}
				met++
				o, err := g.Object(n)
				require.NoError(t, err)
				var want []graph.Node
				for ref, err := range h.References(o) {
					if to, ok := g.Node(ref.Target); err == nil && ok {
						want = append(want, to)
					}
				}
				require.Equal(t, fmt.Sprint(want), fmt.Sprint(g.Referents(n)))
			}
			require.Equal(t, instances, met)
		})
	}
}

// TestOverlappingSegments: each object of overlapping segments is in the graph once, and the overlap is reported.
func TestOverlappingSegments(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		h, err := d.Heap()
		require.NoError(t, err)
		tried := 0
		for i := range h.Segments()[1:] {
			lower, upper := h.Segments()[i], h.Segments()[i+1]
			words, err := target.Bytes(d.Target(), lower.Addr, 0x60)
			if err != nil || lower.Objects.Size() == 0 || upper.Objects.Size() == 0 {
				continue
			}
			var damage []testdump.Damage
			for at := 0; at+8 <= len(words); at += 8 {
				if target.Addr(binary.LittleEndian.Uint64(words[at:])) == lower.Objects.End {
					damage = append(damage, testdump.Words(lower.Addr+target.Addr(at), uint64(upper.Objects.Start+(upper.Objects.End-upper.Objects.Start)/16*8)))
				}
			}
			if len(damage) == 0 {
				continue
			}
			dump := d.Damaged(t, damage...)
			v, err := dump.View("")
			require.NoError(t, err)
			again, err := v.Heap()
			require.NoError(t, err)
			if len(again.Warnings()) == len(h.Warnings()) && len(again.Lost()) == len(h.Lost()) {
				continue // tested elsewhere: the end of that segment
			}
			tried++
			g, err := v.Graph(t.Context(), graph.Options{})
			require.NoError(t, err)
			walked, last := 0, target.Addr(0)
			for o, err := range again.Objects() {
				if err == nil && !o.Free {
					walked++
					require.Greater(t, o.Addr, last)
					last = o.Addr
					n, ok := g.Node(o.Addr)
					require.True(t, ok)
					require.Equal(t, o.Addr, g.Address(n))
				}
			}
			require.Equal(t, walked, g.Objects())
			testDamage(t, dump, uint64(i))
			if tried == 3 {
				break
			}
		}
		require.Positive(t, tried, name)
	}
}

// TestLyingThreadTable: a table of thread statics that claims four billion elements, most of them not in the dump,
// takes no time, even if the dump does not have the heap's segments, which would bound it.
func TestLyingThreadTable(t *testing.T) {
	tried := 0
	for _, name := range []string{"net10-crash-null-triage", "net10-zoo", "net8-zoo"} {
		d := testdump.Open(t, name)
		v, err := d.View("")
		require.NoError(t, err)
		h, err := v.Heap()
		require.NoError(t, err)
		r, err := v.RootReader()
		require.NoError(t, err)
		for root, err := range r.All(t.Context(), graph.RootOptions{}) {
			if err != nil || root.Kind != graph.RootThreadStatics {
				continue
			}
			if o, err := h.ObjectAt(root.Object); err != nil || o.Length == 0 {
				continue
			}
			tried++
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			v, err := d.Damaged(t, testdump.Words(root.Object+8, 0xffffffff)).View("")
			require.NoError(t, err)
			_, err = v.Graph(ctx, graph.Options{})
			if err != nil {
				require.NotErrorIs(t, err, context.DeadlineExceeded)
			}
			cancel()
		}
	}
	require.Positive(t, tried)
}
