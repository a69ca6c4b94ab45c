package digraph

import (
	"context"

	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/workers"
)

// Rows are the edges of a graph by node. [Graph] and [Reversed] implement it.
type Rows interface {
	Nodes() int
	Edges() int
	Row(u uint32) []uint32
	Free()
}

// Reverse returns the graph with all edges reversed: the row of a node holds the nodes with an edge
// to it, ascending, one per edge. The result takes 4n + 4m bytes; the caller frees it.
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

// reverseInto assigns each worker a range of nodes. The worker reads all edges and processes those
// into its range. Reading is sequential and cheap. The expensive part is the counter and the cell
// of each edge, which need neither locks nor sorting.
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
	// Offsets[u+1] is where u's next referrer goes; at the end it is the end of the row.
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
	return fill.parts(n, func(lo, hi int) error {
		own := rev.Offsets[lo+1 : hi+1]
		return g.eachRun(ctx, fill, func(u uint32, e, end int) uint32 {
			for ; e < end; u++ {
				row := g.Targets[e:min(end, int(g.Offsets[u+1]))]
				for _, v := range row {
					if i := int64(v) - int64(lo); uint64(i) < uint64(len(own)) {
						rev.Targets[own[i]] = u
						own[i]++
					}
				}
				if e += len(row); e < int(g.Offsets[u+1]) {
					break
				}
			}
			return u
		})
	})
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

// Reversed is a graph with all edges reversed, based on its dominator tree. A node with a single
// referrer, as half to four fifths of all objects, is immediately dominated by it. Only the rows of
// the other nodes are stored: on real heaps a third of the 4n + 4m bytes of Graph.Reverse, and less
// time. It is valid as long as the Children are.
type Reversed struct {
	c    *Children
	rows *sparse // of the nodes in c.more
}

// Reverse returns the graph with all edges reversed. The result takes n/16 bytes, and 4 for each
// node with several referrers and for each of these referrers. The caller frees it.
func (c *Children) Reverse(ctx context.Context, opt Options) (_ *Reversed, err error) {
	g, s := c.g, &sparse{has: bitmap{words: c.more.words}}
	defer func() {
		if err != nil {
			s.Free()
		}
	}()
	if err = s.index(opt.Budget); err != nil {
		return nil, err
	}
	n := g.Nodes()
	count := opt.job("counting referrers")
	count.workers = min(opt.workers(), 8, n/leastPart+1)
	err = count.parts(n, func(lo, hi int) error {
		for e := 0; e < g.Edges(); e += stride {
			for _, v := range g.Targets[e:min(g.Edges(), e+stride)] {
				if i := int64(v) - int64(lo); uint64(i) < uint64(hi-lo) && s.has.has(v) {
					s.ends[s.rank(v)+1]++
				}
			}
			if err := count.step(ctx, stride, uint64(g.Edges())*uint64(count.workers)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err = s.room(ctx, opt.Budget); err != nil {
		return nil, err
	}
	fill := opt.job("turning edges round")
	fill.workers = count.workers
	return &Reversed{c, s}, fill.parts(n, func(lo, hi int) error {
		return g.eachRun(ctx, fill, func(u uint32, e, end int) uint32 {
			for ; e < end; u++ {
				row := g.Targets[e:min(end, int(g.Offsets[u+1]))]
				for _, v := range row {
					if i := int64(v) - int64(lo); uint64(i) < uint64(hi-lo) && s.has.has(v) {
						k := s.rank(v) + 1
						s.targets[s.ends[k]] = u
						s.ends[k]++
					}
				}
				if e += len(row); e < int(g.Offsets[u+1]) {
					break
				}
			}
			return u
		})
	})
}

// eachRun calls f with runs of stride edges, in order: the numbers of the edges, and a node whose
// row contains the first edge or ends before it. f returns this node for the next run.
func (g *Graph) eachRun(ctx context.Context, j *job, f func(u uint32, from, to int) uint32) error {
	m, u := g.Edges(), uint32(0)
	for e := 0; e < m; e += stride {
		u = f(u, e, min(m, e+stride))
		if err := j.step(ctx, stride, uint64(m)*uint64(j.workers)); err != nil {
			return err
		}
	}
	return nil
}

// Nodes returns the number of nodes.
func (r *Reversed) Nodes() int { return r.c.g.Nodes() }

// Edges returns the number of edges.
func (r *Reversed) Edges() int { return r.c.g.Edges() }

// Row returns the nodes with an edge to u, ascending, one per edge.
func (r *Reversed) Row(u uint32) []uint32 {
	switch {
	case r.c.more.has(u):
		return r.rows.row(u)
	case r.c.near.has(u):
		return r.c.idom[u : u+1 : u+1]
	}
	return nil
}

// Free releases the memory.
func (r *Reversed) Free() {
	if r != nil {
		r.rows.Free()
	}
}
