package codeinfo

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestUnwindInfo: the size of the unwind information follows from its counts, and on ARM64 it has
// the length of the function.
func TestUnwindInfo(t *testing.T) {
	words := func(w ...uint32) lent {
		var b []byte
		for _, v := range w {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return lent(b)
	}
	for name, c := range map[string]struct {
		arch target.Arch
		mem  lent
		size int
	}{
		"UNWIND_INFO with three codes":        {target.ArchAMD64, lent{1, 4, 3, 0}, 4 + 8 + 4},
		".xdata, one epilogue in the header":  {target.ArchARM64, words(2<<27 | 1<<21 | 5<<22 | 0x100), 4 + 8},
		".xdata, two epilogues and a handler": {target.ArchARM64, words(3<<27 | 1<<20 | 2<<22 | 0x100), 4 + 8 + 12 + 4},
		".xdata, counts in a second word":     {target.ArchARM64, words(1<<20|0x100, 40<<16|3), 8 + 12 + 160 + 4},
	} {
		n, err := UnwindInfoSize(c.mem, c.arch, 0)
		require.NoError(t, err, name)
		assert.Equal(t, c.size, n, name)
		length, err := FunctionLength(c.mem, c.arch, 0)
		if c.arch == target.ArchAMD64 {
			assert.ErrorIs(t, err, target.ErrUnsupported)
			continue
		}
		assert.NoError(t, err)
		assert.EqualValues(t, 0x400, length, name)
	}
	_, err := UnwindInfoSize(words(0x100), target.ArchARM64, 0)
	assert.ErrorIs(t, err, target.ErrNotInDump, "the second word is missing")
	_, err = UnwindInfoSize(words(0x100), target.ArchRISCV64, 0)
	assert.ErrorIs(t, err, target.ErrUnsupported)
}
