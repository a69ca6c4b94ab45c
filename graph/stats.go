package graph

import (
	"fmt"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// A Fault says why a reference is not followed.
type Fault uint8

// The faults.
const (
	FaultNowhere Fault = iota // it leads to no memory of the heap
	FaultInside               // it leads into an object, or is not aligned as one
	FaultFree                 // it leads to a free block, or to what allocation contexts have free
	FaultAbsent               // it leads to what the dump lacks or what could not be walked
	faults
)

var faultNames = [faults]string{"lead out of the heap", "lead into the middle of objects", "lead to free memory",
	"lead to objects that the dump lacks or that can't be read"}

// String is what references with that fault do.
func (f Fault) String() string {
	if f < faults {
		return faultNames[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}

// Stats are what Build met. References with a Fault, and all that is counted below
// them, are what the graph lacks.
type Stats struct {
	Objects   uint64
	Bytes     uint64 // of all objects
	Free      uint64 // free blocks
	FreeBytes uint64 // of these
	Edges     uint64 // references that are followed, those of Sources and dependent handles too

	Faults     [faults]uint64 // references of objects that are not followed
	RootFaults [faults]uint64 // roots and dependent handles that are not
	// MissingSlots are words of objects that the dump lacks, of which some held references.
	MissingSlots uint64
	// BlindObjects are those of types of which it is not known where they hold
	// references; BlindTypes has the errors of the first of those types.
	BlindObjects uint64
	BlindTypes   []error
	// Keepers are the first types of which it is not known what keeps them alive.
	Keepers []error
	// Corruptions are the first places where the walk could not go on, Corrupt is
	// their number.
	Corruptions []*heap.Corruption
	Corrupt     int
	// Lost are segments that can't be read.
	Lost []heap.LostSegment
	// Roots say which roots can't be read.
	Roots []error
}

// maxErrors is how many errors of a kind Stats keep.
const maxErrors = 1000

// Complete reports whether the graph lacks nothing that is known of.
func (s *Stats) Complete() bool { return len(s.Warnings()) == 0 }

// Warnings say what the graph lacks, in a line each: target.ErrNotInDump or
// target.ErrCorrupt.
func (s *Stats) Warnings() []error {
	var list []error
	for i := range s.Lost {
		list = append(list, fmt.Errorf("segment %#x is not in the graph: %w", uint64(s.Lost[i].Addr), s.Lost[i].Err))
	}
	if s.Corrupt > 0 {
		err := error(s.Corruptions[0])
		list = append(list, fmt.Errorf("the heap can't be walked at %d places, the first: %w", s.Corrupt, err))
	}
	if s.MissingSlots > 0 {
		list = append(list, fmt.Errorf("%d words of objects that may hold references: %w", s.MissingSlots, target.ErrNotInDump))
	}
	if s.BlindObjects > 0 {
		list = append(list, fmt.Errorf("the references of %d objects are not known, of the first type: %w", s.BlindObjects, s.BlindTypes[0]))
	}
	list = append(list, s.Keepers...)
	list = append(list, faultWarnings("references", &s.Faults)...)
	list = append(list, faultWarnings("roots", &s.RootFaults)...)
	return append(list, s.Roots...)
}

func faultWarnings(what string, counts *[faults]uint64) (list []error) {
	for f, n := range counts {
		if n == 0 {
			continue
		}
		kind := target.ErrCorrupt
		if Fault(f) == FaultAbsent {
			kind = target.ErrNotInDump
		}
		list = append(list, fmt.Errorf("%d %s %v and are not followed: %w", n, what, Fault(f), kind))
	}
	return list
}
