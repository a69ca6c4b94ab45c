// Package digraph implements algorithms on large directed graphs: reversal, shortest paths,
// depth-first order, exact dominators with sums along them, reachable sets, entry points of
// unreachable parts, and disjoint chains. Nodes and edges are numbers; the package knows no heaps
// or dumps.
//
// A graph is stored in compressed rows ([Graph]): 4 bytes per node and per edge. The package is
// designed for 10^6 to 10^9 edges. Arrays are outside Go's heap (package offheap) and freed at the
// end of the phase that needs them. Nothing recurses. Each function states its memory in bytes per
// node (n nodes, m edges), all charged to Options.Budget. Results depend on the graph alone, never
// on the number of workers. No function changes its graph, and a graph is safe for concurrent use.
//
// Functions return ctx.Err() within milliseconds after ctx is done, and free their memory, as for
// every other error. The numbers in a graph are trusted; use [Graph.Check] for rows of doubtful
// origin.
package digraph

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// None is the absence of a node: in results it marks an unreached node.
const None = ^uint32(0)

// MaxNodes and MaxEdges bound the nodes and edges of a graph. One number is None, and one is
// reserved for the pseudo root of Dominators.
const (
	MaxNodes = 1<<32 - 3
	MaxEdges = 1<<32 - 1
)

// A SizeError reports a graph that is too large for 32-bit numbers. It wraps target.ErrLimit.
type SizeError struct{ Nodes, Edges uint64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("a graph of %d nodes and %d edges: %d nodes and %d edges are the most that can be numbered", e.Nodes, e.Edges,
		uint64(MaxNodes), uint64(MaxEdges))
}

// Unwrap returns target.ErrLimit.
func (e *SizeError) Unwrap() error { return target.ErrLimit }

// CheckSize returns a *SizeError if there are more than MaxNodes or MaxEdges.
func CheckSize(nodes, edges uint64) error {
	if nodes > MaxNodes || edges > MaxEdges {
		return &SizeError{nodes, edges}
	}
	return nil
}

// A Graph has nodes 0 to n-1 and m edges. The edges of node u lead to
// Targets[Offsets[u]:Offsets[u+1]], in any order; loops and repeated edges are allowed. There are
// n+1 ascending offsets; the first is 0 and the last m. The zero Graph has no nodes.
type Graph struct {
	Offsets []uint32
	Targets []uint32

	owned [2]*offheap.Array[uint32]
}

// Nodes returns n.
func (g *Graph) Nodes() int {
	if g == nil {
		return 0
	}
	return max(0, len(g.Offsets)-1)
}

// Edges returns m.
func (g *Graph) Edges() int { return len(g.Targets) }

// Row returns the targets of u's edges, with duplicates, in the row's order.
func (g *Graph) Row(u uint32) []uint32 { return g.Targets[g.Offsets[u]:g.Offsets[u+1]] }

// Free releases the rows if this package made them (Reverse, Children). They must not be used
// afterwards. Other graphs stay unchanged. Free may be called again.
func (g *Graph) Free() {
	if g != nil && g.owned[0] != nil {
		g.owned[0].Free()
		g.owned[1].Free()
		*g = Graph{}
	}
}

// Check reads the whole graph. It returns target.ErrCorrupt if offsets descend or do not fit
// Targets, or if a target is not a node.
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

// Options configures all functions. The zero value uses all processors, counts no memory and reports nothing.
type Options struct {
	Workers  int             // maximum number of goroutines at work; 0 means GOMAXPROCS
	Budget   *offheap.Budget // charged for all arrays, results included, until they are freed; may be nil
	Progress func(Progress)  // called now and then, never concurrently; may be nil
}

// Progress is the progress of a function. It may have several phases; each begins with 0 done.
type Progress struct {
	Phase       string // for people: "depth-first order"
	Done, Total uint64 // nodes or edges, depending on the phase
}

// A job is one phase of a running function.
type job struct {
	workers int
	phase   string
	report  func(Progress)
	mu      sync.Mutex // guards report
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

// stride is how many nodes or edges a loop processes between checks of its context: a tenth of a
// millisecond, or 5 ms if each touches a new page.
const stride = 1 << 13

// step is called by single-goroutine loops after more of total nodes or edges.
func (j *job) step(ctx context.Context, more, total uint64) error {
	done := j.done.Add(more)
	if j.report != nil && j.mu.TryLock() {
		j.report(Progress{j.phase, done, total})
		j.mu.Unlock()
	}
	return ctx.Err()
}

// spans calls f for all of 0 to n in pieces of at most stride, from all of the job's workers. The
// assignment of pieces to workers is not fixed; the first worker is 0.
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
			_ = j.step(ctx, uint64(hi-lo), uint64(n)) // the next piece checks ctx
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

// touch makes the system allocate the memory of an array that will be written completely, in order
// and by all workers. The system zeroes large pages at first touch. Zeroing all of them within one
// stride would take tens of milliseconds without a check of ctx.
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

// rowOf returns the node whose row contains an edge.
func (g *Graph) rowOf(edge int) int {
	return sort.Search(g.Nodes(), func(u int) bool { return int(g.Offsets[u+1]) > edge })
}

// freeAll frees several arrays.
func freeAll[T any](arrays ...*offheap.Array[T]) {
	for _, a := range arrays {
		a.Free()
	}
}
