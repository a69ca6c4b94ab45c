package graph

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/target"
)

// addRoots adds the rows of the Sources and of the root node.
func (b *builder) addRoots() error {
	b.checkDependents()
	r := b.r
	n := len(r.Sources)
	first := uint32(b.objects)
	rows := make([]uint32, n+2) // start of each row, including the root node's
	place := func(parent int) int {
		if parent == UnderRoot {
			return n
		}
		return parent
	}
	nodes := make([]uint32, len(r.Edges)) // objects of the roots, None for a root without an object
	for i := range r.Sources {
		if p := r.Sources[i].Parent; p != InTable {
			rows[place(p)+1]++
		}
	}
	for i := range r.Edges {
		nodes[i] = b.rootNode(r.Edges[i].Object)
		if nodes[i] != digraph.None {
			rows[r.Edges[i].Source+1]++
		}
	}
	for i := range n + 1 {
		rows[i+1] += rows[i]
	}
	total := b.edges + uint64(rows[n+1])
	if err := digraph.CheckSize(b.objects+uint64(n)+1, total); err != nil {
		return err
	}
	if err := cmp.Or(b.arrays.targets.Grow(int(total)), b.arrays.offsets.Grow(int(b.objects)+n+2), b.arrays.sizes.Grow(int(b.objects)+n+1)); err != nil {
		return err
	}
	offsets, targets := b.arrays.offsets.Slice(), b.arrays.targets.Slice()
	for i := range n + 1 {
		offsets[int(first)+1+i] = uint32(b.edges) + rows[i+1]
	}
	b.slots, b.refs = make([]target.Addr, rows[n+1]), make([]uint32, rows[n+1])
	next := slices.Clone(rows)
	for i := range r.Sources {
		if p := r.Sources[i].Parent; p != InTable {
			targets[b.edges+uint64(next[place(p)])] = first + uint32(i)
			next[place(p)]++
		}
	}
	for i := range r.Edges {
		if e := &r.Edges[i]; nodes[i] != digraph.None {
			at := next[e.Source]
			targets[b.edges+uint64(at)], b.slots[at], b.refs[at] = nodes[i], e.Slot, e.Ref
			next[e.Source]++
		}
	}
	b.slotsFrom = uint32(b.edges)
	b.edges = total
	return nil
}

// rootNode returns the object that a root refers to. It returns None and counts a fault if there is no object.
func (b *builder) rootNode(a target.Addr) uint32 {
	if n, ok := b.x.find(a); ok {
		return n
	}
	b.stats.RootFaults[b.rootFault(a)]++
	return digraph.None
}

func (b *builder) rootFault(a target.Addr) Fault {
	if g, ok := b.x.granule(uint64(a)); ok {
		f := free{b: b, mem: target.NewWindow(b.h.Memory())}
		return f.fault(b.x.address(g))
	}
	return b.fault(uint64(a))
}

// checkDependents counts the dependent handles without a primary object. A reference to a secondary object counts as a
// reference of the primary one.
func (b *builder) checkDependents() {
	for i := range b.r.Dependents {
		d := &b.r.Dependents[i]
		if _, ok := b.x.find(d.Primary); ok {
			b.pairs = append(b.pairs, *d)
		} else {
			b.stats.RootFaults[b.rootFault(d.Primary)]++
		}
	}
	slices.SortStableFunc(b.pairs, func(x, y Dependent) int { return cmp.Compare(x.Primary, y.Primary) })
}

// takeRoots moves the parts of the roots that the graph keeps into the graph.
func (g *Graph) takeRoots(b *builder) {
	g.slots, g.refs, g.slotsFrom, g.pairs = b.slots, b.refs, b.slotsFrom, b.pairs
	g.kept = b.r.Kept
	g.fields, g.tables = map[target.Addr]Node{}, map[Node][]Node{}
	for i := range g.sources {
		s := &g.sources[i]
		if s.Kind != SourceField || s.Slot == 0 {
			continue
		}
		g.fields[s.Slot] = g.SourceNode(i)
		if table, ok := g.Containing(s.Slot); ok && s.Parent != InTable {
			g.tables[table] = append(g.tables[table], g.SourceNode(i))
		}
	}
}

// dependentsOf returns the range in pairs of the handles of a primary object.
func dependentsOf(pairs []Dependent, a target.Addr) (from, to int) {
	from = sort.Search(len(pairs), func(i int) bool { return pairs[i].Primary >= a })
	to = from
	for to < len(pairs) && pairs[to].Primary == a {
		to++
	}
	return from, to
}
