// Package atomicptr has atomic.Pointer without methods.
//
// The compiler makes the methods of a generic type anew for each T, in every package that can reach a structure with such a field, however
// far away it is: they were two thirds of the functions of most packages. Functions are made where they are called.
package atomicptr

import (
	"sync/atomic"
	"unsafe"
)

// A Pointer is an atomic pointer to a T. The zero Pointer is nil. A Pointer must not be copied after its first use.
type Pointer[T any] struct {
	_ [0]*T     // a Pointer of one type can't be converted to one of another
	_ [0]func() // it can't be compared: a function for that would be made, too
	p unsafe.Pointer
}

// Load returns what p points to.
func Load[T any](p *Pointer[T]) *T { return (*T)(atomic.LoadPointer(&p.p)) }

// Store makes p point to v.
func Store[T any](p *Pointer[T], v *T) { atomic.StorePointer(&p.p, unsafe.Pointer(v)) }
