package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// A Flow is the control flow of a method.
type Flow struct {
	code    []metadata.Instruction
	at      map[int]int // index by offset
	entries []int       // offsets at which the method and its handlers begin
	clauses []metadata.Clause
}

// ReadFlow reads the control flow of a body. It fails at an instruction that is cut off or unknown.
func ReadFlow(body *metadata.MethodBody) (*Flow, error) {
	g := &Flow{at: map[int]int{}, entries: []int{0}, clauses: body.Clauses}
	for in, err := range metadata.Instructions(body.Code) {
		if err != nil {
			return nil, err
		}
		g.at[in.Offset] = len(g.code)
		g.code = append(g.code, in)
	}
	for i := range body.Clauses {
		g.entries = append(g.entries, int(body.Clauses[i].HandlerOffset))
	}
	return g, nil
}

// ZeroAt reports whether no path leads to the instruction at an offset but through the branch of a test that its number is 0. isTest reports whether
// the call at an offset returns the number. A path that goes through the instruction counts from there on.
func (g *Flow) ZeroAt(offset int, isTest func(call int) bool) bool {
	zero := map[[2]int]bool{} // the edges, by offsets
	for i := range g.code {
		if isTest(g.code[i].Offset) {
			if from, to, ok := g.zeroBranch(i + 1); ok {
				zero[[2]int{from, to}] = true
			}
		}
	}
	if len(zero) == 0 {
		return false
	}
	seen := map[int]bool{}
	todo := slices.Clone(g.entries)
	if i, ok := g.at[offset]; ok && i+1 < len(g.code) {
		todo = append(todo, g.code[i+1].Offset)
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok || seen[at] {
			continue
		}
		if at == offset {
			return false
		}
		seen[at] = true
		for _, to := range g.next(i) {
			if !zero[[2]int{at, to}] {
				todo = append(todo, to)
			}
		}
	}
	return true
}

// From returns the offsets that may be reached from an offset on, and whether the method, or a protected block, may be left there. It may if the
// offset is no instruction's.
func (g *Flow) From(offset int) (reached map[int]bool, ends bool) {
	reached = map[int]bool{}
	for todo := []int{offset}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok {
			return reached, true
		}
		if reached[at] {
			continue
		}
		reached[at] = true
		next := g.next(i)
		if len(next) == 0 || strings.HasPrefix(g.code[i].Opcode.String(), "leave") {
			return reached, true
		}
		todo = append(todo, next...)
	}
	return reached, false
}

// next returns the offsets of the instructions that may follow the instruction at index i.
func (g *Flow) next(i int) (out []int) {
	in := &g.code[i]
	name := in.Opcode.String()
	switch {
	case name == "ret", name == "jmp", strings.HasSuffix(name, "throw"), strings.HasPrefix(name, "endf"):
		return nil
	case name == "switch":
		out = slices.AppendSeq(out, in.Targets())
	case isBranch(in):
		if out = append(out, in.Target()); name == "br" || name == "br.s" || strings.HasPrefix(name, "leave") {
			return out
		}
	}
	if i+1 < len(g.code) {
		out = append(out, g.code[i+1].Offset)
	}
	return out
}

// zeroBranch returns the edge of the branch that is taken where a number on the stack is 0 before the instruction at index i.
func (g *Flow) zeroBranch(i int) (from, to int, ok bool) {
	name := func(i int) string {
		if i >= len(g.code) {
			return ""
		}
		return strings.TrimSuffix(g.code[i].Opcode.String(), ".s")
	}
	jumps, falls := []string{"brfalse"}, []string{"brtrue"} // where the number is 0
	switch name(i) {
	case "ldc.i4.1": // less than 1
		i, jumps, falls = i+1, []string{"blt"}, []string{"bge"}
	case "ldc.i4.0":
		jumps, falls = []string{"beq", "ble"}, []string{"bne.un", "bgt", "bgt.un"}
		switch i++; name(i) {
		case "ceq":
			i, jumps, falls = i+1, []string{"brtrue"}, []string{"brfalse"}
		case "cgt", "cgt.un":
			i, jumps, falls = i+1, []string{"brfalse"}, []string{"brtrue"}
		}
		if strings.HasPrefix(name(i), "stloc") && strings.HasPrefix(name(i+1), "ldloc") { // as without optimization
			i += 2
		}
	}
	switch {
	case slices.Contains(jumps, name(i)):
		return g.code[i].Offset, g.code[i].Target(), true
	case slices.Contains(falls, name(i)) && i+1 < len(g.code):
		return g.code[i].Offset, g.code[i+1].Offset, true
	}
	return 0, 0, false
}

// After returns the offsets that code may still reach once it is at an offset, with that one, also by exceptions. Nil stands for all.
func (g *Flow) After(offset int) map[int]bool {
	return g.afterBut(offset, func(int) bool { return false }, nil)
}

// afterBut is After for paths that do not go through the instructions at the offsets that but selects, nor where nothing is in the variable k, if that is not nil.
func (g *Flow) afterBut(offset int, but func(offset int) bool, k *Kept) map[int]bool {
	if _, ok := g.at[offset]; !ok {
		return nil
	}
	reached := map[int]bool{}
	for todo := []int{offset}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok || reached[at] || but(at) {
			continue
		}
		reached[at] = true
		next := g.next(i)
		if k.isNull(g.code, i) {
			next = slices.DeleteFunc(next, func(to int) bool { return to == g.code[i].Target() })
		}
		todo = append(todo, next...)
		for n := range g.clauses {
			if c := &g.clauses[n]; at >= int(c.TryOffset) && at-int(c.TryOffset) < int(c.TryLength) {
				todo = append(todo, int(c.HandlerOffset))
				if c.Kind == metadata.ClauseFilter {
					todo = append(todo, int(c.FilterOffset))
				}
			}
		}
	}
	return reached
}

// Leaves reports whether what the call at the offset entered enters is given back by the call at the offset release, on each path to the offset at: the
// release stands in a finally block, without a condition but that the method does not suspend, and at behind that block.
func (g *Flow) Leaves(entered, release, at int) bool { return g.leaves(entered, release, at, nil) }

// leaves is Leaves. The release may depend on whether anything is in the variable k, if that is not nil.
func (g *Flow) leaves(entered, release, at int, k *Kept) bool {
	for n := range g.clauses {
		c := &g.clauses[n]
		start, handler := int(c.TryOffset), int(c.HandlerOffset)
		end := handler + int(c.HandlerLength)
		if c.Kind != metadata.ClauseFinally || release < handler || release >= end || at < end || !g.always(handler, release, k) {
			continue
		}
		if entered >= start && entered < start+int(c.TryLength) {
			return true
		}
		if reached := g.afterBut(entered, func(offset int) bool { return offset == start }, k); reached != nil && !reached[at] {
			return true
		}
	}
	return false
}

// always reports whether a finally block that begins at the offset handler comes to an offset whenever the method does not suspend: it may begin with
// the test of a local variable that says so, as compilers write it, and has no other branch but where nothing is in the variable k, if that is not nil.
func (g *Flow) always(handler, offset int, k *Kept) bool {
	first, ok := g.at[handler]
	if !ok {
		return false
	}
	i := g.behindTest(first)
	for ; i < len(g.code) && g.code[i].Offset < offset; i++ {
		if name := g.code[i].Opcode.String(); isBranch(&g.code[i]) && !k.isNull(g.code, i) || name == "switch" || name == "endfinally" || name == "throw" {
			return false
		}
	}
	return i < len(g.code) && g.code[i].Offset == offset
}

// behindTest returns the index of the instruction behind the test that a method suspends, or i if there is none at the index i. The number of the state
// is less than 0 while the method runs, or a variable of its own says that it does.
func (g *Flow) behindTest(i int) int {
	is := func(k int, prefix string) bool {
		return i+k < len(g.code) && strings.HasPrefix(g.code[i+k].Opcode.String(), prefix)
	}
	switch {
	case is(0, "ldloc") && is(1, "ldc.i4.0") && is(2, "bge"):
		return i + 3
	case is(0, "ldloc") && is(1, "brfalse") && is(2, "endfinally") && i+3 < len(g.code) && g.code[i+1].Target() == g.code[i+3].Offset:
		return i + 3
	}
	return i
}

// PassesEachTurn reports whether no turn of the loop from one offset to another misses the instructions at the offsets by. Turns that exceptions end do
// not count.
func (g *Flow) PassesEachTurn(start, end int, by []int) bool {
	seen := map[int]bool{}
	for todo := []int{start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok {
			return false
		}
		if seen[at] || at < start || at >= end || slices.Contains(by, at) {
			continue
		}
		seen[at] = true
		next := g.next(i)
		if slices.Contains(next, start) {
			return false
		}
		todo = append(todo, next...)
	}
	return true
}

// CallsBehind returns the offsets of the calls behind an offset of methods that wanted selects.
func (g *Flow) CallsBehind(offset int, wanted func(method metadata.Token) bool) (out []int) {
	for i := range g.code {
		if in := &g.code[i]; in.Offset > offset && isCall(in) && wanted(in.Token()) {
			out = append(out, in.Offset)
		}
	}
	return out
}
