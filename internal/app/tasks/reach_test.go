package tasks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTurn checks from which offset on code may run again after an await: from the start of the outermost loop around it.
func TestTurn(t *testing.T) {
	nop, back := byte(0x00), func(by int8) []byte { return []byte{0x2b, byte(by)} } // nop, br.s
	il := append([]byte{nop, nop, nop, nop}, back(-4)...)                           // a loop from 2 to 6
	il = append(append(il, nop), back(-8)...)                                       // a loop from 1 to 9
	il = append(il, nop, nop, 0x2a)                                                 // behind both
	for at, first := range map[int]int{0: 0, 1: 1, 3: 1, 6: 1, 9: 9, 11: 11} {
		got, err := turn(il, at)
		require.NoError(t, err)
		assert.Equal(t, first, got, "offset %d", at)
	}
	_, err := turn([]byte{0x2b}, 0)
	assert.Error(t, err, "code that ends within an instruction")
}
