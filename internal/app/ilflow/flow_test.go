package ilflow

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
		g, err := ReadFlow(&metadata.MethodBody{Code: []byte(c.code)})
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
		assert.Equal(t, c.want, g.ZeroAt(at, isTest), name)
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
		g, err := ReadFlow(&metadata.MethodBody{Code: []byte(c.code)})
		require.NoError(t, err, name)
		_, ends := g.From(0)
		assert.Equal(t, c.ends, ends, name)
	}
}

// TestAfter: code that stands in a block may still run the block's handler, and no other block's.
func TestAfter(t *testing.T) {
	g, err := ReadFlow(&metadata.MethodBody{
		Code:    []byte("\x00\xde\x03\x00\x00\xdc\x00\xde\x01\xdc\x2a"), // a block, its handler at 3, a block, its handler at 9, and the end
		Clauses: []metadata.Clause{{TryOffset: 0, TryLength: 3, HandlerOffset: 3}, {TryOffset: 6, TryLength: 3, HandlerOffset: 9}},
	})
	require.NoError(t, err)
	all := map[int]bool{0: true, 1: true, 3: true, 4: true, 5: true, 6: true, 7: true, 9: true, 10: true}
	assert.Equal(t, all, g.After(0))
	assert.Equal(t, map[int]bool{6: true, 7: true, 9: true, 10: true}, g.After(6))
	assert.Equal(t, map[int]bool{10: true}, g.After(10))
	assert.Nil(t, g.After(2), "no instruction begins there")
}

// TestLeaves: a permit is given back on each path to an await behind a finally block with the release. In the code, nop (00) stands for the call that
// enters, ldnull (14) for the release, and pop (26) for the await.
func TestLeaves(t *testing.T) {
	const (
		enter, release, await = "\x00", "\x14", "\x26"
		ret, endfinally       = "\x2a", "\xdc"
		leave, brtrue         = "\xde", "\x2d"
		br, brfalse           = "\x2b", "\x2c"
		ldloc, zero, bge      = "\x06", "\x16", "\x2f"
		dup                   = "\x25"
	)
	try := "\x25" + leave // the body of the block
	for name, c := range map[string]struct {
		before, handler, after string
		inside                 bool // the call that enters is in the block
		want                   bool
	}{
		"behind the block":                        {enter, release + endfinally, await + ret, false, true},
		"entered in the block":                    {"", release + endfinally, await + ret, true, true},
		"unless it suspends":                      {enter, ldloc + zero + bge + "\x01" + release + endfinally, await + ret, false, true},
		"unless it suspends, by another compiler": {enter, ldloc + brfalse + "\x01" + endfinally + release + endfinally, await + ret, false, true},
		"if another condition holds":              {enter, ldloc + brfalse + "\x01" + release + endfinally, await + ret, false, false},
		"if two conditions hold":                  {enter, ldloc + zero + bge + "\x04" + dup + brtrue + "\x01" + release + endfinally, await + ret, false, false},
		"around the block":                        {enter + dup + brtrue + "\x05", release + endfinally, await + ret, false, false}, // jumps to the await
		"out of the method before the block":      {enter + dup + brtrue + "\x06", release + endfinally, await + ret, false, true},
		"in the block":                            {enter, await + release + endfinally, ret, false, false},
		"again in a loop":                         {enter, release + endfinally, await + br + "\xf8" + ret, false, true},
	} {
		body := try
		if c.inside {
			body = enter + body
		}
		body += string(rune(len(c.handler)))
		code := c.before + body + c.handler + c.after
		start := len(c.before)
		handler := start + len(body)
		g, err := ReadFlow(&metadata.MethodBody{Code: []byte(code), Clauses: []metadata.Clause{{Kind: metadata.ClauseFinally, TryOffset: uint32(start),
			TryLength: uint32(len(body)), HandlerOffset: uint32(handler), HandlerLength: uint32(len(c.handler))}}})
		require.NoError(t, err, name)
		first := func(opcode string) int {
			for i := range g.code {
				if g.code[i].Opcode.String() == opcode {
					return g.code[i].Offset
				}
			}
			t.Fatal(name, "has no", opcode)
			return -1
		}
		assert.Equal(t, c.want, g.Leaves(first("nop"), first("ldnull"), first("pop")), name)
	}
}

// TestComputes: a loop that counts and does more than read ends by itself.
func TestComputes(t *testing.T) {
	const (
		load, one, add, store = "\x06", "\x17", "\x58", "\x0a"
		blt, br, brtrue       = "\x32", "\x2b", "\x2d"
		nop, ret              = "\x00", "\x2a"
	)
	for name, c := range map[string]struct {
		code    string
		entered int
		want    bool
	}{
		"counts":               {nop + load + one + add + store + load + load + blt + "\xf8" + ret, 0, true},
		"only compares":        {nop + load + load + blt + "\xfc" + ret, 0, false}, // it may wait for another thread
		"while it holds":       {nop + load + one + add + store + load + brtrue + "\xf9" + ret, 0, false},
		"for ever":             {nop + nop + load + one + add + store + br + "\xfa" + ret, 0, false},
		"for ever, entered in": {nop + nop + load + one + add + store + br + "\xf9" + ret, 1, true}, // it leaves before the next turn
		"no loop":              {nop + load + ret, 0, true},
		"can't be read":        {nop + "\x2b", 0, false},
	} {
		assert.Equal(t, c.want, Compute(&metadata.MethodBody{Code: []byte(c.code)}, 2, c.entered), name)
	}
}
