// Package heap reads the GC heap of a dumped process: sub heaps, segments and regions, generations, GC handles,
// finalizer queues, and all objects in address order. It does not read fields of objects (package objects), and
// does not find what keeps them alive (package graph).
//
// Start at Open, Heap.Walk and Heap.Stats. A Heap is safe for concurrent use: after Open only its cache of
// types changes, which is read without locks.
//
// Stability: stable.
package heap

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/target"
)

// A Heap is the GC heap of one runtime.
type Heap struct {
	rt       *dac.Runtime
	mem      target.Memory // the dump alone: files do not supply heap memory
	claims   *target.Claims
	server   bool
	regions  bool
	genCount int
	// fillPointers is the offset of a finalizer queue's bounds.
	fillPointers int
	subHeaps     []SubHeap
	segments     []Segment // sorted by Objects.Start
	lost         []LostSegment
	contexts     []dac.AllocContext
	held         []target.Range // stored parts of the segments, by address
	gaps         []target.Range // unused memory of allocation contexts inside segments, by address
	types        *typeTable
	edges        *edgeTypes
	bricks       brickTables
	seeds        [2]maphash.Seed // for hashing contents
	inGC         bool
	warnings     []error
	// contextUnknown reports that the process may have a global allocation context that is unreadable.
	contextUnknown bool
	datas          *uint64

	census lazy.Value[*Census]
}

// A SubHeap is one of a server GC's heaps, or the only heap of a workstation GC.
type SubHeap struct {
	Index             int
	Addr              target.Addr // gc_heap; 0 for a workstation GC
	EphemeralSegment  target.Addr
	AllocAllocated    target.Addr // end of the objects in the ephemeral segment
	FinalizeQueue     target.Addr
	OOMHistoryAt      target.Addr // 0 if the runtime does not record it
	Generations       []GenerationData
	GenerationTableAt target.Addr
}

// GenerationData is an entry of a sub heap's generation table.
type GenerationData struct {
	StartSegment    target.Addr
	AllocationStart target.Addr // 0 with regions
	AllocContext    dac.AllocContext
}

// errNoObject is the error for the zero Object, which a walk yields beside an error.
var errNoObject = target.Unsupportedf("the zero value is not an object")

// Open reads the heap's structures, not its objects. Missing or corrupt segments are warnings.
func Open(rt *dac.Runtime, t target.Target) (*Heap, error) {
	h := &Heap{rt: rt, mem: t, claims: target.ClaimsOf(t), types: newTypeTable(rt, rt.WellKnown().Free), edges: newEdgeTypes(rt, t)}
	h.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	if err := h.open(); err != nil {
		return nil, fmt.Errorf("GC heap: %w", err)
	}
	h.readContexts()
	h.readStored(t)
	h.readGaps()
	return h, nil
}

// Runtime returns the runtime that owns the heap.
func (h *Heap) Runtime() *dac.Runtime { return h.rt }

// Server reports whether the GC is a server GC.
func (h *Heap) Server() bool { return h.server }

// Regions reports whether the heap consists of regions instead of segments.
func (h *Heap) Regions() bool { return h.regions }

// InGC reports whether the dump was taken while a collection moved objects, or while one in the background swept. The heap is then read as far as sound.
func (h *Heap) InGC() bool { return h.inGC }

// SubHeaps returns a copy of the list of heaps.
func (h *Heap) SubHeaps() []SubHeap { return slices.Clone(h.subHeaps) }

// Segments returns a copy of the list of segments or regions, by the address of their objects. Segment finds one
// without a copy.
func (h *Heap) Segments() []Segment { return slices.Clone(h.segments) }

// Lost returns a copy of the list of unreadable segments, in the order of each sub heap's generations.
func (h *Heap) Lost() []LostSegment { return slices.Clone(h.lost) }

// AllocContexts returns a copy of the list of allocation contexts in use, by address.
func (h *Heap) AllocContexts() []dac.AllocContext { return slices.Clone(h.contexts) }

// DATAS returns the mode of dynamic adaptation to application sizes, and whether the runtime publishes it.
func (h *Heap) DATAS() (uint64, bool) {
	if h.datas == nil {
		return 0, false
	}
	return *h.datas, true
}

// Warnings returns a copy of the list of parts that Open had to leave out.
func (h *Heap) Warnings() []error { return slices.Clone(h.warnings) }

// Missing returns how many bytes of the segments' objects are not in the dump, and the size of the segments. Unused memory of allocation
// contexts counts as neither. Lost segments have no known size.
func (h *Heap) Missing() (missing, size uint64) {
	if h == nil {
		return 0, 0
	}
	for i := range h.segments {
		s := &h.segments[i]
		size += s.Objects.Size()
		missing += s.Objects.Size() - min(s.stored, s.Objects.Size())
	}
	for _, gap := range h.gaps {
		unused := gap.Size()
		first := sort.Search(len(h.held), func(i int) bool { return h.held[i].End > gap.Start })
		for i := first; i < len(h.held) && h.held[i].Start < gap.End; i++ {
			unused -= uint64(min(h.held[i].End, gap.End) - max(h.held[i].Start, gap.Start))
		}
		size -= gap.Size()
		missing -= min(missing, unused)
	}
	return missing, size
}

// Unread returns an error if the heap has segments and all of them are unreadable. Such a heap is unknown, not
// empty.
func (h *Heap) Unread() error {
	if len(h.segments) > 0 || len(h.warnings) == 0 {
		return nil
	}
	return fmt.Errorf("no segment of the heap can be read: %w", h.warnings[0])
}

// unreadOf returns an error if f, with the given spans, selects objects that may exist and all of them are
// unreadable.
func (h *Heap) unreadOf(f *Filter, spans []Span) error {
	if err := h.Unread(); err != nil || len(spans) > 0 {
		return err
	}
	f = f.orAll()
	for i := range h.lost {
		if l := &h.lost[i]; f.Segments == nil || f.Segments(&Segment{Addr: l.Addr, SubHeap: l.SubHeap}) {
			if f.Generations == nil || slices.ContainsFunc(f.Generations, func(g Generation) bool { return h.mayHold(l, g) }) {
				return fmt.Errorf("none of the selected objects can be read: %w", l.Err)
			}
		}
	}
	return nil
}

func (h *Heap) open() error {
	v, err := h.readVars()
	if err != nil {
		return err
	}
	h.readMode(v)
	h.genCount = v.generations
	if off, err := v.l.Offset("CFinalize", "FillPointers"); err == nil { // from the GC's contract
		h.fillPointers = off
	}
	if err := h.readSubHeaps(v); err != nil {
		return err
	}
	h.regions = v.genOffsets[genAllocationStart] < 0
	for i := range h.subHeaps {
		h.readSegments(&h.subHeaps[i])
	}
	// An empty segment comes before one that starts at the same address.
	slices.SortStableFunc(h.segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Objects.Start, b.Objects.Start), cmp.Compare(a.Objects.End, b.Objects.End))
	})
	h.checkDisjoint()
	return nil
}

func (h *Heap) readSubHeaps(v *vars) error {
	heaps, err := h.subHeapPlaces(v)
	if err != nil {
		return err
	}
	for i := range heaps {
		s := &heaps[i].SubHeap
		if s.EphemeralSegment, err = heaps[i].pointer("EphemeralHeapSegment"); err != nil {
			return err
		}
		if s.AllocAllocated, err = heaps[i].pointer("AllocAllocated"); err != nil {
			return err
		}
		if s.FinalizeQueue, err = heaps[i].pointer("FinalizeQueue"); err != nil {
			h.warnings = append(h.warnings, fmt.Errorf("finalizer queue%s: %w", ofHeap(s), err))
		}
		if err := h.readGenerations(v, s); err != nil {
			return err
		}
		h.subHeaps = append(h.subHeaps, *s)
	}
	return nil
}

// ofHeap names a heap of a server GC.
func ofHeap(s *SubHeap) string {
	if s.Addr == 0 {
		return ""
	}
	return fmt.Sprintf(" of heap %d", s.Index)
}

func (h *Heap) readGenerations(v *vars, s *SubHeap) error {
	gc := struct {
		Pointer int `layout:"Pointer"`
		Limit   int `layout:"Limit"`
	}{}
	if err := v.l.Bind("GCAllocContext", &gc); err != nil {
		return err
	}
	if end := int(v.genOffsets[genAllocContext]) + max(gc.Pointer, gc.Limit) + 8; end > v.generationSize {
		return target.Corruptf("allocation context up to %#x of %#x bytes", end, v.generationSize)
	}
	for i := range v.generations {
		at := s.GenerationTableAt + target.Addr(i*v.generationSize)
		b, err := target.Bytes(h.mem, at, v.generationSize)
		if err != nil {
			return fmt.Errorf("generation %d: %w", i, err)
		}
		ac := int(v.genOffsets[genAllocContext])
		g := GenerationData{
			StartSegment: target.Addr(le64(b[v.genOffsets[genStartSegment]:])),
			AllocContext: dac.AllocContext{Pointer: target.Addr(le64(b[ac+gc.Pointer:])), Limit: target.Addr(le64(b[ac+gc.Limit:]))},
		}
		if off := v.genOffsets[genAllocationStart]; off >= 0 && int(off) <= len(b)-8 {
			g.AllocationStart = target.Addr(le64(b[off:]))
		}
		s.Generations = append(s.Generations, g)
	}
	return nil
}

// readContexts collects the allocation contexts of threads, process and heaps: no objects from Pointer to Limit.
func (h *Heap) readContexts() {
	contexts, err := h.Runtime().AllocContexts()
	if err != nil {
		h.warnings = append(h.warnings, fmt.Errorf("allocation contexts: %w", err))
	}
	for _, c := range contexts {
		h.addContext(c)
	}
	global, gerr := h.Runtime().GlobalAllocContext()
	if gerr == nil {
		h.addContext(global)
	} else if err == nil && len(h.contexts) == 0 && !h.server {
		h.contextUnknown = true
		h.warnings = append(h.warnings, fmt.Errorf("no thread has an allocation context, and the global one is unknown: "+
			"zeros that follow an object of generation 0 are treated as its unused memory: %w", gerr))
	}
	for i := range h.subHeaps {
		for _, g := range h.subHeaps[i].Generations[:min(1, h.genCount)] {
			h.addContext(g.AllocContext)
		}
	}
	sort.Slice(h.contexts, func(i, j int) bool { return h.contexts[i].Pointer < h.contexts[j].Pointer })
}

func (h *Heap) addContext(c dac.AllocContext) {
	if c.Pointer != 0 && c.Limit >= c.Pointer {
		h.contexts = append(h.contexts, c)
	}
}

// readStored measures the stored parts of each segment.
func (h *Heap) readStored(t target.Target) {
	for r := range t.Regions() {
		end := r.Start + target.Addr(r.Stored)
		first := sort.Search(len(h.segments), func(i int) bool { return h.segments[i].Objects.End > r.Start })
		for i := first; i < len(h.segments) && h.segments[i].Objects.Start < end; i++ {
			o := h.segments[i].Objects
			held := target.Range{Start: max(o.Start, r.Start), End: min(o.End, end)}
			h.segments[i].stored += held.Size()
			if n := len(h.held); n > 0 && h.held[n-1].End == held.Start && held.Start != o.Start {
				h.held[n-1].End = held.End
			} else if held.Size() > 0 {
				h.held = append(h.held, held)
			}
		}
	}
}

// readGaps computes the unused memory of the allocation contexts. A context that does not fit its
// segment is ignored, since believing it would hide objects. So is an empty one where an object begins: a
// collection empties the context of generation 0 at the start of its first region (gc.cpp, plan_phase).
func (h *Heap) readGaps() {
	for _, c := range h.contexts {
		s := h.Segment(c.Pointer)
		if s == nil {
			continue // its heap is not in the dump, or it is empty at the end
		}
		if c.Limit > s.Objects.End || len(h.gaps) > 0 && c.Pointer < h.gaps[len(h.gaps)-1].End {
			h.warnings = append(h.warnings, target.CorruptHeapf("allocation context %#x-%#x does not fit segment %#x and is left out", uint64(c.Pointer), uint64(c.Limit), uint64(s.Addr)))
			continue
		}
		if c.Pointer == c.Limit && h.objectBegins(c.Pointer) {
			continue
		}
		end := min(s.Objects.End, c.Limit+minObjectSize)
		h.gaps = append(h.gaps, target.Range{Start: c.Pointer, End: end})
	}
}

// checkDisjoint separates overlapping segments, in which objects would be counted twice. The cause is a corrupt
// list or a wrong layout. If only one of two segments starts with an object, it drops the other; else it ends
// the lower one at the start of the upper one.
func (h *Heap) checkDisjoint() {
	kept := h.segments[:0]
	for _, s := range h.segments {
		drop := false
		for !drop && len(kept) > 0 && kept[len(kept)-1].Objects.End > s.Objects.Start {
			lower := &kept[len(kept)-1]
			low, up := h.objectBegins(lower.Objects.Start), h.objectBegins(s.Objects.Start)
			switch {
			case low && !up || s.Objects.Size() == 0:
				h.lose(&s, overlaps(&s, lower, "left out"))
				drop = true
			case up && !low || lower.Objects.Start == s.Objects.Start:
				h.lose(lower, overlaps(lower, &s, "left out"))
				kept = kept[:len(kept)-1]
			default:
				h.warnings = append(h.warnings, overlaps(lower, &s, "cut"))
				lower.cut(s.Objects.Start)
			}
		}
		if !drop {
			kept = append(kept, s)
		}
	}
	h.segments = kept
}

func overlaps(s, other *Segment, fate string) error {
	return target.CorruptHeapf("segment %#x overlaps segment %#x and is %s", uint64(s.Addr), uint64(other.Addr), fate)
}

// objectBegins reports whether an object begins at a, by its first word.
func (h *Heap) objectBegins(a target.Addr) bool {
	b, err := target.Bytes(h.mem, a, headSize)
	if err != nil {
		return false
	}
	_, err = h.types.lookup(methodTableOf(b))
	return err == nil
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func le64(b []byte) uint64 { return uint64(le32(b)) | uint64(le32(b[4:]))<<32 }
