package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
)

// endsByItself reports whether each loop that a thread may be in is a counted one: all loops of the program's innermost method on its stack, as the
// place in optimized code is not exact, and the loops around the calls of the others. Code that can't be read may have no end.
func (s *survey) endsByItself(t *stackwalk.Thread) bool {
	inner := true
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		loops, err := allLoops(f.body.Code)
		if !inner && err == nil {
			_, loops, err = s.loopsOf(&f.Frame, f.md)
		}
		if err != nil || !endsLoops(f.body.Code, loops) {
			return false
		}
		inner = false
	}
	return !inner
}

// endsLoops reports whether each of the loops is counted or computes.
func endsLoops(il []byte, loops map[int]int) bool {
	for start, end := range loops {
		if one := map[int]int{start: end}; !counted(il, one) && !computing(il, one) {
			return false
		}
	}
	return true
}

// mayNotEnd reports whether a thread that runs is in a loop that may have no end, and does not let others have their turns.
func (s *survey) mayNotEnd(at stand) bool {
	return !s.endsByItself(at.thread) && !s.takesTurns(at.thread)
}

// takesTurns reports whether the program's innermost method on a thread's stack is in a loop that enters a lock and leaves it in each turn: it works on
// what it shares with others, and lets them have their turns.
func (s *survey) takesTurns(t *stackwalk.Thread) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		loops, err := allLoops(f.body.Code)
		if err != nil {
			return false
		}
		calls, err := s.around(t, &f.Frame, f.md)
		return err == nil && locksIn(slices.Concat(calls.Before, calls.Later), loops)
	}
	return false
}

// locksIn reports whether all outermost loops have calls that enter a lock and that leave one.
func locksIn(calls []tasks.Call, loops map[int]int) bool {
	for start, end := range loops {
		has := func(is func(string) bool) bool {
			return slices.ContainsFunc(calls, func(c tasks.Call) bool { return is(c.Method) && start <= c.Offset && c.Offset < end })
		}
		inner := false
		for other, last := range loops {
			inner = inner || other != start && other <= start && end <= last
		}
		if !inner && !(has(entersLock) && has(leavesLock)) {
			return false
		}
	}
	return len(loops) > 0
}

// allLoops returns the loops of il: their ends by their starts.
func allLoops(il []byte) (map[int]int, error) {
	loops := map[int]int{}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		if isBranch(&in) && in.Target() <= in.Offset {
			loops[in.Target()] = in.Offset + in.Size
		}
	}
	return loops, nil
}

// counted reports whether all of the loops end by themselves, as for (i = …; i < limit; i++) does: the only jump back depends on a variable that each turn
// changes towards the limit right before, and nothing else in the loop stores to the variable or to the limit.
func counted(il []byte, loops map[int]int) bool {
	var code []metadata.Instruction
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return false
		}
		if in.Opcode.String() != "nop" {
			code = append(code, in)
		}
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
	if _, constant := constantOf(limit); !constant && (!isVariable || verb != "ld") {
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
func steps(code []metadata.Instruction, count variable, up bool) bool {
	from, verb, ok := accessed(&code[0])
	to, store, stores := accessed(&code[3])
	by, constant := constantOf(&code[1])
	want := "sub"
	if up {
		want = "add"
	}
	return ok && verb == "ld" && from == count && stores && store == "st" && to == count && constant && by > 0 && code[2].Opcode.String() == want
}
