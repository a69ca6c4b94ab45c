package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// GCThreadStaticsBase returns the base of the thread statics of mt in thread t that refer to objects.
func (d *DomainLocalModule) GCThreadStaticsBase(mt *MethodTable, t *Thread) (StaticAddr, error) {
	if !d.r.hasDomainLocalModules() {
		return d.r.tlsBase(mt, d.r.off.ThreadStatics.GC, t)
	}
	tlm, err := d.threadLocalModule(mt, t)
	if err != nil || tlm.base == 0 {
		return StaticAddr{State: StaticNotInitialized}, err
	}
	// A handle keeps an object[] with the references alive. The elements follow the array's header.
	handle, err := d.r.ptr(tlm.base, tlm.gc, "ThreadLocalModule.GCStatics")
	if err != nil || handle == 0 {
		return StaticAddr{State: StaticNotInitialized}, err
	}
	obj, err := target.Pointer(d.r.mem, handle)
	if err != nil || obj == 0 {
		return StaticAddr{State: StaticNotInitialized}, err
	}
	return StaticAddr{Addr: obj + target.Addr(d.r.off.Array.Size)}, nil
}

// NonGCThreadStaticsBase returns the base of the thread statics of mt in thread t with primitives, enums and
// pointers.
func (d *DomainLocalModule) NonGCThreadStaticsBase(mt *MethodTable, t *Thread) (StaticAddr, error) {
	if !d.r.hasDomainLocalModules() {
		return d.r.tlsBase(mt, d.r.off.ThreadStatics.NonGC, t)
	}
	tlm, err := d.threadLocalModule(mt, t)
	if err != nil || tlm.base == 0 {
		return StaticAddr{State: StaticNotInitialized}, err
	}
	return StaticAddr{Addr: tlm.base}, nil
}

// ThreadStaticsSlots returns the addresses in t's data of the references that lead to its thread statics. The
// collector reports them for each thread. If exact is false, only some of them are such references. It returns
// none for a thread without such data, and before .NET 9, where handles hold the thread statics.
func (r *Runtime) ThreadStaticsSlots(t *Thread) (slots []target.Addr, exact bool, err error) {
	if t == nil {
		return nil, false, errNoThread
	}
	return r.impl.threadStatics(t)
}

// threadStatics returns the address of the reference to the object[] of all thread statics (threadstatics.h,
// ThreadLocalData).
func (r clr) threadStatics(t *Thread) (slots []target.Addr, exact bool, err error) {
	if r.off.ThreadStatics.GC == layout.Absent {
		return nil, true, nil
	}
	data, err := r.ptr(t.Addr, r.off.Thread.LocalDataPtr, "Thread.ThreadLocalDataPtr")
	if err == nil && data != 0 && r.off.ThreadLocalData.NonCollectible == layout.Absent {
		err = &layout.Error{Type: "ThreadLocalData", Field: "NonCollectibleTlsArrayData"}
	}
	if err != nil {
		return nil, true, fmt.Errorf("thread statics of thread %d: %w", t.ManagedID, err)
	}
	if data == 0 {
		return nil, true, nil
	}
	return []target.Addr{data + target.Addr(r.off.ThreadLocalData.NonCollectible)}, true, nil
}

// The kinds of a TLSIndex, its top byte (threadstatics.h, TLSIndexType).
const (
	tlsNonCollectible = 0
	tlsCollectible    = 1
	tlsDirect         = 2
)

// tlsBase follows a TLSIndex of ThreadStaticsInfo into the thread's ThreadLocalData (9 and later). field is the
// offset of the member with the index.
func (r *Runtime) tlsBase(mt *MethodTable, field int, t *Thread) (StaticAddr, error) {
	none := StaticAddr{State: StaticNotInitialized}
	if mt.Flags2&mtf2DynamicStatics == 0 {
		return none, nil
	}
	index, err := r.u32(mt.Auxiliary-target.Addr(r.off.ThreadStatics.Size), field, "ThreadStaticsInfo")
	if err != nil {
		return StaticAddr{}, err
	}
	if index == ^uint32(0) {
		return none, nil
	}
	data, err := r.ptr(t.Addr, r.off.Thread.LocalDataPtr, "Thread.ThreadLocalDataPtr")
	if err != nil || data == 0 {
		return none, err
	}
	base, err := r.tlsObject(data, index)
	if err != nil {
		return StaticAddr{}, err
	}
	if base == 0 {
		if base, err = r.inFlight(data, index); err != nil || base == 0 {
			return none, err
		}
	}
	return StaticAddr{Addr: base}, nil
}

// tlsObject returns the object for an index of a thread's ThreadLocalData, or 0 before the thread has made it.
func (r *Runtime) tlsObject(data target.Addr, index uint32) (target.Addr, error) {
	o := &r.off.ThreadLocalData
	kind, i := index>>24, index&0xffffff
	rd := layout.Reader{Mem: r.mem, Base: data}
	switch kind {
	case tlsNonCollectible:
		unused, err := r.layout.Uint("NumberOfTlsOffsetsNotUsedInNoncollectibleArray")
		if err != nil {
			return 0, err
		}
		first, err := r.layout.Uint("PtrArrayOffsetToDataArray")
		if err != nil {
			return 0, err
		}
		count, array := rd.U32(o.NonCollectibleCount), rd.Ptr(o.NonCollectible)
		if rd.Err != nil || i >= count || uint64(i) < unused || array == 0 {
			return 0, rd.Err
		}
		return target.Pointer(r.mem, array+target.Addr(first+8*(uint64(i)-unused)))
	case tlsCollectible:
		count, array := rd.U32(o.CollectibleCount), rd.Ptr(o.Collectible)
		if rd.Err != nil || i >= count || array == 0 {
			return 0, rd.Err
		}
		handle, err := target.Pointer(r.mem, array+target.Addr(8*i))
		if err != nil || handle == 0 {
			return 0, err
		}
		return target.Pointer(r.mem, handle)
	case tlsDirect:
		return data + target.Addr(i), nil
	}
	return 0, target.Corruptf("thread static of kind %d", kind)
}

// inFlight returns the object for an index from the list of thread statics that are being set up, or 0.
func (r *Runtime) inFlight(data target.Addr, index uint32) (target.Addr, error) {
	o := &r.off.InFlight
	at, err := r.ptr(data, r.off.ThreadLocalData.InFlight, "ThreadLocalData.InFlightData")
	for n := 0; err == nil && at != 0; n++ {
		if n > limits.InFlightTLS {
			return 0, target.Corruptf("the list of thread statics in flight has no end")
		}
		rd := layout.Reader{Mem: r.mem, Base: at}
		if rd.U32(o.Index) == index && rd.Err == nil {
			handle := rd.Ptr(o.Data)
			if rd.Err != nil || handle == 0 {
				return 0, rd.Err
			}
			return target.Pointer(r.mem, handle)
		}
		if rd.Err != nil {
			return 0, rd.Err
		}
		at, err = r.ptr(at, o.Next, "InFlightTLSData.Next")
	}
	return 0, err
}

// threadLocalStatics locates a thread's statics of one class (before 9).
type threadLocalStatics struct {
	base target.Addr // 0 before the thread has made them
	gc   int         // offset of the handle to the GC statics
}

// threadLocalModule locates the thread statics of mt in t's ThreadLocalModule for the module (threadstatics.h,
// ThreadLocalModule).
func (d *DomainLocalModule) threadLocalModule(mt *MethodTable, t *Thread) (threadLocalStatics, error) {
	r, none := d.r, threadLocalStatics{}
	index, err := r.ptr(d.Module, r.off.Module.Index, "Module.ModuleIndex")
	if err != nil {
		return none, err
	}
	table, err := r.ptr(t.Addr, r.off.Thread.TLMTable, "Thread.TLMTable")
	if err != nil || table == 0 {
		return none, err
	}
	size, err := r.u32(t.Addr, r.off.Thread.TLMTableSize, "Thread.TLMTableSize")
	if err != nil || uint64(index) >= uint64(size) {
		return none, err
	}
	tlm, err := target.Pointer(r.mem, table+8*index)
	if err != nil || tlm == 0 {
		return none, err
	}
	if mt.hasDynamicStatics() {
		return r.threadDynamicStatics(mt, tlm)
	}
	if ready, err := r.threadClassReady(tlm, mt); err != nil || !ready {
		return none, err
	}
	return threadLocalStatics{tlm, r.off.ThreadLocalModule.GC}, nil
}

// threadDynamicStatics locates the thread statics of mt in the dynamic class table of a ThreadLocalModule.
func (r *Runtime) threadDynamicStatics(mt *MethodTable, tlm target.Addr) (threadLocalStatics, error) {
	id, err := r.dynamicTypeID(mt)
	if err != nil {
		return threadLocalStatics{}, err
	}
	o := &r.off.ThreadLocalModule
	rd := layout.Reader{Mem: r.mem, Base: tlm}
	entries, n := rd.Ptr(o.DynamicTable), rd.U64(o.DynamicEntries)
	if rd.Err != nil || id >= n || entries == 0 {
		return threadLocalStatics{}, rd.Err
	}
	c, err := r.dynamicEntry(entries, id)
	return threadLocalStatics{c.Entry, r.off.DynamicEntry.GC}, err
}

// threadClassReady reports whether a thread has set up its statics of mt, by the class's flags in the
// ThreadLocalModule.
func (r *Runtime) threadClassReady(tlm target.Addr, mt *MethodTable) (bool, error) {
	off := r.off.ThreadLocalModule.DataBlob
	if off == layout.Absent {
		return false, &layout.Error{Type: "ThreadLocalModule", Field: "DataBlob"}
	}
	flags, err := target.Uint8(r.mem, tlm+target.Addr(off)+target.Addr(mt.Token.Row()-1))
	return flags != 0, err
}
