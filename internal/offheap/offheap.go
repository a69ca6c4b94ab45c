// Package offheap has arrays of plain values outside Go's heap. Those of the object graph are some bytes for each of up
// to hundreds of millions of objects: the collector would look at them, keep as much again before it gives anything
// back, and copy them when they grow. Here an array is a range of addresses that the system fills with zeros as it is
// touched and takes back at once when it is freed: the same algorithms took half the memory and two thirds of the time.
// A [Budget] counts the bytes of arrays and says what is needed before anything is begun.
//
// Arrays of 16 MB and more are of large pages, where the system has them: passes in random order take a quarter less
// time with them, and to give them back takes a tenth of the time, which is what a stop waits for. See [Array.Sparse]
// for those of which little is touched.
//
// Nothing frees an array that was forgotten: whoever makes one frees it. Where the system has no such memory
// (neither Linux, macOS nor Windows) the arrays are Go's own.
package offheap

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/sosgo/sosgo/target"
)

// An Array is n values of a type of fixed size without pointers. Its methods are for one goroutine at a time; the
// elements are for as many as agree on who writes which. A nil Array is empty and may be freed.
type Array[T any] struct {
	mem    memory
	s      []T // the usable elements, at the beginning of room
	room   []T
	budget *Budget
}

// ownFrom is how many bytes are better asked of Go: to map a page and to release it takes two calls of the system, which
// was a fifth of the time of the graph of a small heap.
const ownFrom = 4096

// Make returns an array of n usable elements, all zero. Memory is taken as they are touched, but the budget is charged with
// all of them. budget may be nil.
func Make[T any](budget *Budget, n int) (*Array[T], error) {
	a, err := Reserve[T](budget, n)
	if err != nil {
		return nil, err
	}
	if err := a.Grow(n); err != nil {
		a.Free()
		return nil, err
	}
	return a, nil
}

// Reserve returns an array without elements that can grow to n without moving. Room costs addresses, no memory, and is not
// charged to the budget; so n may be a bound that is far too high.
func Reserve[T any](budget *Budget, n int) (*Array[T], error) {
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
	mem, err := reserve(bytes)
	if err != nil {
		return nil, noMemory(int64(bytes), err)
	}
	a.mem = mem
	a.mem.large()
	a.room = unsafe.Slice((*T)(mem.base), n)
	return a, nil
}

// Lent returns an array of values that are somebody else's, as in a file that is mapped. Nothing is counted for it, it
// can't grow, and Free forgets it.
func Lent[T any](s []T) *Array[T] { return &Array[T]{s: s[:len(s):len(s)], room: s[:len(s):len(s)]} }

func noMemory(bytes int64, err error) error {
	return fmt.Errorf("the system gives no %s of memory: %w", Bytes(bytes), err)
}

// plain reports whether values of a type are without pointers.
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

// Slice returns the usable elements. It is valid until the array is freed, also when it grows; what Shrink gave back must
// not be touched through an older slice. Touching a freed array is a fault that ends the program.
func (a *Array[T]) Slice() []T {
	if a == nil {
		return nil
	}
	return a.s
}

// Sparse says that few of the elements will be touched, here and there, so that the system is to take small pages for
// them. It is called before any is touched, and returns the array.
func (a *Array[T]) Sparse() *Array[T] {
	a.mem.small()
	return a
}

// Cap returns how many elements there is room for.
func (a *Array[T]) Cap() int {
	if a == nil {
		return 0
	}
	return len(a.room)
}

// Grow makes the first n elements usable; those that are new are zero. It does nothing if there are as many. The error
// is a *LimitError, or the system's, and the array is as it was.
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
		// Go's own memory is there.
	} else if err := a.mem.commit(old*size, n*size); err != nil {
		a.budget.give(bytes)
		return noMemory(bytes, err)
	}
	a.s = a.room[:n:n]
	return nil
}

// Shrink leaves the first n elements and gives the memory and the room of the others back.
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

// Free releases all at once. The array is empty then; to free it again does nothing.
func (a *Array[T]) Free() {
	if a == nil || a.room == nil {
		return
	}
	a.budget.give(int64(len(a.s)) * int64(reflect.TypeFor[T]().Size()))
	a.s, a.room = nil, nil
	a.mem.free()
}

// A memory is a range of addresses, whole pages.
type memory struct {
	base unsafe.Pointer
	size int // bytes, as the system has them
}
