package objects

import (
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// ValueAt reads the value of a variable that is stored at a. et is how it is stored. t is the type of a struct or enum,
// and may be nil for others.
func (r *Reader) ValueAt(et metadata.ElementType, a target.Addr, t *Type) Value {
	return r.value(et, a, nil, t)
}

// ValueOf returns the value of a variable in a register, from the register's low bytes. The error for a struct is
// target.ErrUnsupported, since its fields have no address.
func (r *Reader) ValueOf(et metadata.ElementType, bits uint64, t *Type) Value {
	v := Value{r: r, elem: et, typ: t}
	size := v.Size()
	if size == 0 {
		v.err = target.Unsupportedf("value of element type %#x in a register", uint8(et))
		return v
	}
	v.bits = bits & (^uint64(0) >> (64 - 8*size))
	return v
}
