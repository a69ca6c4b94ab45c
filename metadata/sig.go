package metadata

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// An ElementType starts a type in a signature (ECMA-335 II.23.1.16).
type ElementType uint8

// The element types. Internal and CModInternal occur only in the memory of a runtime, with the address of a
// loaded type in place of a token (corhdr.h). Canon, for System.__Canon, occurs only in ReadyToRun images.
const (
	ElementEnd          ElementType = 0x00
	ElementVoid         ElementType = 0x01
	ElementBoolean      ElementType = 0x02
	ElementChar         ElementType = 0x03
	ElementI1           ElementType = 0x04
	ElementU1           ElementType = 0x05
	ElementI2           ElementType = 0x06
	ElementU2           ElementType = 0x07
	ElementI4           ElementType = 0x08
	ElementU4           ElementType = 0x09
	ElementI8           ElementType = 0x0A
	ElementU8           ElementType = 0x0B
	ElementR4           ElementType = 0x0C
	ElementR8           ElementType = 0x0D
	ElementString       ElementType = 0x0E
	ElementPtr          ElementType = 0x0F
	ElementByRef        ElementType = 0x10
	ElementValueType    ElementType = 0x11
	ElementClass        ElementType = 0x12
	ElementVar          ElementType = 0x13
	ElementArray        ElementType = 0x14
	ElementGenericInst  ElementType = 0x15
	ElementTypedByRef   ElementType = 0x16
	ElementI            ElementType = 0x18
	ElementU            ElementType = 0x19
	ElementFnPtr        ElementType = 0x1B
	ElementObject       ElementType = 0x1C
	ElementSZArray      ElementType = 0x1D
	ElementMVar         ElementType = 0x1E
	ElementCModReqd     ElementType = 0x1F
	ElementCModOpt      ElementType = 0x20
	ElementInternal     ElementType = 0x21
	ElementCModInternal ElementType = 0x22
	ElementCanon        ElementType = 0x3E
	ElementModifier     ElementType = 0x40
	ElementSentinel     ElementType = 0x41
	ElementPinned       ElementType = 0x45
)

// elementModule precedes a type of another image, in ReadyToRun images.
const elementModule ElementType = 0x3F

var elementNames = [...]string{
	ElementEnd: "End", ElementVoid: "Void", ElementBoolean: "Boolean", ElementChar: "Char",
	ElementI1: "I1", ElementU1: "U1", ElementI2: "I2", ElementU2: "U2", ElementI4: "I4",
	ElementU4: "U4", ElementI8: "I8", ElementU8: "U8", ElementR4: "R4", ElementR8: "R8",
	ElementString: "String", ElementPtr: "Ptr", ElementByRef: "ByRef",
	ElementValueType: "ValueType", ElementClass: "Class", ElementVar: "Var",
	ElementArray: "Array", ElementGenericInst: "GenericInst", ElementTypedByRef: "TypedByRef",
	ElementI: "I", ElementU: "U", ElementFnPtr: "FnPtr", ElementObject: "Object",
	ElementSZArray: "SZArray", ElementMVar: "MVar", ElementCModReqd: "CModReqd",
	ElementCModOpt: "CModOpt", ElementInternal: "Internal", ElementCModInternal: "CModInternal", ElementCanon: "Canon",
	ElementModifier: "Modifier", ElementSentinel: "Sentinel", ElementPinned: "Pinned",
}

// String returns the name in the specification without its prefix: "I4" for ELEMENT_TYPE_I4.
func (e ElementType) String() string {
	if int(e) < len(elementNames) && elementNames[e] != "" {
		return elementNames[e]
	}
	return fmt.Sprintf("ElementType(%#x)", uint8(e))
}

// IsPrimitive reports whether the element type is a complete type: Void to String, TypedByRef, I, U and Object.
func (e ElementType) IsPrimitive() bool {
	return e >= ElementVoid && e <= ElementString || e == ElementTypedByRef ||
		e == ElementI || e == ElementU || e == ElementObject
}

// A TypeSig is a type in a signature. Kind decides which fields are used:
//
//	ValueType, Class           Token
//	Var, MVar                  Number
//	Ptr, ByRef, SZArray, Pinned Elem
//	Array                      Elem, Shape
//	GenericInst                Elem (the generic type), Args
//	FnPtr                      Method
//	CModReqd, CModOpt          Token, Elem (the modified type)
//	Internal                   Handle
//	CModInternal               Handle, Required, Elem (the modified type)
type TypeSig struct {
	Kind     ElementType
	Required bool
	Token    Token // TypeDef, TypeRef or TypeSpec
	Number   uint32
	Handle   uint64 // TypeHandle: an address in the target
	Elem     *TypeSig
	Args     []TypeSig
	Shape    *ArrayShape
	Method   *MethodSig
}

// Unmodified returns the type without custom modifiers and Pinned.
func (t *TypeSig) Unmodified() *TypeSig {
	for t != nil && (t.Kind == ElementCModReqd || t.Kind == ElementCModOpt ||
		t.Kind == ElementCModInternal || t.Kind == ElementPinned) {
		t = t.Elem
	}
	return t
}

// An ArrayShape describes an array that is not an SZArray (ECMA-335 II.23.2.13).
type ArrayShape struct {
	Rank        uint32
	Sizes       []uint32 // of the first dimensions
	LowerBounds []int32  // of the first dimensions
}

// A CallConv is the first byte of a signature (ECMA-335 II.23.2.1 to 3).
type CallConv uint8

// The kinds of a signature, in the low four bits, and the flags above them.
const (
	CallDefault      CallConv = 0x00
	CallC            CallConv = 0x01
	CallStdCall      CallConv = 0x02
	CallThisCall     CallConv = 0x03
	CallFastCall     CallConv = 0x04
	CallVarArg       CallConv = 0x05
	CallField        CallConv = 0x06
	CallLocalSig     CallConv = 0x07
	CallProperty     CallConv = 0x08
	CallUnmanaged    CallConv = 0x09
	CallGenericInst  CallConv = 0x0A
	CallNativeVarArg CallConv = 0x0B

	CallGeneric      CallConv = 0x10
	CallHasThis      CallConv = 0x20
	CallExplicitThis CallConv = 0x40
)

// Kind returns the low four bits.
func (c CallConv) Kind() CallConv { return c & 0x0F }

// HasThis reports whether the method has an implicit this argument.
func (c CallConv) HasThis() bool { return c&CallHasThis != 0 }

// A MethodSig is the signature of a method, a call site, a function pointer (ECMA-335 II.23.2.1 to 3) or a
// property (II.23.2.5).
type MethodSig struct {
	Conv          CallConv
	GenericParams uint32 // 0 for a method that is not generic
	Return        TypeSig
	Params        []TypeSig
	Sentinel      int // index in Params of a call site's first vararg; -1 without varargs
}

// FixedParams returns the parameters before the varargs of a call site.
func (m *MethodSig) FixedParams() []TypeSig {
	if m.Sentinel >= 0 {
		return m.Params[:m.Sentinel]
	}
	return m.Params
}

// ParseMethodSig decodes the signature of a MethodDef, MemberRef or StandAloneSig. It fails for signatures of
// fields, locals and properties.
func ParseMethodSig(b []byte) (MethodSig, error) {
	r := sigReader{b: b}
	m := r.method(0)
	return finish(&r, m)
}

// ParseFieldSig decodes the signature of a field, with its custom modifiers.
func ParseFieldSig(b []byte) (TypeSig, error) {
	r := sigReader{b: b}
	r.expect(CallField)
	t := r.typ(0)
	return finish(&r, t)
}

// ParseLocalSig decodes the signature of a method's local variables.
func ParseLocalSig(b []byte) ([]TypeSig, error) {
	r := sigReader{b: b}
	r.expect(CallLocalSig)
	ts := r.types(r.count(), 0)
	return finish(&r, ts)
}

// ParseMethodSpec decodes the generic arguments of a MethodSpec.
func ParseMethodSpec(b []byte) ([]TypeSig, error) {
	r := sigReader{b: b}
	r.expect(CallGenericInst)
	ts := r.types(r.count(), 0)
	return finish(&r, ts)
}

// ParseTypeSpec decodes the signature of a TypeSpec: one type.
func ParseTypeSpec(b []byte) (TypeSig, error) {
	r := sigReader{b: b}
	t := r.typ(0)
	return finish(&r, t)
}

// MethodSigSize returns the size in bytes of the method signature at the start of b. Signatures in the memory
// of a process do not record their length.
func MethodSigSize(b []byte) (int, error) {
	r := sigReader{b: b}
	r.method(0)
	return r.off, r.err
}

// FieldSigSize returns the size in bytes of the field signature at the start of b.
func FieldSigSize(b []byte) (int, error) {
	r := sigReader{b: b}
	r.expect(CallField)
	r.typ(0)
	return r.off, r.err
}

// TypeSigSize returns the size in bytes of the type at the start of b.
func TypeSigSize(b []byte) (int, error) {
	r := sigReader{b: b}
	r.typ(0)
	return r.off, r.err
}

// An InstanceSig names an instance of a generic method, or of a method of a generic type, in a ReadyToRun image
// (docs/design/coreclr/botr/readytorun-format.md, "Method Signatures").
type InstanceSig struct {
	Owner  *TypeSig // nil for the type that defines the method
	Method uint32   // row of MethodDef
	Args   []TypeSig
	// Foreign reports whether the tokens belong to the tables of another image.
	Foreign bool
}

// The flags of an InstanceSig announce the parts that follow. instanceKinds have no part: they only describe
// the entry point.
const (
	instanceHasArgs    = 0x04
	instanceContext    = 0x80
	instanceHasOwner   = 0x40
	instanceKinds      = 0x01 | 0x02 | 0x100 // unboxing, instantiating, and the variant of runtime async
	instanceUnderstood = instanceHasArgs | instanceContext | instanceHasOwner | instanceKinds
)

// ParseInstanceSig decodes the InstanceSig at the start of b and returns its size in bytes.
func ParseInstanceSig(b []byte) (InstanceSig, int, error) {
	r := sigReader{b: b, image: true}
	var s InstanceSig
	flags := r.uint()
	if r.err == nil && flags&^instanceUnderstood != 0 {
		r.fail("flags %#x of an instance", flags)
	}
	if flags&instanceContext != 0 {
		r.foreign = r.uint() != 0
	}
	if flags&instanceHasOwner != 0 {
		s.Owner = r.elem(0)
	}
	s.Method = r.uint()
	if flags&instanceHasArgs != 0 {
		s.Args = r.genericArgs(0)
	}
	if r.err != nil {
		return InstanceSig{}, r.off, r.err
	}
	s.Foreign = r.foreign
	return s, r.off, nil
}

// A sigReader reads a signature. The first failure sticks.
type sigReader struct {
	b       []byte
	off     int
	err     error
	image   bool // the signature is from a ReadyToRun image
	foreign bool // its tokens belong to another image
}

func (r *sigReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corruptf(r.off, "signature: "+format, args...)
	}
}

// finish returns v, or the zero value and an error if reading failed or bytes follow v.
func finish[T any](r *sigReader, v T) (T, error) {
	if r.err == nil && r.off != len(r.b) {
		r.fail("%d bytes too many", r.left())
	}
	if r.err != nil {
		var none T
		return none, r.err
	}
	return v, nil
}

func (r *sigReader) left() int { return len(r.b) - r.off }

func (r *sigReader) byte() byte {
	if r.err != nil || r.left() < 1 {
		r.fail("ends early")
		return 0
	}
	r.off++
	return r.b[r.off-1]
}

func (r *sigReader) peek() byte {
	if r.err != nil || r.left() < 1 {
		return 0
	}
	return r.b[r.off]
}

func (r *sigReader) uint() uint32 {
	if r.err != nil {
		return 0
	}
	v, n := uncompress(r.b[r.off:])
	if n == 0 {
		r.fail("no compressed integer")
	}
	r.off += n
	return v
}

func (r *sigReader) int() int32 {
	if r.err != nil {
		return 0
	}
	v, n := uncompressSigned(r.b[r.off:])
	if n == 0 {
		r.fail("no compressed integer")
	}
	r.off += n
	return v
}

// count reads the number of elements that take at least one byte each.
func (r *sigReader) count() int {
	n := r.uint()
	if uint64(n) > uint64(r.left()) {
		r.fail("%d elements in %d bytes", n, r.left())
		return 0
	}
	return int(n)
}

// pointer reads the address after Internal. It has eight bytes: 32-bit processes have no layout.
func (r *sigReader) pointer() uint64 {
	if r.err != nil || r.left() < 8 {
		r.fail("ends early")
		return 0
	}
	r.off += 8
	return binary.LittleEndian.Uint64(r.b[r.off-8:])
}

// token reads a TypeDefOrRefOrSpecEncoded (ECMA-335 II.23.2.8).
func (r *sigReader) token() Token {
	v := r.uint()
	t, ok := codedTypeDefOrRef.decode(v)
	if !ok {
		r.fail("coded token %#x", v)
	}
	return t
}

func (r *sigReader) expect(kind CallConv) {
	if c := CallConv(r.byte()); c.Kind() != kind {
		r.fail("starts with %#x instead of %#x", uint8(c), uint8(kind))
	}
}

func (r *sigReader) method(depth int) MethodSig {
	c := CallConv(r.byte())
	switch k := c.Kind(); {
	case k <= CallVarArg, k == CallUnmanaged, k == CallNativeVarArg:
		return r.params(c, depth)
	}
	r.fail("%#x starts no method", uint8(c))
	return MethodSig{}
}

// params reads the part of a method's or property's signature after the first byte.
func (r *sigReader) params(c CallConv, depth int) MethodSig {
	m := MethodSig{Conv: c, Sentinel: -1}
	if c&CallGeneric != 0 {
		m.GenericParams = r.uint()
	}
	n := r.uint()
	if uint64(n) > uint64(r.left()) {
		r.fail("%d parameters in %d bytes", n, r.left())
		return m
	}
	m.Return = r.typ(depth + 1)
	m.Params = makeTypes(int(n))
	for range n {
		if ElementType(r.peek()) == ElementSentinel && m.Sentinel < 0 {
			r.byte()
			m.Sentinel = len(m.Params)
		}
		m.Params = append(m.Params, r.typ(depth+1))
		if r.err != nil {
			return m
		}
	}
	return m
}

// makeTypes returns an empty slice for n types with little capacity: n is bounded by the bytes left, but each
// level of a nested signature could claim that many.
func makeTypes(n int) []TypeSig {
	if n == 0 {
		return nil
	}
	return make([]TypeSig, 0, min(n, 8))
}

func (r *sigReader) types(n, depth int) []TypeSig {
	ts := makeTypes(n)
	for range n {
		ts = append(ts, r.typ(depth+1))
		if r.err != nil {
			break
		}
	}
	return ts
}

func (r *sigReader) elem(depth int) *TypeSig {
	t := r.typ(depth + 1)
	return &t
}

// typ reads a type. After a failure the type is incomplete; finish drops it.
func (r *sigReader) typ(depth int) TypeSig {
	t := TypeSig{Kind: ElementType(r.byte())}
	if depth > limits.SignatureDepth && r.err == nil {
		r.err = target.Limitf("signature: nested more than %d deep", limits.SignatureDepth)
	}
	if r.err != nil {
		return TypeSig{}
	}
	switch t.Kind {
	case ElementValueType, ElementClass:
		t.Token = r.token()
	case ElementVar, ElementMVar:
		t.Number = r.uint()
	case ElementPtr, ElementByRef, ElementSZArray, ElementPinned:
		t.Elem = r.elem(depth)
	case ElementArray:
		t.Elem = r.elem(depth)
		t.Shape = r.shape()
	case ElementGenericInst:
		t.Elem = r.elem(depth)
		t.Args = r.genericArgs(depth)
	case ElementFnPtr:
		m := r.method(depth + 1)
		t.Method = &m
	case ElementCModReqd, ElementCModOpt:
		t.Token = r.token()
		t.Elem = r.elem(depth)
	case ElementInternal:
		t.Handle = r.pointer()
	case ElementCModInternal:
		t.Required = r.byte() != 0
		t.Handle = r.pointer()
		t.Elem = r.elem(depth)
	case elementModule:
		if r.image {
			r.foreign = r.uint() != 0 || r.foreign
			return r.typ(depth + 1)
		}
		fallthrough
	default:
		if !t.Kind.IsPrimitive() && !(r.image && t.Kind == ElementCanon) {
			r.off--
			r.fail("element type %#x", uint8(t.Kind))
		}
	}
	return t
}

func (r *sigReader) genericArgs(depth int) []TypeSig {
	n := r.count()
	if n > limits.GenericArguments {
		r.fail("%d generic arguments", n)
		return nil
	}
	return r.types(n, depth)
}

// shape reads the shape of a general array (ECMA-335 II.23.2.13).
func (r *sigReader) shape() *ArrayShape {
	s := &ArrayShape{Rank: r.uint()}
	if s.Rank == 0 || s.Rank > limits.ArrayRank {
		r.fail("array of rank %d", s.Rank)
	}
	if n := r.dimensions(s.Rank); n > 0 {
		s.Sizes = make([]uint32, n)
		for i := range s.Sizes {
			s.Sizes[i] = r.uint()
		}
	}
	if n := r.dimensions(s.Rank); n > 0 {
		s.LowerBounds = make([]int32, n)
		for i := range s.LowerBounds {
			s.LowerBounds[i] = r.int()
		}
	}
	return s
}

// dimensions reads the number of dimensions that have a size, or a lower bound.
func (r *sigReader) dimensions(rank uint32) int {
	n := r.count()
	if r.err == nil && n > int(rank) {
		r.fail("%d bounds for an array of rank %d", n, rank)
	}
	if r.err != nil {
		return 0
	}
	return n
}
