package heap

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// oomLayout holds the offsets of oom_history's members (gcinterface.dac.h).
type oomLayout struct {
	Reason              int `layout:"Reason"`
	AllocSize           int `layout:"AllocSize"`
	GcIndex             int `layout:"GcIndex"`
	Fgm                 int `layout:"Fgm"`
	Size                int `layout:"Size"`
	AvailablePagefileMb int `layout:"AvailablePagefileMb"`
	LohP                int `layout:"LohP"`
}

// oomReasons names the values of enum oom_reason, and oomFailures the values of enum failure_get_memory
// (gcinterface.dac.h).
var (
	oomReasons = []string{answer.OOMNone, answer.OOMBudget, answer.OOMCantCommit, answer.OOMCantReserve, answer.OOMLargeObject,
		answer.OOMLowMemory, answer.OOMUnproductive}
	oomFailures = []string{answer.OOMNone, answer.OOMReserveSegment, answer.OOMCommitSegment, answer.OOMCommitEphemeral,
		answer.OOMGrowTable, answer.OOMCommitTable}
)

// OutOfMemory describes each sub heap's record of its last failed allocation. It notes heaps with unreadable
// records. It needs less of the dump than Open: the heap itself may be missing.
func OutOfMemory(rt *dac.Runtime, t target.Target) (*answer.OutOfMemory, error) {
	h := &Heap{rt: rt, mem: t}
	v, err := h.readVars()
	if err != nil {
		return nil, fmt.Errorf("GC heap: %w", err)
	}
	h.readMode(v)
	heaps, err := h.subHeapPlaces(v)
	if err != nil {
		return nil, fmt.Errorf("GC heap: %w", err)
	}
	for i := range heaps {
		h.subHeaps = append(h.subHeaps, heaps[i].SubHeap)
	}
	return h.OutOfMemory(), nil
}

// OutOfMemory returns the function OutOfMemory for an open heap.
func (h *Heap) OutOfMemory() *answer.OutOfMemory {
	out := &answer.OutOfMemory{Heaps: len(h.subHeaps), Failures: []answer.FailedAllocation{}}
	var o oomLayout
	err := h.Runtime().Layout().Bind("OomHistory", &o)
	if err != nil && h.Runtime().Layout().Bind("OOMHistory", &o) == nil { // previews of .NET 11
		err = nil
	}
	if err != nil {
		out.Unread = out.Heaps
		out.Note(fmt.Errorf("failed allocations: %w", err))
		return out
	}
	for i := range h.subHeaps {
		f, err := h.failedAllocation(&o, &h.subHeaps[i])
		switch {
		case err != nil:
			out.Unread++
			out.Note(fmt.Errorf("failed allocation of heap %d: %w", i, err))
		case f.Reason != answer.OOMNone || f.Failure != answer.OOMNone:
			out.Failures = append(out.Failures, f)
		}
	}
	return out
}

// failedAllocation reads the record of one heap. A record with impossible values is corrupt.
func (h *Heap) failedAllocation(o *oomLayout, s *SubHeap) (answer.FailedAllocation, error) {
	f := answer.FailedAllocation{Heap: s.Index}
	at := s.OOMHistoryAt
	if at == 0 {
		return f, target.Unsupportedf("the runtime does not publish it")
	}
	var err error
	read32 := func(off int) (v uint32) {
		if err == nil {
			v, err = target.Uint32(h.mem, at+target.Addr(off))
		}
		return v
	}
	read64 := func(off int) (v uint64) {
		if err == nil {
			v, err = target.Uint64(h.mem, at+target.Addr(off))
		}
		return v
	}
	reason, failure, large := read32(o.Reason), read32(o.Fgm), read32(o.LohP)
	f.AllocationSize, f.Size, f.Collection, f.AvailableMB = read64(o.AllocSize), read64(o.Size), read64(o.GcIndex), read64(o.AvailablePagefileMb)
	if err != nil {
		return f, err
	}
	if int64(reason) >= int64(len(oomReasons)) || int64(failure) >= int64(len(oomFailures)) || large > 1 {
		return f, target.Corruptf("reason %d, failure %d, large %d at %#x", reason, failure, large, uint64(at))
	}
	f.Reason, f.Failure, f.Large = oomReasons[reason], oomFailures[failure], large != 0
	return f, nil
}
