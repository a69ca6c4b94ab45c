package digraph

import (
	"context"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/workers"
)

// ShortestPaths returns the tree of the shortest paths from the roots to all reachable nodes: the
// predecessor of each node on its path. A root is its own predecessor; an unreached node has None.
// Among predecessors at the same distance, the lowest number wins. The result takes 4n bytes; the
// caller frees it. The function takes another 4n + n/8.
func (g *Graph) ShortestPaths(ctx context.Context, roots []uint32, opt Options) (*offheap.Array[uint32], error) {
	n := g.Nodes()
	if err := opt.Budget.Need("the shortest paths to all nodes", 8*int64(n)+int64(n)/8); err != nil {
		return nil, err
	}
	parents, err := offheap.Make[uint32](opt.Budget, n)
	if err != nil {
		return nil, err
	}
	queue, err := offheap.Make[uint32](opt.Budget, n)
	if err != nil {
		parents.Free()
		return nil, err
	}
	defer queue.Free()
	closed, err := newBitmap(opt.Budget, n)
	if err != nil {
		parents.Free()
		return nil, err
	}
	defer closed.Free()
	s := &search{g: g, parents: parents.Slice(), queue: queue.Slice(), closed: closed, job: opt.job("shortest paths")}
	err = opt.touch(ctx, s.parents)
	if err == nil {
		err = s.run(ctx, roots)
	}
	if err != nil {
		parents.Free()
		return nil, err
	}
	return parents, nil
}

// Path returns the path from a root to u in the tree of ShortestPaths, both included. It returns
// nil if u is unreached.
func Path(parents []uint32, u uint32) []uint32 {
	if parents[u] == None {
		return nil
	}
	var path []uint32
	for ; ; u = parents[u] {
		path = append(path, u)
		if parents[u] == u {
			break
		}
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// A search is breadth-first, level by level. The order within a level does not matter: a node
// outside the levels so far (closed) gets the lowest node that leads to it as parent. Workers agree
// by one compare-and-swap. For nodes of earlier levels they test a bit in a map that fits the
// cache.
type search struct {
	g       *Graph
	parents []uint32 // parent+1, or 0 for None, until run ends: new memory is zero
	queue   []uint32
	closed  bitmap // the current level and those before it
	job     *job
	tail    atomic.Int64
}

func (s *search) run(ctx context.Context, roots []uint32) error {
	for _, r := range roots {
		if s.parents[r] == 0 {
			s.parents[r] = r + 1
			s.queue[s.tail.Load()] = r
			s.tail.Add(1)
		}
	}
	for head := 0; head < int(s.tail.Load()); {
		level := s.queue[head:s.tail.Load()]
		head += len(level)
		for i, u := range level {
			s.closed.add(u)
			if i%stride == stride-1 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := s.level(ctx, level); err != nil {
			return err
		}
	}
	return s.job.spans(ctx, len(s.parents), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			s.parents[i]-- // 0 becomes None
		}
	})
}

// levelPiece is the number of nodes of a level that a worker takes at once. Other workers join if
// there are at least two pieces.
const levelPiece = 4096

func (s *search) level(ctx context.Context, level []uint32) error {
	count := min(s.job.workers, len(level)/levelPiece)
	if count <= 1 {
		return s.alone(ctx, level)
	}
	var next atomic.Int64
	var group workers.Group
	for range count {
		group.Go(func() {
			for {
				lo := int(next.Add(levelPiece)) - levelPiece
				if lo >= len(level) || s.together(ctx, level[lo:min(lo+levelPiece, len(level))]) != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// ahead is how many starts of rows are loaded together, so that the processor waits for all of them
// at once. These loads are most of the time on shuffled heaps.
const ahead = 32

// rows holds the bounds of some rows of a graph, loaded together.
type rows struct {
	from, to [ahead]uint32
	first    uint32 // keeps loads alive, so that the targets are fetched too
}

func (r *rows) look(g *Graph, nodes []uint32) {
	nodes = nodes[:min(len(nodes), ahead)]
	for i, u := range nodes {
		r.from[i], r.to[i] = g.Offsets[u], g.Offsets[u+1]
	}
	for i := range nodes {
		// Empty rows are included: testing for them would wait for the load.
		if k := r.from[i]; int(k) < len(g.Targets) {
			r.first ^= g.Targets[k]
		}
	}
}

// alone expands a level on one goroutine.
func (s *search) alone(ctx context.Context, level []uint32) error {
	var r rows
	tail := int(s.tail.Load())
	left := stride
	for len(level) > 0 {
		some := level[:min(len(level), ahead)]
		level = level[len(some):]
		r.look(s.g, some)
		for i, u := range some {
			for from := r.from[i]; from < r.to[i]; {
				to := from + min(r.to[i]-from, stride)
				for _, v := range s.g.Targets[from:to] {
					if s.closed.has(v) {
						continue
					}
					if p := s.parents[v]; p == 0 {
						s.queue[tail] = v
						tail++
					} else if p <= u+1 {
						continue
					}
					s.parents[v] = u + 1
				}
				if left -= int(to - from); left <= 0 {
					if err := s.job.step(ctx, 0, uint64(len(s.parents))); err != nil {
						return err
					}
					left = stride
				}
				from = to
			}
		}
	}
	_ = s.job.step(context.Background(), uint64(tail)-uint64(s.tail.Load()), uint64(len(s.parents)))
	s.tail.Store(int64(tail))
	return ctx.Err()
}

// together expands a piece of a level while other workers expand other pieces.
func (s *search) together(ctx context.Context, piece []uint32) error {
	var r rows
	var found [1024]uint32
	k, all := 0, 0
	flush := func() {
		at := int(s.tail.Add(int64(k))) - k
		copy(s.queue[at:], found[:k])
		k, all = 0, all+k
	}
	left := stride
	for len(piece) > 0 {
		some := piece[:min(len(piece), ahead)]
		piece = piece[len(some):]
		r.look(s.g, some)
		for i, u := range some {
			for _, v := range s.g.Targets[r.from[i]:r.to[i]] {
				if left--; left == 0 {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					left = stride
				}
				if s.closed.has(v) || !lower(&s.parents[v], u+1) {
					continue
				}
				found[k] = v
				if k++; k == len(found) {
					flush()
				}
			}
		}
	}
	flush()
	return s.job.step(ctx, uint64(all), uint64(len(s.parents)))
}

// lower sets *parent to p if it is unset or higher than p. It reports whether it was unset.
func lower(parent *uint32, p uint32) (first bool) {
	for {
		old := atomic.LoadUint32(parent)
		if old != 0 && old <= p {
			return false
		}
		if atomic.CompareAndSwapUint32(parent, old, p) {
			return old == 0
		}
	}
}
