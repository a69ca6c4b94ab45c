package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

const (
	testHdr   = target.Addr(0x13000) // .eh_frame_hdr
	testFrame = target.Addr(0x14000) // .eh_frame: the CIE, then the FDE
)

// entry pads the body of a CIE or FDE and prepends its length.
func entry(body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0) // DW_CFA_nop
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// ehFrame builds the .eh_frame_hdr and .eh_frame of one function.
func ehFrame(augmentation string, initial, program []byte) testMemory {
	body := append([]byte{0, 0, 0, 0, 1}, augmentation...)
	body = append(body, 0, 1, 0x78, 16, 1, 0x1b) // alignments 1 and -8, RA 16, pointers relative in 4 bytes
	cie := entry(append(body, initial...))
	at := testFrame + target.Addr(len(cie))
	body = binary.LittleEndian.AppendUint32(nil, uint32(at+4-testFrame))
	body = binary.LittleEndian.AppendUint32(body, uint32(testStart-(at+8)))
	body = binary.LittleEndian.AppendUint32(body, 0x1000)
	fde := entry(append(append(body, 0), program...))
	hdr := []byte{1, 0x1b, 3, 0x3b}
	hdr = binary.LittleEndian.AppendUint32(hdr, uint32(testFrame-(testHdr+4)))
	hdr = binary.LittleEndian.AppendUint32(hdr, 1)
	start := testStart
	hdr = binary.LittleEndian.AppendUint32(hdr, uint32(start-testHdr))
	hdr = binary.LittleEndian.AppendUint32(hdr, uint32(at-testHdr))
	return testMemory{testHdr: hdr, testFrame: append(append(cie, fde...), 0, 0, 0, 0)}
}

// dwarfCodes is a CodeMap over one table.
type dwarfCodes struct{ *DWARF }

func (d dwarfCodes) FindCode(ip target.Addr) (Code, bool) { return d.Find(ip) }
func (d dwarfCodes) InCode(ip target.Addr) bool           { _, ok := d.Find(ip); return ok }

func openDWARF(t testing.TB, mem testMemory) (*Unwinder, error) {
	d, err := OpenEHFrame(mem, testHdr, uint64(len(mem[testHdr])))
	if err != nil {
		return nil, err
	}
	return New(mem, dwarfCodes{d}), nil
}

// callFrame has the usual initial rules: CFA = rsp + 8, with the return address below it.
var callFrame = []byte{0x0c, 7, 8, 0x90, 1}

func TestDWARFRules(t *testing.T) {
	sp := uint64(testStack)
	push := []byte{0x41, 0x0e, 16, 0x86, 2} // after 1 byte: CFA = rsp + 16, rbp at CFA - 16
	for _, tc := range []struct {
		name    string
		aug     string
		program []byte
		stack   []byte
		offset  target.Addr
		sp      uint64
		want    map[target.Reg]uint64
	}{
		{"at the start", "zR", push, words(testRet), 1, sp + 8, nil}, // the byte before the return address
		{"after the push", "zR", push, words(5, testRet), 0x500, sp + 16, map[target.Reg]uint64{target.RBP: 5}},
		{"CFA by rbp", "zR", []byte{0x0c, 6, 16, 0x86, 2}, words(0, 0, 5, testRet), 0x500, sp + 32, map[target.Reg]uint64{target.RBP: 5}},
		{"another register", "zR", []byte{0x09, 3, 12}, words(testRet), 0x500, sp + 8, map[target.Reg]uint64{target.RBX: 12}},
		{"restored", "zR", []byte{0x83, 2, 0xc3}, words(testRet), 0x500, sp + 8, map[target.Reg]uint64{target.RBX: 3}},
		{"same value", "zR", []byte{0x08, 3}, words(testRet), 0x500, sp + 8, map[target.Reg]uint64{target.RBX: 3}},
		// breg7 +8: the address of the saved register.
		{"expression", "zR", []byte{0x10, 3, 2, 0x77, 8}, words(testRet, 44), 0x500, sp + 8, map[target.Reg]uint64{target.RBX: 44}},
		// The CFA is on the expression's stack: plus_uconst 16.
		{"value of an expression", "zR", []byte{0x16, 3, 2, 0x23, 16}, words(testRet), 0x500, sp + 8, map[target.Reg]uint64{target.RBX: sp + 24}},
		{"CFA by expression", "zR", []byte{0x0f, 2, 0x77, 24}, words(0, 0, testRet), 0x500, sp + 24, nil},
		{"signal frame", "zRS", []byte{0x0f, 3, 0x77, 16, 0x06}, words(testRet, 0, sp+0x40, 0, 0, 0, 0, testRet), 0x500, sp + 0x40, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mem := ehFrame(tc.aug, callFrame, tc.program)
			mem[testStack] = tc.stack
			u, err := openDWARF(t, mem)
			require.NoError(t, err)
			f := amd64Frame(testStart+tc.offset, testStack, uint64(target.RBP), sp+16, uint64(target.RBX), 3, uint64(target.R12), 12)
			more, err := u.Cursor(target.Range{}).Step(&f, TrustUnwind)
			require.NoError(t, err)
			require.True(t, more)
			assert.Equal(t, tc.sp, get(t, &f, target.RSP))
			assert.Equal(t, uint64(testRet), get(t, &f, target.RIP))
			for r, v := range tc.want {
				assert.Equal(t, v, get(t, &f, r), target.RegName(target.ArchAMD64, r))
			}
			assert.Equal(t, tc.aug == "zRS", f.Exact)
		})
	}
}

func TestDWARFEnd(t *testing.T) {
	mem := ehFrame("zR", callFrame, []byte{0x07, 16}) // the return address is undefined
	mem[testStack] = words(testRet)
	u, err := openDWARF(t, mem)
	require.NoError(t, err)
	f := amd64Frame(testRet, testStack)
	more, err := u.Cursor(target.Range{}).Step(&f, TrustScan)
	assert.NoError(t, err)
	assert.False(t, more)
}

func TestDWARFBad(t *testing.T) {
	for _, tc := range []struct {
		name    string
		program []byte
		change  func(testMemory)
		want    error
	}{
		{"operation", []byte{0x3e}, nil, target.ErrCorrupt},
		{"value offset", []byte{0x14, 3, 2}, nil, target.ErrUnsupported},
		{"restore without state", []byte{0x0b}, nil, target.ErrCorrupt},
		{"unknown register in an expression", []byte{0x0f, 2, 0x7d, 0}, nil, target.ErrUnsupported},
		{"endless expression", []byte{0x0f, 3, 0x2f, 0xfd, 0xff}, nil, target.ErrCorrupt},
		{"expression reads what is missing", []byte{0x0f, 3, 0x08, 0x10, 0x06}, nil, target.ErrNotInDump},
		{"expression without a value", []byte{0x0f, 1, 0x96}, nil, target.ErrCorrupt},
		{"CFA by an unknown register", []byte{0x0c, 13, 8}, nil, target.ErrUnsupported},
		{"stack goes up", []byte{0x0f, 2, 0x77, 0}, nil, target.ErrNotInDump},
		{"FDE is missing", nil, func(m testMemory) { m[testFrame] = m[testFrame][:8] }, target.ErrUnsupported},
		{"FDE names no CIE", nil, func(m testMemory) { m[testFrame][4] = 9 }, target.ErrUnsupported},
		{"huge entry", nil, func(m testMemory) { m[testFrame][3] = 0x7f }, target.ErrUnsupported},
		{"augmentation", nil, func(m testMemory) { m[testFrame][10] = 'Q' }, target.ErrUnsupported},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mem := ehFrame("zR", callFrame, tc.program)
			mem[testStack] = words(testRet)
			if tc.change != nil {
				tc.change(mem)
			}
			u, err := openDWARF(t, mem)
			require.NoError(t, err)
			f := amd64Frame(testRet, testStack)
			_, err = u.Cursor(target.Range{}).Step(&f, TrustUnwind)
			assert.ErrorIs(t, err, tc.want)
		})
	}
}

func TestOpenEHFrameBad(t *testing.T) {
	mem := ehFrame("zR", callFrame, nil)
	_, err := OpenEHFrame(mem, testHdr, 15)
	assert.ErrorIs(t, err, target.ErrCorrupt, "more entries than bytes")
	mem[testHdr][3] = 0x1b
	_, err = OpenEHFrame(mem, testHdr, 0)
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = OpenEHFrame(testMemory{}, testHdr, 0)
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

func FuzzEHFrame(f *testing.F) {
	for _, program := range [][]byte{{0x41, 0x0e, 16, 0x86, 2}, {0x10, 3, 2, 0x77, 8}, {0x0f, 3, 0x2f, 0xfd, 0xff}, {0x0a, 0x0b}} {
		mem := ehFrame("zR", callFrame, program)
		f.Add(mem[testHdr], mem[testFrame], words(1, testRet))
	}
	f.Fuzz(func(t *testing.T, hdr, frames, stack []byte) {
		mem := testMemory{testHdr: hdr, testFrame: frames, testStack: stack}
		d, err := OpenEHFrame(mem, testHdr, uint64(len(hdr)))
		if err == nil {
			n := 0
			u := New(mem, dwarfCodes{d})
			for range u.Walk(amd64Frame(testRet, testStack, uint64(target.RBP), uint64(testStack)+16).Regs, target.Range{}) {
				if n++; n > len(stack)/8+maxSwitches+2 {
					t.Fatalf("%d frames on a stack of %d bytes", n, len(stack))
				}
			}
		}
	})
}

func BenchmarkStepDWARF(b *testing.B) {
	const frames = 10_000
	mem := ehFrame("zR", callFrame, []byte{0x41, 0x0e, 16, 0x86, 2})
	var stack []byte
	for range frames {
		stack = append(stack, words(1, testRet)...)
	}
	mem[testStack] = stack
	u, err := openDWARF(b, mem)
	if err != nil {
		b.Fatal(err)
	}
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
