package heapdiff

import (
	"context"
	"sync/atomic"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/workers"
)

// A TypeKey identifies a type in several dumps.
type TypeKey struct {
	Assembly string // simple name, empty if unknown
	Name     string // in the form of dumpheap
}

// A Count is a number of objects and their size in bytes.
type Count struct{ Objects, Size uint64 }

func (c *Count) add(b Count) { c.Objects, c.Size = c.Objects+b.Objects, c.Size+b.Size }

// A Summary holds the facts of a heap that are compared. It does not need the dump.
type Summary struct {
	answer.Gaps
	Name        string // name of the dump
	Program     string // simple name of the assembly with the Main that the process ran; may be empty
	Total       Count
	Free        uint64 // bytes of free blocks
	Committed   uint64 // bytes
	Unread      int    // number of unreadable places of the heap
	Generations [heap.GenerationUnknown]Count
	Types       map[TypeKey]Count
	Nameless    Count // objects of types without a readable name
	NoName      error // why they have no name
	Paths       *Paths
}

// Summarize scans a heap once and counts its objects. Gaps has the unreadable parts.
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
	if err := s.takeStats(h, &stats); err != nil {
		return nil, err
	}
	return s, nil
}

// atOnce is the number of dumps that are summarized at the same time. Two make better use of single-threaded parts, and
// need no more memory than CompareAddresses, which needs the graphs of two dumps.
const atOnce = 2

// Each calls sum for each of n dumps, two at a time in goroutines, and waits for them. It passes the dump's index and
// the number of goroutines to use, a part of jobs. The caller reads the results in the order of the dumps.
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

// GraphOptions controls how a graph is summarized.
type GraphOptions struct {
	Jobs int // goroutines; 0 means one per processor
	most int // maximum number of nodes in Paths; 0 means limits.PathNodes
}

// SummarizeGraph summarizes the objects of a graph and the paths to live ones. It does not read the heap.
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
	if err := s.takeStats(g.Heap(), &stats); err != nil {
		return nil, err
	}
	return s, s.summarizePaths(ctx, g, names, o)
}

// takeStats sets the counts from the stats of a heap.
func (s *Summary) takeStats(h *heap.Heap, stats *heap.Stats) error {
	if err := stats.Note(&s.Gaps); err != nil {
		return err
	}
	s.Unread = stats.Corrupt + len(h.Lost())
	for _, segment := range h.Segments() {
		s.Committed += segment.Committed.Size()
	}
	s.Program = program(h.Runtime())
	names := newTypeNames(h.Runtime())
	free := h.Runtime().WellKnown().Free
	for i := range stats.Types {
		t := &stats.Types[i]
		if t.Type.Addr == free {
			continue
		}
		n := Count{t.Count, t.Size}
		s.Total.add(n)
		key, err := names.key(t.Type)
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

// program returns the simple name of the root assembly. It is empty if that is unknown.
func program(rt *dac.Runtime) string {
	root, err := rt.RootAssembly()
	if err != nil || root == 0 {
		return ""
	}
	modules, _ := rt.Modules() // the root assembly may be among the readable modules
	for _, m := range modules {
		if m.Assembly == root {
			name, _ := m.SimpleName()
			return name
		}
	}
	return ""
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

// Reset discards everything.
func (c *collector) Reset() {
	c.Counter.Reset()
	c.free, c.generations = 0, [heap.GenerationUnknown]Count{}
}

type typeNames struct {
	rt         *dac.Runtime
	assemblies map[*dac.Module]string
}

func newTypeNames(rt *dac.Runtime) *typeNames {
	return &typeNames{rt: rt, assemblies: map[*dac.Module]string{}}
}

// key returns the key of a type. The assembly may be unknown even if the name is known.
func (n *typeNames) key(mt *dac.MethodTable) (TypeKey, error) {
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
			assembly = "" // only the name identifies the type
		}
		n.assemblies[m] = assembly
	}
	return TypeKey{Assembly: assembly, Name: name}, nil
}
