package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestUnverifiedSyncBlocks checks that a sync block that is not in the dump is not counted as verified, and
// reported.
func TestUnverifiedSyncBlocks(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		d := testdump.Open(t, name)
		sound, err := d.Heap()
		require.NoError(t, err)
		want, err := sound.Soundness(t.Context(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		var block target.Addr
		for b, err := range sound.Runtime().SyncBlocks() {
			require.NoError(t, err)
			if b.Object != 0 && b.Addr != 0 {
				block = b.Addr
			}
		}
		require.NotZero(t, block)
		h, err := d.Without(t, target.Range{Start: block, End: block + 64}).Heap()
		require.NoError(t, err)
		got, err := h.Soundness(t.Context(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		assert.Less(t, *got.SyncBlocks, *want.SyncBlocks, name)
		assert.Zero(t, *got.SyncBlockErrors, name)
		assert.NotEmpty(t, got.Noted(), name)
		assert.True(t, got.Incomplete, name)
	}
}

// lacking is a dump with other memory.
type lacking struct {
	target.Target
	mem target.Memory
}

func (l lacking) ReadMemory(b []byte, a target.Addr) (int, error) { return l.mem.ReadMemory(b, a) }
func (l lacking) View(a target.Addr, n int) ([]byte, bool)        { return l.mem.View(a, n) }
func (l lacking) Span(a target.Addr) []byte                       { return l.mem.Span(a) }
func (l lacking) NextStored(a target.Addr) (target.Addr, bool)    { return target.NextStored(l.mem, a) }

// TestPartialGenerations checks that the free space of a partly unreadable generation is unknown, and known for
// the others.
func TestPartialGenerations(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		d := testdump.Open(t, name)
		sound, err := d.Heap()
		require.NoError(t, err)
		at := d.Manifest.Objects()[0].Addr
		s, err := sound.Sizes(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		for _, g := range s.Heaps[0].Generations {
			assert.False(t, g.Partial, name)
		}
		page := at &^ 0xfff
		h, err := heap.Open(sound.Runtime(), lacking{d.Target(), d.Without(t, target.Range{Start: page, End: page + 0x1000}).Memory()})
		require.NoError(t, err)
		got, err := h.Sizes(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		seg := sound.Segment(at)
		require.NotNil(t, seg)
		partial := 0
		for i, g := range got.Heaps[0].Generations {
			if g.Partial {
				partial++
				assert.ErrorIs(t, g.Unread, target.ErrNotInDump)
				assert.LessOrEqual(t, g.Live, s.Heaps[0].Generations[i].Live)
			}
			assert.Equal(t, s.Heaps[0].Generations[i].Allocated, g.Allocated)
			assert.False(t, g.Incomplete, name)
		}
		assert.True(t, got.Heaps[0].Generations[seg.Generation(at)].Partial, name)
		assert.Less(t, partial, len(got.Heaps[0].Generations), name)
	}
}
