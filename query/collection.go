package query

import (
	"errors"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

func isNoCollection(err error) bool { return errors.Is(err, objects.ErrNotCollection) }

// A pair is an element of a collection.
type pair struct{ key, value Value }

// collection opens the collection that a value is.
func (f *frame) collection(v Value) (*objects.Collection, error) {
	t, err := f.typeOf(v)
	if err != nil {
		return nil, err
	}
	if f.e.env.collections == nil {
		return nil, objects.ErrNotCollection
	}
	if v.kind == KindStruct {
		return f.e.env.collections.In(t, objects.InstanceIn(objects.Struct{Addr: v.Addr(), Type: t}))
	}
	return f.e.env.collections.Of(objects.Object{Addr: v.Addr(), Type: t})
}

// items returns the elements of a collection, array or list.
func (f *frame) items(v Value) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		if v.secret {
			each := yield
			yield = func(p pair, err error) bool {
				p.value = f.secret(p.value)
				return each(p, err)
			}
		}
		if v.kind == KindList {
			for item := range v.list.all {
				if !yield(pair{value: item}, item.Err()) {
					return
				}
			}
			return
		}
		if v.kind != KindObject && v.kind != KindStruct {
			yield(pair{}, objects.ErrNotCollection)
			return
		}
		if v.kind == KindObject {
			if o, err := f.object(v); err == nil && o.Type.MT.IsArray() {
				f.arrayItems(o, yield)
				return
			}
		}
		c, err := f.collection(v)
		if err != nil {
			yield(pair{}, err)
			return
		}
		if c.Hides(f.e.mask) {
			yield(pair{}, errHidden)
			return
		}
		n, announced := 0, c.Announced()
		for item, err := range c.Items() {
			if n++; n&1023 == 0 && f.e.ctx.Err() != nil {
				yield(pair{}, f.e.ctx.Err())
				return
			}
			p := pair{}
			if err == nil {
				p = f.pairOf(&item, c.HasKeys)
				p.value = f.secretIf(f.e.mask != nil && announced(&item), p.value)
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

func (f *frame) pairOf(item *objects.CollectionItem, keyed bool) pair {
	p := pair{value: f.fromValue(item.Value)}
	if keyed {
		p.key = f.fromValue(item.Key)
	}
	return p
}

func (f *frame) arrayItems(o objects.Object, yield func(pair, error) bool) {
	if err := f.checkElements(o); err != nil {
		yield(pair{}, err)
		return
	}
	a, err := o.Array()
	if err != nil {
		yield(pair{}, err)
		return
	}
	n := uint32(0)
	for v, err := range a.Stored(a.Len) { // the length may be corrupt
		if n++; n&1023 == 0 && f.e.ctx.Err() != nil {
			yield(pair{}, f.e.ctx.Err())
			return
		}
		item := Failed(err)
		if err == nil {
			item = f.secretIf(f.e.mask != nil && n > 1 && a.Announces(n-2, v), f.fromValue(v))
		}
		if !yield(pair{value: item}, item.Err()) {
			return
		}
	}
}

// indexCollection computes list[3] or dictionary["key"].
func (f *frame) indexCollection(v Value, keys []Value) Value {
	if len(keys) != 1 {
		return Failed(noAnswer("a collection has one index"))
	}
	if v.kind == KindStruct {
		if out, ok := f.indexRow(v, keys[0]); ok {
			return out
		}
	}
	c, err := f.collection(v)
	if err != nil {
		return f.noIndex(v, err)
	}
	if c.HasKeys {
		found, ok, err := f.findKey(v, keys[0])
		switch {
		case ok:
			return found
		case err != nil:
			return Failed(err)
		}
		return Failed(noAnswer("the collection has no key %s", f.short(keys[0])))
	}
	if !keys[0].isInteger() {
		return f.kindError("an index", keys[0])
	}
	at, gap := uint64(0), error(nil)
	for item, err := range f.items(v) {
		if err != nil {
			gap = err
		}
		if at == keys[0].bits {
			if err != nil {
				return Failed(err)
			}
			return item.value
		}
		at++
	}
	if gap != nil {
		return Failed(gap)
	}
	return Failed(noAnswer("the collection has no element [%s]: it has %d", f.short(keys[0]), at))
}

// indexRow returns an element of a fixed-size buffer or an inline array. It reports false for other structs.
func (f *frame) indexRow(v, key Value) (Value, bool) {
	n := uint64(0)
	row := objects.Struct{Addr: v.Addr(), Type: v.typ}
	if err := f.checkParts(row); err != nil {
		return Failed(err), true
	}
	for i, item := range row.Elements() {
		if key.isInteger() && uint64(i) == key.bits {
			return f.fromValue(item), true
		}
		n++
	}
	switch {
	case n == 0:
		return Value{}, false
	case !key.isInteger():
		return f.kindError("an index", key), true
	}
	return Failed(noAnswer("the buffer has no element [%s]: it has %d", f.short(key), n)), true
}

func (f *frame) noIndex(v Value, err error) Value {
	if isNoCollection(err) {
		return f.kindError("an index", v)
	}
	return Failed(err)
}

// findKey searches for a key. It compares the elements one by one, strings by their characters, because the program's
// comparer is unknown. gap is the error of an unreadable element.
func (f *frame) findKey(v, key Value) (found Value, ok bool, gap error) {
	looked := 0
	for item, err := range f.items(v) {
		if looked++; looked > limits.QueryRows {
			return Value{}, false, target.Unsupportedf("the collection is too large to look for a key")
		}
		if err != nil {
			gap = err
			continue
		}
		if item.key.kind == KindError && item.key.err == nil {
			return Value{}, false, noAnswer("the collection has no keys")
		}
		switch f.compare("==", item.key, key) {
		case yes:
			return item.value, true, nil
		case undecided:
			gap = f.err
		}
	}
	return Value{}, false, gap
}

// collectionLength returns the number of elements as the collection counts them.
func (f *frame) collectionLength(v Value) Value {
	if v.kind != KindObject && v.kind != KindStruct {
		return Failed(objects.ErrNotCollection)
	}
	c, err := f.collection(v)
	if err != nil {
		return Failed(err)
	}
	n, err := c.Count()
	if err != nil {
		return Failed(err)
	}
	return Uint(n)
}
