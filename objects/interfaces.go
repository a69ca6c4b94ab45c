package objects

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An Interface is an interface that a type implements. Its arguments are known even if the process has not loaded the
// generic instance.
type Interface struct {
	// Definition is the interface in the type's interface map. For a generic interface it is the generic definition
	// if no instance was needed yet.
	Definition *Type
	Type       *Type         // the interface with its arguments, nil if it is not loaded or unknown
	Arguments  []target.Addr // TypeHandle of each generic argument, 0 if it is not loaded
}

// Name returns the interface's name with its arguments, in the form of ManagedName.
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
		if args[k], err = i.Definition.r.Runtime().TypeName(th, dac.NameManaged); err != nil {
			return "", err
		}
	}
	return name + "<" + strings.Join(args, ", ") + ">", nil
}

// matches reports whether i is the interface t. If t is a generic definition, any instance of it matches.
func (i *Interface) matches(t *Type, args []target.Addr) bool {
	if i.Type == t {
		return true
	}
	d := i.Definition.MT
	return d.Module != 0 && d.Module == t.MT.Module && d.Token == t.MT.Token && (t.MT.IsOpen() || slices.Equal(i.Arguments, args))
}

// Interfaces returns the interfaces that the type implements, directly or through base classes and other interfaces, in
// the order of the runtime.
//
// To load fewer types, the runtime puts the definition of a generic interface into the map instead of an instance that
// it can derive (methodtable.h, IsSpecialMarkerTypeForGenericCasting, since .NET 6). The map of System.Decimal has
// IEquatable<T> for IEquatable<System.Decimal>. Since .NET 9 the map of IList<System.Char> has ICollection<T> for
// ICollection<System.Char>. The map of a partly loaded type has definitions in all versions. Interfaces resolves these.
//
// The list is a copy. Its Arguments are shared, and must not be changed.
func (t *Type) Interfaces() ([]Interface, error) {
	list, err := t.interfaces()
	return slices.Clone(list), err
}

func (t *Type) interfaces() ([]Interface, error) { return t.ifaces.Get(t.readInterfaces) }

func (t *Type) readInterfaces() ([]Interface, error) {
	addrs, err := t.r.Runtime().Interfaces(t.MT)
	if err != nil {
		return nil, err
	}
	list := make([]Interface, 0, len(addrs))
	var declared declaredInterfaces
	for _, a := range addrs {
		i, err := t.r.TrustedType(a)
		if err != nil {
			return list, fmt.Errorf("interfaces of %016x: %w", uint64(t.MT.Addr), err)
		}
		if !i.MT.IsOpen() || t.MT.IsOpen() {
			args, err := i.arguments()
			if err != nil {
				return list, err
			}
			list = append(list, Interface{Definition: i, Type: i, Arguments: args})
			continue
		}
		marked, err := t.resolveMarker(i, &declared)
		if err != nil {
			return list, err
		}
		list = append(list, marked)
	}
	return list, nil
}

// resolveMarker returns the interface that the definition i in t's map stands for. For a loaded type it is the instance
// over the marker argument. For a partly loaded type it is the declaration in metadata, or else that instance.
func (t *Type) resolveMarker(i *Type, declared *declaredInterfaces) (Interface, error) {
	out := Interface{Definition: i}
	loaded, err := t.r.Runtime().IsFullyLoaded(t.MT)
	if !loaded {
		declared.read(t)
		out.Arguments = declared.of[declaredKey{i.MT.Module, i.MT.Token}]
		if unknown := errors.Join(err, declared.err); out.Arguments == nil && declared.err != nil {
			return out, fmt.Errorf("the interfaces that %016x declares: %w", uint64(t.MT.Addr), unknown)
		}
	}
	if out.Arguments == nil {
		params, err := i.arguments()
		if err != nil {
			return out, err
		}
		self, err := t.markerArgument()
		if err != nil {
			return out, err
		}
		out.Arguments = slices.Repeat([]target.Addr{self}, len(params))
	}
	// If the instance is not in the dump, the definition and the arguments are the answer.
	if th, _ := t.r.Runtime().GenericInstance(i.MT, out.Arguments); th != 0 {
		var err error
		if out.Type, err = t.r.TrustedType(th); err != nil {
			return out, err
		}
	}
	return out, nil
}

// markerArgument returns the type argument of a marker in t's map (methodtable.h, GetSpecialInstantiationType). For a
// generic interface it is the first argument, for other types the type itself.
func (t *Type) markerArgument() (target.Addr, error) {
	args, err := t.arguments()
	if err == nil && t.MT.IsInterface() && len(args) > 0 {
		return args[0], nil
	}
	return t.MT.Addr, err
}

type declaredKey struct {
	module target.Addr
	token  metadata.Token
}

// declaredInterfaces maps the definitions of generic interfaces to the arguments with which metadata declares them for
// a type and its base classes. It omits interfaces with several declarations, which have no marker, and unreadable
// ones. err is the first reason for the latter.
type declaredInterfaces struct {
	of  map[declaredKey][]target.Addr
	err error
}

// read reads the declarations of t once.
func (d *declaredInterfaces) read(t *Type) {
	if d.of != nil {
		return
	}
	d.of = map[declaredKey][]target.Addr{}
	for depth := 0; t != nil && depth < limits.ParentChain; depth++ {
		d.note(d.add(t))
		base, err := t.Base()
		d.note(err)
		t = base
	}
}

// note records the first error.
func (d *declaredInterfaces) note(err error) { d.err = cmp.Or(d.err, err) }

// add adds the declarations of t itself.
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
			d.note(err)
			continue
		}
		key, args, ok, err := t.declaredInterface(md, rid, c)
		if d.note(err); !ok {
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

// declaredInterface resolves a row of the InterfaceImpl table. ok reports whether the row is an instance of a generic
// interface with loaded types.
func (t *Type) declaredInterface(md *metadata.Metadata, rid uint32, c dac.SigContext) (key declaredKey, args []target.Addr, ok bool, err error) {
	row, err := md.InterfaceImpl(rid)
	if err != nil || row.Interface.Table() != metadata.TableTypeSpec {
		return key, nil, false, err
	}
	sig, err := md.TypeSpecSig(row.Interface.Row())
	if err != nil || sig.Kind != metadata.ElementGenericInst {
		return key, nil, false, err
	}
	def, err := t.r.Runtime().ResolveType(sig.Elem, c)
	if err != nil || def == 0 {
		return key, nil, false, err
	}
	mt, err := t.r.Runtime().TrustedMethodTable(def)
	if err != nil {
		return key, nil, false, err
	}
	args = make([]target.Addr, len(sig.Args))
	for i := range sig.Args {
		if args[i], err = t.r.Runtime().ResolveType(&sig.Args[i], c); err != nil {
			return key, nil, false, err
		}
	}
	return declaredKey{mt.Module, mt.Token}, args, true, nil
}

// Implements reports whether the type implements the interface i. Any instance of a generic definition i counts.
// Variance and the generic interfaces of arrays do not count. If some interfaces are unknown and no known one matches,
// it fails.
func (t *Type) Implements(i *Type) (bool, error) {
	if t == nil || i == nil {
		return false, errNoObject
	}
	list, err := t.interfaces()
	args, aerr := i.arguments()
	if aerr != nil {
		return false, aerr
	}
	if slices.ContainsFunc(list, func(x Interface) bool { return x.matches(i, args) }) {
		return true, nil
	}
	return false, err
}

// IsAssignableTo reports whether a variable of type to can hold an object of this type. It can if to is the type, a
// base class or an implemented interface, or if both are arrays of the same rank with assignable references as
// elements. Variance does not count.
func (t *Type) IsAssignableTo(to *Type) (bool, error) {
	if t == nil || to == nil {
		return false, errNoObject
	}
	for depth, at := 0, t; at != nil; depth++ {
		if at == to {
			return true, nil
		}
		if depth > limits.ParentChain {
			return false, target.Corruptf("type %016x has too many base classes", uint64(t.MT.Addr))
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
	rank, err := t.r.Runtime().ArrayRank(t.MT)
	if err != nil {
		return false, err
	}
	other, err := t.r.Runtime().ArrayRank(to.MT)
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
