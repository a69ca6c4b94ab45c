package heap

import (
	"context"
	"slices"
)

// allGenerations lists the generations in the order of results.
var allGenerations = [...]Generation{Generation0, Generation1, Generation2, GenerationLarge, GenerationPinned, GenerationFrozen}

// GenerationSizes are the sizes of one generation of one sub heap in bytes.
type GenerationSizes struct {
	Segments  int    // that hold the generation alone
	Allocated uint64 // of these, from the first object to the end of the last
	Committed uint64 // of these
	Shared    uint64 // objects in a segment that is shared with other generations
	Live      uint64 // objects, whether reachable or not, Shared included
	Free      uint64 // free blocks
}

// SubHeapSizes are the sizes of one sub heap.
type SubHeapSizes struct {
	Index       int
	Generations [GenerationUnknown]GenerationSizes // by Generation
	// Of the ephemeral segment, which generations share; its Live and Free are
	// part of theirs.
	Ephemeral GenerationSizes
}

// Sizes measures the generations of every sub heap. The Stats are of all
// objects.
func (h *Heap) Sizes(ctx context.Context, o ScanOptions) ([]SubHeapSizes, Stats, error) {
	sizes := make([]SubHeapSizes, len(h.subHeaps))
	for i := range sizes {
		sizes[i].Index = i
	}
	for i := range h.segments {
		s := &h.segments[i]
		g := sizes[s.SubHeap].of(s)
		g.Segments++
		g.Allocated += s.Objects.Size()
		g.Committed += s.Committed.Size()
	}
	f := &Filter{}
	total := NewCounter(h, f)
	err := Scan(ctx, h, h.Spans(f), o, func() *sizeCollector {
		return &sizeCollector{Counter: NewCounter(h, f), sizes: make([]SubHeapSizes, len(h.subHeaps))}
	}, func(c *sizeCollector) error {
		total.Add(c.Counter)
		for i := range sizes {
			sizes[i].add(&c.sizes[i])
		}
		return nil
	})
	return sizes, total.Stats(), err
}

// of is where the memory of s counts.
func (z *SubHeapSizes) of(s *Segment) *GenerationSizes {
	if s.Kind == KindEphemeral {
		return &z.Ephemeral
	}
	return &z.Generations[s.Generation(s.Objects.Start)]
}

func (z *SubHeapSizes) add(b *SubHeapSizes) {
	for g := range z.Generations {
		z.Generations[g].Shared += b.Generations[g].Shared
		z.Generations[g].Live += b.Generations[g].Live
		z.Generations[g].Free += b.Generations[g].Free
	}
	z.Ephemeral.Live += b.Ephemeral.Live
	z.Ephemeral.Free += b.Ephemeral.Free
}

type sizeCollector struct {
	*Counter
	sizes []SubHeapSizes
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
		if s.Kind == KindEphemeral {
			z.Ephemeral.count(o)
			if !o.Free {
				z.Generations[g].Shared += o.Size
			}
		}
	}
}

func (g *GenerationSizes) count(o *Object) {
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

// SizeCount says how many objects have a size in bytes, rounded up to the
// heap's alignment.
type SizeCount struct{ Size, Count uint64 }

// A SizeHistogram counts the objects, or the free blocks, of one generation by
// size.
type SizeHistogram struct {
	Generation Generation
	Free       bool
	Sizes      []SizeCount // by size
}

// SizeHistograms counts the objects of each generation that the process has by
// size, then the free blocks.
func (h *Heap) SizeHistograms(ctx context.Context, o ScanOptions) ([]SizeHistogram, Stats, error) {
	f := &Filter{}
	total := newHistogramCollector(h, f)
	err := Scan(ctx, h, h.Spans(f), o, func() *histogramCollector { return newHistogramCollector(h, f) }, func(c *histogramCollector) error {
		total.Add(c.Counter)
		for k, n := range c.counts {
			total.counts[k] += n
		}
		return nil
	})
	return total.histograms(), total.Stats(), err
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
	n      uint64 // of last, not yet in counts: neighbours are often alike
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

func (c *histogramCollector) histograms() []SizeHistogram {
	var list []SizeHistogram
	for _, free := range [...]bool{false, true} {
		for _, g := range allGenerations {
			if c.h.has(g) && (g != GenerationFrozen || !free) {
				list = append(list, SizeHistogram{Generation: g, Free: free, Sizes: c.sizes(g, free)})
			}
		}
	}
	return list
}

func (c *histogramCollector) sizes(g Generation, free bool) []SizeCount {
	var list []SizeCount
	for k, n := range c.counts {
		if k.gen == g && k.free == free {
			list = append(list, SizeCount{k.size, n})
		}
	}
	slices.SortFunc(list, func(a, b SizeCount) int {
		if a.Size < b.Size {
			return -1
		}
		return 1
	})
	return list
}

// has reports whether the heap has a generation: those below the large one
// always, the others if a segment is theirs.
func (h *Heap) has(g Generation) bool {
	return g <= GenerationLarge || slices.ContainsFunc(h.segments, func(s Segment) bool { return s.Generation(s.Objects.Start) == g })
}
