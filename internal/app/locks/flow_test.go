package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/metadata"
)

// TestZeroAt: a wait follows from a number of 0 only if all paths to it go through a test. In the code, nop (00) stands for the wait. A call (28) of
// the token 1 returns the number, and calls of the token 2 are conditions of other kinds.
func TestZeroAt(t *testing.T) {
	const (
		get, other         = "\x28\x01\x00\x00\x00", "\x28\x02\x00\x00\x00"
		wait, ret          = "\x00", "\x2a"
		br, brfalse, brtru = "\x2b", "\x2c", "\x2d"
		zero, beq, bgt     = "\x16", "\x2e", "\x30"
		one, bge           = "\x17", "\x2f"
		ceq                = "\xfe\x01"
		stloc, ldloc       = "\x0a", "\x06"
	)
	for name, c := range map[string]struct {
		code string
		want bool
	}{
		"while it is 0":                     {br + "\x01" + wait + get + brfalse + "\xf8" + ret, true},
		"while it is 0, not optimized":      {br + "\x01" + wait + get + zero + ceq + stloc + ldloc + brtru + "\xf3" + ret, true},
		"while it is 0, or another":         {br + "\x01" + wait + get + brfalse + "\xf8" + other + brtru + "\xf1" + ret, false},
		"while it is 0, and another":        {br + "\x01" + wait + get + brtru + "\x07" + other + brtru + "\xf1" + ret + ret, true},
		"while it is not 0":                 {br + "\x01" + wait + get + brtru + "\xf8" + ret, false},
		"if it is 0":                        {get + brtru + "\x01" + wait + ret, true},
		"if it is not more than 0":          {get + zero + bgt + "\x01" + wait + ret, true},
		"if it is equal to 0, after a jump": {get + zero + beq + "\x01" + ret + wait + ret, true},
		"if it is less than 1":              {get + one + bge + "\x01" + wait + ret, true},
		"after it was 0 once":               {get + brtru + "\x03" + wait + br + "\xfd" + ret, false}, // waits again without a test
		"without a test":                    {wait + ret, false},
		"by another number":                 {other + brtru + "\x01" + wait + ret, false},
	} {
		g, err := readFlow(&metadata.MethodBody{Code: []byte(c.code)})
		require.NoError(t, err, name)
		at := -1
		for i := range g.code {
			if g.code[i].Opcode.String() == "nop" {
				at = g.code[i].Offset
			}
		}
		require.GreaterOrEqual(t, at, 0, name)
		isTest := func(call int) bool {
			in := &g.code[g.at[call]]
			return in.Opcode.String() == "call" && in.Token() == 1
		}
		assert.Equal(t, c.want, g.zeroAt(at, isTest), name)
	}
}

// TestFrom: a loop without an end, a return or the end of a block has no way out. The code is looked at from its first instruction on.
func TestFrom(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		ends bool
	}{
		"for ever":              {"\x00\x2b\xfd", false},
		"two branches":          {"\x06\x2d\xfd\x2b\xfb", false}, // while it holds, and else as well
		"until it is 0":         {"\x06\x2d\xfd\x2a", true},
		"leaves a block":        {"\x06\x2d\xfd\xde\x00\x2a", true},
		"throws":                {"\x06\x2d\xfd\x14\x7a", true},
		"runs off the code":     {"\x00", true},
		"jumps out of the code": {"\x2b\x7f", true},
	} {
		g, err := readFlow(&metadata.MethodBody{Code: []byte(c.code)})
		require.NoError(t, err, name)
		_, ends := g.from(0)
		assert.Equal(t, c.ends, ends, name)
	}
}

// TestAfter: code that stands in a block may still run the block's handler, and no other block's.
func TestAfter(t *testing.T) {
	g, err := readFlow(&metadata.MethodBody{
		Code:    []byte("\x00\xde\x03\x00\x00\xdc\x00\xde\x01\xdc\x2a"), // a block, its handler at 3, a block, its handler at 9, and the end
		Clauses: []metadata.Clause{{TryOffset: 0, TryLength: 3, HandlerOffset: 3}, {TryOffset: 6, TryLength: 3, HandlerOffset: 9}},
	})
	require.NoError(t, err)
	all := map[int]bool{0: true, 1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 9: true, 10: true}
	assert.Equal(t, all, g.after(0))
	assert.Equal(t, map[int]bool{6: true, 7: true, 9: true, 10: true}, g.after(6))
	assert.Equal(t, map[int]bool{10: true}, g.after(10))
	assert.Nil(t, g.after(2), "no instruction begins there")
}
