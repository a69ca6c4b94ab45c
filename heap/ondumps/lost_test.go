package ondumps_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// requireLost requires that answers about a heap with lost segments report the loss, without zeros for unknown
// values.
func requireLost(t *testing.T, h *heap.Heap, kind error) {
	t.Helper()
	require.NotEmpty(t, h.Lost())
	over := h.Overview(nil)
	require.Len(t, over.Lost, len(h.Lost()))
	for _, l := range over.Lost {
		assert.ErrorIs(t, l.Err, kind)
		assert.NotEmpty(t, l.Reason)
	}
	where := h.Where(0x10)
	assert.False(t, where.Found)
	assert.Equal(t, len(h.Lost()), where.Lost)
	g := h.Lost()[0].Generation
	if len(h.Spans(&heap.Filter{Generations: []heap.Generation{g}})) == 0 {
		_, err := h.CountGeneration(t.Context(), g, heap.ListOptions{})
		assert.ErrorIs(t, err, kind)
		l := h.ListGeneration(t.Context(), g, heap.ListOptions{})
		var unread error // set if all segments are unreadable
		for _, err := range l.Objects.All() {
			if unread = err; err == nil {
				t.Error("an object of a lost generation")
			}
		}
		assert.ErrorIs(t, cmp.Or(l.Failure(), unread), kind)
	}
	if sizes, err := h.Sizes(t.Context(), heap.ScanOptions{}); err == nil {
		assert.True(t, sizes.Heaps[h.Lost()[0].SubHeap].Generations[g].Incomplete)
	}
	if s, err := h.Soundness(t.Context(), nil, heap.ScanOptions{}); err == nil {
		assert.True(t, s.Incomplete)
		assert.Equal(t, kind == target.ErrCorrupt, s.Errors > 0)
	}
}

// TestNothingOfWhatIsAsked checks that there is no answer if all segments of the selected generations are lost,
// and that a generation without objects is not lost.
func TestNothingOfWhatIsAsked(t *testing.T) {
	lost, err := testdump.Open(t, "net10-crash-null-triage").Heap()
	require.NoError(t, err)
	require.NotEmpty(t, lost.Segments(), "the frozen one is there")
	young := &heap.Filter{Generations: []heap.Generation{heap.Generation0}}
	_, err = lost.OldReferences(t.Context(), heap.ScanOptions{})
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = lost.LargeReferences(t.Context(), heap.ScanOptions{})
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = lost.Count(t.Context(), heap.ListOptions{Filter: young})
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = lost.Count(t.Context(), heap.ListOptions{Filter: &heap.Filter{Segments: func(s *heap.Segment) bool { return s.SubHeap == 7 }}})
	assert.NoError(t, err, "no lost segment is of that heap")
	items := 0
	for _, err := range lost.Walk(t.Context(), young) {
		items++
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
	assert.Equal(t, 1, items)

	sound, err := testdump.Open(t, "net10-crash-nested").Heap()
	require.NoError(t, err)
	l, err := sound.Count(t.Context(), heap.ListOptions{Filter: &heap.Filter{Generations: []heap.Generation{heap.Generation1}}})
	require.NoError(t, err)
	assert.Zero(t, l.Statistics.Count, "nothing survived a collection, as there was none")
}

// TestLostSegments checks segments with records that are missing or invalid.
func TestLostSegments(t *testing.T) {
	h, err := testdump.Open(t, "net10-crash-null-triage").Heap()
	require.NoError(t, err)
	requireLost(t, h, target.ErrNotInDump)

	d := testdump.Open(t, "net10-crash-nested")
	sound, err := d.Heap()
	require.NoError(t, err)
	require.Empty(t, sound.Lost())
	h, err = d.Damaged(t, testdump.Words(largest(sound).Addr, make([]uint64, 10)...)).Heap()
	require.NoError(t, err)
	requireLost(t, h, target.ErrCorrupt)
}

// TestLostSegmentsOfPartialDumps checks that all segments are lost if a partial dump's heap opens without them.
func TestLostSegmentsOfPartialDumps(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-triage"), func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		if err != nil {
			assert.ErrorIs(t, err, target.ErrNotInDump)
			return 1
		}
		if len(h.Segments()) < 2 {
			requireLost(t, h, target.ErrNotInDump)
		}
		return 1
	})
}

// TestReferencesThatAreMissing checks that the answer is incomplete if the heap is readable, except for objects
// that a young object refers to.
func TestReferencesThatAreMissing(t *testing.T) {
	for _, name := range []string{"net8-zoo", "net10-zoo"} {
		d := testdump.Open(t, name)
		h, err := d.Heap()
		require.NoError(t, err)
		large, err := h.LargeReferences(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		require.False(t, large.Incomplete, name)
		at := target.Addr(0) // address of a reference
		for o, err := range h.Walk(t.Context(), &heap.Filter{Generations: []heap.Generation{heap.Generation0}}) {
			require.NoError(t, err)
			for r, err := range h.References(o) {
				if err == nil && r.Slot > o.Addr+16 {
					at = r.Slot // outside of the words with the object's size
				}
			}
			if at != 0 {
				break
			}
		}
		require.NotZero(t, at, name)
		hole, err := heap.Open(h.Runtime(), lacking{d.Target(), d.Without(t, target.Range{Start: at, End: at + 8}).Memory()})
		require.NoError(t, err)
		large, err = hole.LargeReferences(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		assert.True(t, large.Incomplete, name)
		old, err := hole.OldReferences(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		assert.False(t, old.Incomplete, "%s: what is young is not asked", name)
	}
}
