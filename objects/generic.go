package objects

import (
	"cmp"

	"github.com/sosgo/sosgo/target"
)

// genericKinds returns the classes of System.Collections.Generic.
func genericKinds() []kind {
	return []kind{
		storedKind((*Collections).list, func(s *list) CollectionStore { return store(&s.Size, nil, &s.Items) }),
		storedKind((*Collections).dictionary, func(s *dictionary) CollectionStore { return store(&s.Count, &s.Free, &s.Entries, &s.Buckets) }),
		storedKind((*Collections).set, func(s *set) CollectionStore {
			if s.Old != nil {
				return store(&s.Old.Count, nil, &s.Old.Slots, &s.Old.Buckets)
			}
			return store(&s.New.Count, &s.New.Free, &s.New.Entries, &s.New.Buckets)
		}),
		storedKind((*Collections).queue, func(s *queue) CollectionStore { return store(&s.Size, nil, &s.Array) }),
		storedKind((*Collections).stack, func(s *stack) CollectionStore { return store(&s.Size, nil, &s.Array) }),
		storedKind((*Collections).linkedList, func(s *linkedList) CollectionStore { return store(&s.Count, nil) }),
		storedKind((*Collections).sortedList, func(s *sortedList) CollectionStore { return store(&s.Size, nil, &s.Keys, &s.Values) }),
		storedKind((*Collections).sortedSet, func(s *sortedSet) CollectionStore { return store(&s.Count, nil) }),
		kindOf((*Collections).sortedDictionary),
		storedKind((*Collections).priorityQueue, func(s *priorityQueue) CollectionStore { return store(&s.Size, nil, &s.Nodes) }),
		storedKind((*Collections).orderedDictionary, func(s *orderedDictionary) CollectionStore { return store(&s.Count, nil, &s.Entries, &s.Buckets) }),
		kindOf((*Collections).keys),
		kindOf((*Collections).valuesOf),
	}
}

type list struct {
	_     Shape    `of:"System.Collections.Generic.List<>|System.Collections.ArrayList"`
	Items RefField `field:"_items"`
	Size  IntField `field:"_size"`
}

func (r *Collections) list(s *list, f *reading) content {
	items, n := f.object(&s.Items), f.int(&s.Size)
	return r.sequence(items, n, nil)
}

type dictionary struct {
	_       Shape    `of:"System.Collections.Generic.Dictionary<,>"`
	Buckets RefField `field:"_buckets"`
	Entries RefField `field:"_entries"`
	Count   IntField `field:"_count"`
	Free    IntField `field:"_freeCount"`
}

// An entry is an entry of a Dictionary or OrderedDictionary.
type entry struct {
	Next  IntField   `field:"next|Next"`
	Key   ValueField `field:"key|Key"`
	Value ValueField `field:"value|Value"`
}

func (e *entry) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Key: e.Key.Value(x), Value: e.Value.Value(x)})
}

func (e *entry) used(x Instance) (bool, error) { return isUsed(&e.Next, x) }

func (r *Collections) dictionary(s *dictionary, f *reading) content {
	o, used, free := f.object(&s.Entries), f.int(&s.Count), f.int(&s.Free)
	return entries(r, o, used, used-free, true, (*entry).used, (*entry).item)
}

// isUsed reports whether an entry is an element. The link of a free entry is -3 minus the next free entry, or -2.
func isUsed(next *IntField, x Instance) (bool, error) {
	n, err := next.Int(x)
	return n >= -1, err
}

// entries returns the content of an array of value types. Of its first used entries, those that counts selects are
// elements. A nil counts selects all.
func entries[S any](r *Collections, o Object, used, count int64, keys bool, counts func(e S, at Instance) (bool, error), read func(e S, at Instance) (CollectionItem, bool, error)) content {
	c := content{count: count, keys: keys, each: yieldNothing}
	if count < 0 || used < 0 {
		c.count, c.err = unknown, target.CorruptHeapf("the collection claims %d elements in %d entries", count, used)
		return c
	}
	if o.Addr == 0 { // not allocated yet
		if used > 0 {
			c.err = target.CorruptHeapf("the collection claims %d elements, but it has no array", count)
		}
		return c
	}
	e, _, err := BindElements[S](r.b, o)
	if err != nil {
		c.err = err
		return c
	}
	a, err := r.array(o)
	n, wrong := a.clampCount(used)
	if c.err = err; wrong != nil {
		c.err = wrong
	}
	w := walk{array: &a, n: n, place: forwards, read: func(i uint32) (CollectionItem, bool, error) {
		if wrong != nil && a.isZero(i) { // the count is too high, and the entry was never used
			return CollectionItem{}, false, nil
		}
		if counts != nil {
			if ok, err := counts(e, a.Instance(i)); err != nil || !ok {
				return CollectionItem{}, false, err
			}
		}
		return read(e, a.Instance(i))
	}}
	if counts != nil {
		w.counts = func(i uint32) (bool, error) { return counts(e, a.Instance(i)) }
	}
	return c.withWalk(w)
}

// set is HashSet, which moved to the core library in .NET 5.
type set struct {
	_   Shape `of:"System.Collections.Generic.HashSet<>"`
	New *struct {
		Buckets RefField `field:"_buckets"`
		Entries RefField `field:"_entries"`
		Count   IntField `field:"_count"`
		Free    IntField `field:"_freeCount"`
	}
	Old *struct {
		Buckets RefField `field:"_buckets"`
		Slots   RefField `field:"_slots"`
		Last    IntField `field:"_lastIndex"`
		Count   IntField `field:"_count"`
	}
}

type setEntry struct {
	Next  IntField   `field:"Next"`
	Value ValueField `field:"Value"`
}

func (e *setEntry) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: e.Value.Value(x)})
}

func (e *setEntry) used(x Instance) (bool, error) { return isUsed(&e.Next, x) }

type setSlot struct {
	Hash  IntField   `field:"hashCode"`
	Value ValueField `field:"value"`
}

func (e *setSlot) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: e.Value.Value(x)})
}

func (e *setSlot) used(x Instance) (bool, error) {
	hash, err := e.Hash.Int(x)
	return hash >= 0, err
}

func (r *Collections) set(s *set, f *reading) content {
	if s.Old != nil {
		o, used, n := f.object(&s.Old.Slots), f.int(&s.Old.Last), f.int(&s.Old.Count)
		return entries(r, o, used, n, false, (*setSlot).used, (*setSlot).item)
	}
	o, used, free := f.object(&s.New.Entries), f.int(&s.New.Count), f.int(&s.New.Free)
	return entries(r, o, used, used-free, false, (*setEntry).used, (*setEntry).item)
}

type queue struct {
	_     Shape    `of:"System.Collections.Generic.Queue<>|System.Collections.Queue|System.Collections.Generic.Deque<>"`
	Array RefField `field:"_array"`
	Head  IntField `field:"_head"`
	Size  IntField `field:"_size"`
}

func (r *Collections) queue(s *queue, f *reading) content {
	o, head, n := f.object(&s.Array), f.int(&s.Head), f.int(&s.Size)
	return r.sequence(o, n, func(a *array) order {
		length := uint64(max(1, a.len))
		return func(i uint32) uint32 { return uint32((uint64(uint32(head)) + uint64(i)) % length) }
	})
}

type stack struct {
	_     Shape    `of:"System.Collections.Generic.Stack<>|System.Collections.Stack"`
	Array RefField `field:"_array"`
	Size  IntField `field:"_size"`
}

// stack lists the top first.
func (r *Collections) stack(s *stack, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Size)
	c := r.sequence(o, n, func(a *array) order {
		top := uint32(min(max(n, 1), max(int64(a.len), 1))) - 1
		return func(i uint32) uint32 { return top - i }
	})
	c.stack = true
	return c
}

type linkedList struct {
	_     Shape    `of:"System.Collections.Generic.LinkedList<>"`
	Head  RefField `field:"head"`
	Count IntField `field:"count"`
}

type linkedNode struct {
	Next RefField   `field:"next"`
	Item ValueField `field:"item"`
}

func (n *linkedNode) next() *RefField { return &n.Next }

func (n *linkedNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: n.Item.Value(x)})
}

// linkedList reads a ring of nodes: the last node refers to the first.
func (r *Collections) linkedList(s *linkedList, f *reading) content {
	n, head := f.int(&s.Count), f.addr(&s.Head)
	return content{count: n, each: chain[*linkedNode](r, head, head)}.checkCount()
}

// checkCount returns c without its count, and with an error, if the count is negative.
func (c content) checkCount() content {
	if c.count < 0 {
		c.err = target.CorruptHeapf("the collection claims %d elements", c.count)
		c.count = unknown
	}
	return c
}

type sortedSet struct {
	_     Shape    `of:"System.Collections.Generic.SortedSet<>"`
	Root  RefField `field:"root"`
	Count IntField `field:"count"`
}

type sortedNode struct {
	Item  ValueField `field:"<Item>"`
	Left  RefField   `field:"<Left>"`
	Right RefField   `field:"<Right>"`
}

func (n *sortedNode) children() (left, right *RefField) { return &n.Left, &n.Right }

func (n *sortedNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: n.Item.Value(x)})
}

func (r *Collections) sortedSet(s *sortedSet, f *reading) content {
	n, root := f.int(&s.Count), f.addr(&s.Root)
	return content{count: n, each: tree[*sortedNode](r, root)}.checkCount()
}

type sortedDictionary struct {
	_   Shape    `of:"System.Collections.Generic.SortedDictionary<,>"`
	Set RefField `field:"_set"`
}

func (r *Collections) sortedDictionary(s *sortedDictionary, f *reading) content {
	return r.pairs(r.wrap(f.object(&s.Set)))
}

// A pair is a value type with a key and a value.
type pair struct {
	_     Shape      `of:"System.Collections.Generic.KeyValuePair<,>|System.Collections.DictionaryEntry"`
	Key   ValueField `field:"key|_key"`
	Value ValueField `field:"value|_value"`
}

// pairs returns c with each pair split into key and value.
func (r *Collections) pairs(c content) content {
	c = c.convert(r.splitPair)
	c.keys = true
	return c
}

// splitPair returns the key and value of an item with a pair, in place or boxed.
func (r *Collections) splitPair(i CollectionItem) (CollectionItem, error) {
	s, err := inPlace(i.Value)
	if err != nil {
		return CollectionItem{}, err
	}
	p, err := Bind[*pair](r.b, s.Type)
	if err != nil {
		return CollectionItem{}, err
	}
	i = CollectionItem{Key: p.Key.Value(InstanceIn(s)), Value: p.Value.Value(InstanceIn(s))}
	_, _, err = checkItem(i)
	return i, err
}

// inPlace returns the value type that a value is or, boxed, refers to.
func inPlace(v Value) (Struct, error) {
	if v.Kind() != KindReference {
		return v.Struct()
	}
	o, err := v.Object()
	if err != nil {
		return Struct{}, err
	}
	return o.Unbox()
}

type sortedList struct {
	_      Shape    `of:"System.Collections.Generic.SortedList<,>|System.Collections.SortedList"`
	Keys   RefField `field:"keys"`
	Values RefField `field:"values"`
	Size   IntField `field:"_size"`
}

func (r *Collections) sortedList(s *sortedList, f *reading) content {
	keys, values, n := f.object(&s.Keys), f.object(&s.Values), f.int(&s.Size)
	return r.parallelArrays(keys, values, n)
}

// allKeys stands for the number of keys.
const allKeys = -1

// parallelArrays returns the content of two parallel arrays with n elements.
func (r *Collections) parallelArrays(keys, values Object, n int64) content {
	k, err := r.array(keys)
	if err != nil && k.Type == nil {
		return failed(err)
	}
	v, verr := r.array(values)
	if verr != nil && v.Type == nil {
		return failed(verr)
	}
	if n == allKeys {
		n = int64(k.Len)
	}
	fits, wrong := k.clampCount(n)
	if wrong == nil && fits > v.len {
		fits, wrong = v.len, target.CorruptHeapf("%d keys and room for %d values", fits, v.len)
	}
	return content{count: n, keys: true, err: cmp.Or(err, verr, wrong)}.withWalk(walk{array: &k, values: &v, n: fits, place: forwards, read: func(i uint32) (CollectionItem, bool, error) {
		return checkItem(CollectionItem{Key: k.At(i), Value: v.At(i)})
	}})
}

type priorityQueue struct {
	_     Shape    `of:"System.Collections.Generic.PriorityQueue<,>"`
	Nodes RefField `field:"_nodes"`
	Size  IntField `field:"_size"`
}

type priorityNode struct {
	Element  ValueField `field:"Item1"`
	Priority ValueField `field:"Item2"`
}

func (n *priorityNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Key: n.Priority.Value(x), Value: n.Element.Value(x)})
}

// priorityQueue lists the binary heap in memory order: the lowest priority first, the rest unsorted. Keys are
// priorities.
func (r *Collections) priorityQueue(s *priorityQueue, f *reading) content {
	o, n := f.object(&s.Nodes), f.int(&s.Size)
	return entries(r, o, n, n, true, nil, (*priorityNode).item)
}

type orderedDictionary struct {
	_       Shape    `of:"System.Collections.Generic.OrderedDictionary<,>"`
	Buckets RefField `field:"_buckets"`
	Entries RefField `field:"_entries"`
	Count   IntField `field:"_count"`
}

func (r *Collections) orderedDictionary(s *orderedDictionary, f *reading) content {
	o, n := f.object(&s.Entries), f.int(&s.Count)
	return entries(r, o, n, n, true, nil, (*entry).item)
}

type keys struct {
	_    Shape    `of:"System.Collections.Generic.Dictionary<,>+KeyCollection|System.Collections.Generic.SortedDictionary<,>+KeyCollection|System.Collections.Generic.OrderedDictionary<,>+KeyCollection|System.Collections.Generic.SortedList<,>+KeyList|System.Collections.Hashtable+KeyCollection"`
	Base RefField `field:"_dictionary|_dict|_hashtable"`
}

func (r *Collections) keys(s *keys, f *reading) content {
	return r.wrap(f.object(&s.Base)).selectPart(func(i CollectionItem) Value { return i.Key })
}

type valuesOf struct {
	_    Shape    `of:"System.Collections.Generic.Dictionary<,>+ValueCollection|System.Collections.Generic.SortedDictionary<,>+ValueCollection|System.Collections.Generic.OrderedDictionary<,>+ValueCollection|System.Collections.Generic.SortedList<,>+ValueList|System.Collections.Hashtable+ValueCollection"`
	Base RefField `field:"_dictionary|_dict|_hashtable"`
}

func (r *Collections) valuesOf(s *valuesOf, f *reading) content {
	return r.wrap(f.object(&s.Base)).selectPart(func(i CollectionItem) Value { return i.Value })
}

// selectPart returns c with one part of each item as its value, and without keys.
func (c content) selectPart(part func(CollectionItem) Value) content {
	inner := c.each
	if inner == nil {
		return c
	}
	parts := func(inner itemSeq) itemSeq {
		return func(yield yielder) bool {
			return inner(func(i CollectionItem, err error) bool { return yield(CollectionItem{Value: part(i)}, err) })
		}
	}
	c.keys, c.each = false, parts(inner)
	if after := c.after; after != nil {
		c.after = func(n uint64, stopped func() bool) (uint64, itemSeq) {
			skipped, rest := after(n, stopped)
			return skipped, parts(rest)
		}
	}
	return c
}
