package codeinfo

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

func TestReadCodeLength(t *testing.T) {
	for _, c := range []struct {
		version int
		fat     bool
		length  uint32
	}{{4, false, 10}, {4, false, 0x1234}, {4, true, 0x71}, {3, true, 0x12345}, {2, false, 300}, {2, true, 1}, {4, true, math.MaxUint32}} {
		flags, kind := 1, returnKindBitsSlim
		if c.fat {
			flags, kind = headerBits, returnKindBitsFat
		}
		w := (&bitWriter{}).flag(c.fat).bits(0x155&(1<<flags-1), flags)
		if c.version < 4 {
			w.bits(3, kind)
		}
		w.uvarint(uint64(c.length), baseCodeLength)
		got, err := codeLength(append(w.b, 0, 0), target.ArchAMD64, c.version)
		assert.NoError(t, err)
		assert.Equal(t, c.length, got)
	}
	_, err := codeLength([]byte{0}, target.ArchAMD64, 4)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = codeLength([]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, target.ArchAMD64, 4)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestReadCodeLengthMissing: missing bytes are target.ErrNotInDump, not truncated data.
func TestReadCodeLengthMissing(t *testing.T) {
	w := (&bitWriter{}).flag(false).bits(0, 1).uvarint(0x1234, baseCodeLength)
	got, err := ReadCodeLength(lent(w.b), 0, target.ArchAMD64, 4)
	assert.NoError(t, err, "the memory ends behind the length")
	assert.EqualValues(t, 0x1234, got)
	_, err = ReadCodeLength(lent(w.b[:1]), 0, target.ArchAMD64, 4)
	assert.ErrorIs(t, err, target.ErrNotInDump)
}
