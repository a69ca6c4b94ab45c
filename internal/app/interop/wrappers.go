package interop

import (
	"cmp"
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type (
	anchor struct {
		_ objects.Shape `of:"System.Runtime.InteropServices.ComWrappers|System.Runtime.InteropServices.ComWrappers+ManagedObjectWrapperHolder|System.Runtime.InteropServices.ComWrappers+NativeObjectWrapper"`
	}
	// A factory is an instance of a class derived from ComWrappers. Before .NET 10 it has no managed state.
	factory struct {
		_     objects.Shape    `of:"System.Runtime.InteropServices.ComWrappers"`
		Table objects.RefField `field:"_managedObjectWrapperTable,optional"`
	}
	// A holder keeps the managed object of a wrapper. The wrapper is a structure in native memory.
	holder struct {
		_       objects.Shape    `of:"System.Runtime.InteropServices.ComWrappers+ManagedObjectWrapperHolder"`
		Object  objects.RefField `field:"_wrappedObject"`
		Wrapper objects.IntField `field:"_wrapper"`
	}
	managedWrapper struct {
		_          objects.Shape    `of:"System.Runtime.InteropServices.ComWrappers+ManagedObjectWrapper"`
		Holder     objects.IntField `field:"HolderHandle"`
		References objects.IntField `field:"RefCount"`
		Interfaces objects.IntField `field:"UserDefinedCount"`
		Dispatches objects.IntField `field:"Dispatches"`
	}
	nativeWrapper struct {
		_          objects.Shape    `of:"System.Runtime.InteropServices.ComWrappers+NativeObjectWrapper"`
		Factory    objects.RefField `field:"_comWrappers"`
		External   objects.IntField `field:"_externalComObject"`
		Inner      objects.IntField `field:"_inner"`
		Proxy      objects.IntField `field:"_proxyHandle._handle"`
		Aggregated objects.IntField `field:"_aggregatedManagedObjectWrapper"`
		Unique     objects.IntField `field:"_uniqueInstance"`
	}
)

// Parts of ManagedObjectWrapper.RefCount (ComWrappers.cs). The low half has COM's references and the mark of a wrapper
// that is destroyed with its last tracker; the high half has the references of trackers.
const (
	comReferences = 1<<31 - 1
	trackerShift  = 32
)

// A Reader reads wrappers. It is safe for concurrent use.
type Reader struct{ b *objects.Binder }

// New returns a Reader that binds types with b.
func New(b *objects.Binder) *Reader { return &Reader{b} }

// Wrappers lists the wrappers of ComWrappers by their addresses.
func (r *Reader) Wrappers(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.ComWrappers, error) {
	out := &answer.ComWrappers{Managed: []answer.ManagedWrapper{}, Native: []answer.NativeWrapper{}}
	g := shapes.Reading{Gaps: &out.Gaps, Binder: r.b}
	for object := range shapes.ReadObjects[*anchor](ctx, g, h, o) {
		if s, x := shapes.BindAs[*holder](g, object); s != nil {
			out.Managed = append(out.Managed, r.managed(g, object, s, x))
		} else if s, x := shapes.BindAs[*nativeWrapper](g, object); s != nil {
			out.Native = append(out.Native, r.native(g, object, s, x))
		} else if s, _ := shapes.BindAs[*factory](g, object); s != nil && !s.Table.Has() {
			g.Note(target.Unsupportedf("the wrappers of %s are structures of the runtime, which are not read: before .NET 10 they are not managed objects", g.TypeText(object)))
		}
	}
	return out, ctx.Err()
}

// managed describes a wrapper of a managed object.
func (r *Reader) managed(g shapes.Reading, o objects.Object, s *holder, x objects.Instance) answer.ManagedWrapper {
	none := answer.Missing[int64](objects.ErrNoField)
	out := answer.ManagedWrapper{Holder: o.Addr, References: none, Trackers: none, Interfaces: none}
	if of := g.ObjectAt(&s.Object, x); of.Addr != 0 {
		out.Object, out.Type = of.Addr, g.TypeText(of)
	}
	at := g.IntAt(&s.Wrapper, x)
	out.Wrapper = answer.Of(target.Addr(at.Value), at.Err())
	if at.Err() != nil || at.Value == 0 {
		return out
	}
	w, err := r.wrapper()
	in := objects.Instance(at.Value)
	if err == nil {
		err = r.belongs(w, in, o.Addr)
	}
	if err != nil {
		g.Note(err)
		out.References, out.Trackers, out.Interfaces = answer.Missing[int64](err), answer.Missing[int64](err), answer.Missing[int64](err)
		return out
	}
	n := g.IntAt(&w.References, in)
	out.References, out.Trackers = answer.Of(n.Value&comReferences, n.Err()), answer.Of(int64(uint64(n.Value)>>trackerShift), n.Err())
	out.Interfaces = g.IntAt(&w.Interfaces, in)
	d := g.IntAt(&w.Dispatches, in)
	out.Dispatches = answer.Of(target.Addr(d.Value), d.Err())
	return out
}

// wrapper returns the fields of the structure in native memory.
func (r *Reader) wrapper() (*managedWrapper, error) {
	err := target.Unsupportedf("ComWrappers.ManagedObjectWrapper is not loaded")
	for w, failed := range objects.LoadedShapes[*managedWrapper](r.b) {
		if failed == nil {
			return w, nil
		}
		err = cmp.Or(failed, err)
	}
	return nil, err
}

// belongs verifies that a structure and its holder refer to each other.
func (r *Reader) belongs(w *managedWrapper, at objects.Instance, holder target.Addr) error {
	handle, err := w.Holder.Uint(at)
	if err != nil {
		return err
	}
	back, err := r.b.Handle(target.Addr(handle))
	if err == nil && back.Addr != holder {
		err = target.CorruptHeapf("the wrapper at %016x belongs to object %016x, and not to %016x", uint64(at), uint64(back.Addr), uint64(holder))
	}
	return err
}

// native describes a wrapper of a native object.
func (r *Reader) native(g shapes.Reading, o objects.Object, s *nativeWrapper, x objects.Instance) answer.NativeWrapper {
	out := answer.NativeWrapper{Address: o.Addr, Unique: g.BoolAt(&s.Unique, x), Aggregated: g.BoolAt(&s.Aggregated, x)}
	e, i := g.IntAt(&s.External, x), g.IntAt(&s.Inner, x)
	out.External, out.Inner = answer.Of(target.Addr(e.Value), e.Err()), answer.Of(target.Addr(i.Value), i.Err())
	if f := g.ObjectAt(&s.Factory, x); f.Addr != 0 {
		out.Factory = g.TypeText(f)
	}
	if h := g.IntAt(&s.Proxy, x); h.Err() == nil {
		proxy, err := r.b.Handle(target.Addr(h.Value))
		g.Note(err)
		if proxy.Addr != 0 {
			out.Object, out.Type = proxy.Addr, g.TypeText(proxy)
		}
	}
	return out
}
