package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// unwindInfo builds an UNWIND_INFO of version 1 without a chain.
func unwindInfo(prolog, frame byte, codes ...byte) []byte {
	b := append([]byte{1, prolog, byte(len(codes) / 2), frame}, codes...)
	if len(codes)%4 != 0 {
		b = append(b, 0, 0)
	}
	return b
}

func TestAMD64Operations(t *testing.T) {
	rbp, rbx := byte(target.RBP)<<4, byte(target.RBX)<<4
	sp := uint64(testStack)
	for _, tc := range []struct {
		name   string
		info   []byte
		stack  []byte
		offset target.Addr // of the instruction pointer in the function
		regs   []uint64
		sp     uint64
		want   map[target.Reg]uint64
	}{
		{"push", unwindInfo(2, 0, 2, opPushNonvol|rbx, 1, opPushNonvol|rbp), words(7, 8, testRet), 0x500, nil, sp + 24,
			map[target.Reg]uint64{target.RBX: 7, target.RBP: 8}},
		{"inside the prologue", unwindInfo(2, 0, 2, opPushNonvol|rbx, 1, opPushNonvol|rbp), words(8, testRet), 1, nil, sp + 16,
			map[target.Reg]uint64{target.RBP: 8}},
		{"small allocation", unwindInfo(4, 0, 4, opAllocSmall|1<<4), words(0, 0, testRet), 0x500, nil, sp + 24, nil},
		{"large allocation", unwindInfo(4, 0, 4, opAllocLarge, 3, 0), words(0, 0, 0, testRet), 0x500, nil, sp + 32, nil},
		{"larger allocation", unwindInfo(7, 0, 7, opAllocLarge|1<<4, 8, 0, 0, 0), words(0, testRet), 0x500, nil, sp + 16, nil},
		{"save", unwindInfo(8, 0, 8, opSaveNonvol|rbx, 1, 0, 4, opAllocSmall|1<<4), words(5, 6, testRet), 0x500, nil, sp + 24,
			map[target.Reg]uint64{target.RBX: 6}},
		{"save far", unwindInfo(8, 0, 8, opSaveNonvolFar|rbx, 8, 0, 0, 0, 4, opAllocSmall|1<<4), words(5, 6, testRet), 0x500, nil, sp + 24,
			map[target.Reg]uint64{target.RBX: 6}},
		{"vector registers", unwindInfo(8, 0, 8, opSaveXMM, 0, 0, 7, opSaveXMMFar, 0, 0, 0, 0, 4, opAllocSmall|1<<4), words(5, 6, testRet), 0x500,
			nil, sp + 24, nil},
		{"frame register", unwindInfo(8, byte(target.RBP)|1<<4, 8, opSetFPReg, 4, opAllocSmall|1<<4, 1, opPushNonvol|rbp),
			words(99, 98, 0, 0, 11, testRet), 0x500, []uint64{uint64(target.RBP), sp + 32}, sp + 48, map[target.Reg]uint64{target.RBP: 11}},
		{"large frame register", unwindInfo(8, byte(target.RBP)|15<<4, 8, opSetFPRegLarge, 32, 0, 0, 0, 4, opAllocSmall|1<<4),
			words(99, 98, 1, 2, testRet), 0x500, []uint64{uint64(target.RBP), sp + 16 + 16*32}, sp + 40, nil},
		{"machine frame", unwindInfo(0, 0, 0, opPushMachFrame|1<<4), words(14, testRet, 0x33, 0x246, sp+0x100, 0x2b), 0x500, nil, sp + 0x100,
			map[target.Reg]uint64{target.EFLAGS: 0x246}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := testUnwinder(tc.info, tc.stack, nil).Cursor(target.Range{})
			f := amd64Frame(testStart+tc.offset, testStack, tc.regs...)
			f.Regs.Set(target.RAX, 1)
			more, err := c.Step(&f, TrustUnwind)
			require.NoError(t, err)
			require.True(t, more)
			assert.Equal(t, uint64(testRet), get(t, &f, target.RIP))
			assert.Equal(t, tc.sp, get(t, &f, target.RSP))
			for r, v := range tc.want {
				assert.Equal(t, v, get(t, &f, r), target.RegName(target.ArchAMD64, r))
			}
			_, known := f.Regs.Get(target.RAX)
			assert.Equal(t, tc.name == "machine frame", known, "a call destroys rax, an interrupt does not")
			assert.Equal(t, tc.name == "machine frame", f.Exact)
		})
	}
}

func TestAMD64Chain(t *testing.T) {
	parent := unwindInfo(1, 0, 1, opPushNonvol|byte(target.RBP)<<4)
	info := append([]byte{1 | unwChained<<3, 4, 1, 0, 4, opAllocSmall, 0, 0}, make([]byte, 12)...)
	binary.LittleEndian.PutUint32(info[8+8:], uint32(testInfo-testBase)+32)
	info = append(append(info, make([]byte, 32-len(info))...), parent...)
	c := testUnwinder(info, words(0, 9, testRet), nil).Cursor(target.Range{})
	f := amd64Frame(testStart+0x500, testStack)
	_, err := c.Step(&f, TrustUnwind)
	require.NoError(t, err)
	assert.Equal(t, uint64(9), get(t, &f, target.RBP))
	assert.Equal(t, uint64(testStack)+24, get(t, &f, target.RSP))

	// A chain that refers to itself ends.
	binary.LittleEndian.PutUint32(info[8+8:], uint32(testInfo-testBase))
	c = testUnwinder(info, words(0, 9, testRet), nil).Cursor(target.Range{})
	f = amd64Frame(testStart+0x500, testStack)
	_, err = c.Step(&f, TrustUnwind)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestAMD64Epilogue(t *testing.T) {
	rbp, rbx := byte(target.RBP)<<4, byte(target.RBX)<<4
	info := unwindInfo(8, 0, 8, opAllocSmall|1<<4, 2, opPushNonvol|rbx, 1, opPushNonvol|rbp)
	for _, tc := range []struct {
		name  string
		code  []byte
		stack []byte
		want  map[target.Reg]uint64
		words int
	}{
		{"add rsp", []byte{0x48, 0x83, 0xc4, 0x10, 0x5b, 0x5d, 0xc3}, words(0, 0, 7, 8, testRet), map[target.Reg]uint64{target.RBX: 7, target.RBP: 8}, 5},
		{"add rsp, imm32", []byte{0x48, 0x81, 0xc4, 0x10, 0, 0, 0, 0x5b, 0x5d, 0xc3}, words(0, 0, 7, 8, testRet), map[target.Reg]uint64{target.RBX: 7}, 5},
		{"second pop", []byte{0x5d, 0xc3}, words(8, testRet), map[target.Reg]uint64{target.RBP: 8}, 2},
		{"pop r12", []byte{0x41, 0x5c, 0xf3, 0xc3}, words(8, testRet), map[target.Reg]uint64{target.R12: 8}, 2},
		{"ret", []byte{0xc3}, words(testRet), nil, 1},
		{"tail call", []byte{0x5d, 0xe9, 0, 0, 1, 0}, words(8, testRet), map[target.Reg]uint64{target.RBP: 8}, 2},
		{"tail call through memory", []byte{0x48, 0xff, 0x20}, words(testRet), nil, 1},
		// In the body the codes of the prologue apply.
		{"jump inside", []byte{0xe9, 0, 0, 0, 0, 0x90}, words(0, 0, 7, 8, testRet), map[target.Reg]uint64{target.RBX: 7, target.RBP: 8}, 5},
		{"other code", []byte{0x90, 0xc3}, words(0, 0, 7, 8, testRet), map[target.Reg]uint64{target.RBX: 7, target.RBP: 8}, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code := append(make([]byte, 0x500), tc.code...)
			code = append(code, make([]byte, 0x1000-len(code))...)
			c := testUnwinder(info, tc.stack, code).Cursor(target.Range{})
			f := amd64Frame(testStart+0x500, testStack)
			f.Exact = true
			in, _ := c.u.codes.FindCode(testStart + 0x500)
			assert.Equal(t, tc.name == "jump inside" || tc.name == "other code", c.Framed(&f, in))
			prologue := amd64Frame(testStart+1, testStack)
			assert.True(t, c.Framed(&prologue, in), "a frame that called")
			prologue.Exact = true
			assert.False(t, c.Framed(&prologue, in), "the prologue has 8 bytes")
			_, err := c.Step(&f, TrustUnwind)
			require.NoError(t, err)
			assert.Equal(t, uint64(testRet), get(t, &f, target.RIP))
			assert.Equal(t, uint64(testStack)+uint64(8*tc.words), get(t, &f, target.RSP))
			for r, v := range tc.want {
				assert.Equal(t, v, get(t, &f, r))
			}
		})
	}
}

func TestAMD64Version2(t *testing.T) {
	// An epilogue of 2 bytes at the end of the function, and one 0x20 before it.
	info := []byte{2, 4, 4, 0, 2, opEpilog | 1<<4, 0x20, opEpilog, 4, opAllocSmall, 1, opPushNonvol | byte(target.RBP)<<4}
	code := make([]byte, 0x1000)
	for _, at := range []int{0xffe, 0xfe0} {
		copy(code[at:], []byte{0x5d, 0xc3})
	}
	copy(code[0x500:], []byte{0x5d, 0xc3}) // looks like an epilogue, but is not listed
	for at, n := range map[target.Addr]int{0xffe: 2, 0xfff: 1, 0xfe0: 2, 0x500: 3} {
		c := testUnwinder(info, words(testRet, testRet, testRet, testRet), code).Cursor(target.Range{})
		f := amd64Frame(testStart+at, testStack)
		f.Exact = true
		_, err := c.Step(&f, TrustUnwind)
		require.NoError(t, err)
		assert.Equal(t, uint64(testStack)+uint64(8*n), get(t, &f, target.RSP), "at %#x", uint64(at))
	}
}

func TestAMD64Bad(t *testing.T) {
	stack := words(testRet, testRet, testRet, testRet)
	for _, tc := range []struct {
		name string
		info []byte
		regs []uint64
		want error
	}{
		{"no data", []byte{}, nil, target.ErrNotInDump},
		{"version 3", []byte{3, 0, 0, 0}, nil, target.ErrCorrupt},
		{"unknown operation", unwindInfo(1, 0, 1, 12), nil, target.ErrCorrupt},
		{"codes cut off", []byte{1, 1, 200, 0, 1, 0}, nil, target.ErrNotInDump},
		{"operand cut off", unwindInfo(1, 0, 1, opAllocLarge), nil, target.ErrCorrupt},
		{"no frame register", unwindInfo(1, 0, 1, opSetFPReg), nil, target.ErrCorrupt},
		{"large offset that is small", unwindInfo(1, 5, 1, opSetFPRegLarge, 0, 0, 0, 0), nil, target.ErrCorrupt},
		{"frame register unknown", unwindInfo(1, 5, 1, opSetFPReg), nil, target.ErrUnsupported},
		{"stack goes up", unwindInfo(1, 5, 1, opSetFPReg), []uint64{uint64(target.RBP), uint64(testStack) - 8}, target.ErrNotInDump},
		{"stack is not aligned", unwindInfo(1, 5, 1, opSetFPReg), []uint64{uint64(target.RBP), uint64(testStack) + 3}, target.ErrCorrupt},
		{"allocation beyond the stack", unwindInfo(7, 0, 7, opAllocLarge|1<<4, 8, 0, 0, 0xff), nil, target.ErrNotInDump},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := testUnwinder(tc.info, stack, nil).Cursor(target.Range{})
			f := amd64Frame(testStart+0x500, testStack, tc.regs...)
			was := f
			more, err := c.Step(&f, TrustUnwind)
			assert.False(t, more)
			assert.ErrorIs(t, err, tc.want)
			assert.Equal(t, was, f, "a step that fails changes nothing")
		})
	}
}

func TestPData(t *testing.T) {
	var table []byte
	for _, v := range []uint32{0x1000, 0x1010, 0x2000, 0x1010, 0x1020, 0x2004, 0x1040, 0x1050, 0x3001} {
		table = binary.LittleEndian.AppendUint32(table, v)
	}
	var other []byte
	for _, v := range []uint32{0x1010, 0x1020, 0x2004} {
		other = binary.LittleEndian.AppendUint32(other, v)
	}
	mem := testMemory{testBase + 0x5000: table, testBase + 0x3000: other}
	at := target.Range{Start: testBase + 0x5000, End: testBase + 0x5000 + 36}
	for _, tc := range []struct {
		rva   target.Addr
		want  Format
		start target.Addr
		info  target.Addr
	}{
		{0x1000, FormatWindows, 0x1000, 0x2000}, {0x100f, FormatWindows, 0x1000, 0x2000}, {0x1010, FormatWindows, 0x1010, 0x2004},
		{0x1020, FormatLeaf, 0, 0}, {0x0fff, FormatLeaf, 0, 0}, {0x1045, FormatWindows, 0x1010, 0x2004}, {0x9000, FormatLeaf, 0, 0},
	} {
		c, ok := OpenPData(mem, target.ArchAMD64, testBase, at).Find(testBase + tc.rva)
		require.True(t, ok)
		assert.Equal(t, tc.want, c.Format, "%#x", uint64(tc.rva))
		if tc.want == FormatWindows {
			assert.Equal(t, testBase+tc.start, c.Range.Start)
			assert.Equal(t, testBase+tc.info, c.Info)
		}
	}
	_, ok := OpenPData(testMemory{}, target.ArchAMD64, testBase, at).Find(testBase + 0x1000)
	assert.False(t, ok, "the table is not in the dump")
	_, ok = OpenPData(mem, target.ArchAMD64, testBase, at).Find(0x10)
	assert.False(t, ok, "below the image")
	mem[testBase+0x5000] = table[:24] // without the last entry, the others are found
	_, ok = OpenPData(mem, target.ArchAMD64, testBase, at).Find(testBase + 0x1000)
	assert.True(t, ok)
	_, ok = OpenPData(mem, target.ArchAMD64, testBase, at).Find(testBase + 0x1045)
	assert.False(t, ok)
}

func FuzzUnwindInfo(f *testing.F) {
	f.Add(unwindInfo(8, 0x15, 8, opSetFPReg, 4, opAllocSmall|1<<4, 1, opPushNonvol|5<<4), words(1, 2, 3, testRet), uint16(9), false)
	f.Add(unwindInfo(8, 0xf5, 8, opSetFPRegLarge, 32, 0, 0, 0, 4, opAllocLarge|1<<4, 8, 0, 0, 0), words(testRet), uint16(0), false)
	f.Add([]byte{2, 4, 4, 0, 2, opEpilog | 1<<4, 0x20, opEpilog, 4, opAllocSmall, 1, 0x50}, words(testRet), uint16(0xffe), false)
	f.Add([]byte{1 | unwChained<<3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0}, words(testRet), uint16(1), false)
	f.Add([]byte{0x10, 0, 0x40, 0x08, 0x81, 0xe1, 0xe4, 0}, words(1, testRet), uint16(4), true)
	f.Fuzz(func(t *testing.T, info, stack []byte, offset uint16, arm bool) {
		u := testUnwinder(info, stack, nil)
		fr := amd64Frame(testStart+target.Addr(offset%0x1000), testStack, uint64(target.RBP), uint64(testStack)+16)
		if arm {
			fr = arm64Frame(testStart+target.Addr(offset%0x1000), testStack)
		}
		n := 0
		for f := range u.Walk(fr.Regs, target.Range{Start: testStack, End: testStack + target.Addr(len(stack))}) {
			_ = f
			if n++; n > len(stack)/8+maxSwitches+2 {
				t.Fatalf("%d frames on a stack of %d bytes", n, len(stack))
			}
		}
	})
}

func BenchmarkStepAMD64(b *testing.B) {
	const frames = 10_000
	var stack []byte
	for range frames {
		stack = append(stack, words(0, 0, 0, 1, 2, testRet)...)
	}
	info := unwindInfo(8, 0, 8, opAllocSmall|2<<4, 2, opPushNonvol|3<<4, 1, opPushNonvol|5<<4)
	u := testUnwinder(info, stack, nil)
	b.ReportAllocs()
	for b.Loop() {
		c := u.Cursor(target.Range{})
		f := amd64Frame(testRet, testStack)
		for range frames - 1 {
			if _, err := c.Step(&f, TrustUnwind); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*frames/b.Elapsed().Seconds(), "frames/s")
}

// TestAMD64EpilogueByFrameRegister: an epilogue may release the stack from the frame register, but
// from no other register.
func TestAMD64EpilogueByFrameRegister(t *testing.T) {
	fixed := unwindInfo(8, byte(target.RBP), 8, opSetFPReg, 4, opAllocSmall|1<<4, 1, opPushNonvol|byte(target.RBP)<<4)
	r13 := unwindInfo(8, byte(target.R13), 8, opSetFPReg, 4, opAllocSmall|1<<4, 1, opPushNonvol|byte(target.R13&7)<<4|0x80)
	for _, tc := range []struct {
		name  string
		info  []byte
		frame target.Reg
		code  []byte
	}{
		{"lea rsp, [rbp+disp8]", fixed, target.RBP, []byte{0x48, 0x8d, 0x65, 0x10, 0x5d, 0xc3}},
		{"lea rsp, [rbp+disp32]", fixed, target.RBP, []byte{0x48, 0x8d, 0xa5, 0x10, 0, 0, 0, 0x5d, 0xc3}},
		{"lea rsp, [r13+disp8]", r13, target.R13, []byte{0x49, 0x8d, 0x65, 0x10, 0x41, 0x5d, 0xc3}},
		{"lea rsp, [rbx+disp8] is of the body", fixed, target.RBP, []byte{0x48, 0x8d, 0x63, 0x70, 0x5d, 0xc3}},
		{"lea rsp, [rbp] without a return is of the body", fixed, target.RBP, []byte{0x48, 0x8d, 0x65, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code := append(make([]byte, 0x500), tc.code...)
			code = append(code, make([]byte, 0x1000-len(code))...)
			c := testUnwinder(tc.info, words(1, 2, 7, testRet), code).Cursor(target.Range{})
			f := amd64Frame(testStart+0x500, testStack, uint64(tc.frame), uint64(testStack), uint64(target.RBX), uint64(testStack))
			f.Exact = true
			_, err := c.Step(&f, TrustUnwind)
			require.NoError(t, err)
			assert.Equal(t, uint64(testRet), get(t, &f, target.RIP))
			assert.Equal(t, uint64(testStack)+32, get(t, &f, target.RSP))
			assert.Equal(t, uint64(7), get(t, &f, tc.frame))
		})
	}
}
