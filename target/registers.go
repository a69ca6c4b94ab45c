package target

import "fmt"

// A Reg is a register of the target's architecture. The first sixteen of
// AMD64 stand in the processor's encoding order, which is also that of
// Windows unwind codes.
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

// maxRegs is the number of registers that a Registers can hold.
const maxRegs = 34

var amd64Names = [...]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
	"r13", "r14", "r15", "rip", "eflags", "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base"}

// Registers are the integer registers of one thread or frame. A register that
// is not known is told apart from one that is zero. The zero value knows none.
type Registers struct {
	Arch  Arch
	known uint64
	vals  [maxRegs]uint64
	// Float is the FXSAVE area (512 bytes) as the dump holds it, or nil.
	Float []byte
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

// IP is the instruction pointer, and whether it is known.
func (r *Registers) IP() (Addr, bool) { return r.addr(RIP, ARM64PC) }

// SP is the stack pointer, and whether it is known.
func (r *Registers) SP() (Addr, bool) { return r.addr(RSP, ARM64SP) }

// FP is the frame pointer, and whether it is known.
func (r *Registers) FP() (Addr, bool) { return r.addr(RBP, ARM64FP) }

func (r *Registers) addr(amd64, arm64 Reg) (Addr, bool) {
	n := amd64
	if r.Arch == ArchARM64 {
		n = arm64
	}
	v, ok := r.Get(n)
	return Addr(v), ok
}

// RegName is the name of n on arch, as debuggers print it.
func RegName(arch Arch, n Reg) string {
	switch arch {
	case ArchAMD64:
		if int(n) < len(amd64Names) {
			return amd64Names[n]
		}
	case ArchARM64:
		switch n {
		case ARM64FP:
			return "fp"
		case ARM64LR:
			return "lr"
		case ARM64SP:
			return "sp"
		case ARM64PC:
			return "pc"
		case ARM64CPSR:
			return "cpsr"
		}
		if n < ARM64FP {
			return fmt.Sprintf("x%d", n)
		}
	}
	return fmt.Sprintf("Reg(%d)", uint8(n))
}
