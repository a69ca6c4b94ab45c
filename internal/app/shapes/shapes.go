// Package shapes reads objects of class libraries for answers, by their shapes (objects.Bind). Null, an object of another
// type and a field that a version of the library lacks are not errors. Unreadable parts are notes of the answer.
package shapes

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reading reads objects for one answer. It notes unreadable parts in the answer's gaps. A caller tries one shape
// after another where a field may refer to objects of several types.
type Reading struct {
	*answer.Gaps
	Binder *objects.Binder
}

// TryBind is objects.BindObject for objects that may be of another type. It reports whether the shape is for the object's type.
func TryBind[S any](b *objects.Binder, o objects.Object) (s S, x objects.Instance, is bool, err error) {
	if is, err = objects.IsShape[S](b, o.Type); !is || err != nil {
		return s, 0, false, err
	}
	s, x, err = objects.BindObject[S](b, o)
	return s, x, true, err
}

// BindAs binds the shape that S points to, to an object. It returns nil for null and for an object of another type. For an
// unreadable object it notes the error and returns nil.
func BindAs[S any](r Reading, o objects.Object) (s S, x objects.Instance) {
	if o.Addr == 0 {
		return s, 0
	}
	s, x, err := objects.BindObject[S](r.Binder, o)
	if err == nil {
		return s, x
	}
	if !errors.Is(err, objects.ErrOtherType) {
		r.Note(err)
	}
	return s, 0
}

// BindAt is BindAs for the object that a field refers to. It returns nil if there is no such field.
func BindAt[S any](r Reading, f *objects.RefField, x objects.Instance) (S, objects.Instance) {
	return BindAs[S](r, r.ObjectAt(f, x))
}

// BindAtOr is BindAt with an error instead of nil: the noted error of an unreadable object, or else other.
func BindAtOr[S any](r Reading, f *objects.RefField, x objects.Instance, other error) (s S, at objects.Instance, err error) {
	if f == nil || !f.Has() {
		return s, 0, other
	}
	o, err := f.Object(x)
	if err == nil && o.Addr != 0 {
		if s, at, err = objects.BindObject[S](r.Binder, o); err == nil {
			return s, at, nil
		}
	}
	if err == nil || errors.Is(err, objects.ErrOtherType) {
		return s, 0, other
	}
	r.Note(err)
	return s, 0, err
}

// ObjectAt returns the object that a field refers to. Its Addr is 0 for null and if there is no such field. If the
// object is unreadable, ObjectAt notes the error, and Addr is 0.
func (r Reading) ObjectAt(f *objects.RefField, x objects.Instance) objects.Object {
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

// Plain formats a value as one line and notes what is unreadable. Strings are cut after limit characters.
func (r Reading) Plain(v objects.Value, limit int) string {
	r.Note(cmp.Or(v.Err(), v.Line(limit).Err()))
	return v.Plain(limit)
}

// PointerAt returns the address in a field, 0 for null and if there is no such field.
func (r Reading) PointerAt(f *objects.RefField, x objects.Instance) answer.Pointer {
	if f == nil || !f.Has() {
		return answer.Pointer{Maybe: answer.Known[target.Addr](0)}
	}
	return r.Pointer(f.Addr(x))
}

// TextAt returns the string that a field refers to, at most limits.RequestText UTF-16 code units. It is empty for null
// and if there is no such field.
func (r Reading) TextAt(f *objects.RefField, x objects.Instance) answer.Text {
	if f == nil || !f.Has() {
		return answer.Text{}
	}
	s, _, err := f.Start(x, limits.RequestText)
	return r.Text(s, err)
}

// IntAt returns the integer in a field. If there is no such field, the error is objects.ErrNoField, which is not noted.
func (r Reading) IntAt(f *objects.IntField, x objects.Instance) answer.Maybe[int64] {
	if f == nil || !f.Has() {
		return answer.Missing[int64](objects.ErrNoField)
	}
	n, err := f.Int(x)
	r.Note(err)
	return answer.Of(n, err)
}

// BoolAt reports whether the integer in a field is not zero. If there is no such field, the error is objects.ErrNoField, which
// is not noted.
func (r Reading) BoolAt(f *objects.IntField, x objects.Instance) answer.Maybe[bool] {
	n := r.IntAt(f, x)
	return answer.Of(n.Value != 0, n.Err())
}

// EnumAt returns the name of an enum value in a field, or its number. It is empty if there is no such field.
func (r Reading) EnumAt(f *objects.IntField, x objects.Instance) answer.Text {
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
func (r Reading) TimeAt(f *objects.IntField, x objects.Instance) *time.Time {
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

// keptBytes is about what an answer keeps of an object that it lists.
const keptBytes = 256

// ReadObjects lists the objects of objects.BoundObjects and notes its errors. The list ends early when ctx is done, and
// when what answers keep of the objects needs more memory than the dump's limit.
func ReadObjects[S any](ctx context.Context, r Reading, h *heap.Heap, o heap.ScanOptions) iter.Seq2[objects.Object, objects.Found[S]] {
	return func(yield func(objects.Object, objects.Found[S]) bool) {
		for f, err := range objects.BoundObjects[S](ctx, r.Binder, h, nil, o) {
			var object objects.Object
			if err == nil {
				object, err = r.Binder.Objects().Of(f.Object)
			}
			if err == nil {
				err = offheap.Keep(ctx, "the list of these objects", keptBytes)
			}
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				r.Note(err)
				if errors.Is(err, target.ErrLimit) {
					return
				}
			case !yield(object, f):
				return
			}
		}
	}
}
