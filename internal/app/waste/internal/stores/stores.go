// Package stores finds the fields that determine how full a collection is. objects.Collections reads the elements.
// Start with Of.
package stores

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Collection has the offsets of the fields that determine how full a collection is. objects.Collections defines the
// types.
type Collection struct {
	Arrays        []target.Addr // offsets from the object's start
	Count, Unused target.Addr   // offsets; Unused is 0 if the type has no such field
}

// Of returns the Collection of t or of its base class, or nil for other types. The error reports unknown fields.
func Of(r *objects.Collections, t *objects.Type) (*Collection, error) {
	s, err := r.Store(t)
	var unknown *objects.UnknownLayoutError
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
