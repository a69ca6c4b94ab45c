package graph

import (
	"context"

	"github.com/sosgo/sosgo/internal/digraph"
)

// Use prevents Close from freeing g's memory until done is called, so that the methods of g and of computed data can be
// used until then. The returned context ends when Close is called, which waits for done; its error then says so. The
// error is target.ErrUnsupported if g is closed. Methods that take a context call Use themselves.
func (g *Graph) Use(ctx context.Context) (used context.Context, done func(), err error) {
	if g == nil || g.users == nil {
		return ctx, func() {}, errNoGraph
	}
	return g.users.Use(ctx)
}

// forget makes g a graph without objects and Sources when its memory is freed. Methods called later find nothing.
func (g *Graph) forget() {
	g.index, g.objects, g.arrays, g.rows = &index{}, 0, arrays{}, digraph.Graph{Offsets: []uint32{0, 0}}
	g.size, g.typ, g.rare, g.huge = nil, nil, nil, nil
	g.sources, g.tables, g.fields, g.pairs = nil, nil, nil, nil
	g.slots, g.refs, g.slotsFrom = nil, nil, 0
}

// using calls f while g can't be closed, and returns its results. The context of f ends when Close is called, too.
func using[T any](ctx context.Context, g *Graph, f func(ctx context.Context) (T, error)) (T, error) {
	ctx, done, err := g.Use(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer done()
	return f(ctx)
}
