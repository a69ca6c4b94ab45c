package ondumps_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestMap checks that cells, parts and sums agree with each other, with sizestats and with the segments, for
// any number of workers.
func TestMap(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		m, err := h.Map(t.Context(), heap.MapOptions{Scan: heap.ScanOptions{Jobs: 1}})
		if errors.Is(err, target.ErrNotInDump) && len(d.Manifest.Objects()) == 0 {
			t.Skip("no object in the dump")
		}
		require.NoError(t, err)
		used, free := alignedSizes(t, h)
		var allocated, committed uint64
		for _, s := range h.Segments() {
			allocated += s.Objects.Size()
			committed += s.Committed.Size()
		}
		assert.Equal(t, allocated, m.Total.Allocated)
		assert.Equal(t, committed, m.Total.Committed)
		assert.Equal(t, free, m.Total.Free)
		assert.Equal(t, used, m.Total.Used)
		assert.LessOrEqual(t, m.Total.Used+m.Total.Free+m.Total.Unread, m.Total.Allocated)
		sum := answer.MapSizes{Pinned: answer.Known[uint64](0)}
		cells := 0
		for _, p := range m.Parts {
			sum.Add(&p.MapSizes)
			cells += len(p.Cells)
			at := p.Memory.Start
			var objects uint64
			for _, c := range p.Cells {
				assert.LessOrEqual(t, c.Used+c.Free+c.Unread, c.Size)
				at += target.Addr(c.Size)
				objects += c.Objects
			}
			assert.Equal(t, p.Memory.End, at, "cells cover the part")
			assert.Equal(t, p.Objects, objects)
		}
		assert.Equal(t, m.Total, sum)
		assert.LessOrEqual(t, cells, heap.MapCells)
		for _, o := range []heap.MapOptions{{}, {CellSize: 5000}, {CellSize: 1 << 50}} {
			other, err := h.Map(t.Context(), o)
			require.NoError(t, err)
			assert.Equal(t, m.Total, other.Total)
			if o.CellSize == 0 {
				assert.Equal(t, m, other)
			} else {
				assert.GreaterOrEqual(t, other.CellSize, min(o.CellSize, 1<<40))
			}
		}
	})
}

// alignedSizes returns the bytes of objects and of free blocks in the histograms.
func alignedSizes(t *testing.T, h *heap.Heap) (used, free uint64) {
	s, err := h.SizeHistograms(t.Context(), heap.ScanOptions{})
	require.NoError(t, err)
	for _, g := range s.Generations {
		for _, n := range g.Sizes {
			if g.Free {
				free += n.Size * n.Count
			} else {
				used += n.Size * n.Count
			}
		}
	}
	return used, free
}

// TestMapPins compares the pinned handles by generation with the oracle, and checks that all objects are in the
// map.
func TestMapPins(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		m, err := h.Map(t.Context(), heap.MapOptions{})
		require.NoError(t, err)
		got, want, tables := map[string]uint64{}, map[string]uint64{}, 0
		for _, g := range m.Generations {
			require.NoError(t, g.Pinned.Err())
			if g.Pinned.Value > 0 {
				got[g.Generation] = g.Pinned.Value
			}
		}
		for e := range h.Handles() {
			tables = max(tables, e.Table+1)
		}
		d.Oracle(t, "handles", func(e map[string]any) {
			if kind := e["kind"].(string); kind == "Pinned" || kind == "AsyncPinned" {
				want[h.Where(hex(e["object"])).Generation]++
			}
		})
		if tables <= len(h.SubHeaps()) { // the oracle reads the tables of the heaps that exist now
			require.Equal(t, want, got)
		}
		return int(m.Total.Objects)
	})
}

// TestMapLive checks that dead objects are measured cell by cell, and that nothing else changes.
func TestMapLive(t *testing.T) {
	h, err := testdump.Open(t, "net10-zoo").Heap()
	require.NoError(t, err)
	all, err := h.Map(t.Context(), heap.MapOptions{})
	require.NoError(t, err)
	var dead uint64
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if !o.Free && o.Addr%16 == 0 && h.Segment(o.Addr).Kind != heap.KindFrozen {
			dead += (o.Size + 7) &^ 7
		}
	}
	m, err := h.Map(t.Context(), heap.MapOptions{Live: func(a target.Addr) bool { return a%16 != 0 }})
	require.NoError(t, err)
	assert.Equal(t, dead, m.Total.Dead)
	assert.True(t, m.Reachable)
	m.Total.Dead = 0
	assert.Equal(t, all.Total, m.Total)
}

// TestMapDamaged checks that unreadable parts are in cells that report them, and not in sums of objects.
func TestMapDamaged(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	sound, err := h.Map(t.Context(), heap.MapOptions{})
	require.NoError(t, err)
	at := d.Manifest.Objects()[0].Addr
	bad, err := d.Damaged(t, testdump.Words(at, 0x12345678)).Heap()
	require.NoError(t, err)
	m, err := bad.Map(t.Context(), heap.MapOptions{})
	require.NoError(t, err)
	assert.NotEmpty(t, m.Noted())
	assert.Positive(t, m.Total.Unread)
	assert.Equal(t, sound.Total.Used+sound.Total.Free, m.Total.Used+m.Total.Free+m.Total.Unread)
	assert.Less(t, m.Total.Objects, sound.Total.Objects)
	var unread uint64
	for _, p := range m.Parts {
		for _, c := range p.Cells {
			unread += c.Unread
		}
	}
	assert.Equal(t, m.Total.Unread, unread)
}
