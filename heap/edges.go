package heap

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Reference is a reference that an object holds: an edge of the graph of
// objects.
type Reference struct {
	Slot   target.Addr // where it is stored; 0 for the LoaderAllocator of a collectible type
	Target target.Addr // the object that it refers to, not null
}

// EdgeOptions say which edges count. The zero value is what objects hold in
// their own memory.
type EdgeOptions struct {
	// LoaderAllocators adds the edge from an object of a collectible type to
	// the LoaderAllocator object that keeps the type alive. The GC follows it
	// though it is not stored in the object (gc.cpp, go_through_object_cl).
	LoaderAllocators bool
}

// Edges follows the references that objects hold. What it needs of a type is
// read once for all Edges of a heap; an object then costs no allocation and no
// lock. An Edges is for one goroutine.
type Edges struct {
	win     *target.Window
	types   *edgeTypes
	options EdgeOptions
}

// A GCDescError says that it is not known where the instances of a type hold
// references.
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
	return &Edges{win: target.NewWindow(h.mem), types: h.edges, options: o}
}

// NewEdges returns an Edges for single objects of a runtime whose heap need not
// be readable: small dumps have objects, but no segments.
func NewEdges(rt *dac.Runtime, o EdgeOptions) *Edges {
	return &Edges{win: target.NewWindow(rt.Memory()), types: newEdgeTypes(rt, rt.Memory()), options: o}
}

// Of iterates over the references that o holds and that are not null, in the
// order of memory, never beyond the size of o; last comes the LoaderAllocator,
// if the options want it. A free block holds none. A slot that is not in the
// dump is a *target.MemoryError with that Slot, and the rest goes on; a type
// whose GCDesc can't be read is a *GCDescError and the end.
func (e *Edges) Of(o *Object) iter.Seq2[Reference, error] {
	return func(yield func(Reference, error) bool) { e.each(o, yield) }
}

func (e *Edges) each(o *Object, yield func(Reference, error) bool) {
	t := e.types.of(o.Type)
	if t.err != nil {
		yield(Reference{}, t.err)
		return
	}
	if !e.stored(t.desc, o, yield) || !e.options.LoaderAllocators {
		return
	}
	if t.keeper != 0 || t.keeperErr != nil {
		yield(Reference{Target: t.keeper}, t.keeperErr)
	}
}

// stored yields the references that stand in o, and reports whether yield wants
// more.
func (e *Edges) stored(d *GCDesc, o *Object, yield func(Reference, error) bool) bool {
	more := true
	d.Slots(o.Size, func(off uint64) bool {
		slot := o.Addr + target.Addr(off)
		v, err := e.win.Uint64(slot)
		if err != nil || v != 0 {
			more = yield(Reference{Slot: slot, Target: target.Addr(v)}, err)
		}
		return more
	})
	return more
}

// References is Of of an Edges with LoaderAllocators, for who asks for few
// objects: who follows many makes an Edges.
func (h *Heap) References(o Object) iter.Seq2[Reference, error] {
	return h.Edges(EdgeOptions{LoaderAllocators: true}).Of(&o)
}

// edgeTypes has what Edges need of each type. It is safe for concurrent use.
type edgeTypes struct {
	mem    target.Memory
	keeper func(*dac.MethodTable) (target.Addr, error) // the LoaderAllocator object, 0 for none
	byAddr addrMap[typeEdges]
}

type typeEdges struct {
	desc      *GCDesc
	err       error // a *GCDescError, if desc can't be read
	keeper    target.Addr
	keeperErr error
}

func newEdgeTypes(rt *dac.Runtime, mem target.Memory) *edgeTypes {
	return &edgeTypes{mem: mem, keeper: rt.LoaderAllocatorObject}
}

func (t *edgeTypes) of(mt *dac.MethodTable) *typeEdges {
	if e := t.byAddr.get(mt.Addr); e != nil {
		return e
	}
	var e typeEdges
	e.desc, e.err = ReadGCDesc(t.mem, mt)
	e.keeper, e.keeperErr = t.keeper(mt)
	return t.byAddr.add(mt.Addr, e)
}
