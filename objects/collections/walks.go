package collections

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// An array is an array of a collection, bounded by the room in its segment. The zero array is empty.
type array struct {
	shapes.Array
	memory target.Memory
	len    uint32 // bounded
}

// array opens an array. null is the empty array. If the array claims more elements than fit, the elements that fit are
// returned with the error.
func (r *Reader) array(o objects.Object) (array, error) {
	if o.Addr == 0 {
		return array{}, nil
	}
	a, err := shapes.ArrayOf(o)
	if err != nil {
		return array{}, err
	}
	n, err := r.b.Fitting(&a)
	return array{a, r.b.Objects().Runtime().Memory(), n}, err
}

// room bounds a count of n elements by the array. The error says that it is less.
func (a *array) room(n int64) (uint32, error) {
	switch {
	case n < 0:
		return 0, target.Corruptf("the collection claims %d elements", n)
	case n > int64(a.len):
		return a.len, target.Corruptf("the collection claims %d elements, but its array has room for %d", n, a.len)
	}
	return uint32(n), nil
}

// An order maps the i-th element to its place in the array.
type order func(i uint32) uint32

func forwards(i uint32) uint32 { return i }

// visit passes n elements of the array. read returns the item at a place and whether it counts. A gap is one error.
func (a *array) visit(n uint32, place order, yield yield, read func(at uint32) (Item, bool, error)) bool {
	for i := uint32(0); i < n; i++ {
		item, ok, err := read(place(i))
		if err == nil {
			if ok && !yield(item, nil) {
				return false
			}
			continue
		}
		first := i
		if errors.Is(err, target.ErrNotInDump) {
			for i+1 < n && !target.Available(a.memory, a.addr(place(i+1)), 1) {
				i = a.skip(i+1, n, place) - 1
			}
			err = fmt.Errorf("%d elements from %d on: %w", i-first+1, place(first), err)
		} else {
			err = fmt.Errorf("element %d: %w", place(i), err)
		}
		if !yield(Item{}, err) {
			return false
		}
	}
	return true
}

// skip returns the first element at or after i that may be stored.
func (a *array) skip(i, n uint32, place order) uint32 {
	if place(i) != i { // in a ring, examine each element
		return i + 1
	}
	next, ok := target.NextStored(a.memory, a.addr(i))
	size := uint64(a.Type.MT.ComponentSize)
	if !ok || size == 0 {
		return n
	}
	return uint32(min(uint64(n), max(uint64(i)+1, uint64(i)+uint64(next-a.addr(i))/size)))
}

func (a *array) addr(n uint32) target.Addr { return target.Addr(a.Instance(n)) }

// blank reports whether an element was never written: all its bytes are zero.
func (a *array) blank(n uint32) bool {
	b, err := target.Bytes(a.memory, a.addr(n), int(a.Type.MT.ComponentSize))
	return err == nil && len(bytes.Trim(b, "\x00")) == 0
}

// values passes n elements as values.
func (a *array) values(n uint32, place order, yield yield) bool {
	return a.visit(n, place, yield, a.value)
}

func (a *array) value(at uint32) (Item, bool, error) {
	v := a.At(at)
	return Item{Value: v}, true, v.Err()
}

// A walk passes the elements in n places of an array.
type walk struct {
	array  *array
	values *array // parallel to array; may be nil
	n      uint32
	place  order
	read   func(at uint32) (Item, bool, error) // as visit wants it; it reads the two arrays alone
	counts func(at uint32) (bool, error)       // reports whether a place has an element; nil if all have
}

// in returns c with the elements of w.
func (c content) in(w walk) content {
	c.each = func(yield yield) bool { return w.array.visit(w.n, w.place, yield, w.read) }
	c.after = w.after
	return c
}

// after is an after.
func (w *walk) after(n uint64, stopped func() bool) (skipped uint64, rest each) {
	places, skipped := w.ahead(n, stopped)
	return skipped, func(yield yield) bool {
		return w.array.visit(w.n-places, func(i uint32) uint32 { return w.place(places + i) }, yield, w.read)
	}
}

// stopEvery is the number of places after which a walk asks whether to stop.
const stopEvery = 1 << 16

// ahead returns how many places can be skipped, and how many of the first n elements are in them. It skips none unless the dump has the
// whole arrays: a skipped element that can't be read would be an error that nobody sees.
func (w *walk) ahead(n uint64, stopped func() bool) (places uint32, skipped uint64) {
	if w.n == 0 || !w.array.stored(w.n, w.place) || w.values != nil && !w.values.stored(w.n, w.place) {
		return 0, 0
	}
	if w.counts == nil {
		if _, _, err := w.read(w.place(0)); err != nil {
			return 0, 0
		}
		skip := min(n, uint64(w.n))
		return uint32(skip), skip
	}
	for first := true; places < w.n && skipped < n; places++ {
		if places%stopEvery == 0 && stopped() {
			break
		}
		ok, err := w.counts(w.place(places))
		if ok && first {
			first = false
			_, _, err = w.read(w.place(places))
		}
		if err != nil {
			break
		}
		if ok {
			skipped++
		}
	}
	return places, skipped
}

// stored reports whether the dump has all bytes of n elements, and lends them.
func (a *array) stored(n uint32, place order) bool {
	first, end := place(0), place(n-1)+1
	if first >= end { // backwards, or around the end of a ring
		first, end = 0, a.len
	}
	for at, size := a.addr(first), uint64(end-first)*uint64(a.Type.MT.ComponentSize); size > 0; {
		span := uint64(len(a.memory.Span(at)))
		if span == 0 {
			return false
		}
		span = min(span, size)
		at, size = at+target.Addr(span), size-span
	}
	return true
}

// sequence returns the content of the first n elements of an array, in an order.
func (r *Reader) sequence(o objects.Object, n int64, place func(a *array) order) content {
	a, err := r.array(o)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	fits, lie := a.room(n)
	if lie != nil {
		err = lie
	}
	p := forwards
	if place != nil {
		p = place(&a)
	}
	return content{count: n, err: err}.in(walk{array: &a, n: fits, place: p, read: a.value})
}

func (r *Reader) arrayContent(o objects.Object) content {
	a, err := r.array(o)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	return content{count: int64(a.Len), err: err}.in(walk{array: &a, n: a.len, place: forwards, read: a.value})
}

// A visited is the set of visited nodes of a chain or tree. Most collections have short chains.
type visited struct {
	few  [8]target.Addr
	n    int
	many map[target.Addr]struct{}
}

// add adds a, and reports whether it is new.
func (s *visited) add(a target.Addr) bool {
	if s.many == nil {
		for _, b := range s.few[:s.n] {
			if a == b {
				return false
			}
		}
		if s.n < len(s.few) {
			s.few[s.n] = a
			s.n++
			return true
		}
		s.many = make(map[target.Addr]struct{}, 64)
		for _, b := range s.few {
			s.many[b] = struct{}{}
		}
	}
	if _, ok := s.many[a]; ok {
		return false
	}
	s.many[a] = struct{}{}
	return true
}

// A nodes reads the nodes of one collection by a shape. All have the type of the first one.
type nodes[S any] struct {
	r     *Reader
	typ   *objects.Type
	shape S
}

func (n *nodes[S]) at(a target.Addr) (none S, x shapes.Instance, err error) {
	rt := n.r.b.Objects().Runtime()
	mt, err := rt.ObjectMethodTable(a)
	if err != nil {
		return none, 0, err
	}
	if n.typ == nil || n.typ.MT.Addr != mt {
		o, err := n.r.b.Objects().Object(a)
		if err != nil {
			return none, 0, err
		}
		shape, err := shapes.Bind[S](n.r.b, o.Type)
		if err != nil && n.typ != nil && errors.Is(err, target.ErrUnsupported) {
			return none, 0, target.Corruptf("an object of type %016x is not a node like the others", uint64(mt))
		}
		if err != nil {
			return none, 0, err
		}
		n.shape, n.typ = shape, o.Type
	}
	return n.shape, shapes.OfAddr(a), nil
}

// chain passes the nodes of a list from first on, until next is null or last. read returns the item of a node and whether it counts.
func chain[S any](n *nodes[S], first, last target.Addr, yield yield, next func(s S) *shapes.Ref, read func(s S, x shapes.Instance) (Item, bool, error)) bool {
	var seen visited
	for a := first; a != 0; {
		if !seen.add(a) {
			return yield(Item{}, target.Corruptf("the chain of nodes is a circle: it reaches %016x again", uint64(a)))
		}
		s, x, err := n.at(a)
		if err != nil {
			return yield(Item{}, fmt.Errorf("node %016x: %w", uint64(a), err))
		}
		item, ok, err := read(s, x)
		switch {
		case err != nil && !yield(Item{}, fmt.Errorf("node %016x: %w", uint64(a), err)):
			return false
		case err == nil && ok && !yield(item, nil):
			return false
		}
		if a, err = next(s).Addr(x); err != nil {
			return yield(Item{}, err)
		}
		if a == last {
			return true
		}
	}
	return true
}

// A binary describes how the nodes of a binary tree are linked, and their items. In an immutable tree, a shared node
// without children stands for an empty tree.
type binary[S any] struct {
	left, right func(s S) *shapes.Ref
	hollow      bool
	pass        func(s S, x shapes.Instance) bool
}

// tree passes the nodes of a binary tree from left to right.
func tree[S any](n *nodes[S], root target.Addr, yield yield, t binary[S]) bool {
	var stack []target.Addr
	seen := visited{}
	for a := root; a != 0 || len(stack) > 0; {
		if a != 0 {
			left, empty, err := t.down(n, a)
			switch {
			case err != nil:
				err = fmt.Errorf("node %016x: %w", uint64(a), err)
			case !empty && !seen.add(a):
				err = target.Corruptf("not a tree: it reaches node %016x again", uint64(a))
			case !empty:
				stack, a = append(stack, a), left
				continue
			}
			if err != nil && !yield(Item{}, err) {
				return false
			}
			a = 0
			continue
		}
		a = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s, x, err := n.at(a)
		if err == nil && !t.pass(s, x) {
			return false
		}
		if err == nil {
			a, err = child(t.right(s), x)
		}
		if err != nil {
			if !yield(Item{}, err) {
				return false
			}
			a = 0
		}
	}
	return true
}

// down returns the left child of a node, and whether the node stands for an empty tree.
func (t *binary[S]) down(n *nodes[S], a target.Addr) (left target.Addr, empty bool, err error) {
	s, x, err := n.at(a)
	if err != nil {
		return 0, false, err
	}
	left, err = child(t.left(s), x)
	return left, t.hollow && left == 0, err
}

// child returns the child that a field refers to. The leaves of some trees have no such field.
func child(field *shapes.Ref, x shapes.Instance) (target.Addr, error) {
	if !field.Has() {
		return 0, nil
	}
	return field.Addr(x)
}

// one passes an item if it can be read.
func one(yield yield, i Item) bool {
	if err := i.Key.Err(); err != nil {
		return yield(Item{}, err)
	}
	if err := i.Value.Err(); err != nil {
		return yield(Item{}, err)
	}
	return yield(i, nil)
}

// good returns an item in the form that walks want.
func good(i Item) (Item, bool, error) {
	if err := i.Key.Err(); err != nil {
		return i, false, err
	}
	return i, true, i.Value.Err()
}
