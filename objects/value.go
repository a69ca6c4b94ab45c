package objects

import (
	"cmp"
	"fmt"
	"math"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Kind is the kind of a Value.
type Kind = answer.ValueKind

// The kinds of values, each with the method of Value that reads it.
const (
	KindUnknown   = answer.KindUnknown   // Err returns the reason
	KindBool      = answer.KindBool      // Bool
	KindChar      = answer.KindChar      // Char
	KindInt       = answer.KindInt       // Int
	KindUint      = answer.KindUint      // Uint
	KindFloat     = answer.KindFloat     // Float
	KindPointer   = answer.KindPointer   // Addr
	KindByRef     = answer.KindByRef     // Addr
	KindReference = answer.KindReference // Addr, Object
	KindStruct    = answer.KindStruct    // Struct
)

// kinds lists the kind and the size in bytes of each element type, by number.
var kinds = [...]struct {
	kind Kind
	size uint8
}{
	metadata.ElementBoolean:    {KindBool, 1},
	metadata.ElementChar:       {KindChar, 2},
	metadata.ElementI1:         {KindInt, 1},
	metadata.ElementU1:         {KindUint, 1},
	metadata.ElementI2:         {KindInt, 2},
	metadata.ElementU2:         {KindUint, 2},
	metadata.ElementI4:         {KindInt, 4},
	metadata.ElementU4:         {KindUint, 4},
	metadata.ElementI8:         {KindInt, 8},
	metadata.ElementU8:         {KindUint, 8},
	metadata.ElementR4:         {KindFloat, 4},
	metadata.ElementR8:         {KindFloat, 8},
	metadata.ElementString:     {KindReference, 8},
	metadata.ElementPtr:        {KindPointer, 8},
	metadata.ElementByRef:      {KindByRef, 8},
	metadata.ElementValueType:  {KindStruct, 0},
	metadata.ElementClass:      {KindReference, 8},
	metadata.ElementVar:        {KindReference, 8},
	metadata.ElementArray:      {KindReference, 8},
	metadata.ElementTypedByRef: {KindStruct, 0},
	metadata.ElementI:          {KindPointer, 8},
	metadata.ElementU:          {KindPointer, 8},
	metadata.ElementFnPtr:      {KindPointer, 8},
	metadata.ElementObject:     {KindReference, 8},
	metadata.ElementSZArray:    {KindReference, 8},
	metadata.ElementMVar:       {KindReference, 8},
}

// A Value is the value of a field or element, or the reason why it is unknown. It does not allocate. A method that
// returns the value fails with that reason, or with target.ErrArgument if the value is of another kind.
type Value struct {
	r    *Reader
	at   target.Addr // address of the value
	bits uint64      // as stored, not sign-extended
	err  error
	elem metadata.ElementType

	field *Field // gives the type, if not nil
	typ   *Type  // the type of a struct or enum without a field
}

func (r *Reader) value(et metadata.ElementType, a target.Addr, f *Field, t *Type) Value {
	v := Value{r: r, at: a, elem: et, field: f, typ: t}
	size := uint8(0)
	if int(et) < len(kinds) {
		size = kinds[et].size
	}
	if size == 0 {
		if v.kind() == KindUnknown {
			v.err = target.Unsupportedf("value of element type %#x", uint8(et))
		}
		return v
	}
	if b, ok := r.mem.View(a, int(size)); ok {
		v.bits = cursor.Uint(b)
		return v
	}
	var buf [8]byte
	if _, err := r.mem.ReadMemory(buf[:size], a); err != nil {
		v.err = target.InHeap(err)
		return v
	}
	v.bits = cursor.Uint(buf[:size])
	return v
}

func (v Value) kind() Kind {
	if int(v.elem) < len(kinds) {
		return kinds[v.elem].kind
	}
	return KindUnknown
}

// Kind returns the kind of the value, KindUnknown if it could not be read.
func (v Value) Kind() Kind {
	if v.err != nil {
		return KindUnknown
	}
	return v.kind()
}

// Err returns why the value is unknown, or nil.
func (v Value) Err() error { return v.err }

// Location returns the address where the value is stored.
func (v Value) Location() target.Addr { return v.at }

// ElementType returns how the value is stored. For an enum it is the underlying type.
func (v Value) ElementType() metadata.ElementType { return v.elem }

// Field returns the field that holds the value, nil for elements and boxes.
func (v Value) Field() *Field { return v.field }

// Size returns the value's size in bytes, 0 for a struct.
func (v Value) Size() int {
	if int(v.elem) < len(kinds) {
		return int(kinds[v.elem].size)
	}
	return 0
}

// Bits returns the bytes of the value as a little-endian number, not sign-extended. It is 0 for a struct.
func (v Value) Bits() (uint64, error) { return v.bits, v.err }

func (v Value) want(k Kind) error {
	if v.err == nil && v.kind() != k {
		return target.Argumentf("the value is of kind %v, not %v", v.kind(), k)
	}
	return v.err
}

// Bool returns the value of a System.Boolean.
func (v Value) Bool() (bool, error) { return v.bits != 0, v.want(KindBool) }

// Char returns the value of a System.Char: a UTF-16 code unit.
func (v Value) Char() (uint16, error) { return uint16(v.bits), v.want(KindChar) }

// Int returns the value of an integer or enum of any size, signed or not. The error is target.ErrArgument if an unsigned
// value does not fit.
func (v Value) Int() (int64, error) {
	if v.kind() == KindUint {
		if v.bits > math.MaxInt64 {
			return 0, cmp.Or(v.err, target.Argumentf("%d does not fit in a signed integer", v.bits))
		}
		return int64(v.bits), v.err
	}
	return v.signed(), v.want(KindInt)
}

// signed returns the stored bits with their sign.
func (v Value) signed() int64 {
	shift := 64 - 8*v.Size()
	return int64(v.bits<<shift) >> shift
}

// Uint returns the value of an integer or enum of any size. The error is target.ErrArgument for a negative value.
func (v Value) Uint() (uint64, error) {
	if v.kind() == KindInt {
		if v.signed() < 0 {
			return 0, cmp.Or(v.err, target.Argumentf("%d does not fit in an unsigned integer", v.signed()))
		}
		return v.bits, v.err
	}
	return v.bits, v.want(KindUint)
}

// Float returns the value of a System.Single or System.Double.
func (v Value) Float() (float64, error) {
	if v.elem == metadata.ElementR4 {
		return float64(math.Float32frombits(uint32(v.bits))), v.want(KindFloat)
	}
	return math.Float64frombits(v.bits), v.want(KindFloat)
}

// Addr returns the value of a pointer, native integer, byref or reference.
func (v Value) Addr() (target.Addr, error) {
	switch v.kind() {
	case KindPointer, KindByRef, KindReference:
		return target.Addr(v.bits), v.err
	}
	return 0, v.want(KindPointer)
}

// IsNull reports whether the value is a null reference, a null pointer or a Nullable<T> without a value.
func (v Value) IsNull() bool {
	if v.kind() == KindStruct {
		_, has, err := v.Nullable()
		return err == nil && !has
	}
	a, err := v.Addr()
	return err == nil && a == 0
}

// Object returns the object that a reference refers to. The error is target.ErrNull for null.
func (v Value) Object() (Object, error) {
	if err := v.want(KindReference); err != nil {
		return Object{}, err
	}
	if v.bits == 0 {
		return Object{}, errNull
	}
	return v.r.TrustedObject(target.Addr(v.bits))
}

// Type returns the declared type of the value, or nil if it is not loaded. The object of a reference may be of a
// derived type.
func (v Value) Type() (*Type, error) {
	if v.typ != nil {
		return v.typ, nil
	}
	if v.field == nil {
		return nil, v.err
	}
	return v.field.declared()
}

// Struct returns the value type stored in place.
func (v Value) Struct() (Struct, error) {
	if err := v.want(KindStruct); err != nil {
		return Struct{}, err
	}
	t, err := v.Type()
	if err != nil {
		return Struct{}, err
	}
	if t == nil {
		return Struct{}, target.Unsupportedf("the type of the value is unknown")
	}
	return Struct{Addr: v.at, Type: t}, nil
}

// Text returns the first limit UTF-16 code units of the string that the value refers to, or all if limit is negative.
func (v Value) Text(limit int) (string, error) {
	o, err := v.Object()
	if err != nil {
		return "", err
	}
	return o.heldText(limit, v.Type)
}

// Start is Text with an ellipsis where it is cut.
func (v Value) Start(limit int) (string, error) {
	o, err := v.Object()
	if err != nil {
		return "", err
	}
	return o.heldStart(limit, v.Type)
}

// errNull is the error for a null reference where an object is needed.
var errNull = fmt.Errorf("a reference is %w", target.ErrNull)

// unreadable returns a Value that fails with err, for a value that can't be located.
func unreadable(err error) Value { return Value{err: err} }

// ValueAt reads the value of a variable at a. et is how it is stored. t is the type of a struct or enum, and may be nil
// for other values.
func (r *Reader) ValueAt(et metadata.ElementType, a target.Addr, t *Type) Value {
	return r.value(et, a, nil, t)
}

// ValueOf returns the value of a variable in a register, from the register's low bytes. The error is
// target.ErrUnsupported for a struct, because its fields have no address.
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
