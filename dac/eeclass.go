package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An EEClass holds what the MethodTables of one type definition share
// (class.h). Verified on 3.1, 6, 8, 9 and 10.
type EEClass struct {
	Addr               target.Addr
	MethodTable        target.Addr
	FieldDescList      target.Addr
	MethodDescChunk    target.Addr
	Attributes         uint32 // CorTypeAttr: the TypeAttributes of ECMA-335 II.23.1.15
	ElementType        metadata.ElementType
	NumInstanceFields  int // inherited ones included
	NumStaticFields    int // thread statics included
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

func (r *Runtime) readEEClass(mt *MethodTable) (*EEClass, error) {
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
	rd := reader{mem: r.mem, base: a}
	c.MethodTable = rd.ptr(o.MethodTable)
	c.FieldDescList = rd.ptr(o.FieldDescList)
	c.MethodDescChunk = rd.ptr(o.Chunks)
	c.Attributes = rd.u32(o.Attributes)
	c.ElementType = metadata.ElementType(rd.u8(o.ElementType))
	if o.NumInstance != layout.Absent {
		c.NumInstanceFields = int(rd.u16(o.NumInstance))
		c.NumStaticFields = int(rd.u16(o.NumStatic))
		c.NumThreadStatics = int(rd.u16(o.NumThread))
		c.NumMethods = int(rd.u16(o.NumMethods))
		c.NumNonVirtualSlots = int(rd.u16(o.NumNonVirtual))
		return c, rd.err
	}
	if rd.u8(o.FieldsPacked) != 0 && rd.err == nil {
		// Only NGEN images packed them, and .NET Core's loader unpacks.
		return nil, target.Unsupportedf("EEClass %#x has packed fields", uint64(a))
	}
	// EEClassPackedFields: an array of u32 behind the class proper.
	p, po := reader{mem: r.mem, base: a + target.Addr(rd.u8(o.FixedFieldsEnd)), err: rd.err}, &r.off.Packed
	for _, f := range []struct {
		dst *int
		off int
	}{
		{&c.NumInstanceFields, po.NumInstance}, {&c.NumStaticFields, po.NumStatic}, {&c.NumThreadStatics, po.NumThread},
		{&c.NumMethods, po.NumMethods}, {&c.NumNonVirtualSlots, po.NumNonVirtual},
	} {
		*f.dst = int(p.u32(f.off))
	}
	if p.err == nil && (c.NumInstanceFields > limits.FieldsPerType || c.NumStaticFields > limits.FieldsPerType || c.NumMethods > limits.FieldsPerType) {
		p.err = target.Corruptf("EEClass %#x: %d instance fields, %d statics, %d methods", uint64(a), c.NumInstanceFields, c.NumStaticFields, c.NumMethods)
	}
	return c, p.err
}

// A reader reads members of the structure at base. The first failure sticks.
type reader struct {
	mem  target.Memory
	base target.Addr
	err  error
}

func (d *reader) bytes(off, n int) []byte {
	if d.err == nil && off == layout.Absent {
		d.err = &layout.Error{Type: "a member of the structure"}
	}
	if d.err != nil {
		return nil
	}
	var b []byte
	b, d.err = target.Bytes(d.mem, d.base+target.Addr(off), n)
	return b
}

func (d *reader) u8(off int) uint8 {
	if b := d.bytes(off, 1); b != nil {
		return b[0]
	}
	return 0
}

func (d *reader) u16(off int) uint16 {
	if b := d.bytes(off, 2); b != nil {
		return uint16(b[0]) | uint16(b[1])<<8
	}
	return 0
}

func (d *reader) u32(off int) uint32 {
	if b := d.bytes(off, 4); b != nil {
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	}
	return 0
}

func (d *reader) u64(off int) uint64 {
	return uint64(d.u32(off)) | uint64(d.u32(off+4))<<32
}

func (d *reader) ptr(off int) target.Addr {
	if off == layout.Absent {
		return target.Addr(d.u32(off)) // fails with the layout's error
	}
	return target.Addr(d.u64(off))
}

// CanonicalForClass reports whether the runtime is one of those whose
// data-access library answers with a canonical MethodTable where earlier ones
// named the EEClass: since the MethodTable names its module itself (9).
func (r *Runtime) CanonicalForClass() bool { return r.off.MethodTable.Module != layout.Absent }

// MethodTableOfClass returns the MethodTable that owns the EEClass at a.
func (r *Runtime) MethodTableOfClass(a target.Addr) (*MethodTable, error) {
	mt, err := r.ptr(a, r.off.EEClass.MethodTable, "EEClass.MethodTable")
	if err != nil {
		return nil, fmt.Errorf("EEClass %016x: %w", uint64(a), err)
	}
	owner, err := r.MethodTable(mt)
	if err == nil && owner.EEClass != a {
		err = target.Corruptf("its MethodTable names another one")
	}
	if err != nil {
		return nil, fmt.Errorf("EEClass %016x: %w", uint64(a), err)
	}
	return owner, nil
}

// NumSlots is the number of the type's method slots: those of its vtable and,
// where the type has them, those that are not virtual. Before 9 a flag of the
// MethodTable says so (MethodTable::HasNonVirtualSlots).
func (r *Runtime) NumSlots(mt *MethodTable, c *EEClass) int {
	if !r.CanonicalForClass() && mt.Flags2&mtf2NonVirtual == 0 {
		return int(mt.NumVirtuals)
	}
	return int(mt.NumVirtuals) + c.NumNonVirtualSlots
}
