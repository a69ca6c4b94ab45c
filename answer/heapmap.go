package answer

import (
	"cmp"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A HeapMap is the GC heap as a picture: each part is divided into cells of one size.
type HeapMap struct {
	Gaps
	Server   bool   `json:"server" doc:"server GC"`
	Regions  bool   `json:"regions" doc:"the heap is made of regions, not of segments"`
	CellSize uint64 `json:"cellSize" doc:"bytes that a cell stands for; the last one of a part may stand for less"`
	// Parts lists whole segments, except that a shared segment has one part per generation.
	Parts       []MapPart       `json:"parts" doc:"the segments or regions by heap, generation and address; one that generations share is as many parts"`
	Generations []MapGeneration `json:"generations" doc:"sums of each generation"`
	Total       MapSizes        `json:"total" doc:"sums of the heap"`
	Lost        []LostSegment   `json:"lost,omitempty" doc:"segments that the process has and that can't be read: parts and sums lack them"`
	// Reachable reports whether dead objects were looked for.
	Reachable   bool `json:"reachable,omitempty" doc:"what is dead was looked for: objects that nothing keeps alive"`
	PinsPartial bool `json:"pinnedPartial,omitempty" doc:"handles could be read only in part: there may be more pinned ones"`
}

// MapSizes are the sizes of a piece of the heap.
type MapSizes struct {
	Objects   uint64 `json:"objects" doc:"number of objects, whether reachable or not; free blocks are none"`
	Used      uint64 `json:"used" doc:"bytes of objects, rounded up to the heap's alignment, whether reachable or not"`
	Dead      uint64 `json:"dead,omitempty" doc:"bytes of those objects that nothing keeps alive; only where that was asked for"`
	Free      uint64 `json:"free" doc:"bytes of free blocks between them"`
	Unread    uint64 `json:"unread,omitempty" doc:"bytes between them in which no object can be read: the dump lacks them, or they are damaged"`
	Allocated uint64 `json:"allocated" doc:"bytes from the first object to the end of the last"`
	Committed uint64 `json:"committed" doc:"bytes of committed memory"`
	Reserved  uint64 `json:"reserved" doc:"bytes that are reserved behind the committed ones"`
	// Pinned is missing if no handle is readable.
	Pinned Maybe[uint64] `json:"pinned,omitzero" doc:"handles that pin an object; absent where handles can't be read"`
	// Err is why Unread bytes are unreadable. The counts of objects are then too low.
	Err error `json:"-"`
}

// Add adds the sizes of b. Pinned stays unknown if it is unknown in either.
func (s *MapSizes) Add(b *MapSizes) {
	if b == nil {
		return
	}
	s.Objects += b.Objects
	s.Used += b.Used
	s.Dead += b.Dead
	s.Free += b.Free
	s.Unread += b.Unread
	s.Allocated += b.Allocated
	s.Committed += b.Committed
	s.Reserved += b.Reserved
	s.Err = cmp.Or(s.Err, b.Err)
	s.Pinned = Of(s.Pinned.Value+b.Pinned.Value, cmp.Or(s.Pinned.Err(), b.Pinned.Err()))
}

// A MapGeneration is the sizes of a generation in all heaps.
type MapGeneration struct {
	Generation string `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Parts      int    `json:"parts" doc:"segments, or parts of them, that hold it"`
	MapSizes
}

// A MapPart is a segment or region, or one generation's part of it.
type MapPart struct {
	Heap       int         `json:"heap" doc:"number of the GC's heap"`
	Segment    target.Addr `json:"segment" doc:"the segment or region"`
	Generation string      `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Memory     Range       `json:"memory" doc:"the committed memory that the cells stand for"`
	MapSizes
	Cells []MapCell `json:"cells" doc:"from the start of the memory on"`
}

// A MapCell is the content of a piece of memory. The rest of its size is unallocated.
type MapCell struct {
	Size    uint64 `json:"size" doc:"bytes that the cell stands for"`
	Objects uint64 `json:"objects,omitempty" doc:"objects that begin in it"`
	Used    uint64 `json:"used,omitempty" doc:"bytes of objects"`
	Dead    uint64 `json:"dead,omitempty" doc:"bytes of those objects that nothing keeps alive"`
	Free    uint64 `json:"free,omitempty" doc:"bytes of free blocks"`
	Unread  uint64 `json:"unread,omitempty" doc:"bytes in which no object can be read"`
}

// HeapGraph is the heap as a graph: types, roots, and objects with their references. It omits free blocks.
type HeapGraph struct {
	Gaps
	Types   []Text // names, in the order of their first objects
	Roots   []HeapRoot
	Objects iter.Seq2[*GraphObject, error] // in address order
}

// A HeapRoot keeps an object alive.
type HeapRoot struct {
	Kind   RootKind
	Object target.Addr
}

// A GraphObject is an object with its references. It is valid until the next one is read.
type GraphObject struct {
	Address     target.Addr
	MethodTable target.Addr
	Type        int // index in HeapGraph.Types
	Size        uint64
	References  []target.Addr // in the order of memory
}

// GraphFile describes a written HeapGraph.
type GraphFile struct {
	Gaps
	File    string `json:"file" doc:"the file that was written"`
	Types   int    `json:"types" doc:"number of types"`
	Roots   int    `json:"roots" doc:"number of roots"`
	Objects uint64 `json:"objects" doc:"number of objects"`
}
