package nativecode

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEndlessLoop gives loops as the compiler writes them, and loops that something may end.
func TestEndlessLoop(t *testing.T) {
	registers := map[byte]uint64{0: 0xFF00000000, 6: 5, 8: 0} // rax, rsi, r8
	for _, c := range []struct {
		why  string
		code []byte
		at   int
		want bool
	}{
		{"test eax, eax; je", []byte{0x85, 0xC0, 0x74, 0xFC}, 2, true},
		{"at the test", []byte{0x85, 0xC0, 0x74, 0xFC}, 0, true},
		{"test rax, rax; je: it is not 0", []byte{0x48, 0x85, 0xC0, 0x74, 0xFB}, 3, false},
		{"test rax, rax; jne", []byte{0x48, 0x85, 0xC0, 0x75, 0xFB}, 0, true},
		{"test esi, esi; je: it is not 0", []byte{0x85, 0xF6, 0x74, 0xFC}, 2, false},
		{"test esi, esi; jne", []byte{0x85, 0xF6, 0x75, 0xFC}, 2, true},
		{"test r8b, r8b; je", []byte{0x45, 0x84, 0xC0, 0x74, 0xFB}, 3, true},
		{"test ecx, ecx: unknown", []byte{0x85, 0xC9, 0x74, 0xFC}, 2, false},
		{"test dh, dh", []byte{0x84, 0xF6, 0x75, 0xFC}, 2, false},
		{"test eax, ecx", []byte{0x85, 0xC8, 0x74, 0xFC}, 2, false},
		{"a read before the test", []byte{0x8A, 0x00, 0x85, 0xC0, 0x74, 0xFA}, 4, false},
		{"a jump forward", []byte{0x85, 0xC0, 0x74, 0x04}, 2, false},
		{"jmp to itself", []byte{0x90, 0xEB, 0xFE}, 1, true},
		{"behind the loop", []byte{0x85, 0xC0, 0x74, 0xFC, 0x90, 0x90}, 4, false},
		{"cut off", []byte{0x85}, 0, false},
	} {
		got := endlessLoop(c.code, c.at, func(number byte) (uint64, bool) { v, ok := registers[number]; return v, ok })
		assert.Equal(t, c.want, got, c.why)
	}
}
