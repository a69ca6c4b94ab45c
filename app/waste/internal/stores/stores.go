// Package stores finds what the objects of collection types store.
package stores

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// A Collection has the places in an object that determine how full it is. Package collections knows the types.
type Collection struct {
	Arrays        []target.Addr // offsets from the object's start
	Count, Unused target.Addr   // offsets too; unused is 0 for none
}

// Of returns the collection that t is, or derives from, nil for others. The error reports unknown fields.
func Of(r *collections.Reader, t *objects.Type) (*Collection, error) {
	s, err := r.Store(t)
	var unknown *shapes.UnknownLayoutError
	switch {
	case errors.As(err, &unknown):
		return nil, err
	case err != nil || s.Count.Size() != 4:
		return nil, nil // types of the class libraries have names
	}
	c := &Collection{Count: dac.ObjectHeaderBytes + target.Addr(s.Count.Offset())}
	if s.Free != nil {
		c.Unused = dac.ObjectHeaderBytes + target.Addr(s.Free.Offset())
	}
	for _, a := range s.Arrays {
		c.Arrays = append(c.Arrays, dac.ObjectHeaderBytes+target.Addr(a.Offset()))
	}
	return c, nil
}
