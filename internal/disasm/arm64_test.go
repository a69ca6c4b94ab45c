package disasm

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

func wordsARM64(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// TestDecodeARM64: each form of instruction that uses an address, and the targets of calls through a register.
func TestDecodeARM64(t *testing.T) {
	const at = target.Addr(0x54f8155620)
	type line struct {
		text string
		kind RefKind
		ref  target.Addr
	}
	for name, c := range map[string]struct {
		code []byte
		want []line
	}{
		"call":   {wordsARM64(0x97feaacb), []line{{"bl      0x54f810014c", RefCall, 0x54f810014c}}},
		"jump":   {wordsARM64(0x17ffffff), []line{{"b       0x54f815561c", RefJump, at - 4}}},
		"if":     {wordsARM64(0x54000041, 0xb5fffff0, 0x37080041), []line{{"b.ne    0x54f8155628", RefJump, at + 8}, {"cbnz    x16, 0x54f8155620", RefJump, at}, {"tbnz    w1, #1, 0x54f8155630", RefJump, at + 16}}},
		"place":  {wordsARM64(0x10000089, 0xb0ffffe1, 0x91004021), []line{{"adr     x9, 0x54f8155630", RefAddress, at + 16}, {"adrp    x1, 0x54f8152000", RefNone, 0}, {"add     x1, x1, #0x10", RefAddress, 0x54f8152010}}},
		"return": {wordsARM64(0xd65f03c0), []line{{"ret", RefNone, 0}}},
		"slot": {wordsARM64(0xd2891b00, 0xf2bf01a0, 0xf2c00a80, 0xf9400400, 0xd63f0000, 0xd63f0000), []line{
			{"mov     x0, #0x48d8", RefNone, 0}, {"movk    x0, #0xf80d, lsl #16", RefNone, 0}, {"movk    x0, #0x54, lsl #32", RefImmediate, 0x54f80d48d8},
			{"ldr     x0, [x0,#8]", RefMemory, 0x54f80d48e0}, {"blr     x0", RefCallSlot, 0x54f80d48e0}, {"blr     x0", RefNone, 0}}},
		"constant":     {wordsARM64(0xd2a01001, 0xd63f0020), []line{{"mov     x1, #0x800000", RefImmediate, 0x800000}, {"blr     x1", RefCall, 0x800000}}},
		"stub":         {wordsARM64(0x5800008b, 0xd61f0160), []line{{"ldr     x11, 0x54f8155630", RefMemory, at + 16}, {"br      x11", RefJumpSlot, at + 16}}},
		"overwritten":  {wordsARM64(0x5800008b, 0x8b0b016b, 0xd63f0160), []line{{"ldr     x11, 0x54f8155630", RefMemory, at + 16}, {"add     x11, x11, x11", RefNone, 0}, {"blr     x11", RefNone, 0}}},
		"stored":       {wordsARM64(0x5800008b, 0xf900000b, 0xd63f0160), []line{{"ldr     x11, 0x54f8155630", RefMemory, at + 16}, {"str     x11, [x0]", RefNone, 0}, {"blr     x11", RefCallSlot, at + 16}}},
		"jumped into":  {wordsARM64(0x5800008b, 0xd63f0160, 0x17ffffff), []line{{"ldr     x11, 0x54f8155630", RefMemory, at + 16}, {"blr     x11", RefNone, 0}, {"b       0x54f8155624", RefJump, at + 4}}},
		"small number": {wordsARM64(0xd2800c80, 0xf9400400), []line{{"mov     x0, #0x64", RefNone, 0}, {"ldr     x0, [x0,#8]", RefNone, 0}}},
		"ordered": {wordsARM64(0xf8bfc000, 0xb8bfc000, 0xc8e2fc01, 0xb8e380a4, 0xb8e300a4, 0x382033e1, 0xd9418000, 0x991ff3ff, 0x38bfc041), []line{{"ldapr   x0, [x0]", RefNone, 0}, {"ldapr   w0, [x0]", RefNone, 0},
			{"casal   x2, x1, [x0]", RefNone, 0}, {"swpal   w3, w4, [x5]", RefNone, 0}, {"ldaddal w3, w4, [x5]", RefNone, 0}, {"ldsetb  w0, w1, [sp]", RefNone, 0},
			{"ldapur  x0, [x0,#24]", RefNone, 0}, {"stlur   wzr, [sp,#-1]", RefNone, 0}, {"ldaprb  w1, [x2]", RefNone, 0}}},
		"names of objdump": {wordsARM64(0xd53bd048, 0xd51b4211, 0xd503233f, 0xd503245f, 0x33181fe9, 0x383131ff, 0x1e202008, 0x4e829420, 0x6e828420), []line{
			{"mrs     x8, tpidr_el0", RefNone, 0}, {"msr     nzcv, x17", RefNone, 0}, {"paciasp", RefNone, 0}, {"bti     c", RefNone, 0}, {"bfc     w9, #8, #8", RefNone, 0},
			{"stsetb  w17, [x15]", RefNone, 0}, {"fcmp    s0, #0.0", RefNone, 0}, {"sdot    v0.4s, v1.16b, v2.16b", RefNone, 0}, {"sqrdmlah v0.4s, v1.4s, v2.4s", RefNone, 0}}},
		"nothing": {wordsARM64(0), []line{{".inst   0x00000000", RefNone, 0}}},
		"cut off": {[]byte{0xc0, 3, 0x5f}, []line{{"", RefNone, 0}}},
	} {
		var got []line
		n := 0
		for in := range Decode(target.ArchARM64, c.code, at) {
			assert.Equal(t, at+target.Addr(n), in.Addr)
			n += len(in.Bytes)
			got = append(got, line{in.Text, in.Kind, in.Ref})
		}
		assert.Equal(t, c.want, got, name)
		assert.Len(t, c.code, n)
	}
	assert.True(t, Known(target.ArchARM64))
	assert.False(t, Known(target.ArchRISCV64))
}
