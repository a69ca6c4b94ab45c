package shapes

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reading reads objects for one answer. It records unreadable parts in the answer's gaps. If a field may refer to
// objects of several types, a caller tries one shape after another.
type Reading struct {
	*answer.Gaps
	Binder *Binder
}

// ErrNoField reports that a version of a library does not have a field. It wraps target.ErrUnsupported.
var ErrNoField = target.Unsupportedf("this version of the library does not record it")

// Try is BindObject for objects that may be of another type. is reports whether the shape is for the object's type.
func Try[S any](b *Binder, o objects.Object) (s S, x Instance, is bool, err error) {
	if is, err = Is[S](b, o.Type); !is || err != nil {
		return s, 0, false, err
	}
	s, x, err = BindObject[S](b, o)
	return s, x, true, err
}

// As binds the shape that S points to, to an object. It returns nil for null and for an object of another type, and, with a note, for an unreadable object.
func As[S any](r Reading, o objects.Object) (S, Instance) {
	s, x := r.as((*S)(nil), o)
	if s == nil {
		var none S
		return none, 0
	}
	return s.(S), x
}

func (r Reading) as(shape any, o objects.Object) (any, Instance) {
	if o.Addr == 0 {
		return nil, 0
	}
	s, err := r.Binder.bound(shape, o.Type)
	if err != nil {
		if !errors.Is(err, ErrOtherType) {
			r.Note(err)
		}
		return nil, 0
	}
	return s, Of(o)
}

// At is As for the object that a field refers to. It returns nil if there is no such field.
func At[S any](r Reading, f *Ref, x Instance) (S, Instance) { return As[S](r, r.ObjectAt(f, x)) }

// AtOr is At with a reason for nil. The reason is the noted error of an unreadable object, or other if there is no object of that type.
func AtOr[S any](r Reading, f *Ref, x Instance, other error) (S, Instance, error) {
	s, at, err := r.atOr((*S)(nil), f, x, other)
	out, _ := s.(S) // nil for an error, and for a Reading without a Binder
	return out, at, err
}

func (r Reading) atOr(shape any, f *Ref, x Instance, other error) (any, Instance, error) {
	if f == nil || !f.Has() {
		return nil, 0, other
	}
	o, err := f.Object(x)
	var s any
	if err == nil && o.Addr != 0 {
		s, err = r.Binder.bound(shape, o.Type)
	}
	switch {
	case err == nil && s != nil:
		return s, Of(o), nil
	case err == nil || errors.Is(err, ErrOtherType):
		return nil, 0, other
	}
	r.Note(err)
	return nil, 0, err
}

// ObjectAt returns the object that a field refers to. Its Addr is 0 for null, if there is no such field, and, with a
// note, if it is unreadable.
func (r Reading) ObjectAt(f *Ref, x Instance) objects.Object {
	if f == nil || !f.Has() {
		return objects.Object{}
	}
	o, err := f.Object(x)
	if err != nil {
		r.Note(err)
		return objects.Object{}
	}
	return o
}

// Plain formats a value on a line of at most limit characters a string, and notes what the line lacks.
func (r Reading) Plain(v objects.Value, limit int) string {
	r.Note(cmp.Or(v.Err(), v.Line(limit).Err()))
	return v.Plain(limit)
}

// PointerAt returns the address in a field, 0 for null and if there is no such field.
func (r Reading) PointerAt(f *Ref, x Instance) answer.Pointer {
	if f == nil || !f.Has() {
		return answer.Pointer{}
	}
	return r.Pointer(f.Addr(x))
}

// TextAt returns the string that a field refers to, at most limits.RequestText UTF-16 code units. It is empty for null
// and if there is no such field.
func (r Reading) TextAt(f *Ref, x Instance) answer.Text {
	if f == nil || !f.Has() {
		return answer.Text{}
	}
	s, _, err := f.Text(x, limits.RequestText)
	return r.Text(s, err)
}

// IntAt returns the integer in a field. The error is ErrNoField, which is not noted, if there is no such field.
func (r Reading) IntAt(f *Int, x Instance) answer.Maybe[int64] {
	if f == nil || !f.Has() {
		return answer.Maybe[int64]{Err: ErrNoField}
	}
	n, err := f.Int(x)
	r.Note(err)
	return answer.Of(n, err)
}

// BoolAt reports whether the integer in a field is not zero. A missing field is ErrNoField, which is not noted.
func (r Reading) BoolAt(f *Int, x Instance) answer.Maybe[bool] {
	n := r.IntAt(f, x)
	return answer.Of(n.Value != 0, n.Err)
}

// EnumAt returns the name of an enum value in a field, or its number. It is empty if there is no such field.
func (r Reading) EnumAt(f *Int, x Instance) answer.Text {
	if f == nil || !f.Has() {
		return answer.Text{}
	}
	v := f.Value(x)
	if v.Err() != nil {
		return r.Text("", v.Err())
	}
	t, err := v.Type()
	if err == nil && t.IsEnum() {
		_, err = t.Enum()
	}
	r.Note(err) // the number stands for the name
	return answer.Text{S: v.Plain(0)}
}

// TimeAt returns the time in a DateTime field, in UTC. It is nil if the time is unset or there is no such field.
func (r Reading) TimeAt(f *Int, x Instance) *time.Time {
	if f == nil || !f.Has() {
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

// TypeText returns the name of an object's type, as in metadata.
func (r Reading) TypeText(o objects.Object) answer.Text { return r.Text(o.Type.ManagedName()) }

// OnObjects iterates over the objects of the heap that On finds. What can't be read is noted. It ends early when ctx ends.
func OnObjects[S any](ctx context.Context, r Reading, h *heap.Heap, o heap.ScanOptions) iter.Seq2[objects.Object, Found[S]] {
	ctx = absent.Context(ctx)
	return func(yield func(objects.Object, Found[S]) bool) {
		for f, err := range On[S](ctx, r.Binder, h, nil, o) {
			var object objects.Object
			if err == nil {
				object, err = r.Binder.Objects().Of(f.Object)
			}
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				r.Note(err)
			case !yield(object, f):
				return
			}
		}
	}
}
