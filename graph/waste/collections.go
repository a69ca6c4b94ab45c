package waste

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// A collection says where in an object it stands how full it is: package collections knows the types.
type collection struct {
	arrays        []target.Addr // offsets from the object's start
	count, unused target.Addr   // the same; unused is 0 for none
}

// collectionOf is the collection that t is, or derives from; it is nil for other types. The error says that the fields are
// not known.
func collectionOf(r *collections.Reader, t *objects.Type) (*collection, error) {
	s, err := r.Store(t)
	var unknown *shapes.UnknownLayoutError
	switch {
	case errors.As(err, &unknown):
		return nil, err
	case err != nil || s.Count.Size() != 4:
		return nil, nil // it is no type of the class libraries that has no name
	}
	c := &collection{count: dac.ObjectHeaderBytes + target.Addr(s.Count.Offset())}
	if s.Free != nil {
		c.unused = dac.ObjectHeaderBytes + target.Addr(s.Free.Offset())
	}
	for _, a := range s.Arrays {
		c.arrays = append(c.arrays, dac.ObjectHeaderBytes+target.Addr(a.Offset()))
	}
	return c, nil
}
