package objects

import (
	"errors"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/target"
)

// TypeByName iterates over the loaded types with a name. assembly restricts them to the assembly with that simple name;
// empty means all. Several types may match: assemblies, and load contexts of one assembly, have types of their own. The
// name must match exactly. It is either the name in metadata, "System.Collections.Generic.List`1" or "Ns.Outer+Inner",
// which finds the definition of a generic type. Or it is the form of ManagedName for an array or a generic instance,
// "System.Collections.Generic.List<System.Int32>", which examines all loaded types. Errors are yielded, and the
// iteration continues.
func (r *Reader) TypeByName(name, assembly string) iter.Seq2[*Type, error] {
	return func(yield func(*Type, error) bool) {
		if r.rt.IsNative() {
			r.nativeByName(name, assembly, yield)
			return
		}
		if strings.ContainsAny(name, "<[*&") {
			r.constructedByName(name, assembly, yield)
			return
		}
		modules, err := r.rt.KnownModules()
		if err != nil && !yield(nil, err) {
			return
		}
		for _, m := range modules {
			t, err := r.definition(m, name, assembly)
			if (t != nil || err != nil) && !yield(t, err) {
				return
			}
		}
	}
}

// nativeByName yields the types with that name in a NativeAOT program. Nothing lists a program's arrays and generic
// instances.
func (r *Reader) nativeByName(name, assembly string, yield func(*Type, error) bool) {
	if strings.ContainsAny(name, "<[*&") {
		yield(nil, target.Unsupportedf("a NativeAOT program has no list of its arrays and generic instances: dumpheap -type finds those that have objects"))
		return
	}
	types, err := r.rt.TypesNamed(name)
	for _, t := range types {
		if assembly != "" && !strings.EqualFold(t.Assembly, assembly) {
			continue
		}
		if !yield(r.Type(t.MethodTable)) {
			return
		}
	}
	if err != nil {
		yield(nil, err)
	}
}

// definition returns the type with that name that m defines, nil if none is loaded.
func (r *Reader) definition(m *dac.Module, name, assembly string) (*Type, error) {
	if in, err := inAssembly(m, assembly); err != nil || !in {
		return nil, err
	}
	md, err := m.Metadata()
	if errors.Is(err, target.ErrUnsupported) {
		return nil, nil // modules without metadata define no types
	}
	if err != nil {
		return nil, err
	}
	token, ok := md.FindTypeDef(name)
	if !ok {
		return nil, nil
	}
	mt, err := m.Lookup(dac.MapTypeDef, token.Row())
	if err != nil || mt == 0 {
		return nil, err
	}
	return r.Type(mt)
}

// inAssembly reports whether m belongs to the assembly with that simple name. The empty name matches all.
func inAssembly(m *dac.Module, assembly string) (bool, error) {
	if assembly == "" {
		return true, nil
	}
	name, err := m.SimpleName()
	return strings.EqualFold(name, assembly), err
}

func (r *Reader) constructedByName(name, assembly string, yield func(*Type, error) bool) {
	for mt, err := range r.rt.LoadedTypes() {
		if err != nil {
			if !yield(nil, err) {
				return
			}
			continue
		}
		if mt.IsOpen() || !mt.IsArray() && !mt.IsGeneric() {
			continue
		}
		t, err := r.named(mt, name, assembly)
		if (t != nil || err != nil) && !yield(t, err) {
			return
		}
	}
}

// named returns the type with the MethodTable mt, nil if its name differs.
func (r *Reader) named(mt *dac.MethodTable, name, assembly string) (*Type, error) {
	have, err := r.rt.TypeName(mt.Addr, dac.NameManaged)
	if err != nil || have != name {
		return nil, err
	}
	m, err := r.rt.ModuleOf(mt)
	if err != nil {
		return nil, err
	}
	if in, err := inAssembly(m, assembly); err != nil || !in {
		return nil, err
	}
	return r.typeOf(mt), nil
}

// Methods iterates over the methods that the type itself declares, as dac.Runtime.Methods does. An instance of a
// generic type has the methods of the type whose code it shares.
func (t *Type) Methods() iter.Seq2[*code.MethodDesc, error] { return code.Of(t.r.rt).Methods(t.MT) }

// Statics returns the static fields that the type itself declares, including thread statics. Readable fields are
// returned along with an error.
func (t *Type) Statics() ([]*Field, error) {
	own, err := t.OwnFields()
	var out []*Field
	for _, f := range own {
		if f.Static {
			out = append(out, f)
		}
	}
	return out, err
}
