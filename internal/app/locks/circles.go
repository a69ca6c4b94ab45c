package locks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A chase is a loop of a method that goes from one object to the next, as for (x = first; x != null; x = x.Next).
type chase struct {
	variable   variable
	field      metadata.Token
	start, end int  // IL offsets
	onlyNull   bool // the loop ends nowhere but where the variable is null
	calls      bool // methods that it calls could change the objects, or throw
	throws     bool // other instructions could throw
	compares   bool // it compares the variable with another reference, as a loop through a circle does
	search     keySearch
}

// A variable is an argument or a local variable of a method.
type variable struct {
	argument bool
	number   int64
}

// accessed returns the variable that an instruction loads, stores or takes the address of.
func accessed(in *metadata.Instruction) (v variable, verb string, ok bool) {
	name := in.Opcode.String()
	if len(name) < 5 {
		return v, "", false
	}
	verb, rest := name[:2], name[2:]
	if v.argument = strings.HasPrefix(rest, "arg"); !v.argument && !strings.HasPrefix(rest, "loc") || rest == "localloc" || verb != "ld" && verb != "st" {
		return v, "", false
	}
	rest = rest[3:]
	if strings.HasPrefix(rest, "a") { // ldloca, ldarga
		verb = "lda"
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(rest, "."), 10, 64); err == nil {
		v.number = n // ldloc.0
	} else {
		v.number = in.Int()
	}
	return v, verb, true
}

// chases returns the loops of il that go from one object to the next.
func chases(il []byte) ([]chase, error) {
	var code []metadata.Instruction
	ends := map[int]int{} // of loops, by their start
	m := marks{targets: map[int]bool{}, aliased: map[variable]bool{}}
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
	var out []chase
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
	aliased map[variable]bool // the variables with addresses that the method takes
}

func isBranch(in *metadata.Instruction) bool {
	return in.Kind == metadata.OperandBranch8 || in.Kind == metadata.OperandBranch32
}

// chaseOf reads the instructions of a loop from start to end. ok is false if the loop does not only go on from object to object by one field.
func chaseOf(code []metadata.Instruction, start, end int, m marks) (c chase, ok bool) {
	for i := range code {
		if v, field, stores := step(code, i); stores {
			if ok && (v != c.variable || field != c.field) {
				return c, false
			}
			c.variable, c.field, ok = v, field, true
		}
	}
	if !ok {
		return c, false
	}
	c.start, c.end, c.onlyNull = start, end, true
	ends := false // it has an end
	test := condition{of: c.variable, field: c.field}
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
			c.calls = true
		case leaves(name):
			c.onlyNull = false
		case isBranch(in) && (in.Target() < start || in.Target() >= end || in.Offset+in.Size == end):
			if always := name == "br" || name == "br.s"; !always || in.Target() < start || in.Target() >= end {
				ends = true
				c.onlyNull = c.onlyNull && test.isNull(name)
			}
		default:
			c.throws = c.throws || !c.quiet(code, i)
		}
		c.compares = c.compares || c.compared(code, i)
		test.next(in)
	}
	if c.onlyNull = c.onlyNull && ends; !c.onlyNull {
		c.search = c.searches(code, m)
	}
	return c, true
}

// leaves reports whether an instruction can leave a loop and is no branch.
func leaves(name string) bool {
	switch name {
	case "calli", "jmp", "ret", "switch":
		return true
	}
	return strings.HasPrefix(name, "leave") || strings.HasSuffix(name, "throw") || strings.HasPrefix(name, "endf")
}

// replaced reports whether the instruction at i can give the variable another value than the next object, or can change the chain.
func (c *chase) replaced(code []metadata.Instruction, i int, m marks) bool {
	if v, verb, ok := accessed(&code[i]); ok && v == c.variable && verb != "ld" {
		_, _, follows := step(code, i)
		return !follows
	}
	switch name := code[i].Opcode.String(); name {
	case "stfld", "ldflda":
		return code[i].Token() == c.field
	case "stobj", "cpobj", "initobj", "cpblk", "initblk":
		return m.aliased[c.variable]
	default:
		return strings.HasPrefix(name, "stind") && m.aliased[c.variable]
	}
}

// quietOpcodes are prefixes of the names of IL instructions that throw nothing.
var quietOpcodes = []string{"nop", "ldarg", "ldloc", "starg", "stloc", "ldnull", "ldc.", "dup", "pop", "br", "beq", "bge", "bgt", "ble", "blt", "bne", "ceq", "cgt", "clt", "add", "sub",
	"mul", "and", "or", "xor", "shl", "shr", "neg", "not", "conv.", "ldsfld", "stsfld", "ldstr", "ldtoken", "sizeof", "isinst", "volatile."}

// quiet reports whether the instruction at i throws nothing in a circle, where the variable is never null.
func (c *chase) quiet(code []metadata.Instruction, i int) bool {
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
func (c *chase) loads(code []metadata.Instruction, i int) bool {
	if i < 0 {
		return false
	}
	v, verb, ok := accessed(&code[i])
	return ok && verb == "ld" && v == c.variable
}

// compared reports whether the instruction at i compares the variable, or the next object, with another reference.
func (c *chase) compared(code []metadata.Instruction, i int) bool {
	if name := code[i].Opcode.String(); name != "ceq" && !strings.HasPrefix(name, "beq") && !strings.HasPrefix(name, "bne.un") {
		return false
	}
	object := func(i int) bool { // at i ends what loads the variable, or the next object
		return c.loads(code, i) || i > 0 && code[i].Opcode.String() == "ldfld" && code[i].Token() == c.field && c.loads(code, i-1)
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
func step(code []metadata.Instruction, i int) (v variable, field metadata.Token, ok bool) {
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
	of    variable
	field metadata.Token // by which the loop goes on: in a circle it is never null, either
	top   onStack
	flag  variable // has the result of the last test, unless kept is other
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

// A circle is a chain of objects that a loop of a thread's method follows and that comes back to its beginning.
type circle struct {
	chase
	first   answer.Statement // the object that a variable has
	class   string           // of the objects
	name    string           // of the field
	number  int              // objects
	absent  bool             // no object has the key that the loop searches, and nothing else but null would end it
	threads []stand          // that go round it, or round another with the same numbers
}

// rings returns the circles that threads at one position go round, and the other threads. err is why circles may be missing.
func (s *survey) rings(list []stand) (rings []circle, rest []stand, err error) {
	steps := mostSteps
	for i := range list {
		c, ok, bad := s.circleOf(&list[i], &steps)
		if !ok {
			rest, err = append(rest, list[i]), cmp.Or(err, bad)
			continue
		}
		at := slices.IndexFunc(rings, func(r circle) bool {
			return r.chase == c.chase && r.number == c.number && r.class == c.class && r.absent == c.absent
		})
		if at < 0 {
			at, rings = len(rings), append(rings, c)
		}
		rings[at].threads = append(rings[at].threads, list[i])
	}
	return rings, rest, err
}

// circleOf returns the circle that the innermost method of the program on a thread's stack goes round. ok is false if it goes round none, or if
// that can't be read.
func (s *survey) circleOf(at *stand, steps *int) (out circle, ok bool, err error) {
	loops, err := s.chasesAt(at)
	if err != nil || len(loops) == 0 {
		return out, false, err
	}
	md, err := at.method.Metadata()
	if err != nil {
		return out, false, err
	}
	args, locals, err := stackwalk.Variables(&at.frame, s.r.b.Objects())
	if err != nil {
		return out, false, err
	}
	var unread error // why a loop that may have no end was not followed
	for _, loop := range loops {
		list := locals
		if loop.variable.argument {
			list = args
		}
		first, err := loopObject(list, loop.variable.number)
		if err != nil && loop.onlyNull {
			unread = cmp.Or(unread, fmt.Errorf("what a loop follows: %w", err))
		}
		if err != nil || first.Addr == 0 {
			continue
		}
		out = circle{chase: loop}
		if out.name, err = fieldName(md, loop.field); err != nil {
			return out, false, err
		}
		var class *objects.Type
		var in objects.Object
		if out.number, in, class, err = around(first, loop.field, out.name, steps); err != nil {
			return out, false, err
		}
		if out.number > 0 {
			out.absent = s.absent(at, &out, in, args, locals)
			typ, err := first.Type.Name()
			if err == nil {
				out.class, err = class.Name()
			}
			out.first = words.ObjectOfType.Of(words.Type(typ), words.ShortObject(first.Addr))
			return out, err == nil, err
		}
	}
	return out, false, unread
}

// chasesAt returns the loops that go from one object to the next, and that a frame is in.
func (s *survey) chasesAt(at *stand) ([]chase, error) {
	body, err := dac.CodeOf(s.r.rt).IL(at.method)
	if err != nil {
		return nil, err
	}
	loops, err := chases(body.Code)
	if err != nil || len(loops) == 0 {
		return nil, err
	}
	il, mapped, err := dac.CodeOf(at.frame.Runtime).ILOffset(at.frame.CallSite())
	if err != nil && !dac.NoDebugInfo(err) {
		return nil, err
	}
	return slices.DeleteFunc(loops, func(c chase) bool { return !mapped || il < c.start || il >= c.end }), nil
}

// loopObject returns the object that a variable of a frame refers to, or the zero Object for null.
func loopObject(list []stackwalk.Variable, number int64) (objects.Object, error) {
	if number >= int64(len(list)) {
		return objects.Object{}, target.Unsupportedf("variable %d of %d", number, len(list))
	}
	v := &list[number]
	if v.Err != nil || !v.Located {
		return objects.Object{}, cmp.Or(v.Err, target.Unsupportedf("variable %d of the method has no place at this instruction", number))
	}
	value, err := v.Value()
	if err != nil || value.IsNull() {
		return objects.Object{}, err
	}
	return value.Object()
}

// fieldName returns the name of the field that an IL token names.
func fieldName(md *metadata.Metadata, t metadata.Token) (string, error) {
	if t.Table() == metadata.TableMemberRef {
		row, err := md.MemberRef(t.Row())
		if err != nil {
			return "", err
		}
		return md.String(row.Name)
	}
	row, err := md.Field(t.Row())
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

// mostSteps bounds the objects that are read for threads at one position.
const mostSteps = 4 * limits.ChainedObjects

// around follows a field from an object and returns the number of objects in the circle that the way comes to, one of them, and the class that all
// are of. It returns 0 if the way ends. It is Brent's algorithm: one of two references waits at a place, for twice as many steps each time,
// until the other comes back to it.
func around(from objects.Object, token metadata.Token, name string, steps *int) (int, objects.Object, *objects.Type, error) {
	waiting, at, n, patience := from.Addr, from, 0, 1
	var field *objects.Field
	of, class := from.Type, from.Type // of the object, and of all since the other reference waits
	for ; *steps > 0; *steps-- {
		if field == nil || at.Type != of {
			f, err := followed(at.Type, token, name)
			if err != nil {
				return 0, at, nil, err
			}
			if field, of = f, at.Type; class != of {
				class = field.Declaring
			}
		}
		value := at.Value(field)
		if value.IsNull() || value.Err() != nil {
			return 0, at, nil, value.Err()
		}
		var err error
		if at, err = value.Object(); err != nil {
			return 0, at, nil, err
		}
		if n++; at.Addr == waiting {
			return n, at, class, nil
		}
		if n == patience {
			waiting, n, patience, class = at.Addr, 0, 2*patience, at.Type
		}
	}
	return 0, at, nil, target.Unsupportedf("chains of more than %d objects", mostSteps)
}

// followed returns the field of a class that an IL token names. Where classes hide fields of the same name, the token has to be the field's own.
func followed(t *objects.Type, token metadata.Token, name string) (*objects.Field, error) {
	list, err := t.Fields()
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f *objects.Field) bool { return f.Static || f.Name != name })
	if len(list) > 1 {
		list = slices.DeleteFunc(list, func(f *objects.Field) bool { return f.Token != token })
	}
	if len(list) != 1 {
		return nil, target.Unsupportedf("a choice of %d fields %s", len(list), name)
	}
	return list[0], nil
}

// conclude describes threads in a loop round the circle. Where nothing ends the loop but null, it never ends, unless something in it throws, or
// the methods that it calls change the chain: rounds of states are made so.
func (c *circle) conclude(as func(answer.Strength, answer.Statement, ...answer.Statement) *answer.Verdict, busy bool, method, threads, cpu answer.Statement) *answer.Verdict {
	strength, says := answer.StrengthLikely, words.FollowsCircle
	switch {
	case c.absent && !c.onlyNull:
		if says = words.SearchesRound; !c.search.throws {
			strength = answer.StrengthProved
		}
	case c.onlyNull && !c.calls && !c.throws:
		strength, says = answer.StrengthProved, words.GoesRound
	case c.onlyNull:
		says = words.GoesRoundOr
	case !busy:
		strength = answer.StrengthPossible
	}
	v := as(strength, says.Of(threads, method, words.N(c.number), words.Type(c.class), words.Field(c.name), cpu),
		words.InCircle.Of(c.first))
	if c.absent || c.onlyNull && !c.calls {
		v.Severity = answer.SeverityHigh
	}
	return v
}
