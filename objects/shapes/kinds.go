package shapes

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An Instance is where the fields of an object or value type start: what a bound shape reads.
type Instance target.Addr

// Of is the instance that an object is.
func Of(o objects.Object) Instance { return Instance(o.Addr + dac.ObjectHeaderBytes) }

// OfAddr is the instance that the object at a is. Nothing proves that there is one.
func OfAddr(a target.Addr) Instance { return Instance(a + dac.ObjectHeaderBytes) }

// In is the instance that a value type in place is.
func In(s objects.Struct) Instance { return Instance(s.Addr) }

// Type is the type of a shape's blank field, whose tag names the definitions of the types that the shape is for:
// `of:"Ns.Name<,>|Ns.Outer<>+Inner"`. A type is of a definition if it or one of its bases is an instance of it, and the
// fields are those of that base: a class of the program that derives from a collection can't hide them. With the tag
// `fields:"derived"` the fields of the type itself are meant, for abstract classes whose derived ones have the fields. A
// shape without a Type is for every type with its fields.
type Type struct{}

// errAbsent is about optional fields that a type has not.
var errAbsent = target.Unsupportedf("this version of the type has no such field")

// A place is where a field stands in an instance. The zero place is nowhere.
type place struct {
	reader *objects.Reader
	field  *objects.Field
	base   uint32 // of the value type that has the field, for a path
}

func (p *place) at(x Instance) target.Addr {
	return target.Addr(x) + target.Addr(p.base) + target.Addr(p.field.Offset)
}

// Has reports whether the type has the field: only an optional one may lack.
func (p *place) Has() bool { return p.field != nil }

// Field is the field, nil if the type has none.
func (p *place) Field() *objects.Field { return p.field }

// Offset is the number of bytes from the start of the fields; 0 if the type has no such field. From the start of an object it
// is dac.ObjectHeaderBytes more.
func (p *place) Offset() uint32 {
	if p.field == nil {
		return 0
	}
	return p.base + p.field.Offset
}

// value reads the field with all that objects knows of it.
func (p *place) value(x Instance) objects.Value {
	if p.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return p.field.At(target.Addr(x) + target.Addr(p.base))
}

// word reads n bytes at a as a little-endian number.
func word(mem target.Memory, a target.Addr, n int) (uint64, error) {
	if b, ok := mem.View(a, n); ok {
		return number(b), nil
	}
	return slowWord(mem, a, n)
}

func slowWord(mem target.Memory, a target.Addr, n int) (uint64, error) {
	var buf [8]byte
	if _, err := mem.ReadMemory(buf[:n], a); err != nil {
		return 0, err
	}
	return number(buf[:n]), nil
}

func number(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// A Ref is a field that refers to an object.
type Ref struct{ place }

// Addr is the address of the object, 0 for null.
func (r *Ref) Addr(x Instance) (target.Addr, error) {
	if r.field == nil {
		return 0, errAbsent
	}
	a, err := word(r.reader.Runtime().Memory(), r.at(x), 8)
	return target.Addr(a), err
}

// Object is the object, with an Addr of 0 for null.
func (r *Ref) Object(x Instance) (objects.Object, error) {
	a, err := r.Addr(x)
	if err != nil || a == 0 {
		return objects.Object{}, err
	}
	return r.reader.Object(a)
}

// Value is the reference as a value, with its declared type.
func (r *Ref) Value(x Instance) objects.Value { return r.value(x) }

// Text is the string that the field refers to, at most limit UTF-16 code units of it, all when limit is negative; empty for
// null, which ok tells.
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

// Size is the number of bytes of the field; 0 if the type has none.
func (i *Int) Size() int { return int(i.size) }

// Uint is the field's value as it is stored, not sign-extended.
func (i *Int) Uint(x Instance) (uint64, error) {
	if i.field == nil {
		return 0, errAbsent
	}
	return word(i.reader.Runtime().Memory(), i.at(x), int(i.size))
}

// Int is the field's value: sign-extended if its type is signed.
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

// Value is the integer as a value, with its declared type: an enum has names.
func (i *Int) Value(x Instance) objects.Value { return i.value(x) }

// fits reports whether fields of that element type are for an Int, with their size.
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

// Type is the value type, which another shape may be bound to; nil if there is no such field.
func (s *Struct) Type() *objects.Type { return s.typ }

// At is the value type in place, for a shape that is bound to Type.
func (s *Struct) At(x Instance) Instance {
	if s.field == nil {
		return 0
	}
	return Instance(s.at(x))
}

// Value is the value type as a value.
func (s *Struct) Value(x Instance) objects.Value { return s.value(x) }

// A Value is a field that holds anything: of the type of a type parameter, for one.
type Value struct{ place }

// Value is what the field holds.
func (v *Value) Value(x Instance) objects.Value { return v.value(x) }

// A Static is a static field that all threads share, tagged `static:"s_x"`.
type Static struct{ field *objects.Field }

// Has reports whether the type has the field: only an optional one may lack.
func (s *Static) Has() bool { return s.field != nil }

// Value is what the field holds, or why it holds nothing.
func (s *Static) Value() objects.Value {
	if s.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return s.field.StaticValue().Value
}

// A ThreadStatic is a static field of which each thread has its own, tagged `threadstatic:"t_x"`.
type ThreadStatic struct{ field *objects.Field }

// Has reports whether the type has the field: only an optional one may lack.
func (s *ThreadStatic) Has() bool { return s.field != nil }

// Of is what a thread has in the field. A thread that never used it has objects.ErrNotInitialised.
func (s *ThreadStatic) Of(t *dac.Thread) objects.Value {
	if s.field == nil {
		return (*objects.Field)(nil).At(0)
	}
	return s.field.ThreadStatic(t).Value
}

// Object is the address of the object that the instance is.
func (x Instance) Object() target.Addr { return target.Addr(x) - dac.ObjectHeaderBytes }
