package heap

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// Where synthHandles puts the structures.
const (
	synthMap     = target.Addr(0x1000)
	synthBuckets = target.Addr(0x1100)
	synthBucket  = target.Addr(0x1200)
	synthTables  = target.Addr(0x1300)
	synthTable   = target.Addr(0x1400)
	synthSegment = target.Addr(0x10000)
	synthValues  = 0x100
)

// synthLayout returns a small segment: 8 blocks of 4 handles.
func synthLayout() *handleLayout {
	o := &handleLayout{dataBlock: 12, blocks: 8, perBlock: 4}
	o.Map.Next, o.Map.MaxIndex = 8, 16
	o.Segment.Size, o.Segment.Values = 0x200, synthValues
	o.Segment.BlockType, o.Segment.UserData, o.Segment.Next, o.Segment.Table = 0, 8, 0x20, 0x28
	return o
}

// synthHandles returns a process with one table of one segment: strong handles in
// block 0, a dependent one in block 1 with its second object in block 2.
func synthHandles() (*handleTables, *fakeMemory) {
	low, segment := make([]byte, 0x1000), make([]byte, 0x200)
	put := func(b []byte, off int, v target.Addr) { binary.LittleEndian.PutUint64(b[off:], uint64(v)) }
	put(low, 0, synthBuckets)
	low[16] = 10
	put(low, int(synthBuckets-synthMap), synthBucket)
	put(low, int(synthBucket-synthMap), synthTables)
	put(low, int(synthTables-synthMap), synthTable)
	put(low, int(synthTable-synthMap), synthSegment)
	for i := range 16 {
		segment[i] = freeBlock
	}
	segment[0], segment[1], segment[2], segment[8+1] = byte(HandleStrong), byte(HandleDependent), 12, 2
	put(segment, 0x28, synthTable)
	put(segment, synthValues+8, 0x7000)
	put(segment, synthValues+32, 0x7010)
	put(segment, synthValues+64, 0x7020)
	m := &fakeMemory{pieces: []fakePiece{{synthMap, low}, {synthSegment, segment}}}
	return &handleTables{o: synthLayout(), mem: m, at: synthMap, subHeaps: 1, seen: map[target.Addr]bool{}}, m
}

func collect(t *handleTables) (list []Handle, errs []error) {
	t.walk(func(e Handle, err error) bool {
		if err != nil {
			errs = append(errs, err)
		} else {
			list = append(list, e)
		}
		return len(list)+len(errs) < 10_000
	})
	return list, errs
}

func TestHandleSegment(t *testing.T) {
	tables, _ := synthHandles()
	list, errs := collect(tables)
	require.Empty(t, errs)
	require.Equal(t, []Handle{
		{Addr: synthSegment + synthValues + 8, Type: HandleStrong, Object: 0x7000},
		{Addr: synthSegment + synthValues + 32, Type: HandleDependent, Object: 0x7010, Extra: 0x7020},
	}, list)
	require.EqualValues(t, 0x7020, list[1].Dependent())
	require.Zero(t, list[0].Dependent())
}

// TestHandleSegmentMoved checks that the list of segments is found if the layout lacks its offset.
func TestHandleSegmentMoved(t *testing.T) {
	tables, m := synthHandles()
	table := m.pieces[0].b[synthTable-synthMap:]
	copy(table[0x68:], table[:8])
	binary.LittleEndian.PutUint64(table, 0x1234)
	list, errs := collect(tables)
	require.Empty(t, errs)
	require.Len(t, list, 2)
}

func TestHandleTablesBounds(t *testing.T) {
	for name, test := range map[string]struct {
		change func(low, segment []byte)
		want   error
	}{
		"no buckets":                        {func(low, _ []byte) { low[16] = 0 }, target.ErrCorrupt},
		"absurd buckets":                    {func(low, _ []byte) { low[19] = 0xff }, target.ErrCorrupt},
		"more buckets than there is memory": {func(low, _ []byte) { low[17] = 0xff }, target.ErrNotInDump},
		"cyclic maps":                       {func(low, _ []byte) { binary.LittleEndian.PutUint64(low[8:], uint64(synthMap)) }, target.ErrCorrupt},
		"segment of another":                {func(_, s []byte) { s[0x28]++ }, target.ErrCorrupt},
		"unknown type":                      {func(_, s []byte) { s[3] = 13 }, target.ErrCorrupt},
		"data behind the end":               {func(_, s []byte) { s[9] = 8 }, target.ErrCorrupt},
		"cyclic segments":                   {func(_, s []byte) { binary.LittleEndian.PutUint64(s[0x20:], uint64(synthSegment)) }, target.ErrCorrupt},
		"next segment is none":              {func(_, s []byte) { s[0x20] = 1 }, target.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			tables, m := synthHandles()
			test.change(m.pieces[0].b, m.pieces[1].b)
			_, errs := collect(tables)
			require.NotEmpty(t, errs)
			require.ErrorIs(t, errs[0], test.want)
		})
	}
}

// TestHandleTablesTruncated checks that missing memory is an error and never an invented handle.
func TestHandleTablesTruncated(t *testing.T) {
	for cut := range 0x200 {
		tables, m := synthHandles()
		whole, _ := collect(tables)
		clear(tables.seen)
		m.pieces[1].b = m.pieces[1].b[:cut]
		list, errs := collect(tables)
		require.Subset(t, append(whole, Handle{Addr: whole[1].Addr, Type: HandleDependent, Object: 0x7010}), list)
		if len(list) < len(whole) {
			require.NotEmpty(t, errs)
			require.ErrorIs(t, errs[0], target.ErrNotInDump)
		}
	}
}

func FuzzHandleSegment(f *testing.F) {
	_, m := synthHandles()
	f.Add(m.pieces[0].b[:0x500], m.pieces[1].b)
	f.Fuzz(func(t *testing.T, low, segment []byte) {
		if len(low) > 0x1000 || len(segment) > 0x200 {
			return
		}
		mem := &fakeMemory{pieces: []fakePiece{{synthMap, low}, {synthSegment, segment}}}
		tables := &handleTables{o: synthLayout(), mem: mem, at: synthMap, subHeaps: 2, server: true, seen: map[target.Addr]bool{}}
		collect(tables)
	})
}

func FuzzFinalizerQueue(f *testing.F) {
	f.Add(make([]byte, 72))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := &Heap{mem: &fakeMemory{pieces: []fakePiece{{0x1000, b}}}, genCount: 5, subHeaps: []SubHeap{{FinalizeQueue: 0x1000}}}
		q, err := h.FinalizerQueue(0)
		if err != nil {
			return
		}
		n := 0
		for _, err := range h.FinalizerSlots(q.FReachable()) {
			if n++; err != nil || n > 1000 {
				break
			}
		}
	})
}

func TestFinalizerQueueBounds(t *testing.T) {
	words := func(v ...target.Addr) []byte {
		var b []byte
		for _, w := range v {
			b = binary.LittleEndian.AppendUint64(b, uint64(w))
		}
		return b
	}
	for name, test := range map[string]struct {
		b    []byte
		want error
	}{
		"sound":            {words(0x2000, 0x2000, 0x2000, 0x2008, 0x2010, 0x2010, 0x2018, 0x2000, 0x2100), nil},
		"falling":          {words(0x2000, 0x2000, 0x2000, 0x2010, 0x2008, 0x2010, 0x2018, 0x2000, 0x2100), target.ErrCorrupt},
		"before the array": {words(0x1ff8, 0x2000, 0x2000, 0x2008, 0x2010, 0x2010, 0x2018, 0x2000, 0x2100), target.ErrCorrupt},
		"behind the array": {words(0x2000, 0x2000, 0x2000, 0x2008, 0x2010, 0x2010, 0x2108, 0x2000, 0x2100), target.ErrCorrupt},
		"not aligned":      {words(0x2001, 0x2008, 0x2008, 0x2008, 0x2010, 0x2010, 0x2018, 0x2000, 0x2100), target.ErrCorrupt},
		"absurd":           {words(0, 0, 0, 0, 0, 0, 1<<60, 0, 1<<61), target.ErrCorrupt},
		"cut":              {words(0x2000, 0x2000, 0x2000), target.ErrNotInDump},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Heap{mem: &fakeMemory{pieces: []fakePiece{{0x1000, test.b}}}, genCount: 5, subHeaps: []SubHeap{{FinalizeQueue: 0x1000}}}
			q, err := h.FinalizerQueue(0)
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, target.Range{Start: 0x2008, End: 0x2010}, q.Generations[0])
			require.Equal(t, target.Range{Start: 0x2000, End: 0x2010}, q.Finalizable())
			require.Equal(t, target.Range{Start: 0x2010, End: 0x2018}, q.FReachable())
		})
	}
}
