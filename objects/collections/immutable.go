package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// immutable has the classes of System.Collections.Immutable, and their builders.
func immutable() []kind {
	return []kind{
		of((*Reader).immutableArray),
		of((*Reader).immutableArrayBuilder),
		of((*Reader).immutableList),
		of((*Reader).immutableNode),
		of((*Reader).immutableDictionary),
		of((*Reader).immutableHashSet),
		of((*Reader).immutableSortedDictionary),
		of((*Reader).immutableStack),
		of((*Reader).immutableQueue),
	}
}

type immutableArray struct {
	_     shapes.Type `of:"System.Collections.Immutable.ImmutableArray<>"`
	Array shapes.Ref  `field:"array"`
}

func (r *Reader) immutableArray(s *immutableArray, f *reading) content {
	return r.wrap(f.object(&s.Array))
}

type immutableArrayBuilder struct {
	_     shapes.Type `of:"System.Collections.Immutable.ImmutableArray<>+Builder"`
	Array shapes.Ref  `field:"_elements"`
	Count shapes.Int  `field:"_count"`
}

func (r *Reader) immutableArrayBuilder(s *immutableArrayBuilder, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Count)
	return r.sequence(o, n, nil)
}

// immutableList is a collection with a tree of values.
type immutableList struct {
	_    shapes.Type `of:"System.Collections.Immutable.ImmutableList<>|System.Collections.Immutable.ImmutableList<>+Builder|System.Collections.Immutable.ImmutableSortedSet<>|System.Collections.Immutable.ImmutableSortedSet<>+Builder"`
	Root shapes.Ref  `field:"_root"`
}

func (r *Reader) immutableList(s *immutableList, f *reading) content {
	return r.wrap(f.object(&s.Root))
}

// An immutableNode is the root of a tree of values, or a part of it. An empty tree is a node without children.
type immutableNode struct {
	_     shapes.Type  `of:"System.Collections.Immutable.ImmutableList<>+Node|System.Collections.Immutable.ImmutableSortedSet<>+Node"`
	Key   shapes.Value `field:"_key"`
	Count shapes.Int   `field:"_count"`
	Left  shapes.Ref   `field:"_left"`
	Right shapes.Ref   `field:"_right"`
}

func (r *Reader) immutableNode(s *immutableNode, f *reading) content {
	n := f.int(&s.Count)
	return content{count: n, each: func(yield yield) bool {
		return tree(&nodes[*immutableNode]{r: r}, f.x.Object(), yield, binary[*immutableNode]{
			hollow: true, left: func(s *immutableNode) *shapes.Ref { return &s.Left }, right: func(s *immutableNode) *shapes.Ref { return &s.Right },
			pass: func(s *immutableNode, x shapes.Instance) bool { return one(yield, Item{Value: s.Key.Value(x)}) },
		})
	}}.counted()
}

// A bucketTree is a collection with a tree of hash buckets.
type bucketTree struct {
	Root  shapes.Ref `field:"_root"`
	Count shapes.Int `field:"_count"`
}

type immutableDictionary struct {
	_ shapes.Type `of:"System.Collections.Immutable.ImmutableDictionary<,>|System.Collections.Immutable.ImmutableDictionary<,>+Builder"`
	bucketTree
}

type immutableHashSet struct {
	_ shapes.Type `of:"System.Collections.Immutable.ImmutableHashSet<>|System.Collections.Immutable.ImmutableHashSet<>+Builder"`
	bucketTree
}

type bucketNode struct {
	_     shapes.Type   `of:"System.Collections.Immutable.SortedInt32KeyNode<>"`
	Value shapes.Struct `field:"_value"`
	Left  shapes.Ref    `field:"_left"`
	Right shapes.Ref    `field:"_right"`
}

type treeBucket struct {
	First shapes.Value `field:"_firstValue"`
	More  shapes.Ref   `field:"_additionalElements"`
}

func (r *Reader) immutableDictionary(s *immutableDictionary, f *reading) content {
	return r.pairs(r.buckets(&s.bucketTree, f))
}

func (r *Reader) immutableHashSet(s *immutableHashSet, f *reading) content {
	return r.buckets(&s.bucketTree, f)
}

// buckets passes the elements in the order of their hash. Elements with the same hash keep their order.
func (r *Reader) buckets(s *bucketTree, f *reading) content {
	n := f.int(&s.Count)
	root := f.addr(&s.Root)
	return content{count: n, each: func(yield yield) bool {
		return tree(&nodes[*bucketNode]{r: r}, root, yield, binary[*bucketNode]{
			hollow: true, left: func(s *bucketNode) *shapes.Ref { return &s.Left }, right: func(s *bucketNode) *shapes.Ref { return &s.Right },
			pass: func(s *bucketNode, x shapes.Instance) bool { return r.treeBucket(s, x, yield) },
		})
	}}.counted()
}

func (r *Reader) treeBucket(s *bucketNode, x shapes.Instance, yield yield) bool {
	b, err := shapes.Bind[*treeBucket](r.b, s.Value.Type())
	if err != nil {
		return yield(Item{}, err)
	}
	x = s.Value.At(x)
	more, err := b.More.Object(x)
	if err != nil {
		return yield(Item{}, err)
	}
	if !one(yield, Item{Value: b.First.Value(x)}) {
		return false
	}
	c := r.wrap(more)
	if c.err != nil && !yield(Item{}, c.err) {
		return false
	}
	return c.each == nil || c.each(yield)
}

type immutableSortedDictionary struct {
	_     shapes.Type `of:"System.Collections.Immutable.ImmutableSortedDictionary<,>|System.Collections.Immutable.ImmutableSortedDictionary<,>+Builder"`
	Root  shapes.Ref  `field:"_root"`
	Count shapes.Int  `field:"_count"`
}

type sortedPair struct {
	Key   shapes.Value `field:"_key"`
	Value shapes.Value `field:"_value"`
	Left  shapes.Ref   `field:"_left"`
	Right shapes.Ref   `field:"_right"`
}

func (r *Reader) immutableSortedDictionary(s *immutableSortedDictionary, f *reading) content {
	n := f.int(&s.Count)
	root := f.addr(&s.Root)
	return content{count: n, keys: true, each: func(yield yield) bool {
		return tree(&nodes[*sortedPair]{r: r}, root, yield, binary[*sortedPair]{
			hollow: true, left: func(s *sortedPair) *shapes.Ref { return &s.Left }, right: func(s *sortedPair) *shapes.Ref { return &s.Right },
			pass: func(s *sortedPair, x shapes.Instance) bool {
				return one(yield, Item{Key: s.Key.Value(x), Value: s.Value.Value(x)})
			},
		})
	}}.counted()
}

// An immutableStack is its top and the stack below, which is empty at the end.
type immutableStack struct {
	_    shapes.Type  `of:"System.Collections.Immutable.ImmutableStack<>"`
	Head shapes.Value `field:"_head"`
	Tail shapes.Ref   `field:"_tail"`
}

func (r *Reader) immutableStack(_ *immutableStack, f *reading) content {
	return content{count: unknown, each: func(yield yield) bool { return r.down(f.x.Object(), yield) }}
}

// down passes a stack from the top.
func (r *Reader) down(top target.Addr, yield yield) bool {
	return chain(&nodes[*immutableStack]{r: r}, top, 0, yield, func(s *immutableStack) *shapes.Ref { return &s.Tail }, func(s *immutableStack, x shapes.Instance) (Item, bool, error) {
		if below, err := s.Tail.Addr(x); below == 0 || err != nil {
			return Item{}, false, err
		}
		return good(Item{Value: s.Head.Value(x)})
	})
}

type immutableQueue struct {
	_        shapes.Type `of:"System.Collections.Immutable.ImmutableQueue<>"`
	Forward  shapes.Ref  `field:"_forwards"`
	Backward shapes.Ref  `field:"_backwards"`
}

// immutableQueue passes the elements in the order of removal: one list from its start, then the other from its end.
func (r *Reader) immutableQueue(s *immutableQueue, f *reading) content {
	front, back := f.object(&s.Forward), f.object(&s.Backward)
	return content{count: unknown, each: func(yield yield) bool {
		if !r.down(front.Addr, yield) {
			return false
		}
		var last []Item
		if !r.down(back.Addr, func(i Item, err error) bool {
			if err != nil {
				return yield(i, err)
			}
			last = append(last, i)
			return true
		}) {
			return false
		}
		for i := len(last) - 1; i >= 0; i-- {
			if !yield(last[i], nil) {
				return false
			}
		}
		return true
	}}
}
