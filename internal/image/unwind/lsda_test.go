package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// The CIE and FDE of a C++ function, with 32-bit relative pointers and a personality.
var (
	lsdaCIE = append([]byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b}, 0, 0, 0, 0, 0x1b, 0x1b, 0, 0)
	lsdaFDE = []byte{17, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0x20, 0, 0, 0, 4, 0xf0, 0xff, 0xff, 0xff}
)

// TestLSDA finds the data of a function, and none for a function without.
func TestLSDA(t *testing.T) {
	const at = target.Addr(0x1000)
	a, ok := lsda(lsdaCIE, lsdaFDE, at)
	assert.True(t, ok)
	assert.Equal(t, at+17-16, a)
	without := append([]byte(nil), lsdaFDE...)
	binary.LittleEndian.PutUint32(without[17:], 0)
	_, ok = lsda(lsdaCIE, without, at)
	assert.False(t, ok, "a distance of 0 is none")
	_, ok = lsda(lsdaCIE, lsdaFDE[:18], at)
	assert.False(t, ok)
	plain := append([]byte(nil), lsdaCIE...)
	plain[9] = 'x'
	_, ok = lsda(plain, lsdaFDE, at)
	assert.False(t, ok)
}

func FuzzLSDA(f *testing.F) {
	f.Add(lsdaCIE, lsdaFDE)
	f.Fuzz(func(_ *testing.T, cie, entry []byte) { _, _ = lsda(cie, entry, 0x1000) })
}
