package disasm

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sosgo/sosgo/target"
)

// longest is the maximum length of an AMD64 instruction in bytes.
const longest = 15

func decodeAMD64(code []byte, at target.Addr) Instruction {
	inst, ok := decodeX86(code[:min(len(code), longest)])
	if !ok {
		return Instruction{Addr: at, Bytes: code[:1]}
	}
	in := Instruction{Addr: at, Bytes: code[:inst.Len]}
	in.Kind, in.Ref = reference(inst, at+target.Addr(inst.Len))
	in.Text = text(inst, at, in.Ref)
	switch inst.Op {
	case x86asm.JMP:
		in.flow = flowJump
	case x86asm.RET:
		in.flow = flowReturn
	}
	return in
}

// vzeroupper is an instruction that x86asm decodes too long if more bytes follow it.
var vzeroupper = []byte{0xc5, 0xf8, 0x77}

// decodeX86 decodes the instruction at code[0]. It recovers panics of the decoder, because the bytes are arbitrary.
func decodeX86(code []byte) (inst x86asm.Inst, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if bytes.HasPrefix(code, vzeroupper) {
		code = code[:len(vzeroupper)]
	}
	inst, err := x86asm.Decode(code, 64)
	return inst, err == nil && inst.Len > 0 && inst.Len <= len(code)
}

// mnemonicWidth is the column of the operands.
const mnemonicWidth = 8

// ripOperand starts the decoder's text of an operand that is relative to the next instruction.
const ripOperand = "[rip"

// text returns the instruction in Intel syntax. An operand relative to the next instruction becomes the address ref.
func text(inst x86asm.Inst, at, ref target.Addr) (s string) {
	defer func() {
		if recover() != nil {
			s = strings.ToLower(inst.Op.String())
		}
	}()
	for i, arg := range inst.Args {
		if m, ok := arg.(x86asm.Mem); ok && m.Disp > math.MaxInt32 && m.Disp <= math.MaxUint32 && (m.Base != 0 || m.Index != 0) {
			m.Disp = int64(int32(m.Disp)) // x86asm does not extend the sign of 32 bits
			inst.Args[i] = m
		}
	}
	s = x86asm.IntelSyntax(inst, uint64(at), nil)
	if before, after, ok := strings.Cut(s, ripOperand); ok {
		if _, rest, ok := strings.Cut(after, "]"); ok {
			s = before + "[0x" + strconv.FormatUint(uint64(ref), 16) + "]" + rest
		}
	}
	s = strings.Replace(s, ", ptr [", ", [", 1)
	s = withUnsigned(s, &inst)
	name, operands, ok := strings.Cut(s, " ")
	if !ok || len(name) >= mnemonicWidth {
		return s
	}
	return name + strings.Repeat(" ", mnemonicWidth-len(name)) + operands
}

// withUnsigned writes an immediate operand, which x86asm signs, as it is in a register or in memory: an HRESULT is
// 0x80131500.
func withUnsigned(s string, inst *x86asm.Inst) string {
	last := -1
	for i, arg := range inst.Args {
		if arg != nil {
			last = i
		}
	}
	if last < 0 {
		return s
	}
	v, ok := inst.Args[last].(x86asm.Imm)
	at := strings.LastIndex(s, " -0x")
	if !ok || v >= 0 || at < 0 {
		return s
	}
	bits := inst.DataSize
	switch to := inst.Args[0].(type) {
	case x86asm.Mem:
		bits = 8 * inst.MemBytes
	case x86asm.Reg:
		if to >= x86asm.AL && to <= x86asm.R15B {
			bits = 8
		}
	case x86asm.Imm: // push extends it
		bits = inst.Mode
	}
	u := uint64(v)
	if bits > 0 && bits < 64 {
		u &= 1<<bits - 1
	}
	return s[:at+1] + "0x" + strconv.FormatUint(u, 16)
}

// reference returns the address that an instruction uses. next is the address of the next instruction.
func reference(inst x86asm.Inst, next target.Addr) (RefKind, target.Addr) {
	for i, arg := range inst.Args {
		switch a := arg.(type) {
		case x86asm.Rel:
			to := next + target.Addr(int64(a))
			if inst.Op == x86asm.CALL {
				return RefCall, to
			}
			return RefJump, to
		case x86asm.Mem:
			if a.Base == x86asm.RIP && a.Index == 0 {
				// The decoder may not have extended the sign.
				return memoryKind(inst.Op), next + target.Addr(int64(int32(a.Disp)))
			}
		case x86asm.Imm:
			if inst.Op == x86asm.MOV && i == 1 && inst.DataSize == 64 && uint64(a) > 1<<16 {
				return RefImmediate, target.Addr(a)
			}
		}
	}
	return RefNone, 0
}

func memoryKind(op x86asm.Op) RefKind {
	switch op {
	case x86asm.CALL:
		return RefCallSlot
	case x86asm.JMP:
		return RefJumpSlot
	case x86asm.LEA:
		return RefAddress
	}
	return RefMemory
}

// ShowsAccess reports whether Touches decodes the instructions of a processor.
func ShowsAccess(a target.Arch) bool { return a == target.ArchAMD64 }

// Touches returns the memory addresses that the instruction at code[0] reads or writes, given the registers. It omits
// operands with unknown registers. It is empty for unknown instructions, and for processors other than AMD64.
func Touches(regs *target.Registers, code []byte) []target.Addr {
	if !ShowsAccess(regs.Arch) {
		return nil
	}
	inst, ok := decodeX86(code[:min(len(code), longest)])
	if !ok || inst.Op == x86asm.LEA || inst.Op == x86asm.NOP {
		return nil
	}
	var out []target.Addr
	for _, arg := range inst.Args {
		if m, isMem := arg.(x86asm.Mem); isMem {
			if a, ok := effective(regs, &m, inst.Len); ok {
				out = append(out, a)
			}
		}
	}
	return out
}

// quiet are instructions that touch memory through their operands alone, and can't fail otherwise.
var quiet = []x86asm.Op{x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.NOP, x86asm.CMP, x86asm.TEST, x86asm.ADD, x86asm.SUB,
	x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT, x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.IMUL, x86asm.CDQ,
	x86asm.CDQE, x86asm.JE, x86asm.JNE, x86asm.JB, x86asm.JAE, x86asm.JA, x86asm.JBE, x86asm.JL, x86asm.JLE, x86asm.JG, x86asm.JGE, x86asm.JS, x86asm.JNS}

// TouchesNone reports whether the instruction at code[0] certainly reads and writes no memory.
func TouchesNone(arch target.Arch, code []byte) bool {
	if !ShowsAccess(arch) {
		return false
	}
	inst, ok := decodeX86(code[:min(len(code), longest)])
	if !ok || !slices.Contains(quiet, inst.Op) {
		return false
	}
	return inst.Op == x86asm.LEA || inst.Op == x86asm.NOP || !slices.ContainsFunc(inst.Args[:], func(a x86asm.Arg) bool { _, mem := a.(x86asm.Mem); return mem })
}

// Untouched reports whether the instruction at code[0] certainly does not access the memory at a, given the registers.
func Untouched(regs *target.Registers, code []byte, a target.Addr) bool {
	sp, known := regs.SP()
	if !ShowsAccess(regs.Arch) || !known || a-sp+aroundStack < 2*aroundStack { // a push or a call may access it
		return false
	}
	inst, ok := decodeX86(code[:min(len(code), longest)])
	if !ok || !slices.Contains(quiet, inst.Op) && !slices.Contains(quietStack, inst.Op) {
		return false
	}
	touched := Touches(regs, code)
	operands := 0
	for _, arg := range inst.Args {
		if _, isMem := arg.(x86asm.Mem); isMem && inst.Op != x86asm.LEA && inst.Op != x86asm.NOP {
			operands++
		}
	}
	return len(touched) == operands && !slices.ContainsFunc(touched, func(to target.Addr) bool { return a >= to && a-to < widestAccess })
}

// quietStack are instructions that touch nothing but the stack beside their operands.
var quietStack = []x86asm.Op{x86asm.PUSH, x86asm.POP, x86asm.RET, x86asm.JMP}

const (
	aroundStack  = 64 << 10 // bytes around the stack pointer that an instruction may access without an operand
	widestAccess = 64       // bytes
)

// effective returns the address of a memory operand in an instruction of n bytes. It returns false if a register is
// unknown.
func effective(regs *target.Registers, m *x86asm.Mem, n int) (target.Addr, bool) {
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		return 0, false
	}
	a := uint64(int64(int32(m.Disp))) // the decoder may not have extended the sign
	for _, part := range [...]struct {
		reg   x86asm.Reg
		scale uint64
	}{{m.Base, 1}, {m.Index, uint64(m.Scale)}} {
		switch {
		case part.reg == 0:
		case part.reg == x86asm.RIP:
			ip, ok := regs.IP()
			if !ok {
				return 0, false
			}
			a += uint64(ip) + uint64(n)
		case part.reg >= x86asm.RAX && part.reg <= x86asm.R15: // in the order of target.Reg
			v, ok := regs.Get(target.RAX + target.Reg(part.reg-x86asm.RAX))
			if !ok {
				return 0, false
			}
			a += v * part.scale
		default:
			return 0, false
		}
	}
	return target.Addr(a), true
}
