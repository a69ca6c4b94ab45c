package disasm

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"

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

// relativePlace starts the decoder's text of an address relative to the instruction.
const relativePlace = ".+0x"

// textARM64 returns the instruction in GNU syntax, with absolute addresses. It is empty for unknown instructions. It
// recovers panics of the decoder, because the bytes are arbitrary.
func textARM64(code []byte, w uint32, at target.Addr) (s string) {
	defer func() {
		if recover() != nil {
			s = ""
		}
	}()
	inst, err := arm64asm.Decode(code)
	if err != nil {
		return atomicARM64(w)
	}
	s = arm64asm.GNUSyntax(inst)
	if before, hex, ok := strings.Cut(s, relativePlace); ok {
		digits := hex
		if i := strings.IndexAny(hex, " ,]"); i >= 0 {
			digits = hex[:i]
		}
		if n, err := strconv.ParseUint(digits, 16, 64); err == nil {
			base := uint64(at)
			if w&maskAddress == adrp {
				base &^= 0xfff
			}
			s = fmt.Sprintf("%s0x%x%s", before, base+n, hex[len(digits):])
		}
	}
	name, operands, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok {
		return name
	}
	return aligned(name, operands)
}

// aligned puts the operands into their column.
func aligned(name, operands string) string {
	return name + strings.Repeat(" ", max(1, mnemonicWidth-len(name))) + operands
}

// atomicARM64 returns the text of ordered and atomic loads and stores that .NET's compiler emits and the decoder does
// not support (Arm Architecture Reference Manual, FEAT_LRCPC, FEAT_LRCPC2 and FEAT_LSE). It is empty for others.
func atomicARM64(w uint32) string {
	size := w >> 30
	place := func(offset int32) string {
		base := "sp"
		if n := w >> 5 & 31; n < 31 {
			base = fmt.Sprintf("x%d", n)
		}
		if offset != 0 {
			base += fmt.Sprintf(",#%d", offset)
		}
		return "[" + base + "]"
	}
	register := func(n uint32) string {
		letter := "wwwx"[size : size+1]
		if n == 31 {
			return letter + "zr"
		}
		return fmt.Sprintf("%s%d", letter, n)
	}
	suffix := [...]string{"b", "h", "", ""}[size]
	order := func(acquire, release uint32) string {
		return strings.Repeat("a", int(w>>acquire&1)) + strings.Repeat("l", int(w>>release&1)) + suffix
	}
	rt, rs := register(w&31), register(w>>16&31)
	switch {
	case w&0x3ffffc00 == 0x38bfc000:
		return aligned("ldapr"+suffix, rt+", "+place(0))
	case w&0x3fe00c00 == 0x19400000:
		return aligned("ldapur"+suffix, rt+", "+place(int32(w<<11)>>23))
	case w&0x3fe00c00 == 0x19000000:
		return aligned("stlur"+suffix, rt+", "+place(int32(w<<11)>>23))
	case w&0x3fa07c00 == 0x08a07c00:
		return aligned("cas"+order(22, 15), rs+", "+rt+", "+place(0))
	case w&0x3f20fc00 == 0x38208000:
		return aligned("swp"+order(23, 22), rs+", "+rt+", "+place(0))
	case w&0x3f208c00 == 0x38200000:
		name := [...]string{"ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin"}[w>>12&7]
		return aligned(name+order(23, 22), rs+", "+rt+", "+place(0))
	}
	return ""
}
