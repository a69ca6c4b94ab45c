package dac

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// The bits of MethodTable::m_dwFlags (methodtable.h, WFLAGS_HIGH_ENUM and WFLAGS_LOW_ENUM). They are the same on 3.1 to
// 10. Bits that differ are constants of the layout.
const (
	mtfComponentSize   = 0x80000000 // the low word is the component size
	mtfCategoryMask    = 0x000f0000
	mtfArrayMask       = 0x000c0000
	mtfArray           = 0x00080000
	mtfGenericsMask    = 0x00000030
	mtfGenericShared   = 0x00000020
	mtfGenericTypical  = 0x00000030 // open definition
	mtfContainsPtrs    = 0x01000000
	mtfStaticsMask     = 0x00000006 // before 9: in the low word
	mtfStaticsGeneric  = 0x00000004
	mtf2DynamicStatics = 0x00000002 // 9 and later: in the second flags
)

// A Category is the kind of type that a MethodTable describes.
type Category uint8

// The categories (enum_flag_Category_*).
const (
	CategoryClass         Category = 0x0
	CategoryValueType     Category = 0x4
	CategoryNullable      Category = 0x5
	CategoryPrimitive     Category = 0x6 // an enum, or a struct of one primitive
	CategoryTruePrimitive Category = 0x7
	CategoryArray         Category = 0x8 // multi-dimensional
	CategorySZArray       Category = 0xa
	CategoryInterface     Category = 0xc
)

// A MethodTable describes a type at run time (methodtable.h). Verified on 3.1, 6, 8, 9 and 10.
type MethodTable struct {
	Addr          target.Addr
	Flags         uint32
	Flags2        uint32
	BaseSize      uint32 // bytes of an instance without its components, including the header word
	ComponentSize uint16 // bytes of a component of a string or array
	NumVirtuals   uint16
	NumInterfaces uint16
	Parent        target.Addr // MethodTable of the base class, or 0
	Module        target.Addr // the defining module, or for an array its element type's module; 0 if ModuleOf returns an error
	EEClass       target.Addr
	Canonical     target.Addr // MethodTable that owns the EEClass; usually Addr itself
	Auxiliary     target.Addr // MethodTableAuxiliaryData; before 9 MethodTableWriteableData
	PerInstInfo   target.Addr // dictionaries; for an array, the element's TypeHandle
	Token         metadata.Token

	homeless error // why Module is unknown
}

// errNoType is the error for a nil MethodTable.
var errNoType = target.Unsupportedf("no type")

// IsArray reports whether the type is an array of any rank.
func (m *MethodTable) IsArray() bool { return m != nil && m.Flags&mtfArrayMask == mtfArray }

// Category returns the kind of the type.
func (m *MethodTable) Category() Category {
	if m == nil {
		return 0
	}
	return Category(m.Flags & mtfCategoryMask >> 16)
}

// IsValueType reports whether instances are stored in place.
func (m *MethodTable) IsValueType() bool {
	c := m.Category()
	return c >= CategoryValueType && c <= CategoryTruePrimitive
}

// IsInterface reports whether the type is an interface.
func (m *MethodTable) IsInterface() bool { return m.Category() == CategoryInterface }

// HasComponents reports whether instances have a length: strings and arrays.
func (m *MethodTable) HasComponents() bool { return m != nil && m.Flags&mtfComponentSize != 0 }

// generics returns the generic flags, 0 for strings and arrays.
func (m *MethodTable) generics() uint32 {
	if m == nil || m.HasComponents() {
		return 0
	}
	return m.Flags & mtfGenericsMask
}

// IsGeneric reports whether the type has type arguments or parameters.
func (m *MethodTable) IsGeneric() bool { return m.generics() != 0 }

// IsOpen reports whether the type is a generic definition.
func (m *MethodTable) IsOpen() bool { return m.generics() == mtfGenericTypical }

// ContainsPointers reports whether instances contain references that the GC follows.
func (m *MethodTable) ContainsPointers() bool { return m != nil && m.Flags&mtfContainsPtrs != 0 }

// Size returns the size in bytes of an instance with n components, as SOS and the GC count it: not rounded up,
// but at least the smallest object. It returns 0 for nil.
func (m *MethodTable) Size(n uint32) uint64 {
	if m == nil {
		return 0
	}
	return max(minObjectSize, uint64(m.BaseSize)+uint64(m.ComponentSize)*uint64(n))
}

// minObjectSize is the size of the smallest object on a 64-bit target: header, MethodTable and one pointer
// (MIN_OBJECT_SIZE, gc.h).
const minObjectSize = 24

// An mtCache keeps proved MethodTables apart from trusted ones, so that the result of MethodTable does not
// depend on earlier calls of TrustedMethodTable.
type mtCache struct{ proven, trusted mtSet }

// An mtSet maps addresses to decoded MethodTables. Readers do not lock: walks look up the type of every object.
type mtSet struct {
	mu    sync.Mutex
	table atomic.Pointer[mtTable]
}

type mtTable struct {
	slots []atomic.Pointer[MethodTable] // a power of two, linear probing
	n     int
}

func mtHash(a target.Addr) uint64 { return uint64(a>>3) * 0x9e3779b97f4a7c15 >> 20 }

func (c *mtSet) get(a target.Addr) *MethodTable {
	t := c.table.Load()
	if t == nil {
		return nil
	}
	mask := uint64(len(t.slots) - 1)
	for i := mtHash(a) & mask; ; i = (i + 1) & mask {
		mt := t.slots[i].Load()
		if mt == nil || mt.Addr == a {
			return mt
		}
	}
}

func (t *mtTable) put(mt *MethodTable) *MethodTable {
	mask := uint64(len(t.slots) - 1)
	for i := mtHash(mt.Addr) & mask; ; i = (i + 1) & mask {
		old := t.slots[i].Load()
		if old == nil {
			t.slots[i].Store(mt)
			t.n++
			return mt
		}
		if old.Addr == mt.Addr {
			return old
		}
	}
}

func (c *mtSet) add(mt *MethodTable) *MethodTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.table.Load()
	if t == nil || t.n >= len(t.slots)/2 {
		size := 1024
		if t != nil {
			size = 2 * len(t.slots)
		}
		bigger := &mtTable{slots: make([]atomic.Pointer[MethodTable], size)}
		if t != nil {
			for i := range t.slots {
				if old := t.slots[i].Load(); old != nil {
					bigger.put(old)
				}
			}
		}
		mt = bigger.put(mt)
		c.table.Store(bigger)
		return mt
	}
	return t.put(mt)
}

// MethodTable returns the MethodTable at a, proved by its EEClass. The result is shared and must not be
// changed. It returns target.ErrCorrupt if a is not a MethodTable, a *ForeignError for a MethodTable of another
// runtime, and target.ErrNotInDump if the EEClass is not in the dump. MethodTableAt has other proofs for that
// case.
func (r *Runtime) MethodTable(a target.Addr) (*MethodTable, error) {
	if mt := r.mts.proven.get(a); mt != nil {
		return mt, nil
	}
	mt, err := r.impl.readMethodTable(a)
	if err != nil {
		return nil, err
	}
	if err := r.impl.checkMethodTable(mt); err != nil {
		return nil, err
	}
	return r.mts.proven.add(mt), nil
}

// TrustedMethodTable is MethodTable for an address in the runtime's own structures. It accepts a MethodTable
// without proof if the proof is not in the dump: partial dumps have few EEClasses.
func (r *Runtime) TrustedMethodTable(a target.Addr) (*MethodTable, error) {
	if mt := r.mts.trusted.get(a); mt != nil {
		return mt, nil
	}
	mt, err := r.MethodTable(a)
	if !errors.Is(err, target.ErrNotInDump) {
		return mt, err
	}
	mt, err = r.impl.readMethodTable(a)
	if err != nil {
		return nil, err
	}
	return r.mts.trusted.add(mt), nil
}

func (r clr) readMethodTable(a target.Addr) (*MethodTable, error) {
	mt, loader, err := r.methodTableMembers(a)
	if err == nil {
		err = mt.checkKind()
	}
	if err != nil {
		return nil, err
	}
	if r.off.MethodTable.Module == layout.Absent {
		mt.Module, mt.homeless = r.moduleBefore9(mt, loader)
		if mt.homeless != nil && !errors.Is(mt.homeless, target.ErrNotInDump) {
			return nil, mt.homeless
		}
	}
	if other := r.owner(mt.Module); other != nil {
		return nil, &ForeignError{Addr: a, What: "MethodTable", Owner: other}
	}
	if err := r.checkBase(mt); err != nil {
		return nil, err
	}
	return mt, nil
}

// checkKind returns an error for an array without a length, because callers rely on it.
func (m *MethodTable) checkKind() error {
	if m.IsArray() && !m.HasComponents() {
		return notMethodTable(m.Addr)
	}
	return nil
}

// checkBase returns an error for a class without a base class. Only System.Object, the type of free blocks, interfaces and the class of
// a module's global members, which is its first, have none.
func (r *Runtime) checkBase(m *MethodTable) error {
	if m.Parent != 0 || m.IsInterface() || m.Token.Row() <= 1 || r.known.Object == 0 || m.Addr == r.known.Object || m.Addr == r.known.Free {
		return nil
	}
	return target.Corruptf("MethodTable %016x has no base class", uint64(m.Addr))
}

// methodTableMembers reads the members of the MethodTable at a. Before .NET 9 it returns the loader module,
// which may differ from the type's Module.
func (r *Runtime) methodTableMembers(a target.Addr) (mt *MethodTable, loader target.Addr, err error) {
	if !canonical(a) {
		return nil, 0, notMethodTable(a)
	}
	o := &r.off.MethodTable
	b, err := target.Bytes(r.mem, a, o.span)
	if err != nil {
		return nil, 0, fmt.Errorf("MethodTable %#x: %w", uint64(a), r.ownMemory(err))
	}
	le := binary.LittleEndian
	mt = &MethodTable{
		Addr:          a,
		Flags:         le.Uint32(b[o.Flags:]),
		BaseSize:      le.Uint32(b[o.BaseSize:]),
		NumVirtuals:   le.Uint16(b[o.NumVirtuals:]),
		NumInterfaces: le.Uint16(b[o.NumIfaces:]),
		Parent:        target.Addr(le.Uint64(b[o.Parent:])),
		Auxiliary:     target.Addr(le.Uint64(b[o.Auxiliary:])),
		PerInstInfo:   target.Addr(le.Uint64(b[o.PerInstInfo:])),
	}
	if mt.Flags&mtfComponentSize != 0 {
		mt.ComponentSize = uint16(mt.Flags)
	}
	rid := uint32(0)
	if r.consts.tokenInFlags2 {
		mt.Flags2 = le.Uint32(b[o.Flags2:])
		rid = mt.Flags2 >> 8
	} else {
		mt.Flags2 = uint32(le.Uint16(b[o.Flags2:]))
		rid = uint32(le.Uint16(b[o.Token:]))
	}
	mt.Token = metadata.Token(0x02000000 | rid)
	class := le.Uint64(b[o.EEClass:])
	if class&r.consts.canonTag != 0 {
		mt.Canonical = target.Addr(class &^ r.consts.canonTag)
	} else {
		mt.Canonical, mt.EEClass = a, target.Addr(class)
	}
	if o.Module != layout.Absent {
		mt.Module = target.Addr(le.Uint64(b[o.Module:]))
	} else {
		loader = target.Addr(le.Uint64(b[o.LoaderModule:]))
	}
	return mt, loader, nil
}

// checkMethodTable proves mt: its EEClass must refer to the canonical MethodTable (the runtime's own test,
// MethodTable::ValidateWithPossibleAV).
func (r clr) checkMethodTable(mt *MethodTable) error {
	if mt.Addr == r.known.Free {
		return nil // some runtimes give the free object's MethodTable no EEClass
	}
	if mt.Canonical != mt.Addr {
		class, err := target.Uint64(r.mem, mt.Canonical+target.Addr(r.off.MethodTable.EEClass))
		if err != nil {
			return fmt.Errorf("MethodTable %#x: canonical MethodTable: %w", uint64(mt.Addr), r.ownMemory(err))
		}
		if class&r.consts.canonTag != 0 {
			return notMethodTable(mt.Addr)
		}
		mt.EEClass = target.Addr(class)
	}
	if mt.EEClass == 0 || mt.EEClass%8 != 0 {
		return notMethodTable(mt.Addr)
	}
	back, err := r.ptr(mt.EEClass, r.off.EEClass.MethodTable, "EEClass.MethodTable")
	if err != nil {
		return fmt.Errorf("MethodTable %#x: EEClass: %w", uint64(mt.Addr), r.ownMemory(err))
	}
	if back != mt.Canonical && !r.sharesContinuationClass(mt, back) {
		return notMethodTable(mt.Addr)
	}
	return nil
}

// ownMemory returns why memory of the runtime's own structures can't be read: the runtime writes to it.
func (r *Runtime) ownMemory(err error) error { return target.ClaimsOf(r.tgt).ExplainWritten(err) }

func notMethodTable(a target.Addr) error {
	return target.Corruptf("%016x is not a MethodTable", uint64(a))
}

// The multipurpose slots of a MethodTable before .NET 9 (methodtable.h, WFLAGS2_ENUM). The second flags record
// which of them a type has.
const (
	mtf2ModuleOverride = 0x10
	mtf2SlotsMask      = 0x1f
	mtf2NonVirtual     = 0x08
)

// moduleBefore9 finds the defining module of a type in runtimes where a MethodTable has a loader module and,
// for some types, an override.
func (r *Runtime) moduleBefore9(mt *MethodTable, loader target.Addr) (target.Addr, error) {
	if !mt.IsGeneric() || mt.IsArray() {
		return r.overriddenModule(mt, loader)
	}
	if mt.Canonical == mt.Addr {
		return r.overriddenModule(mt, loader)
	}
	canon, loader, err := r.methodTableMembers(mt.Canonical)
	switch {
	case err != nil:
		return 0, err
	case canon.Canonical != canon.Addr: // the owner of the EEClass must be canonical itself
		return 0, notMethodTable(mt.Addr)
	}
	return r.overriddenModule(canon, loader)
}

// ModuleAddr returns the address of the Module that defines the type, or ModuleOf's error.
func (m *MethodTable) ModuleAddr() (target.Addr, error) {
	if m == nil {
		return 0, errNoType
	}
	if m.homeless != nil {
		return 0, fmt.Errorf("Module of MethodTable %016x: %w", uint64(m.Addr), m.homeless)
	}
	return m.Module, nil
}

// ModuleOf returns the module that defines the type mt, or the element type of an array. It returns
// target.ErrNotInDump if the reference is not in the dump: before .NET 9 a generic instance refers to its
// module only through its canonical MethodTable.
func (r *Runtime) ModuleOf(mt *MethodTable) (*Module, error) {
	a, err := mt.ModuleAddr()
	if err != nil {
		return nil, err
	}
	return r.TrustedModule(a)
}

func (r *Runtime) overriddenModule(mt *MethodTable, loader target.Addr) (target.Addr, error) {
	if mt.Flags2&mtf2ModuleOverride == 0 {
		return loader, nil
	}
	return target.Pointer(r.mem, r.multipurposeSlot(mt, mtf2ModuleOverride))
}

// multipurposeSlot returns the address of the slot for flag (methodtable.h,
// MethodTable::GetMultipurposeSlotPtr). The slots of the set flags, in order, fill PerInstInfo, InterfaceMap
// and then the words after the virtual methods' chunk pointers.
func (r *Runtime) multipurposeSlot(mt *MethodTable, flag uint32) target.Addr {
	lower := mt.Flags2 & mtf2SlotsMask & (flag - 1)
	index := bits.OnesCount32(lower)
	if lower == 2 {
		index = 0
	}
	return r.slotAddress(mt, index)
}

func (r *Runtime) slotAddress(mt *MethodTable, index int) target.Addr {
	switch index {
	case 0:
		return mt.Addr + target.Addr(r.off.MethodTable.PerInstInfo)
	case 1:
		return mt.Addr + target.Addr(r.off.MethodTable.InterfaceMap)
	}
	return r.afterVTable(mt) + target.Addr(8*(index-2))
}

// afterVTable returns the address after the chunk pointers of the virtual methods, eight methods a chunk.
func (r *Runtime) afterVTable(mt *MethodTable) target.Addr {
	chunks := (int(mt.NumVirtuals) + 7) / 8
	return mt.Addr + target.Addr(r.off.MethodTableSize.Size+8*chunks)
}

// IsFullyLoaded reports whether the runtime has finished loading the type. Until then its interface map may
// contain the definition of a generic interface instead of an instance (methodtable.h,
// MethodTableAuxiliaryData, before 9 MethodTableWriteableData: enum_flag_IsNotFullyLoaded).
func (r *Runtime) IsFullyLoaded(mt *MethodTable) (bool, error) {
	flag, err := r.layout.Uint("MTAuxFlagNotFullyLoaded")
	if err != nil {
		return false, err
	}
	off := r.off.Auxiliary.Flags
	if off == layout.Absent {
		off = r.off.Writeable.Flags
	}
	if off == layout.Absent {
		return false, &layout.Error{Type: "MethodTableAuxiliaryData", Field: "Flags"}
	}
	flags, err := target.Uint32(r.mem, mt.Auxiliary+target.Addr(off))
	return flags&uint32(flag) == 0, err
}
