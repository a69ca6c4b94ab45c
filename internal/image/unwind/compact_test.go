package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// compactAt is the address of the section __unwind_info.
const compactAt = testBase + 0x20000

func le32s(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// A compactEntry is a function: its offset and its encoding.
type compactEntry struct{ begin, encoding uint32 }

// compactSection returns a section with two pages: one with an encoding for each function, and one
// in which the first function has a shared encoding and the others have encodings of the page. All
// functions end at end.
func compactSection(regular, packed []compactEntry, end uint32) []byte {
	const common = 28
	index := uint32(common + 4)
	page := index + 3*12
	second := page + 8 + 8*uint32(len(regular))
	b := le32s(1, common, 1, common+4, 0, index, 3, packed[0].encoding)
	b = append(b, le32s(regular[0].begin, page, 0, packed[0].begin, second, 0, end, 0, 0)...)
	b = append(b, le32s(2, 8|uint32(len(regular))<<16)...)
	for _, e := range regular {
		b = append(b, le32s(e.begin, e.encoding)...)
	}
	own := uint32(len(packed) - 1)
	b = append(b, le32s(3, 12|uint32(len(packed))<<16, (12+4*uint32(len(packed)))|own<<16)...)
	for i, e := range packed {
		b = append(b, le32s(e.begin-packed[0].begin|uint32(i)<<24)...)
	}
	for _, e := range packed[1:] {
		b = append(b, le32s(e.encoding)...)
	}
	return b
}

// compactCodes is a CodeMap over one section.
type compactCodes struct{ *Compact }

func (c compactCodes) FindCode(ip target.Addr) (Code, bool) { return c.Find(ip) }
func (c compactCodes) InCode(ip target.Addr) bool           { _, ok := c.Find(ip); return ok }

func openCompact(t testing.TB, arch target.Arch, mem testMemory, b []byte) *Compact {
	mem[compactAt] = b
	c, err := OpenCompact(mem, arch, testBase, target.Range{Start: compactAt, End: compactAt + target.Addr(len(b))},
		target.Range{Start: testFrame, End: testFrame + target.Addr(len(mem[testFrame]))})
	require.NoError(t, err)
	return c
}

// TestCompactFind finds functions in pages of both kinds, up to the next function.
func TestCompactFind(t *testing.T) {
	c := openCompact(t, target.ArchAMD64, testMemory{}, compactSection(
		[]compactEntry{{0x1000, compactFrame}, {0x1100, 0}, {0x1200, compactFrame | 1}},
		[]compactEntry{{0x2000, compactFrame | 2}, {0x2100, compactFrame | 3}, {0x2200, compactFrame | 4}}, 0x3000))
	for _, tt := range []struct{ at, begin, end, encoding uint32 }{
		{0xfff, 0, 0, 0}, {0x1000, 0x1000, 0x1100, compactFrame}, {0x10ff, 0x1000, 0x1100, compactFrame}, {0x1100, 0, 0, 0},
		{0x1fff, 0x1200, 0x2000, compactFrame | 1}, {0x2000, 0x2000, 0x2100, compactFrame | 2}, {0x2101, 0x2100, 0x2200, compactFrame | 3},
		{0x2fff, 0x2200, 0x3000, compactFrame | 4}, {0x3000, 0, 0, 0}, {0xffffffff, 0, 0, 0},
	} {
		code, ok := c.Find(testBase + target.Addr(tt.at))
		assert.Equal(t, tt.end != 0, ok, "%#x", tt.at)
		if ok {
			assert.Equal(t, Code{Range: target.Range{Start: testBase + target.Addr(tt.begin), End: testBase + target.Addr(tt.end)},
				Format: FormatCompact, Base: testBase, Packed: tt.encoding}, code)
		}
	}
	_, ok := c.Find(testBase - 1)
	assert.False(t, ok)
}

// TestCompactSteps unwinds one function by each kind of encoding.
func TestCompactSteps(t *testing.T) {
	const fp = testStack + 0x20
	at := func(n int) uint64 { return uint64(testStack) + 8*uint64(n) }
	for _, tt := range []struct {
		name     string
		arch     target.Arch
		encoding uint32
		code     []byte
		exact    bool
		off      target.Addr // the instruction pointer's offset in the function
		stack    []uint64
		want     map[target.Reg]uint64
		err      error
	}{
		{name: "x64, frame pointer", arch: target.ArchAMD64, encoding: compactFrame | 2<<16 | 1 | 5<<3, off: 0x10,
			stack: []uint64{0, 0, 11, 15, at(6), uint64(testRet), 0},
			want:  map[target.Reg]uint64{target.RBX: 11, target.R15: 15, target.RBP: at(6), target.RIP: uint64(testRet), target.RSP: at(6)}},
		{name: "x64, 40 bytes", arch: target.ArchAMD64, encoding: compactImmediate | 5<<16, off: 0x10,
			stack: []uint64{0, 0, 0, 0, uint64(testRet)}, want: map[target.Reg]uint64{target.RIP: uint64(testRet), target.RSP: at(5), target.RBX: 3}},
		// R12, R13, RBP.
		{name: "x64, three registers", arch: target.ArchAMD64, encoding: compactImmediate | 5<<16 | 3<<10 | (1*20 + 1*4 + 3), off: 0x10,
			stack: []uint64{0, 12, 13, 6, uint64(testRet)},
			want:  map[target.Reg]uint64{target.R12: 12, target.R13: 13, target.RBP: 6, target.RIP: uint64(testRet), target.RSP: at(5)}},
		// RBP down to RBX.
		{name: "x64, six registers", arch: target.ArchAMD64, encoding: compactImmediate | 7<<16 | 6<<10 | 719, off: 0x10,
			stack: []uint64{6, 15, 14, 13, 12, 11, uint64(testRet)},
			want:  map[target.Reg]uint64{target.RBX: 11, target.R12: 12, target.R15: 15, target.RBP: 6, target.RSP: at(7)}},
		{name: "x64, size in an instruction", arch: target.ArchAMD64, encoding: compactIndirect | 3<<16 | 1<<13 | 1<<10, off: 0x10, code: []byte{0x48, 0x81, 0xec, 0x18, 0, 0, 0},
			stack: []uint64{0, 0, 11, uint64(testRet)}, want: map[target.Reg]uint64{target.RBX: 11, target.RIP: uint64(testRet), target.RSP: at(4)}},
		{name: "x64, first instruction", arch: target.ArchAMD64, encoding: compactImmediate | 5<<16, exact: true,
			stack: []uint64{uint64(testRet)}, want: map[target.Reg]uint64{target.RIP: uint64(testRet), target.RSP: at(1)}},
		{name: "x64, call frame information", arch: target.ArchAMD64, encoding: compactDWARF, off: 0x10,
			stack: []uint64{uint64(testRet)}, want: map[target.Reg]uint64{target.RIP: uint64(testRet), target.RSP: at(1)}},
		{name: "x64, no room", arch: target.ArchAMD64, encoding: compactImmediate | 1<<16 | 1<<10, off: 0x10, stack: []uint64{1, 2}, err: target.ErrCorrupt},
		{name: "x64, register 7", arch: target.ArchAMD64, encoding: compactFrame | 7, off: 0x10, stack: []uint64{1, 2}, err: target.ErrCorrupt},
		{name: "x64, seven registers", arch: target.ArchAMD64, encoding: compactImmediate | 9<<16 | 7<<10, off: 0x10, stack: []uint64{1, 2}, err: target.ErrCorrupt},
		{name: "x64, no permutation", arch: target.ArchAMD64, encoding: compactImmediate | 9<<16 | 1<<10 | 6, off: 0x10, stack: []uint64{1, 2}, err: target.ErrCorrupt},
		{name: "x64, another mode", arch: target.ArchAMD64, encoding: 0x05000000, off: 0x10, stack: []uint64{1, 2}, err: target.ErrUnsupported},
		{name: "arm64, frame", arch: target.ArchARM64, encoding: compactFrameARM64 | 1 | 1<<1 | 1<<8, off: 0x10,
			stack: []uint64{22, 21, 20, 19, at(6), uint64(testRet), 0},
			want:  map[target.Reg]uint64{19: 19, 20: 20, 21: 21, 22: 22, target.ARM64FP: at(6), target.ARM64SP: at(6), target.ARM64PC: uint64(testRet)}},
		{name: "arm64, leaf", arch: target.ArchARM64, encoding: compactLeafARM64 | 2<<12, exact: true, off: 0x10,
			want: map[target.Reg]uint64{target.ARM64SP: at(4), target.ARM64PC: uint64(testRet)}},
		{name: "arm64, first instruction", arch: target.ArchARM64, encoding: compactFrameARM64, exact: true,
			want: map[target.Reg]uint64{target.ARM64SP: at(0), target.ARM64PC: uint64(testRet)}},
		{name: "arm64, leaf with registers", arch: target.ArchARM64, encoding: compactLeafARM64 | 1, off: 0x10, err: target.ErrUnsupported},
		{name: "arm64, another mode", arch: target.ArchARM64, encoding: 0x01000000, off: 0x10, err: target.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := ehFrame("zR", callFrame, nil)
			fde := binary.LittleEndian.Uint32(mem[testFrame]) + 4 // after the CIE
			mem[testStart] = append(tt.code, make([]byte, 16)...)
			// In the test for ARM64, saved vectors are below the registers.
			mem[testStack-0x40] = append(words(0, 0, 0, 0, 0, 0, 9, 8), words(tt.stack...)...)
			encoding := tt.encoding
			if encoding == compactDWARF {
				encoding |= fde
			}
			start := uint32(testStart - testBase)
			c := openCompact(t, tt.arch, mem, compactSection([]compactEntry{{start, encoding}}, []compactEntry{{start + 0x100, 0}}, start+0x200))
			u := New(mem, compactCodes{c})
			regs := target.Registers{Arch: tt.arch}
			regs.SetIP(testStart + tt.off)
			regs.SetSP(testStack)
			regs.SetFP(fp)
			if tt.arch == target.ArchAMD64 {
				regs.Set(target.RBX, 3)
			} else {
				regs.Set(target.ARM64LR, uint64(testRet))
			}
			f := Frame{Regs: regs, Exact: tt.exact}
			more, err := u.Cursor(target.Range{}).Step(&f, TrustUnwind)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.True(t, more)
			assert.Equal(t, TrustUnwind, f.Trust)
			for r, want := range tt.want {
				got, ok := f.Regs.Get(r)
				assert.True(t, ok, "register %d", r)
				assert.Equal(t, want, got, "register %d", r)
			}
			if tt.name == "arm64, frame" {
				low, ok := f.Regs.VectorLow(8)
				assert.True(t, ok)
				assert.Equal(t, uint64(8), low)
				low, _ = f.Regs.VectorLow(9)
				assert.Equal(t, uint64(9), low)
			}
		})
	}
}

// TestCompactDamage cuts the section and changes each of its bytes: opening may fail, and found
// code contains the address.
func TestCompactDamage(t *testing.T) {
	b := compactSection([]compactEntry{{0x1000, compactFrame}, {0x1200, compactFrame | 1}}, []compactEntry{{0x2000, compactFrame | 2}, {0x2100, compactFrame | 3}}, 0x3000)
	for n := range len(b) {
		_, err := OpenCompact(testMemory{compactAt: b[:n]}, target.ArchAMD64, testBase, target.Range{Start: compactAt, End: compactAt + target.Addr(n)}, target.Range{})
		if n < 28+4+3*12 {
			require.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
		}
		touchCompact(t, b[:n])
	}
	for i := range b {
		for _, v := range []byte{0, 0x7f, 0xff} {
			old := b[i]
			b[i] = v
			touchCompact(t, b)
			b[i] = old
		}
	}
	_, err := OpenCompact(testMemory{compactAt: le32s(2, 0, 0, 0, 0, 0, 0)}, target.ArchAMD64, testBase, target.Range{Start: compactAt, End: compactAt + 28}, target.Range{})
	require.ErrorIs(t, err, target.ErrUnsupported)
	_, err = OpenCompact(testMemory{}, target.ArchAMD64, testBase, target.Range{Start: compactAt, End: compactAt + 1<<40}, target.Range{})
	require.ErrorIs(t, err, target.ErrCorrupt)
}

func touchCompact(t testing.TB, b []byte) {
	for _, arch := range []target.Arch{target.ArchAMD64, target.ArchARM64} {
		mem := testMemory{compactAt: b, testStack: words(1, 2, 3, 4, 5, 6, 7, 8)}
		c, err := OpenCompact(mem, arch, testBase, target.Range{Start: compactAt, End: compactAt + target.Addr(len(b))}, target.Range{Start: testFrame, End: testFrame + 0x100})
		if err != nil {
			continue
		}
		u := New(mem, compactCodes{c})
		for _, off := range []target.Addr{0, 0xfff, 0x1000, 0x1210, 0x2000, 0x2110, 0x2fff, 0x3000, 1<<32 - 1} {
			code, ok := c.Find(testBase + off)
			if !ok {
				continue
			}
			require.True(t, code.Range.Contains(testBase+off))
			regs := target.Registers{Arch: arch}
			regs.SetIP(testBase + off)
			regs.SetSP(testStack)
			regs.SetFP(testStack + 8)
			f := Frame{Regs: regs, Exact: off&1 == 0}
			_, _ = u.Cursor(target.Range{}).Step(&f, TrustUnwind)
		}
	}
}

// FuzzCompact decodes sections and unwinds with their encodings.
func FuzzCompact(f *testing.F) {
	f.Add(compactSection([]compactEntry{{0x1000, compactFrame | 9}, {0x1200, compactImmediate | 4<<16}}, []compactEntry{{0x2000, compactFrameARM64 | 3}, {0x2100, compactIndirect}}, 0x3000))
	f.Fuzz(func(t *testing.T, b []byte) { touchCompact(t, b) })
}
