package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A FieldDesc describes a field at run time (field.h). The layout is the same
// on 3.1 to 10.
type FieldDesc struct {
	Addr        target.Addr
	MethodTable target.Addr // MTOfEnclosingClass
	Token       metadata.Token
	Static      bool
	Thread      bool // thread static
	RVA         bool // its value lies in the image
	Offset      uint32
	ElementType metadata.ElementType
}

// Fields returns the FieldDescs that mt itself declares, in the order of the
// runtime: instance fields, then statics.
func (r *Runtime) Fields(mt *MethodTable) ([]FieldDesc, error) {
	fields, err := r.readFields(mt)
	if err != nil {
		return fields, fmt.Errorf("fields of %016x: %w", uint64(mt.Addr), err)
	}
	return fields, nil
}

func (r *Runtime) readFields(mt *MethodTable) ([]FieldDesc, error) {
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
