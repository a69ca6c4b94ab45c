package objecttext

import (
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// OutOfMemory is the text of analyzeoom.
func OutOfMemory(p *report.Page, o *answer.OutOfMemory) {
	switch {
	case len(o.Failures) == 0 && o.Unread == 0:
		p.Print("There was no managed OOM due to allocations on the GC heap\n")
	case len(o.Failures) == 0 && o.Unread == o.Heaps:
		p.Print("Unknown whether there was a managed OOM\n")
	case o.Unread > 0:
		p.Printf("The record of %s of %d heaps can't be read\n", strconv.Itoa(o.Unread), o.Heaps)
	}
	for i := range o.Failures {
		failedAllocation(p, &o.Failures[i], o.Heaps)
	}
}

// likelyBug is SOS's sentence, also for a heap limit that was reached. Only --sos repeats it.
const likelyBug = "OOM was due to an internal .Net error, likely a bug in the GC"

// reasonWords are SOS's sentences for the reasons of an answer.FailedAllocation.
var reasonWords = map[string]string{
	answer.OOMBudget:       likelyBug,
	answer.OOMCantReserve:  likelyBug,
	answer.OOMCantCommit:   "Didn't have enough memory to commit",
	answer.OOMLargeObject:  "Didn't have enough memory to allocate an LOH segment",
	answer.OOMLowMemory:    "Low on memory during GC",
	answer.OOMUnproductive: "Could not do a full GC",
}

// failureWords are SOS's for what the collector could not get.
var failureWords = map[string]string{
	answer.OOMReserveSegment:  "Failed to reserve memory",
	answer.OOMCommitSegment:   "Didn't have enough memory to commit beginning of the segment",
	answer.OOMCommitEphemeral: "Didn't have enough memory to commit the new ephemeral segment",
	answer.OOMGrowTable:       "Didn't have enough memory to grow the internal GC data structures",
	answer.OOMCommitTable:     "Didn't have enough memory to commit the internal GC data structures",
}

func failedAllocation(p *report.Page, f *answer.FailedAllocation, heaps int) {
	if !p.SOS && heaps > 1 {
		p.Printf("Heap %d: ", f.Heap)
	}
	words := reasonWords[f.Reason]
	if words == "" || !p.SOS && words == likelyBug {
		words = "OOM: " + f.Why()
	}
	p.Print(words + "\n")
	if !p.SOS {
		if f.Sized() {
			p.Printf("Allocation: %s bytes, after collection %s\n", report.Commas(f.AllocationSize), report.Commas(f.Collection))
		} else {
			p.Printf("Allocation: of a size that is not recorded, after collection %s (%s bytes are half of the least budget of generation 0)\n", report.Commas(f.Collection),
				report.Commas(f.AllocationSize))
		}
	}
	if f.Failure == answer.OOMNone {
		return
	}
	size := "SOH"
	if f.Large {
		size = "LOH"
	}
	p.Printf("Details: %s %s %s bytes", size, failureWords[f.Failure], report.Commas(f.Size))
	if f.AvailableMB != 0 {
		p.Printf(" - on GC entry available commit space was %s MB", report.Commas(f.AvailableMB))
	}
	p.Print("\n")
}
