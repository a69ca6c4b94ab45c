// Package sosorder searches a graph of numbers for paths in the order of SOS. It does not read objects. Start at
// [Search].
package sosorder

import (
	"context"

	"github.com/sosgo/sosgo/internal/base/digraph"
)

// A Node is an object, numbered in the order of addresses.
type Node = uint32

// step is the number of objects between two checks of ctx.
const step = 1 << 14

// A Search finds paths in SOS's order: the path that gcroot and pathto of SOS show (ClrMD, GCRoot.cs). It is not the
// shortest path, and the graph alone does not determine it. The search goes depth first from one root after the other.
// It skips objects that it saw from an earlier root, unless they were unfinished when a path was found. Which objects
// were unfinished depends on how ClrMD packs references to follow into records of recordSize bytes. It takes the last
// record first.
//
// A Search needs two bits per node. It is not safe for concurrent use.
type Search struct {
	target Node

	seen  []uint64 // objects to skip
	found []uint64 // objects that lead to the target
	chain map[Node]int32
	links []link

	bytes [2]Node // first nodes with addresses of more than 5 bytes, and of more than 6

	references func(Node) []Node // the references that SOS reads, valid until the next call
	stack      []pending
	children   []Node // of all of stack, concatenated
}

// A link is an object of a path to the target, with the index of the next link, or -1. Links never change, as in SOS.
type link struct {
	node Node
	next int32
}

// A pending is one of ClrMD's records: references of an object that are still to be followed.
type pending struct {
	object, parent Node
	next, end      int // range in children
}

// recordSize is the size of a record. The first byte is its position. The object, its parent if any, and references
// follow, each in as few bytes as ClrMD packs addresses into.
const recordSize = 32

// New returns a search for paths to the node to, in a graph with the given number of nodes. The addresses of nodes from
// five on need more than 5 bytes, and from six on more than 6. references returns the nodes that a node refers to,
// valid until its next call.
func New(nodes int, to, five, six Node, references func(Node) []Node) *Search {
	words := (nodes + 63) / 64
	return &Search{target: to, seen: make([]uint64, words), found: make([]uint64, words), chain: map[Node]int32{}, bytes: [2]Node{five, six},
		references: references}
}

func set(bits []uint64, n Node)      { bits[n/64] |= 1 << (n % 64) }
func unset(bits []uint64, n Node)    { bits[n/64] &^= 1 << (n % 64) }
func has(bits []uint64, n Node) bool { return bits[n/64]&(1<<(n%64)) != 0 }

// From returns the path from an object to the target, including both, or nil if SOS finds none. The result depends on
// earlier searches. It fails only with the error of ctx.
func (s *Search) From(ctx context.Context, start Node) ([]Node, error) {
	if has(s.found, start) {
		return s.path(s.chain[start]), nil
	}
	if start == s.target {
		return s.path(s.link(start, -1)), nil
	}
	s.stack, s.children = s.stack[:0], s.children[:0]
	if link := s.walk(digraph.None, start); link >= 0 {
		s.drain()
		return s.path(link), nil
	}
	left := step
	for len(s.stack) > 0 {
		if left--; left == 0 {
			left = step
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		i := len(s.stack) - 1
		top := &s.stack[i]
		if top.next == top.end {
			s.children = s.children[:s.firstOf(i)]
			s.stack = s.stack[:i]
			continue
		}
		object, child := top.object, s.children[top.next]
		top.next++
		if link := s.walk(object, child); link >= 0 {
			return s.path(s.unwind(i, link)), nil
		}
	}
	return nil, nil
}

// Pass has the effect of From on later searches, for an object that does not lead to the target: everything reachable
// from it is marked as seen, and takes no room in a record. It fails only with the error of ctx.
func (s *Search) Pass(ctx context.Context, start Node) error {
	s.children = append(s.children[:0], start)
	for left := step; len(s.children) > 0; {
		last := len(s.children) - 1
		n := s.children[last]
		s.children = s.children[:last]
		for _, r := range s.references(n) {
			if left--; left == 0 {
				if left = step; ctx.Err() != nil {
					return ctx.Err()
				}
			}
			if !has(s.seen, r) {
				set(s.seen, r)
				s.children = append(s.children, r)
			}
		}
	}
	return nil
}

// firstOf returns the start of the references of a record, after the references of the record below it.
func (s *Search) firstOf(i int) int {
	if i == 0 {
		return 0
	}
	return s.stack[i-1].end
}

// parentOf returns the parent that ClrMD reads from a record. The record of a start has its first reference in that
// place.
func (s *Search) parentOf(i int) Node {
	if p := s.stack[i].parent; p != digraph.None {
		return p
	}
	return s.children[s.firstOf(i)]
}

// walk examines the references of an object. It returns the object's link if a reference is known to lead to the
// target, or -1.
func (s *Search) walk(parent, n Node) int32 {
	if n == s.target {
		return s.link(n, -1)
	}
	room := 0
	for _, r := range s.references(n) {
		if has(s.found, r) {
			return s.link(n, s.chain[r])
		}
		if has(s.seen, r) {
			continue
		}
		set(s.seen, r)
		if w := s.width(r); room < w {
			s.stack = append(s.stack, pending{object: n, parent: parent, next: len(s.children), end: len(s.children)})
			room = recordSize - 1 - s.width(n)
			if parent != digraph.None {
				room -= s.width(parent)
			}
		}
		room -= s.width(r)
		s.children = append(s.children, r)
		s.stack[len(s.stack)-1].end++
	}
	return -1
}

// width returns the number of bytes in which ClrMD stores an object's address.
func (s *Search) width(n Node) int {
	switch {
	case n < s.bytes[0]:
		return 5
	case n < s.bytes[1]:
		return 6
	}
	return 8
}

// link adds the link of an object that leads to the target.
func (s *Search) link(n Node, next int32) int32 {
	s.links = append(s.links, link{n, next})
	link := int32(len(s.links) - 1)
	s.chain[n] = link
	set(s.found, n)
	return link
}

// add returns the link of an object, which it adds if needed.
func (s *Search) add(n Node, next int32) int32 {
	link, ok := s.chain[n]
	if !ok {
		link = s.link(n, next)
	}
	unset(s.seen, n)
	return link
}

// unwind walks from a record's object, which refers to the object of link, up to the start. It unmarks unfinished
// objects.
func (s *Search) unwind(record int, link int32) int32 {
	object, parent := s.stack[record].object, s.parentOf(record)
	link = s.add(object, link)
	for i := len(s.stack) - 1; i >= 0; i-- {
		p := &s.stack[i]
		if p.object == object {
			continue
		}
		if object = p.object; object == parent {
			link, parent = s.add(object, link), s.parentOf(i)
		} else {
			unset(s.seen, object)
		}
	}
	s.drain()
	return link
}

// drain unmarks the objects that were not examined.
func (s *Search) drain() {
	for i := range s.stack {
		p := &s.stack[i]
		for _, n := range s.children[p.next:p.end] {
			unset(s.seen, n)
		}
	}
	s.stack, s.children = s.stack[:0], s.children[:0]
}

func (s *Search) path(link int32) []Node {
	var nodes []Node
	for ; link >= 0; link = s.links[link].next {
		nodes = append(nodes, s.links[link].node)
	}
	return nodes
}
