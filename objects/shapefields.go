package objects

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An Instance is the start of the fields of an object or value type, from which a bound shape reads.
type Instance target.Addr

// InstanceOf returns the instance of an object.
func InstanceOf(o Object) Instance { return Instance(o.Addr + dac.ObjectHeaderBytes) }

// InstanceAt returns the instance of the object at a. It does not prove that there is one.
func InstanceAt(a target.Addr) Instance { return Instance(a + dac.ObjectHeaderBytes) }

// InstanceIn returns the instance of a value type in place.
func InstanceIn(s Struct) Instance { return Instance(s.Addr) }

// Shape is the type of a shape's blank field. A shape is a Go struct. Functions take a pointer to it as their type
// parameter S. The tag of Type names the definitions of the types that the shape is for:
// `of:"Ns.Name<,>|Ns.Outer<>+Inner"`. A type matches if it or one of its bases is an instance of the definition. The
// assembly that defines it does not matter. A shape without a Type is for every type that has its fields.
//
// The tags of the other fields name fields of the managed type. A name is searched in the matching type and then in its
// bases, so that a derived class can't hide it. The tag `fields:"derived"` starts at the object's own type, for
// abstract classes with fields in their derived classes. "<X>" is the backing field of the automatic property X. "a.b"
// is field b of the value type in field a. "a|b" is the first of the two that exists. "a@" is a field of F# with that
// name and a number. ",optional" permits that the field is missing. A field must be of the kind that the shape needs: a
// reference, an integer, a value type.
//
// A struct of pointers to shapes takes the first shape that fits, for versions that differ more:
//
//	type set struct {
//		_   Shape `of:"System.Collections.Generic.HashSet<>"`
//		New *newSet
//		Old *oldSet
//	}
type Shape struct{}

// errAbsent is the error for an optional field that a type does not have.
var errAbsent = target.Unsupportedf("this version of the type has no such field")

// A place is the place of a field in an instance. The zero place is empty.
type place struct {
	reader *Reader
	field  *Field
	base   uint32 // for a path, the offset of the value type that has the field
}

func (p *place) at(x Instance) target.Addr {
	return target.Addr(x) + target.Addr(p.base) + target.Addr(p.field.Offset)
}

// Has reports whether the type has the field. Only an optional field may be missing.
func (p *place) Has() bool { return p.field != nil }

// Field returns the field, nil if the type does not have it.
func (p *place) Field() *Field { return p.field }

// Offset returns the field's offset in bytes from the start of the fields, 0 if there is no such field.
// Add dac.ObjectHeaderBytes for the offset from the start of an object.
func (p *place) Offset() uint32 {
	if p.field == nil {
		return 0
	}
	return p.base + p.field.Offset
}

// value returns the field's value with its declared type.
func (p *place) value(x Instance) Value {
	if p.field == nil {
		return unreadable(errAbsent)
	}
	return p.field.At(target.Addr(x) + target.Addr(p.base))
}

// readWord reads n bytes at a as a little-endian number.
func readWord(mem target.Memory, a target.Addr, n int) (uint64, error) {
	if b, ok := mem.View(a, n); ok {
		return cursor.Uint(b), nil
	}
	return copyWord(mem, a, n)
}

// copyWord is readWord for memory without a view. It is a function of its own because its buffer escapes to the heap.
func copyWord(mem target.Memory, a target.Addr, n int) (uint64, error) {
	var buf [8]byte
	if _, err := mem.ReadMemory(buf[:n], a); err != nil {
		return 0, err
	}
	return cursor.Uint(buf[:n]), nil
}

// A RefField is a field that refers to an object.
type RefField struct{ place }

// Addr returns the address of the object, 0 for null.
func (r *RefField) Addr(x Instance) (target.Addr, error) {
	if r == nil || r.field == nil {
		return 0, errAbsent
	}
	a, err := readWord(r.reader.Runtime().Memory(), r.at(x), 8)
	return target.Addr(a), err
}

// Object returns the object, with an Addr of 0 for null.
func (r *RefField) Object(x Instance) (Object, error) {
	a, err := r.Addr(x)
	if err != nil || a == 0 {
		return Object{}, err
	}
	return r.reader.TrustedObject(a)
}

// Value returns the reference as a value, with its declared type.
func (r *RefField) Value(x Instance) Value { return r.value(x) }

// Text returns the first limit UTF-16 code units of the string that the field refers to, or all if limit is negative.
// ok is false for null.
func (r *RefField) Text(x Instance, limit int) (text string, ok bool, err error) {
	o, err := r.Object(x)
	if err != nil || o.Addr == 0 {
		return "", false, err
	}
	text, err = o.heldText(limit, r.field.declared)
	return text, err == nil, err
}

// Start is Text with an ellipsis where it is cut.
func (r *RefField) Start(x Instance, limit int) (text string, ok bool, err error) {
	o, err := r.Object(x)
	if err != nil || o.Addr == 0 {
		return "", false, err
	}
	text, err = o.heldStart(limit, r.field.declared)
	return text, err == nil, err
}

// An IntField is a field that holds an integer of any width, a bool, a char, an enum, a pointer or a native integer.
type IntField struct {
	place
	size   uint8
	signed bool
}

// Size returns the field's size in bytes, 0 if there is no such field.
func (i *IntField) Size() int { return int(i.size) }

// Uint returns the field's value as stored, not sign-extended.
func (i *IntField) Uint(x Instance) (uint64, error) {
	if i.field == nil {
		return 0, errAbsent
	}
	return readWord(i.reader.Runtime().Memory(), i.at(x), int(i.size))
}

// Int returns the field's value: sign-extended if its type is signed.
func (i *IntField) Int(x Instance) (int64, error) {
	v, err := i.Uint(x)
	if !i.signed {
		return int64(v), err
	}
	shift := 64 - 8*i.size
	return int64(v<<shift) >> shift, err
}

// Bool reports whether the field's value is not zero.
func (i *IntField) Bool(x Instance) (bool, error) {
	v, err := i.Uint(x)
	return v != 0, err
}

// Value returns the integer as a value with its declared type, which names the values of an enum.
func (i *IntField) Value(x Instance) Value { return i.value(x) }

// fitsInt reports whether an Int can hold fields of that element type. It returns their size and signedness.
func fitsInt(et metadata.ElementType) (size uint8, signed, ok bool) {
	switch et {
	case metadata.ElementBoolean, metadata.ElementU1:
		return 1, false, true
	case metadata.ElementI1:
		return 1, true, true
	case metadata.ElementChar, metadata.ElementU2:
		return 2, false, true
	case metadata.ElementI2:
		return 2, true, true
	case metadata.ElementU4:
		return 4, false, true
	case metadata.ElementI4:
		return 4, true, true
	case metadata.ElementU8, metadata.ElementU, metadata.ElementPtr, metadata.ElementFnPtr:
		return 8, false, true
	case metadata.ElementI8, metadata.ElementI:
		return 8, true, true
	}
	return 0, false, false
}

// A StructField is a field that holds a value type.
type StructField struct {
	place
	typ *Type
}

// Type returns the value type, to which another shape may be bound. It is nil if there is no such field.
func (s *StructField) Type() *Type { return s.typ }

// At returns the value type in place, for a shape bound to Type.
func (s *StructField) At(x Instance) Instance {
	if s.field == nil {
		return 0
	}
	return Instance(s.at(x))
}

// Value returns the value type as a value.
func (s *StructField) Value(x Instance) Value { return s.value(x) }

// A ValueField is a field that holds any kind of value, such as a field declared with a type parameter.
type ValueField struct{ place }

// Value returns the field's value.
func (v *ValueField) Value(x Instance) Value { return v.value(x) }

// A StaticField is a static field that all threads share, tagged `static:"s_x"`.
type StaticField struct {
	field *Field
}

// Has reports whether the type has the field. Only an optional field may be missing.
func (s *StaticField) Has() bool { return s.field != nil }

// Value returns the field's value, or the reason why it can't be read.
func (s *StaticField) Value() Value {
	if s.field == nil {
		return unreadable(errAbsent)
	}
	return s.field.StaticValue().Value
}

// Stored returns the value in the field's memory even if the class constructor has not run. The runtime itself sets
// some fields.
func (s *StaticField) Stored() Value {
	if s.field == nil {
		return unreadable(errAbsent)
	}
	return s.field.StaticValue().Stored
}

// A ThreadStaticField is a static field with a value for each thread, tagged `threadstatic:"t_x"`.
type ThreadStaticField struct {
	field *Field
}

// Has reports whether the type has the field. Only an optional field may be missing.
func (s *ThreadStaticField) Has() bool { return s.field != nil }

// Of returns a thread's value of the field. The error is objects.ErrNotInitialised if the thread never used it.
func (s *ThreadStaticField) Of(t *dac.Thread) Value {
	if s.field == nil {
		return unreadable(errAbsent)
	}
	return s.field.ThreadStatic(t).Value
}

// Object returns the address of the object with the instance x.
func (x Instance) Object() target.Addr { return target.Addr(x) - dac.ObjectHeaderBytes }
