package disasm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/sosgo/sosgo/target"
)

// Forms of instructions that the decoder writes otherwise than other disassemblers do (Arm Architecture Reference Manual, C4.1).
const (
	maskSystem, mrs, msr = 0xfff00000, 0xd5300000, 0xd5100000
	maskField, bfm       = 0x7f8003e0, 0x330003e0 // of the zero register
	maskHint, hint       = 0xfffff01f, 0xd503201f
)

// hints are instructions that older processors ignore, by their number: for signed return addresses, the targets of
// jumps, and barriers.
var hints = map[uint32]string{
	7: "xpaclri", 8: "pacia1716", 10: "pacib1716", 12: "autia1716", 14: "autib1716", 16: "esb", 17: aligned("psb", "csync"),
	18: aligned("tsb", "csync"), 20: "csdb", 22: "clearbhb", 24: "paciaz", 25: "paciasp", 26: "pacibz", 27: "pacibsp", 28: "autiaz", 29: "autiasp",
	30: "autibz", 31: "autibsp", 32: "bti", 34: aligned("bti", "c"), 36: aligned("bti", "j"), 38: aligned("bti", "jc"),
}

// systemRegisters are the registers of the processor that programs may use, by op0, op1, CRn, CRm and op2 (Arm
// Architecture Reference Manual, D12.3). The compiler reads tpidr_el0 for thread statics.
var systemRegisters = map[uint32]string{
	0x5801: "ctr_el0", 0x5807: "dczid_el0", 0x5920: "rndr", 0x5921: "rndrrs", 0x5a10: "nzcv", 0x5a15: "dit", 0x5a16: "ssbs",
	0x5a20: "fpcr", 0x5a21: "fpsr", 0x5e82: "tpidr_el0", 0x5e83: "tpidrro_el0", 0x5f00: "cntfrq_el0", 0x5f01: "cntpct_el0", 0x5f02: "cntvct_el0",
}

// namedARM64 returns the text of an instruction that has another name or other operands than the decoder gives it. It is
// empty for others.
func namedARM64(w uint32) string {
	register := func(n uint32) string {
		if n == 31 {
			return "xzr"
		}
		return fmt.Sprintf("x%d", n)
	}
	switch {
	case w&maskHint == hint:
		return hints[w>>5&0x7f]
	case w&maskSystem == mrs && systemRegisters[w>>5&0x7fff] != "":
		return aligned("mrs", register(w&31)+", "+systemRegisters[w>>5&0x7fff])
	case w&maskSystem == msr && systemRegisters[w>>5&0x7fff] != "":
		return aligned("msr", systemRegisters[w>>5&0x7fff]+", "+register(w&31))
	case w&maskField == bfm && w>>10&63 < w>>16&63:
		size, name := uint32(64), register(w&31)
		if w>>31 == 0 {
			size, name = 32, "w"+name[1:]
		}
		return aligned("bfc", fmt.Sprintf("%s, #%d, #%d", name, size-w>>16&63, w>>10&63+1))
	}
	return ""
}

// productARM64 returns the text of the products of vectors that .NET's intrinsics have and the decoder does not support
// (Arm Architecture Reference Manual, FEAT_DotProd and FEAT_RDM). It is empty for others.
func productARM64(w uint32) string {
	d, n, m, q, size := w&31, w>>5&31, w>>16&31, w>>30&1, w>>22&3
	vectors := func(name, to, from, third string) string {
		return aligned(name, fmt.Sprintf("v%d.%s, v%d.%s, %s", d, to, n, from, third))
	}
	sum, bytes := [...]string{"2s", "4s"}[q], [...]string{"8b", "16b"}[q]
	dot := [...]string{"sdot", "udot"}[w>>29&1]
	switch {
	case w&0x9fe0fc00 == 0x0e809400:
		return vectors(dot, sum, bytes, fmt.Sprintf("v%d.%s", m, bytes))
	case w&0x9fc0f400 == 0x0f80e000:
		return vectors(dot, sum, bytes, fmt.Sprintf("v%d.4b[%d]", m, w>>11&1<<1|w>>21&1))
	case size == 0 || size == 3:
		return ""
	}
	name := [...]string{"sqrdmlah", "sqrdmlsh"}
	letter := "bhsd"[size : size+1]
	lanes := [...][2]string{1: {"4h", "8h"}, 2: {"2s", "4s"}}[size][q]
	element := fmt.Sprintf("v%d.s[%d]", m, w>>11&1<<1|w>>21&1)
	if size == 1 {
		element = fmt.Sprintf("v%d.h[%d]", m&15, w>>11&1<<2|w>>21&1<<1|w>>20&1)
	}
	switch {
	case w&0xbf20f400 == 0x2e008400:
		return vectors(name[w>>11&1], lanes, lanes, fmt.Sprintf("v%d.%s", m, lanes))
	case w&0xbf00d400 == 0x2f00d000:
		return vectors(name[w>>13&1], lanes, lanes, element)
	case w&0xff20f400 == 0x7e008400:
		return aligned(name[w>>11&1], fmt.Sprintf("%[1]s%[2]d, %[1]s%[3]d, %[1]s%[4]d", letter, d, n, m))
	case w&0xff00d400 == 0x7f00d000:
		return aligned(name[w>>13&1], fmt.Sprintf("%[1]s%[2]d, %[1]s%[3]d, %[4]s", letter, d, n, element))
	}
	return ""
}

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
		return cmp.Or(atomicARM64(w), productARM64(w))
	}
	if s = namedARM64(w); s != "" {
		return s
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
	if strings.HasPrefix(name, "fcm") && strings.HasSuffix(operands, ", #0") {
		operands += ".0"
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
		name := [...]string{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"}[w>>12&7] + order(23, 22)
		if w&31 == 31 && w>>23&1 == 0 {
			return aligned("st"+name, rs+", "+place(0)) // the old value is dropped
		}
		return aligned("ld"+name, rs+", "+rt+", "+place(0))
	}
	return ""
}
