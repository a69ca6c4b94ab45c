// Package ilcalls finds the calls in IL and the field paths of their receivers. It reads only metadata, not a process.
// Start with Of.
package ilcalls

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Site is a call in IL.
type Site struct {
	Offset int
	Token  metadata.Token
	Method string  // with its type, but without the namespace
	On     *Path   // nil if the receiver is unknown
	Args   []*Path // the receiver, if there is one, and the arguments; nil for an unknown one
	// Through is the method that the code calls if the call is in a wrapper: Method and On are the wrapper's.
	Through string
	// Releaser reports that Through returns or creates an object.
	Releaser bool
	// Chosen are the calls on the way into the wrapper that the class of their receiver chooses the method of.
	Chosen []Choice
	// Virtual reports that the class of the receiver may choose the method.
	Virtual bool
	// Invokes reports that the call invokes a delegate.
	Invokes bool
	// Below is how many values lie under the arguments: the code goes on with them when the call has returned.
	Below int
}

// A Choice is a call of a method that classes implement or may replace by their own, and the method that it runs for some of them.
type Choice struct {
	On     *Path
	Class  string // of the method that the call names
	Name   string // of that method, without its class
	Method metadata.Token
	Module target.Addr // with Method
}

// Of returns the calls in a method's IL, in code order. With an error, it returns the calls before it.
func Of(md *metadata.Metadata, il []byte) ([]Site, error) {
	e := newEvaluator(md)
	err := e.run(il)
	return e.calls, err
}

// A Path leads to an object through fields. It starts at a static field, or at an argument of the method: number 0 is
// the object that an instance method is called on, such as the state machine.
type Path struct {
	Class  string // the class of the static field; empty for an argument
	Arg    int
	Fields []string // "<X>k__BackingField" for an automatic property X
}

// then returns the path with one more field.
func (p *Path) then(field string) *Path {
	if p == nil || len(p.Fields) == maxPathFields || field == "" {
		return nil
	}
	return &Path{Class: p.Class, Arg: p.Arg, Fields: append(slices.Clip(p.Fields), field)}
}

// From returns a path of a called method as a path of its caller, which passes args.
func (p *Path) From(args []*Path) *Path {
	if p == nil || p.Class != "" {
		return p
	}
	if p.Arg >= len(args) {
		return nil
	}
	out := args[p.Arg]
	for _, field := range p.Fields {
		out = out.then(field)
	}
	return out
}

// maxPathFields bounds the fields of a path.
const maxPathFields = 8

// An evaluator follows references through IL without branches. Results of other instructions are unknown references.
type evaluator struct {
	md     *metadata.Metadata
	stack  []*Path
	locals map[int64]*Path
	stored map[int64]bool // arguments that the method assigns
	calls  []Site
	loops  [][2]int        // the offsets to which and from which it jumps back
	stores map[int64][]int // the offsets at which it stores to a local variable, or to an argument (see argumentKey)
}

func newEvaluator(md *metadata.Metadata) *evaluator {
	return &evaluator{md: md, locals: map[int64]*Path{}, stored: map[int64]bool{}}
}

func (e *evaluator) push(p *Path) {
	if len(e.stack) == maxILStack {
		e.stack = e.stack[:0]
	}
	e.stack = append(e.stack, p)
}

// maxILStack bounds the depth of the evaluation stack.
const maxILStack = 256

func (e *evaluator) pop() *Path {
	n := len(e.stack)
	if n == 0 {
		return nil
	}
	p := e.stack[n-1]
	e.stack = e.stack[:n-1]
	return p
}

// replace pops n values and pushes an unknown one.
func (e *evaluator) replace(n int) {
	for range n {
		e.pop()
	}
	e.push(nil)
}

// argumentKey is the key of an argument in stores.
func argumentKey(n int64) int64 { return -1 - n }

// look finds the loops of il and the stores in it.
func (e *evaluator) look(il []byte) error {
	e.loops, e.stores = nil, map[int64][]int{}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return err
		}
		n, store, ok := LocalAccess(&in)
		switch name := in.Opcode.String(); {
		case ok && store:
			e.stores[n] = append(e.stores[n], in.Offset)
		case name == "starg" || name == "starg.s":
			e.stores[argumentKey(in.Int())] = append(e.stores[argumentKey(in.Int())], in.Offset)
		case (in.Kind == metadata.OperandBranch8 || in.Kind == metadata.OperandBranch32) && in.Target() <= in.Offset:
			e.loops = append(e.loops, [2]int{in.Target(), in.Offset})
		}
	}
	return nil
}

// carried reports whether a variable may have a value of the turn before where code at an offset loads it: a loop stores to it behind that, and not before.
func (e *evaluator) carried(key int64, at int) bool {
	for _, loop := range e.loops {
		if at < loop[0] || at > loop[1] {
			continue
		}
		before := slices.ContainsFunc(e.stores[key], func(s int) bool { return s >= loop[0] && s < at })
		if !before && slices.ContainsFunc(e.stores[key], func(s int) bool { return s > at && s <= loop[1] }) {
			return true
		}
	}
	return false
}

func (e *evaluator) run(il []byte) error {
	if err := e.look(il); err != nil {
		return err
	}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return err
		}
		e.step(&in)
	}
	return nil
}

// step follows one instruction.
func (e *evaluator) step(in *metadata.Instruction) {
	if n, store, ok := LocalAccess(in); ok {
		switch {
		case store:
			e.locals[n] = e.pop()
		case e.carried(n, in.Offset):
			e.push(nil)
		default:
			e.push(e.locals[n])
		}
		return
	}
	switch name := in.Opcode.String(); name {
	case "ldarg.0", "ldarg.1", "ldarg.2", "ldarg.3":
		e.argument(int64(name[len(name)-1]-'0'), in.Offset)
	case "ldarg", "ldarg.s", "ldarga", "ldarga.s":
		e.argument(in.Int(), in.Offset)
	case "starg", "starg.s":
		e.pop()
		e.stored[in.Int()] = true
	case "nop", "castclass", "isinst", "volatile.", "constrained.", "readonly.", "unaligned.", "tail.":
	case "dup":
		p := e.pop()
		e.push(p)
		e.push(p)
	case "ldfld", "ldflda":
		e.push(e.pop().then(fieldName(e.md, in.Token())))
	case "ldsfld":
		e.push(staticPath(e.md, in.Token()))
	case "call", "callvirt", "newobj":
		e.call(in, name)
	case "pop", "stsfld", "brtrue", "brfalse", "brtrue.s", "brfalse.s", "switch", "initobj":
		e.pop()
	case "stfld":
		e.pop()
		e.pop()
	case "br", "br.s", "leave", "leave.s", "ret", "throw", "rethrow", "endfinally":
		e.stack = e.stack[:0]
	default:
		e.other(name)
	}
}

// argument pushes an argument of the method that is loaded at an offset.
func (e *evaluator) argument(n int64, at int) {
	if n < 0 || n > maxArgument || e.stored[n] || e.carried(argumentKey(n), at) {
		e.push(nil)
		return
	}
	e.push(&Path{Arg: int(n)})
}

// maxArgument bounds the numbers of arguments.
const maxArgument = 0xffff

// other follows an instruction that does not produce a reference of interest.
func (e *evaluator) other(name string) {
	switch {
	case strings.HasPrefix(name, "ld") && !strings.HasPrefix(name, "ldind") && !strings.HasPrefix(name, "ldelem") && name != "ldlen" && name != "ldobj" && name != "ldvirtftn",
		name == "sizeof":
		e.push(nil)
	case strings.HasPrefix(name, "conv."), strings.HasPrefix(name, "ldind"), name == "ldlen", name == "ldobj", name == "box", name == "unbox", name == "unbox.any", name == "newarr",
		name == "neg", name == "not", name == "ldvirtftn":
		e.replace(1)
	case strings.HasPrefix(name, "ldelem"), name == "ceq", strings.HasPrefix(name, "cgt"), strings.HasPrefix(name, "clt"), name == "and", name == "or", name == "xor",
		strings.HasPrefix(name, "add"), strings.HasPrefix(name, "sub"), strings.HasPrefix(name, "mul"), strings.HasPrefix(name, "div"), strings.HasPrefix(name, "rem"),
		strings.HasPrefix(name, "sh"):
		e.replace(2)
	case strings.HasPrefix(name, "b"): // a comparison that branches
		e.pop()
		e.pop()
	case strings.HasPrefix(name, "stelem"):
		e.pop()
		e.pop()
		e.pop()
	case strings.HasPrefix(name, "stind"), name == "stobj":
		e.pop()
		e.pop()
	default:
		e.stack = e.stack[:0]
	}
}

// call follows a call. The getter of an automatic property counts as its field.
func (e *evaluator) call(in *metadata.Instruction, opcode string) {
	creates := opcode == "newobj"
	sig, err := e.md.MethodSigOf(in.Token())
	if err != nil {
		e.stack = e.stack[:0]
		return
	}
	args := make([]*Path, len(sig.Params))
	for i := range slices.Backward(args) {
		args[i] = e.pop()
	}
	var on *Path
	if sig.Conv.HasThis() {
		if !creates {
			on = e.pop()
		}
		args = slices.Insert(args, 0, on)
	}
	method := MemberName(e.md, in.Token())
	e.calls = append(e.calls, Site{Offset: in.Offset, Token: in.Token(), Method: method, On: on, Args: args, Virtual: opcode == "callvirt", Below: len(e.stack)})
	if creates {
		e.push(nil)
		return
	}
	if sig.Return.Kind == metadata.ElementVoid {
		return
	}
	_, property, getter := strings.Cut(method, ".get_")
	switch field := "<" + property + ">k__BackingField"; {
	case !getter || len(sig.Params) > 0:
		e.push(nil)
	case sig.Conv.HasThis():
		e.push(on.then(field))
	default:
		if class := ownerName(e.md, in.Token()); class != "" {
			e.push(&Path{Class: class, Fields: []string{field}})
			return
		}
		e.push(nil)
	}
}

// Parameters returns the types of the parameters of the method that a token names: the full names of classes and structs, "Int32", "Int64", and empty
// text for others, such as the parameters of generic types.
func Parameters(md *metadata.Metadata, t metadata.Token) ([]string, error) {
	sig, err := md.MethodSigOf(t)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(sig.Params))
	for i := range sig.Params {
		switch p := sig.Params[i].Unmodified(); {
		case p == nil:
		case p.Kind == metadata.ElementI4:
			out[i] = "Int32"
		case p.Kind == metadata.ElementI8:
			out[i] = "Int64"
		case p.Kind == metadata.ElementClass || p.Kind == metadata.ElementValueType:
			if out[i], err = md.TypeFullName(p.Token); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Callee returns the class that declares the method of a call, with its namespace and without type arguments, and the
// row of the method in md if md defines it, else 0.
func Callee(md *metadata.Metadata, t metadata.Token) (class string, row uint32) {
	if t.Table() == metadata.TableMethodSpec {
		s, err := md.MethodSpec(t.Row())
		if err != nil {
			return "", 0
		}
		t = s.Method
	}
	if t.Table() == metadata.TableMethodDef {
		return ownerName(md, t), t.Row()
	}
	if t.Table() != metadata.TableMemberRef {
		return "", 0
	}
	m, err := md.MemberRef(t.Row())
	if err != nil {
		return "", 0
	}
	owner := m.Class
	if owner.Table() == metadata.TableTypeSpec {
		sig, err := md.TypeSpecSig(owner.Row())
		if err != nil {
			return "", 0
		}
		if owner = sig.Token; sig.Elem != nil {
			owner = sig.Elem.Token
		}
	}
	if owner.Row() == 0 {
		return "", 0
	}
	if class, err = md.TypeFullName(owner); err != nil {
		return "", 0
	}
	if owner.Table() == metadata.TableTypeDef {
		row = methodRow(md, owner.Row(), m)
	}
	return class, row
}

// methodRow returns the row of the method of a type that a reference names, or 0: references to methods of generic types are by name and signature.
func methodRow(md *metadata.Metadata, typeDef uint32, ref metadata.MemberRefRow) uint32 {
	rows, err := md.Methods(typeDef)
	if err != nil {
		return 0
	}
	name, err := md.String(ref.Name)
	if err != nil {
		return 0
	}
	want, err := md.Blob(ref.Signature)
	if err != nil {
		return 0
	}
	for row := range rows.All() {
		def, err := md.MethodDef(row)
		if err != nil {
			return 0
		}
		if n, err := md.String(def.Name); err != nil || n != name {
			continue
		}
		if sig, err := md.Blob(def.Signature); err == nil && slices.Equal(sig, want) {
			return row
		}
	}
	return 0
}

// ownerName returns the full name of the class that declares a member, or "" for a generic class.
func ownerName(md *metadata.Metadata, t metadata.Token) string {
	var owner metadata.Token
	switch t.Table() {
	case metadata.TableMemberRef:
		m, err := md.MemberRef(t.Row())
		if err != nil {
			return ""
		}
		owner = m.Class
	case metadata.TableMethodDef:
		row, err := md.MethodOwner(t.Row())
		if err != nil {
			return ""
		}
		owner = metadata.NewToken(metadata.TableTypeDef, row)
	case metadata.TableField:
		row, err := md.FieldOwner(t.Row())
		if err != nil {
			return ""
		}
		owner = metadata.NewToken(metadata.TableTypeDef, row)
	}
	if owner.Row() == 0 || owner.Table() == metadata.TableTypeSpec {
		return ""
	}
	name, err := md.TypeFullName(owner)
	if err != nil {
		return ""
	}
	return name
}

// fieldName returns the name of a field, or "".
func fieldName(md *metadata.Metadata, t metadata.Token) string {
	name := MemberName(md, t)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// staticPath returns the path that begins with a static field, or nil.
func staticPath(md *metadata.Metadata, t metadata.Token) *Path {
	class, field := ownerName(md, t), fieldName(md, t)
	if class == "" || field == "" {
		return nil
	}
	return &Path{Class: class, Fields: []string{field}}
}

// LocalAccess returns the local variable that an instruction loads, stores or takes the address of.
func LocalAccess(in *metadata.Instruction) (local int64, store, ok bool) {
	switch op := in.Opcode; {
	case op >= 0x06 && op <= 0x09: // ldloc.0 to ldloc.3
		return int64(op) - 0x06, false, true
	case op >= 0x0a && op <= 0x0d: // stloc.0 to stloc.3
		return int64(op) - 0x0a, true, true
	case op == 0x11, op == 0x12, op == 0xfe0c, op == 0xfe0d: // ldloc, ldloca
		return in.Int(), false, true
	case op == 0x13, op == 0xfe0e: // stloc
		return in.Int(), true, true
	}
	return 0, false, false
}

// MemberName returns the method or field that an IL token names, with its type and without the namespace. It returns ""
// if the metadata has no such member.
func MemberName(md *metadata.Metadata, t metadata.Token) string {
	var owner metadata.Token
	var index metadata.StringIndex
	switch t.Table() {
	case metadata.TableMethodSpec:
		s, err := md.MethodSpec(t.Row())
		if err != nil || s.Method.Table() == metadata.TableMethodSpec {
			return ""
		}
		return MemberName(md, s.Method)
	case metadata.TableMemberRef:
		m, err := md.MemberRef(t.Row())
		if err != nil {
			return ""
		}
		owner, index = m.Class, m.Name
	case metadata.TableMethodDef:
		m, err := md.MethodDef(t.Row())
		if err != nil {
			return ""
		}
		row, _ := md.MethodOwner(t.Row())
		owner, index = metadata.NewToken(metadata.TableTypeDef, row), m.Name
	case metadata.TableField:
		f, err := md.Field(t.Row())
		if err != nil {
			return ""
		}
		index = f.Name
	}
	name, err := md.String(index)
	if err != nil {
		return ""
	}
	if typ := shortType(md, owner); typ != "" {
		return typ + "." + name
	}
	return "." + name
}

// FieldName returns the field that an IL token names, with its type and without the namespace, or "".
func FieldName(md *metadata.Metadata, t metadata.Token) string {
	name := MemberName(md, t)
	if t.Table() != metadata.TableField || name == "" {
		return name
	}
	row, err := md.FieldOwner(t.Row())
	if err != nil {
		return ""
	}
	return shortType(md, metadata.NewToken(metadata.TableTypeDef, row)) + name
}

// shortType returns a type's name without its namespace, or "" if it is unknown.
func shortType(md *metadata.Metadata, t metadata.Token) string {
	if t.Table() == metadata.TableTypeSpec {
		sig, err := md.TypeSpecSig(t.Row())
		if err != nil {
			return ""
		}
		if t = sig.Token; sig.Elem != nil {
			t = sig.Elem.Token
		}
	}
	if t.Row() == 0 {
		return ""
	}
	full, err := md.TypeFullName(t)
	if err != nil {
		return ""
	}
	if i := strings.LastIndexAny(full, ".+"); i >= 0 {
		full = full[i+1:]
	}
	full, _, _ = strings.Cut(full, "`")
	return full
}
