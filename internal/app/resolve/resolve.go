// Package resolve identifies an address: an object of the GC heap, a structure of the runtime, code, a stack, an image,
// other memory, or nothing. It does not describe the contents; see package values. Start with Address.
//
// The surroundings of the address prove every answer: a heap walk reaches an object, a MethodTable and its EEClass
// refer to each other, the runtime's code map contains code, a chain of frames leads to a frame. A number that merely
// looks like an address does not count.
package resolve

import (
	"context"
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Address identifies a. It walks the objects of one heap segment from the last known position before a, and the
// explicit frames of one thread. If the process's runtime does not know a, Address tries the other CLRs of the process;
// the answer's Runtime is the number of the one that does. If ctx ends, its error is the answer's Failure.
func Address(ctx context.Context, p *process.Process, a target.Addr) *answer.Address {
	own := resolve(ctx, p, a)
	if !own.Kind.Nameless() {
		return own
	}
	chosen, _ := p.Instance()
	for _, other := range p.Dump().Processes() {
		inst, _ := other.Instance()
		if inst == chosen || inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		if known := resolve(ctx, other, a); !known.Kind.Nameless() {
			index := inst.Index
			known.Runtime = &index
			return known
		}
	}
	return own
}

// resolve identifies a with one runtime of the process.
func resolve(ctx context.Context, p *process.Process, a target.Addr) *answer.Address {
	r := &resolver{Address: &answer.Address{Address: a, Kind: answer.AddressUnknown}, p: p}
	rt, err := p.Runtime()
	r.Note(err)
	for _, step := range []func(*dac.Runtime) bool{r.heap, r.stack, r.code, r.structure} {
		if err := ctx.Err(); err != nil {
			r.Fail(err)
			return r.Address
		}
		if step(rt) {
			return r.Address
		}
	}
	r.memory(ctx)
	return r.Address
}

// A resolver has steps that each report whether the address is identified. Their runtime is nil if none could be
// opened.
type resolver struct {
	*answer.Address
	p *process.Process
}

func (r *resolver) at() target.Addr { return r.Address.Address }

// heap searches for the object that contains the address.
func (r *resolver) heap(rt *dac.Runtime) bool {
	if rt == nil {
		return false
	}
	h, err := r.p.Heap()
	if err != nil {
		r.Note(err)
		return false
	}
	s := h.Segment(r.at())
	if s == nil {
		return false
	}
	o, err := h.ObjectContaining(r.at())
	if err != nil {
		r.Note(err)
		r.Kind, r.Start, r.Size = answer.AddressHeap, s.Objects.Start, s.Objects.Size()
		return true
	}
	r.Start, r.Size = o.Addr, o.Size
	switch {
	case o.Free:
		r.Kind = answer.AddressFree
		return true
	case o.Addr == r.at():
		r.Kind = answer.AddressObject
	default:
		r.Kind = answer.AddressInObject
	}
	r.MethodTable = o.Type.Addr
	r.Name = r.Text(rt.TypeName(o.Type.Addr, dac.NameManaged))
	return true
}

// stack searches for the first thread with a stack that contains the address.
func (r *resolver) stack(rt *dac.Runtime) bool {
	list, err := r.p.Threads()
	if rt != nil {
		r.Note(err)
	}
	used, err := usedStacks(r.p)
	if err != nil {
		return false // Threads has the error
	}
	part, ok := used.at(r.at())
	if !ok {
		return false
	}
	t := &list[part.thread]
	r.Kind, r.Start, r.Size = answer.AddressStack, part.Start, part.Size()
	thread := t.Describe(&r.Gaps)
	r.Thread = &thread
	r.frame(rt, t)
	return true
}

// frame searches for the address in the thread's chain of explicit frames.
func (r *resolver) frame(rt *dac.Runtime, t *stackwalk.Thread) {
	if rt == nil || t.Managed == nil {
		return
	}
	for f, err := range rt.Frames(t.Managed) {
		switch {
		case err != nil:
			r.Note(err)
		case f.Addr == r.at():
			r.Kind, r.Start, r.Size, r.Name = answer.AddressFrame, f.Addr, 0, answer.Text{S: f.Class}
			return
		}
	}
}

// code searches the runtime's code map.
func (r *resolver) code(rt *dac.Runtime) bool {
	if rt == nil {
		return false
	}
	reader := dac.CodeOf(rt)
	info, err := reader.PlaceAt(r.at())
	if err != nil {
		if !errors.Is(err, dac.ErrNoCode) {
			r.Note(err)
		}
		return false
	}
	r.Start, r.Size = info.Start, info.Size
	if info.Method == nil {
		r.Kind = answer.AddressStub
		return true
	}
	r.Kind, r.MethodDesc = answer.AddressCode, info.Method.Addr
	r.Name = r.Text(reader.MethodName(info.Method, dac.MethodQualified))
	return true
}

// structure tests whether the address is a structure of the runtime. An unproved structure does not count.
func (r *resolver) structure(rt *dac.Runtime) bool {
	if rt == nil {
		return false
	}
	for _, is := range []func(*dac.Runtime) bool{r.module, r.assembly, r.domain, r.allocator, r.thread, r.methodTable, r.eeClass, r.methodDesc, r.fieldDesc} {
		if is(rt) {
			r.Start = r.at()
			return true
		}
	}
	return false
}

func (r *resolver) module(rt *dac.Runtime) bool {
	m, err := rt.Module(r.at())
	if err != nil {
		return false
	}
	r.Kind, r.Name = answer.AddressCLRModule, r.Text(m.FileOr(""))
	return true
}

func (r *resolver) assembly(rt *dac.Runtime) bool {
	as, err := rt.Assembly(r.at())
	if err != nil {
		return false
	}
	r.Kind, r.Name = answer.AddressAssembly, r.Text(as.Module.FileOr(""))
	return true
}

func (r *resolver) domain(rt *dac.Runtime) bool {
	app, err := rt.AppDomain()
	if app.Addr != 0 && app.Addr == r.at() {
		r.Kind, r.Name = answer.AddressDomain, r.Text(app.Name, err)
		return true
	}
	if system, err := rt.SystemDomain(); err == nil && system == r.at() {
		r.Kind = answer.AddressDomain
		return true
	}
	return false
}

func (r *resolver) allocator(rt *dac.Runtime) bool {
	if _, err := rt.LoaderAllocator(r.at()); err != nil {
		return false
	}
	r.Kind = answer.AddressAllocator
	return true
}

func (r *resolver) thread(*dac.Runtime) bool {
	list, _ := r.p.Threads() // stacks record the missing threads
	for i := range list {
		if m := list[i].Managed; m != nil && m.Addr == r.at() {
			thread := list[i].Describe(&r.Gaps)
			r.Kind, r.Thread = answer.AddressThread, &thread
			return true
		}
	}
	return false
}

func (r *resolver) methodTable(rt *dac.Runtime) bool {
	mt, _, err := rt.MethodTableAt(r.at())
	if err != nil {
		return false
	}
	r.Kind, r.MethodTable = answer.AddressMethodTable, mt.Addr
	r.Name = r.Text(rt.TypeName(mt.Addr, dac.NameManaged))
	return true
}

func (r *resolver) eeClass(rt *dac.Runtime) bool {
	mt, err := rt.MethodTableOfClass(r.at())
	if err != nil {
		return false
	}
	r.Kind, r.MethodTable = answer.AddressEEClass, mt.Addr
	r.Name = r.Text(rt.TypeName(mt.Addr, dac.NameManaged))
	return true
}

func (r *resolver) methodDesc(rt *dac.Runtime) bool {
	reader := dac.CodeOf(rt)
	md, err := reader.MethodDesc(r.at())
	if err != nil {
		return false
	}
	r.Kind, r.MethodDesc = answer.AddressMethodDesc, md.Addr
	r.Name = r.Text(reader.MethodName(md, dac.MethodQualified))
	return true
}

func (r *resolver) fieldDesc(rt *dac.Runtime) bool {
	f, err := rt.FieldDesc(r.at())
	if err != nil {
		return false
	}
	r.Kind, r.MethodTable = answer.AddressFieldDesc, f.MethodTable
	r.Name = r.Text(rt.FieldName(f))
	return true
}

// memory searches for the image or the region that contains the address.
func (r *resolver) memory(ctx context.Context) {
	if m := target.ModuleAt(r.p.Target().Modules(), r.at()); m != nil {
		r.Kind, r.Start, r.Size, r.Name = answer.AddressModule, m.Base, m.Size, answer.Text{S: m.Path}
		return
	}
	for region := range r.p.Target().Regions() {
		if region.Start > r.at() {
			return
		}
		if uint64(r.at()-region.Start) >= region.Size {
			continue
		}
		r.Start, r.Size, r.Name = region.Start, region.Size, answer.Text{S: region.Path}
		r.Kind = answer.AddressMapped
		if region.Kind == target.RegionFree {
			r.Kind = answer.AddressUnmapped
			return
		}
		if m, err := memorymap.Of(r.p); err == nil {
			if is, ok := m.At(ctx, r.at()); ok {
				r.Memory = &is
			}
		}
		return
	}
}
