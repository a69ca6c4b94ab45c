package collections

import (
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
)

// nongeneric has the nongeneric classes of System.Collections and System.Collections.Specialized.
func nongeneric() []kind {
	return []kind{
		stored((*Reader).hashtable, func(s *hashtable) Store { return store(&s.Count, nil, &s.Buckets) }),
		of((*Reader).listDictionary),
		of((*Reader).hybridDictionary),
		of((*Reader).orderedObjects),
		of((*Reader).nameValues),
		of((*Reader).wrappedList),
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

// hashtable passes the buckets from last to first, as the enumerator does. A removed entry's key is the array itself.
func (r *Reader) hashtable(s *hashtable, f *reading) content {
	o, n := f.object(&s.Buckets), f.int(&s.Count)
	if o.Addr == 0 {
		return content{count: n, each: nothing}.counted()
	}
	e, _, err := shapes.Elements[*hashBucket](r.b, o)
	if err != nil {
		return failed(err)
	}
	a, err := r.array(o)
	return content{count: n, keys: true, err: err, each: func(yield yield) bool {
		return a.visit(a.len, func(i uint32) uint32 { return a.len - 1 - i }, yield, func(i uint32) (Item, bool, error) {
			key, err := e.Key.Addr(a.Instance(i))
			if err != nil || key == 0 || key == o.Addr {
				return Item{}, false, err
			}
			return good(Item{Key: e.Key.Value(a.Instance(i)), Value: e.Value.Value(a.Instance(i))})
		})
	}}.counted()
}

// derivedWrappers has the classes around a collection that derive from its class. They come first, because the fields of the
// base class are there and empty.
func derivedWrappers() []kind { return []kind{of((*Reader).derivedWrapper)} }

type derivedWrapper struct {
	_    shapes.Type `of:"System.Collections.Hashtable+SyncHashtable|System.Collections.ArrayList+SyncArrayList|System.Collections.ArrayList+ReadOnlyArrayList|System.Collections.ArrayList+FixedSizeArrayList|System.Collections.ArrayList+IListWrapper|System.Collections.Queue+SynchronizedQueue|System.Collections.Stack+SyncStack|System.Collections.SortedList+SyncSortedList"`
	Base shapes.Ref  `field:"_table|_list|_q|_s"`
}

func (r *Reader) derivedWrapper(s *derivedWrapper, f *reading) content {
	return r.wrap(f.object(&s.Base))
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

func (r *Reader) listDictionary(s *listDictionary, f *reading) content {
	n := f.int(&s.Count)
	head := f.addr(&s.Head)
	return content{count: n, keys: true, each: func(yield yield) bool {
		return chain(&nodes[*listDictionaryNode]{r: r}, head, 0, yield, func(s *listDictionaryNode) *shapes.Ref { return &s.Next }, func(s *listDictionaryNode, x shapes.Instance) (Item, bool, error) {
			return good(Item{Key: s.Key.Value(x), Value: s.Value.Value(x)})
		})
	}}.counted()
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

// nameValues passes names. A value in a NameValueCollection is a list.
func (r *Reader) nameValues(s *nameValues, f *reading) content {
	c := r.wrap(f.object(&s.Entries))
	inner := c.each
	if inner == nil {
		return c
	}
	c.keys, c.after = true, nil
	c.each = func(yield yield) bool {
		return inner(func(i Item, err error) bool {
			var o objects.Object
			if err == nil {
				o, err = i.Value.Object()
			}
			if err != nil {
				return yield(Item{}, err)
			}
			e, x, err := shapes.BindObject[*nameEntry](r.b, o)
			if err != nil {
				return yield(Item{}, err)
			}
			return one(yield, Item{Key: e.Key.Value(x), Value: e.Value.Value(x)})
		})
	}
	return c
}

// A wrappedList is a class around a list, or one of its views.
type wrappedList struct {
	_    shapes.Type `of:"System.Collections.Specialized.StringCollection|System.Collections.Specialized.StringDictionary|System.Collections.CollectionBase|System.Collections.DictionaryBase|System.Collections.Specialized.ReadOnlyList|System.Collections.Specialized.DictionaryWrapper|System.Collections.Specialized.StringDictionaryWrapper"`
	List shapes.Ref  `field:"data|contents|_list|_hashtable|_contents"`
}

func (r *Reader) wrappedList(s *wrappedList, f *reading) content {
	return r.wrap(f.object(&s.List))
}
