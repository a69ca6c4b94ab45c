package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// Holder describes the runtime structure that owns a handle: "the managed object of thread 3", "the exception that
// thread 3 is handling", "the preallocated System.OutOfMemoryException". It is empty for other handles, such as a
// program's own.
func (r *RootReader) Holder(handle target.Addr) string {
	m, _ := r.names.holders.Get(func() (map[target.Addr]string, error) { return r.readHolders(), nil })
	return m[handle]
}

// readHolders collects the handles of the runtime's structures. The first of several structures is used.
func (r *RootReader) readHolders() map[target.Addr]string {
	out := map[target.Addr]string{}
	for _, h := range r.rt.HeldHandles() {
		if out[h.Handle] == "" {
			out[h.Handle] = holderWords(&h)
		}
	}
	r.addGlobals(out)
	return out
}

// maxGlobals is the number of bytes of the runtime's module that are searched for handles. Its data has one or two MB.
const maxGlobals = 256 << 20

// addGlobals adds the handles in global variables of the runtime, found by their addresses in its data. They hold the
// exceptions that could not be allocated when needed (appdomain.cpp, SystemDomain::CreatePreallocatedExceptions).
func (r *RootReader) addGlobals(out map[target.Addr]string) {
	objects := map[target.Addr]target.Addr{}
	first, last := ^target.Addr(0), target.Addr(0)
	for e, err := range r.h.Handles() {
		if err == nil && out[e.Addr] == "" {
			objects[e.Addr] = e.Object
			first, last = min(first, e.Addr), max(last, e.Addr)
		}
	}
	m := r.rt.Instance().Module
	mem := target.NewWindow(r.h.Memory())
	left := maxGlobals / 8
	for a, ok := target.NextStored(r.h.Memory(), m.Base); ok && m.Contains(a) && left > 0; a, ok = target.NextStored(r.h.Memory(), a) {
		for a = (a + 7) &^ 7; m.Contains(a) && left > 0; a += 8 {
			v, err := mem.Uint64(a)
			if left--; err != nil {
				a += 8
				break
			}
			if h := target.Addr(v); h >= first && h <= last {
				if object, ok := objects[h]; ok && out[h] == "" {
					out[h] = r.globalWords(object)
				}
			}
		}
	}
}

// globalWords describes the object of a global variable of the runtime.
func (r *RootReader) globalWords(object target.Addr) string {
	if o, err := r.h.ObjectAt(object); err == nil {
		if name, err := r.rt.TypeName(o.Type.Addr, dac.NameManaged); err == nil && strings.HasSuffix(name, "Exception") {
			return "the preallocated " + name
		}
	}
	return "a global variable of the runtime"
}

func holderWords(h *dac.HeldHandle) string {
	switch h.Use {
	case dac.HandleOfThread:
		return fmt.Sprintf("the managed object of thread %d", h.Thread.ManagedID)
	case dac.HandleOfLastThrown:
		return fmt.Sprintf("what thread %d threw last", h.Thread.ManagedID)
	case dac.HandleOfException:
		return fmt.Sprintf("the exception that thread %d is handling", h.Thread.ManagedID)
	case dac.HandleOfLoaderAllocator:
		return fmt.Sprintf("LoaderAllocator %x", uint64(h.Owner))
	}
	return "an AssemblyLoadContext's binder"
}

// staticTables returns the objects that hold the values of static fields. It omits tables of unreadable fields.
func (r *RootReader) staticTables(ctx context.Context) (map[target.Addr]bool, error) {
	return r.names.tables.Get(func() (map[target.Addr]bool, error) {
		out := map[target.Addr]bool{}
		for s, err := range r.Statics(ctx) {
			if err == nil && s.Table != 0 {
				out[s.Table] = true
			}
		}
		return out, ctx.Err()
	})
}
