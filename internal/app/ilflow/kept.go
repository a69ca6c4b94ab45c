package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// A Kept is the variable in which code keeps what a call returns: a local variable, or a field of its own state machine.
type Kept struct {
	Field metadata.Token // 0 for a local variable
	Local Variable
}

// KeptOf returns the variable in which code keeps what the task of the call at an offset gives it, once it has awaited that. member names methods by their tokens.
func KeptOf(il []byte, call int, member func(metadata.Token) string) (k Kept, ok bool) {
	code, err := instructions(il)
	if err != nil {
		return k, false
	}
	i := slices.IndexFunc(code, func(in metadata.Instruction) bool {
		name := ""
		if isCall(&in) {
			name = member(in.Token())
		}
		return in.Offset > call && isCall(&in) && !slices.Contains(betweenAwaits, name[strings.LastIndexByte(name, '.')+1:])
	})
	if i < 0 || !strings.HasSuffix(member(code[i].Token()), ".GetResult") {
		return k, false
	}
	for i++; i < len(code) && code[i].Opcode.String() == "castclass"; i++ {
	}
	if i == len(code) {
		return k, false
	}
	if code[i].Opcode.String() == "stfld" {
		return Kept{Field: code[i].Token()}, true
	}
	v, verb, ok := accessed(&code[i])
	if !ok || verb != "st" {
		return k, false
	}
	if i+3 < len(code) && code[i+1].Opcode.String() == "ldarg.0" && code[i+3].Opcode.String() == "stfld" {
		if from, verb, ok := accessed(&code[i+2]); ok && verb == "ld" && from == v {
			return Kept{Field: code[i+3].Token()}, true
		}
	}
	return Kept{Local: v}, true
}

// betweenAwaits are the methods that code calls between a call and the end of its await.
var betweenAwaits = []string{"ConfigureAwait", "AsTask", "GetAwaiter", "get_IsCompleted", "AwaitUnsafeOnCompleted", "AwaitOnCompleted"}

// instructions returns the instructions of il.
func instructions(il []byte) (out []metadata.Instruction, err error) {
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	return out, nil
}

// loaded reports whether the instruction at index i loads the variable, or its address.
func (k Kept) loaded(code []metadata.Instruction, i int) bool {
	if i < 0 {
		return false
	}
	if k.Field == 0 {
		v, verb, ok := accessed(&code[i])
		return ok && verb != "st" && v == k.Local
	}
	name := code[i].Opcode.String()
	return (name == "ldfld" || name == "ldflda") && code[i].Token() == k.Field && i > 0 && code[i-1].Opcode.String() == "ldarg.0"
}

// Disposals returns the offsets of the calls without arguments, of methods that gives selects, on what is in the variable.
func (g *Flow) Disposals(k Kept, gives func(method metadata.Token) bool) (out []int) {
	for i := range g.code {
		if !isCall(&g.code[i]) || !gives(g.code[i].Token()) {
			continue
		}
		at := i - 1
		for at > 0 && (g.code[at].Opcode.String() == "constrained." || g.code[at].Opcode.String() == "castclass") {
			at--
		}
		if k.loaded(g.code, at) {
			out = append(out, g.code[i].Offset)
		}
	}
	return out
}

// LeavesKept reports whether what the call at the offset entered returns, and the variable k keeps, is disposed of by one of the calls at the offsets release
// on each path to the offset at, as at the end of a using block. Where nothing is kept, nothing was entered.
func (g *Flow) LeavesKept(entered int, k Kept, release []int, at int) bool {
	if slices.ContainsFunc(release, func(r int) bool { return g.leaves(entered, r, at, &k) }) {
		return true
	}
	reached := g.afterBut(entered, func(offset int) bool { return slices.Contains(release, offset) }, &k)
	return reached != nil && !reached[at]
}

// isNull reports whether the instruction at index i is a branch that is taken where nothing is in the variable. It is false for a nil k.
func (k *Kept) isNull(code []metadata.Instruction, i int) bool {
	return k != nil && strings.HasPrefix(code[i].Opcode.String(), "brfalse") && k.loaded(code, i-1)
}
