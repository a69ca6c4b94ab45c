package graph

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
)

type typeCounts []typeCount

type typeCount struct {
	count, size uint64
	first       int // + 1
}

// CountLive counts the live objects that f selects, by type. The result equals Heap.Stats with f and LiveStarts,
// without reading the heap. Types are in the order of their first selected objects.
func (g *Graph) CountLive(ctx context.Context, f *heap.Filter) (heap.Stats, error) {
	return using(ctx, g, func(ctx context.Context) (heap.Stats, error) {
		live, err := g.Live(ctx)
		if err != nil {
			return heap.Stats{}, err
		}
		return g.countTypes(ctx, live, f)
	})
}

// CountTypes counts all objects by type. The result equals Heap.Stats without free blocks, without reading the
// heap. Types are in the order of their first objects.
func (g *Graph) CountTypes(ctx context.Context) (heap.Stats, error) {
	return using(ctx, g, func(ctx context.Context) (heap.Stats, error) {
		return g.countTypes(ctx, nil, &heap.Filter{})
	})
}

// countTypes counts the objects that f selects. If live is not nil, it counts only live objects.
func (g *Graph) countTypes(ctx context.Context, live *Liveness, f *heap.Filter) (heap.Stats, error) {
	refused := make([]bool, len(g.types))
	for i, mt := range g.types {
		refused[i] = f.Type != nil && !f.Type(mt)
	}
	most := cmp.Or(f.MaxSize, ^uint64(0))
	var mu sync.Mutex
	var all []typeCounts
	create := func() typeCounts {
		c := make(typeCounts, len(g.types))
		mu.Lock()
		defer mu.Unlock()
		all = append(all, c)
		return c
	}
	err := parallel(ctx, g.lazy.options.Workers, g.objects, numberPiece, create, func(c typeCounts, from, to int) {
		for n := from; n < to; n++ {
			if live != nil && !live.Live(Node(n)) {
				continue
			}
			t, size := g.TypeIndex(Node(n)), g.Size(Node(n))
			if refused[t] || size < f.MinSize || size > most {
				continue
			}
			k := &c[t]
			k.count++
			k.size += size
			if k.first == 0 || n < k.first-1 {
				k.first = n + 1
			}
		}
	})
	if err != nil {
		return heap.Stats{}, err
	}
	return g.statsOf(all), nil
}

// statsOf merges the counts of several goroutines.
func (g *Graph) statsOf(all []typeCounts) heap.Stats {
	s := heap.Stats{Corruptions: g.stats.Corruptions, Corrupt: g.stats.Corrupt}
	first := map[*dac.MethodTable]int{}
	for i, mt := range g.types {
		t, at := heap.TypeStats{Type: mt}, 0
		for _, c := range all {
			t.Count += c[i].count
			t.Size += c[i].size
			if c[i].first != 0 && (at == 0 || c[i].first < at) {
				at = c[i].first
			}
		}
		if t.Count > 0 {
			s.Types, first[mt] = append(s.Types, t), at
		}
		s.Count += t.Count
		s.Size += t.Size
	}
	slices.SortStableFunc(s.Types, func(a, b heap.TypeStats) int { return cmp.Compare(first[a.Type], first[b.Type]) })
	return s
}

// A GenerationCount is the number of objects of a generation, and their size in bytes.
type GenerationCount struct{ Objects, Size uint64 }

// CountGenerations counts all objects by heap.Generation.
func (g *Graph) CountGenerations(ctx context.Context) ([heap.GenerationUnknown + 1]GenerationCount, error) {
	return using(ctx, g, func(ctx context.Context) (counts [heap.GenerationUnknown + 1]GenerationCount, err error) {
		runs, err := g.generationRuns(ctx)
		if err != nil {
			return counts, err
		}
		none := func() struct{} { return struct{}{} }
		for _, r := range runs {
			var size atomic.Uint64
			n := int(r.to - r.from)
			err := parallel(ctx, g.lazy.options.Workers, n, numberPiece, none, func(_ struct{}, from, to int) {
				sum := uint64(0)
				for n := r.from + Node(from); n < r.from+Node(to); n++ {
					sum += g.Size(n)
				}
				size.Add(sum)
			})
			if err != nil {
				return counts, err
			}
			c := &counts[r.gen]
			c.Objects += uint64(n)
			c.Size += size.Load()
		}
		return counts, nil
	})
}
