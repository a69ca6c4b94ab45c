package shapes

import (
	"errors"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reading reads objects for one answer: what it can't read it notes in the answer's gaps, and what a field's owner says of
// several kinds of objects it asks one after another.
type Reading struct {
	*answer.Gaps
	Binder *Binder
}

// ErrNoField is about what a version of a library does not keep. It is a target.ErrUnsupported.
var ErrNoField = target.Unsupportedf("this version of the library does not keep it")

// Try is BindObject where an object of another type is nothing wrong: is reports whether it is of the types that T is for.
func Try[T any](b *Binder, o objects.Object) (s *T, x Instance, is bool, err error) {
	if is, err = Is[T](b, o.Type); !is || err != nil {
		return nil, 0, false, err
	}
	s, x, err = BindObject[T](b, o)
	return s, x, true, err
}

// As binds shape T to an object. It is nil for null, for an object of another type and, with a note, for what can't be read.
func As[T any](r Reading, o objects.Object) (*T, Instance) {
	if o.Addr == 0 {
		return nil, 0
	}
	s, x, err := BindObject[T](r.Binder, o)
	if err != nil {
		if !errors.Is(err, ErrOtherType) {
			r.Note(err)
		}
		return nil, 0
	}
	return s, x
}

// At is As of the object that a field refers to, and nil if there is no such field.
func At[T any](r Reading, f *Ref, x Instance) (*T, Instance) { return As[T](r, r.ObjectAt(f, x)) }

// AtOr is At with the reason for which there is none: what can't be read, which is noted, or other where there is no object of
// that type.
func AtOr[T any](r Reading, f *Ref, x Instance, other error) (*T, Instance, error) {
	if !f.Has() {
		return nil, 0, other
	}
	o, err := f.Object(x)
	var s *T
	var at Instance
	if err == nil && o.Addr != 0 {
		s, at, err = BindObject[T](r.Binder, o)
	}
	switch {
	case err == nil && s != nil:
		return s, at, nil
	case err == nil || errors.Is(err, ErrOtherType):
		return nil, 0, other
	}
	r.Note(err)
	return nil, 0, err
}

// ObjectAt is the object that a field refers to. Its Addr is 0 for null, where there is no such field and, with a note, where it
// can't be read.
func (r Reading) ObjectAt(f *Ref, x Instance) objects.Object {
	if !f.Has() {
		return objects.Object{}
	}
	o, err := f.Object(x)
	if err != nil {
		r.Note(err)
		return objects.Object{}
	}
	return o
}

// PointerAt is the address in a field, 0 for null and where there is no such field.
func (r Reading) PointerAt(f *Ref, x Instance) answer.Pointer {
	if !f.Has() {
		return answer.Pointer{}
	}
	return r.Pointer(f.Addr(x))
}

// TextAt is the string that a field refers to, at most limits.RequestText UTF-16 code units of it; empty for null and
// where there is no such field.
func (r Reading) TextAt(f *Ref, x Instance) answer.Text {
	if !f.Has() {
		return answer.Text{}
	}
	s, _, err := f.Text(x, limits.RequestText)
	return r.Text(s, err)
}

// IntAt is the integer in a field; ErrNoField, which is not noted, where there is no such field.
func (r Reading) IntAt(f *Int, x Instance) answer.Maybe[int64] {
	if !f.Has() {
		return answer.Maybe[int64]{Err: ErrNoField}
	}
	n, err := f.Int(x)
	r.Note(err)
	return answer.Of(n, err)
}

// BoolAt reports whether the integer in a field is not zero; ErrNoField, which is not noted, where there is no such field.
func (r Reading) BoolAt(f *Int, x Instance) answer.Maybe[bool] {
	n := r.IntAt(f, x)
	return answer.Of(n.Value != 0, n.Err)
}

// EnumAt is the name of the value of an enum in a field, or its number; empty where there is no such field.
func (r Reading) EnumAt(f *Int, x Instance) answer.Text {
	if !f.Has() {
		return answer.Text{}
	}
	v := f.Value(x)
	if v.Err() != nil {
		return r.Text("", v.Err())
	}
	return answer.Text{S: v.Plain(0)}
}

// TimeAt is the time, in UTC, that the field of a DateTime holds, nil for none: an unset one, or no such field.
func (r Reading) TimeAt(f *Int, x Instance) *time.Time {
	if !f.Has() {
		return nil
	}
	data, err := f.Uint(x)
	t := time.Time{}
	if err == nil {
		t, err = objects.DateTime(data)
	}
	if err != nil || t.IsZero() {
		r.Note(err)
		return nil
	}
	return &t
}

// TypeText is the name of an object's type, as metadata has it.
func (r Reading) TypeText(o objects.Object) answer.Text { return r.Text(o.Type.ManagedName()) }
