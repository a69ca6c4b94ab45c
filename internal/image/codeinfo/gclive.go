package codeinfo

import (
	"math/bits"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A FrameState describes a frame for the lookup of its live slots.
type FrameState uint8

// The properties of a frame (runtime: eetwain.h, ICodeManagerFlags).
const (
	// ActiveFrame is a frame that runs, or will continue at this very instruction: the leaf, or the
	// frame under a resumable or redirected one. Only in such a frame do scratch registers hold
	// references.
	ActiveFrame FrameState = 1 << iota
	// ExecutionAborted is a frame that faulted and won't continue here. In interruptible code it
	// reports live slots, in a method without such code its untracked slots, and otherwise nothing
	// (gcinfodecoder.cpp, EnumerateLiveSlots; 3.1 to 11).
	ExecutionAborted
	// ParentOfFunclet is a frame of a method with a funclet that was reported before. The funclet
	// reported the untracked slots, and with ReportLeafOnly all others, too.
	ParentOfFunclet
	NoUntracked // omits the untracked slots: a filter funclet, whose parent reports them
	// FrameSlotsOnly omits everything that is not relative to the frame register: the parent of a
	// funclet that shares its frame.
	FrameSlotsOnly
)

// A Query selects an instruction for [GCDecoder.LiveSlots].
type Query struct {
	// Offset is the distance of the frame's instruction pointer from the method's start, in bytes.
	// For a frame that made a call, it is the return address.
	Offset uint32
	State  FrameState
	// ABI is the convention of the method's calls, which determines the scratch registers. If it is
	// nil, only registers that all conventions preserve count as preserved.
	ABI *target.ABI
}

// LiveSlots appends to dst the slots that hold references at an instruction, in the order of the
// slot table.
//
// At an instruction without a record only the untracked slots are live. Errors are
// target.ErrCorrupt; dst is then returned unchanged.
func (d *GCDecoder) LiveSlots(dst []Slot, q Query) ([]Slot, error) {
	if d.ReportLeafOnly && q.State&ParentOfFunclet != 0 {
		return dst, nil
	}
	out, err := d.liveSlots(dst, q)
	for err != nil && d.grow() {
		out, err = d.liveSlots(dst, q)
	}
	if err != nil {
		return dst, d.missingError(err)
	}
	return out, nil
}

func (d *GCDecoder) liveSlots(dst []Slot, q Query) ([]Slot, error) {
	d.r.bad = readOK
	at, known := d.lookup(q)
	if !known && q.State&ExecutionAborted != 0 && len(d.ranges) > 0 {
		return dst, nil
	}
	if known && d.tracked > 0 {
		d.r.seek(d.live)
		if at.point >= 0 {
			dst = d.liveAtPoint(dst, at.point, q)
		} else {
			dst = d.liveInRange(dst, at.position, q)
		}
		if err := d.r.err(); err != nil {
			return nil, err
		}
	}
	if q.State&(ParentOfFunclet|NoUntracked) != 0 {
		return dst, nil
	}
	for _, s := range d.Untracked() {
		// An untracked slot is never a scratch slot.
		if q.State&FrameSlotsOnly == 0 || s.Base == BaseFrame {
			dst = append(dst, s)
		}
	}
	return dst, nil
}

// Records reports whether the method records which slots are live at q's instruction. If it does
// not, a collection never finds a frame there, and the content of tracked slots is unknown.
func (d *GCDecoder) Records(q Query) bool {
	_, known := d.lookup(q)
	return known || d.tracked == 0
}

// LiveAtSafePoint appends to dst all tracked slots that are live at the i-th of SafePointOffsets,
// including those that the callee destroys: the result registers. Errors are target.ErrCorrupt; dst
// is then returned unchanged.
func (d *GCDecoder) LiveAtSafePoint(dst []Slot, i int) ([]Slot, error) {
	out, err := d.allAtPoint(dst, i)
	for err != nil && d.grow() {
		out, err = d.allAtPoint(dst, i)
	}
	if err != nil {
		return dst, d.missingError(err)
	}
	return out, nil
}

func (d *GCDecoder) allAtPoint(dst []Slot, i int) ([]Slot, error) {
	d.r.bad = readOK
	if d.tracked == 0 {
		return dst, nil
	}
	d.r.seek(d.live)
	dst = d.liveAtPoint(dst, i, Query{State: ActiveFrame})
	return dst, d.r.err()
}

// A place identifies the record of live slots for an instruction: a safe point, or a position in
// the interruptible code.
type place struct {
	point    int // -1 for a position
	position uint32
}

// lookup finds the place for q. The rules are the runtime's for each version. Before 4 a safe point
// is an offset inside its call, so a frame that made a call looks up the byte before its return
// address. From 3 on an active frame can be at a safe point, too.
func (d *GCDecoder) lookup(q Query) (place, bool) {
	offset := q.Offset
	within := q.State&(ActiveFrame|ExecutionAborted) == 0 || d.Version == 3 && len(d.ranges) == 0
	if d.Version < 4 && within && offset > 0 {
		offset--
	}
	if q.State&ExecutionAborted == 0 {
		if i, ok := d.findSafePoint(offset); ok {
			return place{point: i}, true
		}
	}
	position, ok := d.findRange(offset)
	return place{point: -1, position: position}, ok
}

func (d *GCDecoder) report(dst []Slot, i int, q Query) []Slot {
	s := d.slots[i]
	if q.State&FrameSlotsOnly != 0 && s.Base != BaseFrame {
		return dst
	}
	if q.State&ActiveFrame == 0 && d.isScratch(s, q.ABI) {
		return dst
	}
	return append(dst, s)
}

// isScratch reports whether a call destroys s: a register that callees don't preserve, or an
// outgoing argument.
func (d *GCDecoder) isScratch(s Slot, abi *target.ABI) bool {
	switch s.Base {
	case BaseRegister:
		if abi == nil {
			return !d.enc.Preserved.Has(s.Reg)
		}
		return !abi.Preserves(s.Reg)
	case BaseSP:
		return s.Offset >= 0 && uint32(s.Offset) < d.OutgoingArea
	}
	return false
}

// indirectBits reads the width of offsets to the safe points' states. 0 means that the states
// follow each other.
func (d *GCDecoder) indirectBits() uint64 {
	if d.SafePoints == 0 || !d.r.bit() {
		return 0
	}
	return d.pointerBits(1)
}

// pointerBits reads the width of offsets into GC info.
func (d *GCDecoder) pointerBits(plus uint64) uint64 {
	n := uint64(d.r.uvarint(basePointerSize)) + plus
	if n > 32 {
		d.r.fail(readMalformed)
		return 0
	}
	return n
}

// liveAtPoint appends the slots that are live at a safe point.
func (d *GCDecoder) liveAtPoint(dst []Slot, point int, q Query) []Slot {
	r := &d.r
	width := d.indirectBits()
	var v slotVector
	if width == 0 {
		r.skip(uint64(point), uint64(d.tracked))
		v = slotVector{r: *r, n: d.tracked}
	} else {
		table := r.pos
		r.skip(uint64(point), width)
		offset := r.read(width)
		r.seek(table)
		r.skip(uint64(d.SafePoints), width)
		r.align()
		r.skip(offset, 1)
		v = newSlotVector(*r, d.tracked)
	}
	for i, ok := v.next(); ok; i, ok = v.next() {
		dst = d.report(dst, i, q)
	}
	*r = v.r
	return dst
}

// A chunkTable locates the chunks with the states of interruptible code.
type chunkTable struct {
	start uint64 // bit position of the pointers
	width uint64 // of a pointer
	base  uint64 // bit position that pointers are relative to, minus one
}

// chunkTable reads the position of the table, and whether there are any chunks.
func (d *GCDecoder) chunkTable() (chunkTable, bool) {
	r := &d.r
	r.seek(d.live)
	if d.indirectBits() != 0 {
		// Only methods without ranges have such states.
		r.fail(readMalformed)
	}
	r.skip(uint64(d.SafePoints), uint64(d.tracked))
	t := chunkTable{width: d.pointerBits(0)}
	t.start = r.pos
	r.skip(uint64(d.interrupts>>d.shift+chunkSize-1)/chunkSize, t.width)
	r.align()
	t.base = r.pos
	return t, t.width != 0 && r.bad == readOK
}

// seekChunk seeks to a chunk. It reports false if the chunk has no data: all states are as in the
// previous chunk.
func (d *GCDecoder) seekChunk(t chunkTable, chunk uint32) bool {
	d.r.seek(t.start + uint64(chunk)*t.width)
	pointer := d.r.read(t.width)
	if pointer == 0 {
		return false
	}
	d.r.seek(t.base)
	d.r.skip(pointer-1, 1)
	return d.r.bad == readOK
}

// liveInRange appends the slots that are live at a position of the interruptible code.
//
// A chunk lists the slots that change in it or are live after it, then the state of each of these
// at its end, then for each the offsets at which it changes.
func (d *GCDecoder) liveInRange(dst []Slot, position uint32, q Query) []Slot {
	t, ok := d.chunkTable()
	if !ok {
		return dst
	}
	position >>= d.shift
	chunk := position / chunkSize
	own := d.seekChunk(t, chunk)
	for found := own; !found; found = d.seekChunk(t, chunk) {
		if chunk == 0 || d.r.bad != readOK {
			return dst
		}
		chunk--
	}
	r := &d.r
	start := *r
	v := newSlotVector(start, d.tracked)
	count := v.count()
	finals := v.r
	*r = finals
	r.skip(count, 1)
	v = newSlotVector(start, d.tracked)
	for i, ok := v.next(); ok; i, ok = v.next() {
		live := finals.bit()
		for own && r.bit() {
			if uint32(r.read(chunkOffsetBits)) > position%chunkSize {
				live = !live
			}
		}
		if live {
			dst = d.report(dst, i, q)
		}
	}
	if finals.bad != readOK {
		r.fail(finals.bad)
	}
	return dst
}

// A slotVector is a set of slots, encoded as one bit per slot, or as alternating runs of slots
// outside and inside of the set.
type slotVector struct {
	r     bitReader
	n     int // slots
	index int // of the next slot
	rle   bool
	run   int    // slots left in a run
	out   uint64 // group width of the lengths of runs outside the set
	in    uint64 // and of runs inside
	first bool   // the first run outside can be empty
}

// newSlotVector decodes a set of n slots. The first bits determine its form.
func newSlotVector(r bitReader, n int) slotVector {
	v := slotVector{r: r, n: n}
	if !v.r.bit() {
		return v
	}
	v.rle, v.first, v.out, v.in = true, true, baseSkip, baseRun
	if v.r.bit() {
		v.out, v.in = baseRun, baseSkip
	}
	return v
}

func (v *slotVector) next() (int, bool) {
	if v.r.bad != readOK {
		return 0, false
	}
	if v.rle {
		return v.nextInRuns()
	}
	for v.index < v.n {
		n := min(uint64(v.n-v.index), maxRead, v.r.left())
		if n == 0 {
			v.r.fail(readShort)
			return 0, false
		}
		w := v.r.peek(n)
		if w == 0 {
			v.r.pos += n
			v.index += int(n)
			continue
		}
		zeros := bits.TrailingZeros64(w)
		v.r.pos += uint64(zeros) + 1
		v.index += zeros + 1
		return v.index - 1, true
	}
	return 0, false
}

func (v *slotVector) nextInRuns() (int, bool) {
	if v.run == 0 {
		if v.index >= v.n {
			return 0, false
		}
		gap := uint64(v.r.uvarint(v.out))
		if !v.first {
			gap++
		}
		v.first = false
		if v.r.bad != readOK || gap >= uint64(v.n-v.index) {
			v.index = v.n
			return 0, false
		}
		v.index += int(gap)
		run := uint64(v.r.uvarint(v.in)) + 1
		if run > uint64(v.n-v.index) {
			v.r.fail(readMalformed)
		}
		if v.r.bad != readOK {
			return 0, false
		}
		v.run = int(run)
	}
	v.run--
	v.index++
	return v.index - 1, true
}

// count skips the rest of the set and returns the number of its slots.
func (v *slotVector) count() uint64 {
	var n uint64
	for _, ok := v.next(); ok; _, ok = v.next() {
		n++
	}
	return n
}

// ChangeOffsets returns the offsets, ascending, at which the set of live slots can change: bounds
// of the interruptible ranges, recorded changes, and safe points. The slice is valid until the next
// call of a method.
func (d *GCDecoder) ChangeOffsets() ([]uint32, error) {
	out, err := d.changeOffsets()
	for err != nil && d.grow() {
		out, err = d.changeOffsets()
	}
	return out, d.missingError(err)
}

func (d *GCDecoder) changeOffsets() ([]uint32, error) {
	d.r.bad = readOK
	out := d.points[:0]
	for i := range d.SafePoints {
		p := d.safePoint(i)
		out = append(out, p<<d.shift, (p+1)<<d.shift)
	}
	t, ok := chunkTable{}, false
	if len(d.ranges) > 0 && d.tracked > 0 {
		t, ok = d.chunkTable()
	}
	var before uint32
	for _, r := range d.ranges {
		out = append(out, r.Start, r.End)
		end := before + (r.End-r.Start)>>d.shift
		for chunk := before / chunkSize; ok && chunk*chunkSize < end; chunk++ {
			out = d.chunkChanges(out, t, chunk, before, r)
		}
		before = end
	}
	if err := d.r.err(); err != nil {
		return nil, err
	}
	slices.Sort(out)
	d.points = slices.Compact(out)
	return d.points, nil
}

// chunkChanges appends the offsets in r at which slots change in a chunk, including the start of
// the chunk. before is the position of r's start, in units.
func (d *GCDecoder) chunkChanges(out []uint32, t chunkTable, chunk, before uint32, r CodeRange) []uint32 {
	if !d.seekChunk(t, chunk) {
		return out
	}
	add := func(position uint32) {
		if position >= before && position-before < (r.End-r.Start)>>d.shift {
			out = append(out, r.Start+(position-before)<<d.shift)
		}
	}
	add(chunk * chunkSize)
	v := newSlotVector(d.r, d.tracked)
	n := v.count()
	d.r = v.r
	d.r.skip(n, 1)
	for ; n > 0 && d.r.bad == readOK; n-- {
		for d.r.bit() {
			add(chunk*chunkSize + uint32(d.r.read(chunkOffsetBits)))
		}
	}
	return out
}
