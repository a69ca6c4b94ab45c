package answer

import "github.com/sosgo/sosgo/target"

// Soundness lists the faults of a heap.
type Soundness struct {
	Gaps
	Faults  []Fault `json:"faults"` // in address order, at most a thousand
	Objects uint64  `json:"objects" doc:"objects that were looked at"`
	Errors  int     `json:"errors" doc:"number of faults"`
	// SyncBlocks is nil if there is no table of sync blocks.
	SyncBlocks      *int `json:"syncBlocks,omitempty" doc:"sync blocks in use"`
	SyncBlockErrors *int `json:"syncBlockErrors,omitempty" doc:"those whose object does not name them"`
	Moving          bool `json:"moving,omitempty" doc:"a garbage collection was in progress: its work looks like faults"`

	Partial    bool `json:"-"` // only a part of the heap was checked
	Incomplete bool `json:"-"` // not all of the heap could be checked
}

// ObjectSoundness lists the faults of one object.
type ObjectSoundness struct {
	Gaps
	Object target.Addr `json:"-"`
	Faults []Fault     `json:"faults"`
	Errors int         `json:"errors" doc:"number of faults"`
}

// A Fault is a fault of an object of the heap.
type Fault struct {
	Kind    string      `json:"kind" doc:"what is wrong: InvalidMethodTable, InvalidObjectReference, ..."`
	Object  target.Addr `json:"object" doc:"the object"`
	Heap    int         `json:"heap" doc:"number of the GC's heap"`
	Segment target.Addr `json:"segment,omitempty" doc:"the object's segment"`
	Offset  uint64      `json:"offset" doc:"bytes from the object's start, of a bad reference"`
	Reason  string      `json:"reason" doc:"the same in a sentence"`
}

// Neighbours are the objects around an address.
type Neighbours struct {
	Gaps
	Address    target.Addr `json:"-"` // the given address
	Before     *Neighbour  `json:"before,omitempty" doc:"the last object that starts before the address"`
	Current    *Neighbour  `json:"current,omitempty" doc:"the object that starts at the address"`
	Next       *Neighbour  `json:"next,omitempty" doc:"the first object behind"`
	Gap        *Range      `json:"gap,omitempty" doc:"an allocation context between them, which holds no objects"`
	Consistent bool        `json:"consistent" doc:"each object begins where the one before ends"`
	// Corrupt lists what was unreadable among them.
	Corrupt []error `json:"-"`
}

// A Neighbour is one of the objects around an address.
type Neighbour struct {
	Address     target.Addr `json:"address" doc:"the object"`
	Size        uint64      `json:"size" doc:"bytes"`
	Type        Text        `json:"type" doc:"its type"`
	MethodTable target.Addr `json:"-"`
	End         target.Addr `json:"-"` // where the next object begins
}
