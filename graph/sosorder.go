package graph

import (
	"context"

	"github.com/sosgo/sosgo/graph/internal/sosorder"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// A sosSearch finds paths in SOS's order: the path that gcroot and pathto of SOS show (ClrMD, GCRoot.cs). It is not the
// shortest path, and the graph alone does not determine it: package sosorder describes the search.
//
// A sosSearch needs two bits per node. It is not safe for concurrent use.
type sosSearch struct {
	search *sosorder.Search
}

// sosSearch returns a search for paths to an object, for the roots of one command in SOS's order.
func (g *Graph) sosSearch(to Node) *sosSearch {
	rows := g.memoryRows(false)
	var five, six Node
	if g.objects > 0 {
		five, six = g.index.firstFrom(1<<40), g.index.firstFrom(1<<48)
	}
	return &sosSearch{sosorder.New(g.Nodes(), to, five, six, rows.sosRow)}
}

// from returns the path from an object to the target, including both, or nil if SOS finds none. The result depends on
// earlier searches. It fails only with the error of ctx.
func (s *sosSearch) from(ctx context.Context, start Node) ([]Node, error) {
	return s.search.From(ctx, start)
}

// pass has the effect of From on later searches, for an object that does not lead to the target: everything reachable
// from it is marked as seen, and takes no room in a record. It fails only with the error of ctx.
func (s *sosSearch) pass(ctx context.Context, start Node) error { return s.search.Pass(ctx, start) }

// A memoryRows returns the rows of objects as in memory, after references of dependent handles. A table of static
// fields refers to the values in memory, not to the fields. It is not safe for concurrent use.
type memoryRows struct {
	g       *Graph
	special []uint64 // objects with another row in the graph
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

// rowOf returns the row of an object, valid until the next call.
func (m *memoryRows) rowOf(n Node) []Node {
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

// sosRow returns the result of ClrMD's EnumerateReferenceAddresses, valid until the next call. It is empty for an
// object without references in memory, even if dependent handles add some.
func (m *memoryRows) sosRow(n Node) []Node {
	if !m.g.Type(n).ContainsPointers() {
		return nil
	}
	return m.rowOf(n)
}

func (m *memoryRows) add(a target.Addr) {
	if to, ok := m.g.Node(a); ok {
		m.row = append(m.row, to)
	}
}

func set(bits []uint64, n Node)      { bits[n/64] |= 1 << (n % 64) }
func has(bits []uint64, n Node) bool { return bits[n/64]&(1<<(n%64)) != 0 }
