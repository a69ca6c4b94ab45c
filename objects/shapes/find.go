package shapes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Found is an object of a type that a shape is for.
type Found[S any] struct {
	Object heap.Object
	Shape  S
}

// At returns the object's instance.
func (f *Found[S]) At() Instance { return OfAddr(f.Object.Addr) }

// On lists the objects of the heap that the shape is for, in the order of addresses. Several workers read them, and each
// type is examined once. The list contains errors for places where the walk could not go on, and for each type that
// does not fit. It ends with errors for types whose names are not in the dump, since their objects are missing. Where no object
// is listed, the errors for types are UnfoundErrors.
func On[S any](ctx context.Context, b *Binder, h *heap.Heap, f *heap.Filter, o heap.ScanOptions) iter.Seq2[Found[S], error] {
	return func(yield func(Found[S], error) bool) {
		k := &finder{b: b, shape: (*S)(nil), shapes: map[*dac.MethodTable]any{}}
		k.find(ctx, h, f, o, func(o *heap.Object, shape any, err error) bool {
			if err != nil {
				return yield(Found[S]{}, err)
			}
			return yield(Found[S]{*o, shape.(S)}, nil)
		})
	}
}

// A passer takes an object and the shape bound to its type, or an error. It reports whether it wants more.
type passer func(o *heap.Object, shape any, err error) bool

// find passes what On lists.
func (k *finder) find(ctx context.Context, h *heap.Heap, f *heap.Filter, o heap.ScanOptions, yield passer) {
	only := heap.Filter{}
	if f != nil {
		only = *f
	}
	also := only.Type
	only.Type = func(mt *dac.MethodTable) bool { return (also == nil || also(mt)) && k.choose(mt) }
	ctx, cancel := context.WithCancel(absent.Context(ctx))
	defer cancel()
	create := func() *gatherer { return &gatherer{sieve: heap.NewSieve(&only)} }
	pass := func(g *gatherer) error { return k.pass(g, yield) }
	var err error
	if f == nil {
		err = heap.Select(ctx, h, only.Type, o, create, pass)
	} else {
		err = heap.Scan(ctx, h, &only, o, create, pass)
	}
	if err == nil {
		err = k.rest(yield)
	}
	if err != nil && err != errEnough {
		yield(nil, nil, err)
	}
}

var errEnough = target.Unsupportedf("the caller stopped the list")

// An UnfoundError reports that nothing is known to be of a kind, although objects may be: those of types without a name, or of types
// whose fields can't be read.
type UnfoundError struct{ Err error }

func (e *UnfoundError) Error() string {
	if e == nil || e.Err == nil {
		return "nothing was found"
	}
	return e.Err.Error()
}

// Unwrap returns the reason.
func (e *UnfoundError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// A finder caches the types of objects seen so far.
type finder struct {
	b     *Binder
	shape any // a nil *S

	mu      sync.Mutex
	shapes  map[*dac.MethodTable]any
	errs    []typeError    // not yet in the list
	unnamed workers.Lowest // types without a name
	found   bool           // an object is in the list
}

type typeError struct {
	mt  target.Addr
	err error
}

// choose reports whether objects of a type are wanted.
func (k *finder) choose(mt *dac.MethodTable) bool {
	t, err := k.b.reader.Type(mt.Addr)
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
	s, err := k.b.bound(k.shape, t)
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

// pass passes the objects and errors of a run of the heap.
func (k *finder) pass(g *gatherer, yield passer) error {
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

// rest passes the remaining errors of types, in the order of the types' addresses.
func (k *finder) rest(yield passer) error {
	slices.SortStableFunc(k.errs, func(a, b typeError) int {
		if a.mt < b.mt {
			return -1
		}
		return 1
	})
	for _, e := range k.errs {
		if !yield(nil, nil, k.missing(e.err)) {
			return errEnough
		}
	}
	if err := k.unnamed.Err(); err != nil {
		yield(nil, nil, k.missing(fmt.Errorf("objects of types without a name: %w", err)))
	}
	return nil
}

// missing returns err, why objects of a type are not in the list.
func (k *finder) missing(err error) error {
	if k.found {
		return err
	}
	return &UnfoundError{err}
}

// Unnamed returns why the heap may have objects of a type that no name finds: a type without one, or a place that can't be read.
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
		t, err := b.reader.Type(mt.Addr)
		if err == nil {
			_, err = b.definitionOf([]string{"<none>"}, t)
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

// A gatherer gathers the selected objects of a run.
type gatherer struct {
	sieve   *heap.Sieve
	objects []heap.Object
	corrupt []corruption
}

type corruption struct {
	before int // index of the object after it
	err    error
}

// Objects gathers a batch.
func (g *gatherer) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if o := &batch[i]; !o.Free && g.sieve.Pass(o) {
			g.objects = append(g.objects, *o)
		}
	}
}

// Corrupt records where the walk could not go on.
func (g *gatherer) Corrupt(c *heap.Corruption) {
	g.corrupt = append(g.corrupt, corruption{len(g.objects), c})
}

// Reset discards everything.
func (g *gatherer) Reset() { g.objects, g.corrupt = g.objects[:0], g.corrupt[:0] }

// Loaded lists the loaded types that the shape names, each bound, for reading statics. A generic definition is listed
// itself. Derived types are not listed.
func Loaded[S any](b *Binder) iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		b.loaded((*S)(nil), func(shape any, err error) bool {
			s, _ := shape.(S)
			return yield(s, err)
		})
	}
}

// loaded passes what Loaded lists.
func (b *Binder) loaded(shape any, yield func(any, error) bool) {
	for _, n := range tableOf(b, shape).schema.names {
		for t, err := range b.Objects().TypeByName(n, "") {
			var s any
			if err == nil {
				s, err = b.bound(shape, t)
			}
			if err != nil {
				s = nil
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// An Array is an array object. Its elements are instances if they are value types, and references otherwise.
type Array struct {
	objects.Array
	data target.Addr
	size uint64
}

// ArrayOf opens an array.
func ArrayOf(o objects.Object) (Array, error) {
	a, err := o.Array()
	if err != nil {
		return Array{}, err
	}
	// Everything but the elements stands before them, except the header word of the next object, which BaseSize counts.
	return Array{a, o.Addr + target.Addr(o.Type.MT.BaseSize) - 8, uint64(o.Type.MT.ComponentSize)}, nil
}

// Instance returns the n-th element in the order of memory, for a value type that a shape is bound to.
func (a *Array) Instance(n uint32) Instance { return Instance(a.data + target.Addr(uint64(n)*a.size)) }

// Ref returns the n-th element of an array of references, 0 for null.
func (a *Array) Ref(n uint32) (target.Addr, error) {
	if n >= a.Len {
		return 0, target.Unsupportedf("element %d of %d", n, a.Len)
	}
	if a.Element() == nil || a.Element().MT.IsValueType() {
		return 0, target.Unsupportedf("the elements are not references")
	}
	return a.At(n).Addr()
}

// Elements binds the shape that S points to, to the elements of the array o.
func Elements[S any](b *Binder, o objects.Object) (S, Array, error) {
	a, err := elementsOf(o)
	if err != nil {
		var none S
		return none, a, err
	}
	s, err := Bind[S](b, a.Element())
	return s, a, err
}

// elementsOf opens an array of value types.
func elementsOf(o objects.Object) (Array, error) {
	a, err := ArrayOf(o)
	if err == nil && (a.Element() == nil || !a.Element().MT.IsValueType()) {
		err = ErrOtherType
	}
	return a, err
}

// Fitting returns how many elements of an array fit in its segment of the heap. If it is fewer than the array's length,
// the length is corrupt and the error says so. Without a heap it returns the length.
func (b *Binder) Fitting(a *Array) (uint32, error) {
	if a == nil {
		return 0, errAbsent
	}
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
	return fit, target.Corruptf("array %016x claims %d elements, and its segment ends after %d", uint64(a.Addr), a.Len, fit)
}
