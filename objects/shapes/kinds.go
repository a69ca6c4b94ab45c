package shapes

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An Instance is the start of the fields of an object or value type, from which a bound shape reads.
type Instance target.Addr

// Of returns the instance of an object.
func Of(o objects.Object) Instance { return Instance(o.Addr + dac.ObjectHeaderBytes) }

// OfAddr returns the instance of the object at a. It does not prove that there is one.
func OfAddr(a target.Addr) Instance { return Instance(a + dac.ObjectHeaderBytes) }

// In returns the instance of a value type in place.
func In(s objects.Struct) Instance { return Instance(s.Addr) }

// Type is the type of a shape's blank field. Its tag names the definitions of the types that the shape is for:
// `of:"Ns.Name<,>|Ns.Outer<>+Inner"`. A type matches if it, or one of its bases, is an instance of the definition. The
// fields are those of that base, so a derived class can't hide them. The tag `fields:"derived"` selects the fields of
// the type itself, for abstract classes whose derived classes have the fields. A shape without a Type is for every type
// that has its fields.
type Type struct{}

// errAbsent is the error of optional fields that a type lacks.
var errAbsent = target.Unsupportedf("this version of the type has no such field")

// incomparable is a part of every shape's fields. Go would otherwise compile a function for each shape that compares two, which nobody does.
type incomparable [0]func()

// A place is the place of a field in an instance. The zero place is empty.
type place struct {
	_      incomparable
	reader *objects.Reader
	field  *objects.Field
	base   uint32 // for a path, the offset of the value type that has the field
}

func (p *place) at(x Instance) target.Addr {
	return target.Addr(x) + target.Addr(p.base) + target.Addr(p.field.Offset)
}

// Has reports whether the type has the field. Only an optional field may be missing.
func (p *place) Has() bool { return p.field != nil }

// Field returns the field, nil if the type has none.
func (p *place) Field() *objects.Field { return p.field }

// Offset returns the field's offset in bytes from the start of the fields, 0 if the type lacks the field. Add
// dac.ObjectHeaderBytes for the offset from the start of an object.
func (p *place) Offset() uint32 {
	if p.field == nil {
		return 0
	}
	return p.base + p.field.Offset
}

// value reads the field with everything that package objects knows about it.
func (p *place) value(x Instance) objects.Value {
	if p.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return p.field.At(target.Addr(x) + target.Addr(p.base))
}

// word reads n bytes at a as a little-endian number.
func word(mem target.Memory, a target.Addr, n int) (uint64, error) {
	if b, ok := mem.View(a, n); ok {
		return cursor.Uint(b), nil
	}
	return slowWord(mem, a, n)
}

func slowWord(mem target.Memory, a target.Addr, n int) (uint64, error) {
	var buf [8]byte
	if _, err := mem.ReadMemory(buf[:n], a); err != nil {
		return 0, err
	}
	return cursor.Uint(buf[:n]), nil
}

// A Ref is a field that refers to an object.
type Ref struct{ place }

// Addr returns the address of the object, 0 for null.
func (r *Ref) Addr(x Instance) (target.Addr, error) {
	if r == nil {
		return 0, errAbsent
	}
	if r.field == nil {
		return 0, errAbsent
	}
	a, err := word(r.reader.Runtime().Memory(), r.at(x), 8)
	return target.Addr(a), err
}

// Object returns the object, with an Addr of 0 for null.
func (r *Ref) Object(x Instance) (objects.Object, error) {
	a, err := r.Addr(x)
	if err != nil || a == 0 {
		return objects.Object{}, err
	}
	return r.reader.Object(a)
}

// Value returns the reference as a value, with its declared type.
func (r *Ref) Value(x Instance) objects.Value { return r.value(x) }

// Text returns the first limit UTF-16 code units of the string that the field refers to, all if limit is negative. ok is false for null.
func (r *Ref) Text(x Instance, limit int) (text string, ok bool, err error) {
	o, err := r.Object(x)
	if err != nil || o.Addr == 0 {
		return "", false, err
	}
	text, err = o.Text(limit)
	return text, err == nil, err
}

// An Int is a field that holds an integer of any width, a bool, a char, an enum, a pointer or a native integer.
type Int struct {
	place
	size   uint8
	signed bool
}

// Size returns the number of bytes of the field; 0 if the type has none.
func (i *Int) Size() int { return int(i.size) }

// Uint returns the field's value as stored, not sign-extended.
func (i *Int) Uint(x Instance) (uint64, error) {
	if i.field == nil {
		return 0, errAbsent
	}
	return word(i.reader.Runtime().Memory(), i.at(x), int(i.size))
}

// Int returns the field's value: sign-extended if its type is signed.
func (i *Int) Int(x Instance) (int64, error) {
	v, err := i.Uint(x)
	if !i.signed {
		return int64(v), err
	}
	shift := 64 - 8*i.size
	return int64(v<<shift) >> shift, err
}

// Bool reports whether the field's value is not zero.
func (i *Int) Bool(x Instance) (bool, error) {
	v, err := i.Uint(x)
	return v != 0, err
}

// Value returns the integer as a value with its declared type, so that an enum has names.
func (i *Int) Value(x Instance) objects.Value { return i.value(x) }

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

// A Struct is a field that holds a value type.
type Struct struct {
	place
	typ *objects.Type
}

// Type returns the value type, to which another shape may be bound. It is nil if there is no such field.
func (s *Struct) Type() *objects.Type { return s.typ }

// At returns the value type in place, for a shape bound to Type.
func (s *Struct) At(x Instance) Instance {
	if s.field == nil {
		return 0
	}
	return Instance(s.at(x))
}

// Value returns the value type as a value.
func (s *Struct) Value(x Instance) objects.Value { return s.value(x) }

// A Value is a field that holds any kind of value. An example is a field whose type is a type parameter.
type Value struct{ place }

// Value returns the field's value.
func (v *Value) Value(x Instance) objects.Value { return v.value(x) }

// A Static is a static field that all threads share, tagged `static:"s_x"`.
type Static struct {
	_     incomparable
	field *objects.Field
}

// Has reports whether the type has the field. Only an optional field may be missing.
func (s *Static) Has() bool { return s.field != nil }

// Value returns the field's value, or why there is none.
func (s *Static) Value() objects.Value {
	if s.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return s.field.StaticValue().Value
}

// Stored returns the value in the field's memory, also where the class constructor has not run: the runtime itself sets some fields.
func (s *Static) Stored() objects.Value {
	if s.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return s.field.StaticValue().Stored
}

// A ThreadStatic is a static field with a value for each thread, tagged `threadstatic:"t_x"`.
type ThreadStatic struct {
	_     incomparable
	field *objects.Field
}

// Has reports whether the type has the field. Only an optional field may be missing.
func (s *ThreadStatic) Has() bool { return s.field != nil }

// Of returns a thread's value of the field. The error is objects.ErrNotInitialised if the thread never used it.
func (s *ThreadStatic) Of(t *dac.Thread) objects.Value {
	if s.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return s.field.ThreadStatic(t).Value
}

// Object returns the address of the object whose instance x is.
func (x Instance) Object() target.Addr { return target.Addr(x) - dac.ObjectHeaderBytes }
