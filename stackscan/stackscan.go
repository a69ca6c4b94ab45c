package stackscan

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/wordscan"
	"github.com/sosgo/sosgo/target"
)

// A Source is the kind of place where a reference was found.
type Source uint8

// The sources.
const (
	SourceRegister Source = iota
	SourceStack
)

// String returns "register" or "stack".
func (s Source) String() string {
	if s == SourceRegister {
		return "register"
	}
	return "stack"
}

// A Slot is a register or a word of a stack that holds the address of an object.
type Slot struct {
	Source   Source
	Register target.Reg  // for SourceRegister
	Addr     target.Addr // of the word, for SourceStack
	Object   target.Addr
	Type     *dac.MethodTable
	Free     bool // a free block of the heap, not an object
	// Unproven is set if the heap around the object is not in the dump, so that no heap walk can reach it. Only the
	// first word, a MethodTable, suggests an object.
	Unproven bool
}

// Options selects what is scanned.
type Options struct {
	// Ranges are the stacks, in the order of the report. Words are aligned to 8 bytes. A part that is not in the
	// dump is an error in the sequence.
	Ranges    []target.Range
	Registers *target.Registers // if not nil, reported before the stacks
	// Verify omits unproven objects, and damaged ones: they end past their segment or refer to something that is
	// not an object.
	Verify bool
}

// A Scanner scans stacks for the objects of one runtime. It caches facts about the heap and is safe for concurrent use.
type Scanner struct {
	rt       *dac.Runtime
	heap     *heap.Heap // nil if it could not be opened
	starts   *heap.Starts
	bounds   target.Range
	complete bool // all objects lie in known segments
}

// New returns a Scanner for the objects of rt. h is its heap, or nil if the dump has too little of it. If h is nil, all
// results are Unproven.
func New(rt *dac.Runtime, h *heap.Heap) *Scanner {
	s := &Scanner{rt: rt, heap: h}
	if h != nil {
		s.starts, s.bounds, s.complete = heap.NewStarts(h), h.Bounds(), len(h.Warnings()) == 0
	}
	return s
}

// Scan yields the references to objects in registers and stacks. It allocates nothing per word. A part of a stack that
// is not in the dump is an error in the sequence, which continues. An error of ctx ends it.
func (s *Scanner) Scan(ctx context.Context, o Options) iter.Seq2[Slot, error] {
	return func(yield func(Slot, error) bool) {
		processor, err := s.rt.Target().Platform().Arch.Processor()
		if err != nil {
			yield(Slot{}, err)
			return
		}
		var edges *heap.Edges
		if s.heap != nil && o.Verify {
			edges = s.heap.Edges(heap.EdgeOptions{LoaderAllocators: true})
		}
		var slot Slot // shared by all words, because its address escapes
		scan := wordscan.Scan{Memory: s.rt.Target(), Processor: processor, Bounds: s.bounds, Elsewhere: !s.complete,
			Found: func(w wordscan.Word) bool {
				slot = Slot{Source: SourceStack, Addr: w.Addr, Object: w.Value}
				if w.InRegister {
					slot.Source, slot.Register = SourceRegister, w.Register
				}
				return !s.completeSlot(&slot, &o, edges) || yield(slot, nil)
			},
			Lost: func(err error) bool { return yield(Slot{}, err) },
		}
		if o.Registers != nil && !scan.Registers(ctx, o.Registers) {
			return
		}
		for _, r := range o.Ranges {
			if !scan.Stack(ctx, r) {
				return
			}
		}
	}
}

// completeSlot completes a slot. It reports whether the address is an object's. edges is needed for Options.Verify, and
// is nil without a heap.
func (s *Scanner) completeSlot(slot *Slot, o *Options, edges *heap.Edges) bool {
	a := slot.Object
	if s.heap == nil || s.heap.Segment(a) == nil {
		return !s.complete && !o.Verify && s.completeUnproven(slot, o.Ranges)
	}
	switch start, err := s.starts.IsStart(a); {
	case err != nil:
		return !o.Verify && s.completeUnproven(slot, o.Ranges)
	case !start:
		return false
	}
	obj, err := s.heap.ObjectAt(a)
	if err != nil {
		return false // an I/O error of the host: the walk has read it
	}
	slot.Type, slot.Free = obj.Type, obj.Free
	return !o.Verify || s.isSound(&obj, edges)
}

// completeUnproven completes a slot with an object that no walk can reach. It reports false for addresses in stacks,
// which hold no objects.
func (s *Scanner) completeUnproven(slot *Slot, stacks []target.Range) bool {
	a := slot.Object
	for _, r := range stacks {
		if r.Contains(a) {
			return false
		}
	}
	word, err := target.Uint64(s.rt.Target(), a)
	if err != nil {
		return false
	}
	mt, err := s.rt.MethodTable(target.Addr(word))
	if err != nil || mt.BaseSize < minObject || s.inImage(a) {
		return false
	}
	slot.Unproven, slot.Type, slot.Free = true, mt, mt.Addr == s.rt.WellKnown().Free
	return true
}

// minObject is the smallest base size of a type: a header word and the MethodTable pointer.
const minObject = 16

// inImage reports whether a lies in a module. What looks like an object there is a pointer to a MethodTable.
func (s *Scanner) inImage(a target.Addr) bool {
	return target.ModuleAt(s.rt.Target().Modules(), a) != nil
}

// isSound reports whether an object that a walk reaches is undamaged: it ends inside its segment, and refers to
// objects, as far as a walk can decide.
func (s *Scanner) isSound(o *heap.Object, edges *heap.Edges) bool {
	if seg := s.heap.Segment(o.Addr); seg == nil || o.Size > uint64(seg.Objects.End-o.Addr) {
		return false
	}
	if o.Free {
		return true
	}
	for ref, err := range edges.Of(o) {
		if err != nil {
			continue // missing memory is not damage
		}
		if start, err := s.starts.IsStart(ref.Target); err == nil && !start && s.complete {
			return false
		}
	}
	return true
}
