package tasks

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Call is a call in the code of a suspended async method.
type Call struct {
	Method string      // the called method with its type, without the namespace: "SemaphoreSlim.WaitAsync"
	Object target.Addr // the receiver; 0 if the code does not show it
	First  target.Addr // the object that the first argument of a static method refers to; 0 if the code does not show it
	Awaits bool        // the method now awaits its result
	Offset int         // in the IL of the method
	// Through is the method of the program that the code calls, if that method makes the call and does nothing else: "Gate.EnterAsync"
	// for Task EnterAsync() => semaphore.WaitAsync(). It is empty for a call of the code itself.
	Through string
	// Releaser reports that Through returns an object, or creates one, that may end what it has begun: the result of LockAsync is disposed.
	Releaser bool
	// Unknown reports that the call invokes a delegate which the code does not show. It may run any method.
	Unknown bool
}

// A Suspended is an async method that is suspended at an await or about to resume.
type Suspended struct {
	Object target.Addr // the task or the box
	Name   answer.Text // the method
	State  int32
	Place  *answer.AsyncPlace
	// Calls are the calls before the present await, in code order, which may differ from execution order.
	Calls []Call
	Later []Call      // the calls after the present await, in code order
	This  target.Addr // the receiver; 0 if the method is static or it is unknown
	Err   error       // why Calls are unknown
	// Behind reports that another method or task that has not completed continues it: its call has not returned yet.
	Behind bool
}

// Suspended iterates over the suspended methods by address, and over the waiting F# asyncs, which have unknown calls.
// Calls and Later hold the calls that wanted or besides selects, and invocations of unknown delegates. Methods without a call that wanted selects
// are left out, unless they invoke delegates or their code can't be read. besides may be nil.
// Each value is valid until the next. The error is ctx's.
func (s *Set) Suspended(ctx context.Context, wanted, besides func(method string) bool) iter.Seq2[*Suspended, error] {
	return func(yield func(*Suspended, error) bool) {
		if s == nil || s.r == nil {
			return
		}
		sel := callSelection{wanted, besides, map[*machine][]ilcalls.Site{}}
		for i := range s.items {
			it := &s.items[i]
			if it.kind.computes() && !it.completed() {
				if !yield(s.r.computing(it), nil) {
					return
				}
				continue
			}
			if it.completed() || !it.hasState || it.state == -1 || it.state == -2 {
				continue // it runs or has ended
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			out := Suspended{Object: it.addr, State: it.state, Behind: s.behind()[i]}
			x, m, err := s.r.machineOf(it.kind, it.addr)
			if err != nil {
				out.Err = err
			} else if !s.r.passed(&out, m, x, &sel) {
				continue
			}
			if !yield(&out, nil) {
				return
			}
		}
	}
}

// behind returns, by item, whether an item that has not completed continues it.
func (s *Set) behind() []bool {
	s.continued.Do(func() {
		s.isBehind = make([]bool, len(s.items))
		for i := range s.items {
			if s.items[i].completed() {
				continue
			}
			for _, e := range s.next(int32(i)) {
				if e.to >= 0 && e.to != int32(i) {
					s.isBehind[e.to] = true
				}
			}
		}
	})
	return s.isBehind
}

// passed adds the selected calls before the present await. It reports whether calls were added or are unknown.
func (r *Reader) passed(out *Suspended, m *machine, x objects.Instance, sel *callSelection) bool {
	all, err := m.calls(r)
	if err != nil {
		out.Err = err
	}
	list := sel.of(m, all)
	wanted := slices.ContainsFunc(list, func(c ilcalls.Site) bool { return !c.Invokes })
	if err == nil && len(list) == 0 {
		return false
	}
	name, err := m.methodName()
	out.Name = answer.Text{S: name, Err: err}
	out.Place = m.place(r, out.State, true)
	if fields, err := m.layout(); err == nil {
		for _, v := range fields.locals {
			if v.kind == answer.AsyncThis {
				out.This = r.evaluate(m, x, &ilcalls.Path{Fields: []string{v.field.Name}})
			}
		}
	}
	if out.Err != nil {
		return true
	}
	sites, err := m.sites(r)
	site, ok := sites[out.State]
	if !ok && out.State == firstYield+1 {
		site.il, ok = -1, true
	}
	if err == nil && !ok {
		err = target.Unsupportedf("the code of %s has no await of state %d", name, out.State)
	}
	if err != nil {
		out.Err = err
		return wanted // what delegates run is rarely a lock's
	}
	for i := range list {
		s := &list[i]
		last := s.Offset <= site.il && !slices.ContainsFunc(list[i+1:], func(next ilcalls.Site) bool { return next.Offset > s.Offset && next.Offset <= site.il })
		for _, c := range r.resolved(s, m.typ, x) {
			c.Offset = s.Offset
			switch {
			case !c.Unknown && !sel.selects(c.Method):
			case s.Offset > site.il:
				out.Later = append(out.Later, c)
			default:
				c.Awaits = last && property(cmp.Or(c.Through, c.Method)) == site.callee
				out.Calls = append(out.Calls, c)
			}
		}
	}
	return true
}

// A callSelection selects calls of state machines.
type callSelection struct {
	wanted, besides func(method string) bool
	known           map[*machine][]ilcalls.Site
}

// selects reports whether calls of a method are selected.
func (s *callSelection) selects(method string) bool {
	return s.wanted(method) || s.besides != nil && s.besides(method)
}

// of returns the selected calls of a state machine, and nothing if wanted selects none.
func (s *callSelection) of(m *machine, all []ilcalls.Site) []ilcalls.Site {
	list, known := s.known[m]
	if known {
		return list
	}
	if slices.ContainsFunc(all, func(c ilcalls.Site) bool { return c.Invokes || s.wanted(c.Method) }) {
		for _, c := range all {
			if c.Invokes || s.selects(c.Method) {
				list = append(list, c)
			}
		}
	}
	s.known[m] = list
	return list
}

// CallsOf returns the methods that md's IL calls, directly or by a wrapper, each with its type and without the namespace.
func (r *Reader) CallsOf(md *dac.MethodDesc) ([]string, error) {
	if r == nil || r.code == nil || md == nil {
		return nil, target.Unsupportedf("no method")
	}
	sites, err := r.callSites(md)
	var out []string
	for i := range sites {
		if !slices.Contains(out, sites[i].Method) {
			out = append(out, sites[i].Method)
		}
	}
	return out, err
}

// An Around has the calls in a method around an instruction, in code order.
type Around struct{ Before, Later []Call }

// A Receiver is the object, or the struct in place, on which a method was called. The zero Receiver is unknown.
type Receiver struct {
	Class *objects.Type
	At    objects.Instance
	// Argument returns the object that an argument of the method refers to, or 0. Number 0 is the first of a static method. It may be nil.
	Argument func(number int) target.Addr
}

// ReceiverOf returns o as the Receiver of a method.
func ReceiverOf(o objects.Object) Receiver { return Receiver{Class: o.Type, At: objects.InstanceOf(o)} }

// CallsAround returns the calls in md's IL before the instruction at il, and those from there on. this is the receiver of
// md, zero if it is unknown or md is static.
func (r *Reader) CallsAround(md *dac.MethodDesc, il int, this Receiver) (*Around, error) {
	if r == nil || r.code == nil || md == nil {
		return nil, target.Unsupportedf("no method")
	}
	sites, err := r.callSites(md)
	if err != nil {
		return nil, err
	}
	if md.IsStatic() {
		this.Class, this.At = nil, 0 // the first argument is another object
	}
	out := &Around{}
	for i := range sites {
		calls := r.resolved(&sites[i], this.Class, this.At)
		if p := objectOf(&sites[i]); len(calls) == 1 && calls[0].Object == 0 && this.Argument != nil && p != nil && p.Class == "" && len(p.Fields) == 0 {
			calls[0].Object = this.Argument(p.Arg)
		}
		for k := range calls {
			calls[k].Offset = sites[i].Offset
		}
		if sites[i].Offset < il {
			out.Before = append(out.Before, calls...)
		} else {
			out.Later = append(out.Later, calls...)
		}
	}
	return out, nil
}

// CalledAt returns the method, with its type and without the namespace, that md's IL calls at an offset, and the types of its parameters. One without a
// name is empty text. method is "" if there is no call. If class is not "", accessors of properties of other classes before a call of that class are skipped:
// they stand in the same statement, as gate.Signal.WaitOne(). So are calls of the methods skipped.
func (r *Reader) CalledAt(md *dac.MethodDesc, il int, class string, skipped ...string) (method string, parameters []string, err error) {
	if r == nil || r.code == nil || md == nil {
		return "", nil, target.Unsupportedf("no method")
	}
	meta, err := md.Metadata()
	if err != nil {
		return "", nil, err
	}
	sites, err := r.callSites(md)
	i := slices.IndexFunc(sites, func(s ilcalls.Site) bool { return s.Offset >= il })
	if err != nil || i < 0 {
		return "", nil, err
	}
	for n := i; class != "" && n < len(sites); n++ {
		if strings.HasPrefix(sites[n].Method, class+".") {
			i = n
			break
		}
		if !strings.HasPrefix(nameOf(sites[n].Method), "get_") && !slices.Contains(skipped, sites[n].Method) {
			break
		}
	}
	parameters, err = ilcalls.Parameters(meta, sites[i].Token)
	return sites[i].Method, parameters, err
}

// A machineCalls caches the calls in the code of a state machine.
type machineCalls = lazy.Value[[]ilcalls.Site]

// calls returns the calls in the code of the state machine.
func (m *machine) calls(r *Reader) ([]ilcalls.Site, error) {
	return m.called.Get(func() ([]ilcalls.Site, error) {
		md, err := m.moveNext()
		if err != nil {
			return nil, err
		}
		return r.callSites(md)
	})
}

// callSites returns the calls in the IL of a method, and the calls that wrappers make for it.
func (r *Reader) callSites(md *dac.MethodDesc) ([]ilcalls.Site, error) {
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
	sites, err := ilcalls.Of(meta, body.Code)
	return r.withWrappers(md, meta, sites), err
}

// An AwaitPoint is the present await of a suspended async method in its IL.
type AwaitPoint struct {
	Method string // the async method
	Code   []byte
	// Clauses are the protected blocks of Code.
	Clauses []metadata.Clause
	At      int                         // where the method stores the number of the await
	Awaits  []int                       // where it stores the numbers of all awaits
	Member  func(metadata.Token) string // names a called method
}

// AwaitOf returns where the suspended async method at a stands, one value for each await. It is nil for other tasks, such as Task.WhenAll's.
func (r *Reader) AwaitOf(a target.Addr) (*AwaitPoint, error) {
	k, err := r.kindOf(a)
	if err != nil || !k.async() {
		return nil, err
	}
	x, m, err := r.machineOf(k, a)
	if err != nil {
		return nil, err
	}
	state, has, err := m.state(x)
	if err != nil {
		return nil, err
	}
	sites, err := m.sites(r)
	site, ok := sites[state]
	if err == nil && !(has && ok) {
		err = target.Unsupportedf("no await of state %d", state)
	}
	if err != nil {
		return nil, err
	}
	if p, ok := m.points.Load(state); ok {
		return p.(*AwaitPoint), nil
	}
	p, err := r.awaitPoint(m, sites, site)
	if err != nil {
		return nil, err
	}
	known, _ := m.points.LoadOrStore(state, p)
	return known.(*AwaitPoint), nil
}

func (r *Reader) awaitPoint(m *machine, sites map[int32]awaitSite, at awaitSite) (*AwaitPoint, error) {
	md, err := m.moveNext()
	if err != nil {
		return nil, err
	}
	meta, err := md.Metadata()
	if err != nil {
		return nil, err
	}
	body, err := r.code.IL(md)
	if err != nil {
		return nil, err
	}
	method, err := m.methodName()
	out := &AwaitPoint{Method: method, Code: body.Code, Clauses: body.Clauses, At: at.il, Member: func(t metadata.Token) string { return ilcalls.MemberName(meta, t) }}
	for state, s := range sites {
		if state >= 0 {
			out.Awaits = append(out.Awaits, s.il)
		}
	}
	return out, err
}

// evaluate returns the object to which a path from a state machine now leads, or 0.
func (r *Reader) evaluate(m *machine, x objects.Instance, p *ilcalls.Path) target.Addr {
	return r.follow(m.typ, x, p)
}

// follow returns the object to which a path now leads, or 0. Its fields begin at a static field, or in the instance of type
// class at at.
func (r *Reader) follow(class *objects.Type, at objects.Instance, p *ilcalls.Path) target.Addr {
	if p == nil || len(p.Fields) == 0 || p.Arg != 0 {
		return 0
	}
	var v objects.Value
	if p.Class != "" {
		f := r.staticField(p.Class, p.Fields[0])
		if f == nil {
			return 0
		}
		v = f.StaticValue().Value
	} else {
		if at == 0 {
			return 0
		}
		f := instanceField(class, p.Fields[0])
		if f == nil {
			return 0
		}
		v = f.At(target.Addr(at))
	}
	for _, name := range p.Fields[1:] {
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

// memberOf returns a field of an object or struct.
func memberOf(v objects.Value, name string) objects.Value {
	if v.Kind() == objects.KindReference {
		o, err := v.Object()
		if err != nil || o.Addr == 0 {
			return (*objects.Field)(nil).At(0)
		}
		f := instanceField(o.Type, name)
		if f == nil {
			f = propertyField(o.Type, name)
		}
		if f != nil {
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

// propertyField returns the field that the property with a backing field of this name returns in a class of a library, or nil: such properties without
// a field that the compiler made have one of their own name.
func propertyField(t *objects.Type, backing string) *objects.Field {
	property, ok := strings.CutSuffix(strings.TrimPrefix(backing, "<"), ">k__BackingField")
	class, err := t.ManagedName()
	if !ok || property == "" || err != nil || !answer.LibraryMethod(class+".") {
		return nil
	}
	return instanceField(t, "_"+strings.ToLower(property[:1])+property[1:])
}

// instanceField returns a field of a type or its bases, or nil.
func instanceField(t *objects.Type, name string) *objects.Field {
	fields, _ := t.Fields() // unreadable fields are not found
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
		list, _ := t.Statics() // unreadable fields are not found
		for _, f := range list {
			if f.Name == field && !f.Thread {
				out = f
			}
		}
	}
	r.statics.Store(key, out)
	return out
}

// An AsyncType is a type of async method boxes or tasks.
type AsyncType struct {
	r *Reader
	k *kind
}

// AsyncType returns the AsyncType of mt, or nil if mt is another type or unreadable.
func (r *Reader) AsyncType(mt *dac.MethodTable) *AsyncType {
	if r == nil || r.r == nil || mt == nil {
		return nil
	}
	if k := r.kindAt(mt.Addr); k.err == nil && k.async() {
		return &AsyncType{r, k}
	}
	return nil
}

// Suspended reports whether the object at a has not completed, or could not be read.
func (t *AsyncType) Suspended(a target.Addr) bool {
	if t == nil || t.k == nil || t.k.task == nil {
		return true
	}
	flags, err := t.k.task.Flags.Uint(objects.InstanceAt(a))
	return err != nil || !Flags(flags).Completed()
}
