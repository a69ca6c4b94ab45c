package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
)

// yieldItem yields an item, or the error of its key or value.
func yieldItem(yield yielder, i Item) bool {
	i, _, err := checkItem(i)
	if err != nil {
		i = Item{}
	}
	return yield(i, err)
}

// checkItem returns an item that counts, or the error of its key or value.
func checkItem(i Item) (Item, bool, error) {
	if err := i.Key.Err(); err != nil {
		return i, false, err
	}
	return i, true, i.Value.Err()
}

// convert returns c with each item replaced by the result of f.
func (c content) convert(f func(Item) (Item, error)) content {
	inner := c.each
	if inner == nil {
		return c
	}
	c.after = nil
	c.each = func(yield yielder) bool {
		return inner(func(i Item, err error) bool {
			if err == nil {
				i, err = f(i)
			}
			if err != nil {
				i = Item{}
			}
			return yield(i, err)
		})
	}
	return c
}

// convertObjects is convert for items with a value that is an object of the shape that S points to.
func convertObjects[S any](r *Reader, c content, f func(i Item, s S, x shapes.Instance) Item) content {
	return c.convert(func(i Item) (Item, error) {
		o, err := i.Value.Object()
		if err != nil {
			return Item{}, err
		}
		s, x, err := shapes.BindObject[S](r.b, o)
		if err != nil {
			return Item{}, err
		}
		i, _, err = checkItem(f(i, s, x))
		return i, err
	})
}
