package code

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// MethodOfEntry returns the method that a call to address a reaches: the one
// whose code lies there, or the one whose precode does. A precode is the small
// stub that stands for a method before, and often after, it is compiled
// (precode.h). An address that is neither is ErrNoCode.
func (r *Reader) MethodOfEntry(a target.Addr) (*MethodDesc, error) {
	info, err := r.MethodAt(a)
	if err == nil && info.Method != nil {
		return info.Method, nil
	}
	if err != nil && !errors.Is(err, ErrNoCode) && !errors.Is(err, target.ErrNotInDump) {
		return nil, err
	}
	md, perr := r.precodeMethod(a)
	if perr != nil {
		return nil, fmt.Errorf("precode at %016x: %w", uint64(a), perr)
	}
	return md, nil
}

// precodeBytes is how much of a precode tells which it is.
const precodeBytes = 24

// precodeMethod decodes the precode at a. Its instructions load the MethodDesc
// into the register R10, from a word of the data page behind the code (.NET 7
// and later) or as a constant (StubPrecode before). The FixupPrecode before 7
// loads nothing: it ends with its place in a chunk of precodes and that of its
// MethodDesc in a MethodDescChunk.
func (r *Reader) precodeMethod(a target.Addr) (*MethodDesc, error) {
	if arch := r.rt.Target().Platform().Arch; arch != target.ArchAMD64 {
		return nil, target.Unsupportedf("precodes of %v", arch)
	}
	b, err := target.Bytes(r.mem, a, precodeBytes)
	if err != nil {
		return nil, err
	}
	switch {
	case isLoadR10(b): // StubPrecode
		return r.methodBehind(a, b, 0)
	case b[0] == 0xff && b[1] == 0x25 && isLoadR10(b[6:]): // FixupPrecode: jmp [rip+n] first
		return r.methodBehind(a, b, 6)
	case b[0] == 0x49 && b[1] == 0xba: // mov r10, constant
		return r.MethodDesc(target.Addr(binary.LittleEndian.Uint64(b[2:])))
	case b[0] == 0xe8 || b[0] == 0xe9: // call or jmp, then type and indexes
		return r.chunkedPrecode(a, b)
	}
	return nil, ErrNoCode
}

// isLoadR10 reports whether b starts with mov r10, [rip+n].
func isLoadR10(b []byte) bool { return b[0] == 0x4c && b[1] == 0x8b && b[2] == 0x15 }

// methodBehind reads the MethodDesc that the instruction at offset off loads.
func (r *Reader) methodBehind(a target.Addr, b []byte, off int) (*MethodDesc, error) {
	const size = 7 // of the instruction
	disp := int32(binary.LittleEndian.Uint32(b[off+3:]))
	md, err := target.Pointer(r.mem, a+target.Addr(off+size)+target.Addr(int64(disp)))
	if err != nil {
		return nil, err
	}
	return r.MethodDesc(md)
}

// The FixupPrecode before .NET 7 (FixupPrecode, i386/stublinkerx86.h): eight
// bytes, of which the last two count units: the precodes behind this one in its
// chunk, and the MethodDesc's distance from the base that stands behind them.
const (
	fixupPrecodeSize   = 8
	fixupMethodIndex   = 6
	fixupPrecodeIndex  = 7
	methodDescUnit     = 8 // MethodDesc::ALIGNMENT
	fixupPrecodeJumped = 0x5f
	fixupPrecodeCalled = 0x5e
)

func (r *Reader) chunkedPrecode(a target.Addr, b []byte) (*MethodDesc, error) {
	if kind := b[5]; kind != fixupPrecodeJumped && kind != fixupPrecodeCalled {
		return nil, ErrNoCode
	}
	end := a + target.Addr(fixupPrecodeSize*(1+int(b[fixupPrecodeIndex])))
	base, err := target.Pointer(r.mem, end)
	if err != nil {
		return nil, err
	}
	return r.MethodDesc(base + target.Addr(methodDescUnit*int(b[fixupMethodIndex])))
}
