package answer

import "github.com/sosgo/sosgo/target"

// Where describes the position of an address in the GC heap.
type Where struct {
	Address    target.Addr `json:"address" doc:"the address that was asked for"`
	Found      bool        `json:"found" doc:"whether it lies in a known segment of the heap; else the other fields are absent"`
	Lost       int         `json:"lost,omitempty" doc:"segments that can't be read; an address that is not found may lie in one"`
	Heap       int         `json:"heap" doc:"number of the GC's heap"`
	Segment    target.Addr `json:"segment,omitempty" doc:"the segment or region"`
	Generation string      `json:"generation,omitempty" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\", \"reserve\" for memory behind the committed one, \"???\""`
	Allocated  *Range      `json:"allocated,omitempty" doc:"from the first object to the end of the last"`
	Committed  *Range      `json:"committed,omitempty" doc:"committed memory"`
	Reserved   *Range      `json:"reserved,omitempty" doc:"reserved memory behind it"`
}

// GenerationSizes gives the sizes of the generations of each heap.
type GenerationSizes struct {
	Gaps
	Heaps []HeapSizes `json:"heaps"`
	// WithDead reports whether dead objects were counted.
	WithDead bool `json:"-"`
	// Regions reports whether each generation has segments of its own.
	Regions bool `json:"-"`
}

// HeapSizes are the sizes of the generations of one of the GC's heaps.
type HeapSizes struct {
	Heap        int              `json:"heap" doc:"number of the heap"`
	Generations []GenerationSize `json:"generations" doc:"its generations"`
}

// Ephemeral is the Generation of a segment that generations share.
const Ephemeral = "ephemeral"

// GenerationSize is the size of one generation in bytes.
type GenerationSize struct {
	Generation string `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\", or \"ephemeral\" for a segment that generations share"`
	Allocated  uint64 `json:"allocated" doc:"bytes from the first object to the end of the last, in segments of the generation alone"`
	Committed  uint64 `json:"committed" doc:"bytes committed for these segments"`
	Live       uint64 `json:"live" doc:"bytes of objects, whether reachable or not"`
	Free       uint64 `json:"free" doc:"bytes of free blocks"`
	Dead       uint64 `json:"dead,omitempty" doc:"bytes of objects that nothing keeps alive, if it was asked for them"`
	Incomplete bool   `json:"incomplete,omitempty" doc:"a segment of the generation can't be read: the numbers are those of the others"`
	Err        error  `json:"-"` // why it is incomplete
	Partial    bool   `json:"partial,omitempty" doc:"not all objects of the generation can be read: live, free and dead are those of the others"`
	Unread     error  `json:"-"` // why it is partial
	// Shared is the bytes of objects in a segment shared with other generations.
	Shared uint64 `json:"-"`
}

// SizeStatistics counts the objects and the free blocks of each generation by size.
type SizeStatistics struct {
	Gaps
	Generations []SizeHistogram `json:"generations"`
}

// A SizeHistogram counts the objects, or the free blocks, of a generation.
type SizeHistogram struct {
	Generation string      `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Free       bool        `json:"free" doc:"of free blocks, not of objects"`
	Sizes      []SizeCount `json:"sizes" doc:"by size"`
}

// A SizeCount counts the objects of one size.
type SizeCount struct {
	Size  uint64 `json:"size" doc:"bytes, rounded up to the heap's alignment"`
	Count uint64 `json:"count" doc:"objects of that size"`
}

// RuntimeHeaps describes the memory that the runtime manages: its native heaps and the GC heap, as far as requested.
type RuntimeHeaps struct {
	Gaps
	LoaderHeaps *LoaderHeaps `json:",inline"` // nil if they were not requested, or are unreadable
	GC          *GCHeap      `json:"gc,omitempty"`
}

// LoaderHeaps are the native heaps of a runtime.
type LoaderHeaps struct {
	Gaps
	// Heaps lists the heaps of GlobalAllocator, of JITManager and of the Collectible allocators, in this order. Of
	// selects from them.
	Heaps []LoaderHeap `json:"loaderHeaps"`
	// Partial reports that a heap is partial, or that an allocator's heaps are unknown.
	Partial bool `json:"loaderHeapsPartial,omitempty" doc:"true: one of the heaps is partial, or those of an owner are unknown"`

	SystemDomain    target.Addr            `json:"-"`
	GlobalAllocator target.Addr            `json:"-"` // the LoaderAllocator of code and types that cannot be unloaded
	AppDomain       target.Addr            `json:"-"` // shares GlobalAllocator; 0 if it is not in the dump
	JITManager      target.Addr            `json:"-"`
	Collectible     []CollectibleAllocator `json:"-"` // allocators that can be unloaded
}

// Of returns the heaps of an allocator or of the JIT manager.
func (l *LoaderHeaps) Of(allocator target.Addr) []LoaderHeap {
	var of []LoaderHeap
	for i := range l.Heaps {
		if l.Heaps[i].Allocator == allocator {
			of = append(of, l.Heaps[i])
		}
	}
	return of
}

// A CollectibleAllocator is a LoaderAllocator that can be unloaded.
type CollectibleAllocator struct {
	Address target.Addr
	Module  Text // one of its modules
}

// A LoaderHeap is one native heap of the runtime.
type LoaderHeap struct {
	Allocator target.Addr   `json:"allocator" doc:"LoaderAllocator that owns the heap; of code the JIT manager"`
	Kind      string        `json:"kind" doc:"what the runtime keeps in it"`
	Blocks    []LoaderBlock `json:"blocks" doc:"its reserved ranges, in the order of the runtime's list"`
	Complete  bool          `json:"complete" doc:"false: the dump lacks a part of the list"`
	Partial   bool          `json:"partial,omitempty" doc:"true: the dump lacks a part of the list, or may lack memory that the heap uses; the sizes are those of what it has"`
	// Err is why the heap is incomplete; nil if it is complete.
	Err error `json:"-"`
}

// Sizes returns the heap's readable bytes, and the missing bytes of ranges that it no longer allocates from.
func (h *LoaderHeap) Sizes() (size, wasted uint64) {
	for _, b := range h.Blocks {
		size += b.Stored
		if !b.Current {
			wasted += b.Size - min(b.Stored, b.Size)
		}
	}
	return size, wasted
}

// A LoaderBlock is a reserved range of a LoaderHeap.
type LoaderBlock struct {
	Address target.Addr `json:"address" doc:"start of the range"`
	Size    uint64      `json:"size" doc:"bytes reserved"`
	Stored  uint64      `json:"stored" doc:"bytes from the start that the dump holds; the process never touched the rest, or the dump left it out"`
	Current bool        `json:"current" doc:"the heap still allocates from it"`
}

// GCHeap describes the GC heap, or the requested part of it.
type GCHeap struct {
	Server    bool      `json:"server" doc:"server GC"`
	Regions   bool      `json:"regions" doc:"the heap is made of regions, not of segments"`
	InGC      bool      `json:"inCollection" doc:"the dump was taken during a garbage collection"`
	DATAS     *uint64   `json:"datas,omitempty" doc:"mode of dynamic adaptation to application sizes, if the runtime records it"`
	Heaps     int       `json:"heaps" doc:"number of heaps"`
	Allocated uint64    `json:"allocated" doc:"bytes from the first object to the end of the last, of the segments listed"`
	Committed uint64    `json:"committed" doc:"bytes committed, of the segments listed"`
	Segments  []Segment `json:"segments" doc:"the segments or regions by address"`
	// Lost lists unreadable segments, which the sums do not include.
	Lost []LostSegment `json:"lost,omitempty" doc:"segments that the process has and that can't be read: the sums lack them"`

	Partial  bool     `json:"-"` // not all segments were asked for
	SubHeaps []GCPart `json:"-"` // all heaps
	// MaxAllocated and MaxCommitted are maxima over all segments, listed or not. They determine the widths of
	// columns.
	MaxAllocated uint64 `json:"-"`
	MaxCommitted uint64 `json:"-"`
}

// A LostSegment is an unreadable segment.
type LostSegment struct {
	Heap       int         `json:"heap" doc:"number of the heap"`
	Address    target.Addr `json:"address" doc:"the segment"`
	Generation string      `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\" or \"pinned\": whose list names it; in a heap without regions that of 2 has the younger ones"`
	Reason     string      `json:"reason" doc:"why"`
	Err        error       `json:"-"`
}

// A GCPart is one of the heaps of a server GC, or the only one of a workstation GC.
type GCPart struct {
	Index       int
	Address     target.Addr // gc_heap; 0 for a workstation GC
	Generations []GCGeneration
}

// A GCGeneration is the start of a generation in a heap without regions.
type GCGeneration struct {
	Start        target.Addr
	AllocContext Range // empty if there is no allocation context
}

// A Segment is a segment or region of the GC heap.
type Segment struct {
	Heap      int         `json:"heap" doc:"number of the heap"`
	Address   target.Addr `json:"address" doc:"the segment"`
	Kind      SegmentKind `json:"kind" doc:"\"Generation0\", \"Generation1\", \"Generation2\", \"Large\", \"Pinned\", \"Frozen\" or \"Ephemeral\""`
	Objects   Range       `json:"objects" doc:"from the first object to the end of the last"`
	Committed Range       `json:"committed" doc:"committed memory"`
	Reserved  Range       `json:"reserved" doc:"reserved memory behind it"`
}

// A SegmentKind is the use of a segment.
type SegmentKind string

// The kinds.
const (
	SegmentGeneration0 SegmentKind = "Generation0"
	SegmentGeneration1 SegmentKind = "Generation1"
	SegmentGeneration2 SegmentKind = "Generation2"
	SegmentLarge       SegmentKind = "Large"
	SegmentPinned      SegmentKind = "Pinned"
	SegmentFrozen      SegmentKind = "Frozen"
	SegmentEphemeral   SegmentKind = "Ephemeral" // generations 0 and 1, and a part of 2
)

// Size returns the number of bytes in r.
func (r Range) Size() uint64 { return uint64(r.End - r.Start) }

// OutOfMemory describes allocations that the garbage collector could not make.
type OutOfMemory struct {
	Gaps
	Heaps    int                `json:"heaps" doc:"how many heaps the collector has; each remembers its last failed allocation"`
	Unread   int                `json:"unread,omitempty" doc:"how many of them have a record that can't be read"`
	Failures []FailedAllocation `json:"failures" doc:"the records of failed allocations; none if no allocation failed in the heaps that can be read"`
}

// A FailedAllocation is the last failed allocation in a heap of the collector.
type FailedAllocation struct {
	Heap           int    `json:"heap" doc:"number of the heap"`
	Reason         string `json:"reason" doc:"why: none, budget, can't commit, can't reserve, large object, low memory, unproductive full collection"`
	Large          bool   `json:"large" doc:"the memory was for large objects"`
	AllocationSize uint64 `json:"allocationSize" doc:"bytes that the program asked for; for the reason \"budget\" half of the least budget of generation 0"`
	Collection     uint64 `json:"collection" doc:"number of the collection before it"`
	Failure        string `json:"failure" doc:"what the collector could not get: none, reserve segment, commit segment, commit ephemeral segment, grow table, commit table"`
	Size           uint64 `json:"size,omitempty" doc:"bytes that it could not get"`
	AvailableMB    uint64 `json:"availableMB,omitempty" doc:"megabytes that could be committed when the collection began; absent where the collector did not ask"`
}

// Sized reports whether AllocationSize is the size of an allocation. For a budget that was used up the collector puts half of the least budget of
// generation 0 in its place (gc.cpp, handle_oom).
func (f *FailedAllocation) Sized() bool { return f.Reason != OOMBudget }

// Why returns the reason as a phrase that follows what could not be allocated.
func (f *FailedAllocation) Why() string {
	switch f.Reason {
	case OOMBudget:
		return "the heap's budget was used up"
	case OOMCantCommit:
		return "no more memory could be committed"
	case OOMCantReserve:
		return "no more address space could be reserved"
	case OOMLargeObject:
		return "no room for a large object"
	case OOMLowMemory:
		return "the machine or container was low on memory"
	case OOMUnproductive:
		return "full collections freed too little"
	}
	return f.Reason
}

// The values of FailedAllocation's reason (oom_reason) and of its failed operation (failure_get_memory). OOMNone is
// in both.
const (
	OOMNone = "none"

	OOMBudget       = "budget"
	OOMCantCommit   = "can't commit"
	OOMCantReserve  = "can't reserve"
	OOMLargeObject  = "large object"
	OOMLowMemory    = "low memory"
	OOMUnproductive = "unproductive full collection"

	OOMReserveSegment  = "reserve segment"
	OOMCommitSegment   = "commit segment"
	OOMCommitEphemeral = "commit ephemeral segment"
	OOMGrowTable       = "grow table"
	OOMCommitTable     = "commit table"
)
