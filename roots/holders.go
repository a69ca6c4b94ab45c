package roots

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// Holder says which structure of the runtime has a handle: "the managed object of
// thread 3", "the exception that thread 3 is handling". It is empty for a handle
// that no structure which is looked at has: those that programs allocated are such.
func (r *Reader) Holder(handle target.Addr) string {
	m, _ := r.names.holders.Get(func() (map[target.Addr]string, error) { return r.readHolders(), nil })
	return m[handle]
}

// readHolders collects the handles that the runtime's structures have. The first of
// two uses counts.
func (r *Reader) readHolders() map[target.Addr]string {
	out := map[target.Addr]string{}
	for _, h := range r.rt.HeldHandles() {
		if out[h.Handle] == "" {
			out[h.Handle] = holderWords(&h)
		}
	}
	return out
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

// staticTables are the objects that hold the values of static fields, as many as are
// found.
func (r *Reader) staticTables(ctx context.Context) (map[target.Addr]bool, error) {
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
