package objects

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// ErrOtherType reports that a shape is not for a type. It wraps target.ErrUnsupported.
var ErrOtherType = target.Unsupportedf("the object is of another type")

// An UnknownLayoutError reports that a type has the right name but not the fields that a shape needs. It is from an
// unknown version of the library, or an unrelated type. It wraps target.ErrUnsupported.
type UnknownLayoutError struct {
	Type    string   // the type's name
	Fields  []string // its instance fields, with types, and statics; base classes first
	Missing []string // needed fields that are missing or of another kind, as in the shape's tags
}

// Error names the type, its missing fields and its actual fields.
func (e *UnknownLayoutError) Error() string {
	return fmt.Sprintf("unknown layout of %s: it has no %s; its fields are %s", e.Type, strings.Join(e.Missing, " and no "), strings.Join(e.Fields, ", "))
}

// Unwrap returns target.ErrUnsupported.
func (e *UnknownLayoutError) Unwrap() error { return target.ErrUnsupported }

// merge returns the error for two choices that do not fit. e may be nil.
func (e *UnknownLayoutError) merge(u *UnknownLayoutError) *UnknownLayoutError {
	if e == nil {
		return u
	}
	return &UnknownLayoutError{Type: e.Type, Fields: e.Fields, Missing: append(append([]string(nil), e.Missing...), u.Missing...)}
}

// newUnknownLayout returns the error for a type without some fields.
func newUnknownLayout(t *Type, missing []string) *UnknownLayoutError {
	e := &UnknownLayoutError{Missing: missing}
	var err error
	if e.Type, err = t.ManagedName(); err != nil {
		e.Type = fmt.Sprintf("%016x", uint64(t.MT.Addr))
	}
	fields, _ := t.Fields() // the readable ones
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

// ErrNoField reports that a version of a library does not have a field. It wraps target.ErrUnsupported.
var ErrNoField = target.Unsupportedf("this version of the library does not record it")
