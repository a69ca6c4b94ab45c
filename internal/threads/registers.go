package threads

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// RegisterOptions selects what DescribeRegisters describes.
type RegisterOptions struct {
	Float bool // also the floating-point and vector registers
	// Exception, if not nil, is the dump's exception. It has the registers of its thread at that moment, before the
	// dump.
	Exception *target.Exception
}

// DescribeRegisters describes the registers of t. The error is target.ErrNotInDump if they are not in the dump.
func DescribeRegisters(t *stackwalk.Thread, o RegisterOptions) (*answer.Registers, error) {
	out := &answer.Registers{Source: answer.RegistersThread}
	var none target.Registers
	regs := &none
	if t.OS != nil {
		regs = &t.OS.Registers
	}
	if x := o.Exception; x != nil && t.OS != nil && x.ThreadID == t.OS.ID && x.Registers.Known() {
		out.Others = regs.Known() && !sameRegisters(regs, &x.Registers)
		if out.Others || !regs.Known() {
			regs, out.Source = &x.Registers, answer.RegistersException
		}
	}
	if !regs.Known() {
		err := target.ErrNotInDump
		if t.OS != nil {
			if _, unread := regs.Arch.RegisterFile(); unread != nil {
				err = unread
			}
		}
		return nil, fmt.Errorf("registers of thread %#x: %w", t.ID(), err)
	}
	var listed target.RegSet
	size := func(target.Reg) int { return 8 }
	if p, err := regs.Arch.RegisterFile(); err == nil {
		size = p.RegSize
		for _, m := range p.Context.Registers {
			listed |= target.Regs(m.Reg)
			out.Registers = append(out.Registers, register(regs, m.Reg, m.Size, true))
		}
	}
	for r := range regs.All {
		if !listed.Has(r) {
			out.Registers = append(out.Registers, register(regs, r, size(r), false))
		}
	}
	if !o.Float {
		return out, nil
	}
	vectors, err := regs.Vectors()
	if err != nil {
		out.Note(fmt.Errorf("floating-point registers: %w", err))
		return out, nil
	}
	if s, err := regs.FXSave(); err == nil {
		out.Float = &answer.FloatRegisters{MXCSR: answer.Hex(s.MXCSR), ST: wide("st", s.ST[:]), XMM: wide("xmm", s.XMM[:])}
	} else if p, err := regs.Arch.RegisterFile(); err == nil {
		out.Vectors = wide(p.Vectors.Name, vectors)
	}
	return out, nil
}

// sameRegisters reports whether all registers known to both have the same values.
func sameRegisters(a, b *target.Registers) bool {
	for r, v := range a.All {
		if w, ok := b.Get(r); ok && v != w {
			return false
		}
	}
	return true
}

func register(regs *target.Registers, r target.Reg, size int, inContext bool) answer.Register {
	d := answer.Register{Name: target.RegName(regs.Arch, r), Size: size, InContext: inContext}
	if v, ok := regs.Get(r); ok {
		d.Value = answer.Known(answer.Hex(v))
	} else {
		d.Value = answer.Missing[answer.Hex](target.ErrNotInDump)
	}
	return d
}

func wide(prefix string, values []target.Wide) []answer.WideRegister {
	out := make([]answer.WideRegister, len(values))
	for i, v := range values {
		out[i] = answer.WideRegister{Name: fmt.Sprintf("%s%d", prefix, i), High: answer.Hex(v.High), Low: answer.Hex(v.Low)}
	}
	return out
}
