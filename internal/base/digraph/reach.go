package digraph

import (
	"context"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// A Reach is a set of nodes that is closed under reachability: adding a node adds everything
// reachable from it. It is for one goroutine at a time. It can be reused: emptying it takes time
// proportional to its content, at most n/64 steps.
type Reach struct {
	g    *Graph
	job  *job
	left int // nodes and edges until the next check of ctx, kept across calls of Add for millions of small sets
	seen bitmap
	list *offheap.Array[uint32] // the nodes of the set in the order in which they were added
	n    int
}

// NewReach returns an empty set. It takes n/8 bytes, and 4 bytes for each node of the largest set,
// until Free. opt applies to all methods; they use one goroutine.
func (g *Graph) NewReach(opt Options) (*Reach, error) {
	n := g.Nodes()
	r := &Reach{g: g, job: opt.job("reachable nodes"), left: stride}
	var err error
	if r.seen, err = newBitmap(opt.Budget, n); err != nil {
		return nil, err
	}
	if r.list, err = offheap.Reserve[uint32](opt.Budget, n); err != nil {
		r.seen.Free()
		return nil, err
	}
	return r, nil
}

// Free releases the memory.
func (r *Reach) Free() {
	if r == nil {
		return
	}
	r.seen.Free()
	r.list.Free()
	r.n = 0
}

// Has reports whether a node is in the set.
func (r *Reach) Has(u uint32) bool {
	if r == nil {
		return false
	}
	return r.seen.has(u)
}

// Bits returns the set as a bitmap: node u is in it if bit u%64 of word u/64 is set. It changes with the set.
func (r *Reach) Bits() []uint64 { return r.seen.words }

// Nodes returns the nodes of the set, breadth-first from the sources. It is valid until the set
// changes.
func (r *Reach) Nodes() []uint32 {
	if r == nil {
		return nil
	}
	return r.list.Slice()[:r.n]
}

// Reset empties the set.
func (r *Reach) Reset() {
	if r == nil {
		return
	}
	if r.n > len(r.seen.words) {
		clear(r.seen.words)
	} else {
		for _, u := range r.Nodes() {
			r.seen.remove(u)
		}
	}
	r.n = 0
}

// truncate removes everything after the first n nodes.
func (r *Reach) truncate(n int) {
	for _, u := range r.Nodes()[n:] {
		r.seen.remove(u)
	}
	r.n = n
}

// Add adds the sources and everything reachable from them. It returns the new nodes and the sum of
// their sizes. Nodes in the set are not visited again, so many calls cost no more than one, and the
// sum for a later source counts what only it reaches. sizes are by node, in any unit; nodes past
// its end count 0. After an error the set is incomplete until Reset.
func (r *Reach) Add(ctx context.Context, sources []uint32, sizes []uint32) (nodes []uint32, sum uint64, err error) {
	return r.add(ctx, sources, sizes, nil)
}

// add is Add, except that it does not enter the nodes in without.
func (r *Reach) add(ctx context.Context, sources []uint32, sizes []uint32, without []uint64) (nodes []uint32, sum uint64, err error) {
	begin := r.n
	if err := r.take(ctx, sources, without); err != nil {
		return nil, 0, err
	}
	var look rows
	for at := begin; at < r.n; {
		some := r.list.Slice()[at:min(r.n, at+ahead)]
		look.look(r.g, some)
		for _, u := range some {
			if int64(u) < int64(len(sizes)) {
				sum += uint64(sizes[u])
			}
		}
		for i := range some {
			if err := r.take(ctx, r.g.Targets[look.from[i]:look.to[i]], without); err != nil {
				return nil, 0, err
			}
		}
		at += len(some)
		if r.left -= len(some); r.left <= 0 {
			r.left = stride
			r.job.done.Store(uint64(r.n))
			if err := r.job.step(ctx, 0, uint64(r.g.Nodes())); err != nil {
				return nil, 0, err
			}
		}
	}
	return r.list.Slice()[begin:r.n], sum, nil
}

// take adds the nodes of a row that are not in the set.
func (r *Reach) take(ctx context.Context, row []uint32, without []uint64) error {
	for len(row) > 0 {
		piece := row[:min(len(row), stride)]
		row = row[len(piece):]
		if r.n+len(piece) > len(r.list.Slice()) {
			if err := r.list.Grow(min(r.list.Cap(), 2*(r.n+len(piece))+1024)); err != nil {
				return err
			}
		}
		list := r.list.Slice()
		for _, v := range piece {
			if r.seen.has(v) || without != nil && without[v/64]&(1<<(v%64)) != 0 {
				continue
			}
			r.seen.add(v)
			list[r.n] = v
			r.n++
		}
		if r.left -= len(piece); len(row) > 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
