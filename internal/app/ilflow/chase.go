package ilflow

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// A Chase is a loop of a method that goes from one object to the next, as for (x = first; x != null; x = x.Next).
type Chase struct {
	Variable   Variable
	Field      metadata.Token
	Start, End int  // IL offsets
	OnlyNull   bool // the loop ends nowhere but where the variable is null
	Calls      bool // methods that it calls could change the objects, or throw
	Throws     bool // other instructions could throw
	Compares   bool // it compares the variable with another reference, as a loop through a circle does
	Search     Search
}

// Chases returns the loops of il that go from one object to the next.
func Chases(il []byte) ([]Chase, error) {
	var code []metadata.Instruction
	ends := map[int]int{} // of loops, by their start
	m := marks{targets: map[int]bool{}, aliased: map[Variable]bool{}}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		code = append(code, in)
		if v, verb, ok := accessed(&in); ok && verb == "lda" {
			m.aliased[v] = true
		}
		if !isBranch(&in) {
			continue
		}
		if m.targets[in.Target()] = true; in.Target() <= in.Offset {
			ends[in.Target()] = in.Offset + in.Size // the last jump to a start ends the loop
		}
	}
	var out []Chase
	for i := range code {
		start := code[i].Offset
		end, ok := ends[start]
		if !ok {
			continue
		}
		n := i
		for n < len(code) && code[n].Offset < end {
			n++
		}
		if c, ok := chaseOf(code[i:n], start, end, m); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// marks are facts about a method that its loops need.
type marks struct {
	targets map[int]bool      // IL offsets that branches jump to
	aliased map[Variable]bool // the variables with addresses that the method takes
}

// chaseOf reads the instructions of a loop from start to end. ok is false if the loop does not only go on from object to object by one field.
func chaseOf(code []metadata.Instruction, start, end int, m marks) (c Chase, ok bool) {
	for i := range code {
		if v, field, stores := step(code, i); stores {
			if ok && (v != c.Variable || field != c.Field) {
				return c, false
			}
			c.Variable, c.Field, ok = v, field, true
		}
	}
	if !ok {
		return c, false
	}
	c.Start, c.End, c.OnlyNull = start, end, true
	ends := false // it has an end
	test := condition{of: c.Variable, field: c.Field}
	for i := range code {
		in := &code[i]
		if m.targets[in.Offset] {
			test.join()
		}
		if c.replaced(code, i, m) {
			return c, false
		}
		switch name := in.Opcode.String(); {
		case name == "call", name == "callvirt", name == "newobj":
			c.Calls = true
		case leaves(name):
			c.OnlyNull = false
		case isBranch(in) && (in.Target() < start || in.Target() >= end || in.Offset+in.Size == end):
			if always := name == "br" || name == "br.s"; !always || in.Target() < start || in.Target() >= end {
				ends = true
				c.OnlyNull = c.OnlyNull && test.isNull(name)
			}
		default:
			c.Throws = c.Throws || !c.quiet(code, i)
		}
		c.Compares = c.Compares || c.compared(code, i)
		test.next(in)
	}
	if c.OnlyNull = c.OnlyNull && ends; !c.OnlyNull {
		c.Search = c.searches(code, m)
	}
	return c, true
}

// replaced reports whether the instruction at i can give the variable another value than the next object, or can change the chain.
func (c *Chase) replaced(code []metadata.Instruction, i int, m marks) bool {
	if v, verb, ok := accessed(&code[i]); ok && v == c.Variable && verb != "ld" {
		_, _, follows := step(code, i)
		return !follows
	}
	switch name := code[i].Opcode.String(); name {
	case "stfld", "ldflda":
		return code[i].Token() == c.Field
	case "stobj", "cpobj", "initobj", "cpblk", "initblk":
		return m.aliased[c.Variable]
	default:
		return strings.HasPrefix(name, "stind") && m.aliased[c.Variable]
	}
}

// quietOpcodes are prefixes of the names of IL instructions that throw nothing.
var quietOpcodes = []string{"nop", "ldarg", "ldloc", "starg", "stloc", "ldnull", "ldc.", "dup", "pop", "br", "beq", "bge", "bgt", "ble", "blt", "bne", "ceq", "cgt", "clt", "add", "sub",
	"mul", "and", "or", "xor", "shl", "shr", "neg", "not", "conv.", "ldsfld", "stsfld", "ldstr", "ldtoken", "sizeof", "isinst", "volatile."}

// quiet reports whether the instruction at i throws nothing in a circle, where the variable is never null.
func (c *Chase) quiet(code []metadata.Instruction, i int) bool {
	name := code[i].Opcode.String()
	if (name == "div" || name == "rem") && i > 0 && strings.HasPrefix(code[i-1].Opcode.String(), "ldc.i4") {
		by := code[i-1].Opcode.String()
		return by != "ldc.i4.0" && by != "ldc.i4.m1" && (code[i-1].Kind == metadata.OperandNone || code[i-1].Int() != 0 && code[i-1].Int() != -1)
	}
	if name != "ldfld" {
		return !strings.Contains(name, ".ovf") && slices.ContainsFunc(quietOpcodes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	if i--; i > 0 && code[i].Opcode.String() == "dup" {
		i--
	}
	return c.loads(code, i)
}

// loads reports whether the instruction at i loads the variable.
func (c *Chase) loads(code []metadata.Instruction, i int) bool {
	if i < 0 {
		return false
	}
	v, verb, ok := accessed(&code[i])
	return ok && verb == "ld" && v == c.Variable
}

// compared reports whether the instruction at i compares the variable, or the next object, with another reference.
func (c *Chase) compared(code []metadata.Instruction, i int) bool {
	if name := code[i].Opcode.String(); name != "ceq" && !strings.HasPrefix(name, "beq") && !strings.HasPrefix(name, "bne.un") {
		return false
	}
	object := func(i int) bool { // at i ends what loads the variable, or the next object
		return c.loads(code, i) || i > 0 && code[i].Opcode.String() == "ldfld" && code[i].Token() == c.Field && c.loads(code, i-1)
	}
	if object(i - 1) {
		return true
	}
	if i < 2 || code[i-1].Opcode.String() == "ldnull" {
		return false
	}
	if i--; code[i].Opcode.String() == "ldfld" { // of another object
		i--
	}
	return object(i - 1)
}

// step returns the variable and the field if the instruction at i stores into a variable the field of the object in it: x = x.field, perhaps
// as a part of an expression.
func step(code []metadata.Instruction, i int) (v Variable, field metadata.Token, ok bool) {
	v, verb, ok := accessed(&code[i])
	if !ok || verb != "st" || i < 2 {
		return v, 0, false
	}
	if i--; code[i].Opcode.String() == "dup" {
		i--
	}
	if i < 1 || code[i].Opcode.String() != "ldfld" {
		return v, 0, false
	}
	from, verb, ok := accessed(&code[i-1])
	return v, code[i].Token(), ok && verb == "ld" && from == v
}

// A condition follows what a method has on top of its stack, as far as a test of a variable for null needs it.
type condition struct {
	of    Variable
	field metadata.Token // by which the loop goes on: in a circle it is never null, either
	top   onStack
	flag  Variable // has the result of the last test, unless kept is other
	kept  onStack
}

// An onStack is what lies on top of the stack.
type onStack uint8

const (
	other onStack = iota
	copied
	theVariable
	nullOnIt // null, and the variable below
	nullTest // whether the variable is null
	setTest  // whether it is not
)

// isNull reports whether a branch depends on nothing but whether the variable is null.
func (c *condition) isNull(branch string) bool {
	if strings.HasPrefix(branch, "brtrue") || strings.HasPrefix(branch, "brfalse") {
		return c.top == theVariable || c.top == nullTest || c.top == setTest
	}
	return (strings.HasPrefix(branch, "beq") || strings.HasPrefix(branch, "bne.un")) && c.top == nullOnIt
}

// jumps reports whether a branch for which isNull holds jumps while the variable is not null.
func (c *condition) jumps(branch string) bool {
	switch {
	case strings.HasPrefix(branch, "brtrue"):
		return c.top != nullTest
	case strings.HasPrefix(branch, "brfalse"):
		return c.top == nullTest
	}
	return strings.HasPrefix(branch, "bne.un")
}

// join forgets what is known where ways through the method meet: only one of them has been followed.
func (c *condition) join() { c.top, c.kept = other, other }

// next follows an instruction.
func (c *condition) next(in *metadata.Instruction) {
	v, verb, isVariable := accessed(in)
	name, before := in.Opcode.String(), c.top
	if c.top = other; isVariable {
		loads := verb == "ld"
		switch {
		case v == c.of && (loads || before == copied): // x, or the copy of what was stored in x
			c.top = theVariable
		case loads && c.kept != other && v == c.flag:
			c.top = c.kept
		case !loads && (before == nullTest || before == setTest):
			c.flag, c.kept = v, before
		case !loads && v == c.flag:
			c.kept = other
		}
		return
	}
	switch {
	case name == "nop":
		c.top = before
	case name == "dup":
		c.top = copied
	case name == "ldfld" && before == theVariable && in.Token() == c.field:
		c.top = theVariable
	case name == "ldnull" && before == theVariable:
		c.top = nullOnIt
	case name == "ceq" && before == nullOnIt:
		c.top = nullTest
	case name == "cgt.un" && before == nullOnIt:
		c.top = setTest
	}
}
