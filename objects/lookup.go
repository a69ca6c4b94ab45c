package objects

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// TypeByName iterates over the loaded types with a name. assembly, if not empty, is the simple name of their assembly.
// Several types may match, because assemblies and load contexts have types of their own.
//
// The whole name must match, in upper and lower case. It is the name in metadata, "System.Collections.Generic.List`1" or
// "Ns.Outer+<Count>d__20", which finds the definition of a generic type. Or it is one of the names of an array or a
// generic instance that dac.Runtime.HasName lists, "System.Collections.Generic.List<int>", which examines all loaded
// types. If there is no such type, the name may be a keyword of C#, have dots in place of the pluses of nested types, or
// end with its assembly, as in Type.AssemblyQualifiedName. "Free" is the type of free blocks. Pointers and byrefs have no
// MethodTable, and are not found.
//
// A NativeAOT program does not list its arrays and generic instances: those with objects on the heap are found.
//
// After an error, which says why a type may be missing, the iteration continues. The errors are target.ErrNotInDump,
// target.ErrCorrupt and target.ErrUnsupported.
func (r *Reader) TypeByName(name, assembly string) iter.Seq2[*Type, error] {
	return func(yield func(*Type, error) bool) {
		s := typeSearch{r: r, assembly: assembly, yield: yield, seen: map[target.Addr]bool{}}
		s.definitions(name)
		if free := r.Runtime().WellKnown().Free; name == freeName && assembly == "" && free != 0 {
			s.found(r.TrustedType(free))
		}
		if strings.ContainsAny(name, "<[?*&") || len(s.seen) == 0 && r.Runtime().Check(dac.FeatureTypeLists) != nil {
			s.constructed(name)
		}
		if len(s.seen) == 0 && !s.ended {
			s.quiet = true // the errors would be the same
			s.otherwise(name)
		}
	}
}

// freeName is the name that dac.Runtime.TypeName gives to free blocks.
const freeName = "Free"

// A typeSearch is one call of TypeByName.
type typeSearch struct {
	r        *Reader
	assembly string
	yield    func(*Type, error) bool
	seen     map[target.Addr]bool // the types that were found
	quiet    bool                 // errors are not reported
	ended    bool                 // the caller wants no more
}

// found reports a type once, or an error.
func (s *typeSearch) found(t *Type, err error) {
	switch {
	case s.ended || err != nil && s.quiet:
		return
	case err == nil && s.seen[t.MT.Addr]:
		return
	case err == nil:
		s.seen[t.MT.Addr] = true
	}
	s.ended = !s.yield(t, err)
}

// definitions finds types by their name in metadata.
func (s *typeSearch) definitions(name string) {
	for mt, err := range s.r.Runtime().TypesNamed(name, s.assembly) {
		var t *Type
		if err == nil {
			t, err = s.r.TrustedType(mt)
		}
		if s.found(t, err); s.ended {
			return
		}
	}
}

// constructed finds arrays, generic instances, and types of a NativeAOT program with names outside of its metadata.
func (s *typeSearch) constructed(name string) {
	rt := s.r.Runtime()
	types, lists := rt.LoadedTypes(), rt.Check(dac.FeatureTypeLists)
	if lists != nil {
		types = s.r.typesOnHeap()
	}
	for mt, err := range types {
		switch {
		case s.ended:
			return
		case err != nil:
			s.found(nil, err)
		case lists != nil || mt.IsArray() || mt.IsGeneric():
			s.match(mt, name)
		}
	}
	if lists != nil && len(s.seen) == 0 && strings.ContainsAny(name, "<[?*&") {
		s.found(nil, lists)
	}
}

// match finds mt if it has the name.
func (s *typeSearch) match(mt *dac.MethodTable, name string) {
	rt := s.r.Runtime()
	ok, err := rt.HasName(mt, name)
	if ok && s.assembly != "" {
		var own string
		own, err = rt.TypeAssembly(mt.Addr)
		ok = err == nil && strings.EqualFold(own, s.assembly)
	}
	switch {
	case err != nil:
		s.found(nil, err)
	case ok:
		s.found(s.r.typeOf(mt), nil)
	}
}

// typesOnHeap iterates over the types of the objects on the heap. Without a heap it yields nothing.
func (r *Reader) typesOnHeap() iter.Seq2[*dac.MethodTable, error] {
	return func(yield func(*dac.MethodTable, error) bool) {
		h := r.walkable()
		if h == nil {
			return
		}
		stats, err := h.Stats(context.Background(), nil, heap.ScanOptions{})
		if err != nil && !yield(nil, err) {
			return
		}
		for i := range stats.Types {
			if !yield(stats.Types[i].Type, nil) {
				return
			}
		}
	}
}

// otherwise finds types by names that are not in metadata, until one finds a type.
func (s *typeSearch) otherwise(name string) {
	if full := dac.KeywordType(name); full != "" {
		s.definitions(full)
		return
	}
	if s.assembly == "" {
		if bare, assembly := cutAssembly(name); assembly != "" {
			own := *s
			own.assembly = assembly
			own.definitions(bare)
			if strings.ContainsAny(bare, "<[?") {
				own.constructed(bare)
			}
			return
		}
	}
	nested := []byte(name)
	for range limits.TypeNameDepth {
		dot := strings.LastIndexByte(string(nested), '.')
		if dot <= 0 || len(s.seen) > 0 || s.ended {
			return
		}
		nested[dot] = '+'
		s.definitions(string(nested))
	}
}

// cutAssembly cuts the assembly off a name as Type.AssemblyQualifiedName returns it: "Ns.C, A, Version=1.0.0.0".
func cutAssembly(name string) (bare, assembly string) {
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '[', '<':
			depth++
		case ']', '>':
			depth--
		case ',':
			if depth == 0 {
				assembly, _, _ = strings.Cut(name[i+1:], ",")
				return name[:i], strings.TrimSpace(assembly)
			}
		}
	}
	return name, ""
}

// A NoTypeError reports that no loaded type has a name. It is target.ErrNoSuch if the names of all types were read, and
// otherwise Err.
type NoTypeError struct {
	Name string
	Err  error // why a type may have been missed: unreadable names; nil if all were read
}

func (e *NoTypeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("no type %s was found among those that can be read: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("no loaded type is named %s", e.Name)
}

// Unwrap returns Err, or target.ErrNoSuch.
func (e *NoTypeError) Unwrap() error { return cmp.Or(e.Err, target.ErrNoSuch) }

// Named returns the first type that TypeByName yields. The error is a *NoTypeError if it yields no type.
func (r *Reader) Named(name, assembly string) (*Type, error) {
	none := &NoTypeError{Name: name}
	for t, err := range r.TypeByName(name, assembly) {
		if err == nil {
			return t, nil
		}
		none.Err = cmp.Or(none.Err, err)
	}
	return nil, none
}

// Methods iterates over the methods that the type itself declares, as dac.Runtime.Methods does. A generic instance
// yields the methods of the type with its shared code.
func (t *Type) Methods() iter.Seq2[*dac.MethodDesc, error] {
	if t == nil {
		return func(yield func(*dac.MethodDesc, error) bool) { yield(nil, errNoObject) }
	}
	return dac.CodeOf(t.r.Runtime()).Methods(t.MT)
}

// Statics returns the static fields that the type itself declares, including thread statics. Readable fields are
// returned even with an error.
func (t *Type) Statics() ([]*Field, error) {
	own, err := t.ownFields()
	var out []*Field
	for _, f := range own {
		if f.Static {
			out = append(out, f)
		}
	}
	return out, err
}
