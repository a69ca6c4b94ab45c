package heap

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// allGenerations lists the generations in the order of results.
var allGenerations = [...]Generation{Generation0, Generation1, Generation2, GenerationLarge, GenerationPinned, GenerationFrozen}

// generationSizes holds the sizes in bytes of one generation of one sub heap.
type generationSizes struct {
	Segments  int    // segments that hold only this generation
	Allocated uint64 // their bytes from the first object to the end of the last
	Committed uint64 // their committed bytes
	Shared    uint64 // objects in a segment shared with other generations
	Live      uint64 // all objects, reachable or not, including Shared
	Free      uint64 // free blocks
	Dead      uint64 // unreachable objects, if requested
}

// subHeapSizes holds the sizes of one sub heap.
type subHeapSizes struct {
	Index       int
	Generations [GenerationUnknown]generationSizes // by Generation
	// Sizes of the ephemeral segment that generations share. Its Live and Free are part of theirs.
	Ephemeral generationSizes
}

// Sizes measures the generations of every sub heap.
func (h *Heap) Sizes(ctx context.Context, o ScanOptions) (*answer.GenerationSizes, error) {
	return h.SizesWithDead(ctx, nil, o)
}

// SizesWithDead is Sizes and adds up the dead objects. live reports whether a live object starts at an
// address. Several goroutines call it; nil adds up nothing.
func (h *Heap) SizesWithDead(ctx context.Context, live func(target.Addr) bool, o ScanOptions) (*answer.GenerationSizes, error) {
	sizes, stats, err := h.measure(ctx, live, o)
	if err != nil {
		return nil, err
	}
	a := &answer.GenerationSizes{Regions: h.regions, Heaps: make([]answer.HeapSizes, len(sizes)), WithDead: live != nil}
	if err := noteCorrupt(&a.Gaps, &stats); err != nil {
		return nil, err
	}
	for i := range sizes {
		a.Heaps[i] = sizes[i].answer()
		for g := range GenerationUnknown {
			if l := h.lostOf(i, g); l != nil {
				a.Heaps[i].Generations[g].Incomplete, a.Heaps[i].Generations[g].Err = true, l.Err
			}
		}
	}
	unreadGenerations(a.Heaps, &stats)
	return a, nil
}

// unreadGenerations notes why objects of generations are unreadable. If not all such places were kept, it notes
// it for every generation.
func unreadGenerations(heaps []answer.HeapSizes, stats *Stats) {
	note := func(list []answer.GenerationSize, g Generation, err error) {
		if list[g].Unread == nil {
			list[g].Partial, list[g].Unread = true, err
		}
	}
	for _, c := range stats.Corruptions {
		list := heaps[c.Segment.SubHeap].Generations
		from, to := c.Segment.Generation(c.Addr), c.Segment.Generation(max(c.Next, c.Addr+1)-1)
		for g := min(from, to); g <= max(from, to) && g < GenerationUnknown; g++ {
			note(list, g, c)
		}
		if c.Segment.Kind == KindEphemeral {
			note(list, Generation(len(list)-1), c)
		}
	}
	if stats.Corrupt > len(stats.Corruptions) {
		for i := range heaps {
			for g := range heaps[i].Generations {
				note(heaps[i].Generations, Generation(g), stats.Corruptions[0])
			}
		}
	}
}

func (z *subHeapSizes) answer() answer.HeapSizes {
	a := answer.HeapSizes{Heap: z.Index}
	for g := range z.Generations {
		a.Generations = append(a.Generations, z.Generations[g].answer(Generation(g).String()))
	}
	if z.Ephemeral.Segments > 0 {
		a.Generations = append(a.Generations, z.Ephemeral.answer(answer.Ephemeral))
	}
	return a
}

func (g *generationSizes) answer(name string) answer.GenerationSize {
	return answer.GenerationSize{Generation: name, Allocated: g.Allocated, Committed: g.Committed, Live: g.Live, Free: g.Free, Shared: g.Shared, Dead: g.Dead}
}

// measure returns Sizes as numbers. The Stats count all objects.
func (h *Heap) measure(ctx context.Context, live func(target.Addr) bool, o ScanOptions) ([]subHeapSizes, Stats, error) {
	sizes := make([]subHeapSizes, len(h.subHeaps))
	for i := range sizes {
		sizes[i].Index = i
	}
	for i := range h.segments {
		s := &h.segments[i]
		g := sizes[s.SubHeap].sizesOf(s)
		g.Segments++
		g.Allocated += s.Objects.Size()
		g.Committed += s.Committed.Size()
	}
	f := &Filter{}
	total := NewCounter(h, f)
	err := Scan(ctx, h, f, o, func() *sizeCollector {
		return &sizeCollector{Counter: NewCounter(h, f), sizes: make([]subHeapSizes, len(h.subHeaps)), live: live}
	}, func(c *sizeCollector) error {
		total.Add(c.Counter)
		for i := range sizes {
			sizes[i].add(&c.sizes[i])
		}
		return nil
	})
	return sizes, total.Stats(), err
}

// sizesOf returns the sizes that the memory of s counts for.
func (z *subHeapSizes) sizesOf(s *Segment) *generationSizes {
	if s.Kind == KindEphemeral {
		return &z.Ephemeral
	}
	return &z.Generations[s.Generation(s.Objects.Start)]
}

func (z *subHeapSizes) add(b *subHeapSizes) {
	for g := range z.Generations {
		z.Generations[g].Shared += b.Generations[g].Shared
		z.Generations[g].Live += b.Generations[g].Live
		z.Generations[g].Free += b.Generations[g].Free
		z.Generations[g].Dead += b.Generations[g].Dead
	}
	z.Ephemeral.Live += b.Ephemeral.Live
	z.Ephemeral.Free += b.Ephemeral.Free
	z.Ephemeral.Dead += b.Ephemeral.Dead
}

type sizeCollector struct {
	*Counter
	sizes []subHeapSizes
	live  func(target.Addr) bool // may be nil
}

func (c *sizeCollector) Objects(s *Segment, batch []Object) {
	c.Counter.Objects(s, batch)
	z := &c.sizes[s.SubHeap]
	for i := range batch {
		o := &batch[i]
		g := s.Generation(o.Addr)
		if g >= GenerationUnknown {
			continue
		}
		z.Generations[g].count(o)
		if c.live != nil && !o.Free && !c.live(o.Addr) {
			z.Generations[g].Dead += o.Size
			if s.Kind == KindEphemeral {
				z.Ephemeral.Dead += o.Size
			}
		}
		if s.Kind == KindEphemeral {
			z.Ephemeral.count(o)
			if !o.Free {
				z.Generations[g].Shared += o.Size
			}
		}
	}
}

func (g *generationSizes) count(o *Object) {
	if o.Free {
		g.Free += o.Size
	} else {
		g.Live += o.Size
	}
}

func (c *sizeCollector) Reset() {
	c.Counter.Reset()
	clear(c.sizes)
}

// SizeHistograms counts the objects of each existing generation by size, then the free blocks.
func (h *Heap) SizeHistograms(ctx context.Context, o ScanOptions) (*answer.SizeStatistics, error) {
	f := &Filter{}
	total := newHistogramCollector(h, f)
	err := Scan(ctx, h, f, o, func() *histogramCollector { return newHistogramCollector(h, f) }, func(c *histogramCollector) error {
		total.Add(c.Counter)
		for k, n := range c.counts {
			total.counts[k] += n
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a := &answer.SizeStatistics{}
	stats := total.Stats()
	if err := noteCorrupt(&a.Gaps, &stats); err != nil {
		return nil, err
	}
	a.Generations = total.histograms()
	return a, nil
}

type sizeKey struct {
	gen  Generation
	free bool
	size uint64
}

type histogramCollector struct {
	*Counter
	counts map[sizeKey]uint64
	last   sizeKey
	n      uint64 // pending count of last: neighbours are often alike
}

func newHistogramCollector(h *Heap, f *Filter) *histogramCollector {
	return &histogramCollector{Counter: NewCounter(h, f), counts: map[sizeKey]uint64{}}
}

func (c *histogramCollector) Objects(s *Segment, batch []Object) {
	c.Counter.Objects(s, batch)
	for i := range batch {
		o := &batch[i]
		k := sizeKey{s.Generation(o.Addr), o.Free, (o.Size + 7) &^ 7}
		if k != c.last {
			c.flush()
			c.last = k
		}
		c.n++
	}
	c.flush()
}

func (c *histogramCollector) flush() {
	if c.n > 0 {
		c.counts[c.last] += c.n
		c.n = 0
	}
}

func (c *histogramCollector) Reset() {
	c.Counter.Reset()
	clear(c.counts)
}

func (c *histogramCollector) histograms() []answer.SizeHistogram {
	var list []answer.SizeHistogram
	for _, free := range [...]bool{false, true} {
		for _, g := range allGenerations {
			if c.h.hasGeneration(g) && (g != GenerationFrozen || !free) {
				list = append(list, answer.SizeHistogram{Generation: g.String(), Free: free, Sizes: c.sizes(g, free)})
			}
		}
	}
	return list
}

func (c *histogramCollector) sizes(g Generation, free bool) []answer.SizeCount {
	list := []answer.SizeCount{}
	for k, n := range c.counts {
		if k.gen == g && k.free == free {
			list = append(list, answer.SizeCount{Size: k.size, Count: n})
		}
	}
	slices.SortStableFunc(list, func(a, b answer.SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	return list
}

// hasGeneration reports whether the heap has a generation: always up to 2, others if they have a segment.
func (h *Heap) hasGeneration(g Generation) bool {
	return g <= GenerationLarge || slices.ContainsFunc(h.segments, func(s Segment) bool { return s.Generation(s.Objects.Start) == g })
}
