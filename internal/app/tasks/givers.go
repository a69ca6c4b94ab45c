package tasks

import (
	"maps"
	"slices"
	"strings"

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
	Name string // without its class
	// Bodies are the methods with the code: of an async method, the one of its state machine, too.
	Bodies []*dac.MethodDesc
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
	calls, bodies := map[string][]Call{}, map[string][]*dac.MethodDesc{} // by method
	add := func(name string, md *dac.MethodDesc, hidden int) {
		calls[name] = append(calls[name], r.callsOn(md, o, hidden)...)
		bodies[name] = append(bodies[name], md)
	}
	for t := o.Type; t != nil && err == nil && programType(t); t, err = t.Base() {
		for md, err := range t.Methods() {
			if err != nil {
				break
			}
			if name, err := md.Name(); err == nil {
				add(name, md, 0)
			}
		}
		for name, md := range r.machinesOf(t) {
			add(name, md, 1)
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
		out = append(out, Giver{name, bodies[name]})
	}
	return out
}

// callsOn returns the calls of a method that is called on an object, or with 1 as hidden of the state machine of such a method.
func (r *Reader) callsOn(md *dac.MethodDesc, o objects.Object, hidden int) (out []Call) {
	sites, err := r.callSites(md)
	if err != nil || md.IsStatic() {
		return nil
	}
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

// machinesOf returns the methods that run the async methods of a class, by the names of these.
func (r *Reader) machinesOf(t *objects.Type) map[string]*dac.MethodDesc {
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
	out := map[string]*dac.MethodDesc{}
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
			at, err := module.Lookup(dac.MapMethodDef, m)
			if name == "" || at == 0 || err != nil {
				continue
			}
			if md, err := r.code.TrustedMethodDesc(at); err == nil {
				out[name[strings.LastIndexByte(name, '.')+1:]] = md
			}
		}
	}
	return out
}
