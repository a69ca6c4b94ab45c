package stackscan

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/wordscan"
	"github.com/sosgo/sosgo/target"
)

// A Source says where a reference to an object was found.
type Source uint8

// The sources.
const (
	SourceRegister Source = iota
	SourceStack
)

// String is "register" or "stack".
func (s Source) String() string {
	if s == SourceRegister {
		return "register"
	}
	return "stack"
}

// A Slot is a register or a word of a stack that holds the address of an
// object.
type Slot struct {
	Source   Source
	Register target.Reg  // of a SourceRegister
	Addr     target.Addr // of the word, for a SourceStack
	Object   target.Addr
	Type     *dac.MethodTable
	Free     bool // no object but a free block of the heap
	// Unproven says that no walk of the heap reaches the place, because the dump lacks the heap around it: only the
	// first word, a MethodTable, speaks for an object. If not set, a walk passes the object.
	Unproven bool
}

// Options say what is scanned.
type Options struct {
	// Ranges are the stacks, in the order in which they are reported. Words are
	// aligned to 8 bytes. What the dump lacks is an error in the sequence.
	Ranges []target.Range
	// Registers, if not nil, come before the stacks.
	Registers *target.Registers
	// Verify leaves out what is Unproven, and objects that are damaged:
	// that end behind their segment or refer to what is no object.
	Verify bool
}

// A Scanner scans stacks for the objects of one runtime. It is safe for
// concurrent use. It keeps what it learns of the heap.
type Scanner struct {
	rt       *dac.Runtime
	heap     *heap.Heap // nil if it can't be opened
	starts   *heap.Starts
	bounds   target.Range
	complete bool // every object lies in a segment that is known
}

// New prepares scans for the objects of rt. h is its heap, or nil if the dump
// has too little of it to open one: then all results are Unproven.
func New(rt *dac.Runtime, h *heap.Heap) *Scanner {
	s := &Scanner{rt: rt, heap: h}
	if h != nil {
		s.starts, s.bounds, s.complete = heap.NewStarts(h), h.Bounds(), len(h.Warnings()) == 0
	}
	return s
}

// Scan yields the references to objects in registers and stacks. Nothing is
// allocated per word. Damage to the scan itself, a part of a stack that is
// not in the dump, is an error in the sequence and not its end; that of ctx is its
// end. A Scanner without a runtime, as the zero value, is target.ErrUnsupported.
func (s *Scanner) Scan(ctx context.Context, o Options) iter.Seq2[Slot, error] {
	return func(yield func(Slot, error) bool) {
		if s.rt == nil {
			yield(Slot{}, target.Unsupportedf("no runtime, so no objects"))
			return
		}
		processor, err := s.rt.Target().Platform().Arch.Processor()
		if err != nil {
			yield(Slot{}, err)
			return
		}
		var edges *heap.Edges
		if s.heap != nil && o.Verify {
			edges = s.heap.Edges(heap.EdgeOptions{LoaderAllocators: true})
		}
		var slot Slot // one for all words: its address escapes
		scan := wordscan.Scan{Memory: s.rt.Target(), Processor: processor, Bounds: s.bounds, Elsewhere: !s.complete,
			Found: func(w wordscan.Word) bool {
				slot = Slot{Source: SourceStack, Addr: w.Addr, Object: w.Value}
				if w.InRegister {
					slot.Source, slot.Register = SourceRegister, w.Register
				}
				return !s.object(&slot, &o, edges) || yield(slot, nil)
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

// object completes a slot; it reports false if its address is no object's. edges
// are for Options.Verify alone, nil where there is no heap.
func (s *Scanner) object(slot *Slot, o *Options, edges *heap.Edges) bool {
	a := slot.Object
	if s.heap == nil || s.heap.Segment(a) == nil {
		return !s.complete && !o.Verify && s.plausible(slot, o.Ranges)
	}
	switch start, err := s.starts.IsStart(a); {
	case err != nil:
		return !o.Verify && s.plausible(slot, o.Ranges)
	case !start:
		return false
	}
	obj, err := s.heap.ObjectAt(a)
	if err != nil {
		return false // the walk read it: an I/O error of the host
	}
	slot.Type, slot.Free = obj.Type, obj.Free
	return !o.Verify || s.sound(&obj, edges)
}

// plausible completes a slot whose object no walk reaches. Stacks have no
// objects in them.
func (s *Scanner) plausible(slot *Slot, stacks []target.Range) bool {
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
	if err != nil || mt.BaseSize < minObject || s.image(a) {
		return false
	}
	slot.Unproven, slot.Type, slot.Free = true, mt, mt.Addr == s.rt.WellKnown().Free
	return true
}

// minObject is the least base size of a type: a header word, the MethodTable.
const minObject = 16

// image reports whether a lies in a module: what looks like an object there is
// a pointer to a MethodTable.
func (s *Scanner) image(a target.Addr) bool {
	return target.ModuleAt(s.rt.Target().Modules(), a) != nil
}

// sound reports whether an object that a walk reaches is undamaged: it ends
// inside its segment, and what it refers to are objects, as far as a walk can
// tell.
func (s *Scanner) sound(o *heap.Object, edges *heap.Edges) bool {
	if seg := s.heap.Segment(o.Addr); seg == nil || o.Size > uint64(seg.Objects.End-o.Addr) {
		return false
	}
	if o.Free {
		return true
	}
	for ref, err := range edges.Of(o) {
		if err != nil {
			continue // absent is not damaged
		}
		if start, err := s.starts.IsStart(ref.Target); err == nil && !start && s.complete {
			return false
		}
	}
	return true
}
