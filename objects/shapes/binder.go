package shapes

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Binder binds shapes to the types of one runtime and caches the results. It is safe for concurrent use.
type Binder struct {
	reader *objects.Reader
	open   func() (*heap.Heap, error)

	mu sync.Mutex
	// tables has a *table by a nil *S, where S points to the shape; it is replaced as a whole when one is added. Neither it nor a method
	// of Binder mentions package reflect: every package that reaches a Binder would compile 120 functions for reflect.Type.
	tables atomic.Pointer[map[any]any]
	names  sync.Map // *objects.Type -> *name
}

// A table has the types that one shape was bound to.
type table struct {
	schema *schema
	byType sync.Map // *objects.Type -> *bound
}

// A bound is a shape bound to a type, or the reason why it could not be.
type bound struct {
	shape any // a pointer to the shape
	err   error
}

// New returns a Binder for the types of a reader. open returns the heap, whose tables have the handles; it is called
// when first needed, and may be nil.
func New(r *objects.Reader, open func() (*heap.Heap, error)) *Binder {
	b := &Binder{reader: r, open: open}
	b.tables.Store(&map[any]any{})
	return b
}

// Objects returns the reader whose types are bound.
func (b *Binder) Objects() *objects.Reader {
	if b == nil || b.reader == nil {
		return objects.New(nil)
	}
	return b.reader
}

// tableOf returns the table of a shape, given a nil pointer to the pointer to it.
func tableOf(b *Binder, shape any) *table {
	if b == nil || b.tables.Load() == nil {
		return tableOf(New(objects.New(nil), nil), shape)
	}
	if tab, ok := (*b.tables.Load())[shape]; ok {
		return tab.(*table)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old := *b.tables.Load()
	if tab, ok := old[shape]; ok {
		return tab.(*table)
	}
	next := make(map[any]any, len(old)+1)
	for k, v := range old {
		next[k] = v
	}
	tab := &table{schema: schemaOf(reflect.TypeOf(shape).Elem())}
	next[shape] = tab
	b.tables.Store(&next)
	return tab
}

// Bind binds the shape that S points to, to type t, or returns the cached result. The shape is shared and must not be changed. The error is
// ErrOtherType if the shape is not for t, an *UnknownLayoutError if t's fields differ from those that it needs, and
// target.ErrNotInDump or ErrCorrupt if they can't be read.
//
// S is a pointer, here and elsewhere, because all pointers share one copy of a generic function's code, and structs do not.
func Bind[S any](b *Binder, t *objects.Type) (S, error) {
	s, err := b.bound((*S)(nil), t)
	if err != nil {
		var none S
		return none, err
	}
	return s.(S), nil
}

// bound is Bind for a shape by a nil *S: it does the work that needs no copy for each shape.
func (b *Binder) bound(shape any, t *objects.Type) (any, error) {
	if t == nil {
		return nil, ErrOtherType
	}
	tab := tableOf(b, shape)
	v, ok := tab.byType.Load(t)
	if !ok {
		n := &bound{err: tab.schema.err}
		if n.err == nil {
			s := reflect.New(tab.schema.typ)
			n.shape, n.err = s.Interface(), bind(b, tab.schema, t, s.Elem())
		}
		v, _ = tab.byType.LoadOrStore(t, n)
	}
	e := v.(*bound)
	return e.shape, e.err
}

// BindObject binds the shape that S points to, to the type of an object and returns the object's instance too.
func BindObject[S any](b *Binder, o objects.Object) (S, Instance, error) {
	s, err := Bind[S](b, o.Type)
	return s, Of(o), err
}

// Is reports whether the shape that S points to is for t. A shape that names no types is for all.
func Is[S any](b *Binder, t *objects.Type) (bool, error) { return b.isFor((*S)(nil), t) }

func (b *Binder) isFor(shape any, t *objects.Type) (bool, error) {
	d, err := b.definitionOf(tableOf(b, shape).schema.names, t)
	return d != nil, err
}

// bind fills in a shape.
func bind(b *Binder, s *schema, t *objects.Type, v reflect.Value) error {
	if s.err != nil {
		return s.err
	}
	d, err := b.definitionOf(s.names, t)
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
		return choose(b, s, d, v)
	}
	return slots(b, s, d, v)
}

// choose sets the first choice that fits.
func choose(b *Binder, s *schema, t *objects.Type, v reflect.Value) error {
	var unknown *UnknownLayoutError
	for _, c := range s.choices {
		part := reflect.New(c.s.typ)
		err := bind(b, c.s, t, part.Elem())
		if err == nil {
			v.Field(c.index).Set(part)
			return nil
		}
		u, ok := err.(*UnknownLayoutError)
		if !ok {
			return err
		}
		unknown = unknown.or(u)
	}
	return unknown
}

func slots(b *Binder, s *schema, t *objects.Type, v reflect.Value) error {
	var missing []string
	for i := range s.slots {
		sl := &s.slots[i]
		found, err := fill(b, sl, t, v.FieldByIndex(sl.index).Addr().Interface())
		if err != nil {
			return err
		}
		if !found && !sl.optional {
			missing = append(missing, sl.text)
		}
	}
	if missing != nil {
		return b.unknown(t, missing)
	}
	return nil
}

// fill binds one field of a shape. It reports whether the type has a field that fits.
func fill(b *Binder, sl *slot, t *objects.Type, dst any) (bool, error) {
	for _, p := range sl.names {
		at, err := b.find(t, p, sl.static)
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

// find returns the place of a field, given a path. The place is empty if there is no such field.
func (b *Binder) find(t *objects.Type, path []string, static bool) (place, error) {
	at := place{reader: b.reader}
	for i, name := range path {
		f, err := fieldOf(t, name, static)
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

// fieldOf returns the field with that name, nil if there is none. It fails if none matches and names are unknown.
func fieldOf(t *objects.Type, name string, static bool) (*objects.Field, error) {
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

// valueType returns the value type that a field holds, nil for other fields.
func (b *Binder) valueType(f *objects.Field) (*objects.Type, error) {
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
	return b.reader.Type(th)
}

// assign sets dst, a field of a shape, to the field at a place. It reports whether the field is of the right kind.
func (b *Binder) assign(dst any, at place) (bool, error) {
	f := at.field
	switch d := dst.(type) {
	case *Ref:
		if !f.RefersToObject() {
			return false, nil
		}
		d.place = at
	case *Int:
		size, signed, ok := fitsInt(f.ElementType)
		if !ok {
			return false, nil
		}
		*d = Int{at, size, signed}
	case *Struct:
		t, err := b.valueType(f)
		if err != nil || t == nil {
			return false, err
		}
		*d = Struct{at, t}
	case *Value:
		d.place = at
	case *Static:
		if f.Thread {
			return false, nil
		}
		d.field = f
	case *ThreadStatic:
		if !f.Thread {
			return false, nil
		}
		d.field = f
	}
	return true, nil
}

type name struct{ lazy.Value[string] }

// Definition returns the name of t's definition, as in metadata: "Ns.Outer`1+Inner". It is empty for an array.
func (b *Binder) Definition(t *objects.Type) (string, error) {
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

// definitionOf returns the first of t and its bases that has one of the definitions, nil if there is none. Without
// definitions it returns t. If none matches and some names are unknown, it returns an error.
func (b *Binder) definitionOf(names []string, t *objects.Type) (*objects.Type, error) {
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
