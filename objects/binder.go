package objects

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Binder binds shapes to the types of one runtime. It binds a type once: later lookups take no lock, and reading
// allocates nothing. It is safe for concurrent use.
type Binder struct {
	reader *Reader
	open   func() (*heap.Heap, error)

	tables sync.Map // reflect.Type of a pointer to a shape -> *table
	names  sync.Map // *objects.Type -> *name
}

// A table caches the types that one shape was bound to.
type table struct {
	schema *schema
	byType sync.Map // *objects.Type -> *bound
}

// A bound is a shape bound to a type, or the reason why it could not be.
type bound struct {
	shape any // a pointer to the shape
	err   error
}

// NewBinder returns a Binder for the types of a reader. open returns the heap, which is needed to read handles. It is called
// when first needed, and may be nil.
func NewBinder(r *Reader, open func() (*heap.Heap, error)) *Binder {
	return &Binder{reader: r, open: open}
}

// Objects returns the reader of the bound types.
func (b *Binder) Objects() *Reader { return b.reader }

// tableOf returns the table of a shape, given the type of a pointer to it.
func (b *Binder) tableOf(shape reflect.Type) *table {
	tab, ok := b.tables.Load(shape)
	if !ok {
		tab, _ = b.tables.LoadOrStore(shape, &table{schema: schemaOf(shape)})
	}
	return tab.(*table)
}

// Bind binds the shape that S points to, to type t, or returns the cached result. The shape is shared and must not be
// changed. The error is ErrOtherType if the shape is not for t. It is an *UnknownLayoutError if t does not have the
// fields that the shape needs, and target.ErrNotInDump or ErrCorrupt if t's fields can't be read.
func Bind[S any](b *Binder, t *Type) (S, error) {
	s, err := b.bind(reflect.TypeFor[S](), t)
	shape, _ := s.(S) // nil for an error
	return shape, err
}

// bind binds a shape, given the type of a pointer to it. It returns such a pointer, or nil and an error.
func (b *Binder) bind(shape reflect.Type, t *Type) (any, error) {
	if t == nil {
		return nil, ErrOtherType
	}
	tab := b.tableOf(shape)
	v, ok := tab.byType.Load(t)
	if !ok {
		v, _ = tab.byType.LoadOrStore(t, b.bindNew(tab.schema, t))
	}
	e := v.(*bound)
	return e.shape, e.err
}

// bindNew binds a shape that is not in its table yet.
func (b *Binder) bindNew(s *schema, t *Type) *bound {
	if s.err != nil {
		return &bound{err: s.err}
	}
	shape := reflect.New(s.typ)
	if err := b.fill(s, t, shape.Elem()); err != nil {
		return &bound{err: err}
	}
	return &bound{shape: shape.Interface()}
}

// BindObject binds the shape that S points to, to the type of an object. It also returns the object's instance.
func BindObject[S any](b *Binder, o Object) (S, Instance, error) {
	s, err := Bind[S](b, o.Type)
	return s, InstanceOf(o), err
}

// IsShape reports whether the shape that S points to is for t. A shape that names no types is for all.
func IsShape[S any](b *Binder, t *Type) (bool, error) { return b.isFor(reflect.TypeFor[S](), t) }

func (b *Binder) isFor(shape reflect.Type, t *Type) (bool, error) {
	d, err := b.findDefinition(b.tableOf(shape).schema.names, t)
	return d != nil, err
}

// fill sets the fields of the shape v.
func (b *Binder) fill(s *schema, t *Type, v reflect.Value) error {
	if s.err != nil {
		return s.err
	}
	d, err := b.findDefinition(s.names, t)
	if err != nil {
		return err
	}
	if d == nil {
		return ErrOtherType
	}
	if s.derived {
		d = t
	}
	if len(s.choices) > 0 {
		return b.fillChoice(s, d, v)
	}
	return b.fillSlots(s, d, v)
}

// fillChoice sets the first choice that fits.
func (b *Binder) fillChoice(s *schema, t *Type, v reflect.Value) error {
	var unknown *UnknownLayoutError
	for _, c := range s.choices {
		part := reflect.New(c.s.typ)
		err := b.fill(c.s, t, part.Elem())
		if err == nil {
			v.Field(c.index).Set(part)
			return nil
		}
		u, ok := err.(*UnknownLayoutError)
		if !ok {
			return err
		}
		unknown = unknown.merge(u)
	}
	return unknown
}

// fillSlots binds every field of a shape. The error is an *UnknownLayoutError if the type does not have them.
func (b *Binder) fillSlots(s *schema, t *Type, v reflect.Value) error {
	var missing []string
	for i := range s.slots {
		sl := &s.slots[i]
		found, err := b.fillSlot(sl, t, v.FieldByIndex(sl.index).Addr().Interface())
		if err != nil {
			return err
		}
		if !found && !sl.optional {
			missing = append(missing, sl.text)
		}
	}
	if missing != nil {
		return newUnknownLayout(t, missing)
	}
	return nil
}

// fillSlot binds one field of a shape. It reports whether the type has a field that fits.
func (b *Binder) fillSlot(sl *slot, t *Type, dst any) (bool, error) {
	for _, p := range sl.names {
		at, err := b.findPlace(t, p, sl.static)
		if err != nil {
			return false, err
		}
		if at.field == nil {
			continue
		}
		if ok, err := b.assign(dst, at); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// findPlace returns the place of a field, given a path. The place is empty if there is no such field.
func (b *Binder) findPlace(t *Type, path []string, static bool) (place, error) {
	at := place{reader: b.reader}
	for i, name := range path {
		f, err := findField(t, name, static)
		if err != nil || f == nil {
			return place{}, err
		}
		at.field = f
		if i == len(path)-1 {
			break
		}
		at.base += f.Offset
		if t, err = b.valueType(f); err != nil || t == nil {
			return place{}, err
		}
	}
	return at, nil
}

// findField returns the field with that name, or nil. It fails if no field matches and some fields are unreadable.
func findField(t *Type, name string, static bool) (*Field, error) {
	var unread error
	for depth := 0; t != nil; depth++ {
		if depth > limits.ParentChain {
			return nil, target.Corruptf("type %016x has too many base classes", uint64(t.MT.Addr))
		}
		own, err := t.OwnFields()
		if err != nil {
			unread = err
		}
		for _, f := range own {
			if compilernames.Fits(f.Name, name) && f.Static == static {
				return f, nil
			}
			if f.Err() != nil {
				unread = f.Err()
			}
		}
		if t, err = t.Base(); err != nil {
			return nil, err
		}
	}
	return nil, unread
}

// valueType returns the value type of a field, nil for a field of another kind.
func (b *Binder) valueType(f *Field) (*Type, error) {
	if f.ElementType != metadata.ElementValueType {
		return nil, nil
	}
	th, err := f.TypeHandle()
	if err == nil && th != 0 {
		th, err = b.reader.Runtime().TypeHandleMethodTable(th)
	}
	if err == nil && th == 0 {
		err = fmt.Errorf("the type of field %s: %w", f.Name, target.ErrNotInDump)
	}
	if err != nil {
		return nil, err
	}
	return b.reader.TrustedType(th)
}

// assign sets dst, a field of a shape, to a place. It reports whether the managed field is of the right kind.
func (b *Binder) assign(dst any, at place) (bool, error) {
	f := at.field
	switch d := dst.(type) {
	case *RefField:
		if !f.RefersToObject() {
			return false, nil
		}
		d.place = at
	case *IntField:
		size, signed, ok := fitsInt(f.ElementType)
		if !ok {
			return false, nil
		}
		*d = IntField{at, size, signed}
	case *StructField:
		t, err := b.valueType(f)
		if err != nil || t == nil {
			return false, err
		}
		*d = StructField{at, t}
	case *ValueField:
		d.place = at
	case *StaticField:
		if f.Thread {
			return false, nil
		}
		d.field = f
	case *ThreadStaticField:
		if !f.Thread {
			return false, nil
		}
		d.field = f
	}
	return true, nil
}

type name struct{ lazy.Value[string] }

// Definition returns the name of t's definition as in metadata: "Ns.Outer`1+Inner". It is empty for an array.
func (b *Binder) Definition(t *Type) (string, error) {
	if t == nil || t.MT == nil {
		return "", target.Unsupportedf("no type")
	}
	v, ok := b.names.Load(t)
	if !ok {
		v, _ = b.names.LoadOrStore(t, &name{})
	}
	return v.(*name).Value.Get(func() (string, error) {
		return b.reader.Runtime().DefinitionName(t.MT)
	})
}

// findDefinition returns the first of t and its bases that is an instance of a named definition, or nil. Without names
// it returns t. It fails if nothing matches and some names are not in the dump.
func (b *Binder) findDefinition(names []string, t *Type) (*Type, error) {
	if len(names) == 0 {
		return t, nil
	}
	var unread error
	for depth := 0; t != nil; depth++ {
		if depth > limits.ParentChain {
			return nil, target.Corruptf("type %016x has too many base classes", uint64(t.MT.Addr))
		}
		have, err := b.Definition(t)
		if err != nil {
			unread = err
		}
		for _, n := range names {
			if n == have {
				return t, nil
			}
		}
		if t, err = t.Base(); err != nil {
			return nil, err
		}
	}
	return nil, unread
}
