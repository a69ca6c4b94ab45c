package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// A keySearch is what a loop from object to object compares: a field of each with one value that does not change, as in if (x.Key == key) return x. It is zero
// if the loop compares nothing, or can end in another way.
type keySearch struct {
	field    metadata.Token // zero without a comparison
	key      variable
	constant int64 // the value, if fixed is set
	fixed    bool
	call     int  // IL offset of the call that compares strings, or -1
	called   bool // the call is of a method of one of them
	throws   bool // an instruction on the way round could throw
}

// A comparison is a keySearch at the instructions before index at, with the branch at index branch that depends on it.
type comparison struct {
	keySearch
	branch int
	jumps  bool // the branch jumps if the values are equal
}

// searches returns what the loop compares if it has no end but at null and where a value is equal.
func (c *chase) searches(code []metadata.Instruction, m marks) keySearch {
	code = slices.DeleteFunc(slices.Clone(code), func(in metadata.Instruction) bool { return in.Opcode.String() == "nop" })
	compared := map[int]comparison{} // by branch
	var found keySearch
	for i := range code {
		at, ok := c.comparison(code, i, m)
		if !ok {
			continue
		}
		if found.field != 0 && found != at.keySearch {
			return keySearch{} // each has its own way to end
		}
		found = at.keySearch
		compared[at.branch] = at
	}
	if found.field == 0 || !c.staysIn(code, compared, m, &found) {
		return keySearch{}
	}
	return found
}

// comparison returns the comparison that the instruction at i makes.
func (c *chase) comparison(code []metadata.Instruction, i int, m marks) (out comparison, ok bool) {
	out.call = -1
	name := code[i].Opcode.String()
	equal, direct := !strings.HasPrefix(name, "bne"), isBranch(&code[i])
	switch {
	case name == "call" || name == "callvirt":
		out.call, out.called = code[i].Offset, name == "callvirt"
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
	if field.Opcode.String() != "ldfld" || field.Token() == c.field {
		return out, false
	}
	out.field = field.Token()
	var verb string
	if out.constant, out.fixed = constantOf(key); out.fixed && out.call >= 0 {
		return out, false
	} else if !out.fixed {
		out.key, verb, ok = accessed(key)
		if !ok || verb != "ld" || out.key == c.variable || m.aliased[out.key] || stored(code, out.key) {
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

// stored reports whether one of the instructions stores to a variable.
func stored(code []metadata.Instruction, v variable) bool {
	return slices.ContainsFunc(code, func(in metadata.Instruction) bool {
		to, verb, ok := accessed(&in)
		return ok && to == v && verb == "st"
	})
}

// staysIn reports whether no way through the loop leaves it, or calls another method, while all comparisons find other values and the variable is not null. A loop
// that never tests the variable for null is meant to go round. It notes whether an instruction on the way can throw.
func (c *chase) staysIn(code []metadata.Instruction, compared map[int]comparison, m marks, found *keySearch) bool {
	index := map[int]int{}
	calls := map[int]bool{}
	null := map[int]bool{} // the branches that depend on whether the variable is null, and whether they jump if it is not
	test := condition{of: c.variable, field: c.field}
	for i := range code {
		in := &code[i]
		for at := in.Offset; at >= c.start && (i == 0 || at > code[i-1].Offset); at-- {
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
		delete(calls, at.call)
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
			found.throws = found.throws || !c.quiet(code, i)
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

func isCall(in *metadata.Instruction) bool {
	name := in.Opcode.String()
	return name == "call" || name == "callvirt" || name == "newobj"
}

// absent reports whether no object of the circle that in is in has the value that the loop searches. What can't be read may be the value. args and locals are
// the variables of the frame.
func (s *survey) absent(at *stand, c *circle, in objects.Object, args, locals []stackwalk.Variable) bool {
	find := &c.search
	md, err := at.method.Metadata()
	if find.field == 0 || err != nil {
		return false
	}
	name, err := fieldName(md, find.field)
	if err != nil {
		return false
	}
	if find.call >= 0 && !s.comparesTexts(at, find) {
		return false
	}
	list := locals
	if find.key.argument {
		list = args
	}
	var key objects.Value
	if !find.fixed {
		if find.key.number >= int64(len(list)) || !list[find.key.number].Located || list[find.key.number].Err != nil {
			return false
		}
		if key, err = list[find.key.number].Value(); err != nil {
			return false
		}
	}
	for range c.number {
		field, err := followed(in.Type, find.field, name)
		if err != nil {
			return false
		}
		if !find.differs(in.Value(field), key) {
			return false
		}
		next, err := followed(in.Type, c.field, c.name)
		if err != nil {
			return false
		}
		if in, err = in.Value(next).Object(); err != nil {
			return false
		}
	}
	return true
}

// comparesTexts reports whether the call of a search is one that compares strings.
func (s *survey) comparesTexts(at *stand, f *keySearch) bool {
	calls, err := s.around(at.thread, &at.frame, at.method)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(slices.Concat(calls.Before, calls.Later), func(call tasks.Call) bool {
		return call.Offset == f.call && call.Through == "" && (call.Method == "String.Equals" || !f.called && call.Method == "String.op_Equality")
	})
}

// differs reports whether the value of an object is not the key. It is false if that can't be read.
func (f *keySearch) differs(v, key objects.Value) bool {
	if f.call >= 0 {
		if v.Err() != nil || v.IsNull() || key.IsNull() { // a method of a null reference throws
			return v.Err() == nil && !f.called && v.IsNull() != key.IsNull()
		}
		a, err := v.Text(-1)
		if err != nil {
			return false
		}
		b, err := key.Text(-1)
		return err == nil && a != b
	}
	size, b := 4, uint64(f.constant)
	if !f.fixed {
		var err error
		if b, err = key.Bits(); err != nil || key.Kind() != v.Kind() && !(whole(v) && whole(key)) {
			return false
		}
		size = key.Size()
	}
	a, err := v.Bits()
	if err != nil || !whole(v) && v.Kind() != objects.KindReference {
		return false
	}
	// What differs in the bytes that both have differs. Whether the others do depends on signs.
	mask := ^uint64(0) >> (64 - 8*uint(max(1, min(size, v.Size(), 8))))
	return a&mask != b&mask
}

// whole reports whether a value is a whole number, as flags and characters are in IL.
func whole(v objects.Value) bool {
	switch v.Kind() {
	case objects.KindInt, objects.KindUint, objects.KindBool, objects.KindChar:
		return true
	}
	return false
}
