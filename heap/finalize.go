package heap

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A FinalizerQueue is a sub heap's queue of objects with finalizers: an array divided into parts (gcpriv.h, CFinalize).
type FinalizerQueue struct {
	SubHeap int
	Addr    target.Addr // address of the queue, or 0
	// Generations are the parts with registered finalizers, by Generation. The ranges are addresses of words.
	Generations []target.Range
	// Critical and Ready are the parts with unreachable objects that await finalization. Objects derived from
	// CriticalFinalizerObject are in Critical and run last. The queue keeps these objects alive.
	Critical, Ready target.Range
	// Bounds holds the bounds of the parts in the queue's order: the generations from the highest to the
	// lowest, then Critical and Ready.
	Bounds []target.Addr
}

// Finalizable returns all parts with registered finalizers.
func (q *FinalizerQueue) Finalizable() target.Range {
	if len(q.Generations) == 0 {
		return target.Range{}
	}
	return target.Range{Start: q.Bounds[0], End: q.Critical.Start}
}

// FReachable returns Critical and Ready together.
func (q *FinalizerQueue) FReachable() target.Range {
	return target.Range{Start: q.Critical.Start, End: q.Ready.End}
}

// FinalizerQueue reads the finalizer queue of the sub heap with the given index, without its objects.
func (h *Heap) FinalizerQueue(subHeap int) (FinalizerQueue, error) {
	q := FinalizerQueue{SubHeap: subHeap}
	if subHeap < 0 || subHeap >= len(h.subHeaps) {
		return q, target.NoSuchf("finalizer queue: there is no heap %d", subHeap)
	}
	if q.Addr = h.subHeaps[subHeap].FinalizeQueue; q.Addr == 0 {
		return q, nil
	}
	if err := q.read(h.mem, h.fillPointers, h.genCount); err != nil {
		return q, fmt.Errorf("finalizer queue of heap %d: %w", subHeap, err)
	}
	return q, nil
}

// read reads the members of CFinalize from offset first on: the ends of the parts and the bounds of the array.
// The parts are adjacent, so only the first needs a start.
func (q *FinalizerQueue) read(mem target.Memory, first, generations int) error {
	parts := generations + 2
	b, err := target.Bytes(mem, q.Addr+target.Addr(first), 8*(parts+2))
	if err != nil {
		return err
	}
	words := make([]target.Addr, parts+2)
	for i := range words {
		words[i] = target.Addr(binary.LittleEndian.Uint64(b[8*i:]))
	}
	array := target.Range{Start: words[parts], End: words[parts+1]}
	bounds := append([]target.Addr{array.Start}, words[:parts]...)
	for i, a := range bounds {
		if a%8 != 0 || a > array.End || i > 0 && a < bounds[i-1] {
			return target.CorruptHeapf("part %d ends at %#x, the array is %#x-%#x", i-1, uint64(a), uint64(array.Start), uint64(array.End))
		}
	}
	if array.End-array.Start > limits.FinalizerQueueBytes {
		return target.CorruptHeapf("an array of %#x bytes", uint64(array.End-array.Start))
	}
	q.Bounds = bounds
	for g := range generations {
		k := generations - 1 - g
		q.Generations = append(q.Generations, target.Range{Start: bounds[k], End: bounds[k+1]})
	}
	q.Critical = target.Range{Start: bounds[generations], End: bounds[generations+1]}
	q.Ready = target.Range{Start: bounds[generations+1], End: bounds[generations+2]}
	return nil
}

// FinalizerSlots iterates over a part of a FinalizerQueue and yields each slot with its object. A
// range that is not in the dump yields an error and ends the sequence.
func (h *Heap) FinalizerSlots(part target.Range) iter.Seq2[Reference, error] {
	return func(yield func(Reference, error) bool) {
		win := target.NewWindow(h.mem)
		for a := part.Start; a < part.End; a += 8 {
			v, err := win.Uint64(a)
			if err != nil {
				yield(Reference{Slot: a}, fmt.Errorf("finalizer queue: %w", err))
				return
			}
			if v != 0 && !yield(Reference{Slot: a, Target: target.Addr(v)}, nil) {
				return
			}
		}
	}
}
