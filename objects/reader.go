package objects

import (
	"fmt"
	"iter"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads objects of one runtime.
type Reader struct {
	rt   *dac.Runtime
	mem  target.Memory
	open func() (*heap.Heap, error) // nil without a heap

	count func(Object) (n uint64, ok bool, err error) // counts the elements of a collection; may be nil

	mu    sync.RWMutex
	types map[target.Addr]*Type
}

// CountsBy sets the function that counts the elements of a collection, for the lines of values. It must be called
// before the Reader is shared.
func (r *Reader) CountsBy(count func(Object) (n uint64, ok bool, err error)) { r.count = count }

// New returns a Reader for the objects of rt.
func New(rt *dac.Runtime) *Reader {
	return &Reader{rt: rt, mem: rt.Memory(), types: map[target.Addr]*Type{}}
}

// Runtime returns the runtime that the objects belong to.
func (r *Reader) Runtime() *dac.Runtime { return r.rt }

// Type returns the type with the MethodTable at mt, an address of any origin. The error is a *target.AddressError if there
// is no MethodTable.
func (r *Reader) Type(mt target.Addr) (*Type, error) {
	t, err := r.TrustedType(mt)
	return t, target.WrongAddress(err)
}

// TrustedType is Type for an address in the runtime's own structures. The error is target.ErrCorrupt if there is no
// MethodTable.
func (r *Reader) TrustedType(mt target.Addr) (*Type, error) {
	r.mu.RLock()
	t := r.types[mt]
	r.mu.RUnlock()
	if t != nil {
		return t, nil
	}
	m, _, err := r.Runtime().MethodTableAt(mt)
	if err != nil {
		return nil, target.CorruptAddress(err)
	}
	return r.typeOf(m), nil
}

// Of returns an object that a heap walk or Heap.ObjectAt has found. It reads no memory.
func (r *Reader) Of(o heap.Object) (Object, error) {
	if o.Type == nil {
		return Object{}, errNoObject
	}
	return Object{Addr: o.Addr, Type: r.typeOf(o.Type)}, nil
}

func (r *Reader) typeOf(mt *dac.MethodTable) *Type {
	r.mu.RLock()
	t := r.types[mt.Addr]
	r.mu.RUnlock()
	if t != nil {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.types[mt.Addr]; t != nil {
		return t
	}
	t = &Type{MT: mt, r: r}
	r.types[mt.Addr] = t
	return t
}

// errNoObject is the error for the zero Object, the zero Struct and the nil Type.
var errNoObject = target.Argumentf("the zero value is not an object")

// An Object is an object on the heap. Methods of the zero Object fail with target.ErrArgument.
type Object struct {
	Addr target.Addr
	Type *Type
}

// Heap returns the object in the form of package heap, for heap.Edges.
func (o Object) Heap() (heap.Object, error) {
	if o.Type == nil {
		return heap.Object{}, errNoObject
	}
	n, err := o.Length()
	if err != nil {
		return heap.Object{}, err
	}
	return heap.Object{Addr: o.Addr, Type: o.Type.MT, Size: o.Type.MT.Size(n), Length: n, Free: o.IsFree()}, nil
}

// An InvalidError reports that there is no object at an address.
type InvalidError struct {
	Addr target.Addr
	Err  error // a *target.AddressError, target.ErrCorrupt or target.ErrNotInDump
}

func (e *InvalidError) Error() string { return fmt.Sprintf("object %016x: %v", uint64(e.Addr), e.Err) }

func (e *InvalidError) Unwrap() error { return e.Err }

// Object returns the object at a, an address of any origin. The object's type is the only proof: Proven also asks the
// heap. The error is an *InvalidError with a *target.AddressError if there is no object at a.
func (r *Reader) Object(a target.Addr) (Object, error) {
	o, err := r.object(a)
	if err != nil {
		return Object{}, &InvalidError{Addr: a, Err: target.WrongAddress(err)}
	}
	return o, nil
}

// TrustedObject is Object for a reference that the dump contains. The error is an *InvalidError with target.ErrCorrupt
// if there is no object at a.
func (r *Reader) TrustedObject(a target.Addr) (Object, error) {
	o, err := r.object(a)
	if err != nil {
		return Object{}, &InvalidError{Addr: a, Err: err}
	}
	return o, nil
}

func (r *Reader) object(a target.Addr) (Object, error) {
	if a == 0 || a%8 != 0 {
		return Object{}, target.CorruptHeapf("not the address of an object")
	}
	mt, err := r.Runtime().ObjectMethodTable(a)
	if err != nil {
		return Object{}, target.InHeap(err)
	}
	t, err := r.TrustedType(mt)
	if err != nil {
		return Object{}, target.InHeap(err)
	}
	if t.MT.BaseSize < 2*dac.ObjectHeaderBytes || t.MT.IsOpen() || t.MT.IsInterface() {
		return Object{}, target.CorruptHeapf("type %016x has no instances", uint64(mt))
	}
	return Object{Addr: a, Type: t}, nil
}

// Length returns the number of elements of an array, the number of UTF-16 code units of a string, and 0 for other
// objects.
func (o Object) Length() (uint32, error) {
	if o.Type == nil {
		return 0, errNoObject
	}
	if !o.Type.MT.HasComponents() {
		return 0, nil
	}
	return o.Type.r.Runtime().ObjectLength(o.Addr)
}

// Size returns the object's size in bytes, not rounded up to the heap's alignment.
func (o Object) Size() (uint64, error) {
	n, err := o.Length()
	if o.Type == nil {
		return 0, err
	}
	return uint64(o.Type.MT.BaseSize) + uint64(o.Type.MT.ComponentSize)*uint64(n), err
}

// IsFree reports whether the object is a free block of the heap.
func (o Object) IsFree() bool { return o.Type != nil && o.Type.IsFree() }

// IsString reports whether the object is a string.
func (o Object) IsString() bool { return o.Type.IsString() }

// IsBoxed reports whether the object is a boxed value type.
func (o Object) IsBoxed() bool { return o.Type != nil && o.Type.MT.IsValueType() }

// Unbox returns the value in the box. The error is target.ErrArgument if the object is not a boxed value.
func (o Object) Unbox() (Struct, error) {
	if !o.IsBoxed() {
		return Struct{}, notBoxed(o)
	}
	return Struct{Addr: o.data(), Type: o.Type}, nil
}

func notBoxed(o Object) error {
	return target.Argumentf("object %016x is not a boxed value", uint64(o.Addr))
}

// data returns the address of the fields.
func (o Object) data() target.Addr { return o.Addr + dac.ObjectHeaderBytes }

// Field returns the value of an instance field. If several classes declare the name, the most derived one is used. The
// value's error is target.ErrNoSuch if no class declares it.
func (o Object) Field(name string) Value { return o.Type.read(o.data(), name) }

// Value returns the value of one instance field of the object's type or a base class. The value's error is
// target.ErrArgument for a static field and for a field of another type.
func (o Object) Value(f *Field) Value { return o.Type.value(o.data(), f) }

// Fields iterates over the instance fields with their values, base classes first. If fields can't be listed, it stops;
// Type.Fields returns the error.
func (o Object) Fields() iter.Seq2[*Field, Value] { return o.Type.values(o.data()) }

// A Struct is a value type in place: in an object, an array, another struct or a box.
type Struct struct {
	Addr target.Addr // address of the first field
	Type *Type
}

// Struct returns the value of type mt at a. The error is target.ErrArgument if mt is not the MethodTable of a value
// type. The memory at a is read with the fields.
func (r *Reader) Struct(mt, a target.Addr) (Struct, error) {
	t, err := r.Type(mt)
	if err != nil {
		return Struct{}, err
	}
	if !t.MT.IsValueType() {
		return Struct{}, target.Argumentf("%016x is not a value type", uint64(mt))
	}
	return Struct{Addr: a, Type: t}, nil
}

// Field returns the value of a field by name. The value's error is target.ErrNoSuch if there is no such field.
func (s Struct) Field(name string) Value { return s.Type.read(s.Addr, name) }

// Value returns the value of one instance field of the struct's type. The value's error is target.ErrArgument for a
// static field and for a field of another type.
func (s Struct) Value(f *Field) Value { return s.Type.value(s.Addr, f) }

// Fields iterates over the fields with their values.
func (s Struct) Fields() iter.Seq2[*Field, Value] { return s.Type.values(s.Addr) }
