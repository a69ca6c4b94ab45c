package locks

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/answer/words"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A chase is a loop of a method that goes from one object to the next, as for (x = first; x != null; x = x.Next).
type chase struct {
	variable variable
	field    metadata.Token
	onlyNull bool // the loop ends nowhere but where the variable is null
	calls    bool // methods that it calls could change the objects, or throw
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
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		code = append(code, in)
		if isBranch(&in) && in.Target() <= in.Offset {
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
		if c, ok := chaseOf(code[i:n], start, end); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

func isBranch(in *metadata.Instruction) bool {
	return in.Kind == metadata.OperandBranch8 || in.Kind == metadata.OperandBranch32
}

// chaseOf reads the instructions of a loop from start to end. ok is false if the loop does not only go on from object to object by one field.
func chaseOf(code []metadata.Instruction, start, end int) (c chase, ok bool) {
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
	c.onlyNull = true
	ends := false // it has an end
	test := condition{of: c.variable}
	for i := range code {
		in := &code[i]
		v, verb, isVariable := accessed(in)
		switch name := in.Opcode.String(); {
		case isVariable && v == c.variable && verb != "ld":
			if _, _, follows := step(code, i); !follows {
				return c, false // another value
			}
		case name == "stfld" && in.Token() == c.field:
			return c, false // it changes the chain
		case name == "call", name == "callvirt", name == "newobj":
			c.calls = true
		case name == "calli", name == "jmp", strings.HasPrefix(name, "leave"), name == "ret", strings.HasSuffix(name, "throw"), strings.HasPrefix(name, "endf"), name == "switch":
			c.onlyNull = false
		case isBranch(in) && (in.Target() < start || in.Target() >= end || in.Offset+in.Size == end):
			if always := name == "br" || name == "br.s"; !always || in.Target() < start || in.Target() >= end {
				ends = true
				c.onlyNull = c.onlyNull && test.isNull(name)
			}
		}
		test.next(in)
	}
	c.onlyNull = c.onlyNull && ends
	return c, true
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
	of   variable
	top  onStack
	flag variable // has the result of the last test, where kept is set
	kept bool
}

// An onStack is what lies on top of the stack.
type onStack uint8

const (
	other onStack = iota
	copied
	theVariable
	nullOnIt // null, and the variable below
	nullTest
)

// isNull reports whether a branch depends on nothing but whether the variable is null.
func (c *condition) isNull(branch string) bool {
	if strings.HasPrefix(branch, "brtrue") || strings.HasPrefix(branch, "brfalse") {
		return c.top == theVariable || c.top == nullTest
	}
	return (strings.HasPrefix(branch, "beq") || strings.HasPrefix(branch, "bne.un")) && c.top == nullOnIt
}

// next follows an instruction.
func (c *condition) next(in *metadata.Instruction) {
	v, verb, isVariable := accessed(in)
	name, before := in.Opcode.String(), c.top
	if c.top = other; isVariable {
		loads := verb == "ld"
		switch {
		case v == c.of && (loads || before == copied): // x, or the copy of what was stored in x
			c.top = theVariable
		case loads && c.kept && v == c.flag:
			c.top = nullTest
		case !loads && before == nullTest:
			c.flag, c.kept = v, true
		case !loads && v == c.flag:
			c.kept = false
		}
		return
	}
	switch {
	case name == "nop":
		c.top = before
	case name == "dup":
		c.top = copied
	case name == "ldnull" && before == theVariable:
		c.top = nullOnIt
	case (name == "ceq" || name == "cgt.un") && before == nullOnIt:
		c.top = nullTest
	}
}

// A circle is a chain of objects that a loop of a thread's method follows and that comes back to its beginning.
type circle struct {
	chase
	first  objects.Object
	class  string // of first
	name   string // of the field
	number int    // objects
}

// circleOf returns the circle that the innermost method of the program on a thread's stack goes round. ok is false if it goes round none, or if
// that can't be read.
func (s *survey) circleOf(at *stand) (out circle, ok bool, err error) {
	body, err := code.Of(s.r.rt).IL(at.method)
	if err != nil {
		return out, false, err
	}
	loops, err := chases(body.Code)
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
	for _, loop := range loops {
		list := locals
		if loop.variable.argument {
			list = args
		}
		if loop.variable.number >= int64(len(list)) || !list[loop.variable.number].Located {
			continue
		}
		value, err := list[loop.variable.number].Value()
		if err != nil || value.IsNull() {
			continue
		}
		out = circle{chase: loop}
		if out.first, err = value.Object(); err != nil {
			continue
		}
		if out.name, err = fieldName(md, loop.field); err != nil {
			return out, false, err
		}
		if out.number, err = around(out.first, out.name); err != nil {
			return out, false, err
		}
		if out.number > 0 {
			out.class, err = out.first.Type.Name()
			return out, err == nil, err
		}
	}
	return out, false, nil
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

// around follows a field from an object and returns the number of objects in the circle that the way comes to, 0 if it ends. It is Brent's
// algorithm: one of two references waits at a place, for twice as many steps each time, until the other comes back to it.
func around(from objects.Object, field string) (int, error) {
	waiting, at, steps, patience := from.Addr, from, 0, 1
	for range limits.ChainedObjects {
		value := at.Field(field)
		if value.IsNull() || value.Err() != nil {
			return 0, value.Err()
		}
		var err error
		if at, err = value.Object(); err != nil {
			return 0, err
		}
		if steps++; at.Addr == waiting {
			return steps, nil
		}
		if steps == patience {
			waiting, steps, patience = at.Addr, 0, 2*patience
		}
	}
	return 0, target.Unsupportedf("a chain of more than %d objects", limits.ChainedObjects)
}

// mostRings bounds the threads at one position that are asked for their variables.
const mostRings = 16

// firstCircle returns the circle that threads at one position go round: the first thread with a readable variable shows it.
func (s *survey) firstCircle(list []stand) (out circle, ok bool, err error) {
	for i := range min(len(list), mostRings) {
		var bad error
		if out, ok, bad = s.circleOf(&list[i]); ok {
			return out, true, nil
		}
		err = cmp.Or(err, bad)
	}
	return out, false, err
}

// conclude describes threads in a loop round the circle. Where nothing ends the loop but null, it never ends.
func (c *circle) conclude(as func(answer.Strength, answer.Statement, ...answer.Statement) *answer.Verdict, method, threads, cpu answer.Statement) *answer.Verdict {
	strength, says := answer.StrengthLikely, words.FollowsCircle
	if c.onlyNull {
		says = words.GoesRound
		if !c.calls {
			strength = answer.StrengthProved
		}
	}
	v := as(strength, says.Of(threads, method, words.N(c.number), words.Type(c.class), words.Field(c.name), cpu),
		words.InCircle.Of(words.ObjectOfType.Of(words.Type(c.class), words.ShortObject(c.first.Addr))))
	if c.onlyNull {
		v.Severity = answer.SeverityHigh
	}
	return v
}
