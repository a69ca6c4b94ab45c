package tasks

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/compilernames"
	"github.com/sosgo/sosgo/internal/lazy"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// A Call is a call in the code of a suspended async method.
type Call struct {
	Method string      // the method that is called, with its type but without the namespace: "SemaphoreSlim.WaitAsync"
	Object target.Addr // the object that it is called on; 0 if the code does not show it
	Awaits bool        // its result is what the method awaits at present
}

// A Suspended is an async method that is suspended at an await, or is about to go on after one.
type Suspended struct {
	Object target.Addr // the task or the box
	Name   answer.Text // the method
	State  int32
	Place  *answer.AsyncPlace
	// Calls are those before the present await, in the order of the code, which is not always that of execution.
	Calls []Call
	Later []string    // the methods of the calls that follow the present await in the code
	This  target.Addr // the object whose method it is, 0 for a static method or if it is not known
	Err   error       // why Calls are unknown
}

// Suspended iterates over the suspended methods by address. Calls are the calls of methods that wanted selects; methods without such
// calls are left out, unless their code can't be read. Each value is valid until the next. The error is ctx's.
func (s *Set) Suspended(ctx context.Context, wanted func(method string) bool) iter.Seq2[*Suspended, error] {
	return func(yield func(*Suspended, error) bool) {
		if s == nil || s.r == nil {
			return
		}
		selected := map[*machine][]callSite{}
		for i := range s.items {
			it := &s.items[i]
			if it.completed() || !it.hasState || it.state == -1 || it.state == -2 {
				continue // it runs, or has ended
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			out := Suspended{Object: it.addr, State: it.state}
			x, m, err := s.r.machineOf(it.kind, it.addr)
			if err != nil {
				out.Err = err
			} else if !s.r.passed(&out, m, x, selected, wanted) {
				continue
			}
			if !yield(&out, nil) {
				return
			}
		}
	}
}

// passed adds the calls before the present await, and reports whether there are some or they are unknown.
func (r *Reader) passed(out *Suspended, m *machine, x shapes.Instance, selected map[*machine][]callSite, wanted func(string) bool) bool {
	all, err := m.calls(r)
	if err != nil {
		out.Err = err
	}
	list, known := selected[m]
	if !known {
		for _, c := range all {
			if wanted(c.method) {
				list = append(list, c)
			}
		}
		selected[m] = list
	}
	if err == nil && len(list) == 0 {
		return false
	}
	name, err := m.methodName()
	out.Name = answer.Text{S: name, Err: err}
	out.Place = m.place(r, out.State, true)
	if fields, err := m.layout(); err == nil {
		for _, v := range fields.locals {
			if v.kind == compilernames.This {
				out.This = r.evaluate(m, x, &path{fields: []string{v.field.Name}})
			}
		}
	}
	if out.Err != nil {
		return true
	}
	sites, err := m.sites(r)
	site, ok := sites[out.State]
	if err == nil && !ok { // an iterator stands at a yield
		err = target.Unsupportedf("the code of %s has no await of state %d", name, out.State)
	}
	if err != nil {
		out.Err = err
		return true
	}
	for i := range list {
		c := &list[i]
		if c.il > site.il {
			out.Later = append(out.Later, c.method)
			continue
		}
		call := Call{Method: c.method, Object: r.evaluate(m, x, c.on)}
		last := i+1 == len(list) || list[i+1].il > site.il
		call.Awaits = last && property(c.method) == site.callee
		out.Calls = append(out.Calls, call)
	}
	return true
}

// CallsOf returns the methods that the IL of a method calls, each with its type but without the namespace.
func (r *Reader) CallsOf(md *code.MethodDesc) ([]string, error) {
	if r == nil || r.code == nil || md == nil {
		return nil, target.Unsupportedf("no method")
	}
	sites, err := r.callSites(md)
	var out []string
	for i := range sites {
		if !slices.Contains(out, sites[i].method) {
			out = append(out, sites[i].method)
		}
	}
	return out, err
}

// A callSite is a call in IL.
type callSite struct {
	il     int
	method string
	on     *path // nil if the receiver is unknown
}

// A path leads to an object: a static field, or a field of a state machine, and the fields from there on.
type path struct {
	class  string   // the class of the static field; empty for the state machine
	fields []string // "<X>k__BackingField" for an automatic property X
}

// then returns the path with one more field.
func (p *path) then(field string) *path {
	if p == nil || len(p.fields) == maxPathFields || field == "" {
		return nil
	}
	return &path{class: p.class, fields: append(slices.Clip(p.fields), field)}
}

// maxPathFields bounds the fields of a path.
const maxPathFields = 8

// A machineCalls caches the calls in the code of a state machine.
type machineCalls = lazy.Value[[]callSite]

// calls returns the calls in the code of the state machine.
func (m *machine) calls(r *Reader) ([]callSite, error) {
	return m.called.Get(func() ([]callSite, error) {
		md, err := m.moveNext()
		if err != nil {
			return nil, err
		}
		return r.callSites(md)
	})
}

// callSites returns the calls in the IL of a method.
func (r *Reader) callSites(md *code.MethodDesc) ([]callSite, error) {
	if err := r.code.ILReplaced(md); err != nil {
		return nil, err
	}
	body, err := r.code.IL(md)
	if err != nil {
		return nil, err
	}
	meta, err := md.Metadata()
	if err != nil {
		return nil, err
	}
	e := evaluator{md: meta, locals: map[int64]*path{}}
	err = e.run(body.Code)
	return e.calls, err
}

// An evaluator follows references through straight IL. What it does not understand is an unknown reference.
type evaluator struct {
	md     *metadata.Metadata
	stack  []*path
	locals map[int64]*path
	calls  []callSite
}

func (e *evaluator) push(p *path) {
	if len(e.stack) == maxILStack {
		e.stack = e.stack[:0]
	}
	e.stack = append(e.stack, p)
}

// maxILStack bounds the depth of the evaluation stack.
const maxILStack = 256

func (e *evaluator) pop() *path {
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

func (e *evaluator) run(il []byte) error {
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
	if n, store, ok := localAccess(in); ok {
		switch {
		case store:
			e.locals[n] = e.pop()
		default:
			e.push(e.locals[n])
		}
		return
	}
	switch name := in.Opcode.String(); name {
	case "ldarg.0":
		e.push(&path{})
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
		e.call(in, name == "newobj")
	case "pop", "stsfld", "brtrue", "brfalse", "brtrue.s", "brfalse.s", "switch", "starg", "starg.s", "initobj":
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

// other follows an instruction that makes no reference that is looked for.
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

// call follows a call. The getter of an automatic property is its field.
func (e *evaluator) call(in *metadata.Instruction, creates bool) {
	sig, err := methodSig(e.md, in.Token())
	if err != nil {
		e.stack = e.stack[:0]
		return
	}
	for range sig.Params {
		e.pop()
	}
	if creates {
		e.push(nil)
		return
	}
	var on *path
	if sig.Conv.HasThis() {
		on = e.pop()
	}
	method := memberName(e.md, in.Token())
	e.calls = append(e.calls, callSite{il: in.Offset, method: method, on: on})
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
			e.push(&path{class: class, fields: []string{field}})
			return
		}
		e.push(nil)
	}
}

// methodSig returns the signature of the method that a token names.
func methodSig(md *metadata.Metadata, t metadata.Token) (metadata.MethodSig, error) {
	if t.Table() == metadata.TableMethodSpec {
		s, err := md.MethodSpec(t.Row())
		if err != nil {
			return metadata.MethodSig{}, err
		}
		t = s.Method
	}
	switch t.Table() {
	case metadata.TableMemberRef:
		m, err := md.MemberRef(t.Row())
		if err != nil {
			return metadata.MethodSig{}, err
		}
		return md.MethodSig(m.Signature)
	case metadata.TableMethodDef:
		m, err := md.MethodDef(t.Row())
		if err != nil {
			return metadata.MethodSig{}, err
		}
		return md.MethodSig(m.Signature)
	}
	return metadata.MethodSig{}, target.Unsupportedf("token %v names no method", t)
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
	name := memberName(md, t)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// staticPath returns the path that begins with a static field, or nil.
func staticPath(md *metadata.Metadata, t metadata.Token) *path {
	class, field := ownerName(md, t), fieldName(md, t)
	if class == "" || field == "" {
		return nil
	}
	return &path{class: class, fields: []string{field}}
}

// evaluate returns the object to which a path leads at present, or 0.
func (r *Reader) evaluate(m *machine, x shapes.Instance, p *path) target.Addr {
	if p == nil || len(p.fields) == 0 {
		return 0
	}
	var v objects.Value
	if p.class != "" {
		f := r.staticField(p.class, p.fields[0])
		if f == nil {
			return 0
		}
		v = f.StaticValue().Value
	} else {
		f := instanceField(m.typ, p.fields[0])
		if f == nil {
			return 0
		}
		v = f.At(target.Addr(x))
	}
	for _, name := range p.fields[1:] {
		if v = memberOf(v, name); v.Err() != nil {
			return 0
		}
	}
	if v.Kind() != objects.KindReference {
		return 0
	}
	a, err := v.Addr()
	if err != nil {
		return 0
	}
	return a
}

// memberOf returns a field of an object or a struct.
func memberOf(v objects.Value, name string) objects.Value {
	if v.Kind() == objects.KindReference {
		o, err := v.Object()
		if err != nil || o.Addr == 0 {
			return (*objects.Field)(nil).At(0)
		}
		if f := instanceField(o.Type, name); f != nil {
			return o.Value(f)
		}
		return (*objects.Field)(nil).At(0)
	}
	s, err := v.Struct()
	if err != nil {
		return (*objects.Field)(nil).At(0)
	}
	if f := instanceField(s.Type, name); f != nil {
		return f.At(s.Addr)
	}
	return (*objects.Field)(nil).At(0)
}

// instanceField returns a field of a type or its bases, or nil.
func instanceField(t *objects.Type, name string) *objects.Field {
	fields, _ := t.Fields() // one that can't be read is not found
	for _, f := range slices.Backward(fields) {
		if !f.Static && f.Name == name {
			return f
		}
	}
	return nil
}

// staticField returns a static field of a class that is not generic, or nil if the class is not loaded.
func (r *Reader) staticField(class, field string) *objects.Field {
	key := class + "." + field
	if f, ok := r.statics.Load(key); ok {
		return f.(*objects.Field)
	}
	var out *objects.Field
	for t, err := range r.r.TypeByName(class, "") {
		if err != nil || out != nil {
			break
		}
		list, _ := t.Statics() // one that can't be read is not found
		for _, f := range list {
			if f.Name == field && !f.Thread {
				out = f
			}
		}
	}
	r.statics.Store(key, out)
	return out
}

// An AsyncType is a type whose objects are suspended async methods.
type AsyncType struct {
	r *Reader
	k *kind
}

// AsyncType returns the AsyncType of a type, or nil if its objects are no async methods, or it can't be read.
func (r *Reader) AsyncType(mt *dac.MethodTable) *AsyncType {
	if r == nil || r.r == nil || mt == nil {
		return nil
	}
	if k := r.kindAt(mt.Addr); k.err == nil && k.async() {
		return &AsyncType{r, k}
	}
	return nil
}

// Suspended reports whether the object at a has not completed. It reports true if that can't be read.
func (t *AsyncType) Suspended(a target.Addr) bool {
	if t == nil || t.k == nil || t.k.task == nil {
		return true
	}
	flags, err := t.k.task.Flags.Uint(shapes.OfAddr(a))
	return err != nil || !Flags(flags).Completed()
}
