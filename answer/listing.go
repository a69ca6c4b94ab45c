package answer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A Listing lists and counts objects of the heap. The question determines which parts are set.
type Listing struct {
	Gaps
	Objects *Objects   `json:"objects,omitempty"`
	Locks   []ThinLock `json:"locks,omitzero"`
	// Statistics is nil until the objects are read, and if they are unreadable.
	Statistics *Statistics   `json:",inline"`
	Strings    *StringCounts `json:"strings,omitempty"`
	// Columns and Rows are the table of -select. The other lists are then empty.
	Columns []QueryColumn              `json:"columns,omitempty"`
	Rows    iter.Seq2[QueryRow, error] `json:"rows,omitempty"`
	// Strength is known once Rows are read.
	Strength Strength `json:"strength,omitempty" doc:"of Rows: \"possible\" if they count objects as live that only words which look like references hold"`
}

// Statistics count objects by type.
type Statistics struct {
	Types     []TypeCount `json:"statistics"`
	Fragments []Fragment  `json:"fragments,omitempty"`
	Count     uint64      `json:"count" doc:"number of objects"`
	Size      uint64      `json:"size" doc:"their total size in bytes"`
}

// A TypeCount counts the objects of one type.
type TypeCount struct {
	MethodTable target.Addr `json:"methodTable" doc:"the type"`
	Count       uint64      `json:"count" doc:"objects of the type"`
	Size        uint64      `json:"size" doc:"their total size in bytes"`
	Type        Text        `json:"type" doc:"name of the type"`
}

// A Fragment is a large free block in front of a live object.
type Fragment struct {
	Address         target.Addr `json:"address" doc:"a large free block"`
	Size            uint64      `json:"size" doc:"its size in bytes"`
	Next            target.Addr `json:"next" doc:"the object right behind it"`
	NextMethodTable target.Addr `json:"-"`
	NextType        Text        `json:"nextType" doc:"its type"`
}

// A ThinLock is an object locked through its header.
type ThinLock struct {
	Object    target.Addr `json:"object" doc:"the locked object"`
	Thread    target.Addr `json:"thread" doc:"Thread that holds the lock, 0 if it is gone"`
	ManagedID uint32      `json:"managedThreadId" doc:"managed id of that thread"`
	OSID      uint32      `json:"osThreadId" doc:"its id in the operating system"`
	Recursion uint32      `json:"recursion" doc:"times that it entered again"`
}

// GenerationObjects lists the objects of one generation, or of one type in it.
type GenerationObjects struct {
	Gaps
	Objects *Objects    `json:"objects,omitempty"`
	Types   []TypeCount `json:"statistics,omitzero"`
	// Count is known once Objects are read.
	Count Maybe[uint64] `json:"count,omitzero" doc:"number of objects"`
}

// Finalizers lists the objects with a finalizer that has not run.
type Finalizers struct {
	Queues []FinalizerQueue `json:"heaps"`
	// SyncBlocks is missing if the list or a part of it is unreadable.
	SyncBlocks Maybe[[]target.Addr] `json:"syncBlocksToCleanUp,omitzero" doc:"sync blocks whose objects are gone and whose interop data the finalizer thread has yet to release"`
	Unread     uint64               `json:"unread,omitempty" doc:"objects of the queues that can't be read: list and statistics lack them"`
	// OnlyReady reports that objects kept alive by others were omitted.
	OnlyReady bool `json:"onlyReady,omitempty" doc:"list and statistics have only objects that nothing but the queue keeps alive"`
	Listing
	// COM reports that the process may have COM objects. Their tables are not read.
	COM bool `json:"-"`
}

// A FinalizerQueue is the queue of one of the GC's heaps.
type FinalizerQueue struct {
	Heap        int             `json:"heap" doc:"number of the GC's heap"`
	Queue       target.Addr     `json:"queue" doc:"the queue, 0 if there is none"`
	Generations []FinalizerPart `json:"generations" doc:"objects whose finalizer is registered, by generation"`
	Ready       FinalizerPart   `json:"ready" doc:"objects whose finalizer will run"`
	Critical    FinalizerPart   `json:"critical" doc:"those of them that are CriticalFinalizerObjects, which come last"`
	// Bounds are the parts' bounds in memory: the generations in decreasing order, then Critical and Ready.
	Bounds []target.Addr `json:"-"`
}

// A FinalizerPart is a part of a FinalizerQueue.
type FinalizerPart struct {
	Generation string      `json:"generation,omitempty" doc:"\"0\", \"1\", \"2\", \"large\" or \"pinned\""`
	Count      uint64      `json:"count" doc:"number of objects"`
	Start      target.Addr `json:"start" doc:"first word of the part"`
	End        target.Addr `json:"end" doc:"behind its last word"`
}

// SortBySize sorts the types by total size in increasing order. The sort is stable.
func (s *Statistics) SortBySize() {
	slices.SortStableFunc(s.Types, func(a, b TypeCount) int { return cmp.Compare(a.Size, b.Size) })
}
