package objects

import (
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A WeakReference is the shape of a weak reference. Since .NET 8 the lowest two bits of Handle are its kind.
type WeakReference struct {
	_      Shape    `of:"System.WeakReference|System.WeakReference<>"`
	Handle IntField `field:"_taggedHandle|m_handle"`
}

// handleTags are the bits of a handle that are not part of its address, which is word-aligned.
const handleTags = 7

// Weak returns the target of a weak reference, with an Addr of 0 if it was collected. The error is ErrOtherType if o is
// not a weak reference.
func (b *Binder) Weak(o Object) (Object, error) {
	s, x, err := BindObject[*WeakReference](b, o)
	if err != nil {
		return Object{}, err
	}
	h, err := s.Handle.Uint(x)
	if err != nil {
		return Object{}, err
	}
	return b.Handle(target.Addr(h))
}

// Handle returns the object that a GC handle refers to, with an Addr of 0 for null. h is the content of a GCHandle or
// of a field that holds a handle. Its tag bits are ignored.
func (b *Binder) Handle(h target.Addr) (Object, error) {
	h &^= handleTags
	if h == 0 {
		return Object{}, nil
	}
	a, err := target.Pointer(b.reader.Runtime().Memory(), h)
	if err != nil || a == 0 {
		return Object{}, err
	}
	return b.reader.TrustedObject(a)
}

// Dependent returns the two objects of a dependent handle, each with an Addr of 0 for null. The first keeps the second
// alive.
func (b *Binder) Dependent(h target.Addr) (first, second Object, err error) {
	if h &^= handleTags; h == 0 {
		return
	}
	if b.open == nil {
		return first, second, target.Unsupportedf("dependent handles need a heap")
	}
	var hp *heap.Heap
	if hp, err = b.open(); err != nil {
		return
	}
	e, err := hp.HandleAt(h)
	if err != nil {
		return
	}
	if e.Type != heap.HandleDependent {
		return first, second, target.CorruptHeapf("handle %#x is a %s", uint64(h), e.Type.Words())
	}
	if e.Object == 0 {
		return
	}
	if first, err = b.reader.TrustedObject(e.Object); err != nil || e.Dependent() == 0 {
		return
	}
	second, err = b.reader.TrustedObject(e.Dependent())
	return
}

// Nullable returns the value of a Nullable<T> and reports whether it has one. The error is ErrOtherType for other
// types.
func (b *Binder) Nullable(s Struct) (Value, bool, error) {
	n, err := Bind[*nullable](b, s.Type)
	if err != nil {
		return Value{}, false, err
	}
	has, err := n.HasValue.Bool(InstanceIn(s))
	if err != nil || !has {
		return Value{}, false, err
	}
	return n.Value.Value(InstanceIn(s)), true, nil
}

type nullable struct {
	_        Shape      `of:"System.Nullable<>"`
	HasValue IntField   `field:"hasValue"`
	Value    ValueField `field:"value"`
}

// dependentSlots returns the two objects of a dependent handle as values with a location. The first is null if the
// handle was cleared.
func (b *Binder) dependentSlots(h target.Addr) (first, second Value, err error) {
	if b.open == nil {
		return first, second, target.Unsupportedf("dependent handles need a heap")
	}
	hp, err := b.open()
	if err != nil {
		return first, second, err
	}
	e, extra, err := hp.HandleSlots(h &^ handleTags)
	if err != nil {
		return first, second, err
	}
	if e.Type != heap.HandleDependent {
		return first, second, target.CorruptHeapf("handle %#x is a %s", uint64(h), e.Type.Words())
	}
	return b.reader.ValueAt(metadata.ElementObject, e.Addr, nil), b.reader.ValueAt(metadata.ElementObject, extra, nil), nil
}
