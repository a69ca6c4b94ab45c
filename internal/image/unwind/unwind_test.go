package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// testMemory is a memory of separate ranges.
type testMemory map[target.Addr][]byte

func (m testMemory) Span(a target.Addr) []byte {
	for at, b := range m {
		if a >= at && uint64(a-at) < uint64(len(b)) {
			return b[a-at:]
		}
	}
	return nil
}

func (m testMemory) View(a target.Addr, n int) ([]byte, bool) {
	s := m.Span(a)
	if n > len(s) {
		return nil, false
	}
	return s[:n:n], true
}

func (m testMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.Span(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

// testCodes is a CodeMap of fixed ranges.
type testCodes []Code

func (c testCodes) FindCode(ip target.Addr) (Code, bool) {
	for _, k := range c {
		if k.Range.Contains(ip) {
			return k, true
		}
	}
	return Code{}, false
}

func (c testCodes) InCode(ip target.Addr) bool {
	_, ok := c.FindCode(ip)
	return ok
}

const (
	testBase  = target.Addr(0x10000)
	testStart = target.Addr(0x11000) // the function
	testInfo  = target.Addr(0x12000)
	testStack = target.Addr(0x7fff0000)
	testRet   = 0x11500
)

func words(v ...uint64) []byte {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func amd64Frame(ip, sp target.Addr, set ...uint64) Frame {
	f := Frame{Regs: target.Registers{Arch: target.ArchAMD64}, Trust: TrustContext}
	f.Regs.Set(target.RIP, uint64(ip))
	f.Regs.Set(target.RSP, uint64(sp))
	for i := 0; i+1 < len(set); i += 2 {
		f.Regs.Set(target.Reg(set[i]), set[i+1])
	}
	return f
}

func testUnwinder(info, stack, code []byte) *Unwinder {
	mem := testMemory{testInfo: info, testStack: stack}
	if code != nil {
		mem[testStart] = code
	}
	return New(mem, testCodes{{Range: target.Range{Start: testStart, End: testStart + 0x1000}, Format: FormatWindows,
		Base: testBase, Info: testInfo}})
}

func get(t *testing.T, f *Frame, r target.Reg) uint64 {
	t.Helper()
	v, ok := f.Regs.Get(r)
	require.True(t, ok, "%s is not known", target.RegName(f.Regs.Arch, r))
	return v
}

func TestWalkEndsWithReason(t *testing.T) {
	// A function with one push calls itself twice; then the stack is cut off.
	u := testUnwinder([]byte{1, 1, 1, 0, 1, opPushNonvol | byte(target.RBP)<<4}, words(1, testRet, 2, testRet), nil)
	var frames []Frame
	for f := range u.Walk(amd64Frame(testRet, testStack).Regs, target.Range{}) {
		frames = append(frames, f)
	}
	require.Len(t, frames, 3)
	assert.Equal(t, TrustContext, frames[0].Trust)
	assert.True(t, frames[0].Exact)
	assert.Equal(t, TrustUnwind, frames[1].Trust)
	assert.NoError(t, frames[1].Err)
	assert.ErrorIs(t, frames[2].Err, target.ErrNotInDump)
	assert.Equal(t, testStart, frames[2].Code.Range.Start)
}

func TestWalkReachesTheEnd(t *testing.T) {
	u := testUnwinder([]byte{1, 1, 1, 0, 1, opPushNonvol | byte(target.RBP)<<4}, words(1, testRet, 2, 0), nil)
	n := 0
	for f := range u.Walk(amd64Frame(testRet, testStack).Regs, target.Range{}) {
		assert.NoError(t, f.Err)
		n++
	}
	assert.Equal(t, 2, n)
}

// TestEntryEndsTheStack: the entry point of a program is the end of the stack, whatever is above
// it.
func TestEntryEndsTheStack(t *testing.T) {
	for _, arch := range []target.Arch{target.ArchARM64, target.ArchAMD64} {
		mem := testMemory{testStack: make([]byte, 64)}
		u := New(mem, testCodes{{Range: target.Range{Start: testStart, End: testStart + 0x40}, Format: FormatEntry}})
		regs := target.Registers{Arch: arch}
		regs.SetIP(testStart + 8)
		regs.SetSP(testStack)
		f := Frame{Regs: regs, Trust: TrustContext}
		more, err := u.Cursor(target.Range{}).Step(&f, TrustScan)
		assert.NoError(t, err)
		assert.False(t, more)
	}
}

func TestFallbacks(t *testing.T) {
	stack := words(0xdead, 0, testRet, 7, uint64(testStack)+0x30, testRet, 0, 0)
	codes := testCodes{{Range: target.Range{Start: testStart, End: testStart + 0x1000}}}
	u := New(testMemory{testStack: stack}, codes)
	c := u.Cursor(target.Range{})

	f := amd64Frame(testRet, testStack, uint64(target.RBP), uint64(testStack)+0x20)
	more, err := c.Step(&f, TrustUnwind)
	assert.False(t, more)
	assert.ErrorIs(t, err, target.ErrUnsupported)

	more, err = c.Step(&f, TrustFP)
	require.NoError(t, err)
	require.True(t, more)
	assert.Equal(t, TrustFP, f.Trust)
	assert.Equal(t, uint64(testStack)+0x30, get(t, &f, target.RSP))
	assert.Equal(t, uint64(testStack)+0x30, get(t, &f, target.RBP))

	f = amd64Frame(testRet, testStack, uint64(target.RBP), 12)
	more, err = c.Step(&f, TrustScan)
	require.NoError(t, err)
	require.True(t, more)
	assert.Equal(t, TrustScan, f.Trust)
	assert.Equal(t, uint64(testStack)+0x18, get(t, &f, target.RSP))
	_, known := f.Regs.FP()
	assert.False(t, known)
}

// TestFallbacksARM64: the caller of a leaf function without unwind data is in the link register,
// unless that address is in the same function, not after a call, or also in the frame record. A
// frame pointer of 0 ends the stack.
func TestFallbacksARM64(t *testing.T) {
	const far, signature, mask = testStart + 0x8000, 0x0040_0080_0000_0000, 0x007f_ff80_0000_0000
	code := make([]byte, 0x9000)
	put := func(at target.Addr, ins uint32) { binary.LittleEndian.PutUint32(code[at-testStart:], ins) }
	put(far-4, 0xd63f0000)                // blr x0
	put(testRet-4, 0x94000000|(0x400>>2)) // bl testRet+0x3fc
	put(testRet+0x80-4, 0xd63f0100)       // blr x8
	stack := words(uint64(testStack)+0x20, uint64(signature|far+0x100), 0, 0, 0, testRet|signature, testRet+0x80, testRet+0x80)
	codes := testCodes{{Range: target.Range{Start: testStart, End: testStart + 0x9000}}}
	for _, tc := range []struct {
		name         string
		pc, lr       target.Addr
		readable     bool
		want, wantSP target.Addr
	}{
		{"another function", testRet, far, true, far, testStack},
		{"no code to read", testRet, far, false, far, testStack},
		{"not after a call", testRet, far + 0x40, true, far + 0x100, testStack + 16},
		{"the same function", testRet + 0x100, testRet + 0x80, true, far + 0x100, testStack + 16},
		{"the same function, no code to read", testRet + 0x100, testRet + 0x80, false, far + 0x100, testStack + 16},
		{"a leaf near its caller", testRet + 0x480, testRet, true, testRet, testStack},
		{"before its caller calls it", testRet + 0x200, testRet, true, far + 0x100, testStack + 16},
		{"also in the record", testRet, far + 0x100, false, far + 0x100, testStack + 16},
	} {
		mem := testMemory{testStack: stack}
		if tc.readable {
			mem[testStart] = code
		}
		c := New(mem, codes).Cursor(target.Range{})
		f := arm64Frame(tc.pc, testStack, uint64(target.ARM64FP), uint64(testStack), uint64(target.ARM64LR), uint64(tc.lr)|signature)
		f.Regs.Signature, f.Exact = mask, true
		more, err := c.Step(&f, TrustScan)
		require.NoError(t, err, tc.name)
		require.True(t, more, tc.name)
		assert.Equal(t, TrustFP, f.Trust, tc.name)
		assert.EqualValues(t, tc.want, get(t, &f, target.ARM64PC), tc.name)
		assert.EqualValues(t, tc.wantSP, get(t, &f, target.ARM64SP), tc.name)
		for range 2 { // to the end of the records, by signed addresses
			if more, err = c.Step(&f, TrustScan); !more {
				break
			}
			assert.Equal(t, TrustFP, f.Trust, tc.name)
		}
		require.NoError(t, err, tc.name)
		assert.Zero(t, get(t, &f, target.ARM64FP), tc.name)
		more, err = c.Step(&f, TrustScan)
		assert.False(t, more, "%s: what follows is data", tc.name)
		assert.NoError(t, err, tc.name)
	}
}

func TestAfterCall(t *testing.T) {
	for _, tc := range []struct {
		name string
		code []byte
		want bool
	}{
		{"call rel32", []byte{0x90, 0x90, 0xe8, 1, 2, 3, 4}, true},
		{"call rax", []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true},
		{"call [rip+disp32]", []byte{0x90, 0xff, 0x15, 1, 2, 3, 4}, true},
		{"call [rsp+disp8]", []byte{0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 8}, true},
		{"jmp rel32", []byte{0x90, 0x90, 0xe9, 1, 2, 3, 4}, false},
		{"jmp [rip+disp32]", []byte{0x90, 0xff, 0x25, 1, 2, 3, 4}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := New(testMemory{testStart: tc.code}, testCodes{})
			c := u.Cursor(target.Range{})
			assert.Equal(t, tc.want, c.afterCall(target.ArchAMD64, testStart+7))
		})
	}
	mem := testMemory{testStart: {0x90, 0x90, 0xe8, 0xf9, 0xff, 0xff, 0xff}}
	callee, ok, err := CallBefore(mem, target.ArchAMD64, testStart+7)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, testStart, callee)
	mem[testStart] = binary.LittleEndian.AppendUint32(nil, 0x97ffffff) // bl -4
	callee, ok, err = CallBefore(mem, target.ArchARM64, testStart+4)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, testStart-4, callee)
	_, _, err = CallBefore(mem, target.ArchAMD64, 0x999)
	assert.ErrorIs(t, err, target.ErrNotInDump)
}
