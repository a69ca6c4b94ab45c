package heap

import (
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// Soundness verifies the objects that f selects, as Verify does, and that each sync block in use belongs to an
// object that refers to it. It notes unverifiable parts, and returns an error if everything is unverifiable.
func (h *Heap) Soundness(ctx context.Context, f *Filter, o ScanOptions) (*answer.Soundness, error) {
	v, err := h.Verify(ctx, f, o)
	if err != nil {
		return nil, err
	}
	f = f.orAll()
	partial := f.Segments != nil || f.Range != target.Range{}
	if !partial {
		v.segments(h)
	}
	if v.Objects == 0 && v.Missing > 0 {
		return nil, fmt.Errorf("no object can be read: %w", v.MissingErr)
	}
	return h.soundness(&v, partial), nil
}

// HeaderSoundness verifies the headers of all objects, and the sync blocks. It is Soundness for a heap with
// sound objects and references, and costs no more than a Census.
func (h *Heap) HeaderSoundness(ctx context.Context, o ScanOptions) (*answer.Soundness, error) {
	census, err := h.Census(ctx, o)
	if err == nil {
		err = census.Unread()
	}
	if err != nil {
		return nil, err
	}
	if len(census.corrupt) > 0 || len(census.synced) == censusAll || len(h.lost) > 0 {
		return h.Soundness(ctx, nil, o)
	}
	v := newVerifier(h)
	v.out.Objects = census.Objects
	for i := range census.Thin {
		v.header(h.Segment(census.Thin[i].Object.Addr), &census.Thin[i].Object)
	}
	for _, a := range census.synced {
		v.header(h.Segment(a), &Object{Addr: a})
	}
	return h.soundness(&v.out, false), nil
}

// soundness describes a verification of objects, and verifies the sync blocks.
func (h *Heap) soundness(v *Verification, partial bool) *answer.Soundness {
	a := &answer.Soundness{Faults: faults(v.Faults), Objects: v.Objects, Errors: v.Faulty, Moving: h.inGC, Partial: partial}
	a.Incomplete = v.Missing > 0 || len(h.warnings) > 0
	if h.inGC {
		a.Note(v.unlikeCollection(h))
	}
	v.noteMissing(&a.Gaps)
	if verified, bad, ok := h.verifySyncBlocks(&a.Gaps); ok {
		a.SyncBlocks, a.SyncBlockErrors = &verified, &bad
	}
	a.Incomplete = a.Incomplete || len(a.Noted()) > 0
	return a
}

// ObjectSoundness verifies the address a, which may not be an object. It returns an error if it can't be verified.
func (h *Heap) ObjectSoundness(a target.Addr) (*answer.ObjectSoundness, error) {
	v := newVerifier(h).verify(a)
	if v.Missing > 0 && v.Faulty == 0 {
		return nil, v.MissingErr
	}
	s := &answer.ObjectSoundness{Object: a, Faults: faults(v.Faults), Errors: v.Faulty}
	v.noteMissing(&s.Gaps)
	return s, nil
}

// segments adds invalid segments to the faults.
func (v *Verification) segments(h *Heap) {
	for i := range h.lost {
		if l := &h.lost[i]; errors.Is(l.Err, target.ErrCorrupt) {
			v.fault(Fault{Kind: FaultSegment, Object: l.Addr, Segment: &Segment{Addr: l.Addr, SubHeap: l.SubHeap}, Err: l.Err})
		}
	}
}

// mostMoving is how much of the heap a collection leaves without objects, in percent, but for generations 0 and 1: what it has not yet put together of
// these may be most of a small heap. Dumps of busy services have 4 at most.
const mostMoving = 10

// unlikeCollection returns an error if the walk skipped more of the heap than a collection explains.
func (v *Verification) unlikeCollection(h *Heap) error {
	var size uint64
	for i := range h.segments {
		s := &h.segments[i]
		size += s.Objects.Size() - s.generationRange(Generation0).Size() - s.generationRange(Generation1).Size()
	}
	if v.skipped/mostMoving <= size/100 {
		return nil
	}
	return target.Unsupportedf("%d of %d bytes of the heap have no objects in its older generations, more than a collection in progress explains: whether they are damaged can't be judged",
		v.skipped, size)
}

func (v *Verification) noteMissing(g *answer.Gaps) {
	if v.Missing > 0 {
		g.Note(fmt.Errorf("%s could not be verified, the first: %w", answer.Count(v.Missing, "object", "objects"), v.MissingErr))
	}
}

func faults(list []Fault) []answer.Fault {
	out := make([]answer.Fault, len(list))
	for i := range list {
		f := &list[i]
		out[i] = answer.Fault{Kind: f.Kind.String(), Object: f.Object, Offset: f.Offset, Reason: f.String()}
		if f.Segment != nil {
			out[i].Heap, out[i].Segment = f.Segment.SubHeap, f.Segment.Addr
		}
	}
	return out
}

// verifySyncBlocks counts the verified sync blocks in use, and those that their object does not refer to. It
// returns false if there is no table.
func (h *Heap) verifySyncBlocks(g *answer.Gaps) (verified, bad int, ok bool) {
	for b, err := range h.Runtime().SyncBlocks() {
		if err != nil && b.Index <= 1 && b.Addr == 0 {
			g.Note(err)
			return 0, 0, false
		}
		if err == nil && b.Object == 0 {
			continue
		}
		if err == nil {
			err = h.verifySyncBlock(&b)
		}
		corrupt := errors.Is(err, target.ErrCorrupt)
		if err == nil || corrupt {
			verified++
		}
		if corrupt {
			bad++
		}
		g.Note(err)
	}
	return verified, bad, true
}

func (h *Heap) verifySyncBlock(b *dac.SyncBlock) error {
	header, err := h.Runtime().ObjectHeader(b.Object)
	if err == nil && header.SyncBlockIndex() != b.Index {
		err = target.CorruptHeapf("sync block %d: its object %x does not refer to it", b.Index, uint64(b.Object))
	}
	return target.InHeap(err)
}

// Around describes the objects around a. It returns nil if a is not in a segment's objects.
func (h *Heap) Around(a target.Addr) *answer.Neighbours {
	near := h.Near(a)
	if near == nil {
		return nil
	}
	n := &answer.Neighbours{Address: a, Consistent: len(near.Corrupt) == 0}
	n.Before, n.Current, n.Next = h.neighbour(n, near.Before), h.neighbour(n, near.Current), h.neighbour(n, near.Next)
	if near.Gap.Size() > 0 {
		n.Gap = rangeOf(near.Gap)
	}
	for _, c := range near.Corrupt {
		n.Corrupt = append(n.Corrupt, c)
	}
	return n
}

func (h *Heap) neighbour(n *answer.Neighbours, o *Object) *answer.Neighbour {
	if o == nil {
		return nil
	}
	return &answer.Neighbour{Address: o.Addr, Size: o.Size, Type: h.typeName(&n.Gaps, o.Type), MethodTable: o.Type.Addr, End: o.Next()}
}
