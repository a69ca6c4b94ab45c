package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// computing reports whether the loops of il compute: what decides at a branch out of each, or at its last jump back, is made of nothing but variables and constants,
// and the loop changes one of these variables by arithmetic, as while (x != 1) { x = x % 2 == 0 ? x / 2 : 3 * x + 1; } does. Such a loop waits for nobody.
func computing(il []byte, loops Loops) bool {
	code, err := withoutNops(il)
	if err != nil || slices.ContainsFunc(code, func(in metadata.Instruction) bool { return in.Opcode.String() == "switch" }) {
		return false
	}
	for start, end := range loops {
		from := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset >= start })
		back := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset+in.Size == end })
		if from < 0 || back < from || !decides(code, from, back) {
			return false
		}
	}
	return true
}

// decides is computing for the loop of code from one index to another.
func decides(code []metadata.Instruction, from, back int) bool {
	state := stateOf(code, from, back)
	start, end := code[from].Offset, code[back].Offset+code[back].Size
	for i := from; i <= back; i++ {
		in := &code[i]
		name := in.Opcode.String()
		if !isBranch(in) || name == "br" || name == "br.s" || strings.HasPrefix(name, "leave") {
			continue
		}
		if to := in.Target(); i != back && to >= start && to < end {
			continue // a way within the loop
		}
		first, x := arithmetic(code, i-1)
		if first >= from && !strings.HasPrefix(name, "brtrue") && !strings.HasPrefix(name, "brfalse") {
			var other formula
			first, other = arithmetic(code, first-1)
			x.of = append(x.of, other.of...)
		}
		if first >= from && !intoMiddle(code, first, i) && state.follows(x.of) {
			return true
		}
	}
	return false
}

// A formula is a value that instructions make of variables and constants.
type formula struct {
	of        []Variable
	operators bool // it is more than one variable or constant
}

// arithmetic returns the index of the first instruction that makes the value that lies on the stack behind the one at index i, and the value. The index is negative
// if anything but variables, constants, arithmetic and the lengths of arrays makes it.
func arithmetic(code []metadata.Instruction, i int) (first int, x formula) {
	for need := 1; ; i-- {
		if i < 0 {
			return -1, x
		}
		in := &code[i]
		v, verb, isVariable := accessed(in)
		switch name := in.Opcode.String(); {
		case isVariable && verb == "ld":
			x.of = append(x.of, v)
			need--
		case strings.HasPrefix(name, "ldc."):
			need--
		case strings.HasPrefix(name, "conv."), name == "ldlen":
		case name == "neg", name == "not":
			x.operators = true
		case slices.ContainsFunc(binaryOpcodes, func(p string) bool { return name == p || strings.HasPrefix(name, p+".") }):
			x.operators = true
			need++
		default:
			return -1, x
		}
		if need == 0 {
			return i, x
		}
	}
}

// binaryOpcodes are the names of IL instructions that make one number of two, without what follows a dot.
var binaryOpcodes = []string{"add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr", "ceq", "cgt", "clt"}

// intoMiddle reports whether a branch of the method jumps to what is behind the instruction at first, up to the one at last.
func intoMiddle(code []metadata.Instruction, first, last int) bool {
	return slices.ContainsFunc(code, func(in metadata.Instruction) bool {
		return isBranch(&in) && in.Target() > code[first].Offset && in.Target() <= code[last].Offset
	})
}

// A loopState is what a loop does with the variables of a method.
type loopState struct {
	stored    map[Variable][]Variable // those that it gives values of variables and constants: all that these are made of
	operators map[Variable]bool       // by arithmetic
	unknown   map[Variable]bool       // those with other values, or with addresses that the method takes
}

// stateOf returns the loopState of the loop from one index to another.
func stateOf(code []metadata.Instruction, from, back int) *loopState {
	s := &loopState{stored: map[Variable][]Variable{}, operators: map[Variable]bool{}, unknown: map[Variable]bool{}}
	for i := range code {
		v, verb, ok := accessed(&code[i])
		switch {
		case !ok || verb == "ld":
		case verb == "lda":
			s.unknown[v] = true
		case i >= from && i <= back:
			s.store(code, from, i, v)
		}
	}
	return s
}

// store notes the values that the instruction at i gives a variable: the one made right before, and those with which other ways come, as in x = y ? 1 : 2.
func (s *loopState) store(code []metadata.Instruction, from, i int, v Variable) {
	ends := []int{i}
	for k := range code {
		if isBranch(&code[k]) && code[k].Target() == code[i].Offset {
			ends = append(ends, k)
		}
	}
	for n, end := range ends {
		first, x := arithmetic(code, end-1)
		name := code[end].Opcode.String()
		if first < from || n > 0 && name != "br" && name != "br.s" || first < end-1 && intoMiddle(code, first, end-1) {
			s.unknown[v] = true
			return
		}
		s.stored[v] = append(s.stored[v], x.of...)
		s.operators[v] = s.operators[v] || x.operators
	}
}

// follows reports whether all of the variables are known in each turn, and one of them follows from its own value in the turn before by arithmetic.
func (s *loopState) follows(list []Variable) bool {
	seen := map[Variable]bool{}
	ways := slices.Clone(list)
	for len(ways) > 0 {
		v := ways[len(ways)-1]
		if ways = ways[:len(ways)-1]; seen[v] {
			continue
		}
		if seen[v] = true; s.unknown[v] {
			return false
		}
		ways = append(ways, s.stored[v]...)
	}
	for v := range seen {
		if s.operators[v] && s.reaches(v, v) {
			return true
		}
	}
	return false
}

// reaches reports whether the values of a variable are made of another.
func (s *loopState) reaches(v, other Variable) bool {
	seen := map[Variable]bool{}
	ways := slices.Clone(s.stored[v])
	for len(ways) > 0 {
		at := ways[len(ways)-1]
		if ways = ways[:len(ways)-1]; at == other {
			return true
		}
		if !seen[at] {
			seen[at] = true
			ways = append(ways, s.stored[at]...)
		}
	}
	return false
}
