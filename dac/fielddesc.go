package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A FieldDesc describes a field at run time (field.h). The layout is the same on 3.1 to 10.
type FieldDesc struct {
	Addr        target.Addr
	MethodTable target.Addr // MTOfEnclosingClass
	Token       metadata.Token
	Static      bool
	Thread      bool // thread static
	RVA         bool // the value is in the image
	// Offset is relative to the first field, which is 8 bytes into an object, behind its MethodTable; SOS counts from the
	// object. For a static it is relative to its class's statics: see StaticField and ThreadStaticField.
	Offset      uint32
	ElementType metadata.ElementType
}

// FieldDesc returns the field with its FieldDesc at a. The proof: its type has a field there, and the type's
// metadata has its token. It returns a *target.AddressError for any other address.
func (r *Runtime) FieldDesc(a target.Addr) (*FieldDesc, error) {
	f, err := r.readFieldDesc(a)
	if err != nil {
		return nil, target.WrongAddress(fmt.Errorf("FieldDesc %016x: %w", uint64(a), err))
	}
	return f, nil
}

func (r *Runtime) readFieldDesc(a target.Addr) (*FieldDesc, error) {
	if err := r.Check(FeatureFields); err != nil {
		return nil, err
	}
	not := target.Corruptf("there is none")
	if !canonical(a) {
		return nil, not
	}
	b, err := target.Bytes(r.mem, a, r.off.FieldDesc.Size)
	if err != nil {
		return nil, err
	}
	read := r.decodeFieldDesc(a, b)
	mt, _, err := r.impl.methodTableAt(read.MethodTable)
	if err != nil {
		return nil, err
	}
	fields, err := r.readFields(mt)
	for i := range fields {
		if fields[i].Addr == a {
			return &fields[i], r.checkFieldToken(mt, &fields[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, not
}

// checkFieldToken checks the token of a field of mt against the metadata, if they are in the dump.
func (r *Runtime) checkFieldToken(mt *MethodTable, f *FieldDesc) error {
	m, err := r.ModuleOf(mt)
	if err != nil {
		return ignoreMissing(err)
	}
	md, err := m.Metadata()
	if err != nil {
		return nil // unreadable metadata do not disprove the field
	}
	rows, err := md.Fields(mt.Token.Row())
	if err != nil || m.Flags&moduleEdited != 0 {
		return ignoreMissing(err)
	}
	for rid, err := range rows.All() {
		if err != nil || rid == f.Token.Row() {
			return ignoreMissing(err)
		}
	}
	return target.Corruptf("%v is not a field of %v", f.Token, mt.Token)
}

// FieldName returns the name of a field with its type, "Ns.Type.field".
func (r *Runtime) FieldName(f *FieldDesc) (string, error) {
	mt, err := r.TrustedMethodTable(f.MethodTable)
	if err != nil {
		return "", err
	}
	m, err := r.ModuleOf(mt)
	if err != nil {
		return "", err
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	row, err := md.Field(f.Token.Row())
	if err != nil {
		return "", err
	}
	name, err := md.String(row.Name)
	if err != nil {
		return "", err
	}
	owner, err := r.TypeName(mt.Addr, NameManaged)
	return owner + "." + name, err
}

// Fields returns the FieldDescs that mt declares in the runtime's order: instance fields, then statics. It
// returns none for a continuation of runtime-async: members that it adds have no FieldDescs.
func (r *Runtime) Fields(mt *MethodTable) ([]FieldDesc, error) {
	fields, err := r.readFields(mt)
	if err != nil {
		return fields, fmt.Errorf("fields of %016x: %w", uint64(mt.Addr), r.ownMemory(err))
	}
	return fields, nil
}

func (r *Runtime) readFields(mt *MethodTable) ([]FieldDesc, error) {
	if err := r.Check(FeatureFields); err != nil {
		return nil, err
	}
	if r.isContinuation(mt) {
		return nil, nil
	}
	c, err := r.EEClass(mt)
	if err != nil {
		return nil, err
	}
	n := c.NumInstanceFields
	if mt.Parent != 0 {
		parent, err := r.TrustedMethodTable(mt.Parent)
		if err != nil {
			return nil, err
		}
		pc, err := r.EEClass(parent)
		if err != nil {
			return nil, err
		}
		n -= pc.NumInstanceFields
	}
	if n < 0 || n > limits.FieldsPerType || c.NumStaticFields > limits.FieldsPerType {
		return nil, target.Corruptf("%d instance and %d static fields", n, c.NumStaticFields)
	}
	n += c.NumStaticFields
	if n == 0 {
		return nil, nil
	}
	size := r.off.FieldDesc.Size
	b, err := target.Bytes(r.mem, c.FieldDescList, n*size)
	if err != nil {
		return nil, err
	}
	out := make([]FieldDesc, n)
	for i := range out {
		out[i] = r.decodeFieldDesc(c.FieldDescList+target.Addr(i*size), b[i*size:])
		if out[i].MethodTable != c.MethodTable {
			return out[:i], target.Corruptf("FieldDesc %#x belongs to %016x", uint64(out[i].Addr), uint64(out[i].MethodTable))
		}
	}
	return out, nil
}

func (r *Runtime) decodeFieldDesc(a target.Addr, b []byte) FieldDesc {
	o := &r.off.FieldDesc
	le := binary.LittleEndian
	d1, d2 := le.Uint32(b[o.DWord1:]), le.Uint32(b[o.DWord2:])
	return FieldDesc{
		Addr:        a,
		MethodTable: target.Addr(le.Uint64(b[o.MT:])),
		Token:       metadata.Token(0x04000000 | d1&0xffffff),
		Static:      d1&(1<<24) != 0,
		Thread:      d1&(1<<25) != 0,
		RVA:         d1&(1<<26) != 0,
		Offset:      d2 & (1<<27 - 1),
		ElementType: metadata.ElementType(d2 >> 27),
	}
}
