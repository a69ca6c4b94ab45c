package dac

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// IsShared reports whether the type represents all generic instances that share its code, with System.__Canon for
// references. It has neither objects nor statics.
func (m *MethodTable) IsShared() bool { return m.generics() == mtfGenericShared }

// LoadedTypes iterates over the MethodTables of all types that the process has loaded: by module those of the TypeDef map in the order of
// their tokens, then arrays and generic instances by address. It yields an error for an unreadable part and continues. For a NativeAOT
// program it yields the types of the type map by address, which lacks arrays and generic instances.
func (r *Runtime) LoadedTypes() iter.Seq2[*MethodTable, error] {
	r = OrNone(r)
	return r.of().loadedTypes()
}

func (r clr) loadedTypes() iter.Seq2[*MethodTable, error] {
	return func(yield func(*MethodTable, error) bool) {
		modules, err := r.KnownModules()
		if err != nil && !yield(nil, err) {
			return
		}
		seen := map[target.Addr]bool{}
		for _, m := range modules {
			if !m.loadedTypes(seen, yield) {
				return
			}
		}
	}
}

func (m *Module) loadedTypes(seen map[target.Addr]bool, yield func(*MethodTable, error) bool) bool {
	one := func(a target.Addr) bool {
		if a == 0 || seen[a] {
			return true
		}
		seen[a] = true
		mt, err := m.runtime().TrustedMethodTable(a)
		return yield(mt, err)
	}
	for e, err := range m.Entries(MapTypeDef) {
		if err != nil {
			if !yield(nil, err) {
				return false
			}
			continue
		}
		if !one(e.Value) {
			return false
		}
	}
	var built []target.Addr
	for th, err := range m.ConstructedTypes() {
		if err == nil {
			th, err = m.runtime().TypeHandleMethodTable(th)
		}
		if errors.Is(err, target.ErrUnsupported) {
			break // the layout lacks this runtime's table
		}
		if err != nil {
			if !yield(nil, err) {
				return false
			}
			continue
		}
		built = append(built, th)
	}
	slices.Sort(built)
	for _, a := range built {
		if !one(a) {
			return false
		}
	}
	return true
}

// TypesNamed iterates over the MethodTables of the loaded types whose definition has a name as in metadata:
// "System.Collections.Generic.List`1" or "Ns.Outer+Inner". assembly restricts them to the assembly with that simple
// name; empty means all. It yields errors and continues.
func (r *Runtime) TypesNamed(name, assembly string) iter.Seq2[target.Addr, error] {
	r = OrNone(r)
	return r.of().typesNamed(name, assembly)
}

func (r clr) typesNamed(name, assembly string) iter.Seq2[target.Addr, error] {
	return func(yield func(target.Addr, error) bool) {
		if assembly == coreLibrary { // no other module's name or file is read
			if m, err := r.CoreLib(); err == nil {
				if mt, err := m.definition(name, ""); mt != 0 || err != nil {
					yield(mt, err)
				}
				return
			}
		}
		modules, err := r.KnownModules()
		if err != nil && !yield(0, err) {
			return
		}
		for _, m := range modules {
			mt, err := m.definition(name, assembly)
			if (mt != 0 || err != nil) && !yield(mt, err) {
				return
			}
		}
	}
}

// definition returns the MethodTable of the type with that name that m defines, 0 if none is loaded.
func (m *Module) definition(name, assembly string) (target.Addr, error) {
	if assembly != "" {
		if own, err := m.SimpleName(); err != nil || !strings.EqualFold(own, assembly) {
			return 0, err
		}
	}
	md, err := m.Metadata()
	if errors.Is(err, target.ErrUnsupported) {
		return 0, nil // modules without metadata define no types
	}
	if err != nil {
		return 0, err
	}
	token, ok := md.FindTypeDef(name)
	if !ok {
		return 0, nil
	}
	return m.Lookup(MapTypeDef, token.Row())
}
