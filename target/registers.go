package target

import (
	"encoding/binary"
	"fmt"
)

// A Reg is a register of the target's architecture. The first sixteen of AMD64 are in the
// processor's encoding order, which Windows unwind codes use too.
type Reg uint8

// The registers of AMD64.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	RIP
	EFLAGS
	CS
	SS
	DS
	ES
	FS
	GS
	FSBase
	GSBase
)

// The registers of ARM64: X0 to X28 are ARM64X0+n.
const (
	ARM64X0   Reg = 0
	ARM64FP   Reg = 29
	ARM64LR   Reg = 30
	ARM64SP   Reg = 31
	ARM64PC   Reg = 32
	ARM64CPSR Reg = 33
)

// The registers of x86. The first eight are in the processor's encoding order.
const (
	X86EAX Reg = iota
	X86ECX
	X86EDX
	X86EBX
	X86ESP
	X86EBP
	X86ESI
	X86EDI
	X86EIP
	X86EFLAGS
	X86CS
	X86SS
	X86DS
	X86ES
	X86FS
	X86GS
)

// The registers of ARM: R0 to R12 are ARMR0+n.
const (
	ARMR0   Reg = 0
	ARMFP   Reg = 11
	ARMSP   Reg = 13
	ARMLR   Reg = 14
	ARMPC   Reg = 15
	ARMCPSR Reg = 16
)

// The registers of MIPS: R0 to R31 are MIPSR0+n.
const (
	MIPSR0 Reg = 0
	MIPSSP Reg = 29
	MIPSFP Reg = 30
	MIPSRA Reg = 31
	MIPSPC Reg = 32
)

// maxRegs is the number of registers that a Registers can hold.
const maxRegs = 34

// Registers are the integer registers of a thread or frame. An unknown register is distinct from a
// register with value zero. In the zero Registers all are unknown.
type Registers struct {
	Arch     Arch
	known    uint64
	vals     [maxRegs]uint64
	lowKnown uint32 // a bitmap of the known lows, the lower halves of preserved vector registers of an unwound frame
	lows     [maxPreservedVectors]uint64
	// Float are the floating-point and vector registers as stored in the dump, or nil: the FXSAVE
	// area of AMD64, V0 to V31 of ARM64; 512 bytes in both cases. Only registers of a thread have
	// them; for unwound frames use VectorLow.
	Float []byte
	// Signature are the bits of code addresses that hold a signature in this process (pointer
	// authentication), or 0 if the dump does not record them.
	Signature uint64
}

// Code returns the address in a code pointer, without the signature that may be stored with it.
func (r *Registers) Code(v uint64) Addr {
	p, err := r.Arch.Processor()
	if err != nil {
		return Addr(v)
	}
	a := p.Code(v)
	if p.CodeBits != 0 && a>>(p.AddressBits-1) == 0 {
		a &^= Addr(r.Signature)
	}
	return a
}

// Vectors returns the vector registers in Float, and only the lower 128 bits of wider ones. It is
// ErrNotInDump if the dump does not have them.
func (r *Registers) Vectors() ([]Wide, error) {
	p, err := r.Arch.RegisterFile()
	if err != nil {
		return nil, err
	}
	f := &p.Vectors
	if f.Count == 0 || len(r.Float) < f.Size {
		return nil, ErrNotInDump
	}
	out := make([]Wide, f.Count)
	for i := range out {
		at := r.Float[f.Offset+16*i:]
		out[i] = Wide{High: binary.LittleEndian.Uint64(at[8:]), Low: binary.LittleEndian.Uint64(at)}
	}
	return out, nil
}

// maxPreservedVectors is the number of vector registers up to the highest one that calls preserve,
// on any processor.
const maxPreservedVectors = 16

// VectorLow returns the lower half of the vector register n, and whether it is known. For a
// thread's topmost frame all are known; for its callers, those that calls preserve, as far as
// unwind data describe them.
func (r *Registers) VectorLow(n int) (uint64, bool) {
	if all, err := r.Vectors(); err == nil {
		if n < 0 || n >= len(all) {
			return 0, false
		}
		return all[n].Low, true
	}
	if n < 0 || n >= maxPreservedVectors || r.lowKnown&(1<<n) == 0 {
		return 0, false
	}
	return r.lows[n], true
}

// SetVectorLow sets the lower half of a vector register that calls preserve. It ignores other
// registers.
func (r *Registers) SetVectorLow(n int, v uint64) {
	if p := r.Arch.processor(); p != nil && n >= 0 && n < maxPreservedVectors && p.PreservedVectors.Has(Reg(n)) {
		r.lows[n], r.lowKnown = v, r.lowKnown|1<<n
	}
}

// ForgetVectorLow makes the lower half of a vector register unknown.
func (r *Registers) ForgetVectorLow(n int) {
	if n >= 0 && n < maxPreservedVectors {
		r.lowKnown &^= 1 << n
	}
}

// ForgetVectors makes all vector registers unknown.
func (r *Registers) ForgetVectors() { r.Float, r.lowKnown = nil, 0 }

// PassVectors drops all vector registers except the lower halves that calls preserve: a caller's
// frame has the same values unless the callee saved them.
func (r *Registers) PassVectors() {
	if r.Float == nil {
		return
	}
	if p := r.Arch.processor(); p != nil {
		for n := range p.PreservedVectors.All {
			if v, ok := r.VectorLow(int(n)); ok {
				r.SetVectorLow(int(n), v)
			}
		}
	}
	r.Float = nil
}

// Get returns the value of n and whether it is known.
func (r *Registers) Get(n Reg) (uint64, bool) {
	if int(n) >= maxRegs || r.known&(1<<n) == 0 {
		return 0, false
	}
	return r.vals[n], true
}

// Set makes n known.
func (r *Registers) Set(n Reg, v uint64) {
	if int(n) < maxRegs {
		r.vals[n], r.known = v, r.known|1<<n
	}
}

// Forget makes n unknown.
func (r *Registers) Forget(n Reg) {
	if int(n) < maxRegs {
		r.vals[n], r.known = 0, r.known&^(1<<n)
	}
}

// Known reports whether any register is known.
func (r *Registers) Known() bool { return r.known != 0 }

// All calls yield for each known register in the architecture's order.
func (r *Registers) All(yield func(Reg, uint64) bool) {
	for i := range Reg(maxRegs) {
		if r.known&(1<<i) != 0 && !yield(i, r.vals[i]) {
			return
		}
	}
}

// IP returns the instruction pointer, and whether it is known.
func (r *Registers) IP() (Addr, bool) {
	p := r.Arch.processor()
	if p == nil {
		return 0, false
	}
	v, ok := r.Get(p.IP)
	return Addr(v), ok
}

// SP returns the stack pointer, and whether it is known.
func (r *Registers) SP() (Addr, bool) {
	p := r.Arch.processor()
	if p == nil {
		return 0, false
	}
	v, ok := r.Get(p.SP)
	return Addr(v), ok
}

// FP returns the frame pointer, and whether it is known.
func (r *Registers) FP() (Addr, bool) {
	p := r.Arch.processor()
	if p == nil {
		return 0, false
	}
	v, ok := r.Get(p.FP)
	return Addr(v), ok
}

// SetIP sets the instruction pointer. It does nothing for an architecture without supported
// registers.
func (r *Registers) SetIP(v Addr) {
	if p := r.Arch.processor(); p != nil {
		r.Set(p.IP, uint64(v))
	}
}

// SetSP sets the stack pointer, like SetIP.
func (r *Registers) SetSP(v Addr) {
	if p := r.Arch.processor(); p != nil {
		r.Set(p.SP, uint64(v))
	}
}

// SetFP sets the frame pointer, like SetIP.
func (r *Registers) SetFP(v Addr) {
	if p := r.Arch.processor(); p != nil {
		r.Set(p.FP, uint64(v))
	}
}

// ForgetFP makes the frame pointer unknown.
func (r *Registers) ForgetFP() {
	if p := r.Arch.processor(); p != nil {
		r.Forget(p.FP)
	}
}

// RegName returns the name of n on arch as debuggers print it.
func RegName(arch Arch, n Reg) string {
	if p := arch.processor(); p != nil && int(n) < len(p.names) {
		return p.names[n]
	}
	return fmt.Sprintf("Reg(%d)", uint8(n))
}

// An FXSave is a decoded FXSAVE area: the floating-point and vector registers of x64 (Intel SDM,
// volume 1, 10.5.1).
type FXSave struct {
	MXCSR uint32
	ST    [8]Wide  // the x87 registers; High has 16 bits
	XMM   [16]Wide // the lower halves of the vector registers
}

// A Wide is a value of up to 128 bits.
type Wide struct{ High, Low uint64 }

// Offsets in an FXSAVE area.
const (
	fxMXCSR = 24
	fxST    = 32 // 16 bytes each; 10 are used
	fxXMM   = 160
	fxSize  = 512
)

// vectorsARM64 is the size in bytes of V0 to V31 in user_fpsimd_state and in CONTEXT.
const vectorsARM64 = 32 * 16

// FXSave decodes Float. It is ErrNotInDump if the dump does not have it, and ErrUnsupported on
// other processors.
func (r *Registers) FXSave() (*FXSave, error) {
	b := r.Float
	switch {
	case r.Arch != ArchAMD64:
		return nil, Unsupportedf("an FXSAVE area of %v", r.Arch)
	case len(b) < fxSize:
		return nil, ErrNotInDump
	}
	le := binary.LittleEndian
	s := &FXSave{MXCSR: le.Uint32(b[fxMXCSR:])}
	for i := range s.ST {
		at := b[fxST+16*i:]
		s.ST[i] = Wide{High: uint64(le.Uint16(at[8:])), Low: le.Uint64(at)}
	}
	xmm, err := r.Vectors()
	copy(s.XMM[:], xmm)
	return s, err
}
