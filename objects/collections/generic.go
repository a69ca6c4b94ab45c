package collections

import (
	"cmp"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// genericKinds returns the classes of System.Collections.Generic.
func genericKinds() []kind {
	return []kind{
		storedKind((*Reader).list, func(s *list) Store { return store(&s.Size, nil, &s.Items) }),
		storedKind((*Reader).dictionary, func(s *dictionary) Store { return store(&s.Count, &s.Free, &s.Entries, &s.Buckets) }),
		storedKind((*Reader).set, func(s *set) Store {
			if s.Old != nil {
				return store(&s.Old.Count, nil, &s.Old.Slots, &s.Old.Buckets)
			}
			return store(&s.New.Count, &s.New.Free, &s.New.Entries, &s.New.Buckets)
		}),
		storedKind((*Reader).queue, func(s *queue) Store { return store(&s.Size, nil, &s.Array) }),
		storedKind((*Reader).stack, func(s *stack) Store { return store(&s.Size, nil, &s.Array) }),
		storedKind((*Reader).linkedList, func(s *linkedList) Store { return store(&s.Count, nil) }),
		storedKind((*Reader).sortedList, func(s *sortedList) Store { return store(&s.Size, nil, &s.Keys, &s.Values) }),
		storedKind((*Reader).sortedSet, func(s *sortedSet) Store { return store(&s.Count, nil) }),
		kindOf((*Reader).sortedDictionary),
		storedKind((*Reader).priorityQueue, func(s *priorityQueue) Store { return store(&s.Size, nil, &s.Nodes) }),
		storedKind((*Reader).orderedDictionary, func(s *orderedDictionary) Store { return store(&s.Count, nil, &s.Entries, &s.Buckets) }),
		kindOf((*Reader).keys),
		kindOf((*Reader).valuesOf),
	}
}

type list struct {
	_     shapes.Type `of:"System.Collections.Generic.List<>|System.Collections.ArrayList"`
	Items shapes.Ref  `field:"_items"`
	Size  shapes.Int  `field:"_size"`
}

func (r *Reader) list(s *list, f *reading) content {
	items, n := f.object(&s.Items), f.int(&s.Size)
	return r.sequence(items, n, nil)
}

type dictionary struct {
	_       shapes.Type `of:"System.Collections.Generic.Dictionary<,>"`
	Buckets shapes.Ref  `field:"_buckets"`
	Entries shapes.Ref  `field:"_entries"`
	Count   shapes.Int  `field:"_count"`
	Free    shapes.Int  `field:"_freeCount"`
}

// An entry is an entry of a Dictionary or OrderedDictionary.
type entry struct {
	Next  shapes.Int   `field:"next|Next"`
	Key   shapes.Value `field:"key|Key"`
	Value shapes.Value `field:"value|Value"`
}

func (e *entry) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Key: e.Key.Value(x), Value: e.Value.Value(x)})
}

func (e *entry) used(x shapes.Instance) (bool, error) { return isUsed(&e.Next, x) }

func (r *Reader) dictionary(s *dictionary, f *reading) content {
	o, used, free := f.object(&s.Entries), f.int(&s.Count), f.int(&s.Free)
	return entries(r, o, used, used-free, true, (*entry).used, (*entry).item)
}

// isUsed reports whether an entry is an element. The link of a free entry is -3 minus the next free entry, or -2.
func isUsed(next *shapes.Int, x shapes.Instance) (bool, error) {
	n, err := next.Int(x)
	return n >= -1, err
}

// entries returns the content of an array of value types. Of its first used entries, those that counts selects are
// elements. A nil counts selects all.
func entries[S any](r *Reader, o objects.Object, used, count int64, keys bool, counts func(e S, at shapes.Instance) (bool, error), read func(e S, at shapes.Instance) (Item, bool, error)) content {
	c := content{count: count, keys: keys, each: yieldNothing}
	if count < 0 || used < 0 {
		c.count, c.err = unknown, target.Corruptf("the collection claims %d elements in %d entries", count, used)
		return c
	}
	if o.Addr == 0 { // not allocated yet
		if used > 0 {
			c.err = target.Corruptf("the collection claims %d elements, but it has no array", count)
		}
		return c
	}
	e, _, err := shapes.Elements[S](r.b, o)
	if err != nil {
		c.err = err
		return c
	}
	a, err := r.array(o)
	n, wrong := a.clampCount(used)
	if c.err = err; wrong != nil {
		c.err = wrong
	}
	w := walk{array: &a, n: n, place: forwards, read: func(i uint32) (Item, bool, error) {
		if wrong != nil && a.isZero(i) { // the count is too high, and the entry was never used
			return Item{}, false, nil
		}
		if counts != nil {
			if ok, err := counts(e, a.Instance(i)); err != nil || !ok {
				return Item{}, false, err
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
	_   shapes.Type `of:"System.Collections.Generic.HashSet<>"`
	New *struct {
		Buckets shapes.Ref `field:"_buckets"`
		Entries shapes.Ref `field:"_entries"`
		Count   shapes.Int `field:"_count"`
		Free    shapes.Int `field:"_freeCount"`
	}
	Old *struct {
		Buckets shapes.Ref `field:"_buckets"`
		Slots   shapes.Ref `field:"_slots"`
		Last    shapes.Int `field:"_lastIndex"`
		Count   shapes.Int `field:"_count"`
	}
}

type setEntry struct {
	Next  shapes.Int   `field:"Next"`
	Value shapes.Value `field:"Value"`
}

func (e *setEntry) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Value: e.Value.Value(x)})
}

func (e *setEntry) used(x shapes.Instance) (bool, error) { return isUsed(&e.Next, x) }

type setSlot struct {
	Hash  shapes.Int   `field:"hashCode"`
	Value shapes.Value `field:"value"`
}

func (e *setSlot) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Value: e.Value.Value(x)})
}

func (e *setSlot) used(x shapes.Instance) (bool, error) {
	hash, err := e.Hash.Int(x)
	return hash >= 0, err
}

func (r *Reader) set(s *set, f *reading) content {
	if s.Old != nil {
		o, used, n := f.object(&s.Old.Slots), f.int(&s.Old.Last), f.int(&s.Old.Count)
		return entries(r, o, used, n, false, (*setSlot).used, (*setSlot).item)
	}
	o, used, free := f.object(&s.New.Entries), f.int(&s.New.Count), f.int(&s.New.Free)
	return entries(r, o, used, used-free, false, (*setEntry).used, (*setEntry).item)
}

type queue struct {
	_     shapes.Type `of:"System.Collections.Generic.Queue<>|System.Collections.Queue|System.Collections.Generic.Deque<>"`
	Array shapes.Ref  `field:"_array"`
	Head  shapes.Int  `field:"_head"`
	Size  shapes.Int  `field:"_size"`
}

func (r *Reader) queue(s *queue, f *reading) content {
	o, head, n := f.object(&s.Array), f.int(&s.Head), f.int(&s.Size)
	return r.sequence(o, n, func(a *array) order {
		length := uint64(max(1, a.len))
		return func(i uint32) uint32 { return uint32((uint64(uint32(head)) + uint64(i)) % length) }
	})
}

type stack struct {
	_     shapes.Type `of:"System.Collections.Generic.Stack<>|System.Collections.Stack"`
	Array shapes.Ref  `field:"_array"`
	Size  shapes.Int  `field:"_size"`
}

// stack lists the top first.
func (r *Reader) stack(s *stack, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Size)
	return r.sequence(o, n, func(a *array) order {
		top := uint32(min(max(n, 1), max(int64(a.len), 1))) - 1
		return func(i uint32) uint32 { return top - i }
	})
}

type linkedList struct {
	_     shapes.Type `of:"System.Collections.Generic.LinkedList<>"`
	Head  shapes.Ref  `field:"head"`
	Count shapes.Int  `field:"count"`
}

type linkedNode struct {
	Next shapes.Ref   `field:"next"`
	Item shapes.Value `field:"item"`
}

func (n *linkedNode) next() *shapes.Ref { return &n.Next }

func (n *linkedNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Value: n.Item.Value(x)})
}

// linkedList reads a ring of nodes: the last node refers to the first.
func (r *Reader) linkedList(s *linkedList, f *reading) content {
	n, head := f.int(&s.Count), f.addr(&s.Head)
	return content{count: n, each: chain[*linkedNode](r, head, head)}.checkCount()
}

// checkCount returns c without its count, and with an error, if the count is negative.
func (c content) checkCount() content {
	if c.count < 0 {
		c.err = target.Corruptf("the collection claims %d elements", c.count)
		c.count = unknown
	}
	return c
}

type sortedSet struct {
	_     shapes.Type `of:"System.Collections.Generic.SortedSet<>"`
	Root  shapes.Ref  `field:"root"`
	Count shapes.Int  `field:"count"`
}

type sortedNode struct {
	Item  shapes.Value `field:"<Item>"`
	Left  shapes.Ref   `field:"<Left>"`
	Right shapes.Ref   `field:"<Right>"`
}

func (n *sortedNode) children() (left, right *shapes.Ref) { return &n.Left, &n.Right }

func (n *sortedNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Value: n.Item.Value(x)})
}

func (r *Reader) sortedSet(s *sortedSet, f *reading) content {
	n, root := f.int(&s.Count), f.addr(&s.Root)
	return content{count: n, each: tree[*sortedNode](r, root)}.checkCount()
}

type sortedDictionary struct {
	_   shapes.Type `of:"System.Collections.Generic.SortedDictionary<,>"`
	Set shapes.Ref  `field:"_set"`
}

func (r *Reader) sortedDictionary(s *sortedDictionary, f *reading) content {
	return r.pairs(r.wrap(f.object(&s.Set)))
}

// A pair is a value type with a key and a value.
type pair struct {
	_     shapes.Type  `of:"System.Collections.Generic.KeyValuePair<,>|System.Collections.DictionaryEntry"`
	Key   shapes.Value `field:"key|_key"`
	Value shapes.Value `field:"value|_value"`
}

// pairs returns c with each pair split into key and value.
func (r *Reader) pairs(c content) content {
	c = c.convert(r.splitPair)
	c.keys = true
	return c
}

// splitPair returns the key and value of an item with a pair, in place or boxed.
func (r *Reader) splitPair(i Item) (Item, error) {
	s, err := inPlace(i.Value)
	if err != nil {
		return Item{}, err
	}
	p, err := shapes.Bind[*pair](r.b, s.Type)
	if err != nil {
		return Item{}, err
	}
	i = Item{Key: p.Key.Value(shapes.In(s)), Value: p.Value.Value(shapes.In(s))}
	_, _, err = checkItem(i)
	return i, err
}

// inPlace returns the value type that a value is or, boxed, refers to.
func inPlace(v objects.Value) (objects.Struct, error) {
	if v.Kind() != objects.KindReference {
		return v.Struct()
	}
	o, err := v.Object()
	if err != nil {
		return objects.Struct{}, err
	}
	return o.Unbox()
}

type sortedList struct {
	_      shapes.Type `of:"System.Collections.Generic.SortedList<,>|System.Collections.SortedList"`
	Keys   shapes.Ref  `field:"keys"`
	Values shapes.Ref  `field:"values"`
	Size   shapes.Int  `field:"_size"`
}

func (r *Reader) sortedList(s *sortedList, f *reading) content {
	keys, values, n := f.object(&s.Keys), f.object(&s.Values), f.int(&s.Size)
	return r.parallelArrays(keys, values, n)
}

// allKeys stands for the number of keys.
const allKeys = -1

// parallelArrays returns the content of two parallel arrays with n elements.
func (r *Reader) parallelArrays(keys, values objects.Object, n int64) content {
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
		fits, wrong = v.len, target.Corruptf("%d keys and room for %d values", fits, v.len)
	}
	return content{count: n, keys: true, err: cmp.Or(err, verr, wrong)}.withWalk(walk{array: &k, values: &v, n: fits, place: forwards, read: func(i uint32) (Item, bool, error) {
		return checkItem(Item{Key: k.At(i), Value: v.At(i)})
	}})
}

type priorityQueue struct {
	_     shapes.Type `of:"System.Collections.Generic.PriorityQueue<,>"`
	Nodes shapes.Ref  `field:"_nodes"`
	Size  shapes.Int  `field:"_size"`
}

type priorityNode struct {
	Element  shapes.Value `field:"Item1"`
	Priority shapes.Value `field:"Item2"`
}

func (n *priorityNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Key: n.Priority.Value(x), Value: n.Element.Value(x)})
}

// priorityQueue lists the binary heap in memory order: the lowest priority first, the rest unsorted. Keys are
// priorities.
func (r *Reader) priorityQueue(s *priorityQueue, f *reading) content {
	o, n := f.object(&s.Nodes), f.int(&s.Size)
	return entries(r, o, n, n, true, nil, (*priorityNode).item)
}

type orderedDictionary struct {
	_       shapes.Type `of:"System.Collections.Generic.OrderedDictionary<,>"`
	Buckets shapes.Ref  `field:"_buckets"`
	Entries shapes.Ref  `field:"_entries"`
	Count   shapes.Int  `field:"_count"`
}

func (r *Reader) orderedDictionary(s *orderedDictionary, f *reading) content {
	o, n := f.object(&s.Entries), f.int(&s.Count)
	return entries(r, o, n, n, true, nil, (*entry).item)
}

type keys struct {
	_    shapes.Type `of:"System.Collections.Generic.Dictionary<,>+KeyCollection|System.Collections.Generic.SortedDictionary<,>+KeyCollection|System.Collections.Generic.OrderedDictionary<,>+KeyCollection|System.Collections.Generic.SortedList<,>+KeyList|System.Collections.Hashtable+KeyCollection"`
	Base shapes.Ref  `field:"_dictionary|_dict|_hashtable"`
}

func (r *Reader) keys(s *keys, f *reading) content {
	return r.wrap(f.object(&s.Base)).selectPart(func(i Item) objects.Value { return i.Key })
}

type valuesOf struct {
	_    shapes.Type `of:"System.Collections.Generic.Dictionary<,>+ValueCollection|System.Collections.Generic.SortedDictionary<,>+ValueCollection|System.Collections.Generic.OrderedDictionary<,>+ValueCollection|System.Collections.Generic.SortedList<,>+ValueList|System.Collections.Hashtable+ValueCollection"`
	Base shapes.Ref  `field:"_dictionary|_dict|_hashtable"`
}

func (r *Reader) valuesOf(s *valuesOf, f *reading) content {
	return r.wrap(f.object(&s.Base)).selectPart(func(i Item) objects.Value { return i.Value })
}

// selectPart returns c with one part of each item as its value, and without keys.
func (c content) selectPart(part func(Item) objects.Value) content {
	inner := c.each
	if inner == nil {
		return c
	}
	parts := func(inner itemSeq) itemSeq {
		return func(yield yielder) bool {
			return inner(func(i Item, err error) bool { return yield(Item{Value: part(i)}, err) })
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
