package graph

import (
	"context"

	"github.com/sosgo/sosgo/internal/digraph"
)

// Use keeps g from being closed until done is called: what is asked of it before, and of what was computed of it, is answered. The
// context that it returns ends when Close is called, too, which waits for done; its error says so then. The error is target.ErrUnsupported if g is closed.
// What takes a context uses the graph by itself while it works.
func (g *Graph) Use(ctx context.Context) (used context.Context, done func(), err error) {
	return g.users.Use(ctx)
}

// forget makes g a graph without objects and Sources, when its memory is given back: who asks it nevertheless finds none.
func (g *Graph) forget() {
	g.index, g.objects, g.arrays, g.rows = &index{}, 0, arrays{}, digraph.Graph{Offsets: []uint32{0, 0}}
	g.size, g.typ, g.rare, g.huge = nil, nil, nil, nil
	g.sources, g.tables, g.fields, g.pairs = nil, nil, nil, nil
	g.slots, g.refs, g.slotsFrom = nil, nil, 0
}
