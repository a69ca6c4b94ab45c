package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCounted gives loops as compilers write them.
func TestCounted(t *testing.T) {
	const (
		ldloc0, ldloc1, stloc0, stloc1, ldc1, add, sub, ret, nop = 0x06, 0x07, 0x0A, 0x0B, 0x17, 0x58, 0x59, 0x2A, 0x00
		br, blt, bgt, bne, brtrue, ldlen, convI4, ldc4, ldarg0   = 0x2B, 0x32, 0x30, 0x33, 0x2D, 0x8E, 0x69, 0x1A, 0x02
	)
	for _, c := range []struct {
		why  string
		il   []byte
		want bool
	}{
		{"no loop", []byte{ldloc0, ret}, true},
		{"for (; i < 4; i++)", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, blt, 0xF7, ret}, true},
		{"for (; i < n; i++)", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldloc1, blt, 0xF7, ret}, true},
		{"for (; i < a.Length; i++)", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldarg0, ldlen, convI4, blt, 0xF5, ret}, true},
		{"for (; i > 4; i--)", []byte{br, 5, nop, ldloc0, ldc1, sub, stloc0, ldloc0, ldc4, bgt, 0xF7, ret}, true},
		{"the same without optimization", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, 0xFE, 0x04, 0x0C, 0x08, brtrue, 0xF3, ret}, true},
		{"it goes the other way", []byte{br, 5, nop, ldloc0, ldc1, sub, stloc0, ldloc0, ldc4, blt, 0xF7, ret}, false},
		{"it may step over its limit", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, bne, 0xF7, ret}, false},
		{"the limit moves", []byte{br, 7, ldloc0, stloc1, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldloc1, blt, 0xF5, ret}, false},
		{"the variable is set back", []byte{br, 7, ldc1, stloc0, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, blt, 0xF5, ret}, false},
		{"a turn may not step", []byte{br, 8, ldloc1, brtrue, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, blt, 0xF4, ret}, false},
		{"another jump back", []byte{br, 7, ldloc1, brtrue, 0xFD, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, blt, 0xF5, ret}, false},
		{"its address is taken", []byte{0x12, 0, br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, blt, 0xF7, ret}, false},
		{"while (true)", []byte{nop, br, 0xFD}, false},
		{"a counted one in an endless one", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldc4, blt, 0xF7, br, 0xF3}, false},
	} {
		loops, err := All(c.il)
		require.NoError(t, err, c.why)
		assert.Equal(t, c.want, counted(c.il, loops), c.why)
	}
	_, err := All([]byte{0x2B})
	require.Error(t, err)
}
