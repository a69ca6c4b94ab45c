// Package memory answers queries about the GC heap of a process: its objects, generations, handles and settings, and
// what keeps objects alive. It only opens the readers in packages heap and graph and joins their answers. Start with
// HeapStats and GCRoot (holders.go).
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/settings"
	"github.com/sosgo/sosgo/internal/stresslog"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// ErrNotInHeap is the error for an address outside of the segments' objects, if the heap can be read.
var ErrNotInHeap = target.Argumentf("is not in the objects of a segment")

// HeapOptions selects objects of the heap.
type HeapOptions struct {
	Filter      *heap.Filter
	OnlyObjects bool // omits the statistics after a list
	ByCount     bool // sorts statistics by number of objects instead of size
	Live        bool // only reachable objects
	Dead        bool // only unreachable objects and free blocks; with Live, all objects
	Scan        heap.ScanOptions
}

// heapAnswer computes an answer about selected objects of the heap.
func heapAnswer[T any](ctx context.Context, p *process.Process, o HeapOptions, compute func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (T, error)) (T, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (none T, err error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return none, err
		}
		list := heap.ListOptions{Filter: o.Filter, OnlyObjects: o.OnlyObjects, ByCount: o.ByCount, Scan: c.Scan("scanning the heap", o.Scan)}
		if o.Live != o.Dead {
			if list.Filter, err = byLiveness(ctx, c, list.Filter, o.Live); err != nil {
				return none, err
			}
		}
		return compute(ctx, c, h, list)
	})
}

// byLiveness restricts a filter to live or to dead objects.
func byLiveness(ctx context.Context, c *process.Call, f *heap.Filter, live bool) (*heap.Filter, error) {
	g, err := c.LiveGraph()
	if err != nil {
		return nil, err
	}
	is, err := g.LiveStarts(ctx)
	if err != nil {
		return nil, err
	}
	chosen := heap.Filter{}
	if f != nil {
		chosen = *f
	}
	before := chosen.Start
	chosen.Start = func(a target.Addr) bool { return is(a) == live && (before == nil || before(a)) }
	if live && before == nil {
		chosen.Counts = g.CountLive
	}
	return &chosen, nil
}

// HeapStats counts the objects of the heap by type.
func HeapStats(ctx context.Context, p *process.Process, o HeapOptions) (*answer.Listing, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, _ *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) {
		return h.Count(ctx, o)
	})
}

// HeapObjects lists the objects of the heap. They are read during iteration.
func HeapObjects(ctx context.Context, p *process.Process, o HeapOptions) (*answer.Listing, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, _ *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) {
		return h.List(ctx, o), nil
	})
}

// Duplicates counts the strings of the heap by content.
func Duplicates(ctx context.Context, p *process.Process, o HeapOptions) (*answer.Listing, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) {
		return h.CountStrings(ctx, o), nil
	})
}

// Exceptions lists the exceptions of the heap. They are read during iteration.
func Exceptions(ctx context.Context, p *process.Process, o HeapOptions) (*answer.Exceptions, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.Exceptions, error) {
		r, err := c.Objects()
		if err != nil {
			return nil, err
		}
		return HeapExceptions(ctx, r, h, o.Filter, o.Scan), nil
	})
}

// GenerationsOptions select what Generations counts.
type GenerationsOptions struct {
	Dead bool // also unreachable objects
}

// Generations counts the bytes of each generation in each heap.
func Generations(ctx context.Context, p *process.Process, o GenerationsOptions) (*answer.GenerationSizes, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.GenerationSizes, error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		var live func(target.Addr) bool
		if o.Dead {
			if live, err = c.Live(); err != nil {
				return nil, err
			}
		}
		return h.SizesWithDead(ctx, live, c.Scan("scanning the heap", heap.ScanOptions{}))
	})
}

// RuntimeHeaps lists the segments of the GC heap and the runtime's native heaps, without the latter if they are not
// supported.
func RuntimeHeaps(ctx context.Context, p *process.Process) (*answer.RuntimeHeaps, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.RuntimeHeaps, error) {
		rt, err := c.Runtime()
		if err != nil {
			return nil, err
		}
		out := &answer.RuntimeHeaps{}
		switch out.LoaderHeaps, err = rt.LoaderHeaps(); {
		case err == nil:
			out.Gaps = out.LoaderHeaps.Gaps
		case errors.Is(err, target.ErrUnsupported):
			out.LoaderHeaps = nil
			out.Note(fmt.Errorf("loader heaps: %w", err))
		default:
			return nil, err
		}
		h, err := c.Heap()
		if err != nil {
			return out, err
		}
		out.NoteAll(h.Warnings())
		out.GC = h.Overview(nil)
		return out, nil
	})
}

// Handles lists the GC handles of the given types, or all of them.
func Handles(ctx context.Context, p *process.Process, types ...heap.HandleType) (*answer.Handles, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Handles, error) {
		h, err := c.NotedHeap()
		if err != nil {
			return nil, err
		}
		out, err := h.ListHandles(ctx, types...)
		if err == nil {
			out.Handles = process.Rows(c, out.Handles)
		}
		return out, err
	})
}

// Finalizers lists the finalizable objects that are ready for finalization, or all in the queues.
func Finalizers(ctx context.Context, p *process.Process, o heap.FinalizerOptions) (*answer.Finalizers, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Finalizers, error) {
		h, err := c.NotedHeap()
		if err != nil {
			return nil, err
		}
		return h.ListFinalizers(o)
	})
}

// GC describes the garbage collector: its settings, state and counters, the sizes of the generations, and the
// allocations of each thread. Unreadable parts are listed in Absent, so the rest is present even without a heap.
func GC(ctx context.Context, p *process.Process) (*answer.GC, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.GC, error) {
		rt, err := c.Runtime()
		if err != nil {
			return nil, err
		}
		out, err := heap.DescribeGC(rt, p.Dump().File())
		if err != nil {
			return nil, err
		}
		describeSettings(p, out)
		allocated(c, rt, out)
		return out, collections(ctx, c, out)
	})
}

// describeSettings adds the settings of the collector.
func describeSettings(p *process.Process, out *answer.GC) {
	s, err := settings.Of(p)
	if err != nil {
		out.Lacks("settings in runtimeconfig.json", err)
		return
	}
	properties, err := s.Properties(&out.Gaps)
	out.Lacks("settings in runtimeconfig.json", err)
	environment, err := p.Dump().Environment()
	out.Lacks("settings in the environment", err)
	out.Settings = settings.GCSettings(environment, properties)
}

// collections adds the heap's facts about the collector. The error is ctx's.
func collections(ctx context.Context, c *process.Call, out *answer.GC) error {
	h, err := c.ObjectHeap()
	if err != nil {
		out.Lacks("sizes of the generations", err)
		return nil
	}
	if err := h.DescribeSizes(ctx, out, c.Scan("measuring the generations", heap.ScanOptions{})); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		out.Lacks("sizes of the generations", err)
	}
	s, err := settings.Of(c.Process)
	if err == nil {
		err = s.Collections(ctx, h, c.Scan("looking for figures of collections", heap.ScanOptions{}), out)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out.Lacks("figures of collections", err)
	return nil
}

// allocated adds the allocations of threads, and the thread that was suspending the others.
func allocated(c *process.Call, rt *dac.Runtime, out *answer.GC) {
	list, err := c.Threads()
	out.Lacks("threads", err)
	var lost error
	left := uint64(0)
	for i := range list {
		t := &list[i]
		if t.Managed == nil || t.Managed.State&dac.ThreadDead != 0 {
			continue
		}
		row := answer.ThreadAllocated{Thread: t.Describe(&out.Gaps)}
		if t.Managed.GC {
			suspender := row.Thread
			out.State.Suspender = &suspender
		}
		n, err := rt.AllocatedBytes(t.Managed)
		row.Allocated = answer.Of(n, err)
		lost = cmp.Or(lost, err)
		if c := t.Managed.AllocContext; c.Limit >= c.Pointer {
			row.Left = uint64(c.Limit - c.Pointer)
		}
		left += row.Left
		out.Threads = append(out.Threads, row)
	}
	out.Lacks("bytes that threads allocated", lost)
	out.Left = answer.Of(left, err)
	slices.SortStableFunc(out.Threads, func(a, b answer.ThreadAllocated) int { return cmp.Compare(b.Allocated.Value, a.Allocated.Value) })
	if out.State.Suspender == nil {
		return
	}
	for i := range list {
		if t := &list[i]; t.Managed != nil && t.Managed.Cooperative && !t.Managed.GC {
			out.State.Waited = append(out.State.Waited, t.Describe(&out.Gaps))
		}
	}
}

// HeapMapOptions select the content of a HeapMap.
type HeapMapOptions struct {
	CellSize uint64 // bytes of a cell, rounded up to a power of two of at least a page; 0 for about heap.MapCells cells
	Dead     bool   // marks unreachable objects
	Scan     heap.ScanOptions
}

// HeapMap draws the heap in cells.
func HeapMap(ctx context.Context, p *process.Process, o HeapMapOptions) (*answer.HeapMap, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.HeapMap, error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		m := heap.MapOptions{CellSize: o.CellSize, Scan: c.Scan("scanning the heap", o.Scan)}
		if o.Dead {
			if m.Live, err = c.Live(); err != nil {
				return nil, err
			}
		}
		return h.Map(ctx, m)
	})
}

// Neighbours describes the objects around an address of the heap. An address outside of all segments is an error.
func Neighbours(ctx context.Context, p *process.Process, a target.Addr) (*answer.Neighbours, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Neighbours, error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		near := h.Around(a)
		if lost := h.Lost(); near == nil && len(lost) > 0 {
			return nil, fmt.Errorf("%x is in no segment that can be read: %w", uint64(a), lost[0].Err)
		}
		if near == nil {
			return nil, fmt.Errorf("%x %w", uint64(a), ErrNotInHeap)
		}
		return near, nil
	})
}

// Where describes the position of an address in the heap.
func Where(ctx context.Context, p *process.Process, a target.Addr) (*answer.Where, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Where, error) {
		h, err := c.NotedHeap()
		if err != nil {
			return nil, err
		}
		return h.Where(a), nil
	})
}

// VerifyObject checks one object for damage.
func VerifyObject(ctx context.Context, p *process.Process, object target.Addr) (*answer.ObjectSoundness, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ObjectSoundness, error) {
		h, err := c.NotedHeap()
		if err != nil {
			return nil, err
		}
		return h.ObjectSoundness(object)
	})
}

// Fragmentation counts the free space between objects.
func Fragmentation(ctx context.Context, p *process.Process) (*answer.Fragmentation, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Fragmentation, error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		return h.Fragmentation(ctx, c.Scan("measuring free space", heap.ScanOptions{}))
	})
}

// GCSettings returns the settings of the collector. The error is why some may be missing.
func GCSettings(p *process.Process) ([]answer.GCSetting, error) {
	var g answer.GC
	describeSettings(p, &g)
	return g.Settings, g.Failure()
}

// Soundness is VerifyHeap, or the graph's result if the process has a sound graph: its references need no second check. An object that nothing keeps
// may name a sync block that the collector has freed, and that another object has by now: it is no fault there.
func Soundness(ctx context.Context, p *process.Process) (*answer.Soundness, error) {
	g, err := p.Graph(ctx, graph.Options{})
	if err != nil || !g.Stats().Followed() {
		return VerifyHeap(ctx, p, HeapOptions{})
	}
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Soundness, error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		out, err := h.HeaderSoundness(ctx, c.Scan("verifying headers", heap.ScanOptions{}))
		if err != nil || out.Errors == 0 {
			return out, err
		}
		live, err := g.LiveStarts(ctx)
		if err != nil {
			return nil, err
		}
		all := len(out.Faults)
		out.Faults = slices.DeleteFunc(out.Faults, func(f answer.Fault) bool {
			return (f.Kind == heap.FaultSyncBlock.String() || f.Kind == heap.FaultSyncBlockZero.String()) && !live(f.Object)
		})
		if out.Errors -= all - len(out.Faults); len(out.Faults) == 0 {
			out.Errors = 0 // those that are not listed are like these
		}
		return out, nil
	})
}

// VerifyHeap checks the objects of the heap for damage.
func VerifyHeap(ctx context.Context, p *process.Process, o HeapOptions) (*answer.Soundness, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.Soundness, error) {
		return h.Soundness(ctx, o.Filter, o.Scan)
	})
}

// GenerationStats counts the objects of a generation by type.
func GenerationStats(ctx context.Context, p *process.Process, g heap.Generation, o HeapOptions) (*answer.GenerationObjects, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.GenerationObjects, error) {
		return h.CountGeneration(ctx, g, o)
	})
}

// GenerationObjects lists the objects of a generation. They are read during iteration.
func GenerationObjects(ctx context.Context, p *process.Process, g heap.Generation, o HeapOptions) (*answer.GenerationObjects, error) {
	return heapAnswer(ctx, p, o, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.GenerationObjects, error) {
		return h.ListGeneration(ctx, g, o), nil
	})
}

// SizeStatistics counts the objects of each generation by their size.
func SizeStatistics(ctx context.Context, p *process.Process) (*answer.SizeStatistics, error) {
	return heapAnswer(ctx, p, HeapOptions{}, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.SizeStatistics, error) {
		return h.SizeHistograms(ctx, o.Scan)
	})
}

// OldReferences lists the objects of older generations that refer to younger ones.
func OldReferences(ctx context.Context, p *process.Process) (*answer.OldReferences, error) {
	return heapAnswer(ctx, p, HeapOptions{}, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.OldReferences, error) {
		return h.OldReferences(ctx, o.Scan)
	})
}

// LargeReferences lists the objects that refer to large objects.
func LargeReferences(ctx context.Context, p *process.Process) (*answer.LargeReferences, error) {
	return heapAnswer(ctx, p, HeapOptions{}, func(ctx context.Context, c *process.Call, h *heap.Heap, o heap.ListOptions) (*answer.LargeReferences, error) {
		return h.LargeReferences(ctx, o.Scan)
	})
}

// UnreachableOptions select what keeps objects alive. The zero value counts all roots and the finalizer queue.
type UnreachableOptions struct {
	NoFinalizer bool // the finalizer queue keeps nothing alive
}

// Unreachable lists the unreachable objects in a range of addresses.
func Unreachable(ctx context.Context, p *process.Process, r target.Range, o UnreachableOptions) (*answer.Unreachable, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Unreachable, error) {
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		g, err := c.LiveGraph()
		if err != nil {
			return nil, err
		}
		live := g.LiveStarts
		if o.NoFinalizer {
			live = func(ctx context.Context) (func(target.Addr) bool, error) {
				return g.LiveWithout(ctx, graph.SourceFinalizer)
			}
		}
		is, err := live(ctx)
		if err != nil {
			return nil, err
		}
		return h.UnreachableIn(r, is)
	})
}

// StressLog describes the runtime's stress log, with the messages of all threads, or of the thread with an OS id other
// than 0.
func StressLog(ctx context.Context, p *process.Process, thread uint32) (*answer.StressLog, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.StressLog, error) {
		l, err := stresslog.Open(rt, stressNames{dac.CodeOf(rt), p.Dump().Symbols()})
		if err != nil {
			return nil, err
		}
		return l.Describe(ctx, uint64(thread)), nil
	})
}

// stressNames names methods and code in messages of the stress log.
type stressNames struct {
	code    *dac.CodeReader
	symbols *image.Symbols
}

func (n stressNames) Method(a target.Addr) (string, error) {
	m, err := n.code.MethodDesc(a)
	if err != nil {
		return "", target.CorruptAddress(err)
	}
	return n.code.MethodName(m, dac.MethodQualified)
}

func (n stressNames) Code(a target.Addr) (string, error) {
	if info, err := n.code.PlaceAt(a); err == nil && info.Method != nil {
		return n.code.MethodName(info.Method, dac.MethodQualified)
	}
	if s, ok := n.symbols.At(a); ok {
		return s.String(), nil
	}
	return "", target.Unsupportedf("nothing is known at %016x", uint64(a))
}

// OutOfMemory describes the last failed allocations of the GC. It does not need the heap itself.
func OutOfMemory(ctx context.Context, p *process.Process) (*answer.OutOfMemory, error) {
	return process.WithRuntime(ctx, p, func(_ context.Context, _ *process.Call, rt *dac.Runtime) (*answer.OutOfMemory, error) {
		return heap.OutOfMemory(rt, p.Target())
	})
}

// HeapGraph describes the heap as a graph: types, roots, and objects with their references, which are read during
// iteration. Its list has missing rows for unreadable objects; the answer notes what else can't be read. It does not use Process.Graph: one walk without arrays of all objects is
// faster and takes less memory, because each reference is reported once, in memory order.
func HeapGraph(ctx context.Context, p *process.Process, o heap.ScanOptions) (*answer.HeapGraph, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.HeapGraph, error) {
		h, err := c.Heap()
		if err != nil {
			return nil, err
		}
		g, err := h.Describe(ctx, c.Scan("reading the heap", o))
		if err != nil {
			return nil, err
		}
		for r, err := range c.Roots(ctx) {
			if err != nil {
				g.Note(err)
				continue
			}
			g.Roots = append(g.Roots, answer.HeapRoot{Kind: answer.RootKind(r.Kind.String()), Object: r.Object})
		}
		return g, nil
	})
}
