package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestComputing checks which loops only compute, and which may wait for another thread.
func TestComputing(t *testing.T) {
	const (
		ldloc0, ldloc1, ldloc2, stloc0, stloc1, stloc2, ldc0, ldc1, ldc2, ldc3 = 0x06, 0x07, 0x08, 0x0A, 0x0B, 0x0C, 0x16, 0x17, 0x18, 0x19
		add, sub, mul, div, rem, and, ret, br, brtrue, bne, beq, ldarg0        = 0x58, 0x59, 0x5A, 0x5B, 0x5D, 0x5F, 0x2A, 0x2B, 0x2D, 0x33, 0x2E, 0x02
		stargS, ldsfld, volatile, two, ceq, nop, blt                           = 0x10, 0x7E, 0x13, 0xFE, 0x01, 0x00, 0x32
	)
	back := func(n int) byte { return byte(-n) }
	for _, c := range []struct {
		why  string
		il   []byte
		want bool
	}{
		{"Collatz", []byte{br, 21, ldarg0, ldc1, and, brtrue, 5, ldarg0, ldc2, div, br, 5, ldc3, ldarg0, mul, ldc1, add, stargS, 0, ldloc0, ldc1, add, stloc0,
			ldarg0, ldc1, bne, back(25), ldloc0, ret}, true},
		{"gcd", []byte{br, 8, ldloc0, ldloc1, rem, stloc2, ldloc1, stloc0, ldloc2, stloc1, ldloc1, brtrue, back(11), ret}, true},
		{"for (; i < n + 3; i++)", []byte{br, 4, ldloc0, ldc1, add, stloc0, ldloc0, ldarg0, ldc3, add, blt, back(10), ret}, true},
		{"the same without optimization", []byte{br, 5, nop, ldloc0, ldc1, add, stloc0, ldloc0, ldarg0, two, ceq, stloc1, ldloc1, brtrue, back(14), ret}, true},
		{"while (!done) n++", []byte{br, 4, ldloc0, ldc1, add, stloc0, ldsfld, 1, 0, 0, 4, brtrue, back(11), ret}, false},
		{"while (!done), volatile", []byte{br, 4, ldloc0, ldc1, add, stloc0, two, volatile, ldsfld, 1, 0, 0, 4, brtrue, back(13), ret}, false},
		{"a flag that is read into a variable", []byte{br, 10, ldloc0, ldc1, add, stloc0, ldsfld, 1, 0, 0, 4, stloc1, ldloc0, ldloc1, bne, back(14), ret}, false},
		{"the variable does not change", []byte{br, 4, ldloc0, ldc1, add, stloc0, ldloc1, brtrue, back(7), ret}, false},
		{"it changes to and fro", []byte{br, 4, ldloc1, stloc0, ldloc0, stloc1, ldloc1, brtrue, back(7), ret}, false},
		{"each turn counts to one", []byte{br, 4, ldc0, ldc1, add, stloc0, ldloc0, brtrue, back(7), ret}, false},
		{"its address is taken", []byte{0x12, 0, br, 4, ldloc0, ldc1, add, stloc0, ldloc0, brtrue, back(7), ret}, false},
		{"while (true) { i++; if (i == 2) continue; if (done) break; }", []byte{ldloc0, ldc1, add, stloc0, ldloc0, ldc2, beq, back(8), ldsfld, 1, 0, 0, 4, brtrue, 2, br, back(17), ret}, false},
		{"while (true) { i++; if (i == 2) break; }", []byte{ldloc0, ldc1, add, stloc0, ldloc0, ldc2, beq, 2, br, back(10), ret}, true},
		{"while (true)", []byte{nop, br, back(3)}, false},
	} {
		loops, err := All(c.il)
		require.NoError(t, err, c.why)
		require.NotEmpty(t, loops, c.why)
		assert.Equal(t, c.want, loops.End(c.il), c.why)
		for n := range c.il {
			if loops, err := All(c.il[:n]); err == nil {
				_ = loops.End(c.il[:n]) // an answer, and no panic
			}
		}
	}
	assert.False(t, computing([]byte{0x2B}, Loops{0: 1}), "cut off")
}
