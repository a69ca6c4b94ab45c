package collections

import (
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
)

// A Store describes where a collection keeps its elements in arrays of its own. With it, a caller that reads many
// collections can compute how full they are.
type Store struct {
	Arrays []*shapes.Ref // to the arrays, of which the first has as many elements as there is room; empty for nodes
	Count  *shapes.Int   // used places
	Free   *shapes.Int   // used places without an element; nil if there are none
}

func store(count, free *shapes.Int, arrays ...*shapes.Ref) Store {
	return Store{Arrays: arrays, Count: count, Free: free}
}

// Store returns where collections of a type keep their elements. The error is ErrNotCollection for types that are not
// collections, or that keep neither arrays of their own nor a count. It is a *shapes.UnknownLayoutError if the fields
// differ.
func (r *Reader) Store(t *objects.Type) (Store, error) {
	op := r.opener(t)
	switch {
	case op.err != nil:
		return Store{}, op.err
	case op.kind.store == nil:
		return Store{}, ErrNotCollection
	}
	return op.kind.store(r, t)
}
