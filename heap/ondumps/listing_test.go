package ondumps_test

import (
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// cannedHeaps calls f for each canned dump with a readable heap.
func cannedHeaps(t *testing.T, f func(t *testing.T, d *testdump.Dump, h *heap.Heap)) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil || len(h.Segments()) == 0 {
			t.Skip("no heap in the dump")
		}
		f(t, d, h)
	})
}

// TestList checks that the objects in the manifest are listed, and that the list agrees with its statistics in
// both ways of reading it.
func TestList(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		o := heap.ListOptions{Scan: heap.ScanOptions{Jobs: 2}}
		l := h.List(t.Context(), o)
		rows := map[string]answer.HeapObject{}
		var size uint64
		var all []answer.HeapObject
		var failure error
		for row, err := range l.Objects.All() {
			if failure = err; err != nil {
				continue // the loop must end
			}
			size += row.Size
			all = append(all, row)
			rows[row.Address.String()] = row
		}
		if l.Statistics == nil {
			require.Empty(t, all)
			require.Error(t, failure)
			require.ErrorIs(t, failure, l.Failure())
			return
		}
		assert.EqualValues(t, len(all), l.Statistics.Count)
		assert.Equal(t, size, l.Statistics.Size)
		for _, fact := range d.Manifest.Objects() {
			row, ok := rows[fact.Addr.String()]
			if !ok {
				continue // the dump may lack its segment
			}
			name, err := h.Runtime().TypeName(row.MethodTable, dac.NameManaged)
			require.NoError(t, err)
			assert.Equal(t, testdump.ManagedName(fact.Type), name, fact.Name)
		}
		counted, err := h.Count(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, l.Statistics, counted.Statistics)

		var doc []byte
		require.NoError(t, h.List(t.Context(), o).Objects.StreamJSON(func(b []byte) error {
			doc = append(append(doc, b...), ",\n"...)
			return nil
		}))
		var want []byte
		row := jsonenc.Row[answer.HeapObject]()
		for i := range all {
			want = row(want, &all[i])
		}
		assert.Equal(t, string(want), string(doc))
	})
}

// TestListGeneration checks that the generations together have all objects, each only its own.
func TestListGeneration(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		whole, err := h.Count(t.Context(), heap.ListOptions{})
		if err != nil {
			t.Skip(err)
		}
		var sum uint64
		for _, name := range []string{"gen0", "gen1", "GEN2", "loh", "pinned", "foh"} {
			g, ok := heap.ParseGeneration(name)
			require.True(t, ok, name)
			counted, err := h.CountGeneration(t.Context(), g, heap.ListOptions{})
			if err != nil {
				continue // its objects are not in the dump
			}
			listed := h.ListGeneration(t.Context(), g, heap.ListOptions{})
			assert.Error(t, listed.Count.Err(), "nothing was read")
			for row, err := range listed.Objects.All() {
				require.NoError(t, err)
				assert.Equal(t, g, h.Segment(row.Address).Generation(row.Address))
			}
			assert.Equal(t, counted.Count, listed.Count)
			sum += counted.Count.Value
		}
		assert.Equal(t, whole.Statistics.Count, sum)
	})
	_, ok := heap.ParseGeneration("0")
	assert.False(t, ok)
}

// TestCountStrings compares strings by content with the list of strings.
func TestCountStrings(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		l := h.ListStrings(t.Context(), heap.ListOptions{})
		var listed, counted uint64
		err := l.Objects.Format(8, func() answer.AppendObject {
			return func(b []byte, o *answer.HeapObject) []byte {
				require.NotNil(t, o.String)
				if s := o.String; s.Text.Err == nil && !s.Whole {
					assert.LessOrEqual(t, len(s.Text.S), 8*3)
				}
				return append(b, '.')
			}
		}, func(rows []byte) error {
			listed += uint64(len(rows))
			return nil
		})
		require.Equal(t, l.Failure(), errors.Unwrap(err))
		counts, lost := read(l.Strings.All())
		if l.Failure() != nil {
			require.Empty(t, counts)
			require.ErrorIs(t, lost[0], l.Failure())
			return
		}
		for _, s := range counts {
			counted += s.Count
		}
		own := h.CountStrings(t.Context(), heap.ListOptions{})
		ownCounts, ownLost := read(own.Strings.All())
		assert.Equal(t, counts, ownCounts, "a scan that lists counts as one that does not")
		assert.Equal(t, lost, ownLost)
		assert.Equal(t, own.Noted(), l.Noted())
		assert.LessOrEqual(t, counted, listed, "strings without content in the dump have no line")
		if d.Name == "net10-zoo" {
			assert.Equal(t, listed, counted)
			assert.NotZero(t, counted)
		}
	})
}

// read returns the rows of a list and the errors of missing ones.
func read[T any](list iter.Seq2[T, error]) (rows []T, lost []error) {
	for row, err := range list {
		if err != nil {
			lost = append(lost, err)
		} else {
			rows = append(rows, row)
		}
	}
	return rows, lost
}

// TestListFinalizers compares the statistics of the queues with their objects.
func TestListFinalizers(t *testing.T) {
	cannedHeaps(t, func(t *testing.T, d *testdump.Dump, h *heap.Heap) {
		f, err := h.ListFinalizers(heap.FinalizerOptions{})
		if err != nil {
			t.Skip(err)
		}
		require.Len(t, f.Queues, len(h.SubHeaps()))
		var slots, rows uint64
		for i := range f.Queues {
			q := &f.Queues[i]
			slots += q.Ready.Count + q.Critical.Count
			for _, part := range q.Generations {
				slots += part.Count
			}
		}
		for row, err := range f.Objects.All() {
			if err != nil {
				assert.Contains(t, f.Noted(), err)
				continue
			}
			assert.False(t, row.Free)
			rows++
		}
		assert.Equal(t, rows, f.Statistics.Count)
		assert.LessOrEqual(t, rows, slots)
		if addr, ok := d.Manifest.Fact("root.Finalizable"); ok && d.Name == "net10-zoo" {
			assert.NotZero(t, rows, addr)
		}
	})
}

// TestListFinalizersMissing checks that an unreadable object of a queue is a missing row, of JSON too.
func TestListFinalizersMissing(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	f, err := h.ListFinalizers(heap.FinalizerOptions{})
	require.NoError(t, err)
	var first answer.HeapObject
	for o, err := range f.Objects.All() {
		require.NoError(t, err)
		first = o
		break
	}
	bad, err := d.Damaged(t, testdump.Words(first.Address, 0x12345678)).Heap()
	require.NoError(t, err)
	f, err = bad.ListFinalizers(heap.FinalizerOptions{})
	require.NoError(t, err)
	assert.Positive(t, f.Unread)
	var missing uint64
	for o, err := range f.Objects.All() {
		if err != nil {
			require.ErrorIs(t, err, target.ErrCorrupt)
			assert.Zero(t, o)
			missing++
		}
	}
	assert.Equal(t, f.Unread, missing)
	text, err := json.Marshal(f)
	require.NoError(t, err)
	assert.Contains(t, string(text), `{"missing":`)

	f, err = bad.ListFinalizers(heap.FinalizerOptions{OnlyStatistics: true})
	require.NoError(t, err)
	for range f.Objects.All() {
		t.Error("the list is left out")
	}
}
