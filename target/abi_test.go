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
		assert.Same(t, target.SystemVAMD64, abi, os.String())
	}
	abi, err := target.Platform{OS: target.OSWindows, Arch: target.ArchAMD64}.ABI()
	require.NoError(t, err)
	assert.Same(t, target.WindowsAMD64, abi)
	for _, arch := range []target.Arch{target.ArchUnknown, target.ArchARM64, target.Arch386, target.ArchARM} {
		_, err := target.Platform{OS: target.OSLinux, Arch: arch}.ABI()
		assert.ErrorIs(t, err, target.ErrUnsupported, arch.String())
	}
	_, err = target.Arch386.Processor()
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

func TestPreservedRegisters(t *testing.T) {
	for r := target.RAX; r <= target.GSBase; r++ {
		common := target.AMD64.Preserved.Has(r)
		assert.Equal(t, common, target.SystemVAMD64.Preserves(r))
		assert.Equal(t, common || r == target.RSI || r == target.RDI, target.WindowsAMD64.Preserves(r))
	}
	assert.Equal(t, target.Regs(target.RAX, target.RCX, target.RDX, target.R8, target.R9, target.R10, target.R11),
		target.WindowsAMD64.Scratch())
	assert.Equal(t, target.WindowsAMD64.Scratch()|target.Regs(target.RSI, target.RDI), target.SystemVAMD64.Scratch())
}

func TestAddressesOfProcesses(t *testing.T) {
	tests := []struct {
		addr                target.Addr
		canonical, mappable bool
	}{
		{0, true, false},
		{0xfff, true, false},
		{0x1000, true, true},
		{0x7fff_ffff_f000, true, true},
		{1<<56 - 1, true, true},
		{1 << 56, false, false},
		{^target.Addr(0), true, false},
		{0xffff_8000_0000_0000, true, false},
		{0xdead_beef_dead_beef, false, false},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.canonical, target.AMD64.Canonical(tt.addr), tt.addr.String())
		assert.Equal(t, tt.mappable, target.AMD64.Mappable(tt.addr), tt.addr.String())
	}
}

func TestContexts(t *testing.T) {
	for _, p := range []*target.Processor{target.AMD64, target.ARM64} {
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
			_, ok = p.Context.Decode(&regs, b[1:])
			assert.False(t, ok, "too short")
			for i := 1; i < len(p.Context.Registers); i++ {
				assert.Less(t, p.Context.Registers[i-1].Offset, p.Context.Registers[i].Offset)
			}
		})
	}
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
