package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A StaticState describes the storage of a static field.
type StaticState uint8

// The states.
const (
	// StaticReady means that the storage exists and the class constructor has run.
	StaticReady StaticState = iota
	// StaticNotInitialized means that the class constructor has not finished, or that the storage does not
	// exist yet. The field has no value, not even zero. The address is the storage's, or 0.
	StaticNotInitialized
	// StaticNone means that the type has no storage, because it is an open definition.
	StaticNone
	// StaticUnknown means that the storage exists, but the flag of the class constructor is not in the dump.
	StaticUnknown
	// StaticFailed means that the class constructor threw an exception. The storage, if it exists, contains
	// what the constructor stored before. Code of the process cannot read it.
	StaticFailed
)

// A StaticAddr locates a static field or the statics of a class.
type StaticAddr struct {
	State StaticState
	Addr  target.Addr // 0 without storage
}

// isRef reports whether a static of the element type is among the GC statics. Structs are boxed there.
func isRef(et metadata.ElementType) bool {
	switch et {
	case metadata.ElementString, metadata.ElementValueType, metadata.ElementClass, metadata.ElementArray,
		metadata.ElementGenericInst, metadata.ElementObject, metadata.ElementSZArray, metadata.ElementVar:
		return true
	}
	return false
}

// RefersToObject reports whether the static's slot refers to an object: the field has a reference type, or a
// struct type with boxed values.
func (fd *FieldDesc) RefersToObject() bool { return !fd.RVA && isRef(fd.ElementType) }

// StaticField locates the static field fd that mt declares. It returns target.ErrArgument for an instance field,
// for a thread static, which ThreadStaticField locates, and for a field of another type. Before .NET 9 it
// returns target.ErrUnsupported for collectible types and for non-generic types of Reflection.Emit.
func (r *Runtime) StaticField(mt *MethodTable, fd *FieldDesc) (StaticAddr, error) {
	if err := fd.staticOf(mt, false); err != nil {
		return StaticAddr{}, err
	}
	if mt.IsOpen() {
		return StaticAddr{State: StaticNone}, nil
	}
	if fd.RVA {
		return r.rvaStatic(mt, fd)
	}
	d, err := r.StaticsOf(mt)
	var s StaticAddr
	switch {
	case err != nil:
	case isRef(fd.ElementType):
		s, err = d.GCStaticsBase(mt)
	default:
		s, err = d.NonGCStaticsBase(mt)
	}
	if err != nil {
		return s, fmt.Errorf("statics of %016x: %w", uint64(mt.Addr), err)
	}
	if s.Addr != 0 {
		s.Addr += target.Addr(fd.Offset)
	}
	return s, nil
}

// staticOf returns an error unless fd is a static field of mt, and a thread static if thread is true.
func (fd *FieldDesc) staticOf(mt *MethodTable, thread bool) error {
	switch {
	case mt == nil || fd == nil:
		return target.Argumentf("no type or no field was given")
	case fd.MethodTable != mt.Canonical && fd.MethodTable != mt.Addr:
		return target.Argumentf("field %v belongs to type %016x, and not to %016x", fd.Token, uint64(fd.MethodTable), uint64(mt.Addr))
	case !fd.Static:
		return target.Argumentf("field %v is an instance field", fd.Token)
	case fd.Thread && !thread:
		return target.Argumentf("field %v is a thread static: ThreadStaticField locates it", fd.Token)
	case !fd.Thread && thread:
		return target.Argumentf("field %v is not a thread static: StaticField locates it", fd.Token)
	}
	return nil
}

// ThreadStaticField locates the thread static fd that mt declares in thread t. It returns target.ErrArgument for
// other fields and for a nil thread, and target.ErrUnsupported for the same types as StaticField.
func (r *Runtime) ThreadStaticField(mt *MethodTable, fd *FieldDesc, t *Thread) (StaticAddr, error) {
	if err := fd.staticOf(mt, true); err != nil {
		return StaticAddr{}, err
	}
	if t == nil {
		return StaticAddr{}, errNoThread
	}
	if mt.IsOpen() {
		return StaticAddr{State: StaticNone}, nil
	}
	d, err := r.StaticsOf(mt)
	var s StaticAddr
	switch {
	case err != nil:
	case isRef(fd.ElementType):
		s, err = d.GCThreadStaticsBase(mt, t)
	default:
		s, err = d.NonGCThreadStaticsBase(mt, t)
	}
	if err != nil {
		return s, fmt.Errorf("thread statics of %016x: %w", uint64(mt.Addr), err)
	}
	if s.State == StaticReady {
		s.Addr += target.Addr(fd.Offset)
	}
	return s, nil
}

// rvaStatic locates a field with its value in the module's image.
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

// rvaAddr returns the address of an RVA of the module's image, in either layout.
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
		return at.Start + target.Addr(rva), nil // without headers the image must be loaded
	}
	return img.Address(image.RVA(rva))
}

// staticsNotInitialized is set in the bases of a DynamicStaticsInfo until the class constructor has finished
// (methodtable.h, 9 and later).
const staticsNotInitialized = 1

// dynamicStatics returns a base from DynamicStaticsInfo, which precedes the auxiliary data (9 and later). field
// is the offset of the member with the base.
func (r *Runtime) dynamicStatics(mt *MethodTable, field int) (StaticAddr, error) {
	if mt.Flags2&mtf2DynamicStatics == 0 {
		return StaticAddr{State: StaticNotInitialized}, nil
	}
	o := &r.off.Statics
	rd := layout.Reader{Mem: r.mem, Base: mt.Auxiliary - target.Addr(o.Size)}
	owner, base := rd.Ptr(o.MethodTable), rd.Ptr(field)
	if rd.Err != nil {
		return StaticAddr{}, rd.Err
	}
	if owner != mt.Addr {
		return StaticAddr{}, target.Corruptf("the statics belong to %016x", uint64(owner))
	}
	s := StaticAddr{Addr: base &^ staticsNotInitialized}
	if base&staticsNotInitialized != 0 || base == 0 {
		s.State = StaticNotInitialized
		if flags, err := r.auxiliaryFlags(mt); err == nil && flags&auxInitError != 0 {
			s.State = StaticFailed
		}
	}
	return s, nil
}

// The bits of MethodTableAuxiliaryData::m_dwFlags (methodtable.h, 9 and later). Measured on 10.
const (
	auxInitialized = 0x0001
	auxInitError   = 0x0100
)

func (r *Runtime) auxiliaryFlags(mt *MethodTable) (uint32, error) {
	return r.u32(mt.Auxiliary, r.off.Auxiliary.Flags, "MethodTableAuxiliaryData.Flags")
}
