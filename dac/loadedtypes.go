package dac

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// IsShared reports whether the type represents all generic instances that share its code, with System.__Canon
// in place of references. Such a type has no objects and no statics.
func (m *MethodTable) IsShared() bool { return m.generics() == mtfGenericShared }

// LoadedTypes iterates over the MethodTables of all types that the process has loaded: for each module the
// TypeDef map in the order of tokens, then arrays and generic instances by address. It yields an error for an
// unreadable part and continues. For a NativeAOT program it yields the type map by address, without arrays and
// generic instances.
func (r *Runtime) LoadedTypes() iter.Seq2[*MethodTable, error] { return r.impl.loadedTypes() }

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
		mt, err := m.r.TrustedMethodTable(a)
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
			th, err = m.r.TypeHandleMethodTable(th)
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

// TypesNamed iterates over the MethodTables of the loaded types with the given name of their definition in
// metadata: "System.Collections.Generic.List`1" or "Ns.Outer+Inner". assembly is the simple name of their
// assembly; an empty name means all. It yields errors and continues.
func (r *Runtime) TypesNamed(name, assembly string) iter.Seq2[target.Addr, error] {
	return r.impl.typesNamed(name, assembly)
}

func (r clr) typesNamed(name, assembly string) iter.Seq2[target.Addr, error] {
	return func(yield func(target.Addr, error) bool) {
		if assembly == coreLibrary { // other modules' names and files need not be read
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

// definition returns the MethodTable of the type with that name that m defines, or 0 if it is not loaded.
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
