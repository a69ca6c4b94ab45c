package graph

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/internal/digraph"
)

// A Closure is a set of nodes that grows by what can be reached from more and more of them: objsize
// is one of a single object. It is for one goroutine, may be used again and again, and must be
// closed before the graph is.
type Closure struct {
	g     *Graph
	reach *digraph.Reach
}

// NewClosure is an empty Closure. It takes a bit for each node, and 4 bytes for each that is in it.
func (g *Graph) NewClosure() (*Closure, error) {
	r, err := g.rows.NewReach(g.lazy.options)
	if err != nil {
		return nil, err
	}
	return &Closure{g, r}, nil
}

// Add adds nodes and all that can be reached from them. It returns the number and size in bytes of the
// objects that were not in the set before: of several rounds the last tells what only it reaches.
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

// more corrects what was counted, and returns the static fields that tables among the new nodes hold.
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

// Nodes are those of the set, the ones that Add was given and near ones first. The slice is valid
// until the set changes.
func (c *Closure) Nodes() []Node { return c.reach.Nodes() }

// Reset empties the set.
func (c *Closure) Reset() { c.reach.Reset() }

// Close gives the memory back.
func (c *Closure) Close() { c.reach.Free() }
