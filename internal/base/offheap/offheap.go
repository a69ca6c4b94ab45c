// Package offheap provides arrays of plain values outside Go's heap. The object graph takes some bytes for each of up to hundreds of
// millions of objects. The garbage collector would visit them, keep as much again before releasing anything, and copy them when they grow.
// Here an array is a range of addresses that the system fills with zeros when touched and takes back at once when freed: the same
// algorithms took half the memory and two thirds of the time. A [Budget] counts the bytes of arrays and reports needs before work begins.
//
// Arrays of 16 MB and more use large pages where available: random access takes a quarter less time,
// and freeing a tenth. Use [Sparse] for arrays that are touched sparsely. Virtual machines that
// return free memory to their host are an exception, since there large pages are slow to get.
//
// [Budget.Recycle] makes work that frees large arrays and makes others use the same memory again.
//
// Arrays must be freed explicitly. On systems other than Linux, macOS and Windows the arrays are Go's own.
package offheap

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/sosgo/sosgo/target"
)

// An Array holds n values of a fixed-size type without pointers. The functions of an array are for one goroutine at a time;
// goroutines may share elements if they agree on who writes which. A nil Array is empty and may be freed.
//
// Array has functions and no methods, as in atomicptr: the compiler would make its methods anew in the 55 packages that reach an object graph.
type Array[T any] struct {
	mem    memory
	s      []T // the usable elements, at the beginning of room
	room   []T
	budget *Budget
}

// ownFrom is the size in bytes below which memory comes from Go: mapping a page takes two system
// calls, which was a fifth of the time for the graph of a small heap.
const ownFrom = 4096

// Make returns an array of n usable elements, all zero. Memory is taken as they are touched, but the
// budget is charged for all. budget may be nil.
func Make[T any](budget *Budget, n int) (*Array[T], error) {
	a, err := newArray[T](budget, n, true)
	if err != nil {
		return nil, err
	}
	if err := Grow(a, n); err != nil {
		Free(a)
		return nil, err
	}
	return a, nil
}

// Reserve returns an array without elements that can grow to n without moving. Room costs addresses
// but no memory and is not charged, so n may be a generous bound.
func Reserve[T any](budget *Budget, n int) (*Array[T], error) { return newArray[T](budget, n, false) }

// newArray returns an array without elements. If all of its room will be used, it may get memory that other arrays had.
func newArray[T any](budget *Budget, n int, all bool) (*Array[T], error) {
	size := int64(reflect.TypeFor[T]().Size())
	switch {
	case !plain(reflect.TypeFor[T]()):
		return nil, fmt.Errorf("an array outside Go's heap can't have elements with pointers: %v", reflect.TypeFor[T]())
	case n < 0 || int64(n) > (math.MaxInt-1<<20)/max(size, 1):
		return nil, target.Unsupportedf("an array of %d elements of %d bytes is more than this machine can address", n, size)
	}
	a := &Array[T]{budget: budget}
	bytes := n * int(size)
	if bytes <= ownFrom {
		a.room = make([]T, n)
		return a, nil
	}
	used := false
	if all && budget != nil {
		a.mem, used = budget.spare.get(bytes)
	}
	if !used {
		var err error
		if a.mem, err = reserve(bytes); err != nil {
			return nil, noMemory(int64(bytes), err)
		}
	}
	a.mem.large()
	a.room = unsafe.Slice((*T)(a.mem.base), n)
	if used {
		clear(a.room)
	}
	return a, nil
}

// Lent returns an array over values owned by somebody else, such as a mapped file. It is not counted, can't grow, and Free only drops it.
func Lent[T any](s []T) *Array[T] { return &Array[T]{s: s[:len(s):len(s)], room: s[:len(s):len(s)]} }

func noMemory(bytes int64, err error) error {
	return fmt.Errorf("the system gives no %s of memory: %w", Bytes(bytes), err)
}

// plain reports whether values of a type contain no pointers.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64:
		return true
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !plain(f.Type) {
				return false
			}
		}
		return true
	}
	return false
}

// Slice returns the usable elements. It is valid until the array is freed, even when it grows;
// elements released by Shrink must not be touched. Touching a freed array ends the program.
func Slice[T any](a *Array[T]) []T {
	if a == nil {
		return nil
	}
	return a.s
}

// Sparse announces that few elements will be touched, so that the system uses small pages. It must be
// called before any is touched, and returns the array.
func Sparse[T any](a *Array[T]) *Array[T] {
	a.mem.small()
	return a
}

// Cap returns how many elements there is room for.
func Cap[T any](a *Array[T]) int {
	if a == nil {
		return 0
	}
	return len(a.room)
}

// Grow makes the first n elements usable; new ones are zero. It does nothing if there are as many. The
// error is a *LimitError or the system's, and leaves the array unchanged.
func Grow[T any](a *Array[T], n int) error {
	old := len(a.s)
	if n <= old {
		return nil
	}
	if n > len(a.room) {
		return fmt.Errorf("an array with room for %d elements can't have %d", len(a.room), n)
	}
	size := int(unsafe.Sizeof(a.room[0]))
	bytes := int64(n-old) * int64(size)
	if err := a.budget.take(bytes); err != nil {
		return err
	}
	if a.mem.base == nil {
		// Go's own memory is there.
	} else if err := a.mem.commit(old*size, n*size); err != nil {
		a.budget.give(bytes)
		return noMemory(bytes, err)
	}
	a.s = a.room[:n:n]
	return nil
}

// Shrink keeps the first n elements and releases the memory and the room of the others.
func Shrink[T any](a *Array[T], n int) {
	if a == nil || n >= len(a.room) {
		return
	}
	size := int(unsafe.Sizeof(a.room[0]))
	if n == 0 || size == 0 {
		Free(a)
		return
	}
	if n < len(a.s) {
		a.budget.give(int64(len(a.s)-n) * int64(size))
		a.s = a.s[:n:n]
	}
	a.room = a.room[:n:n]
	a.mem.shrink(n * size)
}

// Free releases everything. The array is then empty; freeing it again does nothing.
func Free[T any](a *Array[T]) {
	if a == nil || a.room == nil {
		return
	}
	used := len(a.s) * int(unsafe.Sizeof(*new(T))) // without reflect: every package that reaches an array would compile parts of it
	a.s, a.room = nil, nil
	if a.budget == nil || a.mem.base == nil {
		a.mem.free()
	} else {
		a.budget.spare.put(a.mem, used) // before give, so that no other array takes its place below the peak
		a.mem = memory{}
	}
	a.budget.give(int64(used))
}

// A memory is a range of addresses in whole pages.
type memory struct {
	base unsafe.Pointer
	size int // bytes, as the system has them
}
