package objects

import (
	"cmp"
	"fmt"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
)

// TypeByName iterates over the loaded types with a name. assembly, if not empty, is the simple name of their assembly.
// Several types may match, because assemblies and load contexts have types of their own. The name must match exactly.
// It is either the name in metadata, "System.Collections.Generic.List`1" or "Ns.Outer+Inner", which finds the
// definition of a generic type. Or it is the form of ManagedName for an array or a generic instance,
// "System.Collections.Generic.List<System.Int32>", which examines all loaded types. After an error the iteration
// continues.
func (r *Reader) TypeByName(name, assembly string) iter.Seq2[*Type, error] {
	return func(yield func(*Type, error) bool) {
		if strings.ContainsAny(name, "<[*&") {
			r.constructedByName(name, assembly, yield)
			return
		}
		for mt, err := range r.Runtime().TypesNamed(name, assembly) {
			var t *Type
			if err == nil {
				t, err = r.Type(mt)
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// A NoTypeError reports that no loaded type has a name.
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

// Unwrap returns Err.
func (e *NoTypeError) Unwrap() error { return e.Err }

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

func (r *Reader) constructedByName(name, assembly string, yield func(*Type, error) bool) {
	if err := r.Runtime().Check(dac.FeatureTypeLists); err != nil {
		yield(nil, err)
		return
	}
	for mt, err := range r.Runtime().LoadedTypes() {
		if err != nil {
			if !yield(nil, err) {
				return
			}
			continue
		}
		if mt.IsOpen() || !mt.IsArray() && !mt.IsGeneric() {
			continue
		}
		t, err := r.matchName(mt, name, assembly)
		if (t != nil || err != nil) && !yield(t, err) {
			return
		}
	}
}

// matchName returns the type with the MethodTable mt, or nil if it has another name.
func (r *Reader) matchName(mt *dac.MethodTable, name, assembly string) (*Type, error) {
	have, err := r.Runtime().TypeName(mt.Addr, dac.NameManaged)
	if err != nil || have != name {
		return nil, err
	}
	if assembly != "" {
		if own, err := r.Runtime().TypeAssembly(mt.Addr); err != nil || !strings.EqualFold(own, assembly) {
			return nil, err
		}
	}
	return r.typeOf(mt), nil
}

// Methods iterates over the methods that the type itself declares, as dac.Runtime.Methods does. A generic instance
// yields the methods of the type with its shared code.
func (t *Type) Methods() iter.Seq2[*code.MethodDesc, error] {
	if t == nil {
		return func(yield func(*code.MethodDesc, error) bool) { yield(nil, errNoObject) }
	}
	return code.Of(t.r.Runtime()).Methods(t.MT)
}

// Statics returns the static fields that the type itself declares, including thread statics. Readable fields are
// returned even with an error.
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
