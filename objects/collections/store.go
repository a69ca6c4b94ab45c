package collections

import (
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
)

// A Store is how a collection keeps its elements in arrays of its own: where in it that is told, for who reads many
// collections and wants no more of each than how full it is.
type Store struct {
	Arrays []*shapes.Ref // to the arrays, the first of which is as long as there is room; empty for nodes
	Count  *shapes.Int   // places that are used
	Free   *shapes.Int   // how many of them hold no element any more; nil if all do
}

func store(count, free *shapes.Int, arrays ...*shapes.Ref) Store {
	return Store{Arrays: arrays, Count: count, Free: free}
}

// Store is how collections of a type keep their elements. It is ErrNotCollection for types that are none, or that keep no
// elements in arrays of their own and no count, and a *shapes.UnknownLayoutError for those whose fields are not known.
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
