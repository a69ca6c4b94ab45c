package objects

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// NewIn is New with the heap that the objects are on, which is opened when an
// object is first to be proved.
func NewIn(rt *dac.Runtime, open func() (*heap.Heap, error)) *Reader {
	r := New(rt)
	r.open = open
	return r
}

// Proven returns the object at a, an address of whatever origin. A walk of the heap
// proves it: that comes to a, and not past it. Where the dump lacks the heap its
// type is the proof, as it is for Object. An address that holds no object is an
// *InvalidError.
func (r *Reader) Proven(a target.Addr) (Object, error) {
	o, err := r.Object(a)
	if err == nil {
		if err = r.prove(o); err != nil {
			err = &InvalidError{Addr: a, Err: err}
		}
	}
	if err != nil {
		return Object{}, err
	}
	return o, nil
}

// prove says what contradicts that o is an object.
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
		return target.Corruptf("it lies in the object at %016x", uint64(at.Addr))
	}
	return err
}

// walkable is the heap, nil where the dump lacks it.
func (r *Reader) walkable() *heap.Heap {
	if r.open == nil {
		return nil
	}
	h, err := r.open()
	if err != nil || len(h.Segments()) == 0 {
		return nil
	}
	return h
}

// plausible refuses an object that no heap has room for.
func (o Object) plausible() error {
	n, err := o.Size()
	if errors.Is(err, target.ErrNotInDump) {
		return nil
	}
	if err == nil && n > limits.ObjectBytes {
		err = target.Corruptf("an object of %d bytes", n)
	}
	return err
}
