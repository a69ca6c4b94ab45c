package collections

import (
	"iter"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
)

// Objects iterates over the objects in the collection that a field refers to, as ObjectsIn does. A null field has none.
func (r *Reader) Objects(f *shapes.Ref, x shapes.Instance) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		o, err := f.Object(x)
		switch {
		case err != nil:
			yield(objects.Object{}, err)
		case o.Addr != 0:
			r.ObjectsIn(o)(yield)
		}
	}
}

// ObjectsIn iterates over the objects in a collection, and over the values of a dictionary. It skips null elements.
// Unreadable elements are errors in their place.
func (r *Reader) ObjectsIn(o objects.Object) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		c, err := r.Of(o)
		if err != nil {
			yield(objects.Object{}, err)
			return
		}
		for item, err := range c.Items() {
			if err == nil && item.Value.IsNull() {
				continue
			}
			var o objects.Object
			if err == nil {
				o, err = item.Value.Object()
			}
			if !yield(o, err) {
				return
			}
		}
	}
}
