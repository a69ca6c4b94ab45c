package heapdiff

import (
	"context"
	"sync/atomic"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/workers"
)

// A TypeKey is what tells a type in several dumps.
type TypeKey struct {
	Assembly string // simple name, empty where it is not known
	Name     string // as dumpheap prints it
}

// A Count is a number of objects and their size in bytes.
type Count struct{ Objects, Size uint64 }

func (c *Count) add(b Count) { c.Objects, c.Size = c.Objects+b.Objects, c.Size+b.Size }

// A Summary is what is compared of a heap. It needs the dump no longer.
type Summary struct {
	answer.Gaps
	Name        string // of the dump
	Total       Count
	Free        uint64 // bytes of free blocks
	Committed   uint64 // bytes
	Unread      int    // places of the heap that can't be read
	Generations [heap.GenerationUnknown]Count
	Types       map[TypeKey]Count
	Nameless    Count // objects of types whose name can't be read
	NoName      error // why
	Paths       *Paths
}

// Summarize scans a heap once and sums up its objects. The answer's Gaps say what could not be read.
func Summarize(ctx context.Context, name string, h *heap.Heap, o heap.ScanOptions) (*Summary, error) {
	s := &Summary{Name: name, Types: map[TypeKey]Count{}}
	total := newCollector(h)
	err := heap.Scan(ctx, h, nil, o, func() *collector { return newCollector(h) }, func(c *collector) error {
		total.Add(c.Counter)
		s.Free += c.free
		for g := range s.Generations {
			s.Generations[g].add(c.generations[g])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	stats := total.Stats()
	return s, s.take(h, &stats)
}

// atOnce is how many dumps are summed up at the same time: what of the work one processor has to do is done for two then, and
// no more memory is taken than the graphs of the first and the last, of which CompareAddresses needs both.
const atOnce = 2

// Each calls sum for each of n dumps, for two at a time, in goroutines that it waits for: with the dump's index and how many of jobs
// goroutines it may use. What sum leaves is the caller's to look at, in the order of the dumps.
func Each(n, jobs int, sum func(i, jobs int)) {
	together := max(1, min(atOnce, jobs, n))
	var next atomic.Int64
	var group workers.Group
	for range together {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				sum(i, max(1, jobs/together))
			}
		})
	}
	group.Wait()
}

// GraphOptions say how to sum up a graph.
type GraphOptions struct {
	Jobs int // goroutines; 0 stands for one a processor
	most int // nodes of Paths; 0 stands for limits.PathNodes
}

// SummarizeGraph sums up the objects of a graph, with the paths to those that live. It reads nothing of the heap again.
func SummarizeGraph(ctx context.Context, name string, g *graph.Graph, names *graph.Names, o GraphOptions) (*Summary, error) {
	ctx, done, err := g.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s := &Summary{Name: name, Types: map[TypeKey]Count{}, Free: g.Stats().FreeBytes}
	stats, err := g.CountTypes(ctx)
	if err != nil {
		return nil, err
	}
	generations, err := g.CountGenerations(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.Generations {
		s.Generations[i] = Count(generations[i])
	}
	if err := s.take(g.Heap(), &stats); err != nil {
		return nil, err
	}
	return s, s.summarizePaths(ctx, g, names, o)
}

// take takes over what was counted of a heap.
func (s *Summary) take(h *heap.Heap, stats *heap.Stats) error {
	if err := stats.Note(&s.Gaps); err != nil {
		return err
	}
	s.Unread = stats.Corrupt + len(h.Lost())
	for i := range h.Segments() {
		s.Committed += h.Segments()[i].Committed.Size()
	}
	names := newTypeNames(h.Runtime())
	free := h.Runtime().WellKnown().Free
	for i := range stats.Types {
		t := &stats.Types[i]
		if t.Type.Addr == free {
			continue
		}
		n := Count{t.Count, t.Size}
		s.Total.add(n)
		key, err := names.of(t.Type)
		if err != nil {
			s.Note(err)
			s.Nameless.add(n)
			s.NoName = err
			continue
		}
		sum := s.Types[key]
		sum.add(n)
		s.Types[key] = sum
	}
	return nil
}

// A collector counts a run of objects by type and by generation.
type collector struct {
	*heap.Counter
	free        uint64
	generations [heap.GenerationUnknown]Count
}

func newCollector(h *heap.Heap) *collector { return &collector{Counter: heap.NewCounter(h, nil)} }

// Objects counts a batch.
func (c *collector) Objects(s *heap.Segment, batch []heap.Object) {
	c.Counter.Objects(s, batch)
	for i := range batch {
		o := &batch[i]
		switch g := s.Generation(o.Addr); {
		case o.Free:
			c.free += o.Size
		case g < heap.GenerationUnknown:
			c.generations[g].Objects++
			c.generations[g].Size += o.Size
		}
	}
}

// Reset forgets everything.
func (c *collector) Reset() {
	c.Counter.Reset()
	c.free, c.generations = 0, [heap.GenerationUnknown]Count{}
}

// typeNames finds the keys of types.
type typeNames struct {
	rt         *dac.Runtime
	assemblies map[*dac.Module]string
}

func newTypeNames(rt *dac.Runtime) *typeNames {
	return &typeNames{rt: rt, assemblies: map[*dac.Module]string{}}
}

// of is the key of a type. The assembly may be unknown where the name is not.
func (n *typeNames) of(mt *dac.MethodTable) (TypeKey, error) {
	name, err := n.rt.TypeName(mt.Addr, dac.NameManaged)
	if err != nil {
		return TypeKey{}, err
	}
	m, err := n.rt.ModuleOf(mt)
	if err != nil {
		return TypeKey{Name: name}, nil
	}
	assembly, ok := n.assemblies[m]
	if !ok {
		if assembly, err = m.SimpleName(); err != nil {
			assembly = "" // then types are told by their names alone
		}
		n.assemblies[m] = assembly
	}
	return TypeKey{Assembly: assembly, Name: name}, nil
}
