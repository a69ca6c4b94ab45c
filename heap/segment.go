package heap

import (
	"fmt"
	"sort"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Generation is the place where the GC keeps an object.
type Generation uint8

// The generations. The last three are separate heaps that are collected with generation 2.
const (
	Generation0 Generation = iota
	Generation1
	Generation2
	GenerationLarge
	GenerationPinned
	GenerationFrozen
	GenerationUnknown
)

// String returns the name that gcwhere prints.
func (g Generation) String() string {
	switch g {
	case Generation0, Generation1, Generation2:
		return fmt.Sprint(uint8(g))
	case GenerationLarge:
		return "large"
	case GenerationPinned:
		return "pinned"
	case GenerationFrozen:
		return "frozen"
	}
	return "???"
}

// A SegmentKind is the kind of a segment's content.
type SegmentKind uint8

// The kinds. A region holds one generation; an ephemeral segment holds generations 0 and 1 and part of 2.
const (
	KindGeneration0 SegmentKind = iota
	KindGeneration1
	KindGeneration2
	KindLarge
	KindPinned
	KindFrozen
	KindEphemeral
)

var segmentKindNames = [...]string{"Generation0", "Generation1", "Generation2", "Large", "Pinned", "Frozen", "Ephemeral"}

func (k SegmentKind) String() string { return enum.Name(segmentKindNames[:], k, "SegmentKind") }

// A Segment is a piece of the heap: a segment or a region (gcpriv.h, heap_segment).
type Segment struct {
	Addr             target.Addr // address of the heap_segment
	SubHeap          int
	Kind             SegmentKind
	Flags            uint64
	Objects          target.Range // from the first object to the end of the last
	Committed        target.Range
	Reserved         target.Range // after Committed
	Gen0, Gen1, Gen2 target.Range // For an ephemeral segment: the places of its generations

	stored uint64 // stored bytes of Objects
}

// sparse reports whether most objects of s are not in the dump.
func (s *Segment) sparse() bool { return s.stored < s.Objects.Size()/2 }

// A LostSegment is an unreadable or invalid entry of the heap's lists of segments. Later entries may be lost
// with it.
type LostSegment struct {
	Addr       target.Addr
	SubHeap    int
	Generation Generation // the list's generation; without regions the list of generation 2 includes the younger ones
	Err        error      // target.ErrNotInDump or target.ErrCorrupt
}

// lose records that s is left out.
func (h *Heap) lose(s *Segment, err error) {
	h.warnings = append(h.warnings, err)
	h.lost = append(h.lost, LostSegment{Addr: s.Addr, SubHeap: s.SubHeap, Generation: s.Generation(s.Objects.Start), Err: err})
}

// lostOf returns the first lost segment that may hold objects of a generation, or nil. A subHeap of -1 means all.
func (h *Heap) lostOf(subHeap int, g Generation) *LostSegment {
	for i := range h.lost {
		l := &h.lost[i]
		if h.mayHold(l, g) && (subHeap < 0 || l.SubHeap == subHeap) {
			return l
		}
	}
	return nil
}

// mayHold reports whether a lost segment may hold objects of a generation.
func (h *Heap) mayHold(l *LostSegment, g Generation) bool {
	return l.Generation == g || !h.regions && l.Generation <= Generation2 && g <= Generation2
}

// checkGeneration returns an error if the process has a generation and all of it is unreadable.
func (h *Heap) checkGeneration(g Generation) error {
	if l := h.lostOf(-1, g); l != nil && len(h.Spans(&Filter{Generations: []Generation{g}})) == 0 {
		return fmt.Errorf("no object of generation %v can be read: %w", g, l.Err)
	}
	return nil
}

// cut ends s at a, which is after its start.
func (s *Segment) cut(a target.Addr) {
	for _, r := range [...]*target.Range{&s.Objects, &s.Committed, &s.Gen0, &s.Gen1, &s.Gen2} {
		r.Start, r.End = min(r.Start, a), min(r.End, a)
	}
	s.Reserved = target.Range{Start: a, End: a}
}

// Generation returns the generation of the object at a.
func (s *Segment) Generation(a target.Addr) Generation {
	switch s.Kind {
	case KindEphemeral:
		switch {
		case s.Gen0.Contains(a):
			return Generation0
		case s.Gen1.Contains(a):
			return Generation1
		case s.Gen2.Contains(a):
			return Generation2
		}
		return GenerationUnknown
	case KindLarge:
		return GenerationLarge
	case KindPinned:
		return GenerationPinned
	case KindFrozen:
		return GenerationFrozen
	}
	return Generation(s.Kind)
}

// segmentFlagFrozen is heap_segment_flags_readonly: the NonGC heap.
const segmentFlagFrozen = 1

type segmentLayout struct {
	Allocated int `layout:"Allocated"`
	Committed int `layout:"Committed"`
	Reserved  int `layout:"Reserved"`
	Mem       int `layout:"Mem"`
	Flags     int `layout:"Flags"`
	Next      int `layout:"Next"`
}

// readSegments follows a sub heap's lists. With regions every generation has a list; segments are in
// the lists of generation 2 and the large generations.
func (h *Heap) readSegments(s *SubHeap) {
	var o segmentLayout
	if err := h.Runtime().Layout().Bind("HeapSegment", &o); err != nil {
		h.warnings = append(h.warnings, err)
		return
	}
	first := int(Generation2)
	if h.regions {
		first = 0
	}
	seen := map[target.Addr]bool{}
	// Generations after the pinned one are unknown.
	for g := first; g < min(len(s.Generations), int(GenerationPinned)+1); g++ {
		h.readSegmentList(&o, s, g, seen)
	}
}

// readSegmentList follows the list of a generation. An unreadable or invalid segment is a warning, and
// the list continues if its link can be read. seen holds the segments of all lists.
func (h *Heap) readSegmentList(o *segmentLayout, s *SubHeap, gen int, seen map[target.Addr]bool) {
	warn := func(at target.Addr, err error) {
		err = fmt.Errorf("segment %#x of generation %d: %w", uint64(at), gen, err)
		h.warnings = append(h.warnings, err)
		h.lost = append(h.lost, LostSegment{Addr: at, SubHeap: s.Index, Generation: Generation(gen), Err: err})
	}
	bad := 0
	for at := s.Generations[gen].StartSegment; at != 0; {
		if seen[at] {
			warn(at, target.CorruptHeapf("it is in the lists twice"))
			return
		}
		seen[at] = true
		if len(h.segments) >= limits.Segments {
			warn(at, target.CorruptHeapf("more than %d segments", limits.Segments))
			return
		}
		seg, next, err := h.readSegment(o, s, at, gen)
		switch {
		case err == nil:
			h.segments = append(h.segments, seg)
		case bad == limits.BadSegments:
			warn(at, target.CorruptHeapf("more than %d invalid segments in the list", limits.BadSegments))
			return
		default:
			bad++
			warn(at, err)
		}
		at = next
	}
}

// readSegment reads the heap_segment at an address and its link to the next, returned for an invalid segment too.
func (h *Heap) readSegment(o *segmentLayout, s *SubHeap, at target.Addr, gen int) (Segment, target.Addr, error) {
	size := 8 + max(o.Allocated, o.Committed, o.Reserved, o.Mem, o.Flags, o.Next)
	b, err := target.Bytes(h.mem, at, size)
	if err != nil {
		return Segment{}, 0, err
	}
	word := func(off int) target.Addr { return target.Addr(le64(b[off:])) }
	seg := Segment{Addr: at, SubHeap: s.Index, Flags: uint64(word(o.Flags))}
	mem, end := word(o.Mem), word(o.Allocated)
	committed, reserved := word(o.Committed), word(o.Reserved)
	if at == s.EphemeralSegment && !h.entered(s, target.Range{Start: mem, End: committed}) {
		end = s.AllocAllocated
	}
	if end < mem || committed < end || committed == mem || reserved < committed || reserved > maxAddress || mem%8 != 0 || end%8 != 0 {
		return Segment{}, word(o.Next), target.CorruptHeapf("memory %#x, allocated %#x, committed %#x, reserved %#x", uint64(mem), uint64(end), uint64(committed), uint64(reserved))
	}
	if a, ok := h.claims.Hole(target.Range{Start: mem, End: committed}); ok {
		return Segment{}, word(o.Next), target.CorruptHeapf("memory %#x to %#x: the process had none at %#x", uint64(mem), uint64(committed), uint64(a))
	}
	seg.Objects = target.Range{Start: mem, End: end}
	// The committed memory begins with the page of the first object: a region's objects start 0x28
	// bytes into it. Without regions a segment has its own heap_segment in that page.
	start := mem &^ (pageSize - 1)
	if !h.regions && at < mem && mem-at <= pageSize {
		start = at
	}
	seg.Committed = target.Range{Start: start, End: committed}
	seg.Reserved = target.Range{Start: committed, End: reserved}
	seg.Kind = h.kind(s, at, gen, seg.Flags)
	if seg.Kind == KindEphemeral {
		g0, g1 := s.Generations[0].AllocationStart, s.Generations[1].AllocationStart
		if g1 < mem || g0 < g1 || end < g0 {
			return seg, word(o.Next), target.CorruptHeapf("generations 0 and 1 start at %#x and %#x", uint64(g0), uint64(g1))
		}
		seg.Gen2 = target.Range{Start: mem, End: g1}
		seg.Gen1 = target.Range{Start: g1, End: g0}
		seg.Gen0 = target.Range{Start: g0, End: end}
	}
	return seg, word(o.Next), nil
}

// entered reports whether the allocator has just gone on to a region with this memory, and has yet to set the end of its objects: that is still the end of the region
// before, which is full (gc.cpp, soh_try_fit).
func (h *Heap) entered(s *SubHeap, region target.Range) bool {
	if !h.regions || len(h.segments) == 0 || s.AllocAllocated >= region.Start && s.AllocAllocated <= region.End {
		return false
	}
	before := &h.segments[len(h.segments)-1]
	return before.SubHeap == s.Index && before.Kind == KindGeneration0 && before.Objects.End == s.AllocAllocated
}

// maxAddress exceeds all addresses that a 64-bit process can use. Below it, sums of addresses and sizes do not wrap.
const maxAddress = 1 << 62

// pageSize is the unit in which the GC commits memory on the supported targets.
const pageSize = 0x1000

func (h *Heap) kind(s *SubHeap, at target.Addr, gen int, flags uint64) SegmentKind {
	switch {
	case flags&segmentFlagFrozen != 0:
		return KindFrozen
	case gen == int(GenerationLarge):
		return KindLarge
	case gen == int(GenerationPinned):
		return KindPinned
	case h.regions:
		return SegmentKind(gen)
	case at == s.EphemeralSegment:
		return KindEphemeral
	}
	return KindGeneration2
}

// Segment returns the segment with a in its objects, or nil.
func (h *Heap) Segment(a target.Addr) *Segment {
	i := sort.Search(len(h.segments), func(i int) bool { return h.segments[i].Objects.Start > a }) - 1
	if i >= 0 && h.segments[i].Objects.Contains(a) {
		return &h.segments[i]
	}
	return nil
}

// segmentAround returns the segment with a in its committed or reserved memory, or nil.
func (h *Heap) segmentAround(a target.Addr) *Segment {
	for i := range h.segments {
		if s := &h.segments[i]; s.Objects.Contains(a) || s.Committed.Contains(a) || s.Reserved.Contains(a) {
			return s
		}
	}
	return nil
}

// SegmentByAddr returns the segment with its heap_segment at a, or with a in its committed memory.
func (h *Heap) SegmentByAddr(a target.Addr) *Segment {
	for i := range h.segments {
		if s := &h.segments[i]; s.Addr == a || s.Committed.Contains(a) {
			return s
		}
	}
	return nil
}

// Bounds returns the smallest range that covers all objects.
func (h *Heap) Bounds() target.Range {
	if len(h.segments) == 0 {
		return target.Range{}
	}
	return target.Range{Start: h.segments[0].Objects.Start, End: h.segments[len(h.segments)-1].Objects.End}
}
