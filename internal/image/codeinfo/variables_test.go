package codeinfo

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

func TestVariables(t *testing.T) {
	const rbp, rcx, r15, ambient = 5, 1, 15, 17
	w := (&synth.Nibbles{}).Uint(11)
	head := func(number int32, kind LocationKind) *synth.Nibbles {
		return w.Uint(0x10, 0x20, uint32(number-minVarNumber), uint32(kind))
	}
	head(0, LocRegister).Uint(rcx)
	head(1, LocRegisterByRef).Uint(r15)
	head(2, LocRegisterFloat).Uint(16 + 3)
	head(3, LocStack).Uint(rbp).Int(-40)
	head(4, LocStackByRef).Uint(ambient).Int(1000)
	head(5, LocRegisterRegister).Uint(rcx, r15)
	head(6, LocRegisterStack).Uint(rcx, rbp).Int(16)
	head(7, LocStackRegister).Int(-8).Uint(rbp, r15)
	head(VarTypeArg, LocStack2).Uint(rbp).Int(24)
	head(VarReturnBuf, LocFloatStack).Uint(2)
	head(VarArgsHandle, LocVarArg).Uint(8)
	got, err := variables(w.B, target.ArchAMD64, false, false)
	require.NoError(t, err)
	want := []Location{
		{Kind: LocRegister, Reg: target.RCX},
		{Kind: LocRegisterByRef, Reg: target.R15},
		{Kind: LocRegisterFloat, Reg: XMM0 + 3},
		{Kind: LocStack, Base: target.RBP, Offset: -40},
		{Kind: LocStackByRef, Base: AmbientSP, Offset: 1000},
		{Kind: LocRegisterRegister, Reg: target.RCX, Reg2: target.R15},
		{Kind: LocRegisterStack, Reg: target.RCX, Base: target.RBP, Offset: 16},
		{Kind: LocStackRegister, Reg: target.R15, Base: target.RBP, Offset: -8},
		{Kind: LocStack2, Base: target.RBP, Offset: 24},
		{Kind: LocFloatStack, Index: 2},
		{Kind: LocVarArg, Index: 8},
	}
	numbers := []int32{0, 1, 2, 3, 4, 5, 6, 7, VarTypeArg, VarReturnBuf, VarArgsHandle}
	require.Len(t, got, len(want))
	for i, v := range got {
		assert.Equal(t, Variable{numbers[i], CodeRange{0x10, 0x30}, want[i]}, v)
	}
	for offset, want := range map[uint32]bool{0xf: false, 0x10: true, 0x30: true, 0x31: false} {
		_, ok := Locate(got, 0, offset)
		assert.Equal(t, want, ok, offset)
	}
	_, ok := Locate(got, 20, 0x10)
	assert.False(t, ok)

	regs := &target.Registers{Arch: target.ArchAMD64}
	regs.Set(target.RBP, 0x1000)
	regs.Set(target.RSP, 0x800)
	regs.Set(target.R15, 0x7777)
	for i, want := range []target.Addr{0, 0x7777, 0, 0x1000 - 40, 0x800 + 1000, 0, 0x1010, 0xff8, 0x1018, 0, 0} {
		a, ok := got[i].Location.Address(regs)
		assert.Equal(t, want, a, i)
		assert.Equal(t, want != 0, ok, i)
	}

	for n := 1; n < len(w.B); n++ {
		_, err := variables(w.B[:n], target.ArchAMD64, false, false)
		assert.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
	}
	_, err = variables(w.B[:len(w.B)-1], target.ArchAMD64, false, false)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	none, err := variables(nil, target.ArchAMD64, false, false)
	assert.NoError(t, err)
	assert.Empty(t, none)
}

// TestVariablesOfChunks: in .NET 11's form the number comes first; return values and entries
// without a location are skipped.
func TestVariablesOfChunks(t *testing.T) {
	const rbp, rcx = 5, 1
	w := (&synth.Nibbles{}).Uint(6)
	w.Uint(0+6, 0x10, 0x20, uint32(LocRegister), rcx)
	w.Uint(varCallReturn+6, 0x18, 0x77, uint32(LocRegister), 0) // the call at IL offset 0x77
	w.Uint(3+6, 0x30, 0, uint32(LocStack), rbp).Int(-40)
	w.Uint(4+6, 0x40, 1, uint32(locationKinds)+1)
	typeArg := VarTypeArg
	w.Uint(uint32(typeArg+6), 0, 0x50, uint32(LocStack), rbp).Int(8)
	w.Uint(5+6, 1, 2, uint32(LocRegisterRegister), rcx, rcx)
	want := []Variable{
		{0, CodeRange{0x10, 0x30}, Location{Kind: LocRegister, Reg: target.RCX}},
		{3, CodeRange{0x30, 0x30}, Location{Kind: LocStack, Base: target.RBP, Offset: -40}},
		{VarTypeArg, CodeRange{0, 0x50}, Location{Kind: LocStack, Base: target.RBP, Offset: 8}},
		{5, CodeRange{1, 3}, Location{Kind: LocRegisterRegister, Reg: target.RCX, Reg2: target.RCX}},
	}
	head := (&synth.Nibbles{}).Uint(fatChunks, 0, uint32(len(w.B)), 0, 0, 0, 0).B
	got, err := DebugInfo{Mem: lent(append(head, w.B...)), Chunks: true, Packed: true}.Variables(target.ArchAMD64)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for n := 1; n < len(w.B); n++ {
		_, err := variables(w.B[:n], target.ArchAMD64, true, true)
		assert.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
	}
}

// TestVectorRegisters: .NET 10 numbers vector registers differently from earlier versions.
func TestVectorRegisters(t *testing.T) {
	b := (&synth.Nibbles{}).Uint(1, 0, 5, 4, uint32(LocRegisterRegister), 1, 33).B
	old, err := variables(b, target.ArchAMD64, false, false)
	require.NoError(t, err)
	assert.Equal(t, Location{Kind: LocRegisterRegister, Reg: target.RCX, Reg2: XMM0 + 17}, old[0].Location)
	apx, err := variables(b, target.ArchAMD64, true, false)
	require.NoError(t, err)
	assert.Equal(t, XMM0+1, apx[0].Location.Reg2)
	_, err = variables((&synth.Nibbles{}).Uint(1, 0, 5, 4, uint32(LocRegister), 20).B, target.ArchAMD64, true, false)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestRegistersOfARM64: the stack pointer has its own number, the numbers of the compilers since 8
// and since 9, and the number of AmbientSP.
func TestRegistersOfARM64(t *testing.T) {
	w := (&synth.Nibbles{}).Uint(7)
	for _, base := range []uint32{31, 64, 80, 34, 29} {
		w.Uint(0, 5, 4, uint32(LocStack), base).Int(16)
	}
	w.Uint(0, 5, 4, uint32(LocRegister), 28).Uint(0, 5, 4, uint32(LocRegisterFloat), 33)
	got, err := variables(w.B, target.ArchARM64, true, false)
	require.NoError(t, err)
	var bases []target.Reg
	for _, v := range got[:5] {
		bases = append(bases, v.Location.Base)
	}
	assert.Equal(t, []target.Reg{target.ARM64SP, target.ARM64SP, target.ARM64SP, AmbientSP, target.ARM64FP}, bases)
	assert.Equal(t, target.ARM64X0+28, got[5].Location.Reg)
	assert.Equal(t, XMM0+1, got[6].Location.Reg)
	for _, arch := range []target.Arch{target.Arch386, target.ArchUnknown} {
		_, err = variables(w.B, arch, false, false)
		assert.ErrorIs(t, err, target.ErrUnsupported)
	}
	_, err = variables((&synth.Nibbles{}).Uint(1, 0, 5, 4, uint32(LocStack), 40).Int(0).B, target.ArchARM64, true, false)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestLyingVariables(t *testing.T) {
	for name, w := range map[string]*synth.Nibbles{
		"a billion":           (&synth.Nibbles{}).Uint(1<<30, 0, 0, 4, 0, 0),
		"unknown kind":        (&synth.Nibbles{}).Uint(1, 0, 0, 4, 11, 0, 0),
		"register 48":         (&synth.Nibbles{}).Uint(1, 0, 0, 4, 0, 48),
		"stack by a vector":   (&synth.Nibbles{}).Uint(1, 0, 0, 4, 3, 18, 0),
		"range past 4 GB":     (&synth.Nibbles{}).Uint(1, 0xffffffff, 1, 4, 0, 0),
		"number of 33 bits":   {B: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x07}},
		"number without end":  {B: []byte{0xff}},
		"count and no entry":  (&synth.Nibbles{}).Uint(1),
		"half of an entry":    (&synth.Nibbles{}).Uint(2, 0, 0, 4, 0, 0),
		"nothing but a count": (&synth.Nibbles{}).Uint(7),
	} {
		_, err := variables(w.B, target.ArchAMD64, false, false)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

func FuzzVariables(f *testing.F) {
	f.Add((&synth.Nibbles{}).Uint(1, 0, 5, 4, 3, 5).Int(-8).B)
	f.Fuzz(func(t *testing.T, b []byte) {
		arch := []target.Arch{target.ArchAMD64, target.ArchARM64}[len(b)>>1%2]
		vars, err := variables(b, arch, len(b)%2 == 0, len(b)&4 != 0)
		checkSentinel(t, err)
		if len(vars) > 2*len(b) {
			t.Fatal("more variables than nibbles")
		}
	})
}
