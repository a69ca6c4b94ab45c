package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
)

// immutableKinds returns the classes of System.Collections.Immutable, and their builders.
func immutableKinds() []kind {
	return []kind{
		wrapperKind(func(s *immutableArray) *shapes.Ref { return &s.Array }),
		kindOf((*Reader).immutableArrayBuilder),
		wrapperKind(func(s *immutableList) *shapes.Ref { return &s.Root }),
		kindOf((*Reader).immutableNode),
		kindOf((*Reader).immutableDictionary),
		kindOf((*Reader).immutableHashSet),
		kindOf((*Reader).immutableSortedDictionary),
		kindOf((*Reader).immutableStack),
		kindOf((*Reader).immutableQueue),
	}
}

type immutableArray struct {
	_     shapes.Type `of:"System.Collections.Immutable.ImmutableArray<>"`
	Array shapes.Ref  `field:"array"`
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

// immutableList is a list or sorted set with a tree of values.
type immutableList struct {
	_    shapes.Type `of:"System.Collections.Immutable.ImmutableList<>|System.Collections.Immutable.ImmutableList<>+Builder|System.Collections.Immutable.ImmutableSortedSet<>|System.Collections.Immutable.ImmutableSortedSet<>+Builder"`
	Root shapes.Ref  `field:"_root"`
}

// An immutableNode is the root or another node of a tree of values. An empty tree is a shared node without children.
type immutableNode struct {
	_     shapes.Type  `of:"System.Collections.Immutable.ImmutableList<>+Node|System.Collections.Immutable.ImmutableSortedSet<>+Node"`
	Key   shapes.Value `field:"_key"`
	Count shapes.Int   `field:"_count"`
	Left  shapes.Ref   `field:"_left"`
	Right shapes.Ref   `field:"_right"`
}

func (n *immutableNode) children() (left, right *shapes.Ref) { return &n.Left, &n.Right }

func (n *immutableNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Value: n.Key.Value(x)})
}

func (r *Reader) immutableNode(s *immutableNode, f *reading) content {
	n := f.int(&s.Count)
	return content{count: n, each: immutableTree[*immutableNode](r, f.x.Object())}.checkCount()
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

func (n *bucketNode) children() (left, right *shapes.Ref) { return &n.Left, &n.Right }

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

// buckets lists the elements in the order of their hash. Elements with the same hash keep their order.
func (r *Reader) buckets(s *bucketTree, f *reading) content {
	n, root := f.int(&s.Count), f.addr(&s.Root)
	return content{count: n, each: func(yield yielder) bool {
		return inOrder(&nodes[*bucketNode]{r: r}, root, true, yield, func(s *bucketNode, x shapes.Instance) bool {
			return r.treeBucket(s, x, yield)
		})
	}}.checkCount()
}

func (r *Reader) treeBucket(s *bucketNode, x shapes.Instance, yield yielder) bool {
	b, err := shapes.Bind[*treeBucket](r.b, s.Value.Type())
	if err != nil {
		return yield(Item{}, err)
	}
	x = s.Value.At(x)
	more, err := b.More.Object(x)
	if err != nil {
		return yield(Item{}, err)
	}
	if !yieldItem(yield, Item{Value: b.First.Value(x)}) {
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

func (n *sortedPair) children() (left, right *shapes.Ref) { return &n.Left, &n.Right }

func (n *sortedPair) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

func (r *Reader) immutableSortedDictionary(s *immutableSortedDictionary, f *reading) content {
	n, root := f.int(&s.Count), f.addr(&s.Root)
	return content{count: n, keys: true, each: immutableTree[*sortedPair](r, root)}.checkCount()
}

// An immutableStack is the top element and the stack below it. The empty stack has neither.
type immutableStack struct {
	_    shapes.Type  `of:"System.Collections.Immutable.ImmutableStack<>"`
	Head shapes.Value `field:"_head"`
	Tail shapes.Ref   `field:"_tail"`
}

func (s *immutableStack) next() *shapes.Ref { return &s.Tail }

func (s *immutableStack) item(x shapes.Instance) (Item, bool, error) {
	if below, err := s.Tail.Addr(x); below == 0 || err != nil {
		return Item{}, false, err
	}
	return checkItem(Item{Value: s.Head.Value(x)})
}

func (r *Reader) immutableStack(_ *immutableStack, f *reading) content {
	return content{count: unknown, each: chain[*immutableStack](r, f.x.Object(), 0)}
}

type immutableQueue struct {
	_        shapes.Type `of:"System.Collections.Immutable.ImmutableQueue<>"`
	Forward  shapes.Ref  `field:"_forwards"`
	Backward shapes.Ref  `field:"_backwards"`
}

// immutableQueue lists the elements in the order of removal: one stack from its top, then the other from its bottom.
func (r *Reader) immutableQueue(s *immutableQueue, f *reading) content {
	front, back := f.object(&s.Forward), f.object(&s.Backward)
	return content{count: unknown, each: func(yield yielder) bool {
		if !chain[*immutableStack](r, front.Addr, 0)(yield) {
			return false
		}
		var last []Item
		if !chain[*immutableStack](r, back.Addr, 0)(func(i Item, err error) bool {
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
