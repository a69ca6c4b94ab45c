package codeinfo

import (
	"strconv"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A SlotBase is the base that a slot's offset is relative to.
type SlotBase uint8

// The bases of slots. The first three have the values in GC info.
const (
	BaseCallerSP SlotBase = iota // the stack pointer of the caller, after the call
	BaseSP                       // the frame's stack pointer
	BaseFrame                    // the frame register
	BaseRegister                 // not in memory: the slot is a register
)

// SlotFlags are properties of the reference in a slot.
type SlotFlags uint8

// The flags of a slot.
const (
	SlotInterior  SlotFlags = 1 << iota // may point inside an object, or at no object at all
	SlotPinned                          // the object must not be moved
	SlotUntracked                       // live in the whole method; null before its first use
)

// String returns the flags in SOS's words: "(pinned)(interior)(untracked)".
func (f SlotFlags) String() string {
	s := ""
	if f&SlotPinned != 0 {
		s += "(pinned)"
	}
	if f&SlotInterior != 0 {
		s += "(interior)"
	}
	if f&SlotUntracked != 0 {
		s += "(untracked)"
	}
	return s
}

// A Slot is a register or a place on the stack that holds a reference.
type Slot struct {
	Base   SlotBase
	Flags  SlotFlags
	Reg    target.Reg // the register for BaseRegister, the frame register for BaseFrame
	Offset int32      // bytes from the base, unless BaseRegister

	arch target.Arch // of Reg; the zero value means AMD64
}

// String returns the slot without its flags: "rbx", "rbp-18", "rsp+20", "caller.sp-8"; offsets are
// hexadecimal.
func (s Slot) String() string {
	base, p := "caller.sp", encodingOf(s.arch).Processor
	switch s.Base {
	case BaseRegister:
		return target.RegName(p.Arch, s.Reg)
	case BaseSP:
		base = target.RegName(p.Arch, p.SP)
	case BaseFrame:
		base = target.RegName(p.Arch, s.Reg)
	}
	return base + FormatOffset(s.Offset)
}

// FormatOffset returns a signed hexadecimal offset: "+10", "-8".
func FormatOffset(offset int32) string {
	if offset < 0 {
		return "-" + strconv.FormatInt(-int64(offset), 16)
	}
	return "+" + strconv.FormatInt(int64(offset), 16)
}

// Address returns the address of the slot. It reports false for a register slot, and if the base
// register is unknown. callerSP is the stack pointer of the caller after the frame has returned.
func (s Slot) Address(regs *target.Registers, callerSP target.Addr) (target.Addr, bool) {
	offset := target.Addr(int64(s.Offset))
	switch s.Base {
	case BaseRegister:
		return 0, false
	case BaseCallerSP:
		return callerSP + offset, callerSP != 0
	case BaseSP:
		sp, ok := regs.SP()
		return sp + offset, ok
	}
	v, ok := regs.Get(s.Reg)
	return target.Addr(v) + offset, ok
}

// Slots returns the table of the method's slots: first the registers, then the tracked stack slots,
// then the untracked ones. The slice is valid until the next Reset.
func (d *GCDecoder) Slots() []Slot { return d.slots }

// Untracked returns the slots that are live in the whole method. The slice is valid until the next Reset.
func (d *GCDecoder) Untracked() []Slot { return d.slots[d.tracked:] }

func (d *GCDecoder) readSlots() error {
	r := &d.r
	var registers, stack, untracked uint32
	if r.bit() {
		registers = r.uvarint(d.enc.numRegisters)
	}
	if r.bit() {
		stack = r.uvarint(baseNumStackSlots)
		untracked = r.uvarint(baseNumUntracked)
	}
	if r.bad != readOK {
		return r.err()
	}
	total := uint64(registers) + uint64(stack) + uint64(untracked)
	if total > limits.GCSlots {
		return target.Corruptf("GC info has %d slots", total)
	}
	if total > r.left() { // a slot takes several bits
		r.fail(readShort)
		return r.err()
	}
	d.readRegisters(int(registers))
	d.readStackSlots(int(stack), 0)
	d.tracked = len(d.slots)
	d.readStackSlots(int(untracked), SlotUntracked)
	return r.err()
}

// readRegisters reads n register slots. A register is stored as a difference to the previous one,
// unless that one has flags.
func (d *GCDecoder) readRegisters(n int) {
	r := &d.r
	var reg uint32
	var flags SlotFlags
	for i := range n {
		if i == 0 || flags != 0 {
			reg = r.uvarint(baseRegister)
			flags = SlotFlags(r.read(2))
		} else {
			delta := r.uvarint(baseRegisterDelta)
			reg += min(delta, 1<<8) + 1
		}
		if !d.isGeneral(reg) || target.Reg(reg) == d.enc.SP {
			r.fail(readMalformed)
		}
		if r.bad != readOK {
			return
		}
		d.slots = append(d.slots, Slot{Base: BaseRegister, Reg: target.Reg(reg), Flags: flags, arch: d.Arch})
	}
}

// isGeneral reports whether n is the number of a general register.
func (d *GCDecoder) isGeneral(n uint32) bool { return n < 1<<8 && d.enc.General.Has(target.Reg(n)) }

// readStackSlots reads n stack slots, encoded like registers, and adds the flag extra to each.
func (d *GCDecoder) readStackSlots(n int, extra SlotFlags) {
	r := &d.r
	var offset int32
	var flags SlotFlags
	for i := range n {
		base := SlotBase(r.read(2))
		if i == 0 || flags != 0 {
			offset = r.varint(baseStackSlot)
			flags = SlotFlags(r.read(2))
		} else {
			offset += int32(r.uvarint(baseStackSlotDelta))
		}
		if base > BaseFrame || base == BaseFrame && !d.HasStackBase {
			r.fail(readMalformed)
		}
		if r.bad != readOK {
			return
		}
		s := Slot{Base: base, Offset: offset << slotAlignShift, Flags: flags | extra, arch: d.Arch}
		if base == BaseFrame {
			s.Reg = d.StackBase
		}
		d.slots = append(d.slots, s)
	}
}
