package answer

import (
	"cmp"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A HeapMap is the GC heap as a picture: each part of it cut into cells of one size, which say how full they are.
type HeapMap struct {
	Gaps
	Server   bool   `json:"server" doc:"server GC"`
	Regions  bool   `json:"regions" doc:"the heap is made of regions, not of segments"`
	CellSize uint64 `json:"cellSize" doc:"bytes that a cell stands for; the last one of a part may stand for less"`
	// Parts are whole segments, but for one that generations share.
	Parts       []MapPart       `json:"parts" doc:"the segments or regions by heap, generation and address; one that generations share is as many parts"`
	Generations []MapGeneration `json:"generations" doc:"sums of each generation"`
	Total       MapSizes        `json:"total" doc:"sums of the heap"`
	Lost        []LostSegment   `json:"lost,omitempty" doc:"segments that the process has and that can't be read: parts and sums lack them"`
	// Reachable says that it was asked for what is dead.
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
	// Pinned is missing where no handle can be read.
	Pinned Maybe[uint64] `json:"pinned,omitzero" doc:"handles that pin an object; absent where handles can't be read"`
	// Err says why Unread bytes can't be read: the numbers of objects are too low.
	Err error `json:"-"`
}

// Add adds the sizes of b.
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
	s.Pinned.Value += b.Pinned.Value
	s.Pinned.Err = cmp.Or(s.Pinned.Err, b.Pinned.Err)
}

// A MapGeneration is what a generation of all heaps has.
type MapGeneration struct {
	Generation string `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Parts      int    `json:"parts" doc:"segments, or parts of them, that hold it"`
	MapSizes
}

// A MapPart is a segment or region, or what one generation has of it.
type MapPart struct {
	Heap       int         `json:"heap" doc:"number of the GC's heap"`
	Segment    target.Addr `json:"segment" doc:"the segment or region"`
	Generation string      `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Memory     Range       `json:"memory" doc:"the committed memory that the cells stand for"`
	MapSizes
	Cells []MapCell `json:"cells" doc:"from the start of the memory on"`
}

// A MapCell says what is in a piece of memory. What is left of its size was given to no object yet.
type MapCell struct {
	Size    uint64 `json:"size" doc:"bytes that the cell stands for"`
	Objects uint64 `json:"objects,omitempty" doc:"objects that begin in it"`
	Used    uint64 `json:"used,omitempty" doc:"bytes of objects"`
	Dead    uint64 `json:"dead,omitempty" doc:"bytes of those objects that nothing keeps alive"`
	Free    uint64 `json:"free,omitempty" doc:"bytes of free blocks"`
	Unread  uint64 `json:"unread,omitempty" doc:"bytes in which no object can be read"`
}

// HeapGraph is the heap as a graph: types, roots, and objects with what they refer to. Free blocks are no part of it.
type HeapGraph struct {
	Gaps
	Types   []Text // names, in the order of their first objects
	Roots   []HeapRoot
	Objects iter.Seq2[*GraphObject, error] // in address order
}

// A HeapRoot keeps an object alive.
type HeapRoot struct {
	Kind   string // "handle", "finalizer" or "stack"
	Object target.Addr
}

// A GraphObject is an object with what it refers to. It is valid until the next.
type GraphObject struct {
	Address     target.Addr
	MethodTable target.Addr
	Type        int // index in HeapGraph.Types
	Size        uint64
	References  []target.Addr // in the order of memory
}

// GraphFile says what was written of a HeapGraph.
type GraphFile struct {
	Gaps
	File    string `json:"file" doc:"the file that was written"`
	Types   int    `json:"types" doc:"number of types"`
	Roots   int    `json:"roots" doc:"number of roots"`
	Objects uint64 `json:"objects" doc:"number of objects"`
}
