package objects

import (
	"cmp"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// cacheKinds returns the caches and tables of weak references.
func cacheKinds() []kind {
	return []kind{kindOf((*Collections).weakTable), kindOf((*Collections).memoryCache)}
}

type weakTable struct {
	_         Shape    `of:"System.Runtime.CompilerServices.ConditionalWeakTable<,>"`
	Container RefField `field:"_container"`
}

type weakContainer struct {
	Entries RefField `field:"_entries"`
	Used    IntField `field:"_firstFreeEntry"`
}

type weakEntry struct {
	Handle IntField `field:"depHnd._handle"`
}

// weakTable lists the live keys with their values.
func (r *Collections) weakTable(s *weakTable, f *reading) content {
	o := f.object(&s.Container)
	if o.Addr == 0 {
		return content{count: unknown, each: yieldNothing}
	}
	box := bindNext[*weakContainer](r, f, o)
	array, used := f.object(&box.Entries), f.int(&box.Used)
	c := entries(r, array, used, used, true, nil, func(e *weakEntry, at Instance) (CollectionItem, bool, error) {
		h, err := e.Handle.Uint(at)
		if err != nil || h == 0 {
			return CollectionItem{}, false, err
		}
		key, value, err := r.b.dependentSlots(target.Addr(h))
		if err != nil || key.IsNull() {
			return CollectionItem{}, false, err
		}
		return checkItem(CollectionItem{Key: key, Value: value})
	})
	c.count, c.after = unknown, nil // used counts dead keys too, and the handles hold the elements
	return c
}

type memoryCache struct {
	_       Shape    `of:"Microsoft.Extensions.Caching.Memory.MemoryCache"`
	State   RefField `field:"_coherentState,optional"`
	Entries RefField `field:"_entries,optional"`
}

type cacheState struct {
	Strings *struct {
		Strings RefField `field:"_stringEntries"`
		Others  RefField `field:"_nonStringEntries"`
	}
	All *struct {
		Entries RefField `field:"_entries"`
	}
}

type cacheEntry struct {
	Value ValueField `field:"_value|<Value>"`
}

// memoryCache lists keys with the cached values, string keys first.
func (r *Collections) memoryCache(s *memoryCache, f *reading) content {
	stores, err := r.cacheStores(s, f.x)
	if err != nil {
		return failed(err)
	}
	c := r.wrap(stores[0])
	for _, o := range stores[1:] {
		c = concat(c, r.wrap(o))
	}
	return convertObjects(r, c, func(i CollectionItem, e *cacheEntry, x Instance) CollectionItem {
		return CollectionItem{Key: i.Key, Value: e.Value.Value(x)}
	})
}

// cacheStores returns the dictionaries that hold the entries of a cache: one, or two since .NET 9.
func (r *Collections) cacheStores(s *memoryCache, x Instance) ([]Object, error) {
	if !s.State.Has() {
		if !s.Entries.Has() {
			return nil, target.Unsupportedf("the cache keeps its entries in no known field")
		}
		o, err := s.Entries.Object(x)
		return []Object{o}, err
	}
	o, err := s.State.Object(x)
	if err != nil {
		return nil, err
	}
	t, x, err := BindObject[*cacheState](r.b, o)
	if err != nil {
		return nil, err
	}
	if t.All != nil {
		o, err := t.All.Entries.Object(x)
		return []Object{o}, err
	}
	first, err := t.Strings.Strings.Object(x)
	if err != nil {
		return nil, err
	}
	second, err := t.Strings.Others.Object(x)
	return []Object{first, second}, err
}

// CacheEntries lists the entries of a MemoryCache, the objects with key, value and expiration. Items lists only the
// values. An unreadable entry is an error in its place. The error is ErrOtherType if the object is not a
// MemoryCache.
func (r *Collections) CacheEntries(cache Object) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		s, x, err := BindObject[*memoryCache](r.b, cache)
		var stores []Object
		if err == nil {
			stores, err = r.cacheStores(s, x)
		}
		if err != nil {
			yield(Object{}, err)
			return
		}
		for _, store := range stores {
			for o, err := range r.ObjectsIn(store) {
				if !yield(o, err) {
					return
				}
			}
		}
	}
}

// concat returns the content of a, then of b.
func concat(a, b content) content {
	c := content{count: unknown, keys: a.keys || b.keys, err: a.err}
	c.err = cmp.Or(c.err, b.err)
	if a.count >= 0 && b.count >= 0 {
		c.count = a.count + b.count
	}
	c.each = func(yield yielder) bool {
		return (a.each == nil || a.each(yield)) && (b.each == nil || b.each(yield))
	}
	return c
}
