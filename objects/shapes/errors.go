package shapes

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// ErrOtherType says that a type is none of those that a shape is for. It is a target.ErrUnsupported.
var ErrOtherType = target.Unsupportedf("the type is another one")

// An UnknownLayoutError says that a type has the name that a shape is for, and other fields than it wants: a version of the
// library that is not known, or another type of that name. It is a target.ErrUnsupported.
type UnknownLayoutError struct {
	Type    string   // name of the type
	Fields  []string // instance fields that it has, with their types, and statics; the base class's first
	Missing []string // fields that were looked for and are not there, or are of another kind; as the shape's tags have them
}

// Error names the type, the fields that lack and those that are there.
func (e *UnknownLayoutError) Error() string {
	return fmt.Sprintf("unknown layout of %s: it has no %s; its fields are %s", e.Type, strings.Join(e.Missing, " and no "), strings.Join(e.Fields, ", "))
}

// Unwrap is target.ErrUnsupported.
func (e *UnknownLayoutError) Unwrap() error { return target.ErrUnsupported }

// or is the error about two choices of which neither fits.
func (e *UnknownLayoutError) or(u *UnknownLayoutError) *UnknownLayoutError {
	if e == nil {
		return u
	}
	return &UnknownLayoutError{Type: e.Type, Fields: e.Fields, Missing: append(append([]string(nil), e.Missing...), u.Missing...)}
}

func (b *Binder) unknown(t *objects.Type, missing []string) *UnknownLayoutError {
	e := &UnknownLayoutError{Missing: missing}
	var err error
	if e.Type, err = t.ManagedName(); err != nil {
		e.Type = fmt.Sprintf("%016x", uint64(t.MT.Addr))
	}
	fields, _ := t.Fields() // those that are known
	for _, f := range fields {
		if f.Err() != nil {
			continue
		}
		text := f.Name
		if typ, err := f.TypeName(dac.NameManaged); err == nil {
			text += " : " + typ
		}
		if f.Static {
			text = "static " + text
		}
		e.Fields = append(e.Fields, text)
	}
	if e.Fields == nil {
		e.Fields = []string{"none"}
	}
	return e
}
