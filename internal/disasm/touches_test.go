package disasm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/target"
)

func TestTouches(t *testing.T) {
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetIP(0x1000)
	regs.Set(target.RAX, 0x6f6f6f6f6f6f6f6f)
	regs.Set(target.RBX, 0x100)
	regs.Set(target.R12, 0x20)
	for _, c := range []struct {
		what string
		code []byte
		want []target.Addr
	}{
		{"mov dword ptr [rax], 1", []byte{0xc7, 0x00, 1, 0, 0, 0}, []target.Addr{0x6f6f6f6f6f6f6f6f}},
		{"mov eax, [rbx-8]", []byte{0x8b, 0x43, 0xf8}, []target.Addr{0xf8}},
		{"mov rax, [rbx+r12*8+0x10]", []byte{0x4a, 0x8b, 0x44, 0xe3, 0x10}, []target.Addr{0x210}},
		{"mov rax, [rip-0x10]", []byte{0x48, 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff}, []target.Addr{0xff7}},
		{"call [rbx]", []byte{0xff, 0x13}, []target.Addr{0x100}},
		{"lea rax, [rbx]", []byte{0x48, 0x8d, 0x03}, nil},
		{"mov eax, [rcx], which is not known", []byte{0x8b, 0x01}, nil},
		{"mov rax, fs:[0x28]", []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, nil},
		{"mov eax, ebx", []byte{0x89, 0xd8}, nil},
		{"no instruction", []byte{0x06}, nil},
		{"nothing", nil, nil},
	} {
		assert.Equal(t, c.want, disasm.Touches(&regs, c.code), c.what)
	}
	regs.Arch = target.ArchARM64
	assert.Nil(t, disasm.Touches(&regs, []byte{0xc7, 0x00, 1, 0, 0, 0}))
}

func TestTouchesNone(t *testing.T) {
	for what, code := range map[string][]byte{
		"cmp eax, 0x7f": {0x83, 0xf8, 0x7f}, "lea rax, [rbx]": {0x48, 0x8d, 0x03}, "mov eax, ebx": {0x89, 0xd8}, "nop [rax]": {0x0f, 0x1f, 0x00}, "jne +2": {0x75, 2},
	} {
		assert.True(t, disasm.TouchesNone(target.ArchAMD64, code), what)
		assert.False(t, disasm.TouchesNone(target.ArchARM64, code), what)
	}
	for what, code := range map[string][]byte{
		"mov eax, [rcx]": {0x8b, 0x01}, "push rax": {0x50}, "ret": {0xc3}, "call rel32": {0xe8, 1, 2, 3, 4}, "rep movsb": {0xf3, 0xa4}, "hlt": {0xf4},
		"no instruction": {0x06}, "cut short": {0x83}, "nothing": nil,
	} {
		assert.False(t, disasm.TouchesNone(target.ArchAMD64, code), what)
	}
}

func TestUntouched(t *testing.T) {
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetSP(0x7ffd00001000)
	regs.Set(target.RBX, 0x5000)
	for _, c := range []struct {
		what string
		code []byte
		at   target.Addr
		want bool
	}{
		{"mov eax, ebx", []byte{0x89, 0xd8}, 0x2c22, true},
		{"mov eax, [rbx+8], elsewhere", []byte{0x8b, 0x43, 0x08}, 0x2c22, true},
		{"mov eax, [rbx+8], there", []byte{0x8b, 0x43, 0x08}, 0x5008, false},
		{"mov eax, [rbx+8], in its last byte", []byte{0x8b, 0x43, 0x08}, 0x500b, false},
		{"mov eax, [rcx], which is not known", []byte{0x8b, 0x01}, 0x2c22, false},
		{"push rax", []byte{0x50}, 0x2c22, true},
		{"call, in which a helper may have failed", []byte{0xe8, 1, 2, 3, 4}, 0x2c22, false},
		{"push rax, near the stack", []byte{0x50}, 0x7ffd00000ff8, false},
		{"lea rax, [rbx]", []byte{0x48, 0x8d, 0x03}, 0x5000, true},
		{"vmovdqa, which is not decoded", []byte{0xc5, 0x79, 0x7f, 0x45, 0xb0}, 0x2c22, false},
		{"no instruction", []byte{0x06}, 0x2c22, false},
		{"nothing", nil, 0x2c22, false},
	} {
		assert.Equal(t, c.want, disasm.Untouched(&regs, c.code, c.at), c.what)
	}
	assert.False(t, disasm.Untouched(&target.Registers{Arch: target.ArchAMD64}, []byte{0x89, 0xd8}, 0x2c22), "without registers")
	assert.False(t, disasm.Untouched(&target.Registers{Arch: target.ArchARM64}, []byte{0x89, 0xd8}, 0x2c22))
}
