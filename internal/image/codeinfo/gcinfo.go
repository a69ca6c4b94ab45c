package codeinfo

import (
	"cmp"
	"math"
	"sort"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// The versions of the encoding that [GCDecoder] reads. 2 and 3 have one form and differ in what an
// active frame reports. 4 has no return kind and no PSPSym, and records the return addresses of
// calls unchanged.
const (
	minGCInfoVersion = 2
	maxGCInfoVersion = 4
)

// GCInfoVersionReadyToRun returns the version of the GC info in a ReadyToRun image with the major
// version in its header (runtime: gcinfo.h, ReadyToRunVersionToGcInfoVersion). It does not depend
// on the runtime that loads the image.
func GCInfoVersionReadyToRun(major uint16) int {
	if major >= 11 {
		return 4
	}
	return 3
}

// Bits of a fat header (runtime: gcinfodecoder.h, GcInfoHeaderFlags).
const (
	headerVarArg         = 1 << 0
	headerGSCookie       = 1 << 2
	headerPSPSym         = 1 << 3
	headerContextShift   = 4 // two bits: a GenericContext
	headerStackBase      = 1 << 6
	headerReportLeafOnly = 1 << 7
	headerEnC            = 1 << 8
	headerReversePInvoke = 1 << 9
	headerBits           = 10
)

// An encoding holds the differences between processors (runtime: gcinfotypes.h, AMD64GcInfoEncoding
// and ARM64GcInfoEncoding).
type encoding struct {
	*target.Processor
	stackBase, numRegisters, numSafePoints uint64 // group widths
	// unit is the binary logarithm of the instruction size in bytes, if that is fixed. Lengths of
	// code are then in instructions, and since version 4 offsets in code too. Before version 4 the
	// offset of a safe point was inside its call.
	unit uint
	// leafOnly is set if frames of a method never report anything after one of its funclets was
	// reported, whatever the flags are. The bit for it then marks tail calls.
	leafOnly bool
}

// The encodings, which are made on first use.
var (
	encodingAMD64 = sync.OnceValue(func() *encoding {
		return &encoding{Processor: target.AMD64(), stackBase: 3, numRegisters: 2, numSafePoints: 2}
	})
	encodingARM64 = sync.OnceValue(func() *encoding {
		return &encoding{Processor: target.ARM64(), stackBase: 2, numRegisters: 3, numSafePoints: 3, unit: 2, leafOnly: true}
	})
)

// encodingOf returns the encoding of a processor, or nil if it is not supported.
func encodingOf(arch target.Arch) *encoding {
	switch arch {
	case target.ArchAMD64, target.ArchUnknown:
		return encodingAMD64()
	case target.ArchARM64:
		return encodingARM64()
	}
	return nil
}

// Group widths of numbers that are equal on all supported processors.
const (
	baseStackSlotHeader = 6 // GS cookie, PSPSym, generic context, reverse P/Invoke frame
	baseCodeLength      = 8
	baseStackArea       = 3
	baseEnCArea         = 4
	baseNumStackSlots   = 2
	baseNumUntracked    = 1
	basePrologSize      = 5
	baseEpilogSize      = 3
	baseRange           = 6
	baseRegister        = 3
	baseRegisterDelta   = 2
	baseStackSlot       = 6
	baseStackSlotDelta  = 4
	baseNumRanges       = 1
	basePointerSize     = 3
	baseRun             = 2
	baseSkip            = 4

	returnKindBitsSlim = 2
	returnKindBitsFat  = 4

	chunkOffsetBits = 6 // a chunk covers 64 units of interruptible code
	chunkSize       = 1 << chunkOffsetBits
	slotAlignShift  = 3 // stack offsets are stored in units of 8 bytes
)

// A GenericContext is the kind of a shared generic method's context, which gives its exact type
// arguments.
type GenericContext uint8

// The kinds of generic context.
const (
	ContextNone        GenericContext = iota // not shared, or not stored
	ContextMethodTable                       // a MethodTable, passed as a hidden argument
	ContextMethodDesc                        // a MethodDesc, passed as a hidden argument
	ContextThis                              // the object's MethodTable; the slot holds the object
)

// A ReturnKind describes whether the two result registers, RAX and RDX or X0 and X1, hold
// references. It has two bits for each register, the first register in the low bits: 1 is an object
// and 2 a managed pointer. GC info of version 4 does not record it.
type ReturnKind uint8

// String returns the kind in SOS's words.
func (k ReturnKind) String() string {
	names := [...]string{"Scalar", "Object", "ByRef", "UNSET"}
	low, high := k&3, k>>2&3
	if high == 0 {
		return names[low]
	}
	if low == 3 || high == 3 {
		return "!Impossible!"
	}
	return "{" + names[low] + ", " + names[high] + "}"
}

// A StackOffset is an offset in a frame in the header of GC info, in bytes. Zero is a valid offset,
// so Present reports whether there is one.
type StackOffset struct {
	Offset  int32
	Present bool
}

// A CodeRange is a half-open range of code, in bytes from the method's start.
type CodeRange struct{ Start, End uint32 }

// A GCHeader is the fixed part of a method's GC info.
type GCHeader struct {
	Version        int
	Slim           bool // the two-bit header: many fields are absent
	VarArg         bool
	ReportLeafOnly bool // a frame reports nothing after one of its funclets was reported
	TailCalls      bool // the method makes tail calls; only on processors where ReportLeafOnly is always set

	Return    ReturnKind // versions 2 and 3
	HasReturn bool

	CodeLength uint32 // bytes, including funclets and the cold part
	PrologSize uint32 // bytes; 0 if not recorded, without a GS cookie and a generic context

	// GSCookie, ContextSlot and ReversePInvokeFrame are relative to the frame register, or to the
	// stack pointer if there is none. Before version 4 the first two are relative to the caller's
	// stack pointer ([GCHeader.ContextPlace]).
	GSCookie            StackOffset
	GSCookieRange       CodeRange   // where the cookie is valid
	PSPSym              StackOffset // relative to the stack pointer after the prolog; versions 2 and 3
	Context             GenericContext
	ContextSlot         StackOffset
	ReversePInvokeFrame StackOffset

	StackBase    target.Reg // the frame register
	HasStackBase bool

	EnCArea    uint32 // bytes of the frame that Edit and Continue preserves
	HasEnCArea bool

	// OutgoingArea is the size in bytes of the area at the stack pointer for the arguments of
	// callees. The callee owns it during a call.
	OutgoingArea uint32

	SafePoints int // number of them
}

// ContextPlace returns where a method stores its generic context. It reports false if it does not.
func (h *GCHeader) ContextPlace() (Slot, bool) {
	s := Slot{Base: BaseSP, Offset: h.ContextSlot.Offset}
	switch {
	case h.Version < 4:
		s.Base = BaseCallerSP
	case h.HasStackBase:
		s.Base, s.Reg = BaseFrame, h.StackBase
	}
	return s, h.Context != ContextNone && h.ContextSlot.Present
}

// A GCDecoder decodes the GC info of methods, one after the other, and reuses its memory. The zero
// value is ready for [GCDecoder.Reset]. It is for one goroutine.
//
// The encoding is defined by gcinfodecoder.cpp and gcinfotypes.h of the runtime.
type GCDecoder struct {
	// Arch is the processor of the code, which determines the encoding: AMD64 or ARM64. Zero means
	// AMD64.
	Arch target.Arch
	GCHeader

	enc        *encoding
	r          bitReader
	pointBits  uint64 // width of a safe point
	pointStart uint64 // bit position of the safe points
	live       uint64 // bit position after the slot table

	ranges     []CodeRange
	interrupts uint32 // bytes of code in ranges
	shift      uint   // offsets in code are stored in units of 1 << shift bytes
	slots      []Slot
	tracked    int // number of slots before the untracked ones

	points []uint32 // reused for offsets
	source source
}

// Reset decodes the GC info that starts with b[0]. Its length is not recorded; later bytes are
// ignored. version is the runtime's for compiled code, [GCInfoVersionReadyToRun] for images.
//
// The decoder keeps b. It fails with target.ErrUnsupported for an unknown version or processor and
// with target.ErrCorrupt for other bytes.
func (d *GCDecoder) Reset(b []byte, version int) error {
	d.source = source{}
	return d.reset(b, version)
}

func (d *GCDecoder) reset(b []byte, version int) error {
	if version < minGCInfoVersion || version > maxGCInfoVersion {
		return target.Unsupportedf("GC info version %d", version)
	}
	if d.enc = encodingOf(d.Arch); d.enc == nil {
		return target.Unsupportedf("GC info of %v", d.Arch)
	}
	d.begin(b[:min(len(b), limits.GCInfoBytes)], version)
	d.ranges, d.slots, d.interrupts, d.tracked = d.ranges[:0], d.slots[:0], 0, 0
	ranges := d.header()
	if err := d.r.err(); err != nil {
		return err
	}
	if err := d.locatePoints(); err != nil {
		return err
	}
	if err := d.readRanges(ranges); err != nil {
		return err
	}
	if err := d.readSlots(); err != nil {
		return err
	}
	d.live = d.r.pos
	return nil
}

// HasTailCallBit reports whether the processor's encoding marks tail calls, with the bit that is
// ReportLeafOnly on others.
func (d *GCDecoder) HasTailCallBit() bool { return d.enc != nil && d.enc.leafOnly }

// begin prepares to read a header.
func (d *GCDecoder) begin(b []byte, version int) {
	d.GCHeader = GCHeader{Version: version, ReportLeafOnly: d.enc.leafOnly}
	if d.shift = 0; version >= 4 {
		d.shift = d.enc.unit
	}
	d.r = bitReader{b: b}
}

// header reads the header and returns the number of interruptible ranges.
func (d *GCDecoder) header() (ranges uint32) {
	r := &d.r
	if !r.bit() {
		d.slimHeader()
		d.SafePoints = int(r.uvarint(d.enc.numSafePoints))
		return 0
	}
	d.fatHeader()
	d.SafePoints = int(r.uvarint(d.enc.numSafePoints))
	return r.uvarint(baseNumRanges)
}

// slimHeader reads the short form of the header.
func (d *GCDecoder) slimHeader() {
	d.Slim = true
	if d.r.bit() {
		d.StackBase, d.HasStackBase = d.enc.FP, true
	}
	d.returnKind(returnKindBitsSlim)
	d.codeLength()
}

// fatStart reads the flags of the long form and the code's length.
func (d *GCDecoder) fatStart() (flags uint64) {
	flags = d.r.read(headerBits)
	d.returnKind(returnKindBitsFat)
	d.codeLength()
	return flags
}

func (d *GCDecoder) codeLength() {
	n := d.r.uvarint(baseCodeLength)
	if n > math.MaxUint32>>d.enc.unit {
		d.r.fail(readMalformed)
		return
	}
	d.CodeLength = n << d.enc.unit
}

func (d *GCDecoder) fatHeader() {
	r := &d.r
	flags := d.fatStart()
	d.VarArg = flags&headerVarArg != 0
	if d.enc.leafOnly {
		d.TailCalls = flags&headerReportLeafOnly != 0
	} else {
		d.ReportLeafOnly = flags&headerReportLeafOnly != 0
	}
	d.Context = GenericContext(flags >> headerContextShift & 3)
	d.prolog(flags&headerGSCookie != 0)
	d.GSCookie = d.stackOffset(flags&headerGSCookie != 0)
	d.PSPSym = d.stackOffset(flags&headerPSPSym != 0 && d.Version < 4)
	d.ContextSlot = d.stackOffset(d.Context != ContextNone)
	if flags&headerStackBase != 0 {
		// The usual frame pointer is stored as 0.
		n := r.uvarint(d.enc.stackBase) ^ uint32(d.enc.FP)
		if !d.isGeneral(n) {
			r.fail(readMalformed)
		}
		d.StackBase, d.HasStackBase = target.Reg(n), true
	}
	if flags&headerEnC != 0 {
		d.EnCArea, d.HasEnCArea = r.uvarint(baseEnCArea), true
	}
	d.ReversePInvokeFrame = d.stackOffset(flags&headerReversePInvoke != 0)
	d.OutgoingArea = r.uvarint(baseStackArea) << slotAlignShift
}

// prolog reads the sizes that accompany a GS cookie or a generic context.
func (d *GCDecoder) prolog(cookie bool) {
	if !cookie && d.Context == ContextNone {
		return
	}
	prolog := d.r.uvarint(basePrologSize)
	if prolog >= limits.MethodCode>>d.shift {
		d.r.fail(readMalformed)
		return
	}
	if d.PrologSize = (prolog + 1) << d.shift; !cookie {
		return
	}
	epilog := min(d.r.uvarint(baseEpilogSize), limits.MethodCode>>d.shift) << d.shift
	if epilog > d.CodeLength || d.PrologSize > d.CodeLength-epilog {
		d.r.fail(readMalformed)
		return
	}
	d.GSCookieRange = CodeRange{d.PrologSize, d.CodeLength - epilog}
}

func (d *GCDecoder) returnKind(width uint64) {
	if d.Version < 4 {
		d.Return, d.HasReturn = ReturnKind(d.r.read(width)), true
	}
}

func (d *GCDecoder) stackOffset(present bool) StackOffset {
	if !present {
		return StackOffset{}
	}
	return StackOffset{d.r.varint(baseStackSlotHeader) << slotAlignShift, true}
}

// locatePoints records the position of the safe points and skips them.
func (d *GCDecoder) locatePoints() error {
	if d.CodeLength == 0 || d.CodeLength > limits.MethodCode {
		return target.Corruptf("GC info: code of %d bytes", d.CodeLength)
	}
	if uint64(d.SafePoints) > uint64(d.CodeLength) {
		return target.Corruptf("GC info has %d safe points in %d bytes of code", d.SafePoints, d.CodeLength)
	}
	d.pointBits, d.pointStart = ceilLog2(d.CodeLength>>d.shift), d.r.pos
	d.r.skip(uint64(d.SafePoints), d.pointBits)
	return d.r.err()
}

// readRanges reads the ranges of interruptible code. They ascend, so the code's length limits their
// number.
func (d *GCDecoder) readRanges(n uint32) error {
	var last uint32
	length := d.CodeLength >> d.shift
	for range n {
		start := d.r.uvarint(baseRange)
		size := d.r.uvarint(baseRange)
		if d.r.bad != readOK {
			return d.r.err()
		}
		if start > length-last || size >= length-last-start {
			return target.Corruptf("GC info has an interruptible range past the code's %d bytes", d.CodeLength)
		}
		start += last
		last = start + size + 1
		d.ranges = append(d.ranges, CodeRange{start << d.shift, last << d.shift})
		d.interrupts += (size + 1) << d.shift
	}
	return nil
}

// Interruptible returns the ranges of code in which the thread can be stopped at every instruction,
// ascending. The slice is valid until the next Reset.
func (d *GCDecoder) Interruptible() []CodeRange { return d.ranges }

// SafePointOffsets returns the offsets after calls for which live slots are recorded, ascending.
// The slice is valid until the next call of a method.
func (d *GCDecoder) SafePointOffsets() []uint32 {
	d.points = d.points[:0]
	for i := range d.SafePoints {
		d.points = append(d.points, d.safePoint(i)<<d.shift+d.callAdjust())
	}
	return d.points
}

// callAdjust returns the difference between a safe point's offset and its stored value. Before
// version 4 the stored value is inside the call.
func (d *GCDecoder) callAdjust() uint32 {
	if d.Version < 4 {
		return 1
	}
	return 0
}

// safePoint returns the stored value of the i-th safe point.
func (d *GCDecoder) safePoint(i int) uint32 {
	r := bitReader{b: d.r.b, pos: d.pointStart + uint64(i)*d.pointBits}
	return uint32(r.read(d.pointBits))
}

// findSafePoint returns the index of the safe point with the stored value for an offset in bytes.
func (d *GCDecoder) findSafePoint(offset uint32) (int, bool) {
	offset >>= d.shift
	return sort.Find(d.SafePoints, func(i int) int { return cmp.Compare(offset, d.safePoint(i)) })
}

// findRange returns the position of offset in the interruptible code, not counting the gaps between
// ranges.
func (d *GCDecoder) findRange(offset uint32) (uint32, bool) {
	var before uint32
	for _, r := range d.ranges {
		if offset < r.Start {
			break
		}
		if offset < r.End {
			return before + offset - r.Start, true
		}
		before += r.End - r.Start
	}
	return 0, false
}
