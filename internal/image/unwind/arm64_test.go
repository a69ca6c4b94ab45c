package unwind

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func arm64Frame(ip, sp target.Addr, set ...uint64) Frame {
	f := Frame{Regs: target.Registers{Arch: target.ArchARM64}, Trust: TrustContext}
	f.Regs.Set(target.ARM64PC, uint64(ip))
	f.Regs.Set(target.ARM64SP, uint64(sp))
	for i := 0; i+1 < len(set); i += 2 {
		f.Regs.Set(target.Reg(set[i]), set[i+1])
	}
	return f
}

// xdata builds an .xdata record of a function of 0x1000 bytes with one epilogue at its end. epilog
// is the index of its first code.
func xdata(epilog uint32, codes ...byte) []byte {
	for len(codes)%4 != 0 {
		codes = append(codes, 0xe3)
	}
	b := binary.LittleEndian.AppendUint32(nil, 0x400|1<<21|epilog<<22|uint32(len(codes)/4)<<27)
	return append(b, codes...)
}

func TestARM64Codes(t *testing.T) {
	sp := uint64(testStack)
	for _, tc := range []struct {
		name  string
		codes []byte
		stack []byte
		regs  []uint64
		sp    uint64
		want  map[target.Reg]uint64
	}{
		{"save_fplr_x", []byte{0x81, 0xe4}, words(5, testRet), nil, sp + 16, map[target.Reg]uint64{target.ARM64FP: 5}},
		{"alloc_s, save_fplr", []byte{0x40, 0x02, 0xe4}, words(5, testRet, 0, 0), nil, sp + 32, map[target.Reg]uint64{target.ARM64FP: 5}},
		{"set_fp", []byte{0xe1, 0x81, 0xe4}, words(0, 0, 5, testRet), []uint64{29, sp + 16}, sp + 32, map[target.Reg]uint64{target.ARM64FP: 5}},
		{"add_fp", []byte{0xe2, 1, 0x81, 0xe4}, words(0, 0, 5, testRet), []uint64{29, sp + 24}, sp + 32, map[target.Reg]uint64{target.ARM64FP: 5}},
		{"save_r19r20_x", []byte{0x81, 0x22, 0xe4}, words(5, testRet, 19, 20), nil, sp + 32, map[target.Reg]uint64{19: 19, 20: 20}},
		{"save_regp", []byte{0xc8, 0x82, 0x83, 0xe4}, words(5, testRet, 21, 22), nil, sp + 32, map[target.Reg]uint64{21: 21, 22: 22}},
		{"save_reg, save_lrpair", []byte{0xd0, 0x01, 0xd6, 0x42, 0x03, 0xe4}, words(0, 19, 21, testRet, 0, 0), nil, sp + 48,
			map[target.Reg]uint64{19: 19, 21: 21}},
		{"save_next", []byte{0x81, 0xe6, 0x24, 0xe4}, words(5, testRet, 19, 20, 21, 22), nil, sp + 48, map[target.Reg]uint64{19: 19, 20: 20, 21: 21, 22: 22}},
		{"alloc_m", []byte{0x81, 0xc0, 2, 0xe4}, words(5, testRet, 0, 0, 0, 0), nil, sp + 48, nil},
		{"alloc_l", []byte{0x81, 0xe0, 0, 0, 2, 0xe4}, words(5, testRet, 0, 0, 0, 0), nil, sp + 48, nil},
		{"save_reg_x", []byte{0x81, 0xd4, 0x21, 0xe4}, words(5, testRet, 20, 0), nil, sp + 32, map[target.Reg]uint64{20: 20}},
		{"vector registers", []byte{0x81, 0xd8, 0, 0xdc, 0, 0xda, 1, 0xde, 1, 0xe4}, words(5, testRet, 0, 0, 0, 0), nil, sp + 48, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := testUnwinder(xdata(0, tc.codes...), tc.stack, nil).Cursor(target.Range{})
			f := arm64Frame(testStart+0x504, testStack, tc.regs...)
			more, err := c.Step(&f, TrustUnwind)
			require.NoError(t, err)
			require.True(t, more)
			assert.Equal(t, uint64(testRet), get(t, &f, target.ARM64PC))
			assert.Equal(t, tc.sp, get(t, &f, target.ARM64SP))
			for r, v := range tc.want {
				assert.Equal(t, v, get(t, &f, r), "x%d", r)
			}
		})
	}
}

func TestARM64PrologueAndEpilogue(t *testing.T) {
	// stp fp, lr, [sp, #-16]!; mov fp, sp; sub sp, sp, #16; …; add sp, sp, #16; ldp fp, lr, [sp], #16; ret
	full := xdata(4, 0x01, 0xe1, 0x81, 0xe4, 0x01, 0x81, 0xe4)
	for at, want := range map[target.Addr]uint64{0: 0, 4: 16, 8: 16, 0xff4: 32, 0xff8: 16, 0xffc: 0} {
		c := testUnwinder(full, words(5, testRet, 5, testRet), nil).Cursor(target.Range{})
		f := arm64Frame(testStart+at, testStack, 29, uint64(testStack), uint64(target.ARM64LR), testRet)
		code, _ := c.u.codes.FindCode(testStart + at)
		assert.True(t, c.Framed(&f, code), "a frame that called")
		f.Exact = true
		assert.Equal(t, at == 0xff4, c.Framed(&f, code), "at %#x", uint64(at))
		_, err := c.Step(&f, TrustUnwind)
		require.NoError(t, err, "at %#x", uint64(at))
		assert.Equal(t, uint64(testStack)+want, get(t, &f, target.ARM64SP), "at %#x", uint64(at))
		assert.Equal(t, uint64(testRet), get(t, &f, target.ARM64PC))
	}
}

func TestARM64Packed(t *testing.T) {
	// Two registers from X19 on, FP and LR chained, 48 bytes.
	word := uint32(1) | 0x400<<2 | 2<<16 | 3<<21 | 3<<23
	entry := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(testStart-testBase)), word)
	code, ok := codeARM64(testMemory{}, testBase, entry, uint32(testStart-testBase)+0x500)
	require.True(t, ok)
	assert.Equal(t, target.Range{Start: testStart, End: testStart + 0x1000}, code.Range)
	u := New(testMemory{testStack: words(5, testRet, 0, 0, 19, 20)}, testCodes{code})
	f := arm64Frame(testStart+0x504, testStack, 29, uint64(testStack))
	_, err := u.Cursor(target.Range{}).Step(&f, TrustUnwind)
	require.NoError(t, err)
	assert.Equal(t, uint64(testStack)+48, get(t, &f, target.ARM64SP))
	assert.Equal(t, uint64(testRet), get(t, &f, target.ARM64PC))
	assert.Equal(t, uint64(5), get(t, &f, target.ARM64FP))
	assert.Equal(t, uint64(19), get(t, &f, 19))
	assert.Equal(t, uint64(20), get(t, &f, 20))

	// LR with an odd register; then only the saves have run.
	word = uint32(1) | 0x400<<2 | 1<<16 | 1<<21 | 2<<23
	entry = binary.LittleEndian.AppendUint32(entry[:4], word)
	code, _ = codeARM64(testMemory{}, testBase, entry, uint32(testStart-testBase))
	u = New(testMemory{testStack: words(19, testRet)}, testCodes{code})
	f = arm64Frame(testStart+4, testStack)
	f.Exact = true
	_, err = u.Cursor(target.Range{}).Step(&f, TrustUnwind)
	require.NoError(t, err)
	assert.Equal(t, uint64(testStack)+16, get(t, &f, target.ARM64SP))
	assert.Equal(t, uint64(19), get(t, &f, 19))
}

func TestARM64Leaf(t *testing.T) {
	u := New(testMemory{}, testCodes{{Range: target.Range{Start: testStart, End: testStart + 0x1000}, Format: FormatLeaf}})
	f := arm64Frame(testStart+0x20, testStack, uint64(target.ARM64LR), testRet)
	f.Exact = true
	c := u.Cursor(target.Range{})
	more, err := c.Step(&f, TrustUnwind)
	require.NoError(t, err)
	require.True(t, more)
	_, err = c.Step(&f, TrustUnwind)
	assert.ErrorIs(t, err, target.ErrCorrupt, "only the leaf may keep the stack pointer")
}

func TestARM64Bad(t *testing.T) {
	for name, tc := range map[string]struct {
		info []byte
		want error
	}{
		"no data":       {nil, target.ErrNotInDump},
		"version 1":     {[]byte{0, 0, 4, 0}, target.ErrUnsupported},
		"no end":        {xdata(0, 0x01, 0x01, 0x01, 0x01), target.ErrCorrupt},
		"cut off":       {xdata(0, 0x01, 0x01, 0x01, 0xe0), target.ErrCorrupt},
		"epilogue":      {xdata(30, 0xe4), target.ErrCorrupt},
		"codes lacking": {xdata(0, 0x81, 0xe4)[:5], target.ErrNotInDump},
		"unknown code":  {xdata(0, 0xff, 0xe4), target.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			c := testUnwinder(tc.info, words(5, testRet), nil).Cursor(target.Range{})
			f := arm64Frame(testStart+0x504, testStack)
			_, err := c.Step(&f, TrustUnwind)
			assert.ErrorIs(t, err, tc.want)
		})
	}
}

// TestARM64Epilogues covers a record with a list of epilogues, and one with its counts in a
// separate word.
func TestARM64Epilogues(t *testing.T) {
	// stp fp, lr, [sp, #-16]!; sub sp, sp, #16; …; and twice: add sp, sp, #16; ldp; ret
	codes := []byte{0x01, 0x81, 0xe4, 0xe3}
	scopes := binary.LittleEndian.AppendUint32(nil, 0x80)          // at 0x200, from code 0 on
	scopes = binary.LittleEndian.AppendUint32(scopes, 0x100|1<<22) // at 0x400, from code 1 on
	short := binary.LittleEndian.AppendUint32(nil, 0x400|2<<22|1<<27)
	long := binary.LittleEndian.AppendUint32(nil, 0x400)
	long = binary.LittleEndian.AppendUint32(long, 2|1<<16)
	for _, head := range [][]byte{short, long} {
		info := append(append(append([]byte(nil), head...), scopes...), codes...)
		for at, want := range map[target.Addr]uint64{0x200: 32, 0x204: 16, 0x208: 0, 0x400: 16, 0x404: 0, 0x300: 32} {
			c := testUnwinder(info, words(5, testRet, 5, testRet), nil).Cursor(target.Range{})
			f := arm64Frame(testStart+at, testStack, uint64(target.ARM64LR), testRet)
			f.Exact = true
			_, err := c.Step(&f, TrustUnwind)
			require.NoError(t, err, "at %#x", uint64(at))
			assert.Equal(t, uint64(testStack)+want, get(t, &f, target.ARM64SP), "at %#x", uint64(at))
		}
	}
}

// TestARM64PackedLarge covers packed entries with large frames, a signed LR and argument registers.
func TestARM64PackedLarge(t *testing.T) {
	for _, tc := range []struct {
		name string
		word uint32
		sp   uint64 // released
	}{
		{"more than an instruction can release", 1 | 0x400<<2 | 2<<16 | 3<<21 | 300<<23, 4800},
		{"one instruction", 1 | 0x400<<2 | 2<<16 | 3<<21 | 100<<23, 1600},
		{"signed", 1 | 0x400<<2 | 2<<16 | 2<<21 | 3<<23, 48},
		{"arguments and vector registers", 1 | 0x400<<2 | 1<<13 | 2<<16 | 1<<20 | 3<<21 | 8<<23, 128},
		{"a fragment", 2 | 0x400<<2 | 2<<16 | 3<<21 | 3<<23, 48},
	} {
		t.Run(tc.name, func(t *testing.T) {
			entry := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(testStart-testBase)), tc.word)
			code, ok := codeARM64(testMemory{}, testBase, entry, uint32(testStart-testBase)+0x500)
			require.True(t, ok)
			stack := make([]uint64, 700)
			stack[0], stack[1] = 5, testRet
			// FP and LR are at the bottom of the frame.
			u := New(testMemory{testStack: words(stack...)}, testCodes{code})
			f := arm64Frame(testStart+0x504, testStack, 29, uint64(testStack))
			_, err := u.Cursor(target.Range{}).Step(&f, TrustUnwind)
			require.NoError(t, err)
			assert.Equal(t, uint64(testStack)+tc.sp, get(t, &f, target.ARM64SP))
			assert.Equal(t, uint64(testRet), get(t, &f, target.ARM64PC))
			assert.Equal(t, uint64(5), get(t, &f, target.ARM64FP))
		})
	}
}

// TestARM64PData: code after the function of an entry is a leaf function. An entry of an unused
// kind, or without its record, is not found.
func TestARM64PData(t *testing.T) {
	entry := func(word uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(testStart-testBase)), word)
	}
	rva := uint32(testStart - testBase)
	code, ok := codeARM64(testMemory{}, testBase, entry(1|4<<2), rva+16)
	assert.True(t, ok)
	assert.Equal(t, FormatLeaf, code.Format)
	_, ok = codeARM64(testMemory{}, testBase, entry(3), rva)
	assert.False(t, ok)
	_, ok = codeARM64(testMemory{}, testBase, entry(0x2000), rva)
	assert.False(t, ok, "the record is not in the dump")
	info := xdata(0, 0x81, 0xe4)
	code, ok = codeARM64(testMemory{testBase + 0x2000: info}, testBase, entry(0x2000), rva+0x800)
	assert.True(t, ok)
	assert.Equal(t, target.Addr(testBase+0x2000), code.Info)
	assert.Equal(t, target.Range{Start: testStart, End: testStart + 0x1000}, code.Range)
}

// TestARM64CodeLengths: the reserved codes have the lengths in the specification, so that the codes
// after them are decoded.
func TestARM64CodeLengths(t *testing.T) {
	for _, code := range [][]byte{{0xe7, 0x81, 2}, {0xf8, 1}, {0xf9, 1, 2}, {0xfa, 1, 2, 3}, {0xfb, 1, 2, 3, 4}} {
		ops, err := decodeCodesARM64(append(append([]byte(nil), code...), 0x81, 0xe4))
		require.NoError(t, err)
		require.Len(t, ops.ops, 2)
		assert.Equal(t, armUnknown, ops.ops[0].kind)
		assert.Equal(t, armSave, ops.ops[1].kind)
		_, err = decodeCodesARM64(code)
		assert.ErrorIs(t, err, target.ErrCorrupt)
	}
}

// TestARM64Fragment: a fragment of a function has its own codes, followed by those of the function,
// whose prologue has run elsewhere. Its epilogue may have no end code at the end of the record.
func TestARM64Fragment(t *testing.T) {
	// str x19, [sp, #32]; …; ldr x19, [sp, #32]; b back. The function: stp fp, lr, [sp, #-48]!
	info := xdata(0, 0xd0, 0x04, 0xe5, 0x85, 0xe4)
	stack := words(29, testRet, 0, 0, 19, 0)
	for at, want := range map[target.Addr]uint64{0: 7, 4: 19, 0xff8: 19, 0xffc: 7} {
		c := testUnwinder(info, stack, nil).Cursor(target.Range{})
		f := arm64Frame(testStart+at, testStack, 19, 7)
		f.Exact = true
		_, err := c.Step(&f, TrustUnwind)
		require.NoError(t, err, "at %#x", uint64(at))
		assert.Equal(t, uint64(testStack)+48, get(t, &f, target.ARM64SP), "at %#x", uint64(at))
		assert.Equal(t, uint64(testRet), get(t, &f, target.ARM64PC))
		assert.Equal(t, uint64(29), get(t, &f, target.ARM64FP))
		assert.Equal(t, want, get(t, &f, 19), "at %#x", uint64(at))
	}
	codes := []byte{0xe5, 0x85, 0xe4, 0xc8, 0x82, 0x83, 0xe3, 0xe3}
	ops, err := epilogCodes(codes, 3)
	require.NoError(t, err)
	assert.EqualValues(t, 4, ops.own, "the two saves and what fills the word")
	_, err = epilogCodes(codes, 8)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestARM64Vectors: the caller's preserved vector registers are known if the callee saved them or
// left them unchanged; the others are unknown.
func TestARM64Vectors(t *testing.T) {
	area := make([]byte, 512)
	for i := range 32 {
		area[16*i] = byte(0x40 + i)
	}
	for _, tc := range []struct {
		name  string
		codes []byte
		stack []byte
		want  map[int]uint64
	}{
		{"save_fregp", []byte{0xd8, 0x42, 0x83, 0xe4}, words(5, testRet, 1, 2, 0, 0), map[int]uint64{9: 1, 10: 2}},
		{"save_fregp_x", []byte{0x81, 0xda, 0x01, 0xe4}, words(5, testRet, 1, 2), map[int]uint64{8: 1, 9: 2}},
		{"save_freg", []byte{0xdd, 0xc2, 0x81, 0xe4}, words(5, testRet, 1), map[int]uint64{15: 1}},
		{"save_freg_x", []byte{0x81, 0xde, 0x21, 0xe4}, words(5, testRet, 1, 0), map[int]uint64{9: 1}},
		{"save_next", []byte{0x81, 0xe6, 0xda, 0x03, 0xe4}, words(5, testRet, 1, 2, 3, 4), map[int]uint64{8: 1, 9: 2, 10: 3, 11: 4}},
		{"save_any_reg of a pair", []byte{0xe7, 0x48, 0x41, 0x83, 0xe4}, words(5, testRet, 1, 2, 0, 0), map[int]uint64{8: 1, 9: 2}},
		{"save_any_reg of a whole one", []byte{0xe7, 0x08, 0x81, 0x83, 0xe4}, words(5, testRet, 1, 2, 0, 0), map[int]uint64{8: 1}},
		{"save_any_reg with room", []byte{0x81, 0xe7, 0x2c, 0x41, 0xe4}, words(5, testRet, 1, 2), map[int]uint64{12: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := arm64Frame(testStart+0x504, testStack)
			f.Regs.Float = area
			_, err := testUnwinder(xdata(0, tc.codes...), tc.stack, nil).Cursor(target.Range{}).Step(&f, TrustUnwind)
			require.NoError(t, err)
			assert.Equal(t, uint64(testRet), get(t, &f, target.ARM64PC))
			assert.Nil(t, f.Regs.Float)
			for i := range 32 {
				v, known := f.Regs.VectorLow(i)
				want, saved := tc.want[i]
				if !saved {
					want = uint64(0x40 + i)
				}
				require.Equal(t, i >= 8 && i < 16, known, "v%d", i)
				if known {
					assert.Equal(t, want, v, "d%d", i)
				}
			}
		})
	}
}

// TestARM64PackedVectors covers a packed entry with one general and three vector registers, in its
// body and in its epilogue.
func TestARM64PackedVectors(t *testing.T) {
	word := uint32(1) | 0x400<<2 | 2<<13 | 1<<16 | 3<<23 // d8 to d10, x19; 48 bytes
	code := Code{Format: FormatWindows, Base: testBase, Packed: word, Range: target.Range{Start: testStart, End: testStart + 0x1000}}
	for at, sp := range map[target.Addr]target.Addr{0x500: 48, 0xfec: 48, 0xff0: 32, 0xffc: 0} {
		u := New(testMemory{testStack: words(0, 0, 19, 8, 9, 10)}, testCodes{code})
		if sp == 32 { // the locals are released
			u = New(testMemory{testStack: words(19, 8, 9, 10)}, testCodes{code})
		}
		f := arm64Frame(testStart+at, testStack, uint64(target.ARM64LR), testRet)
		f.Exact = true
		_, err := u.Cursor(target.Range{}).Step(&f, TrustUnwind)
		require.NoError(t, err, "at %#x", uint64(at))
		assert.Equal(t, uint64(testStack+sp), get(t, &f, target.ARM64SP), "at %#x", uint64(at))
		if sp > 0 {
			for i := range 3 {
				v, known := f.Regs.VectorLow(8 + i)
				assert.True(t, known)
				assert.EqualValues(t, 8+i, v, "at %#x", uint64(at))
			}
		}
	}
}

// TestDWARFVectors: call frame information numbers preserved vector registers from 64 on.
func TestDWARFVectors(t *testing.T) {
	n, ok := vectorFromDWARF(target.ArchARM64, 72)
	assert.True(t, ok)
	assert.Equal(t, 8, n)
	for arch, n := range map[target.Arch]uint64{target.ArchARM64: 63, target.ArchAMD64: 72} {
		_, ok = vectorFromDWARF(arch, n)
		assert.False(t, ok)
	}
	// offset_extended.
	mem := ehFrame("zR", []byte{0x0c, 31, 0}, []byte{0x0e, 32, 0x9d, 4, 0x9e, 3, 0x05, 72, 2, 0x05, 73, 1})
	ra := bytes.Index(mem[testFrame], []byte{1, 0x78, 16})
	mem[testFrame][ra+2] = 30
	u, err := openDWARF(t, mem)
	require.NoError(t, err)
	mem[testStack] = words(5, testRet, 1, 2)
	f := arm64Frame(testStart+0x20, testStack)
	_, err = u.Cursor(target.Range{}).Step(&f, TrustUnwind)
	require.NoError(t, err)
	for i, want := range []uint64{1, 2} {
		v, known := f.Regs.VectorLow(8 + i)
		assert.True(t, known)
		assert.Equal(t, want, v)
	}
	_, known := f.Regs.VectorLow(10)
	assert.False(t, known)
}

func TestTrustIsOrdered(t *testing.T) {
	names := []string{"none", "scan", "frame pointer", "unwind", "context", "Trust(5)"}
	for i, name := range names {
		assert.Equal(t, name, Trust(i).String())
	}
}

// TestDWARFRegistersOfARM64: DWARF uses the processor's register numbers, and no others.
func TestDWARFRegistersOfARM64(t *testing.T) {
	for _, n := range []uint64{0, 19, 29, 30, 31} {
		r, ok := fromDWARF(target.ArchARM64, n)
		assert.True(t, ok)
		assert.Equal(t, target.Reg(n), r)
	}
	_, ok := fromDWARF(target.ArchARM64, 64) // a vector register
	assert.False(t, ok)
	r, ok := fromDWARF(target.ArchAMD64, 1)
	assert.True(t, ok)
	assert.Equal(t, target.RDX, r)
	_, ok = fromDWARF(target.ArchAMD64, 17)
	assert.False(t, ok)
}

// TestARM64SignedReturns: call frame information of code with signed return addresses, as in
// distributions. The parser knows neither the key in the augmentation nor the instruction that
// records the signing. The return address contains the signature.
func TestARM64SignedReturns(t *testing.T) {
	const signed = 0x2b<<48 | uint64(testRet)
	// paciasp; stp fp, lr, [sp, -16]!; the body; ldp fp, lr; autiasp; ret
	program := []byte{0x41, 0x2d, 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x02, 0x40, 0xdd, 0xde, 0x0e, 0, 0x41, 0x2d}
	mem := ehFrame("zRB", []byte{0x0c, 31, 0}, program)
	ra := bytes.Index(mem[testFrame], []byte{1, 0x78, 16})
	mem[testFrame][ra+2] = 30
	u, err := openDWARF(t, mem)
	require.NoError(t, err)
	mem[testStack] = words(5, signed)
	for name, c := range map[string]struct {
		offset target.Addr
		lr     uint64
		sp     target.Addr
		exact  bool
	}{
		"entry":    {0, uint64(testRet), testStack, true},
		"signed":   {1, signed, testStack, true},
		"body":     {0x20, 0x77, testStack + 16, false},
		"restored": {0x43, signed, testStack, true},
	} {
		f := arm64Frame(testStart+c.offset, testStack)
		f.Exact = c.exact
		f.Regs.Set(target.ARM64LR, c.lr)
		more, err := u.Cursor(target.Range{}).Step(&f, TrustUnwind)
		require.NoError(t, err, name)
		require.True(t, more, name)
		ip, _ := f.Regs.IP()
		sp, _ := f.Regs.SP()
		assert.Equal(t, []target.Addr{testRet, c.sp}, []target.Addr{ip, sp}, name)
	}
}

func FuzzBlankSignatures(f *testing.F) {
	f.Add([]byte{0x41, 0x2d, 0x0f, 3, 1, 2, 3, 0x2d, 0x0c, 0x81, 0x02, 7, 0x9e, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := len(b)
		blankSignatures(b)
		blankAugmentation(b)
		if len(b) != n {
			t.Fatal("another length")
		}
	})
}
