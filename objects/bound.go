package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// A Found is an object of a type that a shape is for.
type Found[S any] struct {
	Object heap.Object
	Shape  S
}

// At returns the object's instance.
func (f *Found[S]) At() Instance { return InstanceAt(f.Object.Addr) }

// BoundObjects lists the objects on the heap that the shape is for, in the order of addresses. Several workers read the heap. The
// list has an error for each place where the walk could not continue. It ends with an error for each type that does not
// fit, and one for types without a readable name, because their objects are not listed. If the list has no object, the
// errors for types are UnfoundErrors. A nil f selects all objects.
func BoundObjects[S any](ctx context.Context, b *Binder, h *heap.Heap, f *heap.Filter, o heap.ScanOptions) iter.Seq2[Found[S], error] {
	return func(yield func(Found[S], error) bool) {
		k := &finder{b: b, shape: reflect.TypeFor[S](), shapes: map[*dac.MethodTable]any{}}
		k.find(ctx, h, f, o, func(o *heap.Object, shape any, err error) bool {
			if err != nil {
				return yield(Found[S]{}, err)
			}
			return yield(Found[S]{*o, shape.(S)}, nil)
		})
	}
}

// A foundFunc takes an object and the shape bound to its type, or an error. It returns false to end the list.
type foundFunc func(o *heap.Object, shape any, err error) bool

// find calls yield for each entry of the list of On.
func (k *finder) find(ctx context.Context, h *heap.Heap, f *heap.Filter, o heap.ScanOptions, yield foundFunc) {
	only := heap.Filter{}
	if f != nil {
		only = *f
	}
	also := only.Type
	only.Type = func(mt *dac.MethodTable) bool { return (also == nil || also(mt)) && k.selects(mt) }
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	create := func() *gatherer { return &gatherer{sieve: heap.NewSieve(&only)} }
	pass := func(g *gatherer) error { return k.yieldRun(g, yield) }
	var err error
	if f == nil {
		err = heap.Select(ctx, h, only.Type, o, create, pass)
	} else {
		err = heap.Scan(ctx, h, &only, o, create, pass)
	}
	if err == nil {
		err = k.yieldTypes(yield)
	}
	if err != nil && err != errEnough {
		yield(nil, nil, err)
	}
}

// An UnfoundError reports that no object of a kind was found, although the heap may have some: the names or fields of
// some types are unreadable.
type UnfoundError struct{ Err error }

func (e *UnfoundError) Error() string {
	if e == nil || e.Err == nil {
		return "nothing was found"
	}
	return e.Err.Error()
}

// Unwrap returns e.Err.
func (e *UnfoundError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// A finder finds the objects that a shape is for. It caches the bound shapes by type.
type finder struct {
	b     *Binder
	shape reflect.Type // a pointer to the shape

	mu      sync.Mutex
	shapes  map[*dac.MethodTable]any
	errs    []typeError    // of types that do not fit, listed at the end
	unnamed workers.Lowest // the error of a type without a readable name
	found   bool           // an object was listed
}

type typeError struct {
	mt  target.Addr
	err error
}

// selects reports whether the shape is for a type and fits it.
func (k *finder) selects(mt *dac.MethodTable) bool {
	t, err := k.b.reader.TrustedType(mt.Addr)
	var is bool
	if err == nil {
		is, err = k.b.isFor(k.shape, t)
	}
	if err != nil {
		k.unnamed.Note(uint64(mt.Addr), err)
		return false
	}
	if !is {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shapes[mt] != nil {
		return true
	}
	s, err := k.b.bind(k.shape, t)
	if err == nil {
		k.shapes[mt] = s
		return true
	}
	var layout *UnknownLayoutError // names the type itself
	if name, unnamed := k.b.Definition(t); unnamed == nil && !errors.As(err, &layout) {
		err = fmt.Errorf("objects of %s: %w", name, err)
	}
	if !slices.ContainsFunc(k.errs, func(e typeError) bool { return e.mt == mt.Addr }) {
		k.errs = append(k.errs, typeError{mt.Addr, err})
	}
	return false
}

// yieldRun lists the objects and errors of a run of the heap.
func (k *finder) yieldRun(g *gatherer, yield foundFunc) error {
	at := 0
	var last *dac.MethodTable
	var s any
	for i := range g.objects {
		o := &g.objects[i]
		for ; at < len(g.corrupt) && g.corrupt[at].before == i; at++ {
			if !yield(nil, nil, g.corrupt[at].err) {
				return errEnough
			}
		}
		if o.Type != last {
			k.mu.Lock()
			last, s = o.Type, k.shapes[o.Type]
			k.mu.Unlock()
		}
		k.found = true
		if !yield(o, s, nil) {
			return errEnough
		}
	}
	for ; at < len(g.corrupt); at++ {
		if !yield(nil, nil, g.corrupt[at].err) {
			return errEnough
		}
	}
	return nil
}

// yieldTypes lists the errors of types, in the order of their addresses.
func (k *finder) yieldTypes(yield foundFunc) error {
	slices.SortStableFunc(k.errs, func(a, b typeError) int {
		if a.mt < b.mt {
			return -1
		}
		return 1
	})
	for _, e := range k.errs {
		if !yield(nil, nil, k.typeErr(e.err)) {
			return errEnough
		}
	}
	if err := k.unnamed.Err(); err != nil {
		yield(nil, nil, k.typeErr(fmt.Errorf("objects of types without a name: %w", err)))
	}
	return nil
}

// typeErr returns err, the reason why objects of a type are not listed, as an UnfoundError if no object is.
func (k *finder) typeErr(err error) error {
	if k.found {
		return err
	}
	return &UnfoundError{err}
}

// Unnamed returns an error if the heap may have objects that are not found by the name of their type. Either a type has
// no readable name, or a part of the heap is unreadable.
func (b *Binder) Unnamed() error {
	if b == nil || b.open == nil {
		return nil
	}
	h, err := b.open()
	if err != nil {
		return err
	}
	var unnamed workers.Lowest
	named := func(mt *dac.MethodTable) bool {
		t, err := b.reader.TrustedType(mt.Addr)
		if err == nil {
			_, err = b.findDefinition([]string{"<none>"}, t)
		}
		unnamed.Note(uint64(mt.Addr), err)
		return false
	}
	var corrupt error
	err = heap.Select(context.Background(), h, named, heap.ScanOptions{}, func() *gatherer { return &gatherer{sieve: heap.NewSieve(nil)} }, func(g *gatherer) error {
		if corrupt == nil && len(g.corrupt) > 0 {
			corrupt = g.corrupt[0].err
		}
		return nil
	})
	return cmp.Or(err, corrupt, unnamed.Err())
}

// A gatherer collects the selected objects of a run of the heap.
type gatherer struct {
	sieve   *heap.Sieve
	objects []heap.Object
	corrupt []corruption
}

type corruption struct {
	before int // index of the object after it
	err    error
}

// Objects adds the selected objects of a batch.
func (g *gatherer) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if o := &batch[i]; !o.Free && g.sieve.Pass(o) {
			g.objects = append(g.objects, *o)
		}
	}
}

// Corrupt records a place where the walk could not continue.
func (g *gatherer) Corrupt(c *heap.Corruption) {
	g.corrupt = append(g.corrupt, corruption{len(g.objects), c})
}

// Reset discards everything.
func (g *gatherer) Reset() { g.objects, g.corrupt = g.objects[:0], g.corrupt[:0] }

// LoadedShapes lists the loaded types that the shape names, for reading statics. It lists a generic definition itself, and no
// derived types.
func LoadedShapes[S any](b *Binder) iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		b.eachLoaded(reflect.TypeFor[S](), func(shape any, err error) bool {
			s, _ := shape.(S)
			return yield(s, err)
		})
	}
}

// eachLoaded calls yield for each type that Loaded lists, until it returns false.
func (b *Binder) eachLoaded(shape reflect.Type, yield func(any, error) bool) {
	for _, n := range b.tableOf(shape).schema.names {
		for mt, err := range b.Objects().Runtime().TypesNamed(n, "") {
			var t *Type
			if err == nil {
				t, err = b.Objects().TrustedType(mt)
			}
			var s any
			if err == nil {
				s, err = b.bind(shape, t)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// A BoundArray is an array object. Its elements are instances of a value type, or references.
type BoundArray struct {
	Array
	data target.Addr
	size uint64
}

// BindArray opens an array.
func BindArray(o Object) (BoundArray, error) {
	a, err := o.Array()
	if err != nil {
		return BoundArray{}, err
	}
	// BaseSize counts what precedes the elements, and the header word of the next object.
	return BoundArray{a, o.Addr + target.Addr(o.Type.MT.BaseSize) - 8, uint64(o.Type.MT.ComponentSize)}, nil
}

// Instance returns the n-th element, in memory order, of an array of value types.
func (a *BoundArray) Instance(n uint32) Instance {
	return Instance(a.data + target.Addr(uint64(n)*a.size))
}

// Ref returns the n-th element of an array of references, 0 for null.
func (a *BoundArray) Ref(n uint32) (target.Addr, error) {
	if n >= a.Len {
		return 0, target.Argumentf("element %d of %d", n, a.Len)
	}
	if a.Element() == nil || a.Element().MT.IsValueType() {
		return 0, target.Argumentf("the elements are not references")
	}
	return a.At(n).Addr()
}

// BindElements opens the array o and binds the shape that S points to, to its element type.
func BindElements[S any](b *Binder, o Object) (S, BoundArray, error) {
	a, err := elementsOf(o)
	if err != nil {
		var none S
		return none, a, err
	}
	s, err := Bind[S](b, a.Element())
	return s, a, err
}

// elementsOf opens an array of value types.
func elementsOf(o Object) (BoundArray, error) {
	a, err := BindArray(o)
	if err == nil && (a.Element() == nil || !a.Element().MT.IsValueType()) {
		err = ErrOtherType
	}
	return a, err
}

// fitting returns how many elements of an array fit in its segment of the heap. If that is fewer than its length, the
// error is target.ErrCorrupt. Without a heap it returns the length.
func (b *Binder) fitting(a *BoundArray) (uint32, error) {
	if b.open == nil {
		return a.Len, nil
	}
	h, err := b.open()
	if err != nil {
		return a.Len, nil // nothing contradicts it
	}
	s := h.Segment(a.Addr)
	if s == nil || uint64(a.Len)*a.size <= uint64(s.Objects.End-a.data) {
		return a.Len, nil
	}
	fit := uint32(uint64(s.Objects.End-min(a.data, s.Objects.End)) / max(1, a.size))
	return fit, target.CorruptHeapf("array %016x claims %d elements, and its segment ends after %d", uint64(a.Addr), a.Len, fit)
}
