package objects

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Type is the type of objects or values. It is shared and safe for concurrent use. The methods of a nil Type, which
// the zero Object has, fail.
type Type struct {
	MT *dac.MethodTable
	r  *Reader

	args   lazy.Value[[]target.Addr]
	own    lazy.Value[[]*Field]
	fields lazy.Value[[]*Field]
	byName lazy.Value[map[string]*Field]
	enum   lazy.Value[*Enum]
	ifaces lazy.Value[[]Interface]
	row    lazy.Value[int] // see InlineLength
	parts  lazy.Value[int] // see elements

	native, managed lazy.Value[string]
	pairs           lazy.Value[[]Pair]
	named           lazy.Value[[]*Field]
	labels          lazy.Value[[]string] // see Struct.braces
	form            lazy.Value[lineForm] // see Struct.appendInline
}

// Name returns the type's name in the form of dumpobj: dac.NameNative.
func (t *Type) Name() (string, error) {
	if t == nil {
		return "", errNoObject
	}
	return t.native.Get(func() (string, error) { return t.r.Runtime().TypeName(t.MT.Addr, dac.NameNative) })
}

// ManagedName returns the type's name in the form of dumpheap: dac.NameManaged.
func (t *Type) ManagedName() (string, error) {
	if t == nil {
		return "", errNoObject
	}
	return t.managed.Get(func() (string, error) { return t.r.Runtime().TypeName(t.MT.Addr, dac.NameManaged) })
}

// Base returns the base class, nil for System.Object and interfaces.
func (t *Type) Base() (*Type, error) {
	if t == nil {
		return nil, errNoObject
	}
	if t.MT.Parent == 0 {
		return nil, nil
	}
	return t.r.TrustedType(t.MT.Parent)
}

// Module returns the module that defines the type.
func (t *Type) Module() (*dac.Module, error) {
	if t == nil {
		return nil, errNoObject
	}
	return t.r.Runtime().ModuleOf(t.MT)
}

// metadata returns the metadata of the type's module.
func (t *Type) metadata() (*metadata.Metadata, error) {
	m, err := t.Module()
	if err != nil {
		return nil, err
	}
	return m.Metadata()
}

// IsString reports whether the type is System.String.
func (t *Type) IsString() bool {
	if t == nil {
		return false
	}
	s := t.r.Runtime().WellKnown().String
	if s != 0 {
		return t.MT.Addr == s
	}
	return t.MT.HasComponents() && !t.MT.IsArray() && t.MT.ComponentSize == 2
}

// ElementType returns the runtime's normalised element type: the underlying type for an enum, metadata.ElementValueType
// for most structs, Class for classes.
func (t *Type) ElementType() (metadata.ElementType, error) {
	if t == nil {
		return 0, errNoObject
	}
	return t.r.Runtime().ElementType(t.MT)
}

// Element returns the type of an array's elements. The error is target.ErrArgument if t is not an array, and
// target.ErrUnsupported if the elements are pointers, which have no MethodTable.
func (t *Type) Element() (*Type, error) {
	if t == nil {
		return nil, errNoObject
	}
	if !t.MT.IsArray() {
		return nil, target.Argumentf("type %016x is not an array", uint64(t.MT.Addr))
	}
	th := t.MT.PerInstInfo
	mt, err := t.r.Runtime().TypeHandleMethodTable(th)
	if err == nil && mt == 0 {
		err = target.Unsupportedf("elements of type %016x have no MethodTable: pointers", uint64(th))
	}
	if err != nil {
		return nil, err
	}
	return t.r.TrustedType(mt)
}

// Arguments returns a copy of the list of TypeHandles of the generic arguments.
func (t *Type) Arguments() ([]target.Addr, error) {
	list, err := t.arguments()
	return slices.Clone(list), err
}

func (t *Type) arguments() ([]target.Addr, error) {
	if t == nil {
		return nil, errNoObject
	}
	return t.args.Get(func() ([]target.Addr, error) { return t.r.Runtime().TypeArguments(t.MT) })
}

// context returns the generic context for signatures in the type's definition.
func (t *Type) context() (dac.SigContext, error) {
	m, err := t.Module()
	if err != nil {
		return dac.SigContext{}, err
	}
	args, err := t.arguments()
	return dac.SigContext{Module: m, TypeArgs: args}, err
}

// OwnFields returns a copy of the list of fields that the type itself declares, in the runtime's order: instance fields,
// then statics.
func (t *Type) OwnFields() ([]*Field, error) {
	list, err := t.ownFields()
	return slices.Clone(list), err
}

func (t *Type) ownFields() ([]*Field, error) {
	if t == nil {
		return nil, errNoObject
	}
	return t.own.Get(t.readOwnFields)
}

// IsFree reports whether t is the type of free blocks. Its MethodTable has neither class nor module.
func (t *Type) IsFree() bool { return t != nil && t.MT.Addr == t.r.Runtime().WellKnown().Free }

func (t *Type) readOwnFields() ([]*Field, error) {
	if t.IsFree() {
		return nil, nil
	}
	descs, err := t.r.Runtime().Fields(t.MT)
	// One allocation for all fields, because a type is read as a whole.
	all, out := make([]Field, len(descs)), make([]*Field, len(descs))
	for i := range descs {
		all[i] = Field{FieldDesc: descs[i], Declaring: t}
		all[i].read()
		out[i] = &all[i]
	}
	return out, err
}

// Fields returns a copy of the list of all fields, instance and static, base classes first, in the order of dumpobj. If a
// class is unreadable, the other fields are returned with the error.
func (t *Type) Fields() ([]*Field, error) {
	list, err := t.allFields()
	return slices.Clone(list), err
}

func (t *Type) allFields() ([]*Field, error) {
	if t == nil {
		return nil, errNoObject
	}
	return t.fields.Get(t.readFields)
}

func (t *Type) readFields() ([]*Field, error) {
	var chain []*Type
	var firstErr error
	for at := t; at != nil; {
		if len(chain) > limits.ParentChain {
			return nil, target.Corruptf("type %016x has too many base classes", uint64(t.MT.Addr))
		}
		chain = append(chain, at)
		base, err := at.Base()
		if err != nil {
			firstErr = fmt.Errorf("base class of %016x: %w", uint64(at.MT.Addr), err)
		}
		at = base
	}
	var out []*Field
	for i := len(chain) - 1; i >= 0; i-- {
		own, err := chain[i].ownFields()
		out = append(out, own...)
		if err != nil && firstErr == nil {
			firstErr = err
		}
	}
	return out, firstErr
}

// InstanceField returns an instance field by name. If several classes declare the name, it returns the most derived
// field. The error is target.ErrNoSuch if no class declares it.
func (t *Type) InstanceField(name string) (*Field, error) {
	if t == nil {
		return nil, errNoObject
	}
	m, err := t.byName.Get(func() (map[string]*Field, error) {
		fields, err := t.allFields()
		m := make(map[string]*Field, len(fields))
		for _, f := range fields {
			if !f.Static {
				m[f.Name] = f
			}
		}
		return m, err
	})
	if f := m[name]; f != nil {
		return f, nil
	}
	if err == nil {
		err = target.NoSuchf("type %016x has no field %s", uint64(t.MT.Addr), name)
	}
	return nil, err
}

// StaticField returns a static field that the type itself declares, including thread statics. The error is
// target.ErrNoSuch if the type declares no such field.
func (t *Type) StaticField(name string) (*Field, error) {
	own, err := t.ownFields()
	for _, f := range own {
		if f.Static && f.Name == name {
			return f, nil
		}
	}
	if err == nil {
		err = target.NoSuchf("type %016x has no static field %s", uint64(t.MT.Addr), name)
	}
	return nil, err
}

func (t *Type) read(data target.Addr, name string) Value {
	if t == nil {
		return Value{err: errNoObject}
	}
	f, err := t.InstanceField(name)
	if err != nil {
		return Value{err: err, r: t.r}
	}
	return f.At(data)
}

func (t *Type) values(data target.Addr) iter.Seq2[*Field, Value] {
	return func(yield func(*Field, Value) bool) {
		if t == nil {
			return
		}
		fields, _ := t.allFields()
		for _, f := range fields {
			if !f.Static && !yield(f, f.At(data)) {
				return
			}
		}
	}
}

// A Field is a field of a type. FieldDesc comes from the runtime; name and declared type come from metadata.
type Field struct {
	dac.FieldDesc
	Name       string
	Declaring  *Type
	Attributes uint16 // FieldAttributes, ECMA-335 II.23.1.5

	sig    metadata.TypeSig
	err    error // why the name or signature is unknown
	exact  lazy.Value[target.Addr]
	typ    lazy.Value[*Type] // see declared
	shared lazy.Value[target.Addr]
}

// view returns the memory of a value of the type, for use with Field.readFrom. It is nil if the memory is not in one
// piece.
func (t *Type) view(data target.Addr) []byte {
	b, _ := t.r.mem.View(data, int(t.MT.BaseSize-min(t.MT.BaseSize, boxBytes)))
	return b
}

// readFrom reads the field as At does, from b if b is not nil.
func (f *Field) readFrom(b []byte, data target.Addr) Value {
	if int(f.ElementType) < len(kinds) {
		size := uint64(kinds[f.ElementType].size)
		if end := uint64(f.Offset) + size; size > 0 && end <= uint64(len(b)) {
			return Value{r: f.Declaring.r, at: data + target.Addr(f.Offset), bits: cursor.Uint(b[f.Offset:end]), elem: f.ElementType, field: f}
		}
	}
	return f.At(data)
}

// read reads the field's name, attributes and signature from metadata.
func (f *Field) read() {
	f.err = func() error {
		md, err := f.Declaring.metadata()
		if err != nil {
			return err
		}
		row, err := md.Field(f.Token.Row())
		if err != nil {
			return err
		}
		f.Attributes = row.Flags
		if f.Name, err = md.String(row.Name); err != nil {
			return err
		}
		blob, err := md.Blob(row.Signature)
		if err != nil {
			return err
		}
		f.sig, err = metadata.ParseFieldSig(blob)
		return err
	}()
	if f.err != nil {
		f.err = fmt.Errorf("field %v of %016x: %w", f.Token, uint64(f.Declaring.MT.Addr), f.err)
	}
}

// Err returns why the field's name or signature is unknown, or nil.
func (f *Field) Err() error { return f.err }

// Signature returns the field's declared type. It is nil if and only if Err is not nil.
func (f *Field) Signature() *metadata.TypeSig {
	if f.err != nil {
		return nil
	}
	return f.sig.Unmodified()
}

// inPlace reports whether the field holds a value, as opposed to a reference or pointer. SOS marks it VT.
func (f *Field) inPlace() bool {
	et := f.ElementType
	return et >= metadata.ElementBoolean && et <= metadata.ElementR8 || et == metadata.ElementValueType ||
		et == metadata.ElementI || et == metadata.ElementU
}

// TypeHandle returns the field's type, 0 if it is not loaded. Type parameters are replaced by the object's type
// arguments.
func (f *Field) TypeHandle() (target.Addr, error) {
	return f.exact.Get(func() (target.Addr, error) { return f.resolve(f.Declaring) })
}

// declared returns the field's type, or nil if it is not loaded or has no MethodTable.
func (f *Field) declared() (*Type, error) {
	return f.typ.Get(func() (*Type, error) {
		r := f.Declaring.r
		th, err := f.TypeHandle()
		if err == nil && th != 0 {
			th, err = r.Runtime().TypeHandleMethodTable(th)
		}
		if err != nil || th == 0 {
			return nil, err
		}
		return r.TrustedType(th)
	})
}

// sharedTypeHandle returns TypeHandle as in shared generic code and in SOS: type arguments that are references are
// System.__Canon.
func (f *Field) sharedTypeHandle() (target.Addr, error) {
	return f.shared.Get(func() (target.Addr, error) {
		if f.Declaring == nil {
			return 0, errNoObject
		}
		canon, err := f.Declaring.r.TrustedType(f.Declaring.MT.Canonical)
		if errors.Is(err, target.ErrNotInDump) {
			canon, err = f.Declaring, nil
		}
		if err != nil {
			return 0, err
		}
		return f.resolve(canon)
	})
}

func (f *Field) resolve(owner *Type) (target.Addr, error) {
	if f.err != nil {
		return 0, f.err
	}
	c, err := owner.context()
	if err != nil {
		return 0, err
	}
	return f.Declaring.r.Runtime().ResolveType(&f.sig, c)
}

// TypeName returns the name of the field's type, loaded or not.
func (f *Field) TypeName(style dac.NameStyle) (string, error) {
	if f.err != nil {
		return "", f.err
	}
	c, err := f.Declaring.context()
	if err != nil {
		return "", err
	}
	return f.Declaring.r.Runtime().SigTypeName(&f.sig, c, style)
}

// At reads an instance field. data is the address of the instance's fields: the object's address plus eight, or the
// address of a struct. At does not prove that the instance is of the field's type: Object.Value and Struct.Value do. The
// value's error is target.ErrArgument for a static field.
func (f *Field) At(data target.Addr) Value {
	if f == nil || f.Declaring == nil {
		return Value{err: errNoField}
	}
	if f.Static {
		return Value{r: f.Declaring.r, elem: f.ElementType, field: f, err: f.misused()}
	}
	return f.Declaring.r.value(f.ElementType, data+target.Addr(f.Offset), f, nil)
}

// otherShape reports whether err means that an object does not have the fields that were sought: another version of its
// class, or another class.
func otherShape(err error) bool {
	return errors.Is(err, target.ErrNoSuch) || errors.Is(err, target.ErrArgument) || errors.Is(err, target.ErrNull) ||
		errors.Is(err, target.ErrUnsupported)
}

// errNoField is the error for a nil Field.
var errNoField = target.Argumentf("no field was given")

// misused returns the error for a field of another kind than its reader needs.
func (f *Field) misused() error {
	kind, call := "an instance field", "Object.Value and Struct.Value read it"
	switch {
	case f.Thread:
		kind, call = "a thread static", "ThreadStatic reads it"
	case f.Static:
		kind, call = "static", "StaticValue reads it"
	}
	return target.Argumentf("field %s of %016x is %s: %s", f.Name, uint64(f.Declaring.MT.Addr), kind, call)
}

// value reads the instance field f, which t or a base class declares, from the fields at data.
func (t *Type) value(data target.Addr, f *Field) Value {
	if t == nil {
		return Value{err: errNoObject}
	}
	if f == nil || f.Declaring == nil {
		return Value{err: errNoField}
	}
	if err := t.inherits(f); err != nil {
		return Value{r: t.r, elem: f.ElementType, field: f, err: err}
	}
	return f.At(data)
}

// inherits returns an error unless t or one of its base classes declares f.
func (t *Type) inherits(f *Field) error {
	at := t
	for range limits.ParentChain {
		if at == f.Declaring {
			return nil
		}
		base, err := at.Base()
		if err != nil {
			return fmt.Errorf("base class of %016x: %w", uint64(at.MT.Addr), err)
		}
		if base == nil {
			break
		}
		at = base
	}
	return target.Argumentf("field %s belongs to type %016x, and not to %016x", f.Name, uint64(f.Declaring.MT.Addr), uint64(t.MT.Addr))
}
