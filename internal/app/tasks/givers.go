package tasks

import (
	"maps"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// thisField is the field of a state machine with the object that its method is called on.
const thisField = "<>4__this"

// A Giver is a method by which an object gives something back for its callers.
type Giver struct {
	Name string   // without its class
	Code [][]byte // the IL of the methods of this name, and of their state machines
}

// Givers returns the methods, by name, by which an object gives something back for its callers: they are methods of its class and
// of the program's classes that it derives from, and make a call that gives selects on what is given, or call another such method of the object, but make no
// call on what is given that takes selects. Code that can't be read gives nothing back.
func (r *Reader) Givers(object, given target.Addr, gives, takes func(method string) bool) (out []Giver) {
	if r == nil || r.code == nil {
		return nil
	}
	o, err := r.r.TrustedObject(object)
	if err != nil {
		return nil
	}
	calls, code := map[string][]Call{}, map[string][][]byte{} // by method
	for t := o.Type; t != nil && err == nil && programType(t); t, err = t.Base() {
		for md, err := range t.Methods() {
			if err != nil {
				break
			}
			name, err := md.Name()
			body, bad := r.code.IL(md)
			if err != nil || bad != nil || md.IsStatic() || name == ".ctor" { // a new object gives to nobody
				continue
			}
			code[name] = append(code[name], body.Code)
			if sites, err := r.callSites(md); err == nil {
				calls[name] = append(calls[name], r.callsOn(sites, o, 0)...)
			}
		}
		for name, m := range r.machinesOf(t) {
			code[name] = append(code[name], m.code)
			calls[name] = append(calls[name], r.callsOn(m.sites, o, 1)...)
		}
	}
	for name, list := range calls {
		if slices.ContainsFunc(list, func(c Call) bool { return c.Object == given && takes(c.Method) }) {
			delete(calls, name)
		}
	}
	found := map[string]bool{}
	for before := -1; before != len(found); {
		before = len(found)
		for name, list := range calls {
			found[name] = found[name] || slices.ContainsFunc(list, func(c Call) bool {
				return c.Object == given && gives(c.Method) || c.Object == object && found[nameOf(c.Method)]
			})
		}
		maps.DeleteFunc(found, func(_ string, is bool) bool { return !is })
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, Giver{name, code[name]})
	}
	return out
}

// callsOn resolves the calls of a method that is called on an object, or with 1 as hidden of the state machine of such a method.
func (r *Reader) callsOn(sites []ilcalls.Site, o objects.Object, hidden int) (out []Call) {
	for i := range sites {
		s := &sites[i]
		path := objectOf(s)
		if len(s.Chosen) > 0 || path == nil || path.Class != "" || path.Arg != 0 || hidden > 0 && (len(path.Fields) == 0 || path.Fields[0] != thisField) {
			continue
		}
		c := Call{Method: s.Method, Object: o.Addr, Through: s.Through}
		if fields := path.Fields[hidden:]; len(fields) > 0 {
			c.Object = r.follow(o.Type, objects.InstanceOf(o), &ilcalls.Path{Fields: fields})
		}
		out = append(out, c)
	}
	return out
}

// A machineCode is the code of an async method in its state machine.
type machineCode struct {
	code  []byte
	sites []ilcalls.Site
}

// machinesOf returns the code of the async methods of a class, by name. It need not have run.
func (r *Reader) machinesOf(t *objects.Type) map[string]machineCode {
	module, err := t.Module()
	if err != nil {
		return nil
	}
	meta, err := module.Metadata()
	if err != nil {
		return nil
	}
	nested, err := meta.NestedClasses(t.MT.Token.Row())
	if err != nil {
		return nil
	}
	out := map[string]machineCode{}
	for row := range nested.All() {
		class, err := meta.NestedClass(row)
		if err != nil {
			continue
		}
		methods, err := meta.Methods(class.Nested.Row())
		if err != nil {
			continue
		}
		for m := range methods.All() {
			name := startsMachine(meta, class.Nested.Row(), ilcalls.MemberName(meta, metadata.NewToken(metadata.TableMethodDef, m)))
			body, err := r.code.ILOf(module, m)
			if name == "" || err != nil {
				continue
			}
			if sites, err := ilcalls.Of(meta, body.Code); err == nil {
				out[nameOf(name)] = machineCode{body.Code, r.withWrappersIn(module, meta, m, sites)}
			}
		}
	}
	return out
}

// withWrappersIn is withWrappers for a row of a module's methods. It returns sites if the method has not been loaded.
func (r *Reader) withWrappersIn(module *dac.Module, meta *metadata.Metadata, row uint32, sites []ilcalls.Site) []ilcalls.Site {
	at, err := module.Lookup(dac.MapMethodDef, row)
	if err != nil || at == 0 {
		return sites
	}
	md, err := r.code.TrustedMethodDesc(at)
	if err != nil {
		return sites
	}
	return r.withWrappers(md, meta, sites)
}
