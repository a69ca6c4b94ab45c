package graph

import (
	"context"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// A SOSSearch finds paths in SOS's order. Of all paths it finds the one that gcroot and pathto of SOS show (ClrMD, GCRoot.cs). That is not
// the shortest one, and the graph alone does not determine it. The search goes depth first from one root after the other. It skips objects
// that it saw from an earlier root, unless they were unfinished when a path was found. Which ones were depends on how ClrMD packs
// references that it has yet to follow, into records of sosRecord bytes. It takes the last record first.
//
// It needs two bits a node. It is not safe for concurrent use.
type SOSSearch struct {
	target Node

	seen  []uint64 // objects to skip
	found []uint64 // objects that lead to the target
	chain map[Node]int32
	links []sosLink

	rows  *memoryRows
	bytes [2]Node // larger addresses need more than 5 bytes, and more than 6

	references func(Node) []Node // the references that SOS reads, valid until the next call
	stack      []sosPending
	children   []Node // of stack, one after the other
}

// A sosLink is an object of a path to the target, and the next link, -1 if there is none. Links never change, as in SOS.
type sosLink struct {
	node Node
	next int32
}

// sosPending are references of an object that are yet to be followed: one of ClrMD's records.
type sosPending struct {
	object, parent Node
	next, end      int // in children
}

// sosRecord is the size of a record. The first byte is its position. The object, its parent if there is one, and
// references follow, each in as few bytes as ClrMD packs addresses into.
const sosRecord = 32

// SOSSearch returns a search for paths to an object, for the roots of one command in SOS's order.
func (g *Graph) SOSSearch(to Node) *SOSSearch {
	s := newSOSSearch(g.Nodes(), to)
	s.rows = g.memoryRows(false)
	s.references = s.read
	if g.objects > 0 {
		s.bytes = [2]Node{g.index.from(1 << 40), g.index.from(1 << 48)}
	}
	return s
}

func newSOSSearch(nodes int, to Node) *SOSSearch {
	words := (nodes + 63) / 64
	return &SOSSearch{target: to, seen: make([]uint64, words), found: make([]uint64, words), chain: map[Node]int32{}}
}

func set(bits []uint64, n Node)      { bits[n/64] |= 1 << (n % 64) }
func unset(bits []uint64, n Node)    { bits[n/64] &^= 1 << (n % 64) }
func has(bits []uint64, n Node) bool { return bits[n/64]&(1<<(n%64)) != 0 }

// From returns the path from an object to the target, including both, nil if SOS finds none. The result depends on
// earlier searches. The error is the context's.
func (s *SOSSearch) From(ctx context.Context, start Node) ([]Node, error) {
	if s.references == nil {
		return nil, errNoGraph
	}
	if has(s.found, start) {
		return s.path(s.chain[start]), nil
	}
	if start == s.target {
		return s.path(s.link(start, -1)), nil
	}
	s.stack, s.children = s.stack[:0], s.children[:0]
	if link := s.walk(NoNode, start); link >= 0 {
		s.drain()
		return s.path(link), nil
	}
	left := searchStep
	for len(s.stack) > 0 {
		if left--; left == 0 {
			left = searchStep
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
// from it is marked as seen, and no longer takes room in a record. The error is the context's.
func (s *SOSSearch) Pass(ctx context.Context, start Node) error {
	if s.references == nil {
		return errNoGraph
	}
	s.children = append(s.children[:0], start)
	for left := searchStep; len(s.children) > 0; {
		last := len(s.children) - 1
		n := s.children[last]
		s.children = s.children[:last]
		for _, r := range s.references(n) {
			if left--; left == 0 {
				if left = searchStep; ctx.Err() != nil {
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

// firstOf returns where the references of a record start: after those of the record below it.
func (s *SOSSearch) firstOf(i int) int {
	if i == 0 {
		return 0
	}
	return s.stack[i-1].end
}

// parentOf returns the parent that ClrMD reads from a record. The record of a start has none, and its first reference is in that place.
func (s *SOSSearch) parentOf(i int) Node {
	if p := s.stack[i].parent; p != NoNode {
		return p
	}
	return s.children[s.firstOf(i)]
}

// walk examines the references of an object. It returns the link of the object if one of them is known to lead to the target, otherwise -1.
func (s *SOSSearch) walk(parent, n Node) int32 {
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
			s.stack = append(s.stack, sosPending{object: n, parent: parent, next: len(s.children), end: len(s.children)})
			room = sosRecord - 1 - s.width(n)
			if parent != NoNode {
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
func (s *SOSSearch) width(n Node) int {
	switch {
	case n < s.bytes[0]:
		return 5
	case n < s.bytes[1]:
		return 6
	}
	return 8
}

// link makes the link of an object that leads to the target.
func (s *SOSSearch) link(n Node, next int32) int32 {
	s.links = append(s.links, sosLink{n, next})
	link := int32(len(s.links) - 1)
	s.chain[n] = link
	set(s.found, n)
	return link
}

// add returns the link of an object, a new one if it has none.
func (s *SOSSearch) add(n Node, next int32) int32 {
	link, ok := s.chain[n]
	if !ok {
		link = s.link(n, next)
	}
	unset(s.seen, n)
	return link
}

// unwind walks from a record's object, which refers to the object of link, up to the start. It unmarks unfinished ones.
func (s *SOSSearch) unwind(record int, link int32) int32 {
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
func (s *SOSSearch) drain() {
	for i := range s.stack {
		p := &s.stack[i]
		for _, n := range s.children[p.next:p.end] {
			unset(s.seen, n)
		}
	}
	s.stack, s.children = s.stack[:0], s.children[:0]
}

func (s *SOSSearch) path(link int32) []Node {
	var nodes []Node
	for ; link >= 0; link = s.links[link].next {
		nodes = append(nodes, s.links[link].node)
	}
	return nodes
}

// read returns the result of ClrMD's EnumerateReferenceAddresses. It is empty for an object without references in
// memory, even if dependent handles add some.
func (s *SOSSearch) read(n Node) []Node {
	if !s.rows.g.Type(n).ContainsPointers() {
		return nil
	}
	return s.rows.of(n)
}

// memoryRows returns the rows of objects as in memory, after those of dependent handles. There, a table of static
// fields refers to the values, not to the fields. It is not safe for concurrent use.
type memoryRows struct {
	g       *Graph
	special []uint64 // objects whose row in the graph differs
	keepers bool     // include LoaderAllocators, before the references in memory
	edges   *heap.Edges
	row     []Node
}

func (g *Graph) memoryRows(keepers bool) *memoryRows {
	m := &memoryRows{g: g, special: make([]uint64, (g.Nodes()+63)/64), keepers: keepers,
		edges: g.h.Edges(heap.EdgeOptions{LoaderAllocators: keepers})}
	for i := range g.sources {
		if slot := g.sources[i].Slot; g.sources[i].Kind == SourceField && slot != 0 {
			if n, ok := g.Containing(slot); ok {
				set(m.special, n)
			}
		}
	}
	for i := range g.pairs {
		if n, ok := g.Node(g.pairs[i].Primary); ok {
			set(m.special, n)
		}
	}
	return m
}

// of returns the row of an object, valid until the next call.
func (m *memoryRows) of(n Node) []Node {
	if !has(m.special, n) && !m.g.h.Runtime().IsCollectible(m.g.Type(n)) {
		return m.g.Referents(n)
	}
	m.row = m.row[:0]
	o, err := m.g.Object(n)
	if err != nil {
		return nil
	}
	for _, d := range m.g.dependents(o.Addr) {
		m.add(d.Secondary)
	}
	if keeper, err := m.edges.LoaderAllocator(&o); m.keepers && err == nil && keeper != 0 {
		m.add(keeper)
	}
	for r, err := range m.edges.Of(&o) {
		if err == nil && r.Slot != 0 {
			m.add(r.Target)
		}
	}
	return m.row
}

func (m *memoryRows) add(a target.Addr) {
	if to, ok := m.g.Node(a); ok {
		m.row = append(m.row, to)
	}
}
