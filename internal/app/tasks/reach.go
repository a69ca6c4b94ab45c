package tasks

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Bounds of the code and of the objects that one search reads.
const (
	maxProgramIL = 64 << 20 // bytes
	maxReceivers = 1 << 20  // objects of one class
)

// A programMethod is a method of the program, by its row in the table MethodDef of its module.
type programMethod struct {
	module target.Addr
	row    uint32
}

// A program has, for all methods of the program's modules, which others their IL names: it calls them, or takes their addresses.
// Methods are named with their types and without namespaces. Equal names of several methods stand for all of them.
type program struct {
	modules map[target.Addr]*dac.Module
	named   map[string][]programMethod // the methods that have a name
	callers map[string][]programMethod // the methods whose IL has a name
	bare    map[string][]string        // the names in IL, by the name without the type
	pointed map[string]bool            // the methods that the program takes the address of, not for a delegate
	stores  map[string][]programMethod // the methods that store in a field, or take its address
	callees sync.Map                   // programMethod -> *callee, of those that searches have come to
}

// A callee is what all searches need to know of a method to find who may call it.
type callee struct {
	module  *metadata.Metadata
	owner   uint32 // the row of its class
	name    string
	bare    string // the name without the type
	starts  string // the method that starts the state machine, if this is its MoveNext, or ""
	boxed   bool   // it belongs to an async method: its box shows whether it goes on
	static  bool
	virtual bool
	open    bool // code outside of the program may call it
	unnamed bool // nothing in the program names it
}

// readProgram reads the IL of the program's modules. What can't be read may call anything, so that it is an error.
func (r *Reader) readProgram() (*program, error) {
	modules, err := r.code.Runtime().KnownModules()
	if err != nil {
		return nil, err
	}
	p := &program{modules: map[target.Addr]*dac.Module{}, named: map[string][]programMethod{}, callers: map[string][]programMethod{}, bare: map[string][]string{},
		pointed: map[string]bool{}, stores: map[string][]programMethod{}}
	size := 0
	for _, m := range modules {
		if name, err := m.SimpleName(); err == nil && answer.LibraryMethod(name+".") {
			continue
		}
		if err := p.add(r.code, m, &size); err != nil {
			return nil, err
		}
	}
	for name := range p.callers {
		p.bare[nameOf(name)] = append(p.bare[nameOf(name)], name)
	}
	return p, nil
}

// add reads the methods of a module. size counts the bytes of IL.
func (p *program) add(code *dac.CodeReader, m *dac.Module, size *int) error {
	md, err := m.Metadata()
	if err != nil {
		return err
	}
	p.modules[m.Addr] = m
	names := map[metadata.Token]string{}
	for row := uint32(1); row <= md.RowCount(metadata.TableMethodDef); row++ {
		at := programMethod{m.Addr, row}
		own := ilcalls.MemberName(md, metadata.NewToken(metadata.TableMethodDef, row))
		p.named[own] = append(p.named[own], at)
		body, err := code.ILOf(m, row)
		if errors.Is(err, dac.ErrNoIL) {
			continue
		}
		if err != nil {
			return err
		}
		if *size += len(body.Code); *size > maxProgramIL {
			return target.Unsupportedf("a program with more than %d bytes of IL", maxProgramIL)
		}
		pointed := "" // the method that the instruction before takes the address of
		for in, err := range metadata.Instructions(body.Code) {
			if err != nil {
				return err
			}
			op := in.Opcode.String()
			if pointed != "" && op != "newobj" {
				p.pointed[pointed] = true
			}
			pointed = ""
			if op == "stfld" || op == "ldflda" {
				name := ilcalls.FieldName(md, in.Token())
				if list := p.stores[name]; len(list) == 0 || list[len(list)-1] != at {
					p.stores[name] = append(list, at)
				}
			}
			if in.Kind != metadata.OperandMethod && in.Kind != metadata.OperandToken {
				continue
			}
			name, ok := names[in.Token()]
			if !ok {
				name = ilcalls.MemberName(md, in.Token())
				names[in.Token()] = name
			}
			if op == "ldftn" || op == "ldvirtftn" {
				pointed = name
			}
			if list := p.callers[name]; name != "" && (len(list) == 0 || list[len(list)-1] != at) {
				p.callers[name] = append(list, at)
			}
		}
	}
	return nil
}

// A Sought selects calls by their methods, each with its type and without the namespace. on is the object of the call, its receiver or its first
// argument, or 0 if any object will do.
type Sought func(method string) (on target.Addr, ok bool)

// Leads has the methods of the program that lead to calls which are sought, by the calls in their IL and by delegates that they make.
type Leads struct {
	r      *Reader
	sought Sought
	except func(*metadata.Metadata, []byte) bool
	// Calls counts the methods with such a call.
	Calls int
	// Open reports that code outside of the program may call one of the methods without a delegate: it takes the place of a method of a library, is marked
	// by an attribute, or has its address taken for native code.
	Open bool
	// Unnamed reports that nothing in the program names one of the methods, and that an object with it exists. Only reflection calls such a method.
	Unnamed bool
	// Objects reports that there is such an object. Code that has it may call the method without naming its class.
	Objects bool
	direct  []programMethod        // those with such a call
	sure    int                    // how many of direct, the first, have one for the object that is sought, as far as the code shows it
	led     map[programMethod]bool // those that lead to these
	methods map[programMethod]bool
	own     map[programMethod]bool // the methods that lead there only by an object which the object they are called on has made for itself
	names   map[string]bool        // the names of methods
	virtual map[string]bool        // the names of virtual methods, without their types
	// followed has the keys of the lists of callers that lead on, each of them. Many methods have the same callers: overloads, and virtual ones.
	followed map[string]bool
}

// entryNames are the names of the method that the host calls.
var entryNames = []string{"Main", "<Main>", "<Main>$"}

// Leads returns the methods that lead to calls which are sought, but for calls in methods with IL that except selects. The error is set if code can't be
// read that may. except may be nil.
func (r *Reader) Leads(ctx context.Context, h *heap.Heap, sought Sought, except func(*metadata.Metadata, []byte) bool) (*Leads, error) {
	if r == nil || r.code == nil {
		return nil, target.Unsupportedf("no methods")
	}
	p, err := r.program.Get(r.readProgram)
	if err != nil {
		return nil, err
	}
	l := &Leads{r: r, sought: sought, except: except, methods: map[programMethod]bool{}, own: map[programMethod]bool{}, names: map[string]bool{}, virtual: map[string]bool{},
		followed: map[string]bool{}}
	var perhaps []programMethod
	for name, list := range p.callers {
		if _, ok := sought(name); !ok {
			continue
		}
		for _, m := range list {
			match, err := l.calls(ctx, h, p, m)
			switch {
			case err != nil:
				return nil, err
			case match == callsIt && !slices.Contains(l.direct, m):
				l.direct = append(l.direct, m)
			case match == mayCall:
				perhaps = append(perhaps, m)
			}
		}
	}
	l.sure = len(l.direct)
	if err := l.follow(ctx, h, p, l.direct); err != nil {
		return nil, err
	}
	l.led = maps.Clone(l.methods)
	for _, m := range perhaps {
		if !slices.Contains(l.direct, m) {
			l.direct = append(l.direct, m)
		}
	}
	l.Calls = len(l.direct)
	return l, l.follow(ctx, h, p, l.direct[l.sure:])
}

// follow adds methods with such a call and all that lead to them.
func (l *Leads) follow(ctx context.Context, h *heap.Heap, p *program, list []programMethod) error {
	var todo []programMethod
	add := func(m programMethod, own bool) {
		if known := l.methods[m]; !known || l.own[m] && !own {
			l.methods[m], l.own[m] = true, own
			todo = append(todo, m)
		}
	}
	for _, m := range list {
		own, err := l.callsOwn(p, m)
		if err != nil {
			return err
		}
		add(m, own)
	}
	for len(todo) > 0 && ctx.Err() == nil {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := l.callers(ctx, h, p, m, func(key string, list []programMethod) error {
			each := l.own[m] // who calls it decides whether it leads on
			if each {
				c, err := p.callee(m)
				if err != nil {
					return err
				}
				each = !l.virtual[c.bare]
			}
			if !each {
				if l.followed[key] {
					return nil
				}
				l.followed[key] = true
			}
			for _, c := range list {
				leads, own := true, false
				if each {
					var err error
					if leads, own, err = l.calledBy(p, m, c); err != nil {
						return err
					}
				}
				if leads {
					add(c, own)
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// callee describes a method of the program.
func (p *program) callee(m programMethod) (*callee, error) {
	if known, ok := p.callees.Load(m); ok {
		return known.(*callee), nil
	}
	md, err := p.modules[m.module].Metadata()
	if err != nil {
		return nil, err
	}
	def, err := md.MethodDef(m.row)
	if err != nil {
		return nil, err
	}
	owner, err := md.MethodOwner(m.row)
	if err != nil {
		return nil, err
	}
	c := &callee{module: md, owner: owner, name: ilcalls.MemberName(md, metadata.NewToken(metadata.TableMethodDef, m.row)),
		static: def.Flags&methodStatic != 0, virtual: def.Flags&methodVirtual != 0}
	c.bare = nameOf(c.name)
	if c.starts = startsMachine(md, owner, c.name); c.starts != "" {
		c.boxed = implements(md, owner, "System.Runtime.CompilerServices.IAsyncStateMachine")
	} else {
		c.open = p.pointed[c.name] || marked(md, m.row) ||
			c.virtual && (ofLibrary(md, owner) || slices.Contains([]string{"Finalize", "ToString", "Equals", "GetHashCode"}, c.bare))
		called := len(p.callers[c.name]) > 0 || c.virtual && len(p.bare[c.bare]) > 0
		c.unnamed = !called && !(c.static && slices.Contains(entryNames, c.bare)) && !(def.Flags&methodAccess == methodPrivate && !c.virtual)
	}
	p.callees.Store(m, c)
	return c, nil
}

// callers calls yield with lists of the methods that may call m, each with the same key for the same list. It sets Open and Unnamed if code outside of the
// program may call m.
func (l *Leads) callers(ctx context.Context, h *heap.Heap, p *program, m programMethod, yield func(key string, list []programMethod) error) error {
	c, err := p.callee(m)
	if err != nil {
		return err
	}
	l.names[c.name] = true
	if c.starts != "" {
		list := p.named[c.starts]
		open := len(list) == 0
		if !open && !c.boxed {
			if open, err = l.exists(ctx, h, c); err != nil {
				return err
			}
		}
		l.Open = l.Open || open
		return yield("starts "+c.starts, list)
	}
	if c.bare == "cctor" {
		l.Open = l.Open || !l.r.initialised(c.module, c.owner)
		return yield(c.name, p.callers[c.name])
	}
	if c.virtual {
		l.virtual[c.bare] = true
	}
	if err := yield(c.name, p.callers[c.name]); err != nil {
		return err
	}
	if c.virtual && !l.followed["any "+c.bare] { // each of the callers leads on, see calledBy
		l.followed["any "+c.bare] = true
		for _, name := range p.bare[c.bare] {
			if err := yield(name, p.callers[name]); err != nil {
				return err
			}
		}
	}
	open, unnamed := c.open, c.unnamed
	if !open && !unnamed {
		return nil
	}
	if !c.static && c.bare != "ctor" { // It needs an object. Code that creates one leads to the method.
		short, _, _ := strings.Cut(c.name, ".")
		if made := p.callers[short+"..ctor"]; len(made) == 0 {
			open = true
		} else {
			l.names[short+"..ctor"] = true
			exists, err := l.exists(ctx, h, c)
			if err != nil {
				return err
			}
			open, unnamed = open && exists, unnamed && exists
			if err := yield(short+"..ctor", made); err != nil {
				return err
			}
		}
	}
	l.Open, l.Unnamed = l.Open || open, l.Unnamed || unnamed
	return nil
}

// initialised reports whether the static constructor of a class has run, which it does once: the class has static fields with values.
func (r *Reader) initialised(md *metadata.Metadata, class uint32) bool {
	name, err := md.TypeDefFullName(class)
	if err != nil || strings.Contains(name, "`") { // each instance of a generic class has its own
		return false
	}
	for t, err := range r.r.TypeByName(name, "") {
		if err != nil {
			return false
		}
		list, err := t.Statics()
		return err == nil && slices.ContainsFunc(list, func(f *objects.Field) bool {
			return !f.Thread && !f.RVA && f.StaticValue().Err == nil && f.StaticValue().State == dac.StaticReady
		})
	}
	return false
}

// ownAttributes begin the names of the attributes that no library looks for to call a method.
var ownAttributes = []string{"System.Runtime.CompilerServices.", "System.Runtime.Versioning.", "System.Diagnostics.", "System.Security."}

// marked reports whether a method has an attribute for which others may look to call it.
func marked(md *metadata.Metadata, row uint32) bool {
	list, err := md.CustomAttributes(metadata.NewToken(metadata.TableMethodDef, row))
	if err != nil {
		return true
	}
	for at := range list.All() {
		a, err := md.CustomAttribute(at)
		if err != nil {
			return true
		}
		class, err := md.AttributeType(a)
		if err != nil {
			return true
		}
		name, err := md.TypeFullName(class)
		own := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if err != nil || strings.LastIndexByte(name, '.') != len("System") && !slices.ContainsFunc(ownAttributes, own) {
			return true
		}
	}
	return false
}

// exists reports whether the heap has objects of the class of a method, or of one derived from it. What can't be read has.
func (l *Leads) exists(ctx context.Context, h *heap.Heap, c *callee) (bool, error) {
	name, err := c.module.TypeDefFullName(c.owner)
	if err != nil {
		return false, err
	}
	some, err := l.r.someOf(ctx, h, name)
	l.Objects = l.Objects || some
	return some, err
}

// classes are the names of the classes of the heap's objects and of their base classes, nil if some can't be read.
type classes map[string]bool

// someOf reports whether the heap has objects of a class, or of one derived from it. What can't be read has.
func (r *Reader) someOf(ctx context.Context, h *heap.Heap, class string) (bool, error) {
	known, ok := r.classes.Load(h)
	if !ok {
		names := classes{}
		_, err := Objects(ctx, h, func(mt *dac.MethodTable) bool {
			t, err := r.r.TrustedType(mt.Addr)
			for ; t != nil && err == nil && names != nil; t, err = t.Base() {
				name, err := r.b.Definition(t)
				if err != nil {
					names = nil
					break
				}
				if names[name] {
					break
				}
				names[name] = true
			}
			if err != nil {
				names = nil
			}
			return false
		}, maxReceivers)
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		if err != nil {
			names = nil
		}
		r.classes.Store(h, names)
		known = names
	}
	names := known.(classes)
	return names == nil || names[class], nil
}

// implements reports whether a class implements an interface itself.
func implements(md *metadata.Metadata, class uint32, name string) bool {
	list, err := md.InterfaceImpls(class)
	if err != nil {
		return false
	}
	for row := range list.All() {
		impl, err := md.InterfaceImpl(row)
		if err != nil {
			return false
		}
		if full, err := md.TypeFullName(typeOf(md, impl.Interface)); err == nil && full == name {
			return true
		}
	}
	return false
}

// startsMachine returns the name of the method that starts a state machine, if the method of a class is its MoveNext, and otherwise "".
func startsMachine(md *metadata.Metadata, class uint32, method string) string {
	full, err := md.TypeDefFullName(class)
	at := strings.LastIndexByte(full, '+')
	if err != nil || nameOf(method) != "MoveNext" || at < 0 || !strings.HasPrefix(full[at+1:], "<") {
		return ""
	}
	end, depth := -1, 0
	for i, c := range full[at+1:] {
		if c == '<' {
			depth++
		} else if c == '>' {
			if depth--; depth == 0 {
				end = at + 1 + i
				break
			}
		}
	}
	if end < at+3 {
		return ""
	}
	outer := full[:at]
	if i := strings.LastIndexAny(outer, ".+"); i >= 0 {
		outer = outer[i+1:]
	}
	outer, _, _ = strings.Cut(outer, "`")
	return outer + "." + full[at+2:end]
}

// ofLibrary reports whether a class derives from a class of a library other than Object, or implements an interface of one. What can't be read does.
func ofLibrary(md *metadata.Metadata, class uint32) bool {
	for range maxBases {
		def, err := md.TypeDef(class)
		if err != nil {
			return true
		}
		list, err := md.InterfaceImpls(class)
		if err != nil {
			return true
		}
		for row := range list.All() {
			impl, err := md.InterfaceImpl(row)
			if err != nil || library(md, impl.Interface) {
				return true
			}
		}
		base := typeOf(md, def.Extends)
		if base.Table() == metadata.TableTypeDef && base.Row() != 0 {
			class = base.Row()
			continue
		}
		name, err := md.TypeFullName(base)
		return err != nil && base.Row() != 0 || err == nil && name != "System.Object" && name != "System.ValueType" && library(md, base)
	}
	return true
}

// maxBases bounds the base classes of a class.
const maxBases = 64

// typeOf returns the generic type of an instantiated one, and other types as they are.
func typeOf(md *metadata.Metadata, t metadata.Token) metadata.Token {
	if t.Table() != metadata.TableTypeSpec {
		return t
	}
	sig, err := md.TypeSpecSig(t.Row())
	if err != nil {
		return t
	}
	if sig.Elem != nil {
		return sig.Elem.Token
	}
	return sig.Token
}

// library reports whether a type is a library's, or unknown.
func library(md *metadata.Metadata, t metadata.Token) bool {
	name, err := md.TypeFullName(typeOf(md, t))
	return err != nil || answer.LibraryMethod(name+".")
}

// A match says whether a method has a call that is sought.
type match uint8

const (
	callsNot match = iota
	mayCall        // it calls such a method on what a static field refers to that has no value, or can't be read
	callsIt        // it calls such a method on the object that is sought, as far as the heap shows it
)

// calls reports whether the IL of m has a call that is sought, for the object that is sought as far as the heap shows it, or takes the address
// of such a method.
func (l *Leads) calls(ctx context.Context, h *heap.Heap, p *program, m programMethod) (out match, err error) {
	md, err := p.modules[m.module].Metadata()
	if err != nil {
		return callsNot, err
	}
	body, err := l.r.code.ILOf(p.modules[m.module], m.row)
	if err != nil {
		return callsNot, err
	}
	if l.except != nil && l.except(md, body.Code) {
		return callsNot, nil
	}
	if taken, err := l.takes(md, body.Code, nil); taken || err != nil {
		return callsIt, err
	}
	def, err := md.MethodDef(m.row)
	if err != nil {
		return callsNot, err
	}
	owner, err := md.MethodOwner(m.row)
	if err != nil {
		return callsNot, err
	}
	class, err := md.TypeDefFullName(owner)
	if err != nil {
		return callsNot, err
	}
	sites, err := ilcalls.Of(md, body.Code)
	if err != nil {
		return callsNot, err
	}
	for i := range sites {
		on, ok := l.sought(sites[i].Method)
		if !ok {
			continue
		}
		path := subject(&sites[i])
		switch {
		case on == 0 || path == nil:
			return callsIt, nil
		case path.Class != "":
			switch l.r.follow(nil, 0, path) {
			case on:
				return callsIt, nil
			case 0:
				if !l.r.unmade(p, path) {
					out = max(out, mayCall)
				}
			}
		case path.Arg != 0 || len(path.Fields) == 0 || def.Flags&methodStatic != 0:
			return callsIt, nil
		case startsMachine(md, owner, "MoveNext") != "": // it is no object of its own, but a part of its box
			outer := &ilcalls.Path{Fields: path.Fields[1:]}
			if path.Fields[0] != "<>4__this" && path.Fields[0] != "$this" || len(outer.Fields) == 0 {
				return callsIt, nil
			}
			if some, err := l.r.someHas(ctx, h, class[:strings.LastIndexByte(class, '+')], outer, on); some || err != nil {
				return callsIt, err
			}
		default:
			if some, err := l.r.someHas(ctx, h, class, path, on); some || err != nil {
				return callsIt, err
			}
		}
	}
	return out, nil
}

// readOnly is the flag of a field that only constructors set (FieldAttributes.InitOnly, ECMA-335 II.23.1.5).
const readOnly = 0x20

// unmade reports whether a path begins at a read-only static field of a class of the program that is not loaded or not initialised: its constructor has yet
// to make the object.
func (r *Reader) unmade(p *program, path *ilcalls.Path) bool {
	if f := r.staticField(path.Class, path.Fields[0]); f != nil {
		v := f.StaticValue()
		return f.Attributes&readOnly != 0 && v.Err == nil && v.State == dac.StaticNotInitialized
	}
	for _, m := range p.modules {
		md, err := m.Metadata()
		if err != nil {
			return false
		}
		class, ok := md.FindTypeDef(path.Class)
		if !ok {
			continue
		}
		types, err := m.Lookup(dac.MapTypeDef, class.Row())
		if err != nil || types != 0 {
			return false
		}
		fields, err := md.Fields(class.Row())
		if err != nil {
			return false
		}
		for row := range fields.All() {
			f, err := md.Field(row)
			if err != nil {
				return false
			}
			if name, err := md.String(f.Name); err == nil && name == path.Fields[0] {
				return f.Flags&readOnly != 0
			}
		}
	}
	return false
}

// subject returns the path to the receiver of a call, or to the first argument of a static method.
func subject(s *ilcalls.Site) *ilcalls.Path {
	if len(s.Args) == 0 {
		return nil
	}
	return s.Args[0]
}

// takes reports whether IL takes the address of a method that is sought or that leads there, at an offset that counts. counts may be nil.
func (l *Leads) takes(md *metadata.Metadata, il []byte, counts func(offset int) bool) (bool, error) {
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return false, err
		}
		if counts != nil && !counts(in.Offset) {
			continue
		}
		switch in.Opcode.String() {
		case "ldftn", "ldvirtftn", "ldtoken", "jmp":
			name := ilcalls.MemberName(md, in.Token())
			if _, ok := l.sought(name); ok || l.names[name] || l.virtual[nameOf(name)] {
				return true, nil
			}
		}
	}
	return false, nil
}

// someHas reports whether a path leads from an object of a class, or of one derived from it, to an object. Objects that can't be read may.
func (r *Reader) someHas(ctx context.Context, h *heap.Heap, class string, path *ilcalls.Path, to target.Addr) (bool, error) {
	list, err := r.objectsOf(ctx, h, class)
	if err != nil {
		return true, err
	}
	for _, a := range list {
		if o, err := r.r.TrustedObject(a); err != nil || r.follow(o.Type, objects.InstanceOf(o), path) == to {
			return true, nil
		}
	}
	return false, nil
}

// maxKeptReceivers bounds the objects of one class that are kept for the next search.
const maxKeptReceivers = 1 << 12

type receiverKey struct {
	heap  *heap.Heap
	class string
}

// objectsOf returns the heap's objects of a class, and of classes derived from it.
func (r *Reader) objectsOf(ctx context.Context, h *heap.Heap, class string) ([]target.Addr, error) {
	key := receiverKey{h, class}
	if list, ok := r.receivers.Load(key); ok {
		return list.([]target.Addr), nil
	}
	list, err := Objects(ctx, h, r.derivedFrom(class), maxReceivers)
	if err == nil && len(list) <= maxKeptReceivers {
		r.receivers.Store(key, list)
	}
	return list, err
}

// derivedFrom returns a function that reports whether a type is a class or derives from it. Types that can't be read do.
func (r *Reader) derivedFrom(class string) func(*dac.MethodTable) bool {
	return func(mt *dac.MethodTable) bool {
		t, err := r.r.TrustedType(mt.Addr)
		for ; t != nil && err == nil; t, err = t.Base() {
			if name, err := r.b.Definition(t); err != nil || name == class {
				return true
			}
		}
		return err != nil
	}
}

// Objects returns the addresses of the heap's objects of types. More than most are an error, and so is a place of the heap that can't be walked: it may
// have others.
func Objects(ctx context.Context, h *heap.Heap, want func(*dac.MethodTable) bool, most int) (out []target.Addr, err error) {
	err = heap.Select(ctx, h, want, heap.ScanOptions{}, func() *addresses { return &addresses{} }, func(a *addresses) error {
		if a.corrupt != nil {
			return a.corrupt
		}
		if len(out)+len(a.list) > most {
			return target.Unsupportedf("more than %d objects", most)
		}
		out = append(out, a.list...)
		return nil
	})
	return out, err
}

// addresses collects the addresses of objects.
type addresses struct {
	list    []target.Addr
	corrupt error // the first place that can't be walked
}

// Objects gathers a batch.
func (g *addresses) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if !batch[i].Free {
			g.list = append(g.list, batch[i].Addr)
		}
	}
}

// Corrupt notes a place.
func (g *addresses) Corrupt(c *heap.Corruption) { g.corrupt = cmp.Or(g.corrupt, error(c)) }

// Reset forgets the objects.
func (g *addresses) Reset() { g.list, g.corrupt = g.list[:0], nil }

// Has reports whether a method leads to a call that is sought.
func (l *Leads) Has(md *dac.MethodDesc) bool {
	m, err := md.Module()
	return err == nil && l.methods[programMethod{m.Addr, md.Token.Row()}]
}

// A Way says how code gets to a call that is sought.
type Way uint8

// The ways.
const (
	NoWay     Way = iota
	HiddenWay     // it makes such a call on an object that its code does not show
	KnownWay      // it makes the call on the object that is sought, or on any, or calls another method that leads there
)

// From reports whether the code of a method leads to a call that is sought, at the offsets that counts selects. inner is the method that the
// statement at the offset at runs now, or "": its first call of inner does not count. this returns the receiver of md.
func (l *Leads) From(md *dac.MethodDesc, counts func(offset int) bool, at int, inner string, this func() Receiver) (bool, error) {
	way, err := l.WayFrom(md, counts, at, inner, this)
	return way != NoWay, err
}

// WayFrom is From, with how.
func (l *Leads) WayFrom(md *dac.MethodDesc, counts func(offset int) bool, at int, inner string, this func() Receiver) (out Way, err error) {
	meta, err := md.Metadata()
	if err != nil {
		return NoWay, err
	}
	body, err := l.r.code.IL(md)
	if err != nil {
		return NoWay, err
	}
	if taken, err := l.takes(meta, body.Code, counts); err != nil {
		return NoWay, err
	} else if taken {
		return KnownWay, nil
	}
	sites, err := ilcalls.Of(meta, body.Code)
	if err != nil {
		return NoWay, err
	}
	runs := slices.IndexFunc(sites, func(s ilcalls.Site) bool { return inner != "" && s.Offset >= at && s.Method == inner })
	for i := range sites {
		s := &sites[i]
		if !counts(s.Offset) {
			continue
		}
		if l.names[s.Method] || l.virtual[nameOf(s.Method)] {
			if i != runs {
				return KnownWay, nil
			}
			continue
		}
		on, ok := l.sought(s.Method)
		if !ok {
			continue
		}
		path := subject(s)
		if on == 0 {
			return KnownWay, nil
		}
		if path == nil {
			out = HiddenWay
			continue
		}
		switch l.of(path, md, this) {
		case 0:
			out = HiddenWay
		case on:
			return KnownWay, nil
		}
	}
	return out, nil
}

// of returns the object to which a path leads from a static field or from the receiver of md, or 0.
func (l *Leads) of(path *ilcalls.Path, md *dac.MethodDesc, this func() Receiver) target.Addr {
	if path.Class != "" {
		return l.r.follow(nil, 0, path)
	}
	if md.IsStatic() {
		return 0
	}
	on := this()
	return l.r.follow(on.Class, on.At, path)
}

// Only reports whether all methods with a call that is sought are among methods. Where Open is set, what may call them could only begin anew what they do
// already.
func (l *Leads) Only(methods []*dac.MethodDesc) bool {
	return !slices.ContainsFunc(l.direct, func(m programMethod) bool {
		return !slices.ContainsFunc(methods, func(md *dac.MethodDesc) bool {
			in, err := md.Module()
			return err == nil && m == programMethod{in.Addr, md.Token.Row()}
		})
	})
}

// Called reports whether a method that leads to a call which is sought has a name, without its type, or such a call is to one.
func (l *Leads) Called(name string) bool {
	is := func(method string) bool { return nameOf(method) == name }
	if l.virtual[name] || slices.ContainsFunc(slices.Collect(maps.Keys(l.names)), is) {
		return true
	}
	p, err := l.r.program.Get(l.r.readProgram)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(p.bare[name], func(method string) bool {
		_, ok := l.sought(method)
		return ok
	})
}

// Literals returns the literals of IL.
func Literals(md *metadata.Metadata, il []byte) (out []string) {
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return out
		}
		if in.Kind != metadata.OperandString {
			continue
		}
		if text, err := md.UserString(in.Token()); err == nil {
			out = append(out, text)
		}
	}
	return out
}

// Names reports whether the program's IL names one of the methods, each with its type and without the namespace.
func (r *Reader) Names(methods ...string) (bool, error) {
	if r == nil || r.code == nil {
		return false, target.Unsupportedf("no methods")
	}
	p, err := r.program.Get(r.readProgram)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(methods, func(name string) bool { return len(p.callers[name]) > 0 }), nil
}

// MemberName returns the name by which IL calls the method of a token: with its type and without the namespace.
func MemberName(md *metadata.Metadata, t metadata.Token) string { return ilcalls.MemberName(md, t) }

// Ran reports whether one of the methods that lead to a call for the object that is sought was compiled, so that it has run; with direct, whether one with
// such a call was.
func (l *Leads) Ran(direct bool) bool {
	if direct {
		return slices.ContainsFunc(l.direct[:l.sure], l.ran)
	}
	for m := range l.led {
		if l.ran(m) {
			return true
		}
	}
	return false
}

// ran reports whether a method was compiled. One that can't be read counts as not compiled: nothing is concluded from it.
func (l *Leads) ran(m programMethod) bool {
	p, err := l.r.program.Get(l.r.readProgram)
	if err != nil {
		return false
	}
	at, err := p.modules[m.module].Lookup(dac.MapMethodDef, m.row)
	if err != nil || at == 0 {
		return false
	}
	md, err := l.r.code.MethodDesc(at)
	if err != nil {
		return false
	}
	code, err := l.r.code.NativeCode(md)
	return err == nil && code != 0
}

// Foreign reports whether a library other than the runtime's own is loaded. It may call methods of the program by reflection.
func (r *Reader) Foreign() bool {
	if r == nil || r.code == nil {
		return true
	}
	modules, err := r.code.Runtime().KnownModules()
	return err != nil || slices.ContainsFunc(modules, func(m *dac.Module) bool {
		name, err := m.SimpleName()
		return err != nil || answer.LibraryMethod(name+".") && !strings.HasPrefix(name, "System.") && !strings.HasPrefix(name, "Microsoft.Win32.")
	})
}

// Goes reports whether a suspended method of the set leads to a call that is sought, in the code that it may still reach. What can't be read does. A
// nil set has no methods.
func (l *Leads) Goes(ctx context.Context, s *Set) bool {
	for range l.Going(ctx, s) {
		return true
	}
	return false
}

// A Goer is a suspended method that leads to a call which is sought.
type Goer struct {
	Object target.Addr // the task or the box
	// Within reports whether it does so by the code from one offset to another.
	Within func(start, end int) bool
}

// Going iterates over the suspended methods of the set that lead to a call which is sought, in the code that they may still reach. It yields nil for each
// that can't be read. A nil set has no methods.
func (l *Leads) Going(ctx context.Context, s *Set) iter.Seq[*Goer] {
	return func(yield func(*Goer) bool) {
		if s == nil {
			return
		}
		for i := range s.items {
			it := &s.items[i]
			switch {
			case it.completed() || ctx.Err() != nil:
				continue
			case it.kind.computes() || it.kind.runtimeAsync:
				if !yield(nil) {
					return
				}
				continue
			case !it.kind.machine() || it.hasState && (it.state == -1 || it.state == -2): // it runs or has ended
				continue
			}
			var out *Goer
			_, m, err := l.r.machineOf(it.kind, it.addr)
			if err == nil {
				var md *dac.MethodDesc
				if md, err = m.moveNext(); err == nil && !l.Has(md) {
					continue
				}
				if err == nil {
					goes, known := l.goesOn(m, md, it)
					if known && !goes {
						continue
					}
					if known {
						out = &Goer{it.addr, func(start, end int) bool {
							return l.within(md, func(offset int) bool { return start <= offset && offset < end })
						}}
					}
				}
			}
			if !yield(out) {
				return
			}
		}
	}
}

// within reports whether the code of a suspended method leads to a call that is sought at the offsets that counts selects. What can't be read does.
func (l *Leads) within(md *dac.MethodDesc, counts func(offset int) bool) bool {
	goes, err := l.From(md, counts, -1, "", func() Receiver { return Receiver{} })
	return goes || err != nil
}

// goesOn reports whether the code that a suspended method may still reach leads to a call that is sought, if that is known.
func (l *Leads) goesOn(m *machine, md *dac.MethodDesc, it *item) (goes, known bool) {
	sites, err := m.sites(l.r)
	if err != nil {
		return false, false
	}
	at, ok := sites[it.state]
	if !ok || !it.hasState {
		return false, false
	}
	body, err := l.r.code.IL(md)
	if err != nil {
		return false, false
	}
	first, err := turn(body.Code, at.il)
	if err != nil {
		return false, false
	}
	return l.within(md, func(offset int) bool { return offset >= first }), true
}

// turn returns the first offset that il may reach again from the offset at: the start of the outermost loop around it, or at.
func turn(il []byte, at int) (first int, err error) {
	for first, at = at, -1; first != at; {
		at = first
		for in, err := range metadata.Instructions(il) {
			if err != nil {
				return 0, err
			}
			if (in.Kind == metadata.OperandBranch8 || in.Kind == metadata.OperandBranch32) && in.Target() < first && first < in.Offset+in.Size {
				first = in.Target()
			}
		}
	}
	return first, nil
}

// NameOf returns the name of a method as IL calls it: with its type and without the namespace.
func NameOf(md *dac.MethodDesc) (string, error) {
	meta, err := md.Metadata()
	if err != nil {
		return "", err
	}
	return ilcalls.MemberName(meta, md.Token), nil
}

// Loads returns the classes of the local variables and arguments that the IL of a method reads at the offsets that counts selects. LoadsNumber and the others
// stand for what needs no class, and "" for any: where the variable is of a type that may hold objects of other types, and where the method goes on with other
// values when the call at an offset has returned.
func Loads(md *dac.MethodDesc, body *metadata.MethodBody, call int, counts func(offset int) bool) (out []string, err error) {
	meta, err := md.Metadata()
	if err != nil {
		return nil, err
	}
	sites, err := ilcalls.Of(meta, body.Code)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(sites, func(s ilcalls.Site) bool { return s.Offset == call && s.Below > 0 }) {
		out = append(out, "")
	}
	var locals []metadata.TypeSig
	if body.LocalSig.Row() != 0 {
		if locals, err = meta.LocalSig(body.LocalSig.Row()); err != nil {
			return nil, err
		}
	}
	sig, _, err := md.Signature()
	if err != nil {
		return nil, err
	}
	note := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	add := func(list []metadata.TypeSig, n int64) {
		if n >= 0 && n < int64(len(list)) {
			note(holds(meta, &list[n]))
		} else {
			note("")
		}
	}
	for in, err := range metadata.Instructions(body.Code) {
		if err != nil {
			return nil, err
		}
		if !counts(in.Offset) {
			continue
		}
		if n, store, ok := ilcalls.LocalAccess(&in); ok {
			if !store {
				add(locals, n)
			}
			continue
		}
		n, op := int64(-1), in.Opcode.String()
		switch {
		case strings.HasPrefix(op, "ldarg.") && op != "ldarg.s":
			n = int64(op[len(op)-1] - '0')
		case strings.HasPrefix(op, "ldarg"):
			n = in.Int()
		}
		switch this := sig.Conv.HasThis(); {
		case n < 0:
		case !this:
			add(sig.Params, n)
		case n == 0:
			note(LoadsReceiver)
		default:
			add(sig.Params, n-1)
		}
	}
	return out, nil
}

// Variables that Loads names without a class. LoadsNumber is a number or a string, which lead to no object. The receiver is no delegate.
const (
	LoadsNumber   = "number"
	LoadsArray    = "array"
	LoadsReceiver = "this"
)

// holds returns the class of a variable, its definition if it is generic, LoadsNumber or LoadsArray, and "" if that is not known or it is a struct.
func holds(md *metadata.Metadata, t *metadata.TypeSig) string {
	switch t = t.Unmodified(); {
	case t == nil:
		return ""
	case t.Kind <= metadata.ElementString:
		return LoadsNumber
	case t.Kind == metadata.ElementSZArray, t.Kind == metadata.ElementArray:
		return LoadsArray
	case t.Kind == metadata.ElementGenericInst:
		return holds(md, t.Elem)
	case t.Kind == metadata.ElementClass:
		name, err := md.TypeFullName(t.Token)
		if err != nil {
			return ""
		}
		return name
	}
	return ""
}
