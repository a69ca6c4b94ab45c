package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// noCodes is an empty CodeMap.
type noCodes struct{}

func (noCodes) FindCode(target.Addr) (Code, bool) { return Code{}, false }
func (noCodes) InCode(target.Addr) bool           { return false }

// signalContext returns a ucontext at a. The register with the number n holds n+0x1000.
func signalContext(arch target.Arch, ip, sp, a target.Addr) []byte {
	le := binary.LittleEndian
	if arch == target.ArchARM64 {
		b := make([]byte, 992)
		for i := range 32 {
			b[480+16*i] = byte(i)
		}
		for i := range 31 {
			le.PutUint64(b[184+8*i:], uint64(0x1000+i))
		}
		le.PutUint64(b[432:], uint64(sp))
		le.PutUint64(b[440:], uint64(ip))
		le.PutUint64(b[464:], 528<<32|0x46508001)
		return b
	}
	b := make([]byte, 304)
	le.PutUint64(b, 7)
	for i, r := range [...]target.Reg{target.R8, target.R9, target.R10, target.R11, target.R12, target.R13, target.R14, target.R15, target.RDI, target.RSI,
		target.RBP, target.RBX, target.RDX, target.RAX, target.RCX} {
		le.PutUint64(b[40+8*i:], 0x1000+uint64(r))
	}
	le.PutUint64(b[160:], uint64(sp))
	le.PutUint64(b[168:], uint64(ip))
	le.PutUint64(b[184:], 0x2b<<48|0x33)
	le.PutUint64(b[224:], uint64(a+0x180)&^63)
	return b
}

// TestSignalReturn: without unwind data, the return code of a signal handler leads to the
// interrupted code with all registers, also on another stack. Other code and other frames don't.
func TestSignalReturn(t *testing.T) {
	const code, interrupted, sp = 0x7f0000002000, 0x7f0000001234, testStack - 0x10000
	for _, tc := range []struct {
		arch    target.Arch
		above   target.Addr
		returns []byte
		one     target.Reg
		ip      int // offset in the context
	}{
		{target.ArchAMD64, 0, []byte("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"), target.R15, 168},
		{target.ArchARM64, 128, []byte("\x68\x11\x80\xd2\x01\x00\x00\xd4"), target.ARM64X0 + 15, 440},
	} {
		step := func(code []byte, damage func([]byte)) (Frame, bool) {
			at := target.Addr(testStack + tc.above)
			b := signalContext(tc.arch, interrupted, sp, at)
			damage(b)
			mem := testMemory{at: b}
			if code != nil {
				mem[0x7f0000002000] = code
			}
			f := Frame{Regs: target.Registers{Arch: tc.arch}, Trust: TrustContext}
			f.Regs.SetIP(0x7f0000002000)
			f.Regs.SetSP(testStack)
			more, err := New(mem, noCodes{}).Cursor(target.Range{}).Step(&f, TrustUnwind)
			require.Equal(t, more, err == nil)
			return f, more
		}
		sound := func([]byte) {}
		for _, bytes := range [][]byte{tc.returns, nil} {
			f, more := step(bytes, sound)
			require.True(t, more, "%v", tc.arch)
			assert.True(t, f.Exact)
			assert.Equal(t, TrustUnwind, f.Trust)
			assert.Equal(t, uint64(0x100f), get(t, &f, tc.one))
			v, known := f.Regs.VectorLow(20)
			assert.Equal(t, tc.arch == target.ArchARM64, known)
			assert.Equal(t, known, v == 20)
			ip, _ := f.Regs.IP()
			assert.Equal(t, target.Addr(interrupted), ip)
			at, _ := f.Regs.SP()
			assert.Equal(t, target.Addr(sp), at)
		}
		for name, damage := range map[string]func([]byte){
			"another context is next": func(b []byte) { b[8] = 1 },
			"flags of no stack":       func(b []byte) { b[24] = 4 },
			"flags":                   func(b []byte) { b[1] = 1 },
			"no instruction pointer":  func(b []byte) { clear(b[tc.ip:][:8]) },
		} {
			_, more := step(tc.returns, damage)
			assert.False(t, more, "%v: %s", tc.arch, name)
		}
		_, more := step([]byte("\x90\x90\x90\x90\x90\x90\x90\x90\x90"), sound)
		assert.False(t, more, "%v: other code", tc.arch)
	}
}

func FuzzSignalContext(f *testing.F) {
	f.Add(signalContext(target.ArchAMD64, 0x1000, 0x2000, testStack))
	f.Add(signalContext(target.ArchARM64, 0x1000, 0x2000, testStack))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, arch := range []target.Arch{target.ArchAMD64, target.ArchARM64} {
			regs, ok := SignalContext(target.NewWindow(testMemory{testStack: b}), arch, testStack)
			if ip, known := regs.IP(); ok && (!known || ip == 0) {
				t.Errorf("no instruction pointer")
			}
		}
	})
}
