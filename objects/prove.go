package objects

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// NewIn returns a Reader that proves objects on a heap. It calls open when it first proves an object.
func NewIn(rt *dac.Runtime, open func() (*heap.Heap, error)) *Reader {
	r := New(rt)
	r.open = open
	return r
}

// Proven returns the object at an address of any origin. It proves that a heap walk reaches a. If the heap is not in
// the dump, the object's type is the only proof, as for Object. The error is an *InvalidError if there is no object at
// a: with target.ErrCorrupt if the heap is damaged there, and else with a *target.AddressError.
func (r *Reader) Proven(a target.Addr) (Object, error) {
	o, err := r.object(a)
	if err == nil {
		err = r.prove(o)
	}
	if err != nil {
		if !r.damaged(a) {
			err = target.WrongAddress(err)
		}
		return Object{}, &InvalidError{Addr: a, Err: err}
	}
	return o, nil
}

// damaged reports whether a walk of the heap finds damage at a, or an object at a that r refuses.
func (r *Reader) damaged(a target.Addr) bool {
	h := r.walkable()
	if h == nil || h.Segment(a) == nil {
		return false
	}
	at, err := h.ObjectContaining(a)
	return err == nil && at.Addr == a || errors.As(err, new(*heap.Corruption))
}

// prove returns an error if something contradicts that o is an object.
func (r *Reader) prove(o Object) error {
	h := r.walkable()
	if h == nil || h.Segment(o.Addr) == nil && len(h.Warnings()) > 0 {
		return o.plausible()
	}
	at, err := h.ObjectContaining(o.Addr)
	var unreadable *heap.Corruption
	switch {
	case errors.As(err, &unreadable):
		return o.plausible()
	case err == nil && at.Addr != o.Addr:
		return target.CorruptHeapf("it lies in the object at %016x", uint64(at.Addr))
	}
	return err
}

// walkable returns the heap, or nil if it is not in the dump.
func (r *Reader) walkable() *heap.Heap {
	if r.open == nil {
		return nil
	}
	h, err := r.open()
	if err != nil || h.Bounds() == (target.Range{}) {
		return nil
	}
	return h
}

// plausible returns an error if the object is larger than any heap.
func (o Object) plausible() error {
	n, err := o.Size()
	if errors.Is(err, target.ErrNotInDump) {
		return nil
	}
	if err == nil && n > limits.ObjectBytes {
		err = target.CorruptHeapf("an object of %d bytes", n)
	}
	return err
}
