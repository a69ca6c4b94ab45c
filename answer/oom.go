package answer

// OutOfMemory describes the allocations that the garbage collector failed to make.
type OutOfMemory struct {
	Gaps
	Heaps    int                `json:"heaps" doc:"how many heaps the collector has; each remembers its last failed allocation"`
	Unread   int                `json:"unread,omitempty" doc:"how many of them have a record that can't be read"`
	Failures []FailedAllocation `json:"failures" doc:"the records of failed allocations; none if no allocation failed in the heaps that can be read"`
}

// A FailedAllocation is the last allocation that failed in one heap of the collector.
type FailedAllocation struct {
	Heap           int    `json:"heap" doc:"number of the heap"`
	Reason         string `json:"reason" doc:"why: none, budget, can't commit, can't reserve, large object, low memory, unproductive full collection"`
	Large          bool   `json:"large" doc:"the memory was for large objects"`
	AllocationSize uint64 `json:"allocationSize" doc:"bytes that the program asked for"`
	Collection     uint64 `json:"collection" doc:"number of the collection before it"`
	Failure        string `json:"failure" doc:"what the collector could not get: none, reserve segment, commit segment, commit ephemeral segment, grow table, commit table"`
	Size           uint64 `json:"size,omitempty" doc:"bytes that it could not get"`
	AvailableMB    uint64 `json:"availableMB,omitempty" doc:"megabytes that could be committed when the collection began; absent where the collector did not ask"`
}

// The reasons of a FailedAllocation (oom_reason), and what could not be got (failure_get_memory). OOMNone is in both.
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
