package objects

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// TypeOptions selects the lists in the description of a type.
type TypeOptions struct {
	Methods bool
	Fields  bool // with the values of static fields
}

// DescribeType describes the type with the MethodTable at a. It ignores the two lowest bits of a, which are flags of a
// TypeHandle. If the dump has too little to prove a MethodTable, a readable name is enough.
func (r *Reader) DescribeType(a target.Addr, o TypeOptions) (*answer.Type, error) {
	mt, err := r.methodTable(a)
	if err != nil {
		return nil, err
	}
	if mt.Addr == r.Runtime().WellKnown().Free {
		none := answer.Missing[string](errFree)
		return &answer.Type{MethodTable: mt.Addr, Free: true, Name: none, File: none, BaseSize: mt.BaseSize}, nil
	}
	return r.describeType(mt, o), nil
}

// errFree is the error for the name and the file of free space.
var errFree = target.Unsupportedf("the type of free space belongs to no module")

// DescribeClass describes the type of an EEClass: its canonical MethodTable. It also accepts the address of a
// MethodTable.
func (r *Reader) DescribeClass(a target.Addr, o TypeOptions) (*answer.Type, error) {
	mt, err := r.methodTable(a)
	if err != nil {
		owner, classErr := r.Runtime().MethodTableOfClass(a)
		if errors.Is(classErr, target.ErrNotInDump) && !errors.Is(err, target.ErrNotInDump) {
			err = classErr
		}
		if classErr != nil {
			return nil, fmt.Errorf("%016x is neither an EEClass nor a MethodTable: %w", uint64(a), err)
		}
		mt = owner
	}
	return r.describeType(mt, o), nil
}

// methodTable returns the type at a. It ignores the two lowest bits, which are flags of a TypeHandle.
func (r *Reader) methodTable(a target.Addr) (*dac.MethodTable, error) {
	mt, _, err := r.Runtime().MethodTableAt(a &^ 3)
	switch {
	case errors.Is(err, target.ErrNotInDump):
		err = fmt.Errorf("%016x may not be a MethodTable: %w", uint64(a), err)
	case errors.As(err, new(*target.AddressError)) && a&3 != 0:
		err = &target.AddressError{Err: target.Corruptf("%016x is not a MethodTable", uint64(a))}
	}
	return mt, err
}

func (r *Reader) describeType(mt *dac.MethodTable, o TypeOptions) *answer.Type {
	t := &answer.Type{MethodTable: mt.Addr, BaseSize: mt.BaseSize}
	parent := mt.Parent
	t.Parent, t.Canonical, t.Module, t.Token = &parent, mt.Canonical, t.Pointer(mt.ModuleAddr()), answer.Hex(mt.Token)
	t.ComponentSize, t.GCPointers, t.ByCanonical = mt.ComponentSize, mt.ContainsPointers(), r.Runtime().CanonicalForClass()
	t.NumInterfaces, t.NumVirtuals, t.DataSize = int(mt.NumInterfaces), int(mt.NumVirtuals), mt.BaseSize
	if mt.Addr == r.Runtime().WellKnown().String {
		t.DataSize -= uint32(mt.ComponentSize)
	}
	t.Name = answer.Of(r.Runtime().TypeName(mt.Addr, dac.NameNative))
	t.Note(t.Name.Err())
	r.describeLoading(mt, t)
	r.describeEEClass(mt, o, t)
	var err error
	t.InitializerFailed, err = r.Runtime().InitializerFailed(mt)
	t.Note(ignoreAbsence(err))
	t.Interfaces, err = r.Runtime().Interfaces(mt)
	t.Note(err)
	if o.Methods {
		t.HasMethods, t.MethodList = true, dac.CodeOf(r.Runtime()).DescribeMethods(mt, &t.Gaps)
	}
	return t
}

// ignoreAbsence returns err, or nil if it only reports missing memory: the answer leaves the part out.
func ignoreAbsence(err error) error {
	if errors.Is(err, target.ErrNotInDump) {
		return nil
	}
	return err
}

// describeLoading adds the file and the load context of the type. Runtimes before 8 do not record the load context.
func (r *Reader) describeLoading(mt *dac.MethodTable, t *answer.Type) {
	t.LoaderAllocator = t.Pointer(r.Runtime().LoaderAllocatorObject(mt))
	m, err := r.Runtime().ModuleOf(mt)
	if err != nil {
		t.File, t.LoadContext = answer.Missing[string](err), t.Pointer(0, err)
		return
	}
	t.File = answer.Of(m.FileOr("Unknown Module"))
	t.Note(t.File.Err())
	context, err := m.LoadContext()
	t.LoadContext.Maybe = answer.Of(context, err)
	if !errors.Is(err, target.ErrUnsupported) {
		t.Note(err)
	}
}

// describeEEClass adds the facts of the EEClass.
func (r *Reader) describeEEClass(mt *dac.MethodTable, o TypeOptions, t *answer.Type) {
	t.ParentClass = answer.Of(r.classOf(mt.Parent))
	class, err := r.Runtime().EEClass(mt)
	if err != nil {
		t.EEClass = t.Pointer(0, err)
		return
	}
	t.EEClass = t.Pointer(class.Addr, nil)
	attributes := answer.Hex(class.Attributes)
	t.Attributes, t.ThreadStatics, t.NumSlots = &attributes, class.NumThreadStatics, r.Runtime().NumSlots(mt, class)
	t.Methods, t.InstanceFields, t.StaticFields = &class.NumMethods, &class.NumInstanceFields, &class.NumStaticFields
	if o.Fields && class.NumInstanceFields+class.NumStaticFields > 0 {
		t.FieldList, err = r.fieldList(mt.Addr, t.Note)
		t.Note(err)
	}
}

// classOf returns the EEClass of the type mt, or 0 if mt is 0.
func (r *Reader) classOf(mt target.Addr) (target.Addr, error) {
	if mt == 0 {
		return 0, nil
	}
	m, err := r.Runtime().TrustedMethodTable(mt)
	if err != nil {
		return 0, err
	}
	class, err := r.Runtime().EEClass(m)
	if err != nil {
		return 0, err
	}
	return class.Addr, nil
}
