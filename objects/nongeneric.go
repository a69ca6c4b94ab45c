package objects

// nongenericKinds returns the classes of System.Collections and System.Collections.Specialized.
func nongenericKinds() []kind {
	return []kind{
		storedKind((*Collections).hashtable, func(s *hashtable) CollectionStore { return store(&s.Count, nil, &s.Buckets) }),
		kindOf((*Collections).listDictionary),
		kindOf((*Collections).hybridDictionary),
		kindOf((*Collections).orderedObjects),
		kindOf((*Collections).nameValues),
		wrapperKind(func(s *wrappedList) *RefField { return &s.List }),
	}
}

type hashtable struct {
	_       Shape    `of:"System.Collections.Hashtable"`
	Buckets RefField `field:"_buckets"`
	Count   IntField `field:"_count"`
}

type hashBucket struct {
	Key   RefField `field:"key"`
	Value RefField `field:"val"`
}

// hashtable lists the buckets from last to first, as the enumerator does. A removed entry has the array itself as its
// key.
func (r *Collections) hashtable(s *hashtable, f *reading) content {
	o, n := f.object(&s.Buckets), f.int(&s.Count)
	if o.Addr == 0 {
		return content{count: n, each: yieldNothing}.checkCount()
	}
	e, _, err := BindElements[*hashBucket](r.b, o)
	if err != nil {
		return failed(err)
	}
	a, err := r.array(o)
	return content{count: n, keys: true, err: err, each: func(yield yielder) bool {
		return a.visit(a.len, func(i uint32) uint32 { return a.len - 1 - i }, yield, func(i uint32) (CollectionItem, bool, error) {
			key, err := e.Key.Addr(a.Instance(i))
			if err != nil || key == 0 || key == o.Addr {
				return CollectionItem{}, false, err
			}
			return checkItem(CollectionItem{Key: e.Key.Value(a.Instance(i)), Value: e.Value.Value(a.Instance(i))})
		})
	}}.checkCount()
}

// derivedWrapperKinds returns the classes that wrap a collection and derive from its class. They come before all other
// kinds, because they have the empty fields of their base class too.
func derivedWrapperKinds() []kind {
	return []kind{wrapperKind(func(s *derivedWrapper) *RefField { return &s.Base })}
}

type derivedWrapper struct {
	_    Shape    `of:"System.Collections.Hashtable+SyncHashtable|System.Collections.ArrayList+SyncArrayList|System.Collections.ArrayList+ReadOnlyArrayList|System.Collections.ArrayList+FixedSizeArrayList|System.Collections.ArrayList+IListWrapper|System.Collections.Queue+SynchronizedQueue|System.Collections.Stack+SyncStack|System.Collections.SortedList+SyncSortedList"`
	Base RefField `field:"_table|_list|_q|_s"`
}
type listDictionary struct {
	_     Shape    `of:"System.Collections.Specialized.ListDictionary|System.Collections.ListDictionaryInternal"`
	Head  RefField `field:"head"`
	Count IntField `field:"count"`
}

type listDictionaryNode struct {
	Key   ValueField `field:"key"`
	Value ValueField `field:"value"`
	Next  RefField   `field:"next"`
}

func (n *listDictionaryNode) next() *RefField { return &n.Next }

func (n *listDictionaryNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

func (r *Collections) listDictionary(s *listDictionary, f *reading) content {
	n, head := f.int(&s.Count), f.addr(&s.Head)
	return content{count: n, keys: true, each: chain[*listDictionaryNode](r, head, 0)}.checkCount()
}

type hybridDictionary struct {
	_     Shape    `of:"System.Collections.Specialized.HybridDictionary"`
	List  RefField `field:"list"`
	Table RefField `field:"hashtable"`
}

func (r *Collections) hybridDictionary(s *hybridDictionary, f *reading) content {
	o := f.object(&s.Table)
	if o.Addr == 0 {
		o = f.object(&s.List)
	}
	c := r.wrap(o)
	c.keys = true
	return c
}

type orderedObjects struct {
	_     Shape    `of:"System.Collections.Specialized.OrderedDictionary"`
	Items RefField `field:"_objectsArray"`
}

func (r *Collections) orderedObjects(s *orderedObjects, f *reading) content {
	return r.pairs(r.wrap(f.object(&s.Items)))
}

type nameValues struct {
	_       Shape    `of:"System.Collections.Specialized.NameObjectCollectionBase"`
	Entries RefField `field:"_entriesArray"`
}

type nameEntry struct {
	Key   ValueField `field:"Key"`
	Value ValueField `field:"Value"`
}

// nameValues lists names with their values. The value is a list in a NameValueCollection.
func (r *Collections) nameValues(s *nameValues, f *reading) content {
	c := convertObjects(r, r.wrap(f.object(&s.Entries)), func(_ CollectionItem, e *nameEntry, x Instance) CollectionItem {
		return CollectionItem{Key: e.Key.Value(x), Value: e.Value.Value(x)}
	})
	c.keys = true
	return c
}

// A wrappedList is a class around a list, or a view of one.
type wrappedList struct {
	_    Shape    `of:"System.Collections.Specialized.StringCollection|System.Collections.Specialized.StringDictionary|System.Collections.CollectionBase|System.Collections.DictionaryBase|System.Collections.Specialized.ReadOnlyList|System.Collections.Specialized.DictionaryWrapper|System.Collections.Specialized.StringDictionaryWrapper"`
	List RefField `field:"data|contents|_list|_hashtable|_contents"`
}
