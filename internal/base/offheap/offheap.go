// Package offheap provides arrays of plain values outside Go's heap. The object graph takes some
// bytes for each of up to hundreds of millions of objects. In Go's heap the collector would scan
// the arrays, keep as much memory again before it releases any, and copy them when they grow. An
// array here is a range of addresses that the system zeroes when touched and takes back when freed.
// The same algorithms take half the memory and two thirds of the time. A [Budget] counts the bytes
// of arrays and checks needs before work begins.
//
// Arrays of 16 MB and more use large pages if available, except in virtual machines that return
// free memory to their host. Use [Array.Sparse] for arrays that are touched sparsely, and
// [Budget.Recycle] for work that frees and makes large arrays.
//
// Arrays must be freed explicitly. On systems other than Linux, macOS and Windows they are in Go's
// heap.
package offheap

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/sosgo/sosgo/target"
)

// An Array holds values of a fixed-size type without pointers. Its methods are for one goroutine at
// a time; goroutines may share elements if they agree on who writes which. A nil Array is empty and
// may be freed.
type Array[T any] struct {
	mem    memory
	s      []T // the usable elements, at the beginning of room
	room   []T
	budget *Budget
}

// ownFrom is the size in bytes below which memory comes from Go's heap: mapping a page takes two
// system calls, which took a fifth of the time for the graph of a small heap.
const ownFrom = 4096

// Make returns an array of n usable elements, all zero. The system provides memory as elements are
// touched, but the whole array is charged to budget, which may be nil.
func Make[T any](budget *Budget, n int) (*Array[T], error) {
	a, err := newArray[T](budget, n, true)
	if err != nil {
		return nil, err
	}
	if err := a.Grow(n); err != nil {
		a.Free()
		return nil, err
	}
	return a, nil
}

// Reserve returns an array without elements that can grow to n without moving. Reserving takes
// addresses but no memory and is not charged, so n may be a generous bound.
func Reserve[T any](budget *Budget, n int) (*Array[T], error) { return newArray[T](budget, n, false) }

// newArray returns an array without elements. If all is set, all of its room will be used, and it
// may get recycled memory.
func newArray[T any](budget *Budget, n int, all bool) (*Array[T], error) {
	size := int64(reflect.TypeFor[T]().Size())
	switch {
	case !plain(reflect.TypeFor[T]()):
		return nil, fmt.Errorf("an array outside Go's heap can't have elements with pointers: %v", reflect.TypeFor[T]())
	case n < 0 || int64(n) > (math.MaxInt-1<<20)/max(size, 1):
		return nil, target.Limitf("an array of %d elements of %d bytes is more than this machine can address", n, size)
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

// Lent returns an array over values that somebody else owns, such as a mapped file. It is not
// counted and can't grow. Free does not release the values.
func Lent[T any](s []T) *Array[T] { return &Array[T]{s: s[:len(s):len(s)], room: s[:len(s):len(s)]} }

func noMemory(bytes int64, err error) error {
	return fmt.Errorf("the system gives no %s of memory: %w", Bytes(bytes), err)
}

// plain reports whether values of type t contain no pointers.
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

// Slice returns the usable elements. The slice is valid until the array is freed, even when it
// grows; elements released by Shrink must not be touched. Touching a freed array ends the program.
func (a *Array[T]) Slice() []T {
	if a == nil {
		return nil
	}
	return a.s
}

// Sparse announces that few elements will be touched, so that the system uses small pages. It must
// be called before any element is touched, and returns the array.
func (a *Array[T]) Sparse() *Array[T] {
	a.mem.small()
	return a
}

// Cap returns the number of elements that the array has room for.
func (a *Array[T]) Cap() int {
	if a == nil {
		return 0
	}
	return len(a.room)
}

// Grow makes the first n elements usable; new elements are zero. It does nothing if there are n
// already. The error is a *LimitError or the system's, and leaves the array unchanged.
func (a *Array[T]) Grow(n int) error {
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
		// Memory of Go's heap needs no commit.
	} else if err := a.mem.commit(old*size, n*size); err != nil {
		a.budget.give(bytes)
		return noMemory(bytes, err)
	}
	a.s = a.room[:n:n]
	return nil
}

// Shrink keeps the first n elements and releases the memory and the room of the others.
func (a *Array[T]) Shrink(n int) {
	if a == nil || n >= len(a.room) {
		return
	}
	size := int(unsafe.Sizeof(a.room[0]))
	if n == 0 || size == 0 {
		a.Free()
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
func (a *Array[T]) Free() {
	if a == nil || a.room == nil {
		return
	}
	used := len(a.s) * int(unsafe.Sizeof(*new(T)))
	a.s, a.room = nil, nil
	if a.budget == nil || a.mem.base == nil {
		a.mem.free()
	} else {
		a.budget.spare.put(a.mem, used) // before give, so that another array can't push the sum above the peak
		a.mem = memory{}
	}
	a.budget.give(int64(used))
}

// A memory is a range of addresses in whole pages.
type memory struct {
	base unsafe.Pointer
	size int // bytes in whole pages
}
