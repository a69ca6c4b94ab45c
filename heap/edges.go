package heap

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/addrmap"
	"github.com/sosgo/sosgo/target"
)

// A Reference is a reference held by an object: an edge of the object graph.
type Reference struct {
	Slot   target.Addr // where it is stored; 0 for the LoaderAllocator of a collectible type
	Target target.Addr // the referenced object, never null

	Missing uint64 // with an error: the number of unreadable slots beginning with Slot
}

// EdgeOptions selects edges. The zero value selects the references stored in objects.
type EdgeOptions struct {
	// LoaderAllocators adds the edge from an object of a collectible type to the LoaderAllocator object that keeps the
	// type alive. The GC follows this edge although the object does not store it (gc.cpp, go_through_object_cl).
	LoaderAllocators bool
}

// An Edges follows the references in objects. All Edges of a heap share the data of types; following an object
// then needs no allocation and no lock. An Edges is for one goroutine.
type Edges struct {
	mem     target.Memory
	win     *target.Window
	types   *edgeTypes
	options EdgeOptions
	known   []*typeEdges // by TypeNumber
	lent    []byte       // memory lent by mem, beginning at lentAt
	lentAt  target.Addr
}

// A GCDescError reports that the places of references in a type's instances are unknown.
type GCDescError struct {
	MethodTable target.Addr
	Err         error // target.ErrNotInDump or target.ErrCorrupt
}

func (e *GCDescError) Error() string {
	return fmt.Sprintf("GCDesc of %016x: %v", uint64(e.MethodTable), e.Err)
}

func (e *GCDescError) Unwrap() error { return e.Err }

// Edges returns an Edges for the objects of h.
func (h *Heap) Edges(o EdgeOptions) *Edges {
	return &Edges{mem: h.mem, win: target.NewWindow(h.mem), types: h.edges, options: o}
}

// NewEdges returns an Edges for single objects of a runtime with an unreadable heap: small dumps have objects
// but no segments.
func NewEdges(rt *dac.Runtime, o EdgeOptions) *Edges {
	mem := rt.Memory()
	return &Edges{mem: mem, win: target.NewWindow(mem), types: newEdgeTypes(rt, mem), options: o}
}

// Of iterates over the non-null references of o in memory order, never beyond the size of o. The
// LoaderAllocator, if requested, comes last. A free block has no references. A range of slots that is not in
// the dump yields one *target.MemoryError with its first Slot, and the iteration continues. An unreadable
// GCDesc yields a *GCDescError and ends it.
func (e *Edges) Of(o *Object) iter.Seq2[Reference, error] {
	return func(yield func(Reference, error) bool) { e.each(o, yield) }
}

func (e *Edges) each(o *Object, yield func(Reference, error) bool) {
	t := e.typeOf(o)
	if t.err != nil {
		yield(Reference{}, t.err)
		return
	}
	if !e.eachStored(t.desc, o, yield) || !e.options.LoaderAllocators {
		return
	}
	if t.keeper != 0 || t.keeperErr != nil {
		yield(Reference{Target: t.keeper}, t.keeperErr)
	}
}

// eachStored yields the references stored in o. It returns false if yield did.
func (e *Edges) eachStored(d *GCDesc, o *Object, yield func(Reference, error) bool) bool {
	more, from, lost := true, uint64(0), true
	for more && lost {
		lost = false
		d.slotsFrom(o.Size, from, func(off uint64) bool {
			slot := o.Addr + target.Addr(off)
			v, err := e.win.Uint64(slot)
			if err == nil && v == 0 {
				return true
			}
			if err == nil {
				more = yield(Reference{Slot: slot, Target: target.Addr(v)}, nil)
				return more
			}
			from = o.Size + 7
			var next target.Addr
			if next, lost = target.NextStored(e.mem, slot+8); lost {
				from = min(from, uint64(next-o.Addr)&^7)
			}
			more = yield(Reference{Slot: slot, Missing: d.count(o.Size, off, from)}, err)
			return false
		})
	}
	return more
}

// Append appends to dst the non-null references in the slots of o at offsets from up to to. It is Of
// without the LoaderAllocator, and takes a third of the time, for building the graph of all objects.
// missing is the number of slots that are not in the dump. The error is a *GCDescError.
func (e *Edges) Append(dst []target.Addr, o *Object, from, to uint64) (refs []target.Addr, missing uint64, err error) {
	t := e.typeOf(o)
	if t.err != nil {
		return dst, 0, t.err
	}
	if t.desc.Empty() {
		return dst, 0, nil
	}
	to = min(to, (o.Size+7)&^7)
	if b := e.bytes(o.Addr, to); b != nil {
		return t.desc.append(dst, b, o.Size, from), 0, nil
	}
	return e.sparse(dst, t.desc, o, from, to)
}

// Whole appends all references of o to dst, with its LoaderAllocator last if requested. It handles the common
// case: the object is in the dump in one piece and its type is known. Otherwise it appends nothing and returns
// false; use Append and LoaderAllocator.
func (e *Edges) Whole(dst []target.Addr, o *Object) ([]target.Addr, bool) {
	t := e.typeOf(o)
	if t.none {
		return dst, true
	}
	if t.err != nil || t.keeperErr != nil {
		return dst, false
	}
	b := e.bytes(o.Addr, (o.Size+7)&^7)
	if b == nil {
		return dst, false
	}
	dst = t.desc.append(dst, b, o.Size, 0)
	if t.keeper != 0 && e.options.LoaderAllocators {
		dst = append(dst, t.keeper)
	}
	return dst, true
}

// Slots calls yield with the offsets, from from up to to, of the slots of o that refer to a, in memory order.
// It stops and returns false when yield does. Slots that are not in the dump are skipped.
func (e *Edges) Slots(o *Object, a target.Addr, from, to uint64, yield func(offset uint64) bool) bool {
	t := e.typeOf(o)
	if t.err != nil {
		return true
	}
	if next, ok := target.NextStored(e.mem, o.Addr+target.Addr(from)); !ok || uint64(next-o.Addr) >= to {
		return true
	}
	more := true
	t.desc.slotsFrom(o.Size, from, func(off uint64) bool {
		if off >= to {
			return false
		}
		if v, err := e.win.Uint64(o.Addr + target.Addr(off)); err == nil && v == uint64(a) {
			more = yield(off)
		}
		return more
	})
	return more
}

// LoaderAllocator returns the object that keeps the type of o alive, or 0 if the type can't be unloaded.
func (e *Edges) LoaderAllocator(o *Object) (target.Addr, error) {
	t := e.typeOf(o)
	return t.keeper, t.keeperErr
}

// typeOf returns the edge data of the type of o. Types of walked objects have numbers. Types of objects from
// NewEdges may have no number.
func (e *Edges) typeOf(o *Object) *typeEdges {
	if o.Type == nil {
		return &typeEdges{err: errNoObject, keeperErr: errNoObject}
	}
	if id := int(o.typeID); id < len(e.known) {
		if t := e.known[id]; t != nil && t.mt == o.Type {
			return t
		}
	}
	return e.find(o)
}

func (e *Edges) find(o *Object) *typeEdges {
	t := e.types.edgesOf(o.Type)
	if id := int(o.typeID); id >= len(e.known) {
		e.known = append(e.known, make([]*typeEdges, id+1-len(e.known))...)
	}
	e.known[o.typeID] = t
	return t
}

// bytes returns the n bytes at a if the dump has them in one piece. They are valid until the next call.
func (e *Edges) bytes(a target.Addr, n uint64) []byte {
	if off := uint64(a - e.lentAt); off < uint64(len(e.lent)) && n <= uint64(len(e.lent))-off {
		return e.lent[off : off+n : off+n]
	}
	if b := e.mem.Span(a); uint64(len(b)) >= n {
		e.lent, e.lentAt = b, a
		return b[:n:n]
	}
	if n > chunkSize {
		return nil
	}
	b, err := e.win.Bytes(a, int(n)) // for a dump that does not lend memory
	if err != nil {
		return nil
	}
	return b
}

// sparse is Append for an object that is stored in several pieces or incompletely. It skips holes at
// once: a damaged object may claim more slots than there is time to visit.
func (e *Edges) sparse(dst []target.Addr, d *GCDesc, o *Object, from, to uint64) ([]target.Addr, uint64, error) {
	missing := uint64(0)
	for from < to {
		hole := to
		d.slotsFrom(o.Size, from, func(off uint64) bool {
			if off >= to {
				return false
			}
			v, err := e.win.Uint64(o.Addr + target.Addr(off))
			if err != nil {
				hole = off
				return false
			}
			if v != 0 {
				dst = append(dst, target.Addr(v))
			}
			return true
		})
		if hole == to {
			break
		}
		from = hole + 8
		if next, ok := target.NextStored(e.mem, o.Addr+target.Addr(from)); !ok {
			from = to
		} else if off := uint64(next-o.Addr) &^ 7; off > from {
			from = min(off, to)
		}
		missing += d.count(o.Size, hole, from)
	}
	return dst, missing, nil
}

// References is Edges.Of with LoaderAllocators, for a few objects. To follow many objects, use one Edges.
func (h *Heap) References(o Object) iter.Seq2[Reference, error] {
	return h.Edges(EdgeOptions{LoaderAllocators: true}).Of(&o)
}

// edgeTypes holds the edge data of types. It is safe for concurrent use.
type edgeTypes struct {
	mem    target.Memory
	keeper func(*dac.MethodTable) (target.Addr, error) // returns the LoaderAllocator object, or 0
	byAddr addrmap.Map[typeEdges]
}

type typeEdges struct {
	mt        *dac.MethodTable
	desc      *GCDesc
	err       error // a *GCDescError if desc is unreadable
	keeper    target.Addr
	keeperErr error
	none      bool // instances hold no references
}

func newEdgeTypes(rt *dac.Runtime, mem target.Memory) *edgeTypes {
	return &edgeTypes{mem: mem, keeper: rt.LoaderAllocatorObject}
}

func (t *edgeTypes) edgesOf(mt *dac.MethodTable) *typeEdges {
	if e := t.byAddr.Get(mt.Addr); e != nil {
		return e
	}
	e := typeEdges{mt: mt}
	e.desc, e.err = ReadGCDesc(t.mem, mt)
	e.keeper, e.keeperErr = t.keeper(mt)
	e.none = e.err == nil && e.keeperErr == nil && e.keeper == 0 && e.desc.Empty()
	return t.byAddr.Add(mt.Addr, e)
}
