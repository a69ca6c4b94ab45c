package digraph

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// Chains finds at most count paths from roots to u that share no node except u, the shortest first.
// Paths include both ends. Each is a shortest path without the nodes of earlier chains, so a root
// begins at most one, and this greedy choice may miss some. Two chains prove that only u and the
// holders of all roots dominate u. One chain proves nothing.
//
// held is the reverse of the graph (Graph.Reverse or Children.Reverse). root reports whether a node
// is a root; chains begin there, even if the root has holders. If u is a root, the first chain is u
// alone. skip, if not nil, excludes nodes such as garbage. Among nodes at the same distance from u,
// the first in held's row is taken.
//
// Chains charges 8n bytes and touches 8 for each visited node. It frees all of them.
func Chains(ctx context.Context, held Rows, u uint32, count int, root, skip func(uint32) bool, opt Options) ([][]uint32, error) {
	n := held.Nodes()
	if err := opt.Budget.Need("chains of holders", 8*int64(n)); err != nil {
		return nil, err
	}
	toward, err := offheap.Make[uint32](opt.Budget, n)
	if err != nil {
		return nil, err
	}
	defer toward.Free()
	queue, err := offheap.Make[uint32](opt.Budget, n)
	if err != nil {
		return nil, err
	}
	defer queue.Free()
	c := &chainSearch{held: held, root: root, skip: skip, toward: toward.Slice(), queue: queue.Slice(), job: opt.job("chains of holders")}
	var chains [][]uint32
	if root(u) && count > 0 {
		chains = append(chains, []uint32{u})
	}
	for len(chains) < count {
		chain, err := c.next(ctx, u)
		if err != nil || chain == nil {
			return chains, err
		}
		chains = append(chains, chain)
	}
	return chains, nil
}

type chainSearch struct {
	held       Rows
	root, skip func(uint32) bool
	toward     []uint32 // the next node on the path to u, plus 1; used for nodes of chains
	queue      []uint32
	job        *job
}

const used = None // value in toward; no node has this number or the one below it

// next returns a shortest chain without used nodes, or nil. It marks the nodes of the chain as
// used.
func (c *chainSearch) next(ctx context.Context, u uint32) ([]uint32, error) {
	c.queue[0], c.toward[u] = u, u+1
	begin, tail, err := c.search(ctx)
	if err != nil {
		return nil, err
	}
	var chain []uint32
	if begin != None {
		for v := begin; v != u; v = c.toward[v] - 1 {
			chain = append(chain, v)
		}
		chain = append(chain, u)
	}
	for i, v := range c.queue[:tail] {
		c.toward[v] = 0
		if i%stride == stride-1 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, v := range chain {
		c.toward[v] = used
	}
	return slices.Clip(chain), nil
}

// search searches backward from the first node in the queue, breadth-first, for the nearest root.
// begin is None if there is no root; tail is the number of queued nodes.
func (c *chainSearch) search(ctx context.Context) (begin uint32, tail int, err error) {
	tail = 1
	left := stride
	for head := 0; head < tail; head++ {
		w := c.queue[head]
		for _, v := range c.held.Row(w) {
			if left--; left <= 0 {
				left = stride
				if err := c.job.step(ctx, stride, uint64(c.held.Edges())); err != nil {
					return None, tail, err
				}
			}
			if c.toward[v] != 0 || c.skip != nil && c.skip(v) {
				continue
			}
			c.toward[v] = w + 1
			c.queue[tail] = v
			tail++
			if c.root(v) {
				return v, tail, nil
			}
		}
	}
	return None, tail, ctx.Err()
}
