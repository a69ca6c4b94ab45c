package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/target"
)

// A Fault is the reason why a reference is not followed.
type Fault uint8

// The faults.
const (
	FaultNowhere Fault = iota // leads to no memory of the heap
	FaultInside               // leads into an object, or is not aligned
	FaultFree                 // leads to a free block, or to free memory of an allocation context
	FaultAbsent               // leads to memory that is not in the dump or could not be walked
	faults
)

var faultNames = [faults]string{"lead outside of the heap", "lead into the middle of objects", "lead to free memory",
	"lead to objects that are not in the dump or unreadable"}

// String describes references with that fault.
func (f Fault) String() string { return enum.Name(faultNames[:], f, "Fault") }

// Stats counts what Build found. A reference with a Fault, and everything below it, is missing from the graph.
type Stats struct {
	Objects   uint64
	Bytes     uint64 // of all objects
	Free      uint64 // number of free blocks
	FreeBytes uint64 // of free blocks
	Edges     uint64 // followed references, including references of Sources and dependent handles

	Faults     [faults]uint64 // references of objects that are not followed
	RootFaults [faults]uint64 // roots and dependent handles that are not followed
	// Garbage counts those Faults of unreachable objects that are no damage: a background collection frees, in place, what garbage in younger
	// generations still refers to.
	Garbage [faults]uint64
	// MissingSlots is the number of words of objects that are not in the dump. Some of them held references.
	MissingSlots uint64
	// BlindObjects counts the objects of types with unknown references. BlindTypes has the errors of the first
	// types.
	BlindObjects uint64
	BlindTypes   []error
	Keepers      []error // errors of the first types with an unknown LoaderAllocator
	// Corruptions has the first places where the walk could not continue. Corrupt is their number.
	Corruptions []*heap.Corruption
	Corrupt     int
	Lost        []heap.LostSegment // unreadable segments
	Roots       []error            // errors of unreadable roots
}

// maxErrors bounds the errors of a kind in Stats.
const maxErrors = 1000

// Complete reports whether the graph has no known missing part.
func (s *Stats) Complete() bool { return len(s.Warnings()) == 0 }

// Followed reports whether all references of all objects are known and lead to objects. References of static fields
// count as references of objects and as roots.
func (s *Stats) Followed() bool {
	return s.Faults == [faults]uint64{} && s.RootFaults == [faults]uint64{} && s.MissingSlots == 0 && s.BlindObjects == 0 && s.Corrupt == 0 && len(s.Lost) == 0
}

// Warnings returns the missing parts of the graph, one line each: target.ErrNotInDump or target.ErrCorrupt.
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
		list = append(list, fmt.Errorf("the references of %d objects are unknown; the first type: %w", s.BlindObjects, s.BlindTypes[0]))
	}
	list = append(list, s.Keepers...)
	absent := s.absent()
	damaged := s.damaged()
	list = append(list, faultWarnings("references", &damaged, absent)...)
	list = append(list, faultWarnings("roots", &s.RootFaults, absent)...)
	return append(list, s.Roots...)
}

// absent returns the kind of FaultAbsent: target.ErrCorrupt if all that the walk skipped is in the dump.
func (s *Stats) absent() error {
	notInDump := func(err error) bool { return errors.Is(err, target.ErrNotInDump) }
	if s.Corrupt == 0 || s.MissingSlots > 0 || slices.ContainsFunc(s.Corruptions, func(c *heap.Corruption) bool { return notInDump(c.Err) }) ||
		slices.ContainsFunc(s.Lost, func(l heap.LostSegment) bool { return notInDump(l.Err) }) {
		return target.ErrNotInDump
	}
	return errDamaged
}

// errDamaged is the ErrCorrupt of references that lead nowhere.
var errDamaged = target.InHeap(target.ErrCorrupt)

func faultWarnings(what string, counts *[faults]uint64, absent error) (list []error) {
	for f, n := range counts {
		if n == 0 {
			continue
		}
		kind := errDamaged
		if Fault(f) == FaultAbsent {
			kind = absent
		}
		list = append(list, fmt.Errorf("%d %s %v and are not followed: %w", n, what, Fault(f), kind))
	}
	return list
}
