package dac

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// patched replaces bytes of a memory at an address.
type patched struct {
	target.Memory
	at target.Addr
	b  []byte
}

func (p patched) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := p.Memory.ReadMemory(b, a)
	for i := range n {
		if off := a + target.Addr(i) - p.at; off < target.Addr(len(p.b)) {
			b[i] = p.b[off]
		}
	}
	return n, err
}

func (p patched) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (p patched) Span(target.Addr) []byte { return nil }

// cannedHeaps calls f for the canned dumps with a heap. f reports whether it compared anything.
func cannedHeaps(t *testing.T, f func(name string, d *dump.File, rt *Runtime) bool) {
	cases, err := testcase.CannedCases()
	require.NoError(t, err)
	tried := 0
	for _, c := range cases {
		if !c.HasHeap() {
			continue
		}
		d, err := dump.Open(c.Plain(), dump.Options{})
		require.NoError(t, err)
		defer d.Close()
		rt, err := Find(d, d, nil)[0].Open()
		require.NoError(t, err)
		if f(c.Name, d, rt) {
			tried++
		}
	}
	testcase.Compared(t, tried)
}

// TestSyncBlocksBehindEmpty checks that an empty entry that was used does not end the table: its length is the
// runtime's.
func TestSyncBlocksBehindEmpty(t *testing.T) {
	cannedHeaps(t, func(name string, d *dump.File, rt *Runtime) bool {
		want := map[uint32]SyncBlock{}
		for b, err := range rt.SyncBlocks() {
			if err == nil {
				want[b.Index] = b
			}
		}
		if len(want) < 3 {
			return false
		}
		table, err := rt.GlobalPointer("SyncTableEntries")
		require.NoError(t, err)
		size := rt.off.SyncEntry.Size
		mem := patched{d, table + target.Addr(size), make([]byte, size)}
		rt, err = Find(d, mem, nil)[0].Open()
		require.NoError(t, err)
		got := map[uint32]SyncBlock{}
		for b, err := range rt.SyncBlocks() {
			require.NoError(t, err)
			got[b.Index] = b
		}
		assert.Zero(t, got[1].Object, "%s: the entry that was emptied", name)
		got[1] = want[1]
		assert.Equal(t, want, got, name)
		return true
	})
}

// TestSyncBlockBeingMade: an entry with an object and without a block is being made if the object does not refer to it, else its block is lost.
func TestSyncBlockBeingMade(t *testing.T) {
	cannedHeaps(t, func(name string, d *dump.File, rt *Runtime) bool {
		for b, err := range rt.SyncBlocks() {
			if err != nil || b.Object == 0 || b.Addr == 0 {
				continue
			}
			h, err := rt.ObjectHeader(b.Object)
			if err != nil || h.SyncBlockIndex() != b.Index {
				continue
			}
			table, err := rt.GlobalPointer("SyncTableEntries")
			require.NoError(t, err)
			lost := patched{d, table + target.Addr(int(b.Index)*rt.off.SyncEntry.Size+rt.off.SyncEntry.Block), make([]byte, 8)}
			of := func(mem target.Memory) (SyncBlock, error) {
				rt, err := Find(d, mem, nil)[0].Open()
				require.NoError(t, err)
				return rt.SyncBlock(b.Index)
			}
			_, err = of(lost)
			require.ErrorIs(t, err, target.ErrNotInDump, name)
			made, err := of(patched{lost, b.Object - ObjectHeaderSize, make([]byte, ObjectHeaderSize)})
			require.NoError(t, err, name)
			assert.Equal(t, SyncBlock{Index: b.Index}, made, name)
			return true
		}
		return false
	})
}

// pointed replaces pointers in a memory.
func pointed(mem target.Memory, at map[target.Addr]target.Addr) target.Memory {
	for a, v := range at {
		mem = patched{mem, a, binary.LittleEndian.AppendUint64(nil, uint64(v))}
	}
	return mem
}

// TestCleanupSyncBlocks checks that the blocks to be cleaned up are the cache's list in its order. A damaged
// list is an error beside the blocks before the damage. An unknown offset is an error, and not an empty list.
func TestCleanupSyncBlocks(t *testing.T) {
	cannedHeaps(t, func(name string, d *dump.File, rt *Runtime) bool {
		cache, err := rt.GlobalPointer("SyncBlockCache")
		if err != nil {
			return false
		}
		none, err := rt.CleanupSyncBlocks()
		require.NoError(t, err, name)
		assert.Empty(t, none, name)
		assert.NotNil(t, none, "known to be empty")
		var blocks []target.Addr
		for b, err := range rt.SyncBlocks() {
			if err == nil && b.Addr != 0 {
				blocks = append(blocks, b.Addr)
			}
		}
		if len(blocks) < 2 {
			return false
		}
		link := target.Addr(rt.off.SyncBlock.Link)
		if size := blocks[1] - blocks[0]; len(blocks) > 2 && blocks[2]-blocks[1] == size {
			assert.Equal(t, size-16, link, "%s: only the hash code is behind the link", name)
		}
		head, first, second := cache+target.Addr(rt.off.SyncCache.Cleanup), blocks[0]+link, blocks[1]+link
		list := func(at map[target.Addr]target.Addr) ([]target.Addr, error) {
			rt.mem = pointed(d, at)
			return rt.CleanupSyncBlocks()
		}
		got, err := list(map[target.Addr]target.Addr{head: second, second: first, first: 0})
		require.NoError(t, err, name)
		assert.Equal(t, []target.Addr{blocks[1], blocks[0]}, got, name)
		for damage, next := range map[string]target.Addr{"a cycle": second, "no address of a block": first + 1} {
			got, err = list(map[target.Addr]target.Addr{head: second, second: next})
			assert.ErrorIs(t, err, target.ErrCorrupt, "%s: %s", name, damage)
			assert.Equal(t, blocks[1:2], got, name)
		}
		got, err = list(map[target.Addr]target.Addr{head: second, second: 0xdead0000})
		assert.True(t, errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt), "%s: %v", name, err)
		assert.Len(t, got, 2)
		off := rt.off
		rt.off.SyncBlock.Link = layout.Absent
		_, err = list(map[target.Addr]target.Addr{head: second})
		assert.ErrorIs(t, err, target.ErrUnsupported, name)
		rt.off.SyncCache.Cleanup = layout.Absent
		_, err = rt.CleanupSyncBlocks()
		assert.ErrorIs(t, err, target.ErrUnsupported, name)
		rt.off = off
		return true
	})
}
