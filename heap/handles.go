package heap

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A HandleType is the kind of a GC handle (gcinterface.h, HandleType).
type HandleType uint8

// The handle types. The numbers are the runtime's.
const (
	HandleWeakShort           HandleType = iota // cleared before finalization
	HandleWeakLong                              // cleared after finalization
	HandleStrong                                // keeps its object alive
	HandlePinned                                // keeps its object alive and in place
	HandleVariable                              // one of the types above, chosen at run time
	HandleRefCounted                            // strong while COM counts references
	HandleDependent                             // keeps a second object alive while the first one lives
	HandleAsyncPinned                           // pins the buffers of an overlapped operation
	HandleSizedRef                              // strong, and measured by collections
	HandleWeakNativeCOM                         // weak; refers to the native object of a COM wrapper
	HandleWeakInteriorPointer                   // weak; updates a pointer into the object
	HandleCrossReference                        // belongs to the bridge to another collector
)

var handleTypeNames = [...]string{"WeakShort", "WeakLong", "Strong", "Pinned", "Variable", "RefCounted", "Dependent",
	"AsyncPinned", "SizedRef", "WeakWinRT", "WeakInteriorPointer", "CrossReference"}

// String returns the name that gchandles prints.
func (t HandleType) String() string { return enum.Name(handleTypeNames[:], t, "HandleType") }

var handleWords = [...]string{"weak short", "weak long", "strong", "pinned", "variable", "ref counted", "dependent", "async pinned",
	"sized ref", "weak WinRT", "weak interior pointer", "cross reference"}

// Words returns the type as gcroot prints it, such as "async pinned handle".
func (t HandleType) Words() string {
	if int(t) < len(handleWords) {
		return handleWords[t] + " handle"
	}
	return t.String()
}

// Strong reports whether the handle keeps its object alive by itself. A variable or reference-counted handle may, and counts as strong.
func (t HandleType) Strong() bool {
	switch t {
	case HandleStrong, HandlePinned, HandleVariable, HandleRefCounted, HandleAsyncPinned, HandleSizedRef:
		return true
	}
	return false
}

// A Handle is a GC handle in use.
type Handle struct {
	Addr   target.Addr // the slot: the value of an OBJECTHANDLE or a GCHandle
	Type   HandleType
	Object target.Addr // never null
	// Extra is the second word of types that have one, else 0: the second object of a dependent
	// handle, or the native object of a WeakNativeCOM.
	Extra uint64
	// Table is the index of the handle's table. A workstation GC has one table. A server GC has one
	// per processor, which may exceed the number of heaps in use.
	Table int
}

// Dependent returns the object that a dependent handle keeps alive while Object lives. It returns 0 without
// such an object and for other types.
func (h *Handle) Dependent() target.Addr {
	if h.Type != HandleDependent {
		return 0
	}
	return target.Addr(h.Extra)
}

// Handles iterates over the GC handles table by table, in memory order within a segment of a table. It yields
// an error for an unreadable or invalid table and continues. An error with a Handle reports that its object is
// not in the heap.
//
// The structure is from handletablepriv.h and has no signature. A segment counts if it refers to its table, is
// aligned like one and has only known block types.
func (h *Heap) Handles() iter.Seq2[Handle, error] {
	return func(yield func(Handle, error) bool) {
		t, err := h.openHandleTables()
		if err != nil {
			yield(Handle{}, fmt.Errorf("GC handles: %w", err))
			return
		}
		t.walk(func(e Handle, err error) bool {
			if err != nil {
				return yield(e, fmt.Errorf("GC handles: %w", err))
			}
			return yield(e, h.checkHandle(&e))
		})
	}
}

// CheckHandles reads the tables of GC handles. It returns the first error, and whether any table can be read.
func (h *Heap) CheckHandles() (read bool, first error) {
	t, err := h.openHandleTables()
	if err != nil {
		return false, err
	}
	t.walk(func(_ Handle, err error) bool {
		read, first = read || err == nil, cmp.Or(first, err)
		return !read || first == nil
	})
	return read, first
}

// checkHandle proves that a handle refers into the heap, as far as the heap is known.
func (h *Heap) checkHandle(e *Handle) error {
	if e.Object%8 == 0 && (len(h.warnings) > 0 || len(h.segments) == 0 || h.Segment(e.Object) != nil) {
		return nil
	}
	return target.CorruptHeapf("GC handle %#x: %#x is not an object of the heap", uint64(e.Addr), uint64(e.Object))
}

// handleLayout holds the offsets of the handle tables' members.
type handleLayout struct {
	Map struct {
		Buckets  int `layout:"Buckets|BucketsPtr"`
		Next     int `layout:"Next"`
		MaxIndex int `layout:"MaxIndex,optional"` // the contract has one length for all maps instead
	}
	Bucket struct {
		Table int `layout:"Table"`
	}
	Table struct {
		SegmentList int `layout:"SegmentList,optional"`
	}
	Segment struct {
		Size      int `layout:"size"`
		BlockType int `layout:"BlockType"`
		UserData  int `layout:"UserData|RgUserData"`
		Next      int `layout:"NextSegment"`
		Table     int `layout:"HandleTable"`
		Values    int `layout:"Values|RgValue"`
	}
	mapLength uint32 // buckets of a map; 0 if each map has its MaxIndex
	dataBlock uint8  // the first block type without handles
	blocks    int    // per segment
	perBlock  int    // handles per block
}

const handleSize = 8

func bindHandleLayout(l dac.Layout) (*handleLayout, error) {
	o := &handleLayout{}
	for _, b := range []struct {
		name string
		dst  any
	}{
		{"HandleTableMap", &o.Map}, {"HandleTableBucket", &o.Bucket}, {"HandleTable", &o.Table}, {"TableSegment", &o.Segment},
	} {
		if err := l.Bind(b.name, b.dst); err != nil {
			return nil, err
		}
	}
	if o.Map.MaxIndex == layout.Absent {
		n, err := l.Uint("InitialHandleTableArraySize")
		if err != nil {
			return nil, err
		}
		if n == 0 || n > limits.HandleBuckets {
			return nil, target.Corruptf("maps of %d handle tables", n)
		}
		o.mapLength = uint32(n)
	}
	if err := l.Constant("HandleTypeDataBlock", &o.dataBlock); err != nil {
		return nil, err
	}
	return o, o.check()
}

// check derives sizes from the offsets of the arrays. The user data follows the types, with one byte per block
// each; the values fill the rest of the segment.
func (o *handleLayout) check() error {
	s := &o.Segment
	o.blocks = s.UserData - s.BlockType
	inHeader := func(off, size int) bool { return off >= 0 && off <= s.Values-size }
	if o.blocks <= 0 || s.Values <= 0 || s.Size <= s.Values || s.Size&(s.Size-1) != 0 || !inHeader(s.BlockType, o.blocks) ||
		!inHeader(s.UserData, o.blocks) || !inHeader(s.Next, 8) || !inHeader(s.Table, 8) {
		return target.Corruptf("layout of a handle table's segment: %+v", *s)
	}
	o.perBlock = (s.Size - s.Values) / handleSize / o.blocks
	return nil
}

// handleTables walks a process's handle tables.
type handleTables struct {
	o        *handleLayout
	mem      target.Memory
	at       target.Addr // the first HandleTableMap
	subHeaps int
	server   bool
	seen     map[target.Addr]bool // visited buckets, tables and segments
}

func (h *Heap) openHandleTables() (*handleTables, error) {
	v, err := h.readVars()
	if err != nil {
		return nil, err
	}
	t := &handleTables{mem: h.mem, subHeaps: len(h.subHeaps), server: h.server, seen: map[target.Addr]bool{}}
	if t.o, err = bindHandleLayout(v.l); err != nil {
		return nil, err
	}
	if t.at, err = v.addr("HandleTableMap"); err != nil {
		return nil, err
	}
	return t, nil
}

type handleYield func(Handle, error) bool

// walk visits the maps. They form a chain: each begins at the index where the previous one ends.
func (t *handleTables) walk(yield handleYield) {
	first := uint32(0)
	for at, n := t.at, 0; at != 0; n++ {
		b, err := target.Bytes(t.mem, at, max(t.o.Map.Buckets+8, t.o.Map.Next+8, t.o.Map.MaxIndex+4))
		if err != nil {
			yield(Handle{}, err)
			return
		}
		end := first + t.o.mapLength
		if t.o.Map.MaxIndex != layout.Absent {
			end = binary.LittleEndian.Uint32(b[t.o.Map.MaxIndex:])
		}
		if end <= first || end > limits.HandleBuckets || n == limits.HandleBuckets {
			yield(Handle{}, target.Corruptf("map of handle tables %d to %d", first, end))
			return
		}
		if !t.buckets(target.Addr(le64(b[t.o.Map.Buckets:])), int(end-first), yield) {
			return
		}
		first, at = end, target.Addr(le64(b[t.o.Map.Next:]))
	}
}

// buckets visits an array of pointers to buckets; absent ones are null.
func (t *handleTables) buckets(at target.Addr, n int, yield handleYield) bool {
	b, err := target.Bytes(t.mem, at, 8*n)
	if err != nil {
		return yield(Handle{}, err)
	}
	for ; len(b) > 0; b = b[8:] {
		bucket := target.Addr(le64(b))
		if bucket == 0 || t.seen[bucket] {
			continue
		}
		t.seen[bucket] = true
		if !t.bucket(bucket, yield) {
			return false
		}
	}
	return true
}

// bucket visits the tables of a bucket. A workstation GC has one table. A server GC has one per processor, at
// least as many as heaps. Their number is not recorded, so after the heaps' tables everything that is valid as
// a table counts.
func (t *handleTables) bucket(at target.Addr, yield handleYield) bool {
	array, err := target.Pointer(t.mem, at+target.Addr(t.o.Bucket.Table))
	if err != nil {
		return yield(Handle{}, err)
	}
	for i := range limits.GCHeaps {
		expected := i < t.subHeaps
		if !expected && !t.server {
			return true
		}
		table, err := target.Pointer(t.mem, array+target.Addr(8*i))
		if !expected && (err != nil || table == 0 || t.seen[table]) {
			return true
		}
		if err == nil && (table == 0 || t.seen[table]) {
			continue
		}
		t.seen[table] = true
		var segment target.Addr
		if err == nil {
			segment, err = t.firstSegment(table)
		}
		if err != nil && !expected {
			return true
		}
		if err != nil {
			if !yield(Handle{}, fmt.Errorf("table of heap %d: %w", i, err)) {
				return false
			}
			continue
		}
		if !t.table(table, segment, i, yield) {
			return false
		}
	}
	return true
}

// tableSearch is the number of bytes of a table to search for its list of segments if it is not at the layout's
// offset. The lock before it has different sizes in builds for different operating systems.
const tableSearch = 0x200

// firstSegment finds the list of a table's segments. If it finds none and the one at the layout's offset is not
// in the dump, it returns that error.
func (t *handleTables) firstSegment(table target.Addr) (target.Addr, error) {
	var missing error
	if off := t.o.Table.SegmentList; off != layout.Absent {
		s, err := target.Pointer(t.mem, table+target.Addr(off))
		if err != nil {
			return 0, err
		}
		if err := t.checkSegment(s, table); err == nil {
			return s, nil
		} else if errors.Is(err, target.ErrNotInDump) {
			missing = err
		}
	}
	b, err := target.Bytes(t.mem, table, tableSearch)
	if err != nil {
		return 0, err
	}
	for ; len(b) > 0; b = b[8:] {
		if s := target.Addr(le64(b)); t.checkSegment(s, table) == nil {
			return s, nil
		}
	}
	if missing != nil {
		return 0, missing
	}
	return 0, target.Corruptf("no segment belongs to handle table %#x", uint64(table))
}

// checkSegment proves that a segment of table is at s.
func (t *handleTables) checkSegment(s, table target.Addr) error {
	if s == 0 || uint64(s)&uint64(t.o.Segment.Size-1) != 0 {
		return target.Corruptf("%#x is not a segment of a handle table", uint64(s))
	}
	own, err := target.Pointer(t.mem, s+target.Addr(t.o.Segment.Table))
	if err == nil && own != table {
		err = target.Corruptf("segment %#x belongs to handle table %#x, not %#x", uint64(s), uint64(own), uint64(table))
	}
	return err
}

// table visits the segments of a table.
func (t *handleTables) table(table, segment target.Addr, index int, yield handleYield) bool {
	for segment != 0 {
		if t.seen[segment] || len(t.seen) > limits.HandleSegments {
			return yield(Handle{}, target.Corruptf("the list of segments of handle table %#x does not end", uint64(table)))
		}
		t.seen[segment] = true
		if err := t.checkSegment(segment, table); err != nil {
			return yield(Handle{}, err)
		}
		head, err := target.Bytes(t.mem, segment, t.o.Segment.Values)
		if err != nil {
			return yield(Handle{}, err)
		}
		if !t.segment(segment, head, index, yield) {
			return false
		}
		segment = target.Addr(le64(head[t.o.Segment.Next:]))
	}
	return true
}

// freeBlock is the type of an unused block, and the user data of a block without any (handletablepriv.h,
// TYPE_INVALID, BLOCK_INVALID).
const freeBlock = 0xff

// segment visits the handles of a segment.
func (t *handleTables) segment(at target.Addr, head []byte, table int, yield handleYield) bool {
	types := head[t.o.Segment.BlockType:][:t.o.blocks]
	for i, typ := range types {
		if typ > t.o.dataBlock && typ != freeBlock {
			return yield(Handle{}, target.Corruptf("block %d of segment %#x has type %d", i, uint64(at), typ))
		}
	}
	for i, typ := range types {
		if typ >= t.o.dataBlock {
			continue
		}
		if !t.block(at, i, head[t.o.Segment.UserData+i], Handle{Type: HandleType(typ), Table: table}, yield) {
			return false
		}
	}
	return true
}

// block visits the handles of a block. extra is the block of their second words. proto holds the members that
// they share.
func (t *handleTables) block(segment target.Addr, index int, extra byte, proto Handle, yield handleYield) bool {
	at, values, err := t.values(segment, index)
	if err != nil {
		return yield(Handle{}, err)
	}
	var second []byte
	if extra != freeBlock {
		if int(extra) >= t.o.blocks {
			return yield(Handle{}, target.Corruptf("block %d of segment %#x has its data in block %d", index, uint64(segment), extra))
		}
		if _, second, err = t.values(segment, int(extra)); err != nil && !yield(Handle{}, err) {
			return false
		}
	}
	for i := range t.o.perBlock {
		e := proto
		e.Addr, e.Object = at+target.Addr(handleSize*i), target.Addr(le64(values[handleSize*i:]))
		if e.Object == 0 {
			continue
		}
		if second != nil {
			e.Extra = le64(second[handleSize*i:])
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// values returns the words of a block and their address.
func (t *handleTables) values(segment target.Addr, block int) (target.Addr, []byte, error) {
	size := handleSize * t.o.perBlock
	at := segment + target.Addr(t.o.Segment.Values+block*size)
	b, err := target.Bytes(t.mem, at, size)
	return at, b, err
}

// HandleAt reads the handle with the slot a. Its Object is 0 if the handle was cleared. It returns
// target.ErrCorrupt for an address outside of all segments of handle tables.
func (h *Heap) HandleAt(a target.Addr) (Handle, error) {
	e, _, err := h.HandleSlots(a)
	return e, err
}

// HandleSlots is HandleAt, and also returns the address of the second word of types that have one, else 0.
func (h *Heap) HandleSlots(a target.Addr) (e Handle, second target.Addr, err error) {
	t, err := h.openHandleTables()
	if err != nil {
		return Handle{}, 0, err
	}
	return t.handle(a)
}

// handle returns the handle with the slot a and the address of its second word.
func (t *handleTables) handle(a target.Addr) (e Handle, second target.Addr, err error) {
	segment := a &^ target.Addr(t.o.Segment.Size-1)
	head, err := target.Bytes(t.mem, segment, t.o.Segment.Values)
	if err != nil {
		return Handle{}, 0, err
	}
	if _, err := t.firstSegment(target.Addr(le64(head[t.o.Segment.Table:]))); err != nil {
		return Handle{}, 0, fmt.Errorf("handle %#x: %w", uint64(a), err)
	}
	index := (int(a-segment) - t.o.Segment.Values) / handleSize
	block := index / t.o.perBlock
	if int(a-segment) < t.o.Segment.Values || a%handleSize != 0 || block >= t.o.blocks {
		return Handle{}, 0, target.Corruptf("%#x is not a handle", uint64(a))
	}
	typ := head[t.o.Segment.BlockType+block]
	if typ >= t.o.dataBlock {
		return Handle{}, 0, target.Corruptf("%#x is not a handle: block %d of its segment has none", uint64(a), block)
	}
	e = Handle{Addr: a, Type: HandleType(typ)}
	if e.Object, err = target.Pointer(t.mem, a); err != nil {
		return Handle{}, 0, err
	}
	if extra := head[t.o.Segment.UserData+block]; extra != freeBlock {
		if int(extra) >= t.o.blocks {
			return Handle{}, 0, target.Corruptf("block %d of segment %#x has its data in block %d", block, uint64(segment), extra)
		}
		second = segment + target.Addr(t.o.Segment.Values+handleSize*(int(extra)*t.o.perBlock+index%t.o.perBlock))
		word, err := target.Pointer(t.mem, second)
		if err != nil {
			return Handle{}, 0, err
		}
		e.Extra = uint64(word)
	}
	return e, second, nil
}
