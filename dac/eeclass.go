package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An EEClass holds the data shared by all MethodTables of one type definition (class.h). Verified on 3.1, 6, 8,
// 9 and 10.
type EEClass struct {
	Addr               target.Addr
	MethodTable        target.Addr
	FieldDescList      target.Addr
	MethodDescChunk    target.Addr
	Attributes         uint32 // CorTypeAttr: the TypeAttributes of ECMA-335 II.23.1.15
	ElementType        metadata.ElementType
	NumInstanceFields  int // including inherited ones
	NumStaticFields    int // including thread statics
	NumThreadStatics   int
	NumMethods         int
	NumNonVirtualSlots int
}

// EEClass reads the class of mt.
func (r *Runtime) EEClass(mt *MethodTable) (*EEClass, error) {
	c, err := r.readEEClass(mt)
	if err != nil {
		return nil, fmt.Errorf("EEClass of %016x: %w", uint64(mt.Addr), err)
	}
	return c, nil
}

// ElementType returns the runtime's normalised element type of mt: the underlying type of an enum,
// metadata.ElementValueType for most structs, Class for classes.
func (r *Runtime) ElementType(mt *MethodTable) (metadata.ElementType, error) {
	return r.impl.elementType(mt)
}

func (r clr) elementType(mt *MethodTable) (metadata.ElementType, error) {
	c, err := r.EEClass(mt)
	if err != nil {
		return 0, err
	}
	return c.ElementType, nil
}

func (r *Runtime) readEEClass(mt *MethodTable) (*EEClass, error) {
	if err := r.Check(FeatureFields); err != nil {
		return nil, err
	}
	a := mt.EEClass
	if a == 0 {
		class, err := target.Uint64(r.mem, mt.Canonical+target.Addr(r.off.MethodTable.EEClass))
		if err != nil {
			return nil, err
		}
		a = target.Addr(class)
	}
	o := &r.off.EEClass
	c := &EEClass{Addr: a}
	rd := layout.Reader{Mem: r.mem, Base: a}
	c.MethodTable = rd.Ptr(o.MethodTable)
	c.FieldDescList = rd.Ptr(o.FieldDescList)
	c.MethodDescChunk = rd.Ptr(o.Chunks)
	c.Attributes = rd.U32(o.Attributes)
	c.ElementType = metadata.ElementType(rd.U8(o.ElementType))
	if o.NumInstance != layout.Absent {
		c.NumInstanceFields = int(rd.U16(o.NumInstance))
		c.NumStaticFields = int(rd.U16(o.NumStatic))
		c.NumThreadStatics = int(rd.U16(o.NumThread))
		c.NumMethods = int(rd.U16(o.NumMethods))
		c.NumNonVirtualSlots = int(rd.U16(o.NumNonVirtual))
		return c, rd.Err
	}
	if rd.U8(o.FieldsPacked) != 0 && rd.Err == nil {
		// Only NGEN images packed fields; .NET Core's loader unpacks them.
		return nil, target.Unsupportedf("EEClass %#x has packed fields", uint64(a))
	}
	// EEClassPackedFields is an array of u32 after the class.
	p, po := layout.Reader{Mem: r.mem, Base: a + target.Addr(rd.U8(o.FixedFieldsEnd)), Err: rd.Err}, &r.off.Packed
	for _, f := range []struct {
		dst *int
		off int
	}{
		{&c.NumInstanceFields, po.NumInstance}, {&c.NumStaticFields, po.NumStatic}, {&c.NumThreadStatics, po.NumThread},
		{&c.NumMethods, po.NumMethods}, {&c.NumNonVirtualSlots, po.NumNonVirtual},
	} {
		*f.dst = int(p.U32(f.off))
	}
	if p.Err == nil && (c.NumInstanceFields > limits.FieldsPerType || c.NumStaticFields > limits.FieldsPerType || c.NumMethods > limits.FieldsPerType) {
		p.Err = target.Corruptf("EEClass %#x: %d instance fields, %d statics, %d methods", uint64(a), c.NumInstanceFields, c.NumStaticFields, c.NumMethods)
	}
	return c, p.Err
}

// CanonicalForClass reports whether the runtime's data-access library identifies a class by the canonical
// MethodTable instead of the EEClass. It does since 9, where the MethodTable has its module.
func (r *Runtime) CanonicalForClass() bool { return r.off.MethodTable.Module != layout.Absent }

// MethodTableOfClass returns the MethodTable that owns the EEClass at a. Each must refer to the other. It
// returns a *target.AddressError for another address.
func (r *Runtime) MethodTableOfClass(a target.Addr) (*MethodTable, error) {
	if err := r.Check(FeatureFields); err != nil {
		return nil, err
	}
	mt, err := r.ptr(a, r.off.EEClass.MethodTable, "EEClass.MethodTable")
	if err != nil {
		return nil, target.WrongAddress(fmt.Errorf("EEClass %016x: %w", uint64(a), err))
	}
	owner, _, err := r.impl.methodTableAt(mt)
	if err == nil && owner.EEClass != a {
		err = target.Corruptf("its MethodTable names another one")
	}
	if err != nil {
		return nil, target.WrongAddress(fmt.Errorf("EEClass %016x: %w", uint64(a), err))
	}
	return owner, nil
}

// NumSlots returns the number of the type's method slots, virtual and non-virtual. Before 9 a flag of the
// MethodTable marks types with non-virtual slots (MethodTable::HasNonVirtualSlots).
func (r *Runtime) NumSlots(mt *MethodTable, c *EEClass) int {
	if !r.CanonicalForClass() && mt.Flags2&mtf2NonVirtual == 0 {
		return int(mt.NumVirtuals)
	}
	return int(mt.NumVirtuals) + c.NumNonVirtualSlots
}
