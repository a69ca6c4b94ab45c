package ondumps_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// recordSize is the size of oom_history in bytes (gcinterface.dac.h).
const recordSize = 72

// recorded is a process with other bytes in the records of failed allocations, which canned dumps lack.
type recorded struct {
	target.Target
	records map[target.Addr][]byte
}

func (r recorded) ReadMemory(b []byte, a target.Addr) (int, error) {
	for at, record := range r.records {
		if off := a - at; off < recordSize {
			if record == nil {
				return 0, target.ErrNotInDump
			}
			return copy(b, record[off:]), nil
		}
	}
	return r.Target.ReadMemory(b, a)
}

func (r recorded) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (r recorded) Span(target.Addr) []byte { return nil }

// TestOutOfMemory reads the records of a workstation GC and of a server GC. An impossible record is corrupt,
// and a missing one unknown.
func TestOutOfMemory(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net9-zoo", "win-net6-zoo", "win-net8-zoo", "net10-zoo", "win-net10-zoo", "net10-zoo-servergc"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			rt, err := d.Runtime()
			require.NoError(t, err)
			raw, err := dump.Open(d.Case.Path, dump.Options{})
			require.NoError(t, err)
			defer raw.Close()
			process := recorded{raw, map[target.Addr][]byte{}}
			h, err := heap.Open(rt, process)
			require.NoError(t, err)
			heaps := h.SubHeaps()
			for i := range heaps {
				require.NotZero(t, heaps[i].OOMHistoryAt)
				process.records[heaps[i].OOMHistoryAt] = make([]byte, recordSize)
			}
			assert.Equal(t, &answer.OutOfMemory{Heaps: len(heaps), Failures: []answer.FailedAllocation{}}, h.OutOfMemory())
			last := heaps[len(heaps)-1]
			// oom_cant_commit, 1 MB for large objects, fgm_commit_segment_beg (gcinterface.dac.h).
			record := words(2, 1<<20, 0, 0, 17, 2, 2<<20, 512, 1)
			process.records[last.OOMHistoryAt] = record
			got := h.OutOfMemory()
			assert.Equal(t, []answer.FailedAllocation{{Heap: last.Index, Reason: answer.OOMCantCommit, Large: true, AllocationSize: 1 << 20,
				Collection: 17, Failure: answer.OOMCommitSegment, Size: 2 << 20, AvailableMB: 512}}, got.Failures)
			assert.Empty(t, got.Noted())
			binary.LittleEndian.PutUint32(record, 7)
			unread(t, h, target.ErrCorrupt)
			process.records[last.OOMHistoryAt] = nil
			unread(t, h, target.ErrNotInDump)
		})
	}
}

// TestOutOfMemoryAlone reads the records of a triage dump, which lacks the heap.
func TestOutOfMemoryAlone(t *testing.T) {
	d := testdump.Open(t, "win-net10-zoo-triage")
	rt, err := d.Runtime()
	require.NoError(t, err)
	raw, err := dump.Open(d.Case.Path, dump.Options{})
	require.NoError(t, err)
	defer raw.Close()
	_, err = heap.Open(rt, raw)
	require.ErrorIs(t, err, target.ErrNotInDump)
	got, err := heap.OutOfMemory(rt, raw)
	require.NoError(t, err)
	assert.Equal(t, &answer.OutOfMemory{Heaps: 1, Failures: []answer.FailedAllocation{}}, got)
}

// unread checks that h reports an unreadable record.
func unread(t *testing.T, h *heap.Heap, want error) {
	t.Helper()
	got := h.OutOfMemory()
	assert.Empty(t, got.Failures)
	assert.Equal(t, 1, got.Unread)
	require.Len(t, got.Noted(), 1)
	assert.ErrorIs(t, got.Noted()[0], want)
}

func words(list ...uint64) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// TestNoOutOfMemory checks that no program of the corpus ran out of memory.
func TestNoOutOfMemory(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-zoo-withheap", "*-servergc-withheap"), func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		assert.Equal(t, &answer.OutOfMemory{Heaps: len(h.SubHeaps()), Failures: []answer.FailedAllocation{}}, h.OutOfMemory())
		return 1
	})
}
