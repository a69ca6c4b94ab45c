package tasks

import (
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

// A virtualMethod is a virtual method in a module that uses semaphores.
type virtualMethod struct {
	module   *dac.Module
	row      uint32
	explicit string // the interface, if the method implements that one alone
}

// virtualMethods has the virtual methods by name, without the interface of an explicit implementation.
type virtualMethods = lazy.Value[map[string][]virtualMethod]

// semaphoreVirtuals returns the virtual methods with a name, of the modules that use semaphores. Unreadable modules are left out.
func (r *Reader) semaphoreVirtuals(name string) []virtualMethod {
	all, err := r.virtuals.Get(func() (map[string][]virtualMethod, error) {
		out := map[string][]virtualMethod{}
		modules, err := r.code.Runtime().KnownModules()
		for _, m := range modules {
			if md, err := m.Metadata(); err == nil && usesSemaphores(md) {
				addVirtuals(out, m, md)
			}
		}
		if len(out) > 0 {
			err = nil
		}
		return out, err
	})
	if err != nil {
		return nil
	}
	return all[name]
}

// usesSemaphores reports whether a module refers to SemaphoreSlim.
func usesSemaphores(md *metadata.Metadata) bool {
	for row := uint32(1); row <= md.RowCount(metadata.TableTypeRef); row++ {
		if namespace, name, err := md.TypeRefName(row); err == nil && name == "SemaphoreSlim" && namespace == "System.Threading" {
			return true
		}
	}
	return false
}

func addVirtuals(out map[string][]virtualMethod, m *dac.Module, md *metadata.Metadata) {
	for row := uint32(1); row <= md.RowCount(metadata.TableMethodDef); row++ {
		def, err := md.MethodDef(row)
		if err != nil || def.Flags&methodVirtual == 0 || def.Flags&methodAbstract != 0 {
			continue
		}
		name, err := md.String(def.Name)
		if err != nil {
			continue
		}
		v := virtualMethod{module: m, row: row}
		if at := strings.LastIndexByte(name, '.'); at > 0 {
			v.explicit, name = name[:at], name[at+1:]
		}
		out[name] = append(out[name], v)
	}
}

// implements reports whether a method is one that a call of a class's method may run: it implements no interface but that.
func (v *virtualMethod) implements(class string) bool {
	return v.explicit == "" || written(v.explicit) == written(class)
}

// written returns the name of an interface as both its type and the methods that implement it alone have it. Their names are of the source: they
// have type arguments, and a dot before a nested type.
func written(name string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case depth > 0:
		case c == '`':
			for i+1 < len(name) && '0' <= name[i+1] && name[i+1] <= '9' {
				i++
			}
		case c == '+':
			b.WriteByte('.')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// implementers returns the methods of loaded classes that a call may run in place of the method that it names.
func (r *Reader) implementers(class string, s *ilcalls.Site) (out []*dac.MethodDesc) {
	for _, v := range r.semaphoreVirtuals(nameOf(s.Method)) {
		if !v.implements(class) {
			continue
		}
		at, err := v.module.Lookup(dac.MapMethodDef, v.row)
		if err != nil || at == 0 {
			continue
		}
		md, err := r.code.TrustedMethodDesc(at)
		if err != nil {
			continue
		}
		if sig, _, err := md.Signature(); err == nil && len(sig.Params)+1 == len(s.Args) && r.derives(md.MethodTable, class) {
			out = append(out, md)
		}
	}
	return out
}

// derives reports whether a type is a class, derives from it, or implements it as an interface. Types that can't be read may.
func (r *Reader) derives(mt target.Addr, class string) bool {
	own, err := r.r.TrustedType(mt)
	for typ := own; typ != nil && err == nil; typ, err = typ.Base() {
		if name, err := r.b.Definition(typ); err != nil || name == class {
			return true
		}
	}
	if err != nil {
		return true
	}
	list, err := own.Interfaces()
	return err != nil || slices.ContainsFunc(list, func(i objects.Interface) bool {
		name, err := r.b.Definition(i.Definition)
		return err != nil || name == class
	})
}

// nameOf returns the name of a method without its class.
func nameOf(method string) string { return method[strings.LastIndexByte(method, '.')+1:] }

// choice describes a call that runs a method if the receiver's class has it in that place.
func choice(class string, s *ilcalls.Site, md *dac.MethodDesc) ilcalls.Choice {
	c := ilcalls.Choice{On: s.On, Class: class, Name: nameOf(s.Method), Method: md.Token}
	if m, err := md.Module(); err == nil {
		c.Module = m.Addr
	}
	return c
}

// chooses reports whether the receivers of calls run the methods of the choices. known is false if a receiver is unknown, and may.
// The paths begin in the instance of type class at at.
func (r *Reader) chooses(list []ilcalls.Choice, class *objects.Type, at objects.Instance) (yes, known bool) {
	known = true
	for i := range list {
		a := r.follow(class, at, list[i].On)
		o, err := r.r.TrustedObject(a)
		if a == 0 || err != nil {
			known = false
		} else if runs, sure := declares(o.Type, &list[i]); !sure {
			known = false
		} else if !runs {
			return false, true
		}
	}
	return true, known
}

// declares reports whether a call runs the method of a choice for an object of a type: the first class of the type and its bases with a method
// of that name declares it. A method for the interface alone comes before others. known is false if a class can't be read, or if such a
// method is missing: the interface may have it.
func declares(typ *objects.Type, call *ilcalls.Choice) (yes, known bool) {
	class := written(call.Class)
	for err := error(nil); typ != nil && err == nil; typ, err = typ.Base() {
		var explicit, named []*dac.MethodDesc
		for md, err := range typ.Methods() {
			if err != nil {
				return false, false
			}
			name, err := md.Name()
			if err != nil {
				return false, false
			}
			if at := strings.LastIndexByte(name, '.'); name == call.Name {
				named = append(named, md)
			} else if at > 0 && name[at+1:] == call.Name {
				if written(name[:at]) == class {
					explicit = append(explicit, md)
				}
			}
		}
		if len(explicit) > 0 {
			named = explicit
		}
		if len(named) > 0 {
			return slices.ContainsFunc(named, func(md *dac.MethodDesc) bool {
				m, err := md.Module()
				return err == nil && m.Addr == call.Module && md.Token == call.Method
			}), true
		}
	}
	return false, false
}

// invokes reports whether a call invokes a delegate.
func (r *Reader) invokes(meta *metadata.Metadata, s *ilcalls.Site) bool {
	if nameOf(s.Method) != "Invoke" {
		return false
	}
	class, _ := ilcalls.Callee(meta, s.Token)
	if class == "" || strings.HasPrefix(class, "System.Func`") || strings.HasPrefix(class, "System.Action") {
		return class != ""
	}
	if answer.LibraryMethod(class + ".") {
		return false
	}
	for t, err := range r.r.TypeByName(class, "") {
		if err != nil {
			return false
		}
		return IsDelegate(t)
	}
	return false
}

// IsDelegate reports whether the objects of a type are delegates. It is false if that can't be read.
func IsDelegate(t *objects.Type) bool {
	base, err := t.Base()
	if err != nil || base == nil {
		return false
	}
	name, err := base.ManagedName()
	return err == nil && name == multicast
}

// multicast is the base class of all delegates.
const multicast = "System.MulticastDelegate"

// invoked returns the calls that matter to a lock in what a delegate runs, and the invocation itself if the delegate is unknown. The path to the
// delegate begins in the instance of type class at at.
func (r *Reader) invoked(s *ilcalls.Site, class *objects.Type, at objects.Instance) []Call {
	unknown := []Call{{Method: s.Method, Unknown: true}}
	a := r.follow(class, at, s.On)
	if a == 0 {
		return unknown
	}
	call, err := r.call(a)
	if err != nil {
		return unknown
	}
	md, err := call.Method()
	if err != nil {
		return unknown
	}
	name, err := r.code.MethodName(md, dac.MethodQualified)
	if err != nil {
		return unknown
	}
	if semaphore, ok := strings.CutPrefix(name, "System.Threading."); ok && strings.HasPrefix(semaphore, "SemaphoreSlim.") {
		return []Call{{Method: semaphore, Object: call.Target, Through: s.Method}}
	}
	var on objects.Object // none for a delegate without a target
	if call.Target != call.Delegate {
		on, _ = r.r.TrustedObject(call.Target) // what depends on an unreadable one is unknown
	}
	return r.callsIn(md, s, on)
}

// callsIn returns the calls that a wrapper makes if a delegate runs it for a target.
func (r *Reader) callsIn(md *dac.MethodDesc, s *ilcalls.Site, on objects.Object) (out []Call) {
	at := objects.Instance(0)
	if on.Type != nil {
		at = objects.InstanceOf(on)
	}
	for _, c := range r.wrapper(md, maxWrapperDepth).calls {
		yes, known := r.chooses(c.Chosen, on.Type, at)
		if !yes {
			continue
		}
		inner := Call{Method: c.Method, Through: s.Method, Releaser: releaser(md)}
		if known {
			inner.Object = r.follow(on.Type, at, c.On)
		}
		out = append(out, inner)
	}
	return out
}

// objectOf returns the path to the object of a call: its receiver, or of the static methods of Monitor their first argument.
func objectOf(s *ilcalls.Site) *ilcalls.Path {
	if s.On == nil && s.Through == "" && strings.HasPrefix(s.Method, "Monitor.") {
		return subject(s)
	}
	return s.On
}

// resolved returns the call of a site, or the calls of what a delegate runs, as the objects at the paths of the site show them. The paths begin
// in the instance of type class at at. It returns nothing if the receiver's class replaces the method.
func (r *Reader) resolved(s *ilcalls.Site, class *objects.Type, at objects.Instance) []Call {
	if s.Invokes {
		return r.invoked(s, class, at)
	}
	yes, known := r.chooses(s.Chosen, class, at)
	if !yes {
		return nil
	}
	c := Call{Method: s.Method, Through: s.Through, Releaser: s.Releaser}
	if known {
		c.Object = r.follow(class, at, objectOf(s))
		if s.On == nil && s.Through == "" {
			c.First = r.follow(class, at, subject(s))
		}
	}
	return []Call{c}
}
