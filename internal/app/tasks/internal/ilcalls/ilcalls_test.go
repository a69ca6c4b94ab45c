package ilcalls

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
)

// TestEvaluatorStack checks that unknown instructions leave nothing on the stack that could be read as a call's
// receiver.
func TestEvaluatorStack(t *testing.T) {
	e := newEvaluator(&metadata.Metadata{})
	assert.NoError(t, e.run([]byte{0x02, 0x0a, 0x06, 0x25})) // ldarg.0, stloc.0, ldloc.0, dup
	if assert.Len(t, e.stack, 2) {
		assert.NotNil(t, e.stack[0])
		assert.Same(t, e.stack[0], e.stack[1])
	}
	assert.NoError(t, e.run([]byte{0x58})) // add
	if assert.Len(t, e.stack, 1) {
		assert.Nil(t, e.stack[0], "a sum is no reference")
	}
	assert.NoError(t, e.run([]byte{0x02, 0x2b, 0x00})) // ldarg.0, br.s
	assert.Empty(t, e.stack, "other code may follow a branch")
	assert.NoError(t, e.run([]byte{0x26, 0x26, 0x58})) // pop an empty stack
	assert.Error(t, e.run([]byte{0x28, 0x01}), "IL ends in an operand")
}

// TestPaths checks the limit of a path, and that an empty field name ends it.
func TestPaths(t *testing.T) {
	p := &Path{}
	for range maxPathFields {
		p = p.then("next")
		assert.NotNil(t, p)
	}
	assert.Nil(t, p.then("next"))
	assert.Nil(t, (&Path{}).then(""))
	assert.Nil(t, (*Path)(nil).then("x"))
}

// TestArguments checks that arguments begin paths until the method assigns them, and that a caller's arguments take their place.
func TestArguments(t *testing.T) {
	e := newEvaluator(&metadata.Metadata{})
	assert.NoError(t, e.run([]byte{0x03, 0x0e, 0x02, 0x03, 0x10, 0x01, 0x03})) // ldarg.1, ldarg.s 2, ldarg.1, starg.s 1, ldarg.1
	assert.Equal(t, []*Path{{Arg: 1}, {Arg: 2}, nil}, e.stack)
	gate := &Path{Class: "Shop.Store", Fields: []string{"gate"}}
	inner := &Path{Arg: 1, Fields: []string{"permit"}}
	assert.Equal(t, &Path{Class: "Shop.Store", Fields: []string{"gate", "permit"}}, inner.From([]*Path{nil, gate}))
	assert.Same(t, gate, gate.From(nil), "a static field is the same for the caller")
	assert.Nil(t, inner.From([]*Path{nil, nil}))
	assert.Nil(t, inner.From([]*Path{gate}))
	assert.Nil(t, (*Path)(nil).From([]*Path{gate}))
}

// TestCarried checks that a variable is unknown where a loop may have given it another value in the turn before: it stores to it behind the load alone.
func TestCarried(t *testing.T) {
	seen := func(il ...byte) []*Path {
		e := newEvaluator(&metadata.Metadata{})
		assert.NoError(t, e.run(il))
		return e.stack
	}
	walker, next := &Path{Arg: 0}, &Path{Arg: 1}
	// ldarg.0, stloc.0; loop: ldloc.0, ldarg.1, stloc.0, ldc.i4.0, brtrue.s loop
	assert.Equal(t, []*Path{nil}, seen(0x02, 0x0a, 0x06, 0x03, 0x0a, 0x16, 0x2d, 0xfa))
	// ldarg.0, stloc.0, ldloc.0; loop: ldarg.1, stloc.0, ldloc.0, ldc.i4.0, brtrue.s loop
	assert.Equal(t, []*Path{walker, next}, seen(0x02, 0x0a, 0x06, 0x03, 0x0a, 0x06, 0x16, 0x2d, 0xfa), "each turn stores first")
	// loop: ldarg.0, ldarg.1, starg.s 0, ldc.i4.0, brtrue.s loop
	assert.Equal(t, []*Path{nil}, seen(0x02, 0x03, 0x10, 0x00, 0x16, 0x2d, 0xf9))
}

// FuzzEvaluator checks that the evaluator ends for any IL and keeps its stack within its bound.
func FuzzEvaluator(f *testing.F) {
	f.Add([]byte{0x02, 0x7b, 1, 0, 0, 4, 0x6f, 1, 0, 0, 10})
	f.Add([]byte{0x7e, 1, 0, 0, 4, 0x0a, 0x06, 0x28, 1, 0, 0, 6, 0x26})
	f.Add([]byte{0xfe, 0x0c, 0xff, 0xff, 0x45, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, il []byte) {
		e := newEvaluator(&metadata.Metadata{})
		_ = e.run(il)
		assert.LessOrEqual(t, len(e.stack), maxILStack)
	})
}
