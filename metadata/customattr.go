package metadata

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// An Attribute is the decoded value of a custom attribute (ECMA-335 II.23.3).
//
// A value is a bool, Char, sized integer, float, string, TypeName, nil, or []any of these. An enum is an
// integer of its underlying type.
type Attribute struct {
	Fixed []any // arguments of the constructor
	Named []NamedArgument
}

// A NamedArgument sets a field or property of an attribute.
type NamedArgument struct {
	Name  string
	Field bool // else a property
	Value any
}

// A TypeName is a System.Type in a custom attribute: a reflection name, with the assembly unless it is the
// module's own or the core library.
type TypeName string

// An EnumResolver returns the underlying types of enums. Its methods return false for an unknown enum.
type EnumResolver interface {
	// Enum resolves a TypeDef or TypeRef.
	Enum(t Token) (ElementType, bool)
	// EnumByName resolves a reflection name, which may include an assembly.
	EnumByName(name string) (ElementType, bool)
}

// AttributeType returns the TypeDef, TypeRef or TypeSpec of a custom attribute's class.
func (md *Metadata) AttributeType(a CustomAttributeRow) (Token, error) {
	if a.Type.Table() == TableMethodDef {
		owner, err := md.MethodOwner(a.Type.Row())
		return NewToken(TableTypeDef, owner), err
	}
	row, err := md.MemberRef(a.Type.Row())
	return row.Class, err
}

// AttributeValue decodes the value of a custom attribute. It resolves enums with enums, which may be nil, and
// with the module itself. An unknown enum is target.ErrUnsupported, because its size decides where the next
// value starts.
func (md *Metadata) AttributeValue(a CustomAttributeRow, enums EnumResolver) (Attribute, error) {
	ctor, err := md.constructorSig(a.Type)
	if err != nil {
		return Attribute{}, err
	}
	args, err := md.classArguments(a)
	if err != nil {
		return Attribute{}, err
	}
	b, err := md.Blob(a.Value)
	if err != nil || len(b) == 0 {
		return Attribute{}, err
	}
	r := attrReader{sigReader: sigReader{b: b}, md: md, enums: enums, typeArgs: args}
	v := r.attribute(ctor.Params)
	if r.err != nil {
		return Attribute{}, r.err
	}
	return v, nil
}

// constructorSig returns the signature of an attribute's constructor.
func (md *Metadata) constructorSig(t Token) (MethodSig, error) {
	var sig BlobIndex
	if t.Table() == TableMethodDef {
		row, err := md.MethodDef(t.Row())
		if err != nil {
			return MethodSig{}, err
		}
		sig = row.Signature
	} else {
		row, err := md.MemberRef(t.Row())
		if err != nil {
			return MethodSig{}, err
		}
		sig = row.Signature
	}
	b, err := md.Blob(sig)
	if err != nil {
		return MethodSig{}, err
	}
	return ParseMethodSig(b)
}

// classArguments returns the generic arguments of a generic attribute class.
func (md *Metadata) classArguments(a CustomAttributeRow) ([]TypeSig, error) {
	class, err := md.AttributeType(a)
	if err != nil || class.Table() != TableTypeSpec {
		return nil, err
	}
	row, err := md.TypeSpec(class.Row())
	if err != nil {
		return nil, err
	}
	b, err := md.Blob(row.Signature)
	if err != nil {
		return nil, err
	}
	spec, err := ParseTypeSpec(b)
	return spec.Args, err
}

// Serialization types beside the element types (ECMA-335 II.23.1.16).
const (
	serializedType   ElementType = 0x50
	serializedBoxed  ElementType = 0x51
	serializedField  byte        = 0x53
	serializedProp   byte        = 0x54
	serializedEnum   ElementType = 0x55
	attributeProlog              = 1
	nullString       byte        = 0xFF
	nullArray                    = 0xFFFFFFFF
	arrayElementsCap             = 64 // allocated before reading
)

// An attrReader reads the value of a custom attribute.
type attrReader struct {
	sigReader
	md       *Metadata
	enums    EnumResolver
	typeArgs []TypeSig
}

// An attrType is the type of a value in an attribute: an element type, or a serialization type. Enums are
// replaced by their underlying types.
type attrType struct {
	kind ElementType
	elem ElementType // of an SZArray
}

func (r *attrReader) attribute(params []TypeSig) Attribute {
	var a Attribute
	if p := r.uint16(); r.err == nil && p != attributeProlog {
		r.fail("attribute starts with %#x", p)
	}
	for i := range params {
		a.Fixed = append(a.Fixed, r.value(r.paramType(&params[i]), 0))
		if r.err != nil {
			return a
		}
	}
	for n := r.uint16(); n > 0 && r.err == nil; n-- {
		a.Named = append(a.Named, r.namedArgument())
	}
	return a
}

func (r *attrReader) namedArgument() NamedArgument {
	k := r.byte()
	if r.err == nil && k != serializedField && k != serializedProp {
		r.fail("named argument starts with %#x", k)
	}
	t := r.fieldOrPropType()
	name, _ := r.string()
	return NamedArgument{Name: name, Field: k == serializedField, Value: r.value(t, 0)}
}

// paramType returns the type of a constructor's parameter.
func (r *attrReader) paramType(t *TypeSig) attrType {
	t = t.Unmodified()
	if t.Kind == ElementSZArray {
		return attrType{kind: ElementSZArray, elem: r.paramElement(t.Elem.Unmodified())}
	}
	return attrType{kind: r.paramElement(t)}
}

func (r *attrReader) paramElement(t *TypeSig) ElementType {
	if t.Kind == ElementVar && int64(t.Number) < int64(len(r.typeArgs)) {
		t = r.typeArgs[t.Number].Unmodified()
	}
	switch t.Kind {
	case ElementObject:
		return serializedBoxed
	case ElementClass: // System.Type: attributes can take no other class
		return serializedType
	case ElementValueType:
		return r.enum(t.Token)
	case ElementString:
		return t.Kind
	}
	if fixedSize(t.Kind) == 0 {
		r.fail("attribute parameter of type %s", t.Kind)
	}
	return t.Kind
}

// fieldOrPropType reads the type of a named argument or of a boxed value.
func (r *attrReader) fieldOrPropType() attrType {
	k := ElementType(r.byte())
	if k == ElementSZArray {
		return attrType{kind: k, elem: r.fieldOrPropElement(ElementType(r.byte()))}
	}
	return attrType{kind: r.fieldOrPropElement(k)}
}

func (r *attrReader) fieldOrPropElement(k ElementType) ElementType {
	switch k {
	case serializedEnum:
		name, _ := r.string()
		return r.enumByName(name)
	case serializedType, serializedBoxed, ElementString:
		return k
	}
	if fixedSize(k) == 0 {
		r.fail("attribute value of type %s", k)
	}
	return k
}

func (r *attrReader) value(t attrType, depth int) any {
	if depth > limits.SignatureDepth {
		r.fail("attribute values nested more than %d deep", depth)
	}
	if r.err != nil {
		return nil
	}
	switch t.kind {
	case ElementSZArray:
		return r.array(t.elem, depth)
	case serializedBoxed:
		return r.value(r.fieldOrPropType(), depth+1)
	case serializedType, ElementString:
		s, ok := r.string()
		switch {
		case !ok:
			return nil
		case t.kind == serializedType:
			return TypeName(s)
		}
		return s
	}
	n := fixedSize(t.kind)
	if n == 0 || n > r.left() {
		r.fail("attribute ends in a %s", t.kind)
		return nil
	}
	r.off += n
	return fixedValue(t.kind, r.b[r.off-n:r.off])
}

func (r *attrReader) array(elem ElementType, depth int) any {
	n := r.uint32()
	if r.err != nil || n == nullArray {
		return nil
	}
	if uint64(n) > uint64(r.left()) {
		r.fail("array of %d elements in %d bytes", n, r.left())
		return nil
	}
	out := make([]any, 0, min(n, arrayElementsCap))
	for range n {
		out = append(out, r.value(attrType{kind: elem}, depth+1))
		if r.err != nil {
			return nil
		}
	}
	return out
}

// enum returns the underlying type of an enum.
func (r *attrReader) enum(t Token) ElementType {
	if r.err != nil {
		return 0
	}
	if r.enums != nil {
		if e, ok := r.enums.Enum(t); ok {
			return e
		}
	}
	if t.Table() == TableTypeDef {
		e, err := r.md.EnumType(t.Row())
		r.setErr(err)
		return e
	}
	r.unsupported("the underlying type of enum %s is not known", t)
	return 0
}

func (r *attrReader) enumByName(name string) ElementType {
	if r.err != nil {
		return 0
	}
	if r.enums != nil {
		if e, ok := r.enums.EnumByName(name); ok {
			return e
		}
	}
	if t, ok := r.md.FindTypeDef(name); ok {
		e, err := r.md.EnumType(t.Row())
		r.setErr(err)
		return e
	}
	r.unsupported("the underlying type of enum %q is not known", name)
	return 0
}

func (r *attrReader) setErr(err error) { r.err = cmp.Or(r.err, err) }

func (r *attrReader) unsupported(format string, args ...any) {
	r.setErr(&FormatError{Off: int64(r.off), Msg: fmt.Sprintf(format, args...), Err: target.ErrUnsupported})
}

// string reads a SerString. It returns false for null.
func (r *attrReader) string() (string, bool) {
	if r.peek() == nullString {
		r.off++
		return "", false
	}
	n := r.count()
	if r.err != nil {
		return "", false
	}
	r.off += n
	return string(r.b[r.off-n : r.off]), true
}

func (r *attrReader) uint16() uint16 {
	if r.err != nil || r.left() < 2 {
		r.fail("ends early")
		return 0
	}
	r.off += 2
	return binary.LittleEndian.Uint16(r.b[r.off-2:])
}

func (r *attrReader) uint32() uint32 {
	if r.err != nil || r.left() < 4 {
		r.fail("ends early")
		return 0
	}
	r.off += 4
	return binary.LittleEndian.Uint32(r.b[r.off-4:])
}

const fieldStatic = 0x10 // FieldAttributes, ECMA-335 II.23.1.5

// EnumType returns the underlying type of an enum, by TypeDef rid: the type of its only instance field
// (ECMA-335 II.14.3).
func (md *Metadata) EnumType(typeDef uint32) (ElementType, error) {
	fields, err := md.Fields(typeDef)
	if err != nil {
		return 0, err
	}
	for rid, err := range fields.All() {
		if err != nil {
			return 0, err
		}
		row, err := md.Field(rid)
		if err != nil {
			return 0, err
		}
		if row.Flags&fieldStatic != 0 {
			continue
		}
		b, err := md.Blob(row.Signature)
		if err != nil {
			return 0, err
		}
		t, err := ParseFieldSig(b)
		if err != nil {
			return 0, err
		}
		if fixedSize(t.Kind) > 0 {
			return t.Kind, nil
		}
		break
	}
	return 0, corruptf(0, "type %d is no enum", typeDef)
}
