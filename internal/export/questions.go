package export

import (
	"context"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
)

// Of returns the graph of the heap's objects with the names of their types, which the packages below export write.
func Of(ctx context.Context, p *process.Process) (*Heap, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*Heap, error) {
		g, err := c.Graph(ctx, graph.Options{})
		if err != nil {
			return nil, err
		}
		return &Heap{Graph: g, Objects: r, Jobs: c.Jobs()}, nil
	})
}
