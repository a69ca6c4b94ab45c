package answer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// GC describes the garbage collector: its configuration, its state, and the figures that it and the program recorded.
type GC struct {
	Gaps
	Server  Maybe[bool]   `json:"server,omitzero" doc:"server GC"`
	Regions Maybe[bool]   `json:"regions,omitzero" doc:"the heap is made of regions, not of segments"`
	Heaps   Maybe[int64]  `json:"heaps,omitzero" doc:"number of heaps"`
	DATAS   Maybe[uint64] `json:"datas,omitzero" doc:"mode of dynamic adaptation to application sizes; only a server GC has one"`
	Library Text          `json:"library,omitzero" doc:"file whose collector runs: the runtime's own, or one that was loaded in its place"`

	Settings    []GCSetting       `json:"settings" doc:"settings of the collector that the environment or runtimeconfig.json has, as written there"`
	State       CollectorState    `json:"state" doc:"what the collector was doing"`
	Mechanisms  []GCCount         `json:"mechanisms,omitempty" doc:"how many collections used each mechanism, as the collector counts them"`
	Compactions []GCCount         `json:"compactions,omitempty" doc:"how many collections compacted, by the collector's reason; of a server GC in the heap that counts most"`
	AtLeast     Maybe[uint64]     `json:"atLeast,omitzero" doc:"collections so far, at least: the highest number in what the collector counts and the program recorded"`
	Recorded    []GCRecord        `json:"recorded" doc:"collections whose figures the program, or a library, had asked for (GC.GetGCMemoryInfo), the newest first"`
	Generations []GenerationSize  `json:"generations" doc:"sizes of the generations, of all heaps together"`
	Pinned      Maybe[uint64]     `json:"pinnedHandles,omitzero" doc:"handles that pin an object"`
	AsyncPinned Maybe[uint64]     `json:"asyncPinnedHandles,omitzero" doc:"handles that pin the buffers of overlapped I/O"`
	Threads     []ThreadAllocated `json:"threads" doc:"what each living thread has allocated, the most first"`
	Left        Maybe[uint64]     `json:"left,omitzero" doc:"bytes that threads have been given to allocate from and have not used yet"`

	Failures []FailedAllocation `json:"failures,omitempty" doc:"the last failed allocation of each heap that had one; see analyzeoom"`
	Absent   []AbsentFact       `json:"absent" doc:"what is not answered, and why"`
}

// The sources of a GCSetting.
const (
	GCSettingEnvironment   = "environment"
	GCSettingRuntimeConfig = "runtimeconfig"
)

// A GCSetting is a configured setting of the collector. Whether the collector followed it is not recorded.
type GCSetting struct {
	Name   string `json:"name" doc:"name of the setting, such as HeapHardLimit"`
	Value  string `json:"value" doc:"its value as written; numbers in the environment are hexadecimal"`
	Source string `json:"source" doc:"\"environment\" or \"runtimeconfig\""`
	Key    string `json:"key" doc:"the variable or property that has it"`
	Unused bool   `json:"overridden,omitempty" doc:"the environment has a value for the same setting, which counts"`
}

// A CollectorState is the collector's activity when the dump was taken.
type CollectorState struct {
	InCollection Maybe[bool] `json:"inCollection,omitzero" doc:"a collection was changing the heap"`
	Background   Text        `json:"background,omitzero" doc:"what a background collection was doing: \"none\", \"marking\" or \"planning\""`
	Suspender    *Thread     `json:"suspender,omitempty" doc:"the thread that has suspended, or is suspending, the others: for a collection or another purpose of the runtime"`
	Waited       []Thread    `json:"waitedFor,omitempty" doc:"threads that still ran managed code then, so that the suspender had to wait for them"`
}

// A GCCount is a counter of the collector.
type GCCount struct {
	Name  string `json:"name" doc:"what is counted"`
	Count uint64 `json:"count" doc:"how many collections"`
}

// A GCRecord is the figures of one collection, as GC.GetGCMemoryInfo returns them.
type GCRecord struct {
	Address         target.Addr    `json:"address" doc:"the GCMemoryInfoData"`
	Index           Maybe[int64]   `json:"index,omitzero" doc:"number of the collection, from 1 on"`
	Generation      Maybe[int64]   `json:"generation,omitzero" doc:"generation that was collected"`
	Compacted       Maybe[bool]    `json:"compacted,omitzero" doc:"it compacted"`
	Concurrent      Maybe[bool]    `json:"concurrent,omitzero" doc:"it was a background collection"`
	Pause           Maybe[Seconds] `json:"pause,omitzero" doc:"seconds for which it stopped the program"`
	PauseShare      Maybe[int64]   `json:"pauseShare,omitzero" doc:"part of the time so far that the program was stopped for collections, in hundredths of a percent"`
	HeapSize        Maybe[int64]   `json:"heapSize,omitzero" doc:"bytes of the heap after it"`
	Fragmented      Maybe[int64]   `json:"fragmented,omitzero" doc:"free bytes in the heap after it"`
	Committed       Maybe[int64]   `json:"committed,omitzero" doc:"bytes committed"`
	Promoted        Maybe[int64]   `json:"promoted,omitzero" doc:"bytes that survived"`
	Pinned          Maybe[int64]   `json:"pinnedObjects,omitzero" doc:"pinned objects that it met"`
	Finalizing      Maybe[int64]   `json:"finalizationPending,omitzero" doc:"objects that were ready for finalization"`
	MemoryLoad      Maybe[int64]   `json:"memoryLoad,omitzero" doc:"bytes of memory in use, of the machine or container"`
	HighMemoryLoad  Maybe[int64]   `json:"highMemoryLoad,omitzero" doc:"memory load in bytes from which on the collector collects more"`
	AvailableMemory Maybe[int64]   `json:"availableMemory,omitzero" doc:"bytes that the collector may use: those of the machine, of the container, or its hard limit"`
	Sizes           []GCRecordSize `json:"sizes,omitempty" doc:"its generations"`
}

// A GCRecordSize is a collection's effect on a generation.
type GCRecordSize struct {
	Generation       string       `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\" or \"pinned\""`
	Before           Maybe[int64] `json:"before,omitzero" doc:"bytes before it"`
	After            Maybe[int64] `json:"after,omitzero" doc:"bytes after it"`
	FragmentedBefore Maybe[int64] `json:"fragmentedBefore,omitzero" doc:"free bytes before it"`
	FragmentedAfter  Maybe[int64] `json:"fragmentedAfter,omitzero" doc:"free bytes after it"`
}

// ThreadAllocated is the memory that a thread has allocated.
type ThreadAllocated struct {
	Thread
	Allocated Maybe[uint64] `json:"allocated,omitzero" doc:"bytes since the thread began"`
	Left      uint64        `json:"left" doc:"bytes that it was given to allocate from and has not used yet"`
}

// An AbsentFact is something that could not be answered.
type AbsentFact struct {
	What   string `json:"what" doc:"what is not answered"`
	Reason string `json:"reason" doc:"why"`
	Err    error  `json:"-"`
}

// absentFact returns an AbsentFact, and err prefixed with what unless it is already.
func absentFact(what string, err error) (AbsentFact, error) {
	fact := AbsentFact{What: what, Reason: err.Error(), Err: err}
	var named bool
	if fact.Reason, named = strings.CutPrefix(fact.Reason, what+": "); named {
		return fact, err
	}
	return fact, fmt.Errorf("%s: %w", what, err)
}

// Lacks records that something could not be answered, and why. Nil is ignored. Facts that no dump of this runtime
// records are not noted as gaps.
func (a *GC) Lacks(what string, err error) {
	if a == nil || err == nil {
		return
	}
	fact, err := absentFact(what, err)
	a.Absent = append(a.Absent, fact)
	if !errors.Is(err, target.ErrUnsupported) {
		a.Note(err)
	}
}

// Saw records that at least n collections have happened.
func (a *GC) Saw(n uint64) {
	if a != nil && n > 0 && (a.AtLeast.Err() != nil || n > a.AtLeast.Value) {
		a.AtLeast = Known(n)
	}
}
