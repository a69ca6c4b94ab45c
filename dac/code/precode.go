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
// into a register, R10 or X12, from a word of the data page behind the code (.NET 7
// and later) or as a constant (StubPrecode before). The FixupPrecode before 7 of AMD64
// loads nothing: it ends with its place in a chunk of precodes and that of its
// MethodDesc in a MethodDescChunk.
func (r *Reader) precodeMethod(a target.Addr) (*MethodDesc, error) {
	arch := r.rt.Target().Platform().Arch
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

// precodeARM64 decodes the precode at a, of which b are the bytes (arm64/thunktemplates.S): it loads where it goes on into X10
// (StubPrecode) or X11 (FixupPrecode), and the MethodDesc into X12. Before 7, a StubPrecode loaded both at once from behind
// itself, by X9.
func (r *Reader) precodeARM64(a target.Addr, b []byte) (*MethodDesc, error) {
	const (
		mask, load         = 0xff000000, 0x58000000 // ldr register, place
		first, second, md  = 10, 11, 12
		oldPlace, oldLoads = 0x10000089, 0xa940312a // adr x9, 16; ldp x10, x12, [x9]
		oldMethod          = 24
	)
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

// methodBehind reads the MethodDesc that the instruction at offset off loads.
func (r *Reader) methodBehind(a target.Addr, b []byte, off int) (*MethodDesc, error) {
	const size = 7 // of the instruction
	disp := int32(binary.LittleEndian.Uint32(b[off+3:]))
	md, err := target.Pointer(r.mem, a+target.Addr(off+size)+target.Addr(int64(disp)))
	if err != nil {
		return nil, err
	}
	return r.TrustedMethodDesc(md)
}

// The FixupPrecode before .NET 7 (precode.h, FixupPrecode): a call or a jump,
// a type, and two indexes: of its MethodDesc in units from the base that stands
// behind the chunk of precodes, and of how many precodes come before that.
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

// chunkedPrecode decodes the precode at a, of which b are the bytes.
func (r *Reader) chunkedPrecode(a target.Addr, b []byte) (*MethodDesc, error) {
	op, kind := b[0], b[fixupPrecodeType]
	if op != fixupPrecodeCall && op != fixupPrecodeJump || kind != fixupPrecodeJumped && kind != fixupPrecodeCalled {
		return nil, ErrNoCode
	}
	end := a + target.Addr(fixupPrecodeSize*(1+int(b[fixupPrecodeIndex])))
	base, err := target.Pointer(r.mem, end)
	if err != nil {
		return nil, err
	}
	return r.TrustedMethodDesc(base + target.Addr(mdAlignment*int(b[fixupMethodIndex])))
}

// MethodOfChunkedPrecode returns the method whose FixupPrecode before .NET 7
// stands at a. That the method's own entry point is there proves it; another
// address is ErrNoCode.
func (r *Reader) MethodOfChunkedPrecode(a target.Addr) (*MethodDesc, error) {
	b, err := target.Bytes(r.mem, a, fixupPrecodeSize)
	if err != nil {
		return nil, err
	}
	m, err := r.chunkedPrecode(a, b)
	if err != nil {
		return nil, err
	}
	entry, err := r.MethodEntry(m)
	if err == nil && entry != a {
		err = ErrNoCode
	}
	return m, err
}

// precodeReach is more than lies between a precode and its data, which are on
// pages side by side, of 64 KiB at most.
const precodeReach = 65 << 10

// MethodOfPrecodeSlot returns the method whose precode jumps through the word at
// slot (.NET 7 and later): its MethodDesc stands beside that, before or behind
// it (precode.h, FixupPrecodeData, StubPrecodeData). That the method's own entry
// point is close by proves it; another word is ErrNoCode.
func (r *Reader) MethodOfPrecodeSlot(slot target.Addr) (*MethodDesc, error) {
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
