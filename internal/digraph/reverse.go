package digraph

import (
	"context"

	"github.com/sosgo/sosgo/internal/offheap"
	"github.com/sosgo/sosgo/internal/workers"
)

// Reverse returns the graph with all edges reversed: the row of a node holds the nodes with an edge to
// it, ascending, one per edge. It takes 4n + 4m bytes, all of them the result, which the caller frees.
func (g *Graph) Reverse(ctx context.Context, opt Options) (*Graph, error) {
	n, m := g.Nodes(), g.Edges()
	if err := opt.Budget.Need("turning the edges of the graph round", 4*int64(n+1)+4*int64(m)); err != nil {
		return nil, err
	}
	offsets, err := offheap.Make[uint32](opt.Budget, n+1)
	if err != nil {
		return nil, err
	}
	targets, err := offheap.Make[uint32](opt.Budget, m)
	if err != nil {
		offsets.Free()
		return nil, err
	}
	rev := &Graph{Offsets: offsets.Slice(), Targets: targets.Slice(), owned: [2]*offheap.Array[uint32]{offsets, targets}}
	if err := g.reverseInto(ctx, opt, rev); err != nil {
		rev.Free()
		return nil, err
	}
	return rev, nil
}

// reverseInto assigns each worker a range of nodes. The worker reads all edges and takes those that lead into its range. Reading is
// sequential and cheap; the cost is the one counter and the one cell that an edge touches, which need neither locks nor sorting.
func (g *Graph) reverseInto(ctx context.Context, opt Options, rev *Graph) error {
	n := g.Nodes()
	if err := opt.touch(ctx, rev.Offsets); err != nil {
		return err
	}
	parts := min(opt.workers(), 8, n/leastPart+1)
	count := opt.job("counting referrers")
	count.workers = parts
	err := count.parts(n, func(lo, hi int) error { return g.countInto(ctx, count, rev.Offsets, lo, hi, uint64(parts)) })
	if err != nil {
		return err
	}
	// The offset after each node is where its next referrer goes; at the end it is where the row ends.
	sum := uint32(0)
	for lo := 0; lo < n; lo += stride {
		for u := lo + 1; u <= min(n, lo+stride); u++ {
			c := rev.Offsets[u]
			rev.Offsets[u] = sum
			sum += c
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := opt.touch(ctx, rev.Targets); err != nil {
		return err
	}
	fill := opt.job("turning edges round")
	fill.workers = parts
	return fill.parts(n, func(lo, hi int) error { return g.fillInto(ctx, fill, rev, lo, hi, uint64(parts)) })
}

// leastPart is the minimum number of nodes for a worker that reads all edges.
const leastPart = 1 << 16

// parts divides 0 to n evenly among the workers and calls f for all parts at once.
func (j *job) parts(n int, f func(lo, hi int) error) error {
	if j.workers <= 1 {
		return f(0, n)
	}
	errs := make([]error, j.workers)
	var group workers.Group
	for w := range j.workers {
		group.Go(func() { errs[w] = f(n/j.workers*w+min(w, n%j.workers), n/j.workers*(w+1)+min(w+1, n%j.workers)) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) countInto(ctx context.Context, j *job, counts []uint32, lo, hi int, parts uint64) error {
	m := g.Edges()
	own := counts[lo+1 : hi+1]
	for e := 0; e < m; e += stride {
		for _, v := range g.Targets[e:min(m, e+stride)] {
			if i := int64(v) - int64(lo); uint64(i) < uint64(len(own)) {
				own[i]++
			}
		}
		if err := j.step(ctx, stride, uint64(m)*parts); err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) fillInto(ctx context.Context, j *job, rev *Graph, lo, hi int, parts uint64) error {
	n, m := g.Nodes(), uint64(g.Edges())
	own := rev.Offsets[lo+1 : hi+1]
	left := stride
	for u := range n {
		row := g.Row(uint32(u))
		for first := true; first || len(row) > 0; first = false {
			piece := row[:min(len(row), stride)]
			row = row[len(piece):]
			for _, v := range piece {
				if i := int64(v) - int64(lo); uint64(i) < uint64(len(own)) {
					rev.Targets[own[i]] = uint32(u)
					own[i]++
				}
			}
			if left -= len(piece) + 1; left <= 0 {
				if err := j.step(ctx, stride, m*parts); err != nil {
					return err
				}
				left = stride
			}
		}
	}
	return nil
}
