package disasm

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func TestDecode(t *testing.T) {
	const at = target.Addr(0x7f27f4874c54)
	for _, test := range []struct {
		code string
		text string
		kind RefKind
		ref  target.Addr
	}{
		{"55", "push    rbp", RefNone, 0},
		{"c3", "ret", RefNone, 0},
		{"488d6c2430", "lea     rbp, [rsp+0x30]", RefNone, 0},
		{"ff157e74fbff", "call    qword ptr [0x7f27f482c0d8]", RefCallSlot, 0x7f27f482c0d8},
		{"ff250a000000", "jmp     qword ptr [0x7f27f4874c64]", RefJumpSlot, 0x7f27f4874c64},
		{"e8fbffffff", "call    0x7f27f4874c54", RefCall, at},
		{"eb02", "jmp     0x7f27f4874c58", RefJump, at + 4},
		{"7515", "jnz     0x7f27f4874c6b", RefJump, at + 0x17},
		{"488d05f9ffffff", "lea     rax, [0x7f27f4874c54]", RefAddress, at},
		{"488b0501000000", "mov     rax, qword ptr [0x7f27f4874c5c]", RefMemory, at + 8},
		{"48bf6012a0f0277f0000", "mov     rdi, 0x7f27f0a01260", RefImmediate, 0x7f27f0a01260},
		{"48b80100000000000000", "mov     rax, 0x1", RefNone, 0},
		{"c4413857c0", "vxorps  xmm8, xmm8, xmm8", RefNone, 0},
		{"c5f877", "vzeroupper", RefNone, 0},
		{"06", "", RefNone, 0}, // no instruction in 64-bit mode
	} {
		code, err := hex.DecodeString(test.code)
		require.NoError(t, err)
		var all []Instruction
		for in := range Decode(target.ArchAMD64, code, at) {
			all = append(all, in)
		}
		require.Len(t, all, 1, test.code)
		assert.Equal(t, Instruction{at, code, test.text, test.kind, test.ref, all[0].flow}, all[0])
	}
}

// TestTruncated: a truncated instruction becomes single bytes.
func TestTruncated(t *testing.T) {
	n := 0
	for in := range Decode(target.ArchAMD64, []byte{0x90, 0x48, 0xbf, 1}, 0x1000) {
		assert.Equal(t, target.Addr(0x1000+n), in.Addr)
		n += len(in.Bytes)
	}
	assert.Equal(t, 4, n)
}

// TestVzeroupper: vzeroupper has no operands, whatever follows.
func TestVzeroupper(t *testing.T) {
	var texts []string
	for in := range Decode(target.ArchAMD64, []byte{0xc5, 0xf8, 0x77, 0x48, 0x83, 0xc4, 0x08, 0xc3}, 0) {
		texts = append(texts, in.Text)
	}
	assert.Equal(t, []string{"vzeroupper", "add     rsp, 0x8", "ret"}, texts)
}

func TestStop(t *testing.T) {
	for range Decode(target.ArchAMD64, make([]byte, 100), 0) {
		return
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0xff, 0x15, 0x7e, 0x74, 0xfb, 0xff, 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x01}, uint64(0x7fff12345678))
	f.Add(wordsARM64(0xd2891b00, 0xf2bf01a0, 0xf9400400, 0xd63f0000, 0x17ffffff), uint64(0x54f8155620))
	f.Fuzz(func(t *testing.T, code []byte, at uint64) {
		for _, arch := range []target.Arch{target.ArchAMD64, target.ArchARM64} {
			n := 0
			for in := range Decode(arch, code, target.Addr(at)) {
				if len(in.Bytes) == 0 || in.Addr != target.Addr(at)+target.Addr(n) {
					t.Fatal("no progress")
				}
				n += len(in.Bytes)
			}
			if n != len(code) {
				t.Fatalf("%d bytes of %d", n, len(code))
			}
		}
	})
}
