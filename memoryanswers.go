package sosgo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/leaks"
	"github.com/sosgo/sosgo/app/memorymap"
	"github.com/sosgo/sosgo/app/settings"
	"github.com/sosgo/sosgo/app/triage"
	"github.com/sosgo/sosgo/app/waste"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk/stresslog"
	"github.com/sosgo/sosgo/target"
)

// Options of answers about memory. The zero value of each is the default.
type (
	// LeakOptions bound the search for suspects.
	LeakOptions = leaks.Options
	// RetainedOptions select rows of retained sizes.
	RetainedOptions = graph.RetainedOptions
	// GCRootOptions select paths from roots.
	GCRootOptions = graph.HoldOptions
	// DominatorOptions bound the tree of dominators.
	DominatorOptions = graph.TreeOptions
	// ChildOptions select children of a node of that tree.
	ChildOptions = graph.ChildOptions
	// LinkOptions choose references to or from an object.
	LinkOptions = graph.LinkOptions
	// HandleOptions choose GC handles.
	HandleOptions = graph.HandleOptions
	// MemoryOptions choose what Memory lists beside the sums.
	MemoryOptions = memorymap.Options
	// ClosureOptions choose the form of what an object keeps alive.
	ClosureOptions = graph.KeepOptions
)

// HeapOptions select objects of the heap.
type HeapOptions struct {
	heap.ListOptions
	Live bool // only objects that something keeps alive
	Dead bool // only objects that nothing keeps alive, and free blocks; with Live, all objects
}

// heapAnswer computes an answer about chosen objects of the heap.
func heapAnswer[T any](ctx context.Context, v *View, o []HeapOptions, compute func(q *question, h *heap.Heap, o heap.ListOptions) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		o := option(o)
		h, err := q.objectHeap()
		if err != nil {
			return none, err
		}
		list := o.ListOptions
		list.Scan = q.scanning("scanning the heap", list.Scan)
		if o.Live != o.Dead {
			if list.Filter, err = q.byLiveness(list.Filter, o.Live); err != nil {
				return none, err
			}
		}
		return compute(q, h, list)
	})
}

// byLiveness adds a choice of live or of dead objects to a filter.
func (q *question) byLiveness(f *heap.Filter, live bool) (*heap.Filter, error) {
	is, err := q.live()
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
		chosen.Counts = q.graph.CountLive
	}
	return &chosen, nil
}

// HeapStats counts the objects of the heap by type.
func (v *View) HeapStats(ctx context.Context, o ...HeapOptions) (*answer.Listing, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) { return h.Count(q.ctx, o) })
}

// HeapObjects lists the objects of the heap. They are read while they are ranged over.
func (v *View) HeapObjects(ctx context.Context, o ...HeapOptions) (*answer.Listing, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) {
		return h.List(q.ctx, o), nil
	})
}

// Duplicates counts the strings of the heap by their content.
func (v *View) Duplicates(ctx context.Context, o ...HeapOptions) (*answer.Listing, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) {
		return h.CountStrings(q.ctx, o), nil
	})
}

// Exceptions lists the exceptions of the heap. They are read while they are ranged over.
func (v *View) Exceptions(ctx context.Context, o ...HeapOptions) (*answer.Exceptions, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.Exceptions, error) {
		r, err := q.Objects()
		if err != nil {
			return nil, err
		}
		return r.Exceptions(q.ctx, h, o.Filter, o.Scan), nil
	})
}

// Generations counts the bytes of each generation in each heap. With dead it also counts those of unreachable objects.
func (v *View) Generations(ctx context.Context, dead bool) (*answer.GenerationSizes, error) {
	return ask(ctx, v, func(q *question) (*answer.GenerationSizes, error) {
		h, err := q.objectHeap()
		if err != nil {
			return nil, err
		}
		var live func(target.Addr) bool
		if dead {
			if live, err = q.live(); err != nil {
				return nil, err
			}
		}
		return h.SizesWithDead(q.ctx, live, q.scanning("scanning the heap", heap.ScanOptions{}))
	})
}

// RuntimeHeaps lists the segments of the GC heap and the runtime's native heaps. A runtime whose native heaps are not supported
// is answered without them.
func (v *View) RuntimeHeaps(ctx context.Context) (*answer.RuntimeHeaps, error) {
	return ask(ctx, v, func(q *question) (*answer.RuntimeHeaps, error) {
		rt, err := q.Runtime()
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
		h, err := q.Heap()
		if err != nil {
			return out, err
		}
		out.NoteAll(h.Warnings())
		out.GC = h.Overview(nil)
		return out, nil
	})
}

// Memory shows what the memory of the process is for: the GC heap, the runtime's native heaps, images, stacks, malloc and the rest. It needs
// no runtime, but shows less without one.
func (v *View) Memory(ctx context.Context, o ...MemoryOptions) (*answer.MemoryMap, error) {
	return ask(ctx, v, func(q *question) (*answer.MemoryMap, error) {
		if r := q.dump.file.Report(); r != nil {
			return nil, q.err
		}
		m, err := q.memoryMap()
		if err != nil {
			return nil, err
		}
		o := option(o)
		o.Symbols = cmp.Or(o.Symbols, q.dump.Symbols())
		o.Scan = q.scanning("scanning the heap", o.Scan)
		return m.Describe(q.ctx, o)
	})
}

// memoryMap makes the map of the process's memory, with all runtimes.
func (v *View) memoryMap() (*memorymap.Map, error) {
	d := v.of()
	return d.memory.Get(func() (*memorymap.Map, error) {
		p := memorymap.Process{Target: d.file, Memory: d.read, Threads: v.Threads}
		for _, inst := range d.Runtimes() {
			of := d.viewOf(inst)
			p.Runtimes = append(p.Runtimes, memorymap.Runtime{Runtime: of.Runtime, Heap: of.Heap})
		}
		return memorymap.New(p), nil
	})
}

// Handles lists the GC handles of some types, or of all.
func (v *View) Handles(ctx context.Context, types ...heap.HandleType) (*answer.Handles, error) {
	return ask(ctx, v, func(q *question) (*answer.Handles, error) {
		h, err := q.heap()
		if err != nil {
			return nil, err
		}
		return h.ListHandles(q.ctx, types...)
	})
}

// Finalizers lists the objects that have finalizers and are ready for them, or all in the queues.
func (v *View) Finalizers(ctx context.Context, o ...heap.FinalizerOptions) (*answer.Finalizers, error) {
	return ask(ctx, v, func(q *question) (*answer.Finalizers, error) {
		h, err := q.heap()
		if err != nil {
			return nil, err
		}
		return h.ListFinalizers(option(o))
	})
}

// GC describes the garbage collector: its settings, what it was doing, what it counted, the sizes of the generations, and what each thread has
// allocated. What could not be read is in the answer's list Absent, so that an answer without a heap has the rest.
func (v *View) GC(ctx context.Context) (*answer.GC, error) {
	return ask(ctx, v, func(q *question) (*answer.GC, error) {
		rt, err := q.Runtime()
		if err != nil {
			return nil, err
		}
		out, err := heap.DescribeGC(rt, q.dump.file)
		if err != nil {
			return nil, err
		}
		q.describeSettings(out)
		q.allocated(rt, out)
		return out, q.collections(out)
	})
}

// describeSettings adds the settings of the collector.
func (v *View) describeSettings(out *answer.GC) {
	s, err := v.SettingsReader()
	if err != nil {
		out.Lacks("settings in runtimeconfig.json", err)
		return
	}
	properties, err := s.Properties(&out.Gaps)
	out.Lacks("settings in runtimeconfig.json", err)
	environment, err := v.dump.environment()
	out.Lacks("settings in the environment", err)
	out.Settings = settings.GCSettings(environment, properties)
}

// collections adds what the heap knows about the collector. The error is the context's.
func (q *question) collections(out *answer.GC) error {
	h, err := q.objectHeap()
	if err != nil {
		out.Lacks("sizes of the generations", err)
		return nil
	}
	if err := h.DescribeSizes(q.ctx, out, q.scanning("measuring the generations", heap.ScanOptions{})); err != nil {
		if q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		out.Lacks("sizes of the generations", err)
	}
	s, err := q.SettingsReader()
	if err == nil {
		err = s.Collections(q.ctx, h, q.scanning("looking for figures of collections", heap.ScanOptions{}), out)
	}
	if q.ctx.Err() != nil {
		return q.ctx.Err()
	}
	out.Lacks("figures of collections", err)
	return nil
}

// allocated adds what the threads allocated, and which of them was stopping the others.
func (q *question) allocated(rt *dac.Runtime, out *answer.GC) {
	list, err := q.Threads()
	out.Lacks("threads", err)
	var lost error
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
		out.Left.Value += row.Left
		out.Threads = append(out.Threads, row)
	}
	if out.Lacks("bytes that threads allocated", lost); err != nil {
		out.Left.Err = err
	}
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

// HeapMap draws the heap in cells. With live it marks what is unreachable.
func (v *View) HeapMap(ctx context.Context, live bool, o ...heap.MapOptions) (*answer.HeapMap, error) {
	return ask(ctx, v, func(q *question) (*answer.HeapMap, error) {
		o := option(o)
		h, err := q.objectHeap()
		if err != nil {
			return nil, err
		}
		if live && o.Live == nil {
			if o.Live, err = q.live(); err != nil {
				return nil, err
			}
		}
		o.Scan = q.scanning("scanning the heap", o.Scan)
		return h.Map(q.ctx, o)
	})
}

// held computes an answer by what holds objects.
func held[T any](ctx context.Context, v *View, compute func(q *question, h *graph.Holders) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		h, err := q.holders()
		if err != nil {
			return none, err
		}
		return compute(q, h)
	})
}

// Leaks lists objects that retain much of the heap, and what usually grows without end in .NET.
func (v *View) Leaks(ctx context.Context, o ...LeakOptions) (*answer.Leaks, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Leaks, error) {
		r, err := q.Objects()
		if err != nil {
			return nil, err
		}
		o := option(o)
		o.Jobs = cmp.Or(o.Jobs, q.jobs(q.ctx))
		return leaks.Find(q.ctx, h, r, o)
	})
}

// GCRoot lists what keeps an object alive: a path to it from each kind of root.
func (v *View) GCRoot(ctx context.Context, object target.Addr, o ...GCRootOptions) (*answer.RootPaths, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.RootPaths, error) {
		return h.RootPaths(q.ctx, object, option(o))
	})
}

// PathTo returns a path by which one object keeps another one alive.
func (v *View) PathTo(ctx context.Context, from, to target.Addr, order graph.PathOrder) (*answer.ObjectPath, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.ObjectPath, error) {
		return h.PathTo(q.ctx, from, to, order)
	})
}

// Retained counts the bytes that would be free without the objects of each type, assembly, namespace or generation.
func (v *View) Retained(ctx context.Context, o ...RetainedOptions) (*answer.Retained, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Retained, error) {
		return h.Retained(q.ctx, option(o))
	})
}

// RetainedBy counts the bytes that would be free without each of some objects, and at most types of their types; 0 lists all.
func (v *View) RetainedBy(ctx context.Context, objects []target.Addr, types int) (*answer.Retained, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Retained, error) {
		return h.RetainedBy(q.ctx, objects, types)
	})
}

// Dominators returns the tree of the objects that own most of the heap.
func (v *View) Dominators(ctx context.Context, o ...DominatorOptions) (*answer.Dominators, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Dominators, error) {
		return h.DominatorTree(q.ctx, option(o))
	})
}

// DominatorsOf lists the owners of an object, and at most top objects that it owns; 0 lists all.
func (v *View) DominatorsOf(ctx context.Context, object target.Addr, top int) (*answer.Dominators, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Dominators, error) {
		return h.DominatorsOf(q.ctx, object, top)
	})
}

// DominatorChildren lists the objects that an object owns at first hand, or those that no other object owns, the largest first.
func (v *View) DominatorChildren(ctx context.Context, o ...ChildOptions) (*answer.Dominators, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Dominators, error) {
		return h.DominatorChildren(q.ctx, option(o))
	})
}

// Referrers lists what refers to an object.
func (v *View) Referrers(ctx context.Context, object target.Addr, o ...LinkOptions) (*answer.Links, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Links, error) {
		return h.Referrers(q.ctx, object, option(o))
	})
}

// Referents lists what an object refers to.
func (v *View) Referents(ctx context.Context, object target.Addr, o ...LinkOptions) (*answer.Links, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Links, error) {
		return h.Referents(q.ctx, object, option(o))
	})
}

// HandlesHold counts the bytes that would be free without each GC handle.
func (v *View) HandlesHold(ctx context.Context, o ...HandleOptions) (*answer.Handles, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Handles, error) {
		hold, err := h.HandlesHold(q.ctx, option(o))
		if err != nil {
			return nil, err
		}
		out := &answer.Handles{Hold: hold, Count: answer.Known(uint64(len(hold.Rows) + hold.More))}
		out.NoteAll(hold.Noted())
		return out, nil
	})
}

// Closure lists what an object keeps alive directly or through others.
func (v *View) Closure(ctx context.Context, object target.Addr, o ...ClosureOptions) (*answer.Closure, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Closure, error) {
		o := option(o)
		o.Scan = q.scanning("scanning the heap", o.Scan)
		return h.KeptBy(q.ctx, object, o)
	})
}

// ClosureOfType is Closure for all objects of a type together.
func (v *View) ClosureOfType(ctx context.Context, methodTable target.Addr, o ...ClosureOptions) (*answer.Closure, error) {
	return held(ctx, v, func(q *question, h *graph.Holders) (*answer.Closure, error) {
		o := option(o)
		o.Scan = q.scanning("scanning the heap", o.Scan)
		return h.KeptByType(q.ctx, methodTable, o)
	})
}

// WasteOptions choose kinds of waste.
type WasteOptions struct {
	waste.Options
	OnlyLive bool // leaves out what nothing keeps alive
}

// Waste finds memory that holds nothing, or the same content again, and who refers to it.
func (v *View) Waste(ctx context.Context, o ...WasteOptions) (*answer.Waste, error) {
	return ask(ctx, v, func(q *question) (*answer.Waste, error) {
		o := option(o)
		o.Scan = q.scanning("searching for waste", o.Scan)
		h, err := q.objectHeap()
		if err != nil {
			return nil, err
		}
		r, err := q.Objects()
		if err != nil {
			return nil, err
		}
		if o.OnlyLive && o.Live == nil {
			if o.Live, err = q.live(); err != nil {
				return nil, err
			}
		}
		if o.Statics == nil {
			if o.Statics, err = q.wasteStatics(h); err != nil {
				return nil, err
			}
		}
		if o.Locals == nil {
			if o.Locals, err = q.wasteLocals(); err != nil {
				return nil, err
			}
		}
		return waste.Find(q.ctx, h, r, o.Options)
	})
}

// wasteStatics lists the static fields that refer to objects. Fields that can't be read are noted: their objects lack a holder.
func (q *question) wasteStatics(h *heap.Heap) ([]waste.Static, error) {
	reader, err := q.RootReader()
	if err != nil {
		return nil, err
	}
	var list []waste.Static
	missing, first := 0, error(nil)
	for s, err := range reader.Statics(q.ctx) {
		if q.ctx.Err() != nil {
			return nil, q.ctx.Err()
		}
		if err != nil {
			missing, first = missing+1, cmp.Or(first, err)
			continue
		}
		out := waste.Static{Slot: s.Slot, Object: s.Object, Table: s.Table}
		out.Name.S, out.Name.Err = s.Name()
		if out.Name.Err != nil {
			out.Name.Instead = "a field of " + h.Runtime().NamelessType(s.Field.Declaring.MT.Addr)
		}
		list = append(list, out)
	}
	if missing > 0 {
		q.note(fmt.Errorf("%d static fields, or their types, can't be read: objects may lack holders: %w", missing, first))
	}
	return list, nil
}

// wasteLocals lists what the stacks of threads refer to. Words that can't be read are noted: their objects lack a holder.
func (q *question) wasteLocals() ([]waste.Local, error) {
	reader, err := q.RootReader()
	if err != nil {
		return nil, err
	}
	var list []waste.Local
	missing, first := 0, error(nil)
	for root, err := range reader.All(q.ctx, roots.Options{}) {
		switch {
		case q.ctx.Err() != nil:
			return nil, q.ctx.Err()
		case root.Kind != roots.KindStack:
		case err != nil:
			missing, first = missing+1, cmp.Or(first, err)
		default:
			name := func() answer.Text { return answer.Text{S: reader.Describe(q.ctx, &root).Name} }
			list = append(list, waste.Local{Object: root.Object, Name: name})
		}
	}
	if missing > 0 {
		q.note(fmt.Errorf("%d stacks, or words of them, can't be read: objects may lack holders: %w", missing, first))
	}
	return list, nil
}

// Neighbours describes the objects around an address of the heap. An address that is in no segment is an error.
func (v *View) Neighbours(ctx context.Context, a target.Addr) (*answer.Neighbours, error) {
	return ask(ctx, v, func(q *question) (*answer.Neighbours, error) {
		h, err := q.objectHeap()
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

// Where describes where in the heap an address is.
func (v *View) Where(ctx context.Context, a target.Addr) (*answer.Where, error) {
	return ask(ctx, v, func(q *question) (*answer.Where, error) {
		h, err := q.heap()
		if err != nil {
			return nil, err
		}
		return h.Where(a), nil
	})
}

// VerifyObject checks one object for damage.
func (v *View) VerifyObject(ctx context.Context, object target.Addr) (*answer.ObjectSoundness, error) {
	return ask(ctx, v, func(q *question) (*answer.ObjectSoundness, error) {
		h, err := q.heap()
		if err != nil {
			return nil, err
		}
		return h.ObjectSoundness(object)
	})
}

// fragmentation counts the free space between objects.
func (v *View) fragmentation(ctx context.Context) (*answer.Fragmentation, error) {
	return ask(ctx, v, func(q *question) (*answer.Fragmentation, error) {
		h, err := q.objectHeap()
		if err != nil {
			return nil, err
		}
		return h.Fragmentation(q.ctx, q.scanning("measuring free space", heap.ScanOptions{}))
	})
}

// nativeMemory returns how much memory malloc and the GC heap have.
func (v *View) nativeMemory(ctx context.Context) (*triage.NativeMemory, error) {
	return ask(ctx, v, func(*question) (*triage.NativeMemory, error) {
		m, err := v.memoryMap()
		if err != nil {
			return nil, err
		}
		arenas, blocks, counted, err := m.Malloc()
		return &triage.NativeMemory{Arenas: arenas, Blocks: blocks, Counted: counted, Heap: m.Committed(), Err: err}, nil
	})
}

// gcSettings returns the settings of the collector. The error is why some may be missing.
func (v *View) gcSettings() ([]answer.GCSetting, error) {
	var g answer.GC
	v.describeSettings(&g)
	return g.Settings, g.Failure()
}

// soundness is VerifyHeap for who asks for the graph anyway: references that the graph follows without a fault are sound.
func (v *View) soundness(ctx context.Context) (*answer.Soundness, error) {
	g, err := v.Graph(ctx, graph.Options{})
	if err != nil || !g.Stats().Followed() {
		return v.VerifyHeap(ctx)
	}
	return ask(ctx, v, func(q *question) (*answer.Soundness, error) {
		h, err := q.objectHeap()
		if err != nil {
			return nil, err
		}
		return h.HeaderSoundness(q.ctx, q.scanning("verifying headers", heap.ScanOptions{}))
	})
}

// VerifyHeap checks the objects of the heap for damage.
func (v *View) VerifyHeap(ctx context.Context, o ...HeapOptions) (*answer.Soundness, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.Soundness, error) {
		return h.Soundness(q.ctx, o.Filter, o.Scan)
	})
}

// GenerationStats counts the objects of a generation by type.
func (v *View) GenerationStats(ctx context.Context, g heap.Generation, o ...HeapOptions) (*answer.GenerationObjects, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.GenerationObjects, error) {
		return h.CountGeneration(q.ctx, g, o)
	})
}

// GenerationObjects lists the objects of a generation. They are read while they are ranged over.
func (v *View) GenerationObjects(ctx context.Context, g heap.Generation, o ...HeapOptions) (*answer.GenerationObjects, error) {
	return heapAnswer(ctx, v, o, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.GenerationObjects, error) {
		return h.ListGeneration(q.ctx, g, o), nil
	})
}

// SizeStatistics counts the objects of each generation by their size.
func (v *View) SizeStatistics(ctx context.Context) (*answer.SizeStatistics, error) {
	return heapAnswer(ctx, v, nil, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.SizeStatistics, error) {
		return h.SizeHistograms(q.ctx, o.Scan)
	})
}

// OldReferences lists the objects of older generations that refer to younger ones.
func (v *View) OldReferences(ctx context.Context) (*answer.OldReferences, error) {
	return heapAnswer(ctx, v, nil, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.OldReferences, error) {
		return h.OldReferences(q.ctx, o.Scan)
	})
}

// LargeReferences lists the objects that refer to large objects.
func (v *View) LargeReferences(ctx context.Context) (*answer.LargeReferences, error) {
	return heapAnswer(ctx, v, nil, func(q *question, h *heap.Heap, o heap.ListOptions) (*answer.LargeReferences, error) {
		return h.LargeReferences(q.ctx, o.Scan)
	})
}

// Unreachable lists the objects in a range of addresses that nothing keeps alive. With withoutFinalizers, the finalizer queue
// keeps none alive.
func (v *View) Unreachable(ctx context.Context, r target.Range, withoutFinalizers bool) (*answer.Unreachable, error) {
	return ask(ctx, v, func(q *question) (*answer.Unreachable, error) {
		h, err := q.objectHeap()
		if err != nil {
			return nil, err
		}
		g, err := q.liveGraph()
		if err != nil {
			return nil, err
		}
		live := g.LiveStarts
		if withoutFinalizers {
			live = func(ctx context.Context) (func(target.Addr) bool, error) {
				return g.LiveWithout(ctx, graph.SourceFinalizer)
			}
		}
		is, err := live(q.ctx)
		if err != nil {
			return nil, err
		}
		return h.UnreachableIn(r, is)
	})
}

// ExportHeap returns what the packages below export write: the graph of the heap's objects with the names of their types.
func (v *View) ExportHeap(ctx context.Context) (*export.Heap, error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (*export.Heap, error) {
		g, err := q.Graph(q.ctx, graph.Options{})
		if err != nil {
			return nil, err
		}
		return &export.Heap{Graph: g, Objects: r, Jobs: q.jobs(q.ctx)}, nil
	})
}

// StressLog describes the runtime's stress log, with the messages of all threads or of the one with an OS id that is not 0.
func (v *View) StressLog(ctx context.Context, thread uint32) (*answer.StressLog, error) {
	return managed(ctx, v, func(q *question, rt *dac.Runtime) (*answer.StressLog, error) {
		l, err := stresslog.Open(rt, stressNames{code.Of(rt), v.dump.Symbols()})
		if err != nil {
			return nil, err
		}
		return l.Describe(q.ctx, uint64(thread)), nil
	})
}

// stressNames names methods and code in messages of the stress log.
type stressNames struct {
	code    *code.Reader
	symbols *image.Symbols
}

func (n stressNames) Method(a target.Addr) (string, error) {
	m, err := n.code.MethodDesc(a)
	if err != nil {
		return "", err
	}
	return n.code.MethodName(m, code.MethodQualified)
}

func (n stressNames) Code(a target.Addr) (string, error) {
	if info, err := n.code.PlaceAt(a); err == nil && info.Method != nil {
		return n.code.MethodName(info.Method, code.MethodQualified)
	}
	if s, ok := n.symbols.At(a); ok {
		return s.String(), nil
	}
	return "", target.Unsupportedf("nothing is known at %016x", uint64(a))
}
