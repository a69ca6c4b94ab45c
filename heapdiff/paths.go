package heapdiff

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// PathDepth is how many nodes a path has: what is deeper counts for the last one.
const PathDepth = 48

// Paths are the shortest paths from the roots to all objects that live, merged by the names of what is on them. Objects
// behind one another of the same type, such as the links of a list, are one node.
type Paths struct {
	nodes []pathNode // one before those below it; the first is the root
}

type pathNode struct {
	parent uint32
	depth  uint32
	name   string
	own    Count
	source bool // no object: a kind of roots, a static field, a frame
}

// SummarizePaths merges the paths of a graph into s.
func (s *Summary) SummarizePaths(ctx context.Context, g *graph.Graph, names *graph.Names) error {
	reach, err := g.Reach(ctx)
	if err != nil {
		return err
	}
	m := &pathMerger{g: g, reach: reach, names: names, types: newTypeNames(g.Heap().Runtime()), s: s, place: make([]uint32, g.Nodes()), at: map[pathKey]uint32{},
		labels: make([]string, len(g.Types()))}
	m.paths.nodes = []pathNode{{name: "roots", source: true}}
	m.place[g.Root()] = 1
	for n := range graph.Node(g.Objects()) {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if reach.Live(n) {
			m.add(n)
		}
	}
	if m.beyond > 0 {
		s.Note(target.Unsupportedf("more than %d different paths: %d objects count for what holds them", limits.PathNodes, m.beyond))
	}
	s.Paths = &m.paths
	return nil
}

type pathKey struct {
	parent uint32
	name   string
}

// A pathMerger finds the place of each node in the merged paths.
type pathMerger struct {
	g      *graph.Graph
	reach  *graph.Reach
	names  *graph.Names
	types  *typeNames
	s      *Summary
	paths  Paths
	place  []uint32 // by node: 1 + its node in paths, 0 for not known yet
	at     map[pathKey]uint32
	labels []string // by index of the type
	above  []graph.Node
	beyond uint64
	// last are places that were found a moment ago: objects of a kind lie together.
	last [1 << 12]struct {
		parent, typ, place uint32 // the type is 1 more than its index
	}
}

// add counts an object.
func (m *pathMerger) add(n graph.Node) {
	m.above = m.above[:0]
	at := n
	for m.place[at] == 0 {
		m.above = append(m.above, at)
		at = m.reach.Parent(at)
	}
	p := m.place[at] - 1
	for i := len(m.above) - 1; i >= 0; i-- {
		p = m.below(p, m.above[i])
		m.place[m.above[i]] = p + 1
	}
	own := &m.paths.nodes[p].own
	own.Objects++
	own.Size += m.g.Size(n)
}

// below is the place of n below that of its parent.
func (m *pathMerger) below(parent uint32, n graph.Node) uint32 {
	if !m.g.IsObject(n) {
		return m.child(parent, m.source(n), true)
	}
	typ := uint32(m.g.TypeIndex(n)) + 1
	e := &m.last[(parent*0x9e3779b1^typ*0x85ebca6b)>>20]
	if e.parent != parent || e.typ != typ {
		e.parent, e.typ, e.place = parent, typ, m.child(parent, m.label(int(typ-1)), false)
	}
	return e.place
}

func (m *pathMerger) child(parent uint32, name string, source bool) uint32 {
	above := &m.paths.nodes[parent]
	if above.name == name || above.depth >= PathDepth {
		return parent
	}
	key := pathKey{parent, name}
	p, ok := m.at[key]
	if !ok {
		if len(m.paths.nodes) >= limits.PathNodes {
			m.beyond++
			return parent
		}
		p = uint32(len(m.paths.nodes))
		m.paths.nodes = append(m.paths.nodes, pathNode{parent: parent, depth: above.depth + 1, name: name, source: source})
		m.at[key] = p
	}
	return p
}

// label is the name of a type.
func (m *pathMerger) label(index int) string {
	if m.labels[index] == "" {
		key, err := m.types.of(m.g.Types()[index])
		if m.labels[index] = key.Name; err != nil {
			m.labels[index] = answer.Absent(err)
		}
	}
	return m.labels[index]
}

// source is the name of what is no object. Threads have none that holds in another dump.
func (m *pathMerger) source(n graph.Node) string {
	s := m.g.Source(n)
	if s.Kind == graph.SourceThread {
		return s.Kind.String()
	}
	name, err := m.names.Source(n)
	switch {
	case err != nil:
		m.s.Note(err)
		return s.Kind.String() + " " + answer.Absent(err)
	case name == "":
		return s.Kind.String()
	}
	return name
}
