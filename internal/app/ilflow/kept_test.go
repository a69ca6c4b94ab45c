package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/metadata"
)

// Calls in the IL of these tests, by the rows of their methods.
var calledNames = []string{"", "Lock.Enter", "Task.GetAwaiter", "TaskAwaiter.get_IsCompleted", "TaskAwaiter.GetResult", "IDisposable.Dispose", "Task.Delay", "SemaphoreSlim.Release", "Volatile.Read",
	"Volatile.Write", "Other.Wait"}

func calledName(t metadata.Token) string {
	if t.Table() == metadata.TableField {
		return "." + string(rune('a'+t.Row()-1))
	}
	if int(t.Row()) >= len(calledNames) {
		return ""
	}
	return calledNames[t.Row()]
}

const (
	callEnter   = "\x28\x01\x00\x00\x06"
	getAwaiter  = "\x28\x02\x00\x00\x06"
	isCompleted = "\x28\x03\x00\x00\x06"
	getResult   = "\x28\x04\x00\x00\x06"
	dispose     = "\x6f\x05\x00\x00\x06"
	callDelay   = "\x28\x06\x00\x00\x06"
	callRelease = "\x6f\x07\x00\x00\x06"
	readOf      = "\x28\x08\x00\x00\x06"
	writeOf     = "\x28\x09\x00\x00\x06"
	callOther   = "\x28\x0a\x00\x00\x06"
	this        = "\x02"                             // ldarg.0
	loadGuard   = this + "\x7b\x01\x00\x00\x04"      // ldfld of the field 1
	guardAt     = this + "\x7c\x01\x00\x00\x04"      // ldflda
	constrained = "\xfe\x16\x01\x00\x00\x02"         // by a struct
	storeGuard  = "\x7d\x01\x00\x00\x04"             // stfld
	enterAll    = callEnter + getAwaiter + getResult // without a pause
)

// TestKeptOf checks in which variable code keeps what it awaits, in the forms in which compilers write it.
func TestKeptOf(t *testing.T) {
	field := Kept{Field: 0x04000001}
	for name, c := range map[string]struct {
		il   string
		want Kept
		ok   bool
	}{
		"a field":                  {callEnter + getAwaiter + isCompleted + "\x26" + getResult + storeGuard + "\x2a", field, true},
		"a field by a copy":        {enterAll + "\x0b" + this + "\x07" + storeGuard + "\x2a", field, true},
		"a local variable":         {enterAll + "\x0b\x2a", Kept{Local: Variable{Number: 1}}, true},
		"nothing":                  {enterAll + "\x26\x2a", Kept{}, false},
		"no await":                 {callEnter + "\x0b\x2a", Kept{}, false},
		"another one's await":      {callEnter + "\x0b" + callOther + getAwaiter + getResult + "\x0b\x2a", Kept{}, false},
		"a copy of something else": {enterAll + "\x0b" + this + "\x06" + storeGuard + "\x2a", Kept{Local: Variable{Number: 1}}, true},
	} {
		got, ok := KeptOf([]byte(c.il), 0, calledName)
		assert.Equal(t, c.ok, ok, name)
		if c.ok {
			assert.Equal(t, c.want, got, name)
		}
		for n := range c.il {
			_, _ = KeptOf([]byte(c.il[:n]), 0, calledName) // an answer, and no panic
		}
	}
}

// TestLeavesKept: behind a using block what was entered is left for sure. In the code, ldnull (14) stands for the present await.
func TestLeavesKept(t *testing.T) {
	const (
		await, ret, endfinally = "\x14", "\x2a", "\xdc"
		leave, brfalse, brtrue = "\xde", "\x2c", "\x2d"
		local                  = "\x06"
	)
	enter := enterAll + this + "\x0b" // what is kept does not matter here
	using := func(handler, after string) string {
		return enter + "\x00" + leave + string(rune(len(handler))) + handler + after
	}
	struct1 := guardAt + constrained + dispose
	class := loadGuard + brfalse + "\x0b" + loadGuard + dispose
	for name, c := range map[string]struct {
		il      string
		finally int // the length of the handler of a finally block; 0 for none
		want    bool
	}{
		"behind a block with a struct":               {using(struct1+endfinally, await+ret), len(struct1) + 1, true},
		"behind a block with a class":                {using(class+endfinally, await+ret), len(class) + 1, true},
		"behind a block with a condition of its own": {using(local+brfalse+"\x0b"+loadGuard+dispose+endfinally, await+ret), 15, false},
		"behind a block that disposes of another":    {using(local+dispose+endfinally, await+ret), 7, false},
		"in the block":       {enter + await + leave + string(rune(len(struct1)+1)) + struct1 + endfinally + ret, len(struct1) + 1, false},
		"behind await using": {enter + class + await + ret, 0, true},
		"before await using": {enter + await + class + ret, 0, false},
		"past a condition":   {enter + local + brtrue + "\x0b" + loadGuard + dispose + await + ret, 0, false},
	} {
		body := &metadata.MethodBody{Code: []byte(c.il)}
		if c.finally > 0 {
			body.Clauses = []metadata.Clause{{Kind: metadata.ClauseFinally, TryOffset: uint32(len(enter)), TryLength: 3, HandlerOffset: uint32(len(enter) + 3), HandlerLength: uint32(c.finally)}}
		}
		g, err := ReadFlow(body)
		require.NoError(t, err, name)
		at := -1
		for i := range g.code {
			if g.code[i].Opcode.String() == "ldnull" {
				at = g.code[i].Offset
			}
		}
		require.Positive(t, at, name)
		k := Kept{Field: 0x04000001}
		list := g.Disposals(k, func(m metadata.Token) bool { return calledName(m) == "IDisposable.Dispose" })
		assert.Equal(t, c.want, len(list) > 0 && g.LeavesKept(0, k, list, at), name)
	}
}
