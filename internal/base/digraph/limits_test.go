package digraph_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// chainGraph returns a circular list of n nodes.
func chainGraph(tb testing.TB, budget *offheap.Budget, n int) *digraph.Graph {
	offsets, targets := array(tb, budget, n+1), array(tb, budget, n)
	tb.Cleanup(func() {
		offsets.Free()
		targets.Free()
	})
	for u := range n {
		offsets.Slice()[u+1] = uint32(u + 1)
		targets.Slice()[u] = uint32((u + 1) % n)
	}
	return &digraph.Graph{Offsets: offsets.Slice(), Targets: targets.Slice()}
}

// starGraph returns a hub with m spokes. The hub holds the spokes; each spoke holds the hub and the
// last spoke.
func starGraph(tb testing.TB, budget *offheap.Budget, m int) *digraph.Graph {
	offsets, targets := array(tb, budget, m+2), array(tb, budget, 3*m)
	tb.Cleanup(func() {
		offsets.Free()
		targets.Free()
	})
	o, e := offsets.Slice(), targets.Slice()
	o[1] = uint32(m)
	for u := 1; u <= m; u++ {
		e[u-1] = uint32(u)
		e[m+2*u-2], e[m+2*u-1] = 0, uint32(m)
		o[u+1] = uint32(m + 2*u)
	}
	return &digraph.Graph{Offsets: o, Targets: e}
}

// all runs every algorithm from node 0 and returns checksums of the results.
func all(tb testing.TB, g *digraph.Graph, opt digraph.Options) []uint64 {
	ctx := context.Background()
	d, err := g.Dominators(ctx, 0, nil, opt)
	require.NoError(tb, err)
	defer d.Free()
	ones := array(tb, opt.Budget, g.Nodes())
	defer ones.Free()
	classes := array(tb, opt.Budget, g.Nodes())
	defer classes.Free()
	for i := range ones.Slice() {
		ones.Slice()[i] = 1
		classes.Slice()[i] = uint32(i % 100)
	}
	retained, err := d.Retained(ctx, ones.Slice(), nil, opt)
	require.NoError(tb, err)
	defer retained.Free()
	children, err := d.Children(ctx, g, opt)
	require.NoError(tb, err)
	defer children.Free()
	sums, err := digraph.SumByClass(ctx, children, 0, classes.Slice(), 100, retained, opt)
	require.NoError(tb, err)
	var tree []uint32
	beside, err := children.Reverse(ctx, opt)
	require.NoError(tb, err)
	defer beside.Free()
	for u := range uint32(g.Nodes()) {
		tree = append(children.Append(tree, u), beside.Row(u)...)
	}
	parents, err := g.ShortestPaths(ctx, []uint32{0}, opt)
	require.NoError(tb, err)
	defer parents.Free()
	held, err := g.Reverse(ctx, opt)
	require.NoError(tb, err)
	defer held.Free()
	set, err := g.NewReach(opt)
	require.NoError(tb, err)
	defer set.Free()
	_, bytes, err := set.Add(ctx, []uint32{0}, ones.Slice())
	require.NoError(tb, err)
	set.Reset()
	_, some, err := set.Add(ctx, []uint32{uint32(g.Nodes() - 1)}, ones.Slice())
	require.NoError(tb, err)
	entries, err := g.Entries(ctx, set.Bits(), opt)
	require.NoError(tb, err)
	defer entries.Free()
	forest, err := g.DepthFirst(ctx, []uint32{0}, opt)
	require.NoError(tb, err)
	defer forest.Free()
	chains, err := digraph.Chains(ctx, held, uint32(g.Nodes()/2), 3, func(u uint32) bool { return u == 0 }, nil, opt)
	require.NoError(tb, err)
	out := []uint64{bytes, some, uint64(len(d.Order)), uint64(d.Live), uint64(len(chains))}
	out = append(out, sums...)
	for _, list := range [][]uint32{d.Idom, d.Order, tree, retained.Low, parents.Slice(), held.Offsets, held.Targets,
		entries.Slice(), forest.Order, forest.Parent} {
		h := uint64(14695981039346656037)
		for _, x := range list {
			h = (h ^ uint64(x)) * 1099511628211
		}
		out = append(out, h)
	}
	return out
}

// TestDeepAndWide runs over a list of eight million nodes and a hub with four million spokes.
// Nothing recurses, and memory stays within the documented bounds. SOSGO_DEEP sets the length of
// the list in millions; 100 take 3 GB.
func TestDeepAndWide(t *testing.T) {
	n := testcase.Part(t, 4_000_000, 4)
	deep := 2 * n
	if millions, err := strconv.Atoi(os.Getenv("SOSGO_DEEP")); err == nil {
		deep = millions * 1_000_000
	}
	t.Run("list", func(t *testing.T) {
		deepOrWide(t, chainGraph, deep, 17, func(u uint32) uint32 { return u - 1 })
	})
	t.Run("star", func(t *testing.T) { // 16, 6 per edge outside the tree, 4 per edge into the last spoke
		deepOrWide(t, starGraph, n, 16+2*6+2*4+1, func(uint32) uint32 { return 0 })
	})
}

func deepOrWide(t *testing.T, make func(testing.TB, *offheap.Budget, int) *digraph.Graph, n, most int, idom func(uint32) uint32) {
	budget := offheap.NewBudget(0)
	g := make(t, budget, n)
	graph := budget.InUse()
	budget.ResetPeak()
	d, err := g.Dominators(context.Background(), 0, nil, digraph.Options{Budget: budget})
	require.NoError(t, err)
	peak := float64(budget.Peak()-graph) / float64(n)
	t.Logf("%.1f bytes a node at the peak, and %.1f for the graph", peak, float64(graph)/float64(n))
	require.Less(t, peak, float64(most))
	require.LessOrEqual(t, budget.Peak()-graph, digraph.DominatorBytes(uint64(g.Nodes()), uint64(g.Edges()), runtime.GOMAXPROCS(0)))
	for u := 1; u < g.Nodes(); u++ {
		if d.Idom[u] != idom(uint32(u)) {
			t.Fatalf("dominator of %d: %d", u, d.Idom[u])
		}
	}
	d.Free()
	require.Equal(t, graph, budget.InUse())
	g = make(t, budget, n/10)
	graph = budget.InUse()
	all(t, g, digraph.Options{Budget: budget})
	require.Equal(t, graph, budget.InUse())
}

// TestDominatorBytes: no graph takes more than DominatorBytes, whether the root reaches all of it,
// some or nothing.
func TestDominatorBytes(t *testing.T) {
	n := testcase.Part(t, 100_000, 4)
	alone := &digraph.Graph{Offsets: make([]uint32, n+1)}
	random := rand.New(rand.NewPCG(1, 7))
	thick := make([][]uint32, n/10)
	for range 30 {
		sprinkle(random, thick, n/10)
	}
	for name, g := range map[string]*digraph.Graph{"list": chainGraph(t, nil, n), "star": starGraph(t, nil, n), "heap": heapGraph(t, n), "alone": alone,
		"thick": graphOf(thick)} {
		for _, root := range []uint32{0, uint32(g.Nodes()) - 1, uint32(g.Nodes()) / 2} {
			for _, workers := range []int{1, 2, 8} {
				budget := offheap.NewBudget(0)
				d, err := g.DominatorsOfAll(context.Background(), root, digraph.Options{Budget: budget, Workers: workers})
				require.NoError(t, err)
				bound := digraph.DominatorBytes(uint64(g.Nodes()), uint64(g.Edges()), workers)
				require.LessOrEqual(t, budget.Peak(), bound, name)
				d.Free()
				require.Zero(t, budget.InUse())

				// It fails with one byte less than the peak, and succeeds with DominatorBytes.
				low := offheap.NewBudget(budget.Peak() - 1)
				d, err = g.DominatorsOfAll(context.Background(), root, digraph.Options{Budget: low, Workers: workers})
				if err != nil || workers == 1 { // several workers distribute blocks at random
					require.ErrorIs(t, err, target.ErrLimit, name)
				}
				d.Free()
				require.Zero(t, low.InUse())
				d, err = g.DominatorsOfAll(context.Background(), root, digraph.Options{Budget: offheap.NewBudget(bound), Workers: workers})
				require.NoError(t, err, name)
				d.Free()
			}
		}
	}
}

// TestListAndArray: on this graph the last pass of SEMI-NCA climbs a list from each of its
// elements, n²/2 steps, unless it jumps.
func TestListAndArray(t *testing.T) {
	k := 300_000
	offsets, targets := make([]uint32, 1, 2*k+2), make([]uint32, 0, 3*k)
	for u := range k {
		if u+1 < k {
			targets = append(targets, uint32(u+1))
		}
		targets = append(targets, uint32(k+u))
		offsets = append(offsets, uint32(len(targets)))
	}
	for range k {
		offsets = append(offsets, uint32(len(targets)))
	}
	for u := range k {
		targets = append(targets, uint32(k+u))
	}
	targets = append(targets, 0)
	offsets = append(offsets, uint32(len(targets))) // the array, which holds all; its last edge is to the list
	offsets = append(offsets, uint32(len(targets))+2)
	targets = append(targets, 0, uint32(2*k)) // the root's first edge is to the list
	g := &digraph.Graph{Offsets: offsets, Targets: targets}
	begin := time.Now()
	d, err := g.Dominators(context.Background(), uint32(2*k+1), nil, digraph.Options{})
	require.NoError(t, err)
	defer d.Free()
	t.Log(time.Since(begin))
	for u := range k {
		if d.Idom[k+u] != uint32(2*k+1) {
			t.Fatalf("element %d: %d", u, d.Idom[k+u])
		}
	}
	require.Equal(t, uint32(17), d.Idom[18])
}

// TestWorkers: results are equal for any number of workers. The graphs are large enough for all of
// them.
func TestWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := testcase.Part(t, 200_000, 2)
	edges := make([][]uint32, n)
	for u := 1; u < n; u++ {
		p := r.IntN(min(u, 1000))
		edges[p] = append(edges[p], uint32(u))
	}
	sprinkle(r, edges, n)
	for _, g := range []*digraph.Graph{graphOf(edges), chainGraph(t, nil, n), starGraph(t, nil, n), heapGraph(t, n)} {
		want := all(t, g, digraph.Options{Workers: 1})
		for _, workers := range []int{2, 3, 8} {
			require.Equal(t, want, all(t, g, digraph.Options{Workers: workers}), "%d workers", workers)
		}
	}
}

// A result is what a function returns; the caller frees it.
type result = interface{ Free() }

// functions returns all functions that may take long, bound to one graph.
func functions(tb testing.TB, g *digraph.Graph) map[string]func(ctx context.Context, opt digraph.Options) (result, error) {
	n := g.Nodes()
	bg := context.Background()
	held, err := g.Reverse(bg, digraph.Options{})
	require.NoError(tb, err)
	d, err := g.Dominators(bg, 0, nil, digraph.Options{})
	require.NoError(tb, err)
	children, err := d.Children(bg, g, digraph.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() {
		children.Free()
		held.Free()
		d.Free()
	})
	ones, none := make([]uint32, n), make([]uint64, n/64+1)
	var empty freed[byte]
	return map[string]func(ctx context.Context, opt digraph.Options) (result, error){
		"check":   func(ctx context.Context, opt digraph.Options) (result, error) { return empty, g.Check(ctx, opt) },
		"reverse": func(ctx context.Context, opt digraph.Options) (result, error) { return g.Reverse(ctx, opt) },
		"depth": func(ctx context.Context, opt digraph.Options) (result, error) {
			return g.DepthFirst(ctx, []uint32{0}, opt)
		},
		"paths": func(ctx context.Context, opt digraph.Options) (result, error) {
			list, err := g.ShortestPaths(ctx, []uint32{0}, opt)
			return freed[uint32]{list}, err
		},
		"dominators": func(ctx context.Context, opt digraph.Options) (result, error) { return g.Dominators(ctx, 0, nil, opt) },
		"all": func(ctx context.Context, opt digraph.Options) (result, error) {
			return g.DominatorsOfAll(ctx, uint32(n-1), opt)
		},
		"retained": func(ctx context.Context, opt digraph.Options) (result, error) { return d.Retained(ctx, ones, nil, opt) },
		"children": func(ctx context.Context, opt digraph.Options) (result, error) { return d.Children(ctx, g, opt) },
		"beside":   func(ctx context.Context, opt digraph.Options) (result, error) { return children.Reverse(ctx, opt) },
		"entries": func(ctx context.Context, opt digraph.Options) (result, error) {
			list, err := g.Entries(ctx, none, opt)
			return freed[uint32]{list}, err
		},
		"classes": func(ctx context.Context, opt digraph.Options) (result, error) {
			_, err := digraph.SumByClass(ctx, children, 0, ones, 1, nil, opt)
			return empty, err
		},
		"reach": func(ctx context.Context, opt digraph.Options) (result, error) {
			set, err := g.NewReach(opt)
			if err != nil {
				return empty, err
			}
			if _, _, err = set.Add(ctx, []uint32{0}, ones); err != nil {
				set.Free()
			}
			return set, err
		},
		"chains": func(ctx context.Context, opt digraph.Options) (result, error) {
			_, err := digraph.Chains(ctx, held, uint32(n-1), 1, func(uint32) bool { return false }, nil, opt)
			return empty, err
		},
	}
}

// TestCancel cancels every function before it begins and at many points, and checks the delay and
// the memory left.
func TestCancel(t *testing.T) {
	n := testcase.Part(t, 400_000, 4)
	for name, g := range map[string]*digraph.Graph{"list": chainGraph(t, nil, n), "star": starGraph(t, nil, n), "heap": heapGraph(t, n)} {
		for f, run := range functions(t, g) {
			t.Run(name+"/"+f, func(t *testing.T) {
				budget := offheap.NewBudget(0)
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_, err := run(ctx, digraph.Options{Budget: budget})
				require.ErrorIs(t, err, context.Canceled)
				require.Zero(t, budget.InUse())
				var late []time.Duration
				for after := 1; ; after = after*2 + 1 {
					took, err := cancelled(run, after, budget)
					require.Zero(t, budget.InUse())
					if err == nil {
						break
					}
					require.ErrorIs(t, err, context.Canceled)
					late = append(late, took)
				}
				if len(late) > 0 {
					slices.Sort(late)
					// The median, because the machine may be busy.
					require.Less(t, late[len(late)/2], 50*time.Millisecond)
				}
			})
		}
	}
}

// A counting context counts the calls of Err.
type counting struct {
	context.Context
	looks int
}

func (c *counting) Err() error {
	c.looks++
	return c.Context.Err()
}

// TestLooks: functions check their context every few thousand nodes or edges, for any size of
// graph. It counts checks instead of time, because a busy machine distorts time.
func TestLooks(t *testing.T) {
	n := testcase.Part(t, 400_000, 4)
	for name, g := range map[string]*digraph.Graph{"list": chainGraph(t, nil, n), "star": starGraph(t, nil, n), "heap": heapGraph(t, n)} {
		for f, run := range functions(t, g) {
			t.Run(name+"/"+f, func(t *testing.T) {
				ctx := &counting{Context: t.Context()}
				r, err := run(ctx, digraph.Options{Workers: 1})
				require.NoError(t, err)
				r.Free()
				require.Greater(t, ctx.looks, n/(1<<14))
			})
		}
	}
}

// cancelled cancels a function at one of its reports and returns how long it continued.
func cancelled(run func(context.Context, digraph.Options) (result, error), after int, budget *offheap.Budget) (time.Duration, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	count := 0
	var at time.Time
	r, err := run(ctx, digraph.Options{Budget: budget, Progress: func(digraph.Progress) {
		if count++; count == after {
			at = time.Now()
			cancel()
		}
	}})
	if err == nil {
		r.Free()
	}
	return time.Since(at), err
}

// heapGraph returns a heap that node 0 reaches completely.
func heapGraph(tb testing.TB, n int) *digraph.Graph {
	h := newHeap(tb, nil, n, 0.5, 0.5)
	tb.Cleanup(h.Free)
	// The first hub takes over the beginning of the first container's row.
	for u := range hubs {
		h.Offsets[u+1] = 1
	}
	h.Targets[0] = h.root
	return h.Graph
}

// TestBudget: every function checks its need before it begins, and frees everything when memory
// runs out on the way.
func TestBudget(t *testing.T) {
	runs := functions(t, starGraph(t, nil, 100_000))
	for limit := int64(1); limit < 1<<23; limit = limit*3/2 + 1 {
		budget := offheap.NewBudget(limit)
		opt := digraph.Options{Budget: budget}
		for name, run := range runs {
			result, err := run(context.Background(), opt)
			if err == nil {
				result.Free()
			} else {
				var need *offheap.LimitError
				require.ErrorAs(t, err, &need, name)
			}
			require.Zero(t, budget.InUse(), name)
			require.LessOrEqual(t, budget.Peak(), limit)
		}
	}
}

// FuzzDominators decodes edges from pairs of bytes.
func FuzzDominators(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 0, 3, 4, 4, 3})
	f.Add([]byte{0, 1, 0, 2, 1, 3, 2, 3, 3, 4, 5, 4, 5, 5})
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x0102030405060700))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 300 {
			return
		}
		const n = 24
		edges := make([][]uint32, n)
		for ; len(data) >= 2; data = data[2:] {
			edges[data[0]%n] = append(edges[data[0]%n], uint32(data[1]%n))
		}
		checkDominators(t, edges, 0, rand.New(rand.NewPCG(uint64(len(data)), 5)))
	})
}

// freed adapts an array to result.
type freed[T any] struct{ list *offheap.Array[T] }

func (f freed[T]) Free() { f.list.Free() }
