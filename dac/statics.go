package dac

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A StaticState says what is known of a static field's storage.
type StaticState uint8

// The states. A StaticReady field has an address, a StaticNone field has not.
const (
	// StaticReady: the storage exists and the class constructor has run.
	StaticReady StaticState = iota
	// StaticNotInitialized: the class constructor has not finished, or the
	// storage does not exist yet. There is no value, not even zero. The address
	// is that of the storage, 0 if there is none.
	StaticNotInitialized
	// StaticNone: the type has no storage, because it is an open definition.
	StaticNone
	// StaticUnknown: the storage exists, and the dump lacks what would tell
	// whether the class constructor has run.
	StaticUnknown
)

// A StaticAddr is where a static field is stored.
type StaticAddr struct {
	State StaticState
	Addr  target.Addr
}

// isRef reports whether a static of the element type lies in the GC's part of
// the statics. A struct is boxed there.
func isRef(et metadata.ElementType) bool {
	switch et {
	case metadata.ElementString, metadata.ElementValueType, metadata.ElementClass, metadata.ElementArray,
		metadata.ElementGenericInst, metadata.ElementObject, metadata.ElementSZArray, metadata.ElementVar:
		return true
	}
	return false
}

// RefersToObject reports whether the slot of the static field refers to an object:
// it is of a reference type, or of a struct, which is boxed.
func (fd *FieldDesc) RefersToObject() bool { return !fd.RVA && isRef(fd.ElementType) }

// StaticField returns where the static field fd of mt is stored. For a thread
// static use ThreadStaticField. Before .NET 9 it is target.ErrUnsupported for types
// that can be unloaded and for those of Reflection.Emit that are not generic.
func (r *Runtime) StaticField(mt *MethodTable, fd *FieldDesc) (StaticAddr, error) {
	if mt.IsOpen() {
		return StaticAddr{State: StaticNone}, nil
	}
	if fd.RVA {
		return r.rvaStatic(mt, fd)
	}
	var s StaticAddr
	var err error
	if r.off.Statics.GC != layout.Absent {
		s, err = r.staticBase(mt, fd)
	} else {
		s, err = r.domainStaticBase(mt, fd)
	}
	if err != nil {
		return s, fmt.Errorf("statics of %016x: %w", uint64(mt.Addr), err)
	}
	if s.Addr != 0 {
		s.Addr += target.Addr(fd.Offset)
	}
	return s, nil
}

// rvaStatic finds a field whose value lies in the module's image.
func (r *Runtime) rvaStatic(mt *MethodTable, fd *FieldDesc) (StaticAddr, error) {
	m, err := r.ModuleOf(mt)
	if err != nil {
		return StaticAddr{}, err
	}
	md, err := m.Metadata()
	if err != nil {
		return StaticAddr{}, err
	}
	rva, ok, err := md.RVAOf(fd.Token.Row())
	if err == nil && !ok {
		err = target.Corruptf("field %v has no RVA", fd.Token)
	}
	if err != nil {
		return StaticAddr{}, err
	}
	at, err := m.rvaAddr(rva)
	return StaticAddr{Addr: at}, err
}

// rvaAddr is the address of an RVA of the module's image, in either layout.
func (m *Module) rvaAddr(rva uint32) (target.Addr, error) {
	at, err := m.Image()
	if err != nil {
		return 0, err
	}
	if at.Start == 0 {
		return 0, target.Unsupportedf("module %016x has no image", uint64(m.Addr))
	}
	img, err := m.PEImage()
	if err != nil {
		return at.Start + target.Addr(rva), nil // no headers: only a loaded image runs without
	}
	return img.Address(image.RVA(rva))
}

// staticBase reads DynamicStaticsInfo, which stands before the auxiliary data
// (.NET 9 and later). Bit 0 of a base: the class constructor has not finished.
func (r *Runtime) staticBase(mt *MethodTable, fd *FieldDesc) (StaticAddr, error) {
	if mt.Flags2&mtf2DynamicStatics == 0 {
		return StaticAddr{State: StaticNotInitialized}, nil
	}
	o := &r.off.Statics
	rd := layout.Reader{Mem: r.mem, Base: mt.Auxiliary - target.Addr(o.Size)}
	owner := rd.Ptr(o.MethodTable)
	off := o.NonGC
	if isRef(fd.ElementType) {
		off = o.GC
	}
	base := rd.Ptr(off)
	if rd.Err != nil {
		return StaticAddr{}, rd.Err
	}
	if owner != mt.Addr {
		return StaticAddr{}, target.Corruptf("the statics belong to %016x", uint64(owner))
	}
	if base&1 != 0 || base == 0 {
		return StaticAddr{State: StaticNotInitialized, Addr: base &^ 1}, nil
	}
	return StaticAddr{Addr: base}, nil
}

// The bits of DomainLocalModule's byte per class (appdomain.hpp,
// ClassInitFlags).
const classInitialized = 1

// reachesStatics is target.ErrUnsupported for the types whose statics, before
// .NET 9, are reached by what no layout tells. The dynamic entry of a type that
// can be unloaded has LOADERHANDLEs where others have their statics (appdomain.hpp,
// CollectibleDynamicEntry); the number of a type that was made at run time and is
// not generic stands in its EEClass's optional fields (class.h,
// m_cbModuleDynamicID), and what is in the place of a generic type's number is
// something else. Neither was ever measured.
func (r *Runtime) reachesStatics(mt *MethodTable) error {
	switch statics := mt.Flags & mtfStaticsMask; {
	case mt.Flags&r.consts.collectible != 0:
		return target.Unsupportedf("the type can be unloaded, and its statics are kept by handles of its loader allocator, " +
			"whose form in this runtime is not known")
	case !mt.HasComponents() && statics != 0 && statics&mtfStaticsGeneric == 0:
		return target.Unsupportedf("the type was made at run time, and its number among such types is in its EEClass's " +
			"optional fields, whose form in this runtime is not known")
	}
	return nil
}

// domainStaticBase reads the DomainLocalModule of the type's module (before
// .NET 9).
func (r *Runtime) domainStaticBase(mt *MethodTable, fd *FieldDesc) (StaticAddr, error) {
	o := &r.off.DomainLocalModule
	if err := r.reachesStatics(mt); err != nil {
		return StaticAddr{}, err
	}
	loader, err := r.ptr(mt.Addr, r.off.MethodTable.LoaderModule, "MethodTable.LoaderModule")
	if err != nil {
		return StaticAddr{}, err
	}
	dynamic := mt.Flags&mtfStaticsMask != 0 && !mt.HasComponents()
	owner, err := mt.ModuleAddr()
	switch {
	case dynamic:
		owner = loader
	case err != nil:
		return StaticAddr{}, err
	}
	dlm, err := r.ptr(owner, r.off.Module.ID, "Module.ModuleID")
	if err != nil {
		return StaticAddr{}, err
	}
	if dlm == 0 || dlm&1 != 0 {
		return StaticAddr{State: StaticNotInitialized}, nil
	}
	if dynamic {
		return r.dynamicEntry(mt, fd, dlm)
	}
	s := StaticAddr{State: StaticUnknown, Addr: dlm}
	flags, err := target.Uint8(r.mem, dlm+target.Addr(o.DataBlob)+target.Addr(mt.Token.Row()-1))
	if err == nil {
		s.State = classState(uint32(flags))
	} else if !errors.Is(err, target.ErrNotInDump) {
		return StaticAddr{}, err
	}
	err = nil
	if isRef(fd.ElementType) {
		s.Addr, err = r.ptr(dlm, o.GC, "DomainLocalModule.GCStatics")
	}
	return s.needsStorage(), err
}

// classState is what the flags of a class say about its statics.
func classState(flags uint32) StaticState {
	if flags&classInitialized == 0 {
		return StaticNotInitialized
	}
	return StaticReady
}

// needsStorage makes a static without storage one that is not initialised.
func (s StaticAddr) needsStorage() StaticAddr {
	if s.Addr == 0 {
		s.State = StaticNotInitialized
	}
	return s
}

// dynamicTypeID is the number of a generic type in the dynamic class tables. It stands in the MethodTable's first optional member.
func (r *Runtime) dynamicTypeID(mt *MethodTable) (uint64, error) {
	next := bits.OnesCount32(mt.Flags2 & mtf2SlotsMask)
	at := r.afterVTable(mt)
	if next > 2 {
		at = r.slotAddress(mt, next)
	}
	v, err := r.ptr(at, r.off.GenericsStatics.DynamicTypeID, "GenericsStaticsInfo.DynamicTypeID")
	return uint64(v), err
}

func (r *Runtime) dynamicEntry(mt *MethodTable, fd *FieldDesc, dlm target.Addr) (StaticAddr, error) {
	o := &r.off.DomainLocalModule
	id, err := r.dynamicTypeID(mt)
	if err != nil {
		return StaticAddr{}, err
	}
	rd := layout.Reader{Mem: r.mem, Base: dlm}
	table, n := rd.Ptr(o.DynamicTable), rd.U64(o.DynamicEntries)
	if rd.Err != nil {
		return StaticAddr{}, rd.Err
	}
	if id >= n || table == 0 {
		return StaticAddr{State: StaticNotInitialized}, nil
	}
	info := &r.off.DynamicClassInfo
	e := layout.Reader{Mem: r.mem, Base: table + target.Addr(uint64(info.Size)*id)}
	entry, flags := e.Ptr(info.Entry), e.U32(info.Flags)
	if e.Err != nil {
		return StaticAddr{}, e.Err
	}
	s := StaticAddr{State: classState(flags), Addr: entry}
	if entry != 0 && isRef(fd.ElementType) {
		s.Addr, err = r.ptr(entry, r.off.DynamicEntry.GC, "DynamicEntry.GCStatics")
	}
	return s.needsStorage(), err
}

// ThreadStaticField returns where thread t keeps the thread static fd of mt. It is
// target.ErrUnsupported for the types that StaticField does not know either.
func (r *Runtime) ThreadStaticField(mt *MethodTable, fd *FieldDesc, t *Thread) (StaticAddr, error) {
	if mt.IsOpen() {
		return StaticAddr{State: StaticNone}, nil
	}
	var s StaticAddr
	var err error
	if r.off.ThreadStatics.GC != layout.Absent {
		s, err = r.tlsBase(mt, fd, t)
	} else {
		s, err = r.threadLocalModuleBase(mt, fd, t)
	}
	if err != nil {
		return s, fmt.Errorf("thread statics of %016x: %w", uint64(mt.Addr), err)
	}
	if s.State == StaticReady {
		s.Addr += target.Addr(fd.Offset)
	}
	return s, nil
}

// ThreadStaticsSlot is where t's data refers to the object[] that leads to its thread
// statics (threadstatics.h, ThreadLocalData; .NET 9 and later): the collector reports
// it for each thread. It is 0 for a thread without such data, and before 9, where
// handles hold the thread statics.
func (r *Runtime) ThreadStaticsSlot(t *Thread) (target.Addr, error) {
	if err := r.clrOnly("table of thread statics that its debug header names"); err != nil {
		return 0, err
	}
	if r.off.ThreadStatics.GC == layout.Absent {
		return 0, nil
	}
	data, err := r.ptr(t.Addr, r.off.Thread.LocalDataPtr, "Thread.ThreadLocalDataPtr")
	if err != nil || data == 0 {
		return 0, err
	}
	if r.off.ThreadLocalData.NonCollectible == layout.Absent {
		return 0, &layout.Error{Type: "ThreadLocalData", Field: "NonCollectibleTlsArrayData"}
	}
	return data + target.Addr(r.off.ThreadLocalData.NonCollectible), nil
}

// The kinds of a TLSIndex: its top byte (threadstatics.h, TLSIndexType).
const (
	tlsNonCollectible = 0
	tlsCollectible    = 1
	tlsDirect         = 2
)

// tlsBase follows a TLSIndex into the thread's ThreadLocalData (9 and later).
func (r *Runtime) tlsBase(mt *MethodTable, fd *FieldDesc, t *Thread) (StaticAddr, error) {
	o := &r.off.ThreadStatics
	if mt.Flags2&mtf2DynamicStatics == 0 {
		return StaticAddr{State: StaticNotInitialized}, nil
	}
	off := o.NonGC
	if isRef(fd.ElementType) {
		off = o.GC
	}
	index, err := r.u32(mt.Auxiliary-target.Addr(o.Size), off, "ThreadStaticsInfo")
	if err != nil {
		return StaticAddr{}, err
	}
	if index == ^uint32(0) {
		return StaticAddr{State: StaticNotInitialized}, nil
	}
	data, err := r.ptr(t.Addr, r.off.Thread.LocalDataPtr, "Thread.ThreadLocalDataPtr")
	if err != nil || data == 0 {
		return StaticAddr{State: StaticNotInitialized}, err
	}
	base, err := r.tlsObject(data, index)
	if err != nil {
		return StaticAddr{}, err
	}
	if base == 0 {
		if base, err = r.inFlight(data, index); err != nil || base == 0 {
			return StaticAddr{State: StaticNotInitialized}, err
		}
	}
	return StaticAddr{Addr: base}, nil
}

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

// inFlight looks an index up in the list of thread statics that are being set
// up.
func (r *Runtime) inFlight(data target.Addr, index uint32) (target.Addr, error) {
	o := &r.off.InFlight
	at, err := r.ptr(data, r.off.ThreadLocalData.InFlight, "ThreadLocalData.InFlightData")
	for n := 0; err == nil && at != 0; n++ {
		if n > limits.InFlightTLS {
			return 0, target.Corruptf("list of thread statics in flight has no end")
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

// threadLocalModuleBase finds a thread static before 9: the thread's table of
// ThreadLocalModules, by the module's index.
func (r *Runtime) threadLocalModuleBase(mt *MethodTable, fd *FieldDesc, t *Thread) (StaticAddr, error) {
	none := StaticAddr{State: StaticNotInitialized}
	if err := r.reachesStatics(mt); err != nil {
		return none, err
	}
	loader, err := r.ptr(mt.Addr, r.off.MethodTable.LoaderModule, "MethodTable.LoaderModule")
	if err != nil {
		return none, err
	}
	dynamic := mt.Flags&mtfStaticsMask != 0 && !mt.HasComponents()
	owner, err := mt.ModuleAddr()
	switch {
	case dynamic:
		owner = loader
	case err != nil:
		return none, err
	}
	index, err := r.ptr(owner, r.off.Module.Index, "Module.ModuleIndex")
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
	o := &r.off.ThreadLocalModule
	base, gcOff := tlm, o.GC
	if dynamic {
		id, err := r.dynamicTypeID(mt)
		if err != nil {
			return none, err
		}
		rd := layout.Reader{Mem: r.mem, Base: tlm}
		entries, n := rd.Ptr(o.DynamicTable), rd.U64(o.DynamicEntries)
		if rd.Err != nil || id >= n || entries == 0 {
			return none, rd.Err
		}
		info := &r.off.DynamicClassInfo
		if base, err = r.ptr(entries+target.Addr(uint64(info.Size)*id), info.Entry, "DynamicClassInfo.DynamicEntry"); err != nil || base == 0 {
			return none, err
		}
		gcOff = r.off.DynamicEntry.GC
	} else if ready, err := r.threadClassReady(tlm, mt); err != nil || !ready {
		return none, err
	}
	if !isRef(fd.ElementType) {
		return StaticAddr{Addr: base}, nil
	}
	// The references lie in an object[] that a handle keeps; its elements start
	// behind the array's header.
	handle, err := r.ptr(base, gcOff, "ThreadLocalModule.GCStatics")
	if err != nil || handle == 0 {
		return none, err
	}
	obj, err := target.Pointer(r.mem, handle)
	if err != nil || obj == 0 {
		return none, err
	}
	return StaticAddr{Addr: obj + target.Addr(r.off.Array.Size)}, nil
}

// threadClassReady reports whether a thread has set up its statics of mt: the
// class's flags in the thread's module say so.
func (r *Runtime) threadClassReady(tlm target.Addr, mt *MethodTable) (bool, error) {
	off := r.off.ThreadLocalModule.DataBlob
	if off == layout.Absent {
		return false, &layout.Error{Type: "ThreadLocalModule", Field: "DataBlob"}
	}
	flags, err := target.Uint8(r.mem, tlm+target.Addr(off)+target.Addr(mt.Token.Row()-1))
	return flags != 0, err
}
