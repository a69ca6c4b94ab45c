package answer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A Listing is objects of the heap, and what was counted of them. Which parts it has depends on the question.
type Listing struct {
	Gaps
	Objects     *Objects      `json:"objects,omitempty"`
	Locks       []ThinLock    `json:"locks,omitzero"`
	*Statistics               // nil until these were read, and if none could be
	Strings     *StringCounts `json:"strings,omitempty"`
	// Columns and Rows are the table that -select asks for, instead of all others.
	Columns []QueryColumn              `json:"columns,omitempty"`
	Rows    iter.Seq2[QueryRow, error] `json:"rows,omitempty"`
	// Strength is known when Rows were read.
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

// A ThinLock is an object that is locked through its header.
type ThinLock struct {
	Object    target.Addr `json:"object" doc:"the locked object"`
	Thread    target.Addr `json:"thread" doc:"Thread that holds the lock, 0 if it is gone"`
	ManagedID uint32      `json:"managedThreadId" doc:"managed id of that thread"`
	OSID      uint32      `json:"osThreadId" doc:"its id in the operating system"`
	Recursion uint32      `json:"recursion" doc:"times that it entered again"`
}

// GenerationObjects are the objects of one generation, or of one type in it.
type GenerationObjects struct {
	Gaps
	Objects *Objects    `json:"objects,omitempty"`
	Types   []TypeCount `json:"statistics,omitzero"`
	// Count is known when Objects were read.
	Count Maybe[uint64] `json:"count,omitzero" doc:"number of objects"`
}

// Finalizers are the objects whose finalizer has not run.
type Finalizers struct {
	Queues []FinalizerQueue `json:"heaps"`
	// SyncBlocks are missing where their list, or a part of it, can't be read.
	SyncBlocks Maybe[[]target.Addr] `json:"syncBlocksToCleanUp,omitzero" doc:"sync blocks whose objects are gone and whose interop data the finalizer thread has yet to release"`
	Unread     uint64               `json:"unread,omitempty" doc:"objects of the queues that can't be read: list and statistics lack them"`
	// OnlyReady: what something still keeps alive was left out.
	OnlyReady bool `json:"onlyReady,omitempty" doc:"list and statistics have only objects that nothing but the queue keeps alive"`
	Listing
	// COM: the process can have COM objects, whose tables are not read.
	COM bool `json:"-"`
}

// A FinalizerQueue is the queue of one of the GC's heaps.
type FinalizerQueue struct {
	Heap        int             `json:"heap" doc:"number of the GC's heap"`
	Queue       target.Addr     `json:"queue" doc:"the queue, 0 if there is none"`
	Generations []FinalizerPart `json:"generations" doc:"objects whose finalizer is registered, by generation"`
	Ready       FinalizerPart   `json:"ready" doc:"objects whose finalizer will run"`
	Critical    FinalizerPart   `json:"critical" doc:"those of them that are CriticalFinalizerObjects, which come last"`
	// Bounds are the parts' bounds in memory: the generations from the highest to the lowest, then Critical and Ready.
	Bounds []target.Addr `json:"-"`
}

// A FinalizerPart is a part of a FinalizerQueue.
type FinalizerPart struct {
	Generation string      `json:"generation,omitempty" doc:"\"0\", \"1\", \"2\", \"large\" or \"pinned\""`
	Count      uint64      `json:"count" doc:"number of objects"`
	Start      target.Addr `json:"start" doc:"first word of the part"`
	End        target.Addr `json:"end" doc:"behind its last word"`
}

// SortBySize sorts the types by their total size, the smallest first; equal ones keep their order.
func (s *Statistics) SortBySize() {
	slices.SortStableFunc(s.Types, func(a, b TypeCount) int { return cmp.Compare(a.Size, b.Size) })
}
