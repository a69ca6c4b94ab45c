package dac

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// MethodOfEntry returns the method that a call to address a reaches, through its code or its precode. A precode
// is the stub that represents a method before, and often after, its compilation (precode.h). It returns
// ErrNoCode for any other address.
func (r *CodeReader) MethodOfEntry(a target.Addr) (*MethodDesc, error) {
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

// precodeBytes is the number of bytes that identify the kind of a precode.
const precodeBytes = 24

// precodeMethod decodes the precode at a. Its instructions load the MethodDesc into a register, R10 or X12,
// from a word of the data page after the code (.NET 7 and later) or as a constant (StubPrecode before 7). The
// FixupPrecode before 7 on AMD64 ends with its index in a chunk of precodes and the index of its MethodDesc in
// a MethodDescChunk.
func (r *CodeReader) precodeMethod(a target.Addr) (*MethodDesc, error) {
	arch := r.Runtime().Target().Platform().Arch
	if arch != target.ArchAMD64 && arch != target.ArchARM64 {
		return nil, target.Unsupportedf("precodes of %v", arch)
	}
	b, err := target.Bytes(r.mem, a, precodeBytes)
	if err != nil {
		return nil, err
	}
	if arch == target.ArchARM64 {
		return r.precodeARM64(a, b)
	}
	switch {
	case isLoadR10(b): // StubPrecode
		return r.methodBehind(a, b, 0)
	case b[0] == 0xff && b[1] == 0x25 && isLoadR10(b[6:]): // FixupPrecode: jmp [rip+n] first
		return r.methodBehind(a, b, 6)
	case b[0] == 0x49 && b[1] == 0xba: // mov r10, constant
		return r.TrustedMethodDesc(target.Addr(binary.LittleEndian.Uint64(b[2:])))
	}
	return r.chunkedPrecode(a, b)
}

// precodeARM64 decodes the precode at a with the bytes b (arm64/thunktemplates.S). It loads the jump's
// destination into X10 (StubPrecode) or X11 (FixupPrecode), and the MethodDesc into X12. Before 7, a
// StubPrecode loads both from the words after it through X9, and a FixupPrecode loads its own address into X12
// (arm64/cgencpu.h).
func (r *CodeReader) precodeARM64(a target.Addr, b []byte) (*MethodDesc, error) {
	const (
		mask, load         = 0xff000000, 0x58000000 // ldr register, place
		first, second, md  = 10, 11, 12
		oldPlace, oldLoads = 0x10000089, 0xa940312a // adr x9, 16; ldp x10, x12, [x9]
		oldMethod          = 24
	)
	if m, err := r.chunkedPrecodeARM64(a, b); !errors.Is(err, ErrNoCode) {
		return m, err
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	at := a + oldMethod
	switch w := word(0); {
	case w == oldPlace && word(1) == oldLoads:
	case w&mask == load && (w&31 == first || w&31 == second):
		i := 1
		for ; word(i)&(mask|31) != load|md; i++ {
			if 4*(i+2) > len(b) {
				return nil, ErrNoCode
			}
		}
		at = a + target.Addr(4*i) + target.Addr(int64(word(i)>>5)<<45>>45*4)
	default:
		return nil, ErrNoCode
	}
	p, err := target.Pointer(r.mem, at)
	if err != nil {
		return nil, err
	}
	return r.TrustedMethodDesc(p)
}

// isLoadR10 reports whether b starts with mov r10, [rip+n].
func isLoadR10(b []byte) bool { return b[0] == 0x4c && b[1] == 0x8b && b[2] == 0x15 }

// methodBehind reads the MethodDesc loaded by the instruction at offset off.
func (r *CodeReader) methodBehind(a target.Addr, b []byte, off int) (*MethodDesc, error) {
	const size = 7 // size of the instruction
	disp := int32(binary.LittleEndian.Uint32(b[off+3:]))
	md, err := target.Pointer(r.mem, a+target.Addr(off+size)+target.Addr(int64(disp)))
	if err != nil {
		return nil, err
	}
	return r.TrustedMethodDesc(md)
}

// The FixupPrecode before .NET 7 on AMD64 (precode.h, FixupPrecode): a call or a jump, a type, and two indexes.
const (
	fixupPrecodeSize   = 8
	fixupPrecodeCall   = 0xe8
	fixupPrecodeJump   = 0xe9
	fixupPrecodeType   = 5
	fixupPrecodeJumped = 0x5f // already compiled
	fixupPrecodeCalled = 0x5e
	fixupMethodIndex   = 6
	fixupPrecodeIndex  = 7
)

// chunkedPrecode decodes the FixupPrecode at a with the bytes b.
func (r *CodeReader) chunkedPrecode(a target.Addr, b []byte) (*MethodDesc, error) {
	op, kind := b[0], b[fixupPrecodeType]
	if op != fixupPrecodeCall && op != fixupPrecodeJump || kind != fixupPrecodeJumped && kind != fixupPrecodeCalled {
		return nil, ErrNoCode
	}
	return r.indexedPrecode(a, fixupPrecodeSize, b[fixupMethodIndex], b[fixupPrecodeIndex])
}

// chunkedPrecodeARM64 decodes the FixupPrecode of ARM64 at a with the bytes b: two instructions, a jump, a
// type, and the indexes.
func (r *CodeReader) chunkedPrecodeARM64(a target.Addr, b []byte) (*MethodDesc, error) {
	const (
		place, destination = 0x1000000c, 0x5800006b // adr x12, 0; ldr x11, [pc, 12]
		method, precode    = 14, 15
	)
	if binary.LittleEndian.Uint32(b) != place || binary.LittleEndian.Uint32(b[4:]) != destination {
		return nil, ErrNoCode
	}
	return r.indexedPrecode(a, precodeBytes, b[method], b[precode])
}

// indexedPrecode returns the method of a FixupPrecode before .NET 7 by its indexes. method is the index of its
// MethodDesc in units from the base after the chunk of precodes, which have size bytes each. precode is the
// number of precodes between it and that base.
func (r *CodeReader) indexedPrecode(a target.Addr, size int, method, precode byte) (*MethodDesc, error) {
	base, err := target.Pointer(r.mem, a+target.Addr(size*(1+int(precode))))
	if err != nil {
		return nil, err
	}
	return r.TrustedMethodDesc(base + target.Addr(mdAlignment*int(method)))
}

// MethodOfChunkedPrecode returns the method with its FixupPrecode before .NET 7 at a. The method's entry point
// proves it. It returns ErrNoCode for any other address.
func (r *CodeReader) MethodOfChunkedPrecode(a target.Addr) (*MethodDesc, error) {
	size, decode := fixupPrecodeSize, r.chunkedPrecode
	switch arch := r.Runtime().Target().Platform().Arch; arch {
	case target.ArchAMD64:
	case target.ArchARM64:
		size, decode = precodeBytes, r.chunkedPrecodeARM64
	default:
		return nil, target.Unsupportedf("precodes of %v", arch)
	}
	b, err := target.Bytes(r.mem, a, size)
	if err != nil {
		return nil, err
	}
	m, err := decode(a, b)
	if err != nil {
		return nil, err
	}
	entry, err := r.MethodEntry(m)
	if err != nil {
		return nil, err
	}
	if entry != a {
		return nil, ErrNoCode
	}
	return m, nil
}

// precodeReach exceeds the distance in bytes of a precode from its data. They are on adjacent pages of at most
// 64 KiB.
const precodeReach = 65 << 10

// MethodOfPrecodeSlot returns the method with a precode that jumps through the word at slot (.NET 7 and later).
// The MethodDesc is beside that word (precode.h, FixupPrecodeData, StubPrecodeData), and an entry point close
// by proves it. It returns ErrNoCode for any other word.
func (r *CodeReader) MethodOfPrecodeSlot(slot target.Addr) (*MethodDesc, error) {
	for _, at := range []target.Addr{slot + 8, slot - 8} {
		p, err := target.Pointer(r.mem, at)
		if err != nil || p == 0 {
			continue
		}
		m, err := r.TrustedMethodDesc(p)
		if err != nil {
			continue
		}
		if entry, err := r.MethodEntry(m); err == nil && entry < slot && slot-entry < precodeReach {
			return m, nil
		}
	}
	return nil, ErrNoCode
}
