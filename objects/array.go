package objects

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An Array is an array object of any rank.
type Array struct {
	Object
	Rank        int
	Len         uint32  // in all dimensions
	Lengths     []int32 // by dimension
	LowerBounds []int32 // by dimension; usually zeros

	data target.Addr
	elem metadata.ElementType
	typ  *Type // the elements' type, nil for pointers
}

// Array returns o as an array. The error is target.ErrArgument for other objects, and target.ErrCorrupt if the bounds do
// not multiply to the number of elements.
func (o Object) Array() (Array, error) {
	a, err := o.array()
	if err != nil {
		return Array{}, fmt.Errorf("array %016x: %w", uint64(o.Addr), err)
	}
	return a, nil
}

func (o Object) array() (Array, error) {
	if o.Type == nil {
		return Array{}, errNoObject
	}
	mt, r := o.Type.MT, o.Type.r
	if !mt.IsArray() {
		return Array{}, target.Argumentf("not an array")
	}
	a := Array{Object: o}
	var err error
	if a.Rank, err = r.Runtime().ArrayRank(mt); err != nil {
		return Array{}, err
	}
	if a.Len, err = o.Length(); err != nil {
		return Array{}, err
	}
	// BaseSize counts what precedes the elements, and the header word of the next object.
	a.data = o.Addr + target.Addr(mt.BaseSize) - 8
	if err := a.readBounds(); err != nil {
		return Array{}, err
	}
	return a, a.readElement()
}

// readBounds reads lengths and lower bounds. An SZArray does not store them.
func (a *Array) readBounds() error {
	mt := a.Type.MT
	if mt.Category() == dac.CategorySZArray {
		a.Lengths, a.LowerBounds = []int32{int32(a.Len)}, []int32{0}
		return nil
	}
	if need := 24 + 8*uint32(a.Rank); mt.BaseSize != need {
		return target.Corruptf("type %016x of rank %d has a base size of %#x", uint64(mt.Addr), a.Rank, mt.BaseSize)
	}
	bounds := a.data - target.Addr(8*a.Rank)
	b, err := target.Bytes(a.Type.r.mem, bounds, 8*a.Rank)
	if err != nil {
		return err
	}
	all := make([]int32, 2*a.Rank)
	for i := range all {
		all[i] = int32(cursor.Uint(b[4*i : 4*i+4]))
	}
	a.Lengths, a.LowerBounds = all[:a.Rank], all[a.Rank:]
	product := uint64(1)
	for _, n := range a.Lengths {
		if n < 0 || product*uint64(n) > 1<<32-1 {
			return target.CorruptHeapf("array of lengths %v", a.Lengths)
		}
		product *= uint64(n)
	}
	if product != uint64(a.Len) {
		return target.CorruptHeapf("array of %d elements with lengths %v", a.Len, a.Lengths)
	}
	return nil
}

func (a *Array) readElement() error {
	mt, err := a.Type.r.Runtime().TypeHandleMethodTable(a.Type.MT.PerInstInfo)
	if err == nil && mt == 0 {
		a.elem = metadata.ElementPtr // the only elements without a MethodTable
		return nil
	}
	if err != nil {
		return err
	}
	if a.typ, err = a.Type.r.TrustedType(mt); err != nil {
		return err
	}
	if !a.typ.MT.IsValueType() {
		a.elem = metadata.ElementClass
		return nil
	}
	a.elem, err = a.typ.ElementType()
	return err
}

// Element returns the type of the elements, nil for pointers.
func (a *Array) Element() *Type { return a.typ }

// ElementAddr returns the address of an element. It takes one index for each dimension, counted from the lower bound.
// The error is target.ErrArgument if an index is out of bounds.
func (a *Array) ElementAddr(index ...int32) (target.Addr, error) {
	if a.Type == nil {
		return 0, errNoObject
	}
	if len(index) != a.Rank {
		return 0, target.Argumentf("%d indexes for an array of rank %d", len(index), a.Rank)
	}
	n := uint64(0)
	for d, i := range index {
		k := int64(i) - int64(a.LowerBounds[d])
		if k < 0 || k >= int64(a.Lengths[d]) {
			return 0, target.Argumentf("index %d out of bounds in dimension %d", i, d)
		}
		n = n*uint64(a.Lengths[d]) + uint64(k)
	}
	return a.addr(n), nil
}

func (a *Array) addr(n uint64) target.Addr {
	return a.data + target.Addr(n*uint64(a.Type.MT.ComponentSize))
}

// At returns the n-th element in memory order, 0 <= n < Len. The value's error is target.ErrArgument for any other n.
func (a *Array) At(n uint32) Value {
	if n >= a.Len {
		return Value{err: target.Argumentf("element %d of %d", n, a.Len)}
	}
	return a.Type.r.value(a.elem, a.addr(uint64(n)), nil, a.typ)
}

// Index returns the index, by dimension, of the n-th element in memory order. It uses the memory of dst if it is
// enough.
func (a *Array) Index(n uint32, dst []int32) []int32 {
	dst = slices.Grow(dst[:0], a.Rank)[:a.Rank]
	for d := a.Rank - 1; d >= 0; d-- {
		length := uint32(a.Lengths[d])
		length = cmp.Or(length, 1)
		dst[d] = int32(n%length) + a.LowerBounds[d]
		n /= length
	}
	return dst
}

// Values iterates over the elements in memory order.
func (a *Array) Values() iter.Seq2[uint32, Value] {
	return func(yield func(uint32, Value) bool) {
		for n := range a.Len {
			if !yield(n, a.At(n)) {
				return
			}
		}
	}
}

// Stored iterates over the first n elements in memory order, at most Len. The length of an array may be corrupt: an
// element past the end of the segment ends the iteration with an error. Adjacent elements that are not in the dump are
// one error.
func (a *Array) Stored(n uint32) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		fit, beyond := a.inSegment(0, min(n, a.Len))
		for i := uint32(0); i < fit; i++ {
			v := a.At(i)
			err := v.Err()
			if err == nil && !target.Available(a.Type.r.Runtime().Memory(), v.Location(), int(a.Type.MT.ComponentSize)) {
				next := a.nextStored(i)
				err = a.gapError(i, max(next, i+1))
				i = max(next, i+1) - 1
			}
			if !yield(v, err) {
				return
			}
		}
		if beyond != nil {
			yield(Value{err: beyond}, beyond)
		}
	}
}
