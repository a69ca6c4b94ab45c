package ondumps_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestSoundness checks that the heaps of the debuggees and the objects in the manifest are sound, and another
// address is not.
func TestSoundness(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		s, err := h.Soundness(t.Context(), nil, heap.ScanOptions{})
		if err != nil {
			t.Skip(err)
		}
		assert.False(t, s.Partial)
		assert.Len(t, s.Faults, s.Errors)
		if s.SyncBlocks != nil {
			assert.LessOrEqual(t, *s.SyncBlockErrors, *s.SyncBlocks)
		}
		for _, fact := range d.Manifest.Objects() {
			if one, err := h.ObjectSoundness(fact.Addr); err == nil {
				assert.Zero(t, one.Errors, fact.Name)
			}
		}
		none, err := h.ObjectSoundness(8)
		require.NoError(t, err)
		require.Equal(t, 1, none.Errors)
		assert.Equal(t, heap.FaultNotOnHeap.String(), none.Faults[0].Kind)
	})
}

// TestAround checks that an object in the manifest is between its neighbours.
func TestAround(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		assert.Nil(t, h.Around(8))
		for _, fact := range d.Manifest.Objects() {
			n := h.Around(fact.Addr)
			if n == nil || !n.Consistent {
				continue // the dump may lack its segment
			}
			require.NotNil(t, n.Current, fact.Name)
			assert.Equal(t, testdump.ManagedName(fact.Type), n.Current.Type.String(), fact.Name)
			if n.Before != nil && n.Gap == nil {
				assert.Equal(t, n.Current.Address, n.Before.End)
			}
			if n.Next != nil && n.Gap == nil {
				assert.Equal(t, n.Next.Address, n.Current.End)
			}
		}
	})
}

// TestListHandles compares the counts with the rows, for all types and for one.
func TestListHandles(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		all, err := h.ListHandles(t.Context())
		require.NoError(t, err)
		var n, pinned uint64
		for row, err := range all.Handles {
			if err != nil {
				require.Equal(t, all.Failure(), errors.Unwrap(err))
				continue
			}
			if n++; row.Type == "Pinned" {
				pinned++
			}
		}
		if all.Failure() != nil {
			require.Zero(t, n)
			require.Error(t, all.Count.Err())
			return
		}
		assert.Equal(t, n, all.Count.Value)
		var counted uint64
		for _, c := range all.Counts {
			counted += c.Count
		}
		assert.Equal(t, n, counted)
		typ, ok := heap.ParseHandleType("pinned")
		require.True(t, ok)
		one, err := h.ListHandles(t.Context(), typ)
		require.NoError(t, err)
		for range one.Handles {
			pinned--
		}
		assert.Zero(t, pinned)
	})
	_, ok := heap.ParseHandleType("nosuch")
	assert.False(t, ok)
}

// TestVerifyOverwritten checks that a MethodTable overwritten with an impossible or unmapped address is a fault
// in dumps that record the memory of the process, and not missing memory.
func TestVerifyOverwritten(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo", "win-net10-zoo", "win-net6-zoo"} {
		d := testdump.Open(t, name)
		at := d.Manifest.Objects()[0].Addr
		for _, word := range []uint64{0x4141414141414141, 0x0000414141414141, 0x00007f0000000010, 0xffff8000deadbee8} {
			t.Run(fmt.Sprintf("%s/%x", name, word), func(t *testing.T) {
				h, err := d.Damaged(t, testdump.Words(at, word)).Heap()
				require.NoError(t, err)
				a, err := h.Soundness(t.Context(), nil, heap.ScanOptions{})
				require.NoError(t, err)
				require.NotEmpty(t, a.Faults)
				i := slices.IndexFunc(a.Faults, func(f answer.Fault) bool { return f.Object == at })
				require.GreaterOrEqual(t, i, 0)
				assert.Equal(t, heap.FaultMethodTable.String(), a.Faults[i].Kind)
				_, err = h.ObjectAt(at)
				assert.ErrorIs(t, err, target.ErrCorrupt)
				stats, err := h.Stats(t.Context(), nil, heap.ScanOptions{})
				require.NoError(t, err)
				require.NotEmpty(t, stats.Corruptions)
				for _, c := range stats.Corruptions {
					assert.ErrorIs(t, c, target.ErrCorrupt)
				}
			})
		}
	}
}
