package disasm

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// An ARM64 instruction of four bytes has no room for an address. Code builds an address in a register, from constants
// or relative to itself, before it calls or reads there. The decoder tracks such registers to report the address that
// an instruction uses. It stops tracking at calls, jumps and jump targets.

// arm64 decodes the code of a method in order.
type arm64 struct {
	entered map[target.Addr]bool // jump targets
	known   [31]known            // by register
}

// A known is the known content of a register.
type known struct {
	kind  knownKind
	value uint64
}

type knownKind uint8

const (
	knownNothing knownKind = iota
	knownValue             // value is the content
	knownLoaded            // value is the address from which the content was loaded
)

// newARM64 returns a decoder for the code at an address.
func newARM64(code []byte, at target.Addr) *arm64 {
	d := &arm64{entered: map[target.Addr]bool{}}
	for ; len(code) >= 4; code, at = code[4:], at+4 {
		if to, call, ok := branchARM64(binary.LittleEndian.Uint32(code), at); ok && !call {
			d.entered[to] = true
		}
	}
	return d
}

// branchARM64 returns the destination of a direct jump or call.
func branchARM64(w uint32, at target.Addr) (to target.Addr, call, ok bool) {
	relative := func(bits, shift uint) target.Addr {
		return at + target.Addr(int64(w>>shift)<<(64-bits)>>(64-bits)*4)
	}
	switch {
	case w>>26 == 0x25: // bl
		return relative(26, 0), true, true
	case w>>26 == 0x05: // b
		return relative(26, 0), false, true
	case w>>24 == 0x54, w>>25&0x3f == 0x1a: // b.cond, cbz
		return relative(19, 5), false, true
	case w>>25&0x3f == 0x1b: // tbz
		return relative(14, 5), false, true
	}
	return 0, false, false
}

// decode decodes the instruction at code[0].
func (d *arm64) decode(code []byte, at target.Addr) Instruction {
	if len(code) < 4 {
		return Instruction{Addr: at, Bytes: code}
	}
	w := binary.LittleEndian.Uint32(code)
	if d.entered[at] {
		d.known = [31]known{}
	}
	in := Instruction{Addr: at, Bytes: code[:4:4]}
	d.follow(&in, w, nextWord(code))
	if in.Text = textARM64(code[:4], w, at); in.Text == "" {
		in.Text, in.flow = aligned(".inst", fmt.Sprintf("0x%08x", w)), flowUnknown
	}
	return in
}

// nextWord returns the instruction after the one at code[0], or 0.
func nextWord(code []byte) uint32 {
	if len(code) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint32(code[4:])
}

// Forms of instructions (Arm Architecture Reference Manual, C4.1).
const (
	maskMove, movn, movz, movk = 0xff800000, 0x92800000, 0xd2800000, 0xf2800000
	maskAddress, adr, adrp     = 0x9f000000, 0x10000000, 0x90000000
	maskAdd, add               = 0xff800000, 0x91000000
	maskLiteral, ldrLiteral    = 0xff000000, 0x58000000
	maskLoad, ldr              = 0xffc00000, 0xf9400000
	maskStore, str             = 0x3bc00000, 0x39000000 // with an offset and no other effect
)

// follow finds the reference of an instruction, and updates the tracked registers.
func (d *arm64) follow(in *Instruction, w, next uint32) {
	to, call, ok := branchARM64(w, in.Addr)
	switch {
	case ok && call:
		in.Kind, in.Ref = RefCall, to
		d.known = [31]known{}
	case ok:
		in.Kind, in.Ref = RefJump, to
		if w>>26 == 0x05 {
			in.flow, d.known = flowJump, [31]known{}
		}
	case isIndirect(w):
		d.indirect(in, w)
	default:
		d.data(in, w, next)
	}
}

// isIndirect reports whether w jumps to a register's value: br, blr and ret, with and without authentication.
func isIndirect(w uint32) bool { return w&0xfe9f0000 == 0xd61f0000 && w>>21&3 != 3 }

// indirect decodes a call or jump to a register's value.
func (d *arm64) indirect(in *Instruction, w uint32) {
	k := known{}
	if n := w >> 5 & 31; n < 31 {
		k = d.known[n]
	}
	op := w >> 21 & 3
	if op == 2 {
		in.flow, d.known = flowReturn, [31]known{}
		return
	}
	call := op == 1
	if !call {
		in.flow = flowJump
	}
	switch {
	case k.kind == knownValue && call:
		in.Kind, in.Ref = RefCall, target.Addr(k.value)
	case k.kind == knownValue:
		in.Kind, in.Ref = RefJump, target.Addr(k.value)
	case k.kind == knownLoaded && call:
		in.Kind, in.Ref = RefCallSlot, target.Addr(k.value)
	case k.kind == knownLoaded:
		in.Kind, in.Ref = RefJumpSlot, target.Addr(k.value)
	}
	d.known = [31]known{}
}

// smallest is the smallest number that can be an address.
const smallest = 1 << 16

// data decodes an instruction that does not jump.
func (d *arm64) data(in *Instruction, w, next uint32) {
	rd, rn := w&31, w>>5&31
	switch {
	case w&maskMove == movz, w&maskMove == movn, w&maskMove == movk:
		d.move(in, w, next)
	case w&maskAddress == adr:
		d.set(rd, known{knownValue, uint64(in.Addr) + offsetADR(w)})
		in.Kind, in.Ref = RefAddress, in.Addr+target.Addr(offsetADR(w))
	case w&maskAddress == adrp:
		d.set(rd, known{knownValue, uint64(in.Addr)&^0xfff + offsetADR(w)<<12})
	case w&maskAdd == add && d.get(rn).kind == knownValue:
		v := d.get(rn).value + uint64(w>>10&0xfff)<<(12*(w>>22&1))
		d.set(rd, known{knownValue, v})
		in.Kind, in.Ref = RefAddress, target.Addr(v)
	case w&maskLiteral == ldrLiteral:
		at := in.Addr + target.Addr(int64(w>>5)<<45>>45*4)
		d.set(rd, known{knownLoaded, uint64(at)})
		in.Kind, in.Ref = RefMemory, at
	case w&maskLoad == ldr && d.get(rn).kind == knownValue && d.get(rn).value >= smallest:
		at := d.get(rn).value + uint64(w>>10&0xfff)*8
		d.set(rd, known{knownLoaded, at})
		in.Kind, in.Ref = RefMemory, target.Addr(at)
	case w&maskStore == str:
	default: // may write anything
		d.set(rd, known{})
		d.set(rn, known{})
		d.set(w>>10&31, known{})
		d.set(w>>16&31, known{})
	}
}

// move decodes a move of a 16-bit constant into a register or a part of it.
func (d *arm64) move(in *Instruction, w, next uint32) {
	rd, shift := w&31, 16*(w>>21&3)
	v := uint64(w>>5&0xffff) << shift
	switch w & maskMove {
	case movn:
		v = ^v
	case movk:
		k := d.get(rd)
		if k.kind != knownValue {
			d.set(rd, known{})
			return
		}
		v |= k.value &^ (0xffff << shift)
	}
	d.set(rd, known{knownValue, v})
	if more := next&maskMove == movk && next&31 == rd; !more && v > smallest {
		in.Kind, in.Ref = RefImmediate, target.Addr(v)
	}
}

func (d *arm64) get(r uint32) known {
	if r >= uint32(len(d.known)) {
		return known{}
	}
	return d.known[r]
}

func (d *arm64) set(r uint32, k known) {
	if r < uint32(len(d.known)) {
		d.known[r] = k
	}
}

// offsetADR returns the signed 21-bit number in adr and adrp.
func offsetADR(w uint32) uint64 { return uint64(int64(w>>5&0x7ffff<<2|w>>29&3) << 43 >> 43) }
