package digraph

import (
	"context"
)

// DepthFirst searches the graph depth-first: from the roots in order, and from each node along its
// row. The result takes 8 bytes per reached node; the caller frees it. The search takes another n/8
// and a stack of 8 bytes for each postponed edge, at most 8.5m and usually less than n.
func (g *Graph) DepthFirst(ctx context.Context, roots []uint32, opt Options) (*Forest, error) {
	d, err := newDFS(g, nil, opt)
	if err != nil {
		return nil, err
	}
	defer d.close()
	for _, r := range roots {
		if err := d.from(ctx, r); err != nil {
			d.order.Free()
			d.parent.Free()
			return nil, err
		}
	}
	return d.forest(), nil
}

// DominatorBytes returns an upper bound for the memory of Dominators and DominatorsOfAll, without
// the graph: 17 bytes per node and 10 per edge, as if all edges were outside the depth-first tree
// and led to neighbors. Heaps take less than half.
func DominatorBytes(nodes, edges uint64, workers int) int64 {
	return int64(17*(nodes+64)) + outsideBytes(nodes+1, edges, workers) + int64(4*edges)
}
