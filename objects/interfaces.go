package objects

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An Interface is an interface that a type implements. The process need not
// have loaded the instance of a generic one: its arguments are known all the
// same.
type Interface struct {
	// Definition is what the type's interface map names: the interface, or the
	// definition of a generic one whose instance was not needed so far.
	Definition *Type
	// Type is the interface with its arguments, nil if it is not loaded or the dump
	// can't tell.
	Type *Type
	// Arguments are the TypeHandles of the generic arguments; 0 for one that is
	// not loaded.
	Arguments []target.Addr
}

// Name is the interface's name with its arguments, as ManagedName writes it.
func (i *Interface) Name() (string, error) {
	if i.Type != nil {
		return i.Type.ManagedName()
	}
	name, err := i.Definition.ManagedName()
	if err != nil {
		return "", err
	}
	name, _, _ = strings.Cut(name, "<")
	args := make([]string, len(i.Arguments))
	for k, th := range i.Arguments {
		if args[k] = "?"; th == 0 {
			continue
		}
		if args[k], err = i.Definition.r.rt.TypeHandleName(th, dac.NameManaged); err != nil {
			return "", err
		}
	}
	return name + "<" + strings.Join(args, ", ") + ">", nil
}

// is reports whether i is the interface t: the same one, or any instance of a
// generic definition.
func (i *Interface) is(t *Type, args []target.Addr) bool {
	if i.Type == t {
		return true
	}
	d := i.Definition.MT
	return d.Module != 0 && d.Module == t.MT.Module && d.Token == t.MT.Token && (t.MT.IsOpen() || slices.Equal(i.Arguments, args))
}

// Interfaces returns the interfaces that the type implements, itself and through
// base classes and other interfaces, in the order of the runtime.
//
// To load fewer types the runtime puts the definition of a generic interface
// into the map where it stands for an instance that follows from the type
// (methodtable.h, IsSpecialMarkerTypeForGenericCasting: "the special marker type
// is the open generic type"; since .NET 6): that of System.Decimal names
// IEquatable<T> for IEquatable<System.Decimal>, that of IList<System.Char> since
// .NET 9 ICollection<T> for ICollection<System.Char>. The map of a type that is
// not loaded to the end has definitions in all versions. Interfaces resolves
// these.
func (t *Type) Interfaces() ([]Interface, error) {
	return t.ifaces.Get(t.readInterfaces)
}

func (t *Type) readInterfaces() ([]Interface, error) {
	addrs, err := t.r.rt.Interfaces(t.MT)
	if err != nil {
		return nil, err
	}
	list := make([]Interface, 0, len(addrs))
	var declared declaredInterfaces
	for _, a := range addrs {
		i, err := t.r.Type(a)
		if err != nil {
			return list, fmt.Errorf("interfaces of %016x: %w", uint64(t.MT.Addr), err)
		}
		if !i.MT.IsOpen() || t.MT.IsOpen() {
			args, err := i.Arguments()
			if err != nil {
				return list, err
			}
			list = append(list, Interface{Definition: i, Type: i, Arguments: args})
			continue
		}
		marked, err := t.marked(i, &declared)
		if err != nil {
			return list, err
		}
		list = append(list, marked)
	}
	return list, nil
}

// marked is the interface that the definition i stands for in t's map: of a type that is loaded to the end the
// instance over the type that special markers stand for; of another one what metadata declares, and that instance
// for interfaces that come with others.
func (t *Type) marked(i *Type, declared *declaredInterfaces) (Interface, error) {
	out := Interface{Definition: i}
	loaded, err := t.r.rt.IsFullyLoaded(t.MT)
	if !loaded {
		declared.read(t)
		out.Arguments = declared.of[declaredKey{i.MT.Module, i.MT.Token}]
		if unknown := errors.Join(err, declared.err); out.Arguments == nil && declared.err != nil {
			return out, fmt.Errorf("the interfaces that %016x declares: %w", uint64(t.MT.Addr), unknown)
		}
	}
	if out.Arguments == nil {
		params, err := i.Arguments()
		if err != nil {
			return out, err
		}
		self, err := t.markerArgument()
		if err != nil {
			return out, err
		}
		out.Arguments = slices.Repeat([]target.Addr{self}, len(params))
	}
	// Where the dump can't tell, the definition and the arguments are the answer.
	if th, _ := t.r.rt.GenericInstance(i.MT, out.Arguments); th != 0 {
		var err error
		if out.Type, err = t.r.Type(th); err != nil {
			return out, err
		}
	}
	return out, nil
}

// markerArgument is the type that every parameter of a special marker in t's map
// stands for (methodtable.h, GetSpecialInstantiationType): of a generic interface
// its first argument, of other types the type itself.
func (t *Type) markerArgument() (target.Addr, error) {
	args, err := t.Arguments()
	if err == nil && t.MT.IsInterface() && len(args) > 0 {
		return args[0], nil
	}
	return t.MT.Addr, err
}

type declaredKey struct {
	module target.Addr
	token  metadata.Token
}

// declaredInterfaces are the arguments of the generic interfaces that metadata
// says a type and its base classes implement, by definition. An interface that is
// implemented with several arguments has no marker and is left out. What can't be read
// is left out too, and err says so.
type declaredInterfaces struct {
	of  map[declaredKey][]target.Addr
	err error
}

// read reads those of t, once.
func (d *declaredInterfaces) read(t *Type) {
	if d.of != nil {
		return
	}
	d.of = map[declaredKey][]target.Addr{}
	for depth := 0; t != nil && depth < limits.ParentChain; depth++ {
		d.lacks(d.add(t))
		base, err := t.Base()
		d.lacks(err)
		t = base
	}
}

// lacks notes the first error.
func (d *declaredInterfaces) lacks(err error) {
	if d.err == nil {
		d.err = err
	}
}

// add adds what t itself declares.
func (d *declaredInterfaces) add(t *Type) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	md, err := c.Module.Metadata()
	if err != nil || t.MT.IsArray() {
		return err
	}
	rows, err := md.InterfaceImpls(t.MT.Token.Row())
	if err != nil {
		return err
	}
	seen := map[declaredKey]bool{}
	for rid, err := range rows.All() {
		if err != nil {
			d.lacks(err)
			continue
		}
		key, args, ok, err := t.declaredInterface(md, rid, c)
		if d.lacks(err); !ok {
			continue
		}
		if _, inherited := d.of[key]; seen[key] || inherited {
			delete(d.of, key)
		} else {
			d.of[key] = args
		}
		seen[key] = true
	}
	return nil
}

// declaredInterface resolves a row of the InterfaceImpl table, and reports whether that names an
// instance of a generic interface whose types are loaded.
func (t *Type) declaredInterface(md *metadata.Metadata, rid uint32, c dac.SigContext) (key declaredKey, args []target.Addr, ok bool, err error) {
	row, err := md.InterfaceImpl(rid)
	if err != nil || row.Interface.Table() != metadata.TableTypeSpec {
		return key, nil, false, err
	}
	spec, err := md.TypeSpec(row.Interface.Row())
	if err != nil {
		return key, nil, false, err
	}
	blob, err := md.Blob(spec.Signature)
	if err != nil {
		return key, nil, false, err
	}
	sig, err := metadata.ParseTypeSpec(blob)
	if err != nil || sig.Kind != metadata.ElementGenericInst {
		return key, nil, false, err
	}
	def, err := t.r.rt.ResolveType(sig.Elem, c)
	if err != nil || def == 0 {
		return key, nil, false, err
	}
	mt, err := t.r.rt.TrustedMethodTable(def)
	if err != nil {
		return key, nil, false, err
	}
	args = make([]target.Addr, len(sig.Args))
	for i := range sig.Args {
		if args[i], err = t.r.rt.ResolveType(&sig.Args[i], c); err != nil {
			return key, nil, false, err
		}
	}
	return declaredKey{mt.Module, mt.Token}, args, true, nil
}

// Implements reports whether the type implements the interface i: that very
// instance, or any instance if i is the definition of a generic interface. Where
// interfaces of the type are not known and it is not among the others, the error
// says so. Variance does not count, nor do the generic interfaces that the
// runtime invents for arrays.
func (t *Type) Implements(i *Type) (bool, error) {
	list, err := t.Interfaces()
	args, aerr := i.Arguments()
	if aerr != nil {
		return false, aerr
	}
	if slices.ContainsFunc(list, func(x Interface) bool { return x.is(i, args) }) {
		return true, nil
	}
	return false, err
}

// IsAssignableTo reports whether a variable of type to can hold an object of
// the type: to is the type itself, a base class, an interface that it
// implements, or, of an array of references, an array of the same rank whose
// elements can hold its elements. Like Implements it knows no variance.
func (t *Type) IsAssignableTo(to *Type) (bool, error) {
	for depth, at := 0, t; at != nil; depth++ {
		if at == to {
			return true, nil
		}
		if depth > limits.ParentChain {
			return false, target.Corruptf("type %016x has no end of base classes", uint64(t.MT.Addr))
		}
		base, err := at.Base()
		if err != nil {
			return false, err
		}
		at = base
	}
	switch {
	case to.MT.IsInterface():
		return t.Implements(to)
	case t.MT.IsArray() && to.MT.IsArray():
		return t.elementsAssignableTo(to)
	}
	return false, nil
}

func (t *Type) elementsAssignableTo(to *Type) (bool, error) {
	rank, err := t.r.rt.ArrayRank(t.MT)
	if err != nil {
		return false, err
	}
	other, err := t.r.rt.ArrayRank(to.MT)
	if err != nil || rank != other || t.MT.Category() != to.MT.Category() {
		return false, err
	}
	from, err := t.Element()
	if err != nil {
		return false, err
	}
	elem, err := to.Element()
	if err != nil || from.MT.IsValueType() || elem.MT.IsValueType() {
		return false, err
	}
	return from.IsAssignableTo(elem)
}
