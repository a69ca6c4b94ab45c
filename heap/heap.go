// Package heap reads the GC heap of a dumped process: sub heaps, segments and regions, generations,
// and all objects in address order.
//
// A Heap is safe for concurrent use. After Open only its cache of types changes, which is read without locks.
//
// Stability: stable.
package heap

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// A Heap is the GC heap of one runtime.
type Heap struct {
	rt       *dac.Runtime
	mem      target.Memory // the dump alone: no file supplies heap memory
	claims   *target.Claims
	server   bool
	regions  bool
	genCount int
	subHeaps []SubHeap
	segments []Segment // by Objects.Start
	lost     []LostSegment
	contexts []dac.AllocContext
	held     []target.Range // the stored parts of the segments, by address
	gaps     []target.Range // unused memory of allocation contexts inside segments, by address
	types    *typeTable
	edges    *edgeTypes
	bricks   brickTables
	seeds    [2]maphash.Seed // for hashing contents
	inGC     bool
	warnings []error
	// contextUnknown reports that the process may have a global allocation context that can't be read.
	contextUnknown bool
	datas          *uint64
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

// InGC reports whether the dump was taken while a collection moved objects. The heap is then read as
// far as it is sound.
func (h *Heap) InGC() bool { return h.inGC }

// SubHeaps returns the heaps.
func (h *Heap) SubHeaps() []SubHeap { return h.subHeaps }

// Segments returns the segments or regions by the address of their objects.
func (h *Heap) Segments() []Segment { return h.segments }

// Lost returns the unreadable segments of the heap, in the order of each sub heap's generations.
func (h *Heap) Lost() []LostSegment { return h.lost }

// AllocContexts returns the allocation contexts in use, by address.
func (h *Heap) AllocContexts() []dac.AllocContext { return h.contexts }

// DATAS returns the mode of dynamic adaptation to application sizes, and whether the runtime publishes it.
func (h *Heap) DATAS() (uint64, bool) {
	if h.datas == nil {
		return 0, false
	}
	return *h.datas, true
}

// Warnings returns what opening had to leave out.
func (h *Heap) Warnings() []error { return h.warnings }

// Unread returns an error if the heap has segments and none of them can be read. The heap is then unknown, not empty.
func (h *Heap) Unread() error {
	if len(h.segments) > 0 || len(h.warnings) == 0 {
		return nil
	}
	return fmt.Errorf("no segment of the heap can be read: %w", h.warnings[0])
}

// unreadOf returns an error if f, whose spans are given, selects objects that may exist and none of them can be read.
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
	if err := h.readMode(v); err != nil {
		return err
	}
	h.genCount = v.generations
	if err := h.readSubHeaps(v); err != nil {
		return err
	}
	h.regions = v.genOffsets[genAllocationStart] < 0
	for i := range h.subHeaps {
		h.readSegments(&h.subHeaps[i])
	}
	// An empty segment precedes one that begins at the same address.
	slices.SortFunc(h.segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Objects.Start, b.Objects.Start), cmp.Compare(a.Objects.End, b.Objects.End))
	})
	h.checkDisjoint()
	return nil
}

// vars are the variables that the GC publishes (gcinterface.dac.h, GcDacVars).
type vars struct {
	r              target.Memory
	l              dac.Layout
	at             target.Addr
	generations    int
	generationSize int
	genOffsets     [3]int32
}

// Entries of GenerationFieldOffsets (gcinterface.dac.h, generation_field_offsets).
const (
	genAllocContext = iota
	genStartSegment
	genAllocationStart
)

// Entries of GCHeapFieldOffsets that are used here (dac_gcheap_fields.h, by the order of its DEFINE_* lines).
const (
	heapAllocAllocated     = 0
	heapEphemeralSegment   = 1
	heapFinalizeQueue      = 2
	heapOOMInfo            = 3
	heapGenerationTable    = 18
	heapTypeServer         = 2 // GC_HEAP_SVR
	defaultGenerationCount = 4 // for runtimes that do not publish it
)

func (v *vars) addr(field string) (target.Addr, error) {
	off, err := v.l.Offset("GcDacVars", field)
	if err != nil {
		return 0, err
	}
	return target.Pointer(v.r, v.at+target.Addr(off))
}

// deref reads the variable whose address is in a field.
func (v *vars) deref(field string) (target.Addr, error) {
	a, err := v.addr(field)
	if err != nil || a == 0 {
		return 0, err
	}
	return target.Pointer(v.r, a)
}

// readVars reads the variables. It does not change h.
func (h *Heap) readVars() (*vars, error) {
	l := h.rt.Layout()
	v := &vars{r: h.mem, l: l, generations: defaultGenerationCount}
	var err error
	if v.at, err = h.rt.GlobalPointer("GcDacVars"); err != nil {
		return nil, err
	}
	if v.at == 0 {
		return nil, answer.ErrNoHeapYet
	}
	if off, err := l.Offset("GcDacVars", "TotalGenerationCount"); err == nil {
		n, err := target.Uint32(h.mem, v.at+target.Addr(off))
		if err != nil {
			return nil, err
		}
		v.generations = int(n)
	}
	size, err := v.addr("GenerationSize")
	if err != nil {
		return nil, err
	}
	if v.generations > limits.Generations || size > limits.GenerationSize {
		return nil, target.Corruptf("%d generations of %#x bytes", v.generations, uint64(size))
	}
	v.generationSize = int(size)
	return v, h.readGenerationOffsets(v)
}

func (h *Heap) readGenerationOffsets(v *vars) error {
	if err := v.l.Constant("GenerationFieldOffsets", &v.genOffsets); err != nil {
		return err
	}
	// .NET Core 3.1 publishes none, and small dumps lack the GC module's read-only data: the table is right then.
	if at, err := v.addr("GenerationFieldOffsets"); err == nil {
		if b, err := target.Bytes(h.rt.Memory(), at, 4*len(v.genOffsets)); err == nil {
			for i := range v.genOffsets {
				v.genOffsets[i] = int32(le32(b[4*i:]))
			}
		}
	}
	for _, off := range v.genOffsets[:genAllocationStart] {
		if off < 0 || int(off) > v.generationSize-8 {
			return target.Corruptf("generation field at %#x of %#x bytes", off, v.generationSize)
		}
	}
	return nil
}

// readMode reads whether the GC is a server GC and whether it was running.
func (h *Heap) readMode(v *vars) error {
	if at, err := v.l.Variable("HeapType"); err == nil {
		t, err := target.Uint32(h.mem, at)
		if err != nil {
			return err
		}
		h.server = t == heapTypeServer
	}
	if at, err := v.addr("StructuresInvalidCount"); err == nil && at != 0 {
		n, err := target.Uint32(h.mem, at)
		h.inGC = err == nil && n != 0
	}
	h.datas = v.adaptationMode()
	return nil
}

// adaptationMode reads GcDacVars.dynamic_adaptation_mode, which a server GC points at the variable.
// The member was added in version 2.4 of the structure (gcinterface.dacvars.def). A GC loaded
// separately may be older than the runtime.
func (v *vars) adaptationMode() *uint64 {
	const major, minor = 2, 4
	version, err := v.version()
	if err != nil || version[0] != major || version[1] < minor {
		return nil
	}
	at, err := v.addr("DynamicAdaptationMode")
	if err != nil || at == 0 {
		return nil
	}
	n, err := target.Uint32(v.r, at)
	if err != nil {
		return nil
	}
	mode := uint64(n)
	return &mode
}

// version returns the major and minor version of GcDacVars.
func (v *vars) version() (b [2]byte, err error) {
	for i, field := range [...]string{"Major", "Minor"} {
		off, err := v.l.Offset("GcDacVars", field)
		if err != nil {
			return b, err
		}
		if b[i], err = target.Uint8(v.r, v.at+target.Addr(off)); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (h *Heap) readSubHeaps(v *vars) error {
	heaps, err := h.subHeapPlaces(v)
	if err != nil {
		return err
	}
	for i := range heaps {
		s := &heaps[i].SubHeap
		if s.EphemeralSegment, err = heaps[i].pointer(h, v, "EphemeralHeapSegment", heapEphemeralSegment); err != nil {
			return err
		}
		if s.AllocAllocated, err = heaps[i].pointer(h, v, "AllocAllocated", heapAllocAllocated); err != nil {
			return err
		}
		if s.FinalizeQueue, err = heaps[i].pointer(h, v, "FinalizeQueue", heapFinalizeQueue); err != nil {
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

// A subHeapPlace locates a SubHeap and, for a server GC, its members.
type subHeapPlace struct {
	SubHeap
	offsets []byte // the GCHeapFieldOffsets; nil for a workstation GC, whose members are variables
}

// pointer reads a member by its variable's name, or by its index in a gc_heap.
func (s *subHeapPlace) pointer(h *Heap, v *vars, variable string, field int) (target.Addr, error) {
	if s.offsets == nil {
		return v.deref(variable)
	}
	return target.Pointer(h.mem, s.field(field))
}

// field returns the address of a gc_heap's member.
func (s *subHeapPlace) field(k int) target.Addr {
	return s.Addr + target.Addr(int32(le32(s.offsets[4*k:])))
}

// subHeapPlaces locates the heaps without reading them.
func (h *Heap) subHeapPlaces(v *vars) ([]subHeapPlace, error) {
	if !h.server {
		var s subHeapPlace
		var err error
		if s.GenerationTableAt, err = v.addr("GenerationTable"); err != nil {
			return nil, err
		}
		if at, err := v.addr("OomInfo"); err == nil {
			s.OOMHistoryAt = at
		}
		return []subHeapPlace{s}, nil
	}
	offsets, err := v.addr("GCHeapFieldOffsets")
	if err != nil { // before .NET 5
		return nil, fmt.Errorf("heaps of a server GC: this runtime does not publish their layout: %w", err)
	}
	nAt, err := v.addr("NHeaps")
	if err != nil {
		return nil, err
	}
	n, err := target.Uint32(h.mem, nAt)
	if err != nil {
		return nil, err
	}
	if n == 0 || n > limits.GCHeaps {
		return nil, target.Corruptf("%d GC heaps", n)
	}
	table, err := v.deref("GHeaps")
	if err != nil {
		return nil, err
	}
	b, err := target.Bytes(h.rt.Memory(), offsets, 4*(heapGenerationTable+1))
	if err != nil {
		return nil, fmt.Errorf("offsets of gc_heap: %w", err)
	}
	heaps := make([]subHeapPlace, n)
	for i := range heaps {
		s := &heaps[i]
		s.Index, s.offsets = i, b
		if s.Addr, err = target.Pointer(h.mem, table+target.Addr(8*i)); err != nil {
			return nil, err
		}
		s.GenerationTableAt, s.OOMHistoryAt = s.field(heapGenerationTable), s.field(heapOOMInfo)
	}
	return heaps, nil
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

// readContexts collects the allocation contexts of threads, process and heaps. Objects end at Pointer
// and resume after Limit.
func (h *Heap) readContexts() {
	contexts, err := h.rt.AllocContexts()
	if err != nil {
		h.warnings = append(h.warnings, fmt.Errorf("allocation contexts: %w", err))
	}
	for _, c := range contexts {
		h.addContext(c)
	}
	global, gerr := h.rt.GlobalAllocContext()
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

// readStored measures how much of each segment the dump holds.
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
// segment is ignored, since believing it would hide objects.
func (h *Heap) readGaps() {
	for _, c := range h.contexts {
		s := h.Segment(c.Pointer)
		if s == nil {
			continue // its heap is not in the dump, or it is empty at the end
		}
		if c.Limit > s.Objects.End || len(h.gaps) > 0 && c.Pointer < h.gaps[len(h.gaps)-1].End {
			h.warnings = append(h.warnings, target.Corruptf("allocation context %#x-%#x does not fit segment %#x and is left out", uint64(c.Pointer), uint64(c.Limit), uint64(s.Addr)))
			continue
		}
		end := min(s.Objects.End, c.Limit+minObjectSize)
		h.gaps = append(h.gaps, target.Range{Start: c.Pointer, End: end})
	}
}

// checkDisjoint separates segments that share addresses, in which objects would be counted twice: a
// corrupt list or a wrong layout. Of two such segments, one that does not begin with an object is
// dropped if the other does; else the lower one ends where the upper one begins.
func (h *Heap) checkDisjoint() {
	kept := h.segments[:0]
	for _, s := range h.segments {
		drop := false
		for !drop && len(kept) > 0 && kept[len(kept)-1].Objects.End > s.Objects.Start {
			lower := &kept[len(kept)-1]
			low, up := h.beginsWithObject(lower), h.beginsWithObject(&s)
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
	return target.Corruptf("segment %#x overlaps segment %#x and is %s", uint64(s.Addr), uint64(other.Addr), fate)
}

// beginsWithObject reports whether the first word of s is an object's.
func (h *Heap) beginsWithObject(s *Segment) bool {
	b, err := target.Bytes(h.mem, s.Objects.Start, headSize)
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
