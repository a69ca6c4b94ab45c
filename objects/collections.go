package objects

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// ErrNotCollection reports that an object is not of a known kind of collection. It wraps target.ErrUnsupported.
var ErrNotCollection = target.Unsupportedf("not a known collection")

// A CollectionItem is an element of a collection.
type CollectionItem struct {
	Index uint64 // in enumeration order, from 0; in memory order for arrays
	Key   Value  // of a dictionary; the priority in a priority queue
	Value Value
}

// Collections reads the collections of one runtime. It is safe for concurrent use.
type Collections struct {
	b     *Binder
	types *sync.Map // *objects.Type -> *opener
	kinds []kind    // the first that fits a type is used
	depth int       // of nested wrappers

	slotOrder bool // list concurrent queues in the order of their arrays
}

// maxDepth bounds the nesting of wrappers.
const maxDepth = 16

// NewCollections returns Collections that use the shapes of b.
func NewCollections(b *Binder) *Collections {
	return &Collections{b: b, types: &sync.Map{}, kinds: slices.Concat(derivedWrapperKinds(), genericKinds(), nongenericKinds(), concurrentKinds(),
		immutableKinds(), fsharpKinds(), frozenKinds(), channelKinds(), wrapperKinds(), cacheKinds(), bufferKinds(), lazyKinds())}
}

// An opener opens objects of one type, or holds the reason why they can't be opened.
type opener struct {
	open func(r *Collections, x Instance) content
	kind *kind
	err  error
}

// A Collection is one collection. Its items are read when it is listed.
type Collection struct {
	HasKeys bool // reports whether items have keys
	content content
}

// A content is the content of one collection.
type content struct {
	count int64 // its own count of elements, or unknown
	keys  bool
	stack bool // the last that was added comes first
	each  itemSeq
	after skipFunc // nil if only each can count its elements
	err   error    // why it can't be listed, or not completely
	text  func() (string, error)
}

// unknown is the count of a collection that keeps no count.
const unknown = -1

// An itemSeq yields items until yield returns false, and reports whether yield never did.
type itemSeq func(yield yielder) bool

// A yielder takes an item or an error. It returns false to end the list.
type yielder func(CollectionItem, error) bool

// A skipFunc returns how many of the first n items it could count without reading them, and the remaining items. It
// does not count past an item with an error. It stops counting when stopped returns true.
type skipFunc func(n uint64, stopped func() bool) (skipped uint64, rest itemSeq)

// failed returns the content of an unreadable collection.
func failed(err error) content { return content{count: unknown, err: err} }

// Of opens the collection that an object is: an array, an instance of a collection class, or a boxed value type. The
// error is ErrNotCollection for other objects, and a *UnknownLayoutError if the fields differ from all known
// versions.
func (r *Collections) Of(o Object) (*Collection, error) {
	if o.Type == nil || o.IsFree() {
		return nil, ErrNotCollection
	}
	if o.Type.MT.IsArray() {
		return collectionOf(r.arrayContent(o))
	}
	return r.In(o.Type, InstanceOf(o))
}

// In opens the collection that an instance of a type is. It also opens value types in place, such as ImmutableArray.
func (r *Collections) In(t *Type, x Instance) (*Collection, error) {
	if t == nil {
		return nil, ErrNotCollection
	}
	op := r.opener(t)
	if op.err != nil {
		return nil, op.err
	}
	return collectionOf(op.open(r, x))
}

// Is reports whether objects of a type are collections with known fields, or arrays.
func (r *Collections) Is(t *Type) bool {
	return t != nil && (t.MT.IsArray() || r.opener(t).err == nil)
}

func collectionOf(c content) (*Collection, error) {
	if c.each == nil && c.text == nil && c.err != nil {
		return nil, c.err
	}
	return &Collection{HasKeys: c.keys, content: c}, nil
}

func (r *Collections) opener(t *Type) *opener {
	if r.b == nil || t.MT == nil {
		return &opener{err: ErrNotCollection}
	}
	if v, ok := r.types.Load(t); ok {
		return v.(*opener)
	}
	v, _ := r.types.LoadOrStore(t, r.find(t))
	return v.(*opener)
}

func (r *Collections) find(t *Type) *opener {
	var unread error
	for i := range r.kinds {
		open, err := r.kinds[i].bind(r, t)
		switch {
		case err == nil:
			return &opener{open: open, kind: &r.kinds[i]}
		case errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt):
			unread = err
		case err != ErrOtherType:
			return &opener{err: err}
		}
	}
	if unread != nil {
		return &opener{err: unread}
	}
	return &opener{err: ErrNotCollection}
}

// A kind reads collections of one shape.
type kind struct {
	bind  func(r *Collections, t *Type) (func(r *Collections, x Instance) content, error)
	store func(r *Collections, t *Type) (CollectionStore, error) // nil if elements are not in arrays of the collection
}

// kindOf returns the kind for a shape. The result of read is used unless f recorded an error.
func kindOf[S any](read func(r *Collections, s S, f *reading) content) kind {
	return kind{bind: func(r *Collections, t *Type) (func(r *Collections, x Instance) content, error) {
		s, err := Bind[S](r.b, t)
		if err != nil {
			return nil, err
		}
		return func(r *Collections, x Instance) content {
			f := reading{x: x}
			if c := read(r, s, &f); f.err == nil {
				return c
			}
			return failed(f.err)
		}, nil
	}}
}

// wrapperKind returns the kind for the shape of a class that wraps another collection.
func wrapperKind[S any](wrapped func(s S) *RefField) kind {
	return kindOf(func(r *Collections, s S, f *reading) content { return r.wrap(f.object(wrapped(s))) })
}

// storedKind returns the kind for the shape of a class that keeps elements in arrays of its own.
func storedKind[S any](read func(r *Collections, s S, f *reading) content, store func(s S) CollectionStore) kind {
	k := kindOf(read)
	k.store = func(r *Collections, t *Type) (CollectionStore, error) {
		s, err := Bind[S](r.b, t)
		if err != nil {
			return CollectionStore{}, err
		}
		return store(s), nil
	}
	return k
}

// Count returns the collection's own count of elements. The error is target.ErrUnsupported if it keeps no count, and
// target.ErrCorrupt if the count is negative.
func (c *Collection) Count() (uint64, error) {
	switch {
	case c.content.count >= 0:
		return uint64(c.content.count), nil
	case c.content.err != nil:
		return 0, c.content.err
	}
	return 0, errNoCount
}

var errNoCount = target.Unsupportedf("the collection keeps no count")

// CountOf returns the number of elements of a collection. ok is false if the object is an array, is not a collection,
// or keeps no count. The error reports a count that is unreadable or contradicts the collection's arrays.
func (r *Collections) CountOf(o Object) (n uint64, ok bool, err error) {
	if o.Type == nil || o.Type.MT.IsArray() {
		return 0, false, nil
	}
	c, err := r.Of(o)
	if err == nil {
		err = c.content.err
	}
	if err == nil {
		n, err = c.Count()
	}
	if errors.Is(err, target.ErrUnsupported) { // not a collection, an unknown layout, or no count
		return 0, false, nil
	}
	return n, err == nil, err
}

// IsText reports whether the elements are characters or bits, for which Text returns them.
func (c *Collection) IsText() bool { return c.content.text != nil }

// Text returns the content of a collection of characters or bits: a StringBuilder, a BitArray, memory of characters. ok
// is false for other collections, which Items lists.
func (c *Collection) Text() (string, bool, error) {
	if c.content.text == nil {
		return "", false, nil
	}
	s, err := c.content.text()
	return s, true, err
}

// Items lists the elements. An unreadable element is an error in its place, and the list continues. If the collection's
// count differs from the number of elements, the last entry is an error.
func (c *Collection) Items() iter.Seq2[CollectionItem, error] { return c.items(0, c.content.each) }

// Values iterates over the elements, or the values of a dictionary, with their indexes in enumeration order. An
// unreadable element is a Value with the error, and so is the last Value if the collection's count differs.
func (c *Collection) Values() iter.Seq2[uint64, Value] {
	return func(yield func(uint64, Value) bool) {
		n := uint64(0)
		for item, err := range c.Items() {
			if err != nil {
				item.Value = unreadable(err)
			}
			if !yield(n, item.Value) {
				return
			}
			n++
		}
	}
}

// Pairs iterates over the keys and values of a dictionary, or the priorities and elements of a priority queue. An
// unreadable entry is a pair of Values with the error. A collection without keys is one pair with target.ErrArgument.
func (c *Collection) Pairs() iter.Seq2[Value, Value] {
	return func(yield func(key, value Value) bool) {
		if !c.HasKeys {
			none := unreadable(target.Argumentf("the collection has no keys"))
			yield(none, none)
			return
		}
		for item, err := range c.Items() {
			if err != nil {
				item.Key, item.Value = unreadable(err), unreadable(err)
			}
			if !yield(item.Key, item.Value) {
				return
			}
		}
	}
}

// after returns how many of the first n elements it could skip, and lists the others as Items does.
func (c *Collection) after(n uint64, stopped func() bool) (skipped uint64, rest iter.Seq2[CollectionItem, error]) {
	each := c.content.each
	if n > 0 && c.content.after != nil && c.content.err == nil {
		skipped, each = c.content.after(n, stopped)
	}
	return skipped, c.items(skipped, each)
}

// items lists the elements of each, which follow n skipped elements.
func (c *Collection) items(n uint64, each itemSeq) iter.Seq2[CollectionItem, error] {
	return func(yield func(CollectionItem, error) bool) {
		if c.content.err != nil && !yield(CollectionItem{}, c.content.err) {
			return
		}
		if each == nil {
			return
		}
		n, whole := n, c.content.err == nil
		if !each(func(i CollectionItem, err error) bool {
			if err != nil {
				whole = false
				return yield(CollectionItem{}, err)
			}
			i.Index = n
			n++
			return yield(i, nil)
		}) {
			return
		}
		if whole && c.content.count >= 0 && n != uint64(c.content.count) {
			yield(CollectionItem{}, target.CorruptHeapf("the collection claims %d elements, but has %d: it is damaged, or a thread was writing to it", c.content.count, n))
		}
	}
}

// A reading reads the fields of an instance and records the first error.
type reading struct {
	x   Instance
	err error
}

func (f *reading) note(err error) { f.err = cmp.Or(f.err, err) }

func (f *reading) int(i *IntField) int64 {
	v, err := i.Int(f.x)
	f.note(err)
	return v
}

func (f *reading) object(o *RefField) Object {
	v, err := o.Object(f.x)
	f.note(err)
	return v
}

func (f *reading) addr(o *RefField) target.Addr {
	v, err := o.Addr(f.x)
	f.note(err)
	return v
}

// bindNext binds a shape to an object that f's instance refers to, and continues with that object's fields. If the
// shape does not fit, f records the error.
func bindNext[S any](r *Collections, f *reading, o Object) S {
	s, x, err := BindObject[S](r.b, o)
	f.note(err)
	if err != nil {
		s = reflect.New(reflect.TypeFor[S]().Elem()).Interface().(S)
	}
	f.x = x
	return s
}

// wrap returns the content of a wrapped collection. null is empty.
func (r *Collections) wrap(o Object) content {
	if o.Addr == 0 {
		return content{each: yieldNothing}
	}
	if r.depth == maxDepth {
		return failed(target.CorruptHeapf("a collection wraps itself"))
	}
	inner := *r
	inner.depth++
	c, err := inner.Of(o)
	if err != nil {
		return failed(fmt.Errorf("the wrapped collection %016x: %w", uint64(o.Addr), err))
	}
	return c.content
}

func yieldNothing(yielder) bool { return true }

// A CollectionStore describes the arrays in which a collection keeps its elements. Callers that read many collections compute
// from it how full they are.
type CollectionStore struct {
	Arrays []*RefField // the arrays; the length of the first is the capacity; empty for nodes
	Count  *IntField   // used places
	Free   *IntField   // used places without an element; nil if a used place always has one
}

func store(count, free *IntField, arrays ...*RefField) CollectionStore {
	return CollectionStore{Arrays: arrays, Count: count, Free: free}
}

// Store returns where collections of a type keep their elements. The error is ErrNotCollection for types that are not
// collections, or keep neither arrays of their own nor a count. It is a *UnknownLayoutError if the fields
// differ.
func (r *Collections) Store(t *Type) (CollectionStore, error) {
	op := r.opener(t)
	switch {
	case op.err != nil:
		return CollectionStore{}, op.err
	case op.kind.store == nil:
		return CollectionStore{}, ErrNotCollection
	}
	return op.kind.store(r, t)
}

// ItemsAt lists the elements of the collection that a field refers to, as Collection.Items does. A null field is empty.
// If the collection can't be opened, the list is one error.
func (r *Collections) ItemsAt(f *RefField, x Instance) iter.Seq2[CollectionItem, error] {
	return func(yield func(CollectionItem, error) bool) {
		o, err := f.Object(x)
		if err == nil && o.Addr == 0 {
			return
		}
		var c *Collection
		if err == nil {
			c, err = r.Of(o)
		}
		if err != nil {
			yield(CollectionItem{}, err)
			return
		}
		c.Items()(yield)
	}
}

// Objects lists the objects in the collection that a field refers to, as ObjectsIn does. A null field is empty.
func (r *Collections) Objects(f *RefField, x Instance) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		o, err := f.Object(x)
		switch {
		case err != nil:
			yield(Object{}, err)
		case o.Addr != 0:
			r.ObjectsIn(o)(yield)
		}
	}
}

// ObjectsIn lists the objects in a collection: the elements, or the values of a dictionary. It skips null elements.
// An unreadable element is an error in its place.
func (r *Collections) ObjectsIn(o Object) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		c, err := r.Of(o)
		if err != nil {
			yield(Object{}, err)
			return
		}
		for item, err := range c.Items() {
			if err == nil && item.Value.IsNull() {
				continue
			}
			var o Object
			if err == nil {
				o, err = item.Value.Object()
			}
			if !yield(o, err) {
				return
			}
		}
	}
}
