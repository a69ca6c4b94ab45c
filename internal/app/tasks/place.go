package tasks

import (
	"errors"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An awaitSite is an await in the code of an async method.
type awaitSite struct {
	il     int    // offset in the IL of MoveNext where the method is suspended
	field  string // the field that keeps the awaiter; empty if the code does not show it
	callee string // the method with the awaited result; empty if it is not a call
}

// place returns the position of a method in a state.
func (m *machine) place(r *Reader, state int32, known bool) *answer.AsyncPlace {
	if !known {
		state = notSuspended
	}
	if p, ok := m.places.Load(state); ok {
		return p.(*answer.AsyncPlace)
	}
	p := &answer.AsyncPlace{}
	name, err := m.methodName()
	p.Method = answer.Text{S: name, Err: err}
	if state >= 0 {
		m.locate(r, state, p)
	}
	got, _ := m.places.LoadOrStore(state, p)
	return got.(*answer.AsyncPlace)
}

// notSuspended is a state without an await.
const notSuspended = -1

// locate finds the await of a state in the method's code, and its source line.
func (m *machine) locate(r *Reader, state int32, p *answer.AsyncPlace) {
	sites, err := m.sites(r)
	if err != nil {
		p.Missing.Err = err
		return
	}
	site, ok := sites[state]
	if !ok {
		p.Missing.Err = target.Unsupportedf("the code of %s has no await of state %d", p.Method, state)
		return
	}
	p.Await.S = site.callee
	moveNext, err := m.moveNext()
	if err == nil {
		var at dac.SourceLine
		if at, err = r.code.SourceLineOfIL(moveNext, site.il); err == nil {
			p.File, p.Line = at.File, at.Line
		}
	}
	if err != nil {
		p.Missing.Err = err
	}
}

// methodName returns the async method. For C# and Visual Basic it is taken from the name of the state machine's type.
func (m *machine) methodName() (string, error) {
	return m.name.Get(func() (string, error) {
		full, err := m.typ.ManagedName()
		if err != nil {
			return "", err
		}
		return compilernames.Method(full), nil
	})
}

// MethodOf returns the name of the suspended async method at a, also where its code is not in the dump.
func (r *Reader) MethodOf(a target.Addr) answer.Text {
	k, err := r.kindOf(a)
	if err != nil {
		return answer.Text{Err: err}
	}
	_, m, err := r.machineIn(k, a)
	if err == nil && m == nil {
		err = target.Unsupportedf("no async method")
	}
	if err != nil {
		return answer.Text{Err: err}
	}
	name, err := m.methodName()
	return answer.Text{S: name, Err: err}
}

// moveNext returns the method that contains the async method's code.
func (m *machine) moveNext() (*dac.MethodDesc, error) {
	for md, err := range m.typ.Methods() {
		if err != nil {
			return nil, err
		}
		if name, err := md.Name(); err == nil && name == "MoveNext" {
			return md, nil
		}
	}
	return nil, target.Unsupportedf("the state machine has no method MoveNext")
}

// sites returns the awaits in the method's code, by state.
func (m *machine) sites(r *Reader) (map[int32]awaitSite, error) {
	return m.awaits.Get(func() (map[int32]awaitSite, error) {
		moveNext, err := m.moveNext()
		if err != nil {
			return nil, err
		}
		if err := r.code.ILReplaced(moveNext); err != nil {
			return nil, err
		}
		body, err := r.code.IL(moveNext)
		if err != nil {
			return nil, err
		}
		md, err := moveNext.Metadata()
		if err != nil {
			return nil, err
		}
		return awaitSites(func(t metadata.Token) string { return ilcalls.MemberName(md, t) }, body.Code)
	})
}

// The opcodes with which compilers suspend a method (ECMA-335 III).
const (
	opNop      = 0x00
	opLdcM1    = 0x15
	opLdc0     = 0x16
	opLdc8     = 0x1e
	opLdcShort = 0x1f
	opLdc      = 0x20
	opCall     = 0x28
	opCallvirt = 0x6f
	opLdflda   = 0x7c
	opStfld    = 0x7d
)

// A lastCall is the last call with an unused result: on top of the stack, or in a local variable.
type lastCall struct {
	name  string
	local int64 // the local that holds the result, -1 for the stack
}

// through updates the place of the result after an instruction that is not a call.
func (c *lastCall) through(in *metadata.Instruction) {
	op := in.Opcode
	if op == opNop || op >= opLdcM1 && op <= opLdc {
		return // an argument of ConfigureAwait
	}
	local, store, ok := ilcalls.LocalAccess(in)
	switch {
	case ok && store && c.local < 0:
		c.local = local
	case ok && !store && c.local == local:
		c.local = -1
	default:
		*c = lastCall{local: -1}
	}
}

// firstYield is the highest state of an async iterator that has returned an element (AsyncIteratorMethodToStateMachineRewriter.cs of Roslyn). Above it is the one of an
// iterator that has not begun.
const firstYield = -4

// awaitSites finds the awaits in the IL of a MoveNext, and the places at which an async iterator returns elements; member names a field or a method.
// Compilers suspend a method in this order: GetAwaiter returns the awaiter; the state's number is stored in <>1__state (and in a local); the awaiter is stored
// in its field. Mono's compiler stores the awaiter first, and passes the field to the builder after it has stored the number.
func awaitSites(member func(metadata.Token) string, il []byte) (map[int32]awaitSite, error) {
	out := map[int32]awaitSite{}
	var number, state int32 = notSuspended, notSuspended // the last constant and the last stored state
	result, awaited := lastCall{local: -1}, ""
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return out, err
		}
		op := in.Opcode
		switch {
		case op >= opLdcM1 && op <= opLdc8:
			number = int32(op) - opLdc0
		case op == opLdcShort, op == opLdc:
			number = int32(in.Int())
		}
		switch op {
		case opCall, opCallvirt:
			switch name := member(in.Token()); {
			case strings.HasSuffix(name, ".GetAwaiter"):
				awaited, result = result.name, lastCall{local: -1}
			case strings.HasSuffix(name, ".ConfigureAwait") && result.local < 0: // applied to what the call returned
			default:
				result = lastCall{name, -1}
			}
		case opLdflda, opStfld:
			name := member(in.Token())
			field := name[strings.LastIndexByte(name, '.')+1:]
			site, known := out[state]
			switch {
			case op == opStfld && (field == "<>1__state" || field == "$State" || field == "$PC"):
				if state = number; field == "$PC" {
					state--
				}
				if state >= 0 || state <= firstYield && field == "<>1__state" {
					out[state] = awaitSite{il: in.Offset, callee: property(awaited)}
				}
			case known && site.field == "" && compilernames.IsAwaiter(field):
				site.field = field
				out[state] = site
			}
			result = lastCall{local: -1}
		default:
			result.through(&in)
		}
	}
	return out, nil
}

// property strips "get_" from a getter's name.
func property(method string) string {
	if i := strings.LastIndex(method, ".get_"); i >= 0 {
		return method[:i+1] + method[i+len(".get_"):]
	}
	return method
}

// A mask hides secrets where an answer is made; nil without masking.
type mask func(text string) string

// variable describes a variable, or hides its value.
func (hide mask) variable(name string, kind answer.AsyncVariableKind, declared answer.Text, v objects.Value) answer.AsyncVariable {
	out := answer.AsyncVariable{Name: name, Kind: kind, Type: declared}
	stored, hidden := v.HiddenAs(name, hide)
	switch {
	case !hidden:
		out.Value = v.Plain(variableChars)
	case stored.Missing.Err != nil:
		out.Value = answer.Absent(stored.Missing.Err)
	default:
		out.Value = secrets.Mask
	}
	return out
}

// variables returns the async method's variables that became fields.
func (r *Reader) variables(g *answer.Gaps, m *machine, x objects.Instance, hide mask) []answer.AsyncVariable {
	fields, err := m.layout()
	g.Note(err)
	out := make([]answer.AsyncVariable, 0, len(fields.locals))
	for _, v := range fields.locals {
		value := v.field.At(target.Addr(x))
		g.Note(value.Err())
		name, err := v.field.TypeName(dac.NameManaged)
		out = append(out, hide.variable(v.name, v.kind, answer.Text{S: name, Err: err}, value))
	}
	return out
}

// variableChars bounds the characters shown of a string variable.
const variableChars = 64

// fieldList returns the fields of an item's state machine, or of the task if it has no state machine.
func (r *Reader) fieldList(g *answer.Gaps, it *item, hide mask) []answer.AsyncField {
	t, at := it.kind.typ, target.Addr(objects.InstanceAt(it.addr))
	if it.kind.machine() {
		switch x, m, err := r.machineOf(it.kind, it.addr); {
		case err == nil:
			t, at = m.typ, target.Addr(x)
		case !errors.Is(err, errCleared):
			g.Note(err)
			return nil
		}
	}
	fields, err := t.Fields()
	g.Note(err)
	out := make([]answer.AsyncField, 0, len(fields))
	for _, f := range fields {
		if !f.Static {
			out = append(out, r.field(g, f, at, hide))
		}
	}
	return out
}

// field describes a field of the instance with fields starting at address at.
func (r *Reader) field(g *answer.Gaps, f *objects.Field, at target.Addr, hide mask) answer.AsyncField {
	v := f.At(at)
	out := answer.AsyncField{Address: v.Location()}
	if out.Name.S = f.Name; f.Name == "" {
		out.Name = g.Text("", f.Err())
	}
	out.Type = g.Text(f.TypeName(dac.NameManaged))
	out.MethodTable = answer.Of(f.TypeHandle())
	g.Note(v.Err())
	out.Stored = v.StoredMasked(hide)
	if v.Kind() != objects.KindReference || v.IsNull() || !strings.HasSuffix(out.Type.S, "[]") { // a FieldDesc does not distinguish arrays from other objects
		return out
	}
	o, err := v.Object()
	if err != nil {
		return out
	}
	if a, err := o.Array(); err == nil && a.Element() != nil {
		name, err := a.Element().ManagedName()
		out.Array = &answer.AsyncArray{Element: answer.Text{S: name, Err: err}, Length: a.Len}
	}
	return out
}
