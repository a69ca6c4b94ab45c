package target_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func TestABIOfPlatforms(t *testing.T) {
	for _, os := range []target.OS{target.OSLinux, target.OSDarwin, target.OSUnknown} {
		abi, err := target.Platform{OS: os, Arch: target.ArchAMD64}.ABI()
		require.NoError(t, err)
		assert.Same(t, target.SystemVAMD64(), abi, os.String())
	}
	abi, err := target.Platform{OS: target.OSWindows, Arch: target.ArchAMD64}.ABI()
	require.NoError(t, err)
	assert.Same(t, target.WindowsAMD64(), abi)
	for os, want := range map[target.OS]*target.ABI{target.OSLinux: target.SystemVARM64(), target.OSWindows: target.WindowsARM64(), target.OSDarwin: target.DarwinARM64()} {
		abi, err := target.Platform{OS: os, Arch: target.ArchARM64}.ABI()
		require.NoError(t, err)
		assert.Same(t, want, abi, os.String())
	}
	for _, arch := range []target.Arch{target.ArchUnknown, target.Arch386, target.ArchARM} {
		_, err := target.Platform{OS: target.OSLinux, Arch: arch}.ABI()
		assert.ErrorIs(t, err, target.ErrUnsupported, arch.String())
	}
	_, err = target.Arch386.Processor()
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

func TestPreservedRegisters(t *testing.T) {
	for r := target.RAX; r <= target.GSBase; r++ {
		common := target.AMD64().Preserved.Has(r)
		assert.Equal(t, common, target.SystemVAMD64().Preserves(r))
		assert.Equal(t, common || r == target.RSI || r == target.RDI, target.WindowsAMD64().Preserves(r))
	}
	assert.Equal(t, target.Regs(target.RAX, target.RCX, target.RDX, target.R8, target.R9, target.R10, target.R11),
		target.WindowsAMD64().Scratch())
	assert.Equal(t, target.WindowsAMD64().Scratch()|target.Regs(target.RSI, target.RDI), target.SystemVAMD64().Scratch())
}

func TestAddressesOfProcesses(t *testing.T) {
	tests := []struct {
		addr     target.Addr
		mappable bool
	}{
		{0, false},
		{0xfff, false},
		{0x1000, true},
		{0x7fff_ffff_f000, true},
		{1<<56 - 1, true},
		{1 << 56, false},
		{^target.Addr(0), false},
		{0xffff_8000_0000_0000, false},
		{0xdead_beef_dead_beef, false},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.mappable, target.AMD64().Mappable(tt.addr), tt.addr.String())
	}
}

func TestContexts(t *testing.T) {
	for _, p := range []*target.Processor{target.AMD64(), target.ARM64()} {
		t.Run(p.Arch.String(), func(t *testing.T) {
			b := make([]byte, p.Context.Size)
			for i := range b {
				b[i] = byte(i)
			}
			flags := func(parts target.ContextPart) {
				binary.LittleEndian.PutUint32(b[p.Context.Flags:], uint32(parts)|p.Context.Arch)
			}
			regs := target.Registers{Arch: p.Arch}
			flags(target.ContextControl)
			_, ok := p.Context.Decode(&regs, b)
			require.True(t, ok)
			ip, ok := regs.IP()
			assert.True(t, ok)
			assert.NotZero(t, ip)
			_, ok = regs.Get(0)
			assert.False(t, ok, "the integer registers are not claimed")
			flags(target.ContextControl | target.ContextInteger)
			_, _ = p.Context.Decode(&regs, b)
			for r := range p.General.All {
				_, ok := regs.Get(r)
				assert.True(t, ok, target.RegName(p.Arch, r))
			}
			binary.LittleEndian.PutUint32(b[p.Context.Flags:], 1)
			_, ok = p.Context.Decode(&regs, b)
			assert.False(t, ok, "of another processor")
			_, ok = p.Context.Decode(&regs, b[:p.Context.Minimum()-1])
			assert.False(t, ok, "too short")
			for i := 1; i < len(p.Context.Registers); i++ {
				assert.Less(t, p.Context.Registers[i-1].Offset, p.Context.Registers[i].Offset)
			}
		})
	}
}

// TestContextsOfOtherProcessors covers the processors without supported stacks, and the contexts
// that Breakpad wrote before it adopted the structures of Windows.
func TestContextsOfOtherProcessors(t *testing.T) {
	for _, c := range []struct {
		arch        target.Arch
		flags       uint32
		size        int
		ip, sp, reg int // offsets; reg is the offset of register 1
		width       int
		known       int
	}{
		{target.Arch386, 0x1003f, 716, 0xb8, 0xc4, 0xac, 4, 16},
		{target.Arch386, 0x10007, 204, 0xb8, 0xc4, 0xac, 4, 16},
		{target.Arch386, 0x10000, 204, 0xb8, 0xc4, 0xac, 4, 16},
		{target.Arch386, 0x10001, 204, 0xb8, 0xc4, 0, 4, 6},
		{target.ArchARM, 0x200003, 416, 0x40, 0x38, 8, 4, 17},
		{target.ArchARM, 0x40000006, 368, 0x40, 0x38, 8, 4, 17},
		{target.ArchARM64, 0x80000006, 796, 264, 256, 16, 8, 34},
		{target.ArchARM64, 0x400007, 912, 264, 256, 16, 8, 34},
		{target.ArchMIPS, 0x4000e, 600, 312, 8 + 29*8, 16, 8, 33},
		{target.ArchMIPS64, 0x8000e, 600, 312, 8 + 29*8, 16, 8, 33},
	} {
		b := make([]byte, c.size)
		put := func(off int, v uint64) {
			if off == 0 {
				return
			}
			binary.LittleEndian.PutUint32(b[off:], uint32(v))
		}
		put(c.ip, 0x401000)
		put(c.sp, 0x7fff0000)
		put(c.reg, 0x11)
		binary.LittleEndian.PutUint32(b, c.flags)
		p, err := c.arch.RegisterFile()
		require.NoError(t, err)
		regs := target.Registers{Arch: c.arch}
		_, ok := p.Context.Decode(&regs, b)
		require.True(t, ok, "%v %#x", c.arch, c.flags)
		ip, _ := regs.IP()
		sp, _ := regs.SP()
		assert.Equal(t, []target.Addr{0x401000, 0x7fff0000}, []target.Addr{ip, sp}, c.arch.String())
		if c.reg != 0 {
			v, _ := regs.Get(1)
			assert.EqualValues(t, 0x11, v, c.arch.String())
		}
		known := 0
		for range regs.All {
			known++
		}
		assert.Equal(t, c.known, known, "%v %#x", c.arch, c.flags)
	}
	_, err := target.Arch386.Processor()
	assert.ErrorIs(t, err, target.ErrUnsupported, "nobody may follow its stacks")
	_, err = target.ArchPPC64.RegisterFile()
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestEmptyContext: a context that names its processor and has no other bytes was not filled in.
func TestEmptyContext(t *testing.T) {
	b := make([]byte, target.AMD64().Context.Size)
	binary.LittleEndian.PutUint32(b[target.AMD64().Context.Flags:], target.AMD64().Context.Arch)
	regs := target.Registers{Arch: target.ArchAMD64}
	_, ok := target.AMD64().Context.Decode(&regs, b)
	assert.True(t, ok)
	assert.False(t, regs.Known())
}

func TestRegistersOfUnknownArchitectures(t *testing.T) {
	var r target.Registers
	r.SetIP(1)
	r.SetSP(2)
	r.SetFP(3)
	r.ForgetFP()
	assert.False(t, r.Known())
	_, ok := r.IP()
	assert.False(t, ok)
	_, ok = r.SP()
	assert.False(t, ok)
	_, ok = r.FP()
	assert.False(t, ok)
	assert.Equal(t, "Reg(3)", target.RegName(r.Arch, 3))
}

// TestFaultsAreSignals: only Windows has exception records for faults.
func TestFaultsAreSignals(t *testing.T) {
	for _, os := range []target.OS{target.OSUnknown, target.OSLinux, target.OSDarwin, target.OSFreeBSD, target.OSWindows} {
		assert.Equal(t, os != target.OSWindows, target.Platform{OS: os}.FaultsAreSignals(), os.String())
	}
}

// TestSignatureBits: a process with narrower addresses has signatures below bit 48, according to
// Registers.Signature.
func TestSignatureBits(t *testing.T) {
	r := target.Registers{Arch: target.ArchARM64}
	assert.EqualValues(t, uint64(0x0000_ab55_1234_5678), r.Code(0x0012_ab55_1234_5678))
	r.Signature = 0x007f_ff80_0000_0000 // 39-bit addresses
	assert.EqualValues(t, uint64(0x55_1234_5678), r.Code(0x0012_ab55_1234_5678))
	assert.EqualValues(t, uint64(0xffff_ff55_1234_5678), r.Code(0xffff_ff55_1234_5678), "the kernel's half")
	assert.EqualValues(t, uint64(0x0012_ab55_1234_5678), (&target.Registers{Arch: target.ArchAMD64}).Code(0x0012_ab55_1234_5678))
}

// TestVectors decodes the vector registers of each processor.
func TestVectors(t *testing.T) {
	area := make([]byte, 512)
	for i := range 32 {
		area[16*i], area[16*i+8] = byte(i), 0x80
	}
	for arch, want := range map[target.Arch]struct{ count, first uint64 }{target.ArchARM64: {32, 0}, target.ArchAMD64: {16, 10}} {
		r := target.Registers{Arch: arch, Float: area}
		v, err := r.Vectors()
		require.NoError(t, err)
		require.Len(t, v, int(want.count))
		assert.Equal(t, target.Wide{High: 0x80, Low: want.first + 3}, v[3])
		r.Float = area[:500]
		_, err = r.Vectors()
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
	_, err := (&target.Registers{Arch: target.ArchARM64, Float: area}).FXSave()
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestSignedAndTaggedPointers: a code pointer may have a signature, and a data pointer a tag, above
// its address.
func TestSignedAndTaggedPointers(t *testing.T) {
	p := target.ARM64()
	for v, want := range map[uint64]target.Addr{
		0x0000_7f12_3456_789c: 0x0000_7f12_3456_789c,
		0x0055_7f12_3456_789c: 0x0000_7f12_3456_789c, // bits 54 to 48
		0xbf2a_ff12_3456_789c: 0x0000_ff12_3456_789c, // and 63 to 56; all 48 bits of addresses are in use
		0xffff_ff12_3456_789c: 0xffff_ff12_3456_789c, // the kernel's half
		0:                     0,
	} {
		assert.Equal(t, want, p.Code(v), "%#x", v)
	}
	assert.EqualValues(t, uint64(0x0000_7f12_3456_7890), p.Data(0xab00_7f12_3456_7890))
	assert.EqualValues(t, uint64(0x000f_7f12_3456_7890), p.Data(0x130f_7f12_3456_7890), "an address of 52 bits")
	assert.True(t, p.Mappable(p.Data(0x1307_7f12_3456_7890)))
	assert.True(t, p.Mappable(p.Data(0x130f_7f12_3456_7890)), "the half of a process has 52 bits of its own")
	assert.False(t, p.Mappable(0x1307_7f12_3456_7890), "with its tag it is no address")
	for _, v := range []uint64{0xab00_7f12_3456_7890, 5, ^uint64(0)} {
		assert.EqualValues(t, v, target.AMD64().Code(v))
		assert.EqualValues(t, v, target.AMD64().Data(v))
	}
}
