package dac

import (
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A HandleUse is the runtime's purpose for a GC handle.
type HandleUse uint8

// The uses.
const (
	HandleOfThread          HandleUse = iota // managed Thread object
	HandleOfLastThrown                       // exception that a thread threw last
	HandleOfException                        // exception that a thread is handling
	HandleOfLoaderAllocator                  // managed LoaderAllocator of types that can be unloaded
	HandleOfLoadContext                      // an AssemblyLoadContext
)

// A HeldHandle is a GC handle in a structure of the runtime.
type HeldHandle struct {
	Handle target.Addr
	Use    HandleUse
	Thread *Thread     // for the uses of threads
	Owner  target.Addr // the structure
}

// HeldHandles lists the readable handles of the runtime's threads, loader allocators and binders. It does not
// list handles that programs allocated.
func (r *Runtime) HeldHandles() []HeldHandle {
	var out []HeldHandle
	add := func(use HandleUse, t *Thread, owner target.Addr, off int) {
		if off == layout.Absent {
			return
		}
		if h, err := target.Pointer(r.mem, owner+target.Addr(off)); err == nil && h != 0 {
			out = append(out, HeldHandle{h, use, t, owner})
		}
	}
	threads, _ := r.Threads() // an incomplete list still helps
	for i := range threads {
		t := &threads[i]
		states, _ := r.ExceptionStates(t)
		for j := range states {
			add(HandleOfException, t, states[j].Addr, r.stateLayout().handle)
		}
		add(HandleOfThread, t, t.Addr, r.off.Thread.GCHandle)
		add(HandleOfThread, t, t.Addr, r.off.Thread.StrongHandle)
		add(HandleOfLastThrown, t, t.Addr, r.off.Thread.LastThrown)
	}
	o, err := r.loaderLayout()
	if err != nil {
		return out
	}
	modules, _ := r.KnownModules()
	for _, m := range modules {
		if a, err := m.LoaderAllocator(); err == nil && a != 0 {
			add(HandleOfLoaderAllocator, nil, a, o.Allocator.ObjectHandle)
		}
		if b, err := r.binder(o, m.PEAssembly); err == nil && b != 0 {
			add(HandleOfLoadContext, nil, b, o.Binder.LoadContext)
		}
	}
	return out
}
