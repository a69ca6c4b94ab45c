package ilflow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/ilflow"
)

// TestArgumentBehind checks constants that code passes as numbers of each kind that are whole.
func TestArgumentBehind(t *testing.T) {
	call := []byte{0x28, 1, 0, 0, 10}
	for _, c := range []struct {
		il    []byte
		value int64
		known bool
	}{
		{[]byte{0x17}, 1, true},                                // ldc.i4.1
		{[]byte{0x1f, 30, 0x6a}, 30, true},                     // ldc.i4.s 30, conv.i8
		{[]byte{0x23, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 1, true},  // ldc.r8 1.0
		{[]byte{0x23, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f}, 0, false}, // ldc.r8 0.5
		{[]byte{0x23, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 0, false}, // infinity
		{[]byte{0x17, 0x02}, 0, false},                         // ldarg.0 is the argument
	} {
		value, known := ilflow.ArgumentBehind(append(c.il, call...), 0)
		assert.Equal(t, c.known, known, c.il)
		if known {
			assert.Equal(t, c.value, value)
		}
	}
}
