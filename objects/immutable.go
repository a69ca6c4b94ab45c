package objects

// immutableKinds returns the classes of System.Collections.Immutable, and their builders.
func immutableKinds() []kind {
	return []kind{
		wrapperKind(func(s *immutableArray) *RefField { return &s.Array }),
		kindOf((*Collections).immutableArrayBuilder),
		wrapperKind(func(s *immutableList) *RefField { return &s.Root }),
		kindOf((*Collections).immutableNode),
		kindOf((*Collections).immutableDictionary),
		kindOf((*Collections).immutableHashSet),
		kindOf((*Collections).immutableSortedDictionary),
		kindOf((*Collections).immutableStack),
		kindOf((*Collections).immutableQueue),
	}
}

type immutableArray struct {
	_     Shape    `of:"System.Collections.Immutable.ImmutableArray<>"`
	Array RefField `field:"array"`
}

type immutableArrayBuilder struct {
	_     Shape    `of:"System.Collections.Immutable.ImmutableArray<>+Builder"`
	Array RefField `field:"_elements"`
	Count IntField `field:"_count"`
}

func (r *Collections) immutableArrayBuilder(s *immutableArrayBuilder, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Count)
	return r.sequence(o, n, nil)
}

// immutableList is a list or sorted set with a tree of values.
type immutableList struct {
	_    Shape    `of:"System.Collections.Immutable.ImmutableList<>|System.Collections.Immutable.ImmutableList<>+Builder|System.Collections.Immutable.ImmutableSortedSet<>|System.Collections.Immutable.ImmutableSortedSet<>+Builder"`
	Root RefField `field:"_root"`
}

// An immutableNode is the root or another node of a tree of values. An empty tree is a shared node without children.
type immutableNode struct {
	_     Shape      `of:"System.Collections.Immutable.ImmutableList<>+Node|System.Collections.Immutable.ImmutableSortedSet<>+Node"`
	Key   ValueField `field:"_key"`
	Count IntField   `field:"_count"`
	Left  RefField   `field:"_left"`
	Right RefField   `field:"_right"`
}

func (n *immutableNode) children() (left, right *RefField) { return &n.Left, &n.Right }

func (n *immutableNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: n.Key.Value(x)})
}

func (r *Collections) immutableNode(s *immutableNode, f *reading) content {
	n := f.int(&s.Count)
	return content{count: n, each: immutableTree[*immutableNode](r, f.x.Object())}.checkCount()
}

// A bucketTree is a collection with a tree of hash buckets.
type bucketTree struct {
	Root  RefField `field:"_root"`
	Count IntField `field:"_count"`
}

type immutableDictionary struct {
	_ Shape `of:"System.Collections.Immutable.ImmutableDictionary<,>|System.Collections.Immutable.ImmutableDictionary<,>+Builder"`
	bucketTree
}

type immutableHashSet struct {
	_ Shape `of:"System.Collections.Immutable.ImmutableHashSet<>|System.Collections.Immutable.ImmutableHashSet<>+Builder"`
	bucketTree
}

type bucketNode struct {
	_     Shape       `of:"System.Collections.Immutable.SortedInt32KeyNode<>"`
	Value StructField `field:"_value"`
	Left  RefField    `field:"_left"`
	Right RefField    `field:"_right"`
}

func (n *bucketNode) children() (left, right *RefField) { return &n.Left, &n.Right }

type treeBucket struct {
	First ValueField `field:"_firstValue"`
	More  RefField   `field:"_additionalElements"`
}

func (r *Collections) immutableDictionary(s *immutableDictionary, f *reading) content {
	return r.pairs(r.buckets(&s.bucketTree, f))
}

func (r *Collections) immutableHashSet(s *immutableHashSet, f *reading) content {
	return r.buckets(&s.bucketTree, f)
}

// buckets lists the elements in the order of their hash. Elements with the same hash keep their order.
func (r *Collections) buckets(s *bucketTree, f *reading) content {
	n, root := f.int(&s.Count), f.addr(&s.Root)
	return content{count: n, each: func(yield yielder) bool {
		return inOrder(&nodes[*bucketNode]{r: r}, root, true, yield, func(s *bucketNode, x Instance) bool {
			return r.treeBucket(s, x, yield)
		})
	}}.checkCount()
}

func (r *Collections) treeBucket(s *bucketNode, x Instance, yield yielder) bool {
	b, err := Bind[*treeBucket](r.b, s.Value.Type())
	if err != nil {
		return yield(CollectionItem{}, err)
	}
	x = s.Value.At(x)
	more, err := b.More.Object(x)
	if err != nil {
		return yield(CollectionItem{}, err)
	}
	if !yieldItem(yield, CollectionItem{Value: b.First.Value(x)}) {
		return false
	}
	c := r.wrap(more)
	if c.err != nil && !yield(CollectionItem{}, c.err) {
		return false
	}
	return c.each == nil || c.each(yield)
}

type immutableSortedDictionary struct {
	_     Shape    `of:"System.Collections.Immutable.ImmutableSortedDictionary<,>|System.Collections.Immutable.ImmutableSortedDictionary<,>+Builder"`
	Root  RefField `field:"_root"`
	Count IntField `field:"_count"`
}

type sortedPair struct {
	Key   ValueField `field:"_key"`
	Value ValueField `field:"_value"`
	Left  RefField   `field:"_left"`
	Right RefField   `field:"_right"`
}

func (n *sortedPair) children() (left, right *RefField) { return &n.Left, &n.Right }

func (n *sortedPair) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

func (r *Collections) immutableSortedDictionary(s *immutableSortedDictionary, f *reading) content {
	n, root := f.int(&s.Count), f.addr(&s.Root)
	return content{count: n, keys: true, each: immutableTree[*sortedPair](r, root)}.checkCount()
}

// An immutableStack is the top element and the stack below it. The empty stack has neither.
type immutableStack struct {
	_    Shape      `of:"System.Collections.Immutable.ImmutableStack<>"`
	Head ValueField `field:"_head"`
	Tail RefField   `field:"_tail"`
}

func (s *immutableStack) next() *RefField { return &s.Tail }

func (s *immutableStack) item(x Instance) (CollectionItem, bool, error) {
	if below, err := s.Tail.Addr(x); below == 0 || err != nil {
		return CollectionItem{}, false, err
	}
	return checkItem(CollectionItem{Value: s.Head.Value(x)})
}

func (r *Collections) immutableStack(_ *immutableStack, f *reading) content {
	return content{count: unknown, stack: true, each: chain[*immutableStack](r, f.x.Object(), 0)}
}

type immutableQueue struct {
	_        Shape    `of:"System.Collections.Immutable.ImmutableQueue<>"`
	Forward  RefField `field:"_forwards"`
	Backward RefField `field:"_backwards"`
}

// immutableQueue lists the elements in the order of removal: one stack from its top, then the other from its bottom.
func (r *Collections) immutableQueue(s *immutableQueue, f *reading) content {
	front, back := f.object(&s.Forward), f.object(&s.Backward)
	return content{count: unknown, each: func(yield yielder) bool {
		if !chain[*immutableStack](r, front.Addr, 0)(yield) {
			return false
		}
		var last []CollectionItem
		if !chain[*immutableStack](r, back.Addr, 0)(func(i CollectionItem, err error) bool {
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
