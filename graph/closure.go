package graph

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/internal/digraph"
)

// A Closure is a set of nodes that grows by everything reachable from added nodes; objsize uses it with a single
// object. It is not safe for concurrent use, can be reused, and must be closed before the graph.
type Closure struct {
	g     *Graph
	reach *digraph.Reach
}

// NewClosure returns an empty Closure. It needs a bit for each node, and 4 bytes for each node in the set.
func (g *Graph) NewClosure() (*Closure, error) {
	r, err := g.rows.NewReach(g.lazy.options)
	if err != nil {
		return nil, err
	}
	return &Closure{g, r}, nil
}

// Add adds nodes and everything reachable from them. It returns the number and size in bytes of the objects that are
// new in the set. With several calls, the last result is what only its nodes reach.
func (c *Closure) Add(ctx context.Context, nodes ...Node) (objects int, size uint64, err error) {
	for len(nodes) > 0 {
		added, sum, err := c.reach.Add(ctx, nodes, c.g.size)
		if err != nil {
			return 0, 0, err
		}
		objects += len(added)
		size += sum
		nodes = c.more(added, &objects, &size)
	}
	return objects, size, nil
}

// more corrects the counts, and returns the static fields in the tables among the new nodes.
func (c *Closure) more(added []uint32, objects *int, size *uint64) (statics []Node) {
	g := c.g
	for _, n := range added {
		switch {
		case !g.IsObject(n):
			*objects--
		case g.size[n] == hugeSize:
			*size += g.huge[n] - hugeSize
		}
	}
	// Tables are few, and most sets of objects have none.
	for table, fields := range g.tables {
		if c.reach.Has(table) && slices.ContainsFunc(fields, func(n Node) bool { return !c.reach.Has(n) }) {
			statics = append(statics, fields...)
		}
	}
	slices.Sort(statics)
	return statics
}

// Has reports whether n is in the set.
func (c *Closure) Has(n Node) bool { return c.reach.Has(n) }

// Nodes returns the nodes of the set: those passed to Add, and near ones, first. It is valid until the set changes.
func (c *Closure) Nodes() []Node { return c.reach.Nodes() }

// Reset empties the set.
func (c *Closure) Reset() { c.reach.Reset() }

// Close frees the memory.
func (c *Closure) Close() { c.reach.Free() }
