package stackwalk

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// The image of a Windows program for ARM64: three functions of 0x100 bytes. The first has a packed entry, the second an
// .xdata record, and the third has one in two pieces.
const (
	armImage, armImageSize         = 0x7ff712340000, 0x4000
	armInner, armOuter, armMoved   = 0x1000, 0x1100, 0x1200
	armPData, armXData, armExports = 0x2000, 0x2100, 0x2200
	armStack                       = 0x5a0000
)

func windowsImageARM64() []byte {
	b := make([]byte, armImageSize)
	put := func(at int, values ...any) { copy(b[at:], synth.Fields(values...)) }
	put(0, []byte("MZ"))
	put(0x3c, uint32(0x80))
	put(0x80, []byte("PE\x00\x00"), uint16(0xaa64), uint16(2), uint32(0x5eed), uint64(0), uint16(240), uint16(0x22))
	put(0x98, uint16(0x20b))
	put(0x98+24, uint64(armImage), uint32(0x1000), uint32(0x200))
	put(0x98+56, uint32(armImageSize), uint32(0x400))
	put(0x98+108, uint32(16), uint32(armExports), uint32(0x100), uint64(0), uint64(0), uint32(armPData), uint32(24))
	put(0x188, []byte(".text\x00\x00\x00"), uint32(0x1000), uint32(0x1000), uint32(0x1000), uint32(0x1000), make([]byte, 12), uint32(0x60000020))
	put(0x1b0, []byte(".rdata\x00\x00"), uint32(0x1000), uint32(0x2000), uint32(0x1000), uint32(0x2000), make([]byte, 12), uint32(0x40000040))
	packed := uint32(1) | 0x40<<2 | 2<<13 | 2<<16 | 3<<21 | 4<<23 // d8 to d10, x19 and x20, FP and LR, 64 bytes
	put(armPData, uint32(armInner), packed, uint32(armOuter), uint32(armXData), uint32(armMoved), uint32(armXData+0x20))
	// stp fp, lr, [sp, #-32]!; mov fp, sp; str x21, [sp, #16]
	put(armXData, uint32(0x40|2<<27), []byte{0xd0, 0x82, 0xe1, 0x83, 0xe4, 0xe3, 0xe3, 0xe3})
	// a piece that was moved away: end_c, then the function's stp fp, lr, [sp, #-16]!
	put(armXData+0x20, uint32(0x40|1<<27), []byte{0xe5, 0x81, 0xe4, 0xe3})
	put(armExports, make([]byte, 16), uint32(1), uint32(1), uint32(1), uint32(armExports+0x40), uint32(armExports+0x50), uint32(armExports+0x60))
	put(armExports+0x40, uint32(armInner))
	put(armExports+0x50, uint32(armExports+0x70))
	put(armExports+0x70, []byte("Inner\x00"))
	return b
}

// TestWindowsARM64 walks a minidump of Windows on ARM64, from the CONTEXT to the last native frame.
func TestWindowsARM64(t *testing.T) {
	words := func(v ...uint64) []byte { return synth.Fields(v) }
	stack := slices.Concat(
		words(armStack+64, armImage+armOuter+0x44, 19, 20, 8, 9, 10, 0), // Inner's: FP and LR below what is saved
		words(armStack+96, armImage+armMoved+0x24, 21, 0),               // Outer's
		words(0, 0), // no caller of the third
	)
	// The packed entry stores the general registers first. FP and LR are at the bottom, below 16 bytes for locals.
	var x [33]uint64
	x[19], x[21], x[29], x[30], x[31], x[32] = 1, 2, armStack, 3, armStack, armImage+armInner+0x80
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpARM64)
	m.Modules(synth.MinidumpModule{Base: armImage, Size: armImageSize, Time: 0x5eed, Path: `C:\app\native.dll`})
	m.Threads(synth.MinidumpThread{ID: 7, StackStart: armStack, StackSize: uint32(len(stack)), Context: synth.ARM64Context(0x400007, 0, x)})
	m.Memory(synth.MinidumpRange{Addr: armStack, Data: stack}, synth.MinidumpRange{Addr: armImage, Data: windowsImageARM64()})
	f, err := minidump.Open(target.BytesSource(m.Bytes()))
	require.NoError(t, err)
	require.Equal(t, target.ArchARM64, f.Platform().Arch)
	abi, err := f.Platform().ABI()
	require.NoError(t, err)
	require.Equal(t, target.WindowsARM64(), abi)
	threads := f.Threads()
	require.Len(t, threads, 1)

	codes := newNativeCode(f, f)
	inner, ok := codes.FindCode(armImage + armInner + 0x80)
	require.True(t, ok)
	require.NotZero(t, inner.Packed)
	var ips []target.Addr
	for frame := range unwind.New(f, codes).Walk(threads[0].Registers, target.Range{Start: armStack, End: armStack + target.Addr(len(stack))}) {
		ip, _ := frame.Regs.IP()
		ips = append(ips, ip)
		require.NoError(t, frame.Err)
		require.GreaterOrEqual(t, frame.Trust, unwind.TrustUnwind)
		switch len(ips) {
		case 2: // Outer has what Inner saved
			for r, want := range map[target.Reg]uint64{19: 19, 20: 20, 21: 2, target.ARM64FP: armStack + 64} {
				v, known := frame.Regs.Get(r)
				assert.True(t, known)
				assert.Equal(t, want, v, "x%d", r)
			}
			v, known := frame.Regs.VectorLow(9)
			assert.True(t, known)
			assert.EqualValues(t, 9, v)
		case 3:
			v, _ := frame.Regs.Get(21)
			assert.EqualValues(t, 21, v)
			sp, _ := frame.Regs.SP()
			assert.EqualValues(t, armStack+96, sp)
		}
	}
	assert.Equal(t, []target.Addr{armImage + armInner + 0x80, armImage + armOuter + 0x44, armImage + armMoved + 0x24}, ips)
}
