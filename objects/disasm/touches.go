package disasm

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/sosgo/sosgo/target"
)

// Touches returns the memory addresses that the instruction at code[0] reads or writes, given the registers. It omits
// operands with unknown registers. It is empty for instructions without memory operands, for unknown ones, and for
// processors other than AMD64.
func Touches(regs *target.Registers, code []byte) []target.Addr {
	if regs == nil {
		return nil
	}
	if regs.Arch != target.ArchAMD64 {
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

// effective returns the address of a memory operand in an instruction of n bytes. It is false for an unknown register.
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
		case part.reg >= x86asm.RAX && part.reg <= x86asm.R15: // in the order of target's
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
