package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
)

// nongenericKinds returns the classes of System.Collections and System.Collections.Specialized.
func nongenericKinds() []kind {
	return []kind{
		storedKind((*Reader).hashtable, func(s *hashtable) Store { return store(&s.Count, nil, &s.Buckets) }),
		kindOf((*Reader).listDictionary),
		kindOf((*Reader).hybridDictionary),
		kindOf((*Reader).orderedObjects),
		kindOf((*Reader).nameValues),
		wrapperKind(func(s *wrappedList) *shapes.Ref { return &s.List }),
	}
}

type hashtable struct {
	_       shapes.Type `of:"System.Collections.Hashtable"`
	Buckets shapes.Ref  `field:"_buckets"`
	Count   shapes.Int  `field:"_count"`
}

type hashBucket struct {
	Key   shapes.Ref `field:"key"`
	Value shapes.Ref `field:"val"`
}

// hashtable lists the buckets from last to first, as the enumerator does. A removed entry has the array itself as its
// key.
func (r *Reader) hashtable(s *hashtable, f *reading) content {
	o, n := f.object(&s.Buckets), f.int(&s.Count)
	if o.Addr == 0 {
		return content{count: n, each: yieldNothing}.checkCount()
	}
	e, _, err := shapes.Elements[*hashBucket](r.b, o)
	if err != nil {
		return failed(err)
	}
	a, err := r.array(o)
	return content{count: n, keys: true, err: err, each: func(yield yielder) bool {
		return a.visit(a.len, func(i uint32) uint32 { return a.len - 1 - i }, yield, func(i uint32) (Item, bool, error) {
			key, err := e.Key.Addr(a.Instance(i))
			if err != nil || key == 0 || key == o.Addr {
				return Item{}, false, err
			}
			return checkItem(Item{Key: e.Key.Value(a.Instance(i)), Value: e.Value.Value(a.Instance(i))})
		})
	}}.checkCount()
}

// derivedWrapperKinds returns the classes that wrap a collection and derive from its class. They come before all other
// kinds, because they have the empty fields of their base class too.
func derivedWrapperKinds() []kind {
	return []kind{wrapperKind(func(s *derivedWrapper) *shapes.Ref { return &s.Base })}
}

type derivedWrapper struct {
	_    shapes.Type `of:"System.Collections.Hashtable+SyncHashtable|System.Collections.ArrayList+SyncArrayList|System.Collections.ArrayList+ReadOnlyArrayList|System.Collections.ArrayList+FixedSizeArrayList|System.Collections.ArrayList+IListWrapper|System.Collections.Queue+SynchronizedQueue|System.Collections.Stack+SyncStack|System.Collections.SortedList+SyncSortedList"`
	Base shapes.Ref  `field:"_table|_list|_q|_s"`
}
type listDictionary struct {
	_     shapes.Type `of:"System.Collections.Specialized.ListDictionary|System.Collections.ListDictionaryInternal"`
	Head  shapes.Ref  `field:"head"`
	Count shapes.Int  `field:"count"`
}

type listDictionaryNode struct {
	Key   shapes.Value `field:"key"`
	Value shapes.Value `field:"value"`
	Next  shapes.Ref   `field:"next"`
}

func (n *listDictionaryNode) next() *shapes.Ref { return &n.Next }

func (n *listDictionaryNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

func (r *Reader) listDictionary(s *listDictionary, f *reading) content {
	n, head := f.int(&s.Count), f.addr(&s.Head)
	return content{count: n, keys: true, each: chain[*listDictionaryNode](r, head, 0)}.checkCount()
}

type hybridDictionary struct {
	_     shapes.Type `of:"System.Collections.Specialized.HybridDictionary"`
	List  shapes.Ref  `field:"list"`
	Table shapes.Ref  `field:"hashtable"`
}

func (r *Reader) hybridDictionary(s *hybridDictionary, f *reading) content {
	o := f.object(&s.Table)
	if o.Addr == 0 {
		o = f.object(&s.List)
	}
	c := r.wrap(o)
	c.keys = true
	return c
}

type orderedObjects struct {
	_     shapes.Type `of:"System.Collections.Specialized.OrderedDictionary"`
	Items shapes.Ref  `field:"_objectsArray"`
}

func (r *Reader) orderedObjects(s *orderedObjects, f *reading) content {
	return r.pairs(r.wrap(f.object(&s.Items)))
}

type nameValues struct {
	_       shapes.Type `of:"System.Collections.Specialized.NameObjectCollectionBase"`
	Entries shapes.Ref  `field:"_entriesArray"`
}

type nameEntry struct {
	Key   shapes.Value `field:"Key"`
	Value shapes.Value `field:"Value"`
}

// nameValues lists names with their values. The value is a list in a NameValueCollection.
func (r *Reader) nameValues(s *nameValues, f *reading) content {
	c := convertObjects(r, r.wrap(f.object(&s.Entries)), func(_ Item, e *nameEntry, x shapes.Instance) Item {
		return Item{Key: e.Key.Value(x), Value: e.Value.Value(x)}
	})
	c.keys = true
	return c
}

// A wrappedList is a class around a list, or a view of one.
type wrappedList struct {
	_    shapes.Type `of:"System.Collections.Specialized.StringCollection|System.Collections.Specialized.StringDictionary|System.Collections.CollectionBase|System.Collections.DictionaryBase|System.Collections.Specialized.ReadOnlyList|System.Collections.Specialized.DictionaryWrapper|System.Collections.Specialized.StringDictionaryWrapper"`
	List shapes.Ref  `field:"data|contents|_list|_hashtable|_contents"`
}
