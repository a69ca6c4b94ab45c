package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// counted reports whether all of the loops end by themselves, as for (i = …; i < limit; i++) does: the only jump back depends on a variable that each turn
// changes towards the limit right before, and nothing else in the loop stores to the variable or to the limit.
func counted(il []byte, loops Loops) bool {
	code, err := withoutNops(il)
	if err != nil {
		return false
	}
	for start, end := range loops {
		if !countedLoop(code, start, end) {
			return false
		}
	}
	return true
}

// countedLoop is counted for the loop of code from start to end.
func countedLoop(code []metadata.Instruction, start, end int) bool {
	from := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset >= start })
	back := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset+in.Size == end })
	if from < 0 || back < from {
		return false
	}
	test, up, ok := goesBack(code, back)
	if !ok {
		return false
	}
	test-- // what loads the limit
	limit := &code[test]
	if strings.HasPrefix(limit.Opcode.String(), "conv.") && test > from && code[test-1].Opcode.String() == "ldlen" { // of an array
		test -= 2
		limit = &code[test]
	}
	bound, verb, isVariable := accessed(limit)
	if _, constant := Constant(limit); !constant && (!isVariable || verb != "ld") {
		return false
	}
	test-- // what loads the variable
	if test-4 < from {
		return false
	}
	count, verb, ok := accessed(&code[test])
	if !ok || verb != "ld" || !steps(code[test-4:test], count, up) {
		return false
	}
	for i := from; i <= back; i++ {
		in := &code[i]
		if v, verb, ok := accessed(in); ok && verb != "ld" && (v == count && i != test-1 || isVariable && v == bound) {
			return false
		}
		if isBranch(in) && (in.Target() == start && i != back || in.Target() > code[test-4].Offset && in.Target() <= code[back].Offset) || in.Opcode.String() == "switch" {
			return false // a turn without a step
		}
	}
	// What has its address taken can be changed elsewhere.
	return !slices.ContainsFunc(code, func(in metadata.Instruction) bool {
		v, verb, ok := accessed(&in)
		return ok && verb == "lda" && (v == count || isVariable && v == bound)
	})
}

// goesBack returns the index of the comparison on which the branch at index i depends, and whether the first of the compared values is the lower one while it jumps.
func goesBack(code []metadata.Instruction, i int) (at int, up, ok bool) {
	name := code[i].Opcode.String()
	if strings.HasPrefix(name, "brtrue") { // as without optimization
		if i--; i > 1 && strings.HasPrefix(code[i].Opcode.String(), "ldloc") && strings.HasPrefix(code[i-1].Opcode.String(), "stloc") {
			i -= 2
		}
		name = code[max(i, 0)].Opcode.String()
	}
	switch {
	case i < 2:
	case strings.HasPrefix(name, "blt"), strings.HasPrefix(name, "clt"):
		return i, true, true
	case strings.HasPrefix(name, "bgt"), strings.HasPrefix(name, "cgt"):
		return i, false, true
	}
	return 0, false, false
}

// steps reports whether four instructions add a positive constant to a variable, or subtract it if up is false.
func steps(code []metadata.Instruction, count Variable, up bool) bool {
	from, verb, ok := accessed(&code[0])
	to, store, stores := accessed(&code[3])
	by, constant := Constant(&code[1])
	want := "sub"
	if up {
		want = "add"
	}
	return ok && verb == "ld" && from == count && stores && store == "st" && to == count && constant && by > 0 && code[2].Opcode.String() == want
}
