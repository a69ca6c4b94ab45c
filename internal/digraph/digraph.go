// Package digraph has algorithms over large directed graphs: reverse rows, shortest paths, depth-first order, exact
// dominators with what is summed up along them, reachable sets, the entry points of what is unreachable, and disjoint
// chains. It knows nodes and edges as numbers, and nothing of heaps or dumps.
//
// A graph is held in compressed rows ([Graph]): 4 bytes for a node and 4 for an edge. Everything is made for 10^6 to
// 10^9 edges: arrays lie outside Go's heap (package offheap) and are freed at the end of the phase that needs them,
// nothing recurses, and what the algorithms take is said in bytes per node at each function (n nodes, m edges, all of it
// charged to Options.Budget). All results depend on the graph alone, never on how many workers there were. No function
// changes its graph, and a graph may be used by many goroutines at once.
//
// Functions end with ctx.Err() within some milliseconds after ctx is done, and have freed what they took then, as with
// every other error. The numbers in a graph are trusted; [Graph.Check] is for rows of doubtful origin.
package digraph

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/offheap"
	"github.com/sosgo/sosgo/internal/workers"
	"github.com/sosgo/sosgo/target"
)

// None stands for no node: where a result has it, the node was not reached.
const None = ^uint32(0)

// MaxNodes and MaxEdges are how many nodes and edges a graph may have. One number is None, and one is kept for the
// pseudo root of Dominators.
const (
	MaxNodes = 1<<32 - 3
	MaxEdges = 1<<32 - 1
)

// A SizeError is a graph that is too big for 32-bit numbers. It is target.ErrUnsupported.
type SizeError struct {
	Nodes, Edges uint64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("a graph of %d nodes and %d edges: %d nodes and %d edges are the most that can be numbered", e.Nodes, e.Edges,
		uint64(MaxNodes), uint64(MaxEdges))
}

// Unwrap is target.ErrUnsupported.
func (e *SizeError) Unwrap() error { return target.ErrUnsupported }

// CheckSize returns a *SizeError if there are more than MaxNodes or MaxEdges.
func CheckSize(nodes, edges uint64) error {
	if nodes > MaxNodes || edges > MaxEdges {
		return &SizeError{nodes, edges}
	}
	return nil
}

// A Graph is n nodes, 0 to n-1, and m edges. The edges of node u lead to Targets[Offsets[u]:Offsets[u+1]], in an order
// of their own; edges to u itself and several to the same node are allowed. There are n+1 offsets, which don't fall;
// the first is 0 and the last m. The zero Graph has no nodes.
type Graph struct {
	Offsets []uint32
	Targets []uint32

	owned [2]*offheap.Array[uint32]
}

// Nodes is n.
func (g *Graph) Nodes() int { return max(0, len(g.Offsets)-1) }

// Edges is m.
func (g *Graph) Edges() int { return len(g.Targets) }

// Row returns what the edges of a node lead to, with duplicates, in the row's order.
func (g *Graph) Row(u uint32) []uint32 { return g.Targets[g.Offsets[u]:g.Offsets[u+1]] }

// Free releases the rows if this package made them (Reverse, Children), at once: nobody may use them any more.
// Otherwise, and the second time, it does nothing.
func (g *Graph) Free() {
	if g != nil && g.owned[0] != nil {
		g.owned[0].Free()
		g.owned[1].Free()
		*g = Graph{}
	}
}

// Check reads the whole graph and returns target.ErrCorrupt if offsets fall or don't fit the targets, or a target is no
// node.
func (g *Graph) Check(ctx context.Context, opt Options) error {
	n, m := g.Nodes(), g.Edges()
	if err := CheckSize(uint64(n), uint64(m)); err != nil {
		return err
	}
	if n == 0 && m == 0 {
		return nil
	}
	if n == 0 || g.Offsets[0] != 0 || g.Offsets[n] != uint32(m) {
		return target.Corruptf("rows of %d edges don't begin and end with the offsets of %d nodes", m, n)
	}
	var bad atomic.Bool
	job := opt.job("check")
	err := job.spans(ctx, n, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			if g.Offsets[u] > g.Offsets[u+1] {
				bad.Store(true)
			}
		}
	})
	if err == nil {
		err = job.spans(ctx, m, func(_, lo, hi int) {
			for _, v := range g.Targets[lo:hi] {
				if int64(v) >= int64(n) {
					bad.Store(true)
				}
			}
		})
	}
	if err == nil && bad.Load() {
		err = target.Corruptf("the rows of %d nodes and %d edges don't fit together", n, m)
	}
	return err
}

// Options are the same for all functions. The zero value uses all processors, counts no memory and reports nothing.
type Options struct {
	Workers  int             // how many goroutines may work at once; 0 is as many as Go uses processors
	Budget   *offheap.Budget // charged for all arrays, results included, until they are freed; nil counts nothing
	Progress func(Progress)  // called now and then, never by two goroutines at once; nil is nobody
}

// Progress is how far a function is. A function may have several phases; each begins with 0 done.
type Progress struct {
	Phase       string // for people: "depth-first order"
	Done, Total uint64 // nodes or edges, as the phase counts
}

// A job is one phase of a function at work.
type job struct {
	workers int
	phase   string
	report  func(Progress)
	mu      sync.Mutex // of report
	done    atomic.Uint64
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) job(phase string) *job {
	return &job{workers: o.workers(), phase: phase, report: o.Progress}
}

// stride is after how many nodes or edges a loop looks at its context: a tenth of a millisecond's work, or 5 where each
// is the first touch of a page. A look costs nanoseconds.
const stride = 1 << 13

// step is called by loops of one goroutine after so many more nodes or edges of total.
func (j *job) step(ctx context.Context, more, total uint64) error {
	done := j.done.Add(more)
	if j.report != nil && j.mu.TryLock() {
		j.report(Progress{j.phase, done, total})
		j.mu.Unlock()
	}
	return ctx.Err()
}

// spans calls f for all of 0 to n in pieces of at most stride, from as many goroutines as the job has workers. Which
// worker gets which piece is open; the first worker is 0.
func (j *job) spans(ctx context.Context, n int, f func(worker, lo, hi int)) error {
	count := min(j.workers, (n+stride-1)/stride)
	var next atomic.Int64
	work := func(w int) {
		for {
			lo := int(next.Add(stride)) - stride
			if lo >= n || ctx.Err() != nil {
				return
			}
			hi := min(n, lo+stride)
			f(w, lo, hi)
			_ = j.step(ctx, uint64(hi-lo), uint64(n)) // the next piece asks ctx
		}
	}
	if count <= 1 {
		work(0)
		return ctx.Err()
	}
	var group workers.Group
	for w := range count {
		group.Go(func() { work(w) })
	}
	group.Wait()
	return ctx.Err()
}

// touch has the system make the memory of an array that is then written all over, in order and by all workers. Large
// pages are filled with zeros at their first touch: all of them within one stride take tens of milliseconds, in which
// nobody would look at ctx.
func (o Options) touch(ctx context.Context, array []uint32) error {
	const piece = 1 << 18 // half a large page
	j := &job{workers: min(o.workers(), len(array)/piece+1)}
	return j.parts(len(array), func(lo, hi int) error {
		for i := lo; i < hi; i += piece {
			array[i] = 0
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// rowOf returns the node whose row has an edge.
func (g *Graph) rowOf(edge int) int {
	return sort.Search(g.Nodes(), func(u int) bool { return int(g.Offsets[u+1]) > edge })
}

// freer frees arrays when a function fails.
type freer interface{ Free() }

func freeAll(arrays ...freer) {
	for _, a := range arrays {
		a.Free()
	}
}
