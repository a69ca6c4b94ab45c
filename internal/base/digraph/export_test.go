package digraph

import (
	"context"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// DepthFirst searches the graph depth-first: from the roots in order, and from each node along its
// row. The result takes 8 bytes per reached node, which the caller frees with Free. The search takes
// another n/8 and a stack of 8 bytes for each postponed edge, at most 8.5m and usually below 1n.
func (g *Graph) DepthFirst(ctx context.Context, roots []uint32, opt Options) (*Forest, error) {
	d, err := newDFS(g, nil, opt)
	if err != nil {
		return nil, err
	}
	defer d.close()
	for _, r := range roots {
		if err := d.from(ctx, r); err != nil {
			offheap.Free(d.order)
			offheap.Free(d.parent)
			return nil, err
		}
	}
	return d.forest(), nil
}

// DominatorBytes returns a bound on the memory of Dominators and DominatorsOfAll, the graph excluded:
// 17 bytes per node and 10 per edge, as if all edges were outside the depth-first tree and led to
// neighbours. Heaps take less than half of it.
func DominatorBytes(nodes, edges uint64, workers int) int64 {
	return int64(17*(nodes+64)) + outsideBytes(nodes+1, edges, workers) + int64(4*edges)
}
