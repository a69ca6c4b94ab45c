package collections

import (
	"cmp"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// generic has the classes of System.Collections.Generic.
func generic() []kind {
	return []kind{
		stored((*Reader).list, func(s *list) Store { return store(&s.Size, nil, &s.Items) }),
		stored((*Reader).dictionary, func(s *dictionary) Store { return store(&s.Count, &s.Free, &s.Entries, &s.Buckets) }),
		stored((*Reader).set, func(s *set) Store {
			if s.Old != nil {
				return store(&s.Old.Count, nil, &s.Old.Slots, &s.Old.Buckets)
			}
			return store(&s.New.Count, &s.New.Free, &s.New.Entries, &s.New.Buckets)
		}),
		stored((*Reader).queue, func(s *queue) Store { return store(&s.Size, nil, &s.Array) }),
		stored((*Reader).stack, func(s *stack) Store { return store(&s.Size, nil, &s.Array) }),
		stored((*Reader).linkedList, func(s *linkedList) Store { return store(&s.Count, nil) }),
		stored((*Reader).sortedList, func(s *sortedList) Store { return store(&s.Size, nil, &s.Keys, &s.Values) }),
		stored((*Reader).sortedSet, func(s *sortedSet) Store { return store(&s.Count, nil) }),
		of((*Reader).sortedDictionary),
		stored((*Reader).priorityQueue, func(s *priorityQueue) Store { return store(&s.Size, nil, &s.Nodes) }),
		stored((*Reader).orderedDictionary, func(s *orderedDictionary) Store { return store(&s.Count, nil, &s.Entries, &s.Buckets) }),
		of((*Reader).keys),
		of((*Reader).valuesOf),
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

func (r *Reader) dictionary(s *dictionary, f *reading) content {
	o, used, free := f.object(&s.Entries), f.int(&s.Count), f.int(&s.Free)
	return entries(r, o, used, used-free, true, func(e *entry, at shapes.Instance) (bool, error) { return linked(&e.Next, at) },
		func(e *entry, at shapes.Instance) (Item, bool, error) {
			return good(Item{Key: e.Key.Value(at), Value: e.Value.Value(at)})
		})
}

// linked reports whether an entry is an element by its link: a free entry has -3 minus the next free one, or -2.
func linked(next *shapes.Int, at shapes.Instance) (bool, error) {
	n, err := next.Int(at)
	return n >= -1, err
}

// entries returns the content of an array of value types. Its first used entries are elements if counts reports so, or is nil.
func entries[S any](r *Reader, o objects.Object, used, count int64, keys bool, counts func(e S, at shapes.Instance) (bool, error), read func(e S, at shapes.Instance) (Item, bool, error)) content {
	c := content{count: count, keys: keys, each: nothing}
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
	n, wrong := a.room(used)
	if c.err = err; wrong != nil {
		c.err = wrong
	}
	w := walk{array: &a, n: n, place: forwards, read: func(i uint32) (Item, bool, error) {
		if wrong != nil && a.blank(i) { // the count is too high: an entry that was never used is not an element
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
	return c.in(w)
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

type setSlot struct {
	Hash  shapes.Int   `field:"hashCode"`
	Value shapes.Value `field:"value"`
}

func (r *Reader) set(s *set, f *reading) content {
	if s.Old != nil {
		o, used, n := f.object(&s.Old.Slots), f.int(&s.Old.Last), f.int(&s.Old.Count)
		hashed := func(e *setSlot, at shapes.Instance) (bool, error) {
			hash, err := e.Hash.Int(at)
			return hash >= 0, err
		}
		return entries(r, o, used, n, false, hashed, func(e *setSlot, at shapes.Instance) (Item, bool, error) {
			return good(Item{Value: e.Value.Value(at)})
		})
	}
	o, used, free := f.object(&s.New.Entries), f.int(&s.New.Count), f.int(&s.New.Free)
	return entries(r, o, used, used-free, false, func(e *setEntry, at shapes.Instance) (bool, error) { return linked(&e.Next, at) },
		func(e *setEntry, at shapes.Instance) (Item, bool, error) {
			return good(Item{Value: e.Value.Value(at)})
		})
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

// stack passes the top first.
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

// linkedList passes the nodes. The last one refers to the first.
func (r *Reader) linkedList(s *linkedList, f *reading) content {
	n := f.int(&s.Count)
	head := f.addr(&s.Head)
	return content{count: n, each: func(yield yield) bool {
		return chain(&nodes[*linkedNode]{r: r}, head, head, yield, func(s *linkedNode) *shapes.Ref { return &s.Next }, func(s *linkedNode, x shapes.Instance) (Item, bool, error) {
			return good(Item{Value: s.Item.Value(x)})
		})
	}}.counted()
}

// counted returns c without its count if that is negative.
func (c content) counted() content {
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

func (r *Reader) sortedSet(s *sortedSet, f *reading) content {
	n := f.int(&s.Count)
	root := f.addr(&s.Root)
	return content{count: n, each: func(yield yield) bool {
		return tree(&nodes[*sortedNode]{r: r}, root, yield, binary[*sortedNode]{
			left: func(s *sortedNode) *shapes.Ref { return &s.Left }, right: func(s *sortedNode) *shapes.Ref { return &s.Right },
			pass: func(s *sortedNode, x shapes.Instance) bool { return one(yield, Item{Value: s.Item.Value(x)}) },
		})
	}}.counted()
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

// pairs returns the content with each pair split into key and value.
func (r *Reader) pairs(c content) content {
	inner := c.each
	if inner == nil {
		return c
	}
	c.keys, c.after = true, nil
	c.each = func(yield yield) bool {
		return inner(func(i Item, err error) bool {
			if err == nil {
				i, err = r.apart(i.Value)
			}
			return yield(i, err)
		})
	}
	return c
}

// apart returns a pair, in place or boxed, as an item.
func (r *Reader) apart(v objects.Value) (Item, error) {
	s, err := inPlace(v)
	if err != nil {
		return Item{}, err
	}
	p, err := shapes.Bind[*pair](r.b, s.Type)
	if err != nil {
		return Item{}, err
	}
	i := Item{Key: p.Key.Value(shapes.In(s)), Value: p.Value.Value(shapes.In(s))}
	_, _, err = good(i)
	return i, err
}

// inPlace returns the value type that a value holds, in place or boxed.
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
	return r.parallel(keys, values, n)
}

// all means as many elements as there are keys.
const all = -1

// parallel returns the content of two parallel arrays.
func (r *Reader) parallel(keys, values objects.Object, n int64) content {
	k, err := r.array(keys)
	if err != nil && k.Type == nil {
		return failed(err)
	}
	v, verr := r.array(values)
	if verr != nil && v.Type == nil {
		return failed(verr)
	}
	if n == all {
		n = int64(k.Len)
	}
	fits, wrong := k.room(n)
	if wrong == nil && fits > v.len {
		fits, wrong = v.len, target.Corruptf("%d keys and room for %d values", fits, v.len)
	}
	for _, e := range []error{verr, wrong} {
		err = cmp.Or(err, e)
	}
	return content{count: n, keys: true, err: err}.in(walk{array: &k, values: &v, n: fits, place: forwards, read: func(i uint32) (Item, bool, error) {
		return good(Item{Key: k.At(i), Value: v.At(i)})
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

// priorityQueue passes the heap in memory order, the lowest priority first and otherwise unsorted. Keys are priorities.
func (r *Reader) priorityQueue(s *priorityQueue, f *reading) content {
	o, n := f.object(&s.Nodes), f.int(&s.Size)
	return entries(r, o, n, n, true, nil, func(e *priorityNode, at shapes.Instance) (Item, bool, error) {
		return good(Item{Key: e.Priority.Value(at), Value: e.Element.Value(at)})
	})
}

type orderedDictionary struct {
	_       shapes.Type `of:"System.Collections.Generic.OrderedDictionary<,>"`
	Buckets shapes.Ref  `field:"_buckets"`
	Entries shapes.Ref  `field:"_entries"`
	Count   shapes.Int  `field:"_count"`
}

func (r *Reader) orderedDictionary(s *orderedDictionary, f *reading) content {
	o, n := f.object(&s.Entries), f.int(&s.Count)
	return entries(r, o, n, n, true, nil, func(e *entry, at shapes.Instance) (Item, bool, error) {
		return good(Item{Key: e.Key.Value(at), Value: e.Value.Value(at)})
	})
}

type keys struct {
	_    shapes.Type `of:"System.Collections.Generic.Dictionary<,>+KeyCollection|System.Collections.Generic.SortedDictionary<,>+KeyCollection|System.Collections.Generic.OrderedDictionary<,>+KeyCollection|System.Collections.Generic.SortedList<,>+KeyList|System.Collections.Hashtable+KeyCollection"`
	Base shapes.Ref  `field:"_dictionary|_dict|_hashtable"`
}

func (r *Reader) keys(s *keys, f *reading) content {
	return r.wrap(f.object(&s.Base)).only(func(i Item) objects.Value { return i.Key })
}

type valuesOf struct {
	_    shapes.Type `of:"System.Collections.Generic.Dictionary<,>+ValueCollection|System.Collections.Generic.SortedDictionary<,>+ValueCollection|System.Collections.Generic.OrderedDictionary<,>+ValueCollection|System.Collections.Generic.SortedList<,>+ValueList|System.Collections.Hashtable+ValueCollection"`
	Base shapes.Ref  `field:"_dictionary|_dict|_hashtable"`
}

func (r *Reader) valuesOf(s *valuesOf, f *reading) content {
	return r.wrap(f.object(&s.Base)).only(func(i Item) objects.Value { return i.Value })
}

// only returns the content with one part of each item and without keys.
func (c content) only(part func(Item) objects.Value) content {
	inner := c.each
	if inner == nil {
		return c
	}
	parts := func(inner each) each {
		return func(yield yield) bool {
			return inner(func(i Item, err error) bool { return yield(Item{Value: part(i)}, err) })
		}
	}
	c.keys, c.each = false, parts(inner)
	if after := c.after; after != nil {
		c.after = func(n uint64, stopped func() bool) (uint64, each) {
			skipped, rest := after(n, stopped)
			return skipped, parts(rest)
		}
	}
	return c
}
