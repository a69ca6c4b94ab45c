package objects

// yieldItem yields an item, or the error of its key or value.
func yieldItem(yield yielder, i CollectionItem) bool {
	i, _, err := checkItem(i)
	if err != nil {
		i = CollectionItem{}
	}
	return yield(i, err)
}

// checkItem returns an item that counts, or the error of its key or value.
func checkItem(i CollectionItem) (CollectionItem, bool, error) {
	if err := i.Key.Err(); err != nil {
		return i, false, err
	}
	return i, true, i.Value.Err()
}

// convert returns c with each item replaced by the result of f.
func (c content) convert(f func(CollectionItem) (CollectionItem, error)) content {
	inner := c.each
	if inner == nil {
		return c
	}
	c.after = nil
	c.each = func(yield yielder) bool {
		return inner(func(i CollectionItem, err error) bool {
			if err == nil {
				i, err = f(i)
			}
			if err != nil {
				i = CollectionItem{}
			}
			return yield(i, err)
		})
	}
	return c
}

// convertObjects is convert for items with a value that is an object of the shape that S points to.
func convertObjects[S any](r *Collections, c content, f func(i CollectionItem, s S, x Instance) CollectionItem) content {
	return c.convert(func(i CollectionItem) (CollectionItem, error) {
		o, err := i.Value.Object()
		if err != nil {
			return CollectionItem{}, err
		}
		s, x, err := BindObject[S](r.b, o)
		if err != nil {
			return CollectionItem{}, err
		}
		i, _, err = checkItem(f(i, s, x))
		return i, err
	})
}
