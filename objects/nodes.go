package objects

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A visited is the set of visited nodes of a chain or tree. It is an array while it is small, as most chains are short.
type visited struct {
	few  [8]target.Addr
	n    int
	many map[target.Addr]struct{}
}

// add adds a and reports whether it is new.
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

// A nodes reads the nodes of one collection by a shape. All nodes have the type of the first.
type nodes[S any] struct {
	r     *Collections
	typ   *Type
	shape S
}

// at returns the shape and the instance of the node at a.

func (n *nodes[S]) at(a target.Addr) (none S, x Instance, err error) {
	rt := n.r.b.Objects().Runtime()
	mt, err := rt.ObjectMethodTable(a)
	if err != nil {
		return none, 0, target.InHeap(err)
	}
	if n.typ == nil || n.typ.MT.Addr != mt {
		o, err := n.r.b.Objects().TrustedObject(a)
		if err != nil {
			return none, 0, err
		}
		shape, err := Bind[S](n.r.b, o.Type)
		if err != nil && n.typ != nil && errors.Is(err, target.ErrUnsupported) {
			return none, 0, target.CorruptHeapf("an object of type %016x is not a node like the others", uint64(mt))
		}
		if err != nil {
			return none, 0, err
		}
		n.shape, n.typ = shape, o.Type
	}
	return n.shape, InstanceAt(a), nil
}

// A chained is the shape of a node in a chain.
type chained interface{ next() *RefField }

// A chainNode is the shape of a node that holds one item.
type chainNode interface {
	chained
	item(x Instance) (i CollectionItem, counts bool, err error)
}

// chain returns the items of a chain from first on, until the next node is null or last.
func chain[S chainNode](r *Collections, first, last target.Addr) itemSeq {
	return func(yield yielder) bool {
		return follow(&nodes[S]{r: r}, first, last, yield, S.item)
	}
}

// segments returns the items of a chain of segments. list lists the items of one segment, and fails with errStop if
// yield returned false.
func segments[S chained](r *Collections, first target.Addr, list func(s S, x Instance, yield yielder) error) itemSeq {
	return itemSeq(func(yield yielder) bool {
		return follow(&nodes[S]{r: r}, first, 0, yield, func(s S, x Instance) (CollectionItem, bool, error) {
			return CollectionItem{}, false, list(s, x, yield)
		})
	}).stoppable()
}

// follow follows a chain from first on, until the next node is null or last. read returns the item of a node and
// whether it counts.
func follow[S chained](n *nodes[S], first, last target.Addr, yield yielder, read func(s S, x Instance) (CollectionItem, bool, error)) bool {
	var seen visited
	for a := first; a != 0; {
		if !seen.add(a) {
			return yield(CollectionItem{}, target.CorruptHeapf("the chain of nodes is a circle: it reaches %016x again", uint64(a)))
		}
		s, x, err := n.at(a)
		if err != nil {
			return yield(CollectionItem{}, fmt.Errorf("node %016x: %w", uint64(a), err))
		}
		item, ok, err := read(s, x)
		switch {
		case err != nil && !yield(CollectionItem{}, fmt.Errorf("node %016x: %w", uint64(a), err)):
			return false
		case err == nil && ok && !yield(item, nil):
			return false
		}
		if a, err = s.next().Addr(x); err != nil {
			return yield(CollectionItem{}, err)
		}
		if a == last {
			return true
		}
	}
	return true
}

// A parent is the shape of a node in a binary tree.
type parent interface {
	children() (left, right *RefField)
}

// A treeNode is the shape of a node that holds one item.
type treeNode interface {
	parent
	item(x Instance) (i CollectionItem, counts bool, err error)
}

// tree returns the items of a binary tree from left to right.
func tree[S treeNode](r *Collections, root target.Addr) itemSeq { return treeOf[S](r, root, false) }

// immutableTree is tree where a shared node without children stands for an empty tree.
func immutableTree[S treeNode](r *Collections, root target.Addr) itemSeq {
	return treeOf[S](r, root, true)
}

func treeOf[S treeNode](r *Collections, root target.Addr, sharedEmpty bool) itemSeq {
	return func(yield yielder) bool {
		return inOrder(&nodes[S]{r: r}, root, sharedEmpty, yield, func(s S, x Instance) bool {
			i, _, err := s.item(x)
			if err != nil {
				i = CollectionItem{}
			}
			return yield(i, err)
		})
	}
}

// inOrder visits the nodes of a binary tree from left to right, until visit returns false. If sharedEmpty is set, a
// node without a left child stands for an empty tree.
func inOrder[S parent](n *nodes[S], root target.Addr, sharedEmpty bool, yield yielder, visit func(s S, x Instance) bool) bool {
	var stack []target.Addr
	seen := visited{}
	for a := root; a != 0 || len(stack) > 0; {
		if a != 0 {
			left, err := leftChild(n, a)
			empty := sharedEmpty && left == 0
			switch {
			case err != nil:
				err = fmt.Errorf("node %016x: %w", uint64(a), err)
			case !empty && !seen.add(a):
				err = target.CorruptHeapf("not a tree: it reaches node %016x again", uint64(a))
			case !empty:
				stack, a = append(stack, a), left
				continue
			}
			if err != nil && !yield(CollectionItem{}, err) {
				return false
			}
			a = 0
			continue
		}
		a = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s, x, err := n.at(a)
		if err == nil && !visit(s, x) {
			return false
		}
		if err == nil {
			_, right := s.children()
			a, err = child(right, x)
		}
		if err != nil {
			if !yield(CollectionItem{}, err) {
				return false
			}
			a = 0
		}
	}
	return true
}

func leftChild[S parent](n *nodes[S], a target.Addr) (target.Addr, error) {
	s, x, err := n.at(a)
	if err != nil {
		return 0, err
	}
	left, _ := s.children()
	return child(left, x)
}

// child returns the child that a field refers to, or 0. The leaves of some trees have no such field.
func child(field *RefField, x Instance) (target.Addr, error) {
	if !field.Has() {
		return 0, nil
	}
	return field.Addr(x)
}
