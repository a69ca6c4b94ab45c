package codeinfo

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// A nibbleWriter writes what a nibbleReader reads.
type nibbleWriter struct {
	b []byte
	n int
}

func (w *nibbleWriter) nibble(v byte) {
	if w.n%2 == 0 {
		w.b = append(w.b, v)
	} else {
		w.b[w.n/2] |= v << 4
	}
	w.n++
}

func (w *nibbleWriter) uint(values ...uint32) *nibbleWriter {
	for _, v := range values {
		shift := 0
		for v>>shift > 7 {
			shift += 3
		}
		for ; shift > 0; shift -= 3 {
			w.nibble(byte(v>>shift&7) | 8)
		}
		w.nibble(byte(v & 7))
	}
	return w
}

func (w *nibbleWriter) int(v int32) *nibbleWriter {
	if v < 0 {
		return w.uint(uint32(-v)<<1 | 1)
	}
	return w.uint(uint32(v) << 1)
}

func TestVariables(t *testing.T) {
	const rbp, rcx, r15, ambient = 5, 1, 15, 17
	w := (&nibbleWriter{}).uint(11)
	head := func(number int32, kind LocationKind) *nibbleWriter {
		return w.uint(0x10, 0x20, uint32(number-minVarNumber), uint32(kind))
	}
	head(0, LocRegister).uint(rcx)
	head(1, LocRegisterByRef).uint(r15)
	head(2, LocRegisterFloat).uint(16 + 3)
	head(3, LocStack).uint(rbp).int(-40)
	head(4, LocStackByRef).uint(ambient).int(1000)
	head(5, LocRegisterRegister).uint(rcx, r15)
	head(6, LocRegisterStack).uint(rcx, rbp).int(16)
	head(7, LocStackRegister).int(-8).uint(rbp, r15)
	head(VarTypeArg, LocStack2).uint(rbp).int(24)
	head(VarReturnBuf, LocFloatStack).uint(2)
	head(VarArgsHandle, LocVarArg).uint(8)
	got, err := Variables(w.b, target.ArchAMD64, false)
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

	for n := 1; n < len(w.b); n++ {
		_, err := Variables(w.b[:n], target.ArchAMD64, false)
		assert.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
	}
	_, err = Variables(w.b[:len(w.b)-1], target.ArchAMD64, false)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	none, err := Variables(nil, target.ArchAMD64, false)
	assert.NoError(t, err)
	assert.Empty(t, none)
}

// TestVariablesOfChunks: in the form of .NET 11 the number comes first, return values of calls and entries without a place are left out.
func TestVariablesOfChunks(t *testing.T) {
	const rbp, rcx = 5, 1
	w := (&nibbleWriter{}).uint(6)
	w.uint(0+6, 0x10, 0x20, uint32(LocRegister), rcx)
	w.uint(varCallReturn+6, 0x18, 0x77, uint32(LocRegister), 0) // of the call at IL offset 0x77
	w.uint(3+6, 0x30, 0, uint32(LocStack), rbp).int(-40)
	w.uint(4+6, 0x40, 1, uint32(locationKinds)+1)
	typeArg := VarTypeArg
	w.uint(uint32(typeArg+6), 0, 0x50, uint32(LocStack), rbp).int(8)
	w.uint(5+6, 1, 2, uint32(LocRegisterRegister), rcx, rcx)
	want := []Variable{
		{0, CodeRange{0x10, 0x30}, Location{Kind: LocRegister, Reg: target.RCX}},
		{3, CodeRange{0x30, 0x30}, Location{Kind: LocStack, Base: target.RBP, Offset: -40}},
		{VarTypeArg, CodeRange{0, 0x50}, Location{Kind: LocStack, Base: target.RBP, Offset: 8}},
		{5, CodeRange{1, 3}, Location{Kind: LocRegisterRegister, Reg: target.RCX, Reg2: target.RCX}},
	}
	head := (&nibbleWriter{}).uint(fatChunks, 0, uint32(len(w.b)), 0, 0, 0, 0).b
	got, err := DebugInfo{Mem: lent(append(head, w.b...)), Chunks: true}.Variables(target.ArchAMD64, true)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for n := 1; n < len(w.b); n++ {
		_, err := variables(w.b[:n], target.ArchAMD64, true, true)
		assert.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
	}
}

// TestVectorRegisters: .NET 10 has other numbers than earlier compilers.
func TestVectorRegisters(t *testing.T) {
	b := (&nibbleWriter{}).uint(1, 0, 5, 4, uint32(LocRegisterRegister), 1, 33).b
	old, err := Variables(b, target.ArchAMD64, false)
	require.NoError(t, err)
	assert.Equal(t, Location{Kind: LocRegisterRegister, Reg: target.RCX, Reg2: XMM0 + 17}, old[0].Location)
	apx, err := Variables(b, target.ArchAMD64, true)
	require.NoError(t, err)
	assert.Equal(t, XMM0+1, apx[0].Location.Reg2)
	_, err = Variables((&nibbleWriter{}).uint(1, 0, 5, 4, uint32(LocRegister), 20).b, target.ArchAMD64, true)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestRegistersOfARM64: the stack pointer has its own number, those of the compilers since 8 and since 9, and that of the place
// that it has after the prolog.
func TestRegistersOfARM64(t *testing.T) {
	w := (&nibbleWriter{}).uint(7)
	for _, base := range []uint32{31, 64, 80, 34, 29} {
		w.uint(0, 5, 4, uint32(LocStack), base).int(16)
	}
	w.uint(0, 5, 4, uint32(LocRegister), 28).uint(0, 5, 4, uint32(LocRegisterFloat), 33)
	got, err := Variables(w.b, target.ArchARM64, true)
	require.NoError(t, err)
	var bases []target.Reg
	for _, v := range got[:5] {
		bases = append(bases, v.Location.Base)
	}
	assert.Equal(t, []target.Reg{target.ARM64SP, target.ARM64SP, target.ARM64SP, AmbientSP, target.ARM64FP}, bases)
	assert.Equal(t, target.ARM64X0+28, got[5].Location.Reg)
	assert.Equal(t, XMM0+1, got[6].Location.Reg)
	for _, arch := range []target.Arch{target.Arch386, target.ArchUnknown} {
		_, err = Variables(w.b, arch, false)
		assert.ErrorIs(t, err, target.ErrUnsupported)
	}
	_, err = Variables((&nibbleWriter{}).uint(1, 0, 5, 4, uint32(LocStack), 40).int(0).b, target.ArchARM64, true)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestLyingVariables(t *testing.T) {
	for name, w := range map[string]*nibbleWriter{
		"a billion":           (&nibbleWriter{}).uint(1<<30, 0, 0, 4, 0, 0),
		"unknown kind":        (&nibbleWriter{}).uint(1, 0, 0, 4, 11, 0, 0),
		"register 48":         (&nibbleWriter{}).uint(1, 0, 0, 4, 0, 48),
		"stack by a vector":   (&nibbleWriter{}).uint(1, 0, 0, 4, 3, 18, 0),
		"range past 4 GB":     (&nibbleWriter{}).uint(1, 0xffffffff, 1, 4, 0, 0),
		"number of 33 bits":   {b: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x07}, n: 11},
		"number without end":  {b: []byte{0xff}, n: 2},
		"count and no entry":  (&nibbleWriter{}).uint(1),
		"half of an entry":    (&nibbleWriter{}).uint(2, 0, 0, 4, 0, 0),
		"nothing but a count": (&nibbleWriter{}).uint(7),
	} {
		_, err := Variables(w.b, target.ArchAMD64, false)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

func FuzzVariables(f *testing.F) {
	f.Add((&nibbleWriter{}).uint(1, 0, 5, 4, 3, 5).int(-8).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		arch := []target.Arch{target.ArchAMD64, target.ArchARM64}[len(b)>>1%2]
		vars, err := variables(b, arch, len(b)%2 == 0, len(b)&4 != 0)
		checkSentinel(t, err)
		if len(vars) > 2*len(b) {
			t.Fatal("more variables than nibbles")
		}
	})
}
