package objects

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// An array is an array of a collection, bounded by its segment of the heap. The zero array is empty.
type array struct {
	BoundArray
	memory target.Memory
	len    uint32 // at most the number of elements that fit in the segment
}

// array opens an array. null is the empty array. If the array claims more elements than fit in its segment, array
// returns those that fit, and an error.
func (r *Collections) array(o Object) (array, error) {
	if o.Addr == 0 {
		return array{}, nil
	}
	a, err := BindArray(o)
	if err != nil {
		return array{}, err
	}
	n, err := r.b.fitting(&a)
	return array{a, r.b.Objects().Runtime().Memory(), n}, err
}

// clampCount returns n, or the array's length and an error if the array has fewer elements.
func (a *array) clampCount(n int64) (uint32, error) {
	switch {
	case n < 0:
		return 0, target.CorruptHeapf("the collection claims %d elements", n)
	case n > int64(a.len):
		return a.len, target.CorruptHeapf("the collection claims %d elements, but its array has room for %d", n, a.len)
	}
	return uint32(n), nil
}

// An order maps the i-th element to its place in the array.
type order func(i uint32) uint32

func forwards(i uint32) uint32 { return i }

// visit yields n elements of the array. read returns the item at a place and whether it counts. Adjacent elements that
// are not in the dump are one error.
func (a *array) visit(n uint32, place order, yield yielder, read func(at uint32) (CollectionItem, bool, error)) bool {
	for i := uint32(0); i < n; i++ {
		item, ok, err := read(place(i))
		if err == nil {
			if ok && !yield(item, nil) {
				return false
			}
			continue
		}
		first := i
		if errors.Is(err, target.ErrNotInDump) {
			for i+1 < n && !target.Available(a.memory, a.addr(place(i+1)), 1) {
				i = a.skip(i+1, n, place) - 1
			}
			err = fmt.Errorf("%d elements from %d on: %w", i-first+1, place(first), err)
		} else {
			err = fmt.Errorf("element %d: %w", place(i), err)
		}
		if !yield(CollectionItem{}, err) {
			return false
		}
	}
	return true
}

// skip returns the first element at or after i that may be in the dump.
func (a *array) skip(i, n uint32, place order) uint32 {
	if place(i) != i { // a ring: examine each element
		return i + 1
	}
	next, ok := target.NextStored(a.memory, a.addr(i))
	size := uint64(a.Type.MT.ComponentSize)
	if !ok || size == 0 {
		return n
	}
	return uint32(min(uint64(n), max(uint64(i)+1, uint64(i)+uint64(next-a.addr(i))/size)))
}

func (a *array) addr(n uint32) target.Addr { return target.Addr(a.Instance(n)) }

// isZero reports whether all bytes of an element are zero: it was never written.
func (a *array) isZero(n uint32) bool {
	b, err := target.Bytes(a.memory, a.addr(n), int(a.Type.MT.ComponentSize))
	return err == nil && len(bytes.Trim(b, "\x00")) == 0
}

func (a *array) value(at uint32) (CollectionItem, bool, error) {
	v := a.At(at)
	return CollectionItem{Value: v}, true, v.Err()
}

// A walk lists the elements in n places of an array.
type walk struct {
	array  *array
	values *array // parallel to array; may be nil
	n      uint32
	place  order
	read   func(at uint32) (CollectionItem, bool, error) // as for visit; it reads only the two arrays
	counts func(at uint32) (bool, error)                 // reports whether a place has an element; nil if all have one
}

// withWalk returns c with the elements of w.
func (c content) withWalk(w walk) content {
	c.each = func(yield yielder) bool { return w.array.visit(w.n, w.place, yield, w.read) }
	c.after = w.after
	return c
}

// after implements skipFunc.
func (w *walk) after(n uint64, stopped func() bool) (skipped uint64, rest itemSeq) {
	places, skipped := w.countAhead(n, stopped)
	return skipped, func(yield yielder) bool {
		return w.array.visit(w.n-places, func(i uint32) uint32 { return w.place(places + i) }, yield, w.read)
	}
}

// stopEvery is the number of places after which a walk checks whether to stop.
const stopEvery = 1 << 16

// countAhead returns how many places can be skipped, and how many of the first n elements they hold. It skips nothing
// unless the whole arrays are in the dump, because a skipped error would not be reported.
func (w *walk) countAhead(n uint64, stopped func() bool) (places uint32, skipped uint64) {
	if w.n == 0 || !w.array.inDump(w.n, w.place) || w.values != nil && !w.values.inDump(w.n, w.place) {
		return 0, 0
	}
	if w.counts == nil {
		if _, _, err := w.read(w.place(0)); err != nil {
			return 0, 0
		}
		skip := min(n, uint64(w.n))
		return uint32(skip), skip
	}
	for first := true; places < w.n && skipped < n; places++ {
		if places%stopEvery == 0 && stopped() {
			break
		}
		ok, err := w.counts(w.place(places))
		if ok && first {
			first = false
			_, _, err = w.read(w.place(places))
		}
		if err != nil {
			break
		}
		if ok {
			skipped++
		}
	}
	return places, skipped
}

// inDump reports whether all bytes of n elements are in the dump and can be read without a copy.
func (a *array) inDump(n uint32, place order) bool {
	first, end := place(0), place(n-1)+1
	if first >= end { // backwards, or around the end of a ring
		first, end = 0, a.len
	}
	for at, size := a.addr(first), uint64(end-first)*uint64(a.Type.MT.ComponentSize); size > 0; {
		span := uint64(len(a.memory.Span(at)))
		if span == 0 {
			return false
		}
		span = min(span, size)
		at, size = at+target.Addr(span), size-span
	}
	return true
}

// sequence returns the content of the first n elements of an array in the order that place returns, or in memory order.
func (r *Collections) sequence(o Object, n int64, place func(a *array) order) content {
	a, err := r.array(o)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	fits, lie := a.clampCount(n)
	if lie != nil {
		err = lie
	}
	p := forwards
	if place != nil {
		p = place(&a)
	}
	return content{count: n, err: err}.withWalk(walk{array: &a, n: fits, place: p, read: a.value})
}

func (r *Collections) arrayContent(o Object) content {
	a, err := r.array(o)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	return content{count: int64(a.Len), err: err}.withWalk(walk{array: &a, n: a.len, place: forwards, read: a.value})
}
