package heap

import (
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/target"
)

// A FaultKind is a kind of damage of an object.
type FaultKind uint8

// The kinds.
const (
	FaultNotOnHeap          FaultKind = iota // the address is in no segment
	FaultNotAligned                          // the address is not a multiple of the pointer size
	FaultMethodTable                         // its first word is not a MethodTable
	FaultTooLarge                            // it ends after its segment
	FaultThinLock                            // its thin lock belongs to a thread that does not exist
	FaultSyncBlock                           // its header refers to a sync block that does not refer back
	FaultSyncBlockZero                       // its header refers to a free sync block
	FaultReferenceAlignment                  // a reference is not a multiple of the pointer size
	FaultReference                           // a reference to an address without an object
	FaultReferenceToFree                     // a reference to a free block
	FaultGCDesc                              // its GCDesc is unreadable
	FaultSegment                             // not an object: the record of a segment is invalid
)

var faultNames = [...]string{"ObjectNotOnTheHeap", "ObjectNotPointerAligned", "InvalidMethodTable", "ObjectTooLarge", "InvalidThinlock",
	"SyncBlockMismatch", "SyncBlockZero", "ObjectReferenceNotPointerAligned", "InvalidObjectReference", "FreeObjectReference", "CouldNotReadGCDesc", "InvalidSegment"}

// String returns the name that verifyheap prints.
func (k FaultKind) String() string { return enum.Name(faultNames[:], k, "FaultKind") }

// A Fault is damage of an object of the heap.
type Fault struct {
	Kind    FaultKind
	Object  target.Addr
	Segment *Segment    // the object's segment, or nil
	Offset  uint64      // bytes from the object's start to a reference, 0 for the object itself
	Value   target.Addr // the value found there, or the index of the sync block
	Err     error       // the cause, if known
}

// String describes the fault in a sentence.
func (f *Fault) String() string {
	o := uint64(f.Object)
	switch f.Kind {
	case FaultNotOnHeap:
		return fmt.Sprintf("Address %x is in no segment of the heap", o)
	case FaultNotAligned:
		return fmt.Sprintf("Object %x is not pointer aligned", o)
	case FaultMethodTable:
		return fmt.Sprintf("Object %x has an invalid method table %x", o, uint64(f.Value))
	case FaultTooLarge:
		return fmt.Sprintf("Object %x is too large: %#x bytes", o, uint64(f.Value))
	case FaultThinLock:
		return fmt.Sprintf("Object %x has an invalid thin lock: no thread has the id %d", o, uint64(f.Value))
	case FaultSyncBlock:
		return fmt.Sprintf("Object %x has the index %d of a sync block that is not its own", o, uint64(f.Value))
	case FaultSyncBlockZero:
		return fmt.Sprintf("Object %x has the index %d of a sync block that is free", o, uint64(f.Value))
	case FaultReferenceAlignment:
		return fmt.Sprintf("Object %x has an unaligned member at offset %x: %x", o, f.Offset, uint64(f.Value))
	case FaultReference:
		return fmt.Sprintf("Object %x has a bad member at offset %x: %x", o, f.Offset, uint64(f.Value))
	case FaultReferenceToFree:
		return fmt.Sprintf("Object %x refers to a free block at offset %x: %x", o, f.Offset, uint64(f.Value))
	case FaultGCDesc:
		return fmt.Sprintf("Object %x has a type whose references can't be found: %v", o, f.Err)
	case FaultSegment:
		return f.Err.Error()
	}
	return f.Kind.String()
}

// A Verification is the result of Verify.
type Verification struct {
	Faults  []Fault // in address order, at most MaxCorruptions
	Faulty  int     // their number
	Objects uint64
	// Missing is the number of objects, or ranges of a segment, that could not be verified because
	// memory is not in the dump. MissingErr is the first reason.
	Missing    int
	MissingErr error

	skipped uint64 // bytes between objects that are no objects, but for generations 0 and 1
}

func (v *Verification) fault(f Fault) {
	if v.Faulty++; len(v.Faults) < MaxCorruptions {
		v.Faults = append(v.Faults, f)
	}
}

func (v *Verification) addMissing(err error) {
	if v.Missing++; v.MissingErr == nil {
		v.MissingErr = err
	}
}

func (v *Verification) add(w *Verification) {
	for _, f := range w.Faults {
		v.fault(f)
	}
	v.Faulty += w.Faulty - len(w.Faults)
	v.Objects += w.Objects
	v.skipped += w.skipped
	if w.MissingErr != nil {
		v.addMissing(w.MissingErr)
		v.Missing += w.Missing - 1
	}
}

// A verifier verifies objects for one goroutine.
type verifier struct {
	h       *Heap
	threads map[uint32]bool // managed ids
	edges   *Edges
	out     Verification
}

// newVerifier returns a verifier. It compares thin locks with the threads' ids; if these are not in the dump,
// it does not verify locks.
func newVerifier(h *Heap) *verifier {
	v := &verifier{h: h, edges: h.Edges(EdgeOptions{})}
	if threads, err := h.Runtime().Threads(); err == nil {
		v.threads = map[uint32]bool{}
		for i := range threads {
			v.threads[threads[i].ManagedID] = true
		}
	}
	return v
}

// Verify verifies the headers, types and references of the objects that f selects.
func (h *Heap) Verify(ctx context.Context, f *Filter, o ScanOptions) (Verification, error) {
	var total Verification
	shared := newVerifier(h)
	err := Scan(ctx, h, f, o, func() *verifyCollector {
		v := newVerifier(h)
		v.threads = shared.threads
		return &verifyCollector{verifier: v, sieve: NewSieve(f)}
	}, func(c *verifyCollector) error {
		total.add(&c.out)
		return nil
	})
	return total, err
}

// ephemeral reports whether an address is in the generations that nearly each collection works through.
func ephemeral(s *Segment, a target.Addr) bool {
	if s == nil {
		return false
	}
	g := s.Generation(a)
	return g == Generation0 || g == Generation1
}

type verifyCollector struct {
	*verifier
	sieve *Sieve
}

func (c *verifyCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.out.Objects++
			c.object(s, o)
		}
	}
}

func (c *verifyCollector) Corrupt(e *Corruption) {
	if errors.Is(e.Err, target.ErrCorrupt) && !ephemeral(e.Segment, e.Addr) {
		c.out.skipped += uint64(e.Next - e.Addr)
	}
	c.head(e.Segment, e.Addr, e.Err)
}

func (c *verifyCollector) Reset() { c.out = Verification{} }

// verify verifies the address a, which may not be an object.
func (v *verifier) verify(a target.Addr) Verification {
	v.out = Verification{Objects: 1}
	s := v.h.Segment(a)
	switch {
	case s == nil:
		v.out.fault(Fault{Kind: FaultNotOnHeap, Object: a})
	case a%8 != 0:
		v.out.fault(Fault{Kind: FaultNotAligned, Object: a, Segment: s})
	default:
		o, err := v.h.ObjectAt(a)
		if err != nil {
			v.head(s, a, err)
			break
		}
		v.object(s, &o)
	}
	return v.out
}

// head records why there is no object at a.
func (v *verifier) head(s *Segment, a target.Addr, err error) {
	f := Fault{Kind: FaultMethodTable, Object: a, Segment: s, Err: err}
	word, werr := target.Pointer(v.h.mem, a)
	if werr != nil {
		v.out.addMissing(werr)
		return
	}
	f.Value = word
	if errors.Is(err, target.ErrNotInDump) {
		v.out.addMissing(err)
		return
	}
	if info, err := v.h.types.lookup(word &^ 7); err == nil {
		f.Kind = FaultTooLarge
		if head, err := target.Bytes(v.h.mem, a, headSize); err == nil {
			o := info.object(a, head)
			f.Value = target.Addr(o.Size)
		}
	}
	v.out.fault(f)
}

func (v *verifier) object(s *Segment, o *Object) {
	if o.Free {
		return
	}
	v.header(s, o)
	for ref, err := range v.edges.Of(o) {
		if err != nil {
			v.unread(s, o, err)
			return
		}
		v.reference(s, o, uint64(ref.Slot-o.Addr), ref.Target)
	}
}

// unread records why references of o are unknown.
func (v *verifier) unread(s *Segment, o *Object, err error) {
	if desc := (*GCDescError)(nil); errors.As(err, &desc) && !errors.Is(err, target.ErrNotInDump) {
		v.out.fault(Fault{Kind: FaultGCDesc, Object: o.Addr, Segment: s, Err: err})
		return
	}
	v.out.addMissing(err)
}

// reference verifies that an object starts at to, as far as its first words show.
func (v *verifier) reference(s *Segment, o *Object, off uint64, to target.Addr) {
	f := Fault{Object: o.Addr, Segment: s, Offset: off, Value: to}
	if to%8 != 0 {
		f.Kind = FaultReferenceAlignment
		v.out.fault(f)
		return
	}
	f.Kind = FaultReference
	if v.h.Segment(to) == nil {
		if len(v.h.warnings) == 0 { // otherwise it may be in an unknown segment
			v.out.fault(f)
		}
		return
	}
	word, err := target.Pointer(v.h.mem, to)
	if err != nil {
		v.out.addMissing(err)
		return
	}
	info, err := v.h.types.lookup(word &^ 7)
	switch {
	case errors.Is(err, target.ErrNotInDump):
		v.out.addMissing(err)
	case err != nil:
		f.Err = err
		v.out.fault(f)
	case info.free:
		f.Kind = FaultReferenceToFree
		v.out.fault(f)
	}
}

// header verifies the lock in the object's header.
func (v *verifier) header(s *Segment, o *Object) {
	header, err := v.h.Runtime().ObjectHeader(o.Addr)
	if err != nil {
		return // the header of a segment's first object may not be stored
	}
	f := Fault{Object: o.Addr, Segment: s}
	if index := header.SyncBlockIndex(); index != 0 {
		f.Value = target.Addr(index)
		b, err := v.h.Runtime().SyncBlock(index)
		switch {
		case err != nil && !errors.Is(err, target.ErrCorrupt):
			v.out.addMissing(err)
		case err == nil && b.Object == 0:
			f.Kind = FaultSyncBlockZero
			v.out.fault(f)
		case err != nil || b.Object != o.Addr:
			f.Kind, f.Err = FaultSyncBlock, err
			v.out.fault(f)
		}
		return
	}
	if lock, ok := v.h.Runtime().ThinLock(header); ok && v.threads != nil && !v.threads[lock.Owner] {
		f.Kind, f.Value = FaultThinLock, target.Addr(lock.Owner)
		v.out.fault(f)
	}
}
