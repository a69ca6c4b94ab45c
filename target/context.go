package target

import "encoding/binary"

// A ContextPart is a group of registers that a CONTEXT may hold: its bit in ContextFlags (winnt.h).
type ContextPart uint32

// The parts of a CONTEXT.
const (
	ContextControl  ContextPart = 1
	ContextInteger  ContextPart = 2
	ContextSegments ContextPart = 4 // AMD64 only
	ContextFloat    ContextPart = 8 // AMD64; here only the FXSAVE area
	contextVectors  ContextPart = 4 // ARM64: V0 to V31
)

// A ContextRegister is a member of a CONTEXT.
type ContextRegister struct {
	Reg    Reg
	Part   ContextPart
	Offset int // in bytes
	Size   int // in bytes: 2, 4 or 8
}

// A ContextLayout is the structure CONTEXT of a processor. The structures are winnt.h's, which the
// runtime uses on every system. Breakpad defines its own for processors that Windows does not
// support, and for ARM in older versions. All offsets and sizes are in bytes.
type ContextLayout struct {
	Size      int               // without extended features at the end
	Flags     int               // offset of ContextFlags, 4 bytes
	Arch      uint32            // the processor's bit in ContextFlags
	Registers []ContextRegister // ordered by Offset, without Float
	Float     int               // offset of Registers.Float, if FloatSize is not 0
	FloatSize int
	FloatPart ContextPart // the part that Float belongs to

	other *ContextLayout // another layout with its own bit, or nil
}

func contextAMD64() ContextLayout {
	return ContextLayout{Size: 1232, Flags: 0x30, Arch: 0x100000, Registers: contextRegistersAMD64(), Float: 0x100, FloatSize: fxSize, FloatPart: ContextFloat}
}

func contextARM64() ContextLayout {
	return ContextLayout{Size: 912, Flags: 0, Arch: 0x400000, Registers: contextRegistersARM64(),
		Float: 0x110, FloatSize: vectorsARM64, FloatPart: contextVectors,
		other: &ContextLayout{Size: 796, Arch: 0x80000000, Registers: contextRegistersOldARM64()}}
}

// context386 returns the layout of x86, without the FXSAVE area after the segment registers.
func context386() ContextLayout {
	return ContextLayout{Size: 204, Flags: 0, Arch: 0x10000, Registers: contextRegisters386()}
}

func contextARM() ContextLayout {
	return ContextLayout{Size: 72, Flags: 0, Arch: 0x200000, Registers: contextRegistersARM(ContextControl),
		other: &ContextLayout{Size: 72, Arch: 0x40000000, Registers: contextRegistersARM(ContextInteger)}}
}

func contextMIPS() ContextLayout {
	return ContextLayout{Size: 320, Flags: 0, Arch: 0x40000, Registers: contextRegistersMIPS()}
}

func contextMIPS64() ContextLayout {
	return ContextLayout{Size: 320, Flags: 0, Arch: 0x80000, Registers: contextRegistersMIPS()}
}

// contextRegistersAMD64 returns the segments from 0x38 on, EFLAGS, the integer registers in
// encoding order from 0x78 on, and RIP.
func contextRegistersAMD64() []ContextRegister {
	const segments, flags, integers = 0x38, 0x44, 0x78
	var out []ContextRegister
	for i, r := range [...]Reg{CS, DS, ES, FS, GS, SS} {
		part := ContextSegments
		if r == CS || r == SS {
			part = ContextControl
		}
		out = append(out, ContextRegister{r, part, segments + 2*i, 2})
	}
	out = append(out, ContextRegister{EFLAGS, ContextControl, flags, 4})
	for r := RAX; r <= RIP; r++ {
		part := ContextInteger
		if r == RSP || r == RIP {
			part = ContextControl
		}
		out = append(out, ContextRegister{r, part, integers + 8*int(r), 8})
	}
	return out
}

// contextRegistersARM64 returns CPSR, X0 to X28, FP, LR, SP and PC.
func contextRegistersARM64() []ContextRegister {
	const cpsr, x0 = 4, 8
	out := []ContextRegister{{ARM64CPSR, ContextControl, cpsr, 4}}
	for r := ARM64X0; r <= ARM64PC; r++ {
		part := ContextInteger
		if r >= ARM64FP {
			part = ContextControl
		}
		out = append(out, ContextRegister{r, part, x0 + 8*int(r), 8})
	}
	return out
}

// contextRegistersOldARM64 returns the registers of the structure that older versions of Breakpad
// and Crashpad wrote: CPSR is the last, and one part covers all.
func contextRegistersOldARM64() []ContextRegister {
	const x0, cpsr = 8, 272
	var out []ContextRegister
	for r := ARM64X0; r <= ARM64PC; r++ {
		out = append(out, ContextRegister{r, ContextInteger, x0 + 8*int(r), 8})
	}
	return append(out, ContextRegister{ARM64CPSR, ContextInteger, cpsr, 4})
}

// contextRegisters386 returns the segments outside of the control part, the integer registers, and
// the control registers.
func contextRegisters386() []ContextRegister {
	var out []ContextRegister
	add := func(part ContextPart, from int, regs ...Reg) {
		for i, r := range regs {
			out = append(out, ContextRegister{r, part, from + 4*i, 4})
		}
	}
	add(ContextSegments, 0x8c, X86GS, X86FS, X86ES, X86DS)
	add(ContextInteger, 0x9c, X86EDI, X86ESI, X86EBX, X86EDX, X86ECX, X86EAX)
	add(ContextControl, 0xb4, X86EBP, X86EIP, X86CS, X86EFLAGS, X86ESP, X86SS)
	return out
}

// contextRegistersARM returns R0 to R15 and CPSR. control is the part of SP, LR, PC and CPSR: in
// Breakpad's structure one part covers all.
func contextRegistersARM(control ContextPart) []ContextRegister {
	const r0 = 4
	var out []ContextRegister
	for r := ARMR0; r <= ARMCPSR; r++ {
		part := ContextInteger
		if r >= ARMSP {
			part = control
		}
		out = append(out, ContextRegister{r, part, r0 + 4*int(r), 4})
	}
	return out
}

// contextRegistersMIPS returns 32 registers of eight bytes, for 32-bit processors too, and the
// exception's program counter.
func contextRegistersMIPS() []ContextRegister {
	const r0, pc = 8, 312
	var out []ContextRegister
	for r := MIPSR0; r < MIPSPC; r++ {
		out = append(out, ContextRegister{r, ContextInteger, r0 + 8*int(r), 8})
	}
	return append(out, ContextRegister{MIPSPC, ContextInteger, pc, 8})
}

// Minimum returns the size in bytes up to the end of the registers. No CONTEXT is shorter; the rest
// may be missing.
func (l *ContextLayout) Minimum() int {
	n := l.Flags + 4
	for i := range l.Registers {
		n = max(n, l.Registers[i].Offset+l.Registers[i].Size)
	}
	return n
}

// Decode sets the registers that the CONTEXT b claims to hold. A context that names its processor
// but no parts, and is not empty, holds all. Decode returns the flags. ok is false if b is not of
// this processor or shorter than Minimum.
func (l *ContextLayout) Decode(regs *Registers, b []byte) (flags uint32, ok bool) {
	for v := l; v != nil; v = v.other {
		if len(b) < v.Minimum() {
			continue
		}
		if flags = binary.LittleEndian.Uint32(b[v.Flags:]); flags&v.Arch != 0 {
			v.decode(regs, b, ContextPart(flags))
			return flags, true
		}
	}
	return flags, false
}

func (l *ContextLayout) decode(regs *Registers, b []byte, parts ContextPart) {
	const all = ContextControl | ContextInteger | ContextSegments | ContextFloat
	if parts&all == 0 {
		if l.isEmpty(b) {
			return
		}
		parts = all
	}
	for _, m := range l.Registers {
		if parts&m.Part != 0 {
			regs.Set(m.Reg, m.value(b))
		}
	}
	if l.FloatSize > 0 && parts&l.FloatPart != 0 && len(b) >= l.Float+l.FloatSize {
		regs.Float = b[l.Float:][:l.FloatSize:l.FloatSize]
	}
}

// isEmpty reports whether every register of b is zero, which means that it was never filled in.
func (l *ContextLayout) isEmpty(b []byte) bool {
	for i := range l.Registers {
		if l.Registers[i].value(b) != 0 {
			return false
		}
	}
	return true
}

func (m *ContextRegister) value(b []byte) uint64 {
	switch b = b[m.Offset:]; m.Size {
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}
