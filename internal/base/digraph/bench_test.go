package digraph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/offheap"
)

// A heap is a graph shaped like the heap of a server. Each container holds 512 records of 8
// neighboring objects, which form trees. Objects also refer back to their holders and to hubs; some
// hubs have many referrers. shuffled is the fraction of records that lie out of order; cross is the
// number of references per record to a random other record. There are 1.75 + cross/8 edges per
// node.
type heap struct {
	*digraph.Graph
	sizes   *offheap.Array[uint32]
	root    uint32 // holds all containers; the last node
	offsets *offheap.Array[uint32]
	targets *offheap.Array[uint32]
}

const (
	hubs       = 1000
	recordSize = 8
	records    = 512 // per container
)

func newHeap(tb testing.TB, budget *offheap.Budget, nodes int, shuffled, cross float64) *heap {
	r := rand.New(rand.NewPCG(1, 2))
	containers := max(1, (nodes-hubs-1)/(1+records*recordSize))
	n := hubs + containers*(1+records*recordSize) + 1
	h := &heap{root: uint32(n - 1)}
	h.offsets, h.targets, h.sizes = array(tb, budget, n+1), array(tb, budget, 2*n), array(tb, budget, n)
	order := array(tb, nil, containers*records).Slice() // the record in each slot
	var moved []int
	for i := range order {
		order[i] = uint32(i)
		if r.Float64() < shuffled {
			moved = append(moved, i)
		}
	}
	for i := range moved {
		j := i + r.IntN(len(moved)-i)
		order[moved[i]], order[moved[j]] = order[moved[j]], order[moved[i]]
		moved[i], moved[j] = moved[j], moved[i] // a random permutation
	}
	head := func(record uint32) uint32 {
		return hubs + record/records*(1+records*recordSize) + 1 + record%records*recordSize
	}
	u, m := 0, 0
	offsets, targets, sizes := h.offsets.Slice(), h.targets.Slice(), h.sizes.Slice()
	node := func(row ...uint32) {
		m += copy(targets[m:], row)
		sizes[u] = 3 + uint32(u%5)
		u++
		offsets[u] = uint32(m)
	}
	hub := func() uint32 { f := r.Float64(); return uint32(f * f * f * hubs) }
	for range hubs {
		node()
	}
	for c := range containers {
		m += copy(targets[m:], mapped(order[c*records:(c+1)*records], head))
		node()
		for range records {
			a := uint32(u)
			node(a+1, a+2, a+3)
			node(a+4, a+5, a)
			node(a+6, a+7, hub())
			node(hub())
			node(a+1, hub())
			node()
			node(hub())
			if r.Float64() < cross {
				node(head(r.Uint32N(uint32(containers * records))))
			} else {
				node()
			}
		}
	}
	for c := range containers {
		targets[m] = uint32(hubs + c*(1+records*recordSize))
		m++
	}
	node()
	h.targets.Shrink(m)
	h.Graph = &digraph.Graph{Offsets: offsets, Targets: h.targets.Slice()}
	return h
}

func mapped(list []uint32, f func(uint32) uint32) []uint32 {
	out := make([]uint32, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

func array(tb testing.TB, budget *offheap.Budget, n int) *offheap.Array[uint32] {
	a, err := offheap.Make[uint32](budget, n)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func (h *heap) Free() {
	h.offsets.Free()
	h.targets.Free()
	h.sizes.Free()
}

// heapSizes returns the numbers of nodes for benchmarks, in millions: 1 and 11, or the list in
// SOSGO_BENCH_NODES, such as "1 4 18 40 200". 200 million take 7 GB.
func heapSizes(tb testing.TB) []int {
	var sizes []int
	for _, word := range strings.Fields(os.Getenv("SOSGO_BENCH_NODES")) {
		n, err := strconv.Atoi(word)
		if err != nil {
			tb.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	if len(sizes) == 0 {
		return []int{1, 11}
	}
	return sizes
}

// eachHeap runs f b.N times over well ordered and over shuffled heaps. Times are per node. The peak
// counts all arrays, including the heap: 4 bytes per node, 4 per edge and 4 per node for sizes.
func eachHeap(b *testing.B, f func(b *testing.B, h *heap, opt digraph.Options)) {
	for _, millions := range heapSizes(b) {
		for _, kind := range []struct{ shuffled, cross float64 }{{0.1, 0.1}, {1, 1}} {
			b.Run(fmt.Sprintf("nodes=%dM/shuffled=%v", millions, kind.shuffled), func(b *testing.B) {
				budget := offheap.NewBudget(0)
				h := newHeap(b, budget, millions*1_000_000, kind.shuffled, kind.cross)
				defer h.Free()
				budget.ResetPeak()
				phases := map[string]time.Duration{}
				var order []string
				phase, last := "", cpuTime()
				opt := digraph.Options{Budget: budget, Progress: func(p digraph.Progress) {
					now := cpuTime()
					if phase != p.Phase {
						phase = p.Phase
						order = append(order, phase)
					}
					phases[phase] += now - last
					last = now
				}}
				b.ResetTimer()
				begin := cpuTime()
				for range b.N {
					phase, last, order = "", cpuTime(), nil
					f(b, h, opt)
				}
				n := float64(h.Nodes())
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
				b.ReportMetric((cpuTime()-begin).Seconds()/float64(b.N), "cpu-s")
				b.ReportMetric(float64(budget.Peak())/n, "peakB/node")
				b.ReportMetric(float64(h.Edges())/n, "edges/node")
				if testing.Verbose() {
					for _, name := range order {
						b.Logf("%-24s %6.2f CPU s", name, phases[name].Seconds()/float64(b.N))
					}
				}
			})
		}
	}
}

func BenchmarkDominators(b *testing.B) {
	ctx := context.Background()
	eachHeap(b, func(b *testing.B, h *heap, opt digraph.Options) {
		d, err := h.Dominators(ctx, h.root, nil, opt)
		if err != nil {
			b.Fatal(err)
		}
		retained, err := d.Retained(ctx, h.sizes.Slice(), nil, opt)
		if err != nil {
			b.Fatal(err)
		}
		retained.Free()
		d.Free()
	})
}

func BenchmarkChildren(b *testing.B) {
	ctx := context.Background()
	eachHeap(b, func(b *testing.B, h *heap, opt digraph.Options) {
		b.StopTimer()
		d, err := h.Dominators(ctx, h.root, nil, opt)
		if err != nil {
			b.Fatal(err)
		}
		defer d.Free()
		b.StartTimer()
		children, err := d.Children(ctx, h.Graph, opt)
		if err != nil {
			b.Fatal(err)
		}
		children.Free()
	})
}

func BenchmarkShortestPaths(b *testing.B) {
	eachHeap(b, func(b *testing.B, h *heap, opt digraph.Options) {
		parents, err := h.ShortestPaths(context.Background(), []uint32{h.root}, opt)
		if err != nil {
			b.Fatal(err)
		}
		parents.Free()
	})
}

func BenchmarkReverse(b *testing.B) {
	eachHeap(b, func(b *testing.B, h *heap, opt digraph.Options) {
		rev, err := h.Reverse(context.Background(), opt)
		if err != nil {
			b.Fatal(err)
		}
		rev.Free()
	})
}

func BenchmarkReach(b *testing.B) {
	eachHeap(b, func(b *testing.B, h *heap, opt digraph.Options) {
		set, err := h.NewReach(opt)
		if err != nil {
			b.Fatal(err)
		}
		defer set.Free()
		if _, _, err := set.Add(context.Background(), []uint32{h.root}, h.sizes.Slice()); err != nil {
			b.Fatal(err)
		}
	})
}
