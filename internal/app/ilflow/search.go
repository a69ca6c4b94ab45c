package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// A Search is what a loop from object to object compares: a field of each with one value that does not change, as in if (x.Key == key) return x. It is zero
// if the loop compares nothing, or can end in another way.
type Search struct {
	Field    metadata.Token // zero without a comparison
	Key      Variable
	Constant int64 // the value, if Fixed is set
	Fixed    bool
	Call     int  // IL offset of the call that compares strings, or -1
	Called   bool // the call is of a method of one of them
	Throws   bool // an instruction on the way round could throw
}

// A comparison is a Search at the instructions before index at, with the branch at index branch that depends on it.
type comparison struct {
	Search
	branch int
	jumps  bool // the branch jumps if the values are equal
}

// searches returns what the loop compares if it has no end but at null and where a value is equal.
func (c *Chase) searches(code []metadata.Instruction, m marks) Search {
	code = slices.DeleteFunc(slices.Clone(code), func(in metadata.Instruction) bool { return in.Opcode.String() == "nop" })
	compared := map[int]comparison{} // by branch
	var found Search
	for i := range code {
		at, ok := c.comparison(code, i, m)
		if !ok {
			continue
		}
		if found.Field != 0 && found != at.Search {
			return Search{} // each has its own way to end
		}
		found = at.Search
		compared[at.branch] = at
	}
	if found.Field == 0 || !c.staysIn(code, compared, m, &found) {
		return Search{}
	}
	return found
}

// comparison returns the comparison that the instruction at i makes.
func (c *Chase) comparison(code []metadata.Instruction, i int, m marks) (out comparison, ok bool) {
	out.Call = -1
	name := code[i].Opcode.String()
	equal, direct := !strings.HasPrefix(name, "bne"), isBranch(&code[i])
	switch {
	case name == "call" || name == "callvirt":
		out.Call, out.Called = code[i].Offset, name == "callvirt"
	case name != "ceq" && !strings.HasPrefix(name, "beq") && !strings.HasPrefix(name, "bne.un"):
		return out, false
	}
	if i < 3 || jumpsInto(code, i-3, i, m) {
		return out, false
	}
	field, key := &code[i-2], &code[i-1]
	if !c.loads(code, i-3) {
		if field, key = &code[i-1], &code[i-3]; !c.loads(code, i-2) {
			return out, false
		}
	}
	if field.Opcode.String() != "ldfld" || field.Token() == c.Field {
		return out, false
	}
	out.Field = field.Token()
	var verb string
	if out.Constant, out.Fixed = Constant(key); out.Fixed && out.Call >= 0 {
		return out, false
	} else if !out.Fixed {
		out.Key, verb, ok = accessed(key)
		if !ok || verb != "ld" || out.Key == c.Variable || m.aliased[out.Key] || stored(code, out.Key) {
			return out, false
		}
	}
	if out.branch = i; direct {
		out.jumps = equal
		return out, true
	}
	at := i + 1
	if at+2 < len(code) { // as without optimization
		to, store, stores := accessed(&code[at])
		from, load, loads := accessed(&code[at+1])
		if stores && loads && store == "st" && load == "ld" && to == from {
			at += 2
		}
	}
	if at >= len(code) || jumpsInto(code, i, at, m) {
		return out, false
	}
	out.branch, out.jumps = at, strings.HasPrefix(code[at].Opcode.String(), "brtrue")
	return out, out.jumps || strings.HasPrefix(code[at].Opcode.String(), "brfalse")
}

// jumpsInto reports whether a branch jumps to what is behind the instruction at from, up to the one at last.
func jumpsInto(code []metadata.Instruction, from, last int, m marks) bool {
	for at := code[from].Offset + 1; at <= code[last].Offset; at++ {
		if m.targets[at] {
			return true
		}
	}
	return false
}

// staysIn reports whether no way through the loop leaves it, or calls another method, while all comparisons find other values and the variable is not null. A loop
// that never tests the variable for null is meant to go round. It notes whether an instruction on the way can throw.
func (c *Chase) staysIn(code []metadata.Instruction, compared map[int]comparison, m marks, found *Search) bool {
	index := map[int]int{}
	calls := map[int]bool{}
	null := map[int]bool{} // the branches that depend on whether the variable is null, and whether they jump if it is not
	test := condition{of: c.Variable, field: c.Field}
	for i := range code {
		in := &code[i]
		for at := in.Offset; at >= c.Start && (i == 0 || at > code[i-1].Offset); at-- {
			index[at] = i // a jump to a nop leads to what is behind it
			if m.targets[at] {
				test.join()
			}
		}
		if name := in.Opcode.String(); isBranch(in) && test.isNull(name) {
			null[i] = test.jumps(name)
		}
		test.next(in)
		calls[in.Offset] = isCall(in)
	}
	for _, at := range compared {
		delete(calls, at.Call)
	}
	tests, seen, ways := false, make([]bool, len(code)), []int{0}
	for len(ways) > 0 {
		i := ways[len(ways)-1]
		if ways = ways[:len(ways)-1]; i == len(code) {
			return false
		}
		if seen[i] {
			continue
		}
		seen[i] = true
		in := &code[i]
		name := in.Opcode.String()
		if leaves(name) || calls[in.Offset] {
			return false
		}
		on, jumps := !strings.HasPrefix(name, "br.") && name != "br", isBranch(in)
		if at, ok := compared[i]; ok {
			on, jumps = at.jumps, !at.jumps
		} else if set, ok := null[i]; ok {
			tests, on, jumps = true, !set, set
		} else if !jumps && !isCall(in) {
			found.Throws = found.Throws || !c.quiet(code, i)
		}
		if on {
			ways = append(ways, i+1)
		}
		if jumps {
			to, ok := index[in.Target()]
			if !ok {
				return false
			}
			ways = append(ways, to)
		}
	}
	return tests
}
