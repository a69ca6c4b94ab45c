package graph

import (
	"context"

	"github.com/sosgo/sosgo/answer"
)

// Graph returns the graph that x queries.
func (x *Holders) Graph() *Graph {
	if x == nil {
		return nil
	}
	return x.g
}

// Names returns the names of the graph's edges.
func (x *Holders) Names() *Names { return x.names }

// Describe describes an object. Unknown parts are recorded in g.
func (x *Holders) Describe(g *answer.Gaps, n Node) answer.PathObject {
	if x.g == nil {
		return answer.PathObject{}
	}
	return x.object(g, n)
}

// DescribePath describes the nodes of a Path: Sources, then objects. Unknown parts are recorded in g.
func (x *Holders) DescribePath(ctx context.Context, g *answer.Gaps, nodes []Node) answer.RootPath {
	if x.g == nil || len(nodes) == 0 {
		return answer.RootPath{}
	}
	return x.rootPath(ctx, g, nodes, map[[2]Node]int{})
}

// TypesBelow counts the objects that n dominates, including n, by type. It returns the top largest types, 0 for all.
func (x *Holders) TypesBelow(ctx context.Context, g *answer.Gaps, n Node, top int) ([]answer.TypeCount, error) {
	return using(ctx, x.g, func(ctx context.Context) ([]answer.TypeCount, error) {
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		t := x.newTypeSums()
		if err := x.below(ctx, d, n, t.add); err != nil {
			return nil, err
		}
		rows, _ := t.rows(g, top)
		return rows, nil
	})
}
