package minidump

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// CONTEXT of winnt.h for AMD64: offsets and the bits of ContextFlags. XSTATE
// data, where there is some, lies behind it.
const (
	amd64ContextSize  = 1232
	amd64ContextFlags = 0x30
	amd64SegCs        = 0x38 // then Ds, Es, Fs, Gs, Ss, a word each
	amd64EFlags       = 0x44
	amd64Rax          = 0x78 // then the integer registers in encoding order
	amd64Rip          = 0xf8
	amd64FltSave      = 0x100
	amd64FltSaveSize  = 512
	amd64Context      = 0x100000
	amd64FloatBit     = 8
)

// CONTEXT of winnt.h for ARM64.
const (
	arm64ContextSize = 912
	arm64Cpsr        = 4
	arm64X0          = 8 // then X1 to X28, Fp, Lr, Sp, Pc
	arm64Context     = 0x400000
)

// The bits of ContextFlags that both architectures have.
const (
	contextControl  = 1
	contextInteger  = 2
	contextSegments = 4 // AMD64 only
)

// readsContexts reports whether decodeContext knows the architecture.
func readsContexts(a target.Arch) bool { return a == target.ArchAMD64 || a == target.ArchARM64 }

// registers reads the thread context at loc. The architecture must be one
// that readsContexts. Registers that the context does not claim stay unknown.
func (f *File) registers(stream string, loc location) (target.Registers, error) {
	want := int64(amd64ContextSize)
	if f.platform.Arch == target.ArchARM64 {
		want = arm64ContextSize
	}
	regs := target.Registers{Arch: f.platform.Arch}
	if int64(loc.size) < want {
		return regs, &FormatError{Stream: stream, Off: int64(loc.rva),
			Msg: fmt.Sprintf("thread context of %d bytes, %s has %d", loc.size, f.platform.Arch, want)}
	}
	b, err := f.read(stream, int64(loc.rva), want)
	if err != nil {
		return regs, err
	}
	archBit, flags := uint32(amd64Context), le.Uint32(b[amd64ContextFlags:])
	if f.platform.Arch == target.ArchARM64 {
		archBit, flags = arm64Context, le.Uint32(b)
	}
	if flags&archBit == 0 {
		return regs, &FormatError{Stream: stream, Off: int64(loc.rva),
			Msg: fmt.Sprintf("context flags %#x are not those of %s", flags, f.platform.Arch)}
	}
	if f.platform.Arch == target.ArchARM64 {
		decodeARM64(&regs, b, flags)
	} else {
		decodeAMD64(&regs, b, flags)
	}
	return regs, nil
}

func decodeAMD64(regs *target.Registers, b []byte, flags uint32) {
	word := func(i int) uint64 { return uint64(le.Uint16(b[amd64SegCs+2*i:])) }
	integer := func(r target.Reg) uint64 { return le.Uint64(b[amd64Rax+8*int(r):]) }
	if flags&contextControl != 0 {
		regs.Set(target.CS, word(0))
		regs.Set(target.SS, word(5))
		regs.Set(target.EFLAGS, uint64(le.Uint32(b[amd64EFlags:])))
		regs.Set(target.RSP, integer(target.RSP))
		regs.Set(target.RIP, le.Uint64(b[amd64Rip:]))
	}
	if flags&contextInteger != 0 {
		for r := target.RAX; r <= target.R15; r++ {
			if r != target.RSP {
				regs.Set(r, integer(r))
			}
		}
	}
	if flags&contextSegments != 0 {
		for i, r := range [...]target.Reg{target.DS, target.ES, target.FS, target.GS} {
			regs.Set(r, word(1+i))
		}
	}
	if flags&amd64FloatBit != 0 {
		regs.Float = b[amd64FltSave:][:amd64FltSaveSize:amd64FltSaveSize]
	}
}

func decodeARM64(regs *target.Registers, b []byte, flags uint32) {
	set := func(r target.Reg) { regs.Set(r, le.Uint64(b[arm64X0+8*int(r):])) }
	if flags&contextControl != 0 {
		for _, r := range [...]target.Reg{target.ARM64FP, target.ARM64LR, target.ARM64SP, target.ARM64PC} {
			set(r)
		}
		regs.Set(target.ARM64CPSR, uint64(le.Uint32(b[arm64Cpsr:])))
	}
	if flags&contextInteger != 0 {
		for r := target.ARM64X0; r < target.ARM64FP; r++ {
			set(r)
		}
	}
}
