package dac

import (
	"errors"
	"iter"
	"math/bits"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A DomainLocalModule holds the statics of a module's classes (appdomain.hpp; .NET Core 3.1 to 8). Since .NET 9
// each class has a DynamicStaticsInfo and a ThreadStaticsInfo instead (methodtable.h). The methods of a
// DomainLocalModule read those, and its address is 0.
type DomainLocalModule struct {
	Addr              target.Addr // 0 from .NET 9 on, and for a module without statics
	Module            target.Addr
	GCStatics         target.Addr // base of the GC statics of classes outside the dynamic class table
	DynamicClassTable target.Addr // or 0
	DynamicEntries    uint64      // length of the dynamic class table

	r       *Runtime
	missing error // why the members after Module are unreadable
}

// ClassFlags describe the initialization of a class (appdomain.hpp, ClassInitFlags).
type ClassFlags uint32

// The flags. Since .NET 9 they come from MethodTableAuxiliaryData.
const (
	ClassInitialized ClassFlags = 1 << iota // the class constructor has run, or is missing
	ClassInitError                          // the class constructor threw an exception
	ClassAllocated                          // the statics are allocated; not recorded since .NET 9
)

// A DynamicClass is an entry of the dynamic class table, for a generic type or a type made at run time.
type DynamicClass struct {
	ID    uint64      // index in the table, as in GenericsStaticsInfo
	Entry target.Addr // start of the class's non-GC statics, 0 if not allocated
	Flags ClassFlags
}

// StaticsOf returns the DomainLocalModule with the statics of mt. It returns target.ErrUnsupported for a
// NativeAOT program and, before .NET 9, for collectible types and for non-generic types of Reflection.Emit.
func (r *Runtime) StaticsOf(mt *MethodTable) (*DomainLocalModule, error) {
	if err := r.Check(FeatureStatics); err != nil {
		return nil, err
	}
	if !r.hasDomainLocalModules() {
		return &DomainLocalModule{Module: mt.Module, r: r}, nil
	}
	if err := r.reachesStatics(mt); err != nil {
		return nil, err
	}
	module, err := r.moduleForStatics(mt)
	if err != nil {
		return nil, err
	}
	return r.DomainLocalModule(module)
}

// hasDomainLocalModules reports whether the runtime keeps statics in DomainLocalModules, as before .NET 9.
func (r *Runtime) hasDomainLocalModules() bool { return r.off.Statics.GC == layout.Absent }

// DomainLocalModule reads the DomainLocalModule of the Module at a.
func (r *Runtime) DomainLocalModule(a target.Addr) (*DomainLocalModule, error) {
	if err := r.Check(FeatureStatics); err != nil {
		return nil, err
	}
	d := &DomainLocalModule{Module: a, r: r}
	if !r.hasDomainLocalModules() {
		return d, nil
	}
	at, err := r.ptr(a, r.off.Module.ID, "Module.ModuleID")
	if err != nil || at == 0 || at&1 != 0 { // bit 0 marks the number of a module without allocated statics
		return d, err
	}
	o := &r.off.DomainLocalModule
	rd := layout.Reader{Mem: r.mem, Base: at}
	d.Addr, d.GCStatics, d.DynamicClassTable, d.DynamicEntries = at, rd.Ptr(o.GC), rd.Ptr(o.DynamicTable), rd.U64(o.DynamicEntries)
	if d.missing = rd.Err; d.missing == nil && d.DynamicEntries > limits.DynamicClasses {
		return d, target.Corruptf("DomainLocalModule %016x has %d dynamic classes", uint64(at), d.DynamicEntries)
	}
	return d, nil
}

// moduleForStatics returns the Module with the DomainLocalModule for the statics of mt
// (MethodTable::GetModuleForStatics): the loader module for dynamic classes, otherwise the module that defines
// the type.
func (r *Runtime) moduleForStatics(mt *MethodTable) (target.Addr, error) {
	if mt.hasDynamicStatics() {
		return r.ptr(mt.Addr, r.off.MethodTable.LoaderModule, "MethodTable.LoaderModule")
	}
	return mt.ModuleAddr()
}

// hasDynamicStatics reports whether the type's statics are in the dynamic class table (before 9).
func (m *MethodTable) hasDynamicStatics() bool {
	return m.Flags&mtfStaticsMask != 0 && !m.HasComponents()
}

// reachesStatics returns target.ErrUnsupported for types with statics in structures that were never measured,
// before .NET 9. The dynamic entry of a collectible type has LOADERHANDLEs in place of its statics
// (appdomain.hpp, CollectibleDynamicEntry). The number of a non-generic type made at run time is in its
// EEClass's optional fields (class.h, m_cbModuleDynamicID).
func (r *Runtime) reachesStatics(mt *MethodTable) error {
	switch statics := mt.Flags & mtfStaticsMask; {
	case mt.Flags&r.consts.collectible != 0:
		return target.Unsupportedf("the type is collectible, and handles of its loader allocator hold its statics: " +
			"their form in this runtime is unknown")
	case !mt.HasComponents() && statics != 0 && statics&mtfStaticsGeneric == 0:
		return target.Unsupportedf("the type was made at run time, and the optional fields of its EEClass have its dynamic class ID: " +
			"their form in this runtime is unknown")
	}
	return nil
}

// GCStaticsBase returns the base of the static fields of mt that refer to objects, including boxed structs.
func (d *DomainLocalModule) GCStaticsBase(mt *MethodTable) (StaticAddr, error) {
	o := &d.r.off
	switch {
	case !d.r.hasDomainLocalModules():
		return d.r.dynamicStatics(mt, o.Statics.GC)
	case d.Addr == 0:
		return StaticAddr{State: StaticNotInitialized}, nil
	case mt.hasDynamicStatics():
		c, err := d.dynamicClass(mt)
		if err != nil || c.Entry == 0 {
			return StaticAddr{State: c.Flags.state()}, err
		}
		base, err := d.r.ptr(c.Entry, o.DynamicEntry.GC, "DynamicEntry.GCStatics")
		return StaticAddr{c.Flags.state(), base}.needsStorage(), err
	}
	s, err := d.classBase(mt)
	if err != nil {
		return s, err
	}
	s.Addr = d.GCStatics
	return s.needsStorage(), d.missing
}

// NonGCStaticsBase returns the base of the static fields of mt with primitives, enums and pointers.
func (d *DomainLocalModule) NonGCStaticsBase(mt *MethodTable) (StaticAddr, error) {
	switch {
	case !d.r.hasDomainLocalModules():
		return d.r.dynamicStatics(mt, d.r.off.Statics.NonGC)
	case d.Addr == 0:
		return StaticAddr{State: StaticNotInitialized}, nil
	case mt.hasDynamicStatics():
		c, err := d.dynamicClass(mt)
		return StaticAddr{c.Flags.state(), c.Entry}.needsStorage(), err
	}
	return d.classBase(mt)
}

// classBase returns the base of the non-GC statics of a class outside the dynamic class table: field offsets
// count from the DomainLocalModule itself. The state is StaticUnknown if the class's flags are not in the dump.
func (d *DomainLocalModule) classBase(mt *MethodTable) (StaticAddr, error) {
	s := StaticAddr{State: StaticUnknown, Addr: d.Addr}
	flags, err := d.ClassFlags(mt)
	if err == nil {
		s.State = flags.state()
	} else if !errors.Is(err, target.ErrNotInDump) {
		return StaticAddr{}, err
	}
	return s, nil
}

// ClassFlags returns the flags of a class.
func (d *DomainLocalModule) ClassFlags(mt *MethodTable) (ClassFlags, error) {
	switch {
	case !d.r.hasDomainLocalModules():
		return d.r.initFlags(mt)
	case d.Addr == 0:
		return 0, nil
	case mt.hasDynamicStatics():
		c, err := d.dynamicClass(mt)
		return c.Flags, err
	case mt.Token.Row() == 0: // an array
		return 0, nil
	}
	v, err := target.Uint8(d.r.mem, d.Addr+target.Addr(d.r.off.DomainLocalModule.DataBlob)+target.Addr(mt.Token.Row()-1))
	return ClassFlags(v), err
}

// initFlags returns the flags in MethodTableAuxiliaryData (9 and later).
func (r *Runtime) initFlags(mt *MethodTable) (ClassFlags, error) {
	v, err := r.auxiliaryFlags(mt)
	var f ClassFlags
	if v&auxInitialized != 0 {
		f |= ClassInitialized
	}
	if v&auxInitError != 0 && err == nil {
		if loaded, unknown := r.IsFullyLoaded(mt); unknown == nil && !loaded || f != 0 {
			return f, target.Corruptf("MethodTable %016x (flags %#x): the class constructor failed, and has finished or has not run", uint64(mt.Addr), v)
		}
		f |= ClassInitError
	}
	return f, err
}

// IsClassInitialized reports whether the class constructor of mt has run.
func (d *DomainLocalModule) IsClassInitialized(mt *MethodTable) (bool, error) {
	f, err := d.ClassFlags(mt)
	return f&ClassInitialized != 0, err
}

// IsClassInitError reports whether the class constructor of mt threw an exception.
func (d *DomainLocalModule) IsClassInitError(mt *MethodTable) (bool, error) {
	f, err := d.ClassFlags(mt)
	return f&ClassInitError != 0, err
}

// InitializerFailed reports whether the class constructor of mt threw an exception. It returns false for types
// without records, for which StaticsOf returns target.ErrUnsupported.
func (r *Runtime) InitializerFailed(mt *MethodTable) (bool, error) {
	d, err := r.StaticsOf(mt)
	if err != nil {
		return false, ignoreUnsupported(err)
	}
	failed, err := d.IsClassInitError(mt)
	return failed, ignoreUnsupported(err)
}

// state returns the state of statics with the flags f.
func (f ClassFlags) state() StaticState {
	switch {
	case f&ClassInitialized != 0:
		return StaticReady
	case f&ClassInitError != 0:
		return StaticFailed
	}
	return StaticNotInitialized
}

// needsStorage returns s, changed to StaticNotInitialized if it has no address.
func (s StaticAddr) needsStorage() StaticAddr {
	if s.Addr == 0 && s.State != StaticFailed {
		s.State = StaticNotInitialized
	}
	return s
}

// DynamicClasses iterates over the used entries of the dynamic class table. It yields nothing since .NET 9.
func (d *DomainLocalModule) DynamicClasses() iter.Seq2[DynamicClass, error] {
	return func(yield func(DynamicClass, error) bool) {
		if d.missing != nil {
			yield(DynamicClass{}, d.missing)
			return
		}
		for id := range d.DynamicEntries {
			c, err := d.r.dynamicEntry(d.DynamicClassTable, id)
			if err == nil && c.Entry == 0 && c.Flags == 0 {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// dynamicClass returns the entry of mt in the dynamic class table. Address and flags are 0 if the entry does
// not exist yet.
func (d *DomainLocalModule) dynamicClass(mt *MethodTable) (DynamicClass, error) {
	id, err := d.r.dynamicTypeID(mt)
	if err == nil {
		err = d.missing
	}
	if err != nil || id >= d.DynamicEntries || d.DynamicClassTable == 0 {
		return DynamicClass{ID: id}, err
	}
	return d.r.dynamicEntry(d.DynamicClassTable, id)
}

func (r *Runtime) dynamicEntry(table target.Addr, id uint64) (DynamicClass, error) {
	info := &r.off.DynamicClassInfo
	rd := layout.Reader{Mem: r.mem, Base: table + target.Addr(uint64(info.Size)*id)}
	return DynamicClass{ID: id, Entry: rd.Ptr(info.Entry), Flags: ClassFlags(rd.U32(info.Flags))}, rd.Err
}

// dynamicTypeID returns the index of a generic type in the dynamic class tables (GenericsStaticsInfo). It is
// the first optional member of the MethodTable.
func (r *Runtime) dynamicTypeID(mt *MethodTable) (uint64, error) {
	next := bits.OnesCount32(mt.Flags2 & mtf2SlotsMask)
	at := r.afterVTable(mt)
	if next > 2 {
		at = r.slotAddress(mt, next)
	}
	v, err := r.ptr(at, r.off.GenericsStatics.DynamicTypeID, "GenericsStaticsInfo.DynamicTypeID")
	return uint64(v), err
}
