package target

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// A SignalContext describes the struct ucontext on the stack of a signal handler: Linux stores
// there the registers of the interrupted code (include/uapi/asm-generic/ucontext.h;
// arch/*/include/uapi/asm/sigcontext.h). The handler returns to it through a few instructions of
// the C library or the vDSO. All offsets are in bytes.
type SignalContext struct {
	Size int // of the part that is read
	// Return is the code that a handler returns to. AboveSP is the offset of the ucontext from the
	// stack pointer at that code.
	Return  []byte
	AboveSP int
	Float   int // offset of the vector registers in the form of Registers.Float; 0 if unknown

	registers []ContextRegister
	matches   func(b []byte, at Addr) bool // checks the processor's part besides the registers
}

// SignalContext returns the context of a, or nil if it is unknown.
func (a Arch) SignalContext() *SignalContext {
	switch a {
	case ArchAMD64:
		return signalContextAMD64()
	case ArchARM64:
		return signalContextARM64()
	}
	return nil
}

// The head of every ucontext: flags, the next context (null), and the alternate stack.
const (
	ucFlags, ucLink, ucStackFlags = 0, 8, 24

	ucStackMask = 3 | 1<<31 // SS_ONSTACK, SS_DISABLE, SS_AUTODISARM
)

var (
	signalContextAMD64 = sync.OnceValue(func() *SignalContext {
		return &SignalContext{
			Size:      296,
			Return:    []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, // mov $15, %rax; syscall
			registers: signalRegistersAMD64(),
			matches:   matchesAMD64,
		}
	})
	signalContextARM64 = sync.OnceValue(func() *SignalContext {
		return &SignalContext{
			Size:      472,
			Return:    []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, // mov x8, #139; svc #0
			AboveSP:   128,                                              // a siginfo_t is first
			Float:     480,
			registers: signalRegistersARM64(),
			matches:   matchesARM64,
		}
	})
)

// signalRegistersAMD64 returns the struct sigcontext after the head.
func signalRegistersAMD64() []ContextRegister {
	var out []ContextRegister
	for i, r := range [...]Reg{R8, R9, R10, R11, R12, R13, R14, R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP, EFLAGS} {
		out = append(out, ContextRegister{Reg: r, Offset: 40 + 8*i, Size: 8})
	}
	return out
}

// matchesAMD64 checks the selectors of 64-bit programs, the floating-point state, which is 64-byte
// aligned right after the frame or absent, and eight reserved words.
func matchesAMD64(b []byte, at Addr) bool {
	const userCode, userData = 0x33, 0x2b
	cs, ss := binary.LittleEndian.Uint16(b[184:]), binary.LittleEndian.Uint16(b[190:])
	float := Addr(binary.LittleEndian.Uint64(b[224:]))
	return binary.LittleEndian.Uint64(b[ucFlags:])>>3 == 0 && cs == userCode && (ss == userData || ss == 0) &&
		(float == 0 || float%64 == 0 && float > at && float-at < 1<<12) && bytes.Count(b[232:296], []byte{0}) == 64
}

// signalRegistersARM64 returns the struct sigcontext after the head and the blocked signals.
func signalRegistersARM64() []ContextRegister {
	var out []ContextRegister
	for r := ARM64X0; r <= ARM64CPSR; r++ {
		out = append(out, ContextRegister{Reg: r, Offset: 184 + 8*int(r-ARM64X0), Size: 8})
	}
	return out
}

// matchesARM64 checks that the first of the records that follow describes the floating-point
// registers.
func matchesARM64(b []byte, _ Addr) bool {
	const floatMagic, floatSize = 0x46508001, 528
	return binary.LittleEndian.Uint64(b[ucFlags:]) == 0 && binary.LittleEndian.Uint32(b[464:]) == floatMagic &&
		binary.LittleEndian.Uint32(b[468:]) == floatSize
}

// Registers returns the registers of the ucontext with the bytes b at an address. It reports false
// if b is not a ucontext.
func (c *SignalContext) Registers(arch Arch, b []byte, at Addr) (Registers, bool) {
	if c.Size == 0 || len(b) < c.Size || at%8 != 0 || binary.LittleEndian.Uint64(b[ucLink:]) != 0 ||
		binary.LittleEndian.Uint32(b[ucStackFlags:])&^ucStackMask != 0 || !c.matches(b, at) {
		return Registers{}, false
	}
	out := Registers{Arch: arch}
	for _, r := range c.registers {
		out.Set(r.Reg, binary.LittleEndian.Uint64(b[r.Offset:]))
	}
	ip, _ := out.IP()
	sp, _ := out.SP()
	return out, ip != 0 && sp != 0 && sp%8 == 0
}
