package heap

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// mixedHeap returns a heap of many objects, with an allocation context and a hole.
func mixedHeap() (h *Heap, context, hole target.Range) {
	b := &builder{}
	for i := range 600 {
		b.small()
		b.bytes(i)
	}
	context = target.Range{Start: b.at(), End: b.at() + 0x100}
	b.gap(0x100 + minObjectSize)
	for range 600 {
		b.large()
	}
	hole = target.Range{Start: b.at(), End: b.at() + 0x1000}
	b.gap(0x1000)
	for range 600 {
		b.large()
	}
	b.bytes(100_000)
	b.small()
	return b.heap(true, []dac.AllocContext{{Pointer: context.Start, Limit: context.End}}, hole), context, hole
}

// TestNearEqualsWalk looks up every word of a heap, upwards and downwards, and compares the results with one
// walk.
func TestNearEqualsWalk(t *testing.T) {
	for _, down := range []bool{false, true} {
		h, context, hole := mixedHeap()
		var all []Object
		for o, err := range h.Objects() {
			if err == nil {
				all = append(all, o)
			}
		}
		require.Greater(t, len(all), 2400)
		check := func(k int) {
			o := &all[k]
			n := h.Near(o.Addr)
			require.Equal(t, o.Addr, n.Current.Addr)
			require.Equal(t, k == 0, n.Before == nil)
			require.Equal(t, k == len(all)-1, n.Next == nil)
			if k > 0 {
				require.Equal(t, all[k-1].Addr, n.Before.Addr)
			}
			if k < len(all)-1 {
				require.Equal(t, all[k+1].Addr, n.Next.Addr)
			}
			for _, off := range []target.Addr{0, 8, target.Addr(o.Size) - 1} {
				in, err := h.ObjectContaining(o.Addr + off)
				require.NoError(t, err)
				require.Equal(t, o.Addr, in.Addr)
			}
		}
		for k := range all {
			if down {
				k = len(all) - 1 - k
			}
			check(k)
		}
		_, err := h.ObjectContaining(context.Start + 16)
		require.ErrorIs(t, err, target.ErrCorrupt)
		_, err = h.ObjectContaining(hole.Start + 16)
		require.ErrorIs(t, err, target.ErrNotInDump)
		_, err = h.ObjectContaining(synthCode)
		require.ErrorIs(t, err, target.ErrCorrupt)
		require.Nil(t, h.Near(synthCode))
		require.Equal(t, context, h.Near(context.Start+16).Gap)
		require.Len(t, h.Near(hole.Start+16).Corrupt, 1)
		require.Empty(t, h.Near(all[len(all)-1].Addr).Corrupt)
		starts := len(h.bricks.table(&h.segments[0]).starts)
		require.LessOrEqual(t, starts, int(h.segments[0].Objects.Size()/brickSize)+1, "one in brickSize bytes")
	}
}

// TestObjectContainingAllocates nothing once its segment is known.
func TestObjectContainingAllocates(t *testing.T) {
	h, _, _ := mixedHeap()
	a := h.segments[0].Objects.Start + 0x2008
	_, err := h.ObjectContaining(a)
	require.NoError(t, err)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { h.ObjectContaining(a) }), 1.0)
}
