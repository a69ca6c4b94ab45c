package metadata

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
)

// A Resolver names the parts of a signature. Its methods return "" for unknown names. Functions that take a
// Resolver accept nil, and then print numbers: tokens as "0x01000012".
type Resolver interface {
	// TypeName returns the name of a TypeDef, TypeRef or TypeSpec.
	TypeName(t Token) string
	// Var returns the n-th generic argument of the type, and MVar that of the method.
	Var(n uint32) string
	MVar(n uint32) string
	// TypeHandle returns the name of a loaded type by its address.
	TypeHandle(addr uint64) string
}

// Names returns a Resolver for the tokens of md. It returns "Ns.Name", or only the own name of a nested type,
// as the runtime prints signatures (vm/sigformat.cpp). It does not name generic arguments and type handles.
func (md *Metadata) Names() Resolver { return tokenNames{md} }

type tokenNames struct{ md *Metadata }

func (n tokenNames) TypeName(t Token) string {
	var ns, name string
	var err error
	switch t.Table() {
	case TableTypeDef:
		ns, name, err = n.md.TypeDefName(t.Row())
	case TableTypeRef:
		ns, name, err = n.md.TypeRefName(t.Row())
	}
	if err != nil || ns == "" {
		return name
	}
	return ns + "." + name
}

func (tokenNames) Var(uint32) string        { return "" }
func (tokenNames) MVar(uint32) string       { return "" }
func (tokenNames) TypeHandle(uint64) string { return "" }

// numbers is the Resolver in place of nil.
type numbers struct{}

func (numbers) TypeName(t Token) string       { return fmt.Sprintf("0x%08x", uint32(t)) }
func (numbers) Var(uint32) string             { return "" }
func (numbers) MVar(uint32) string            { return "" }
func (numbers) TypeHandle(addr uint64) string { return fmt.Sprintf("%016x", addr) }

// orNumbers returns r, or numbers if r is nil.
func orNumbers(r Resolver) Resolver {
	if r == nil {
		return numbers{}
	}
	return r
}

// unknownType replaces a missing name, as in the runtime.
const unknownType = "**UNKNOWN TYPE**"

// FormatMethod returns a method's name with its parameters in SOS's style: "Ns.Type.Name(Int32, System.String,
// Byte ByRef)".
func FormatMethod(name string, m *MethodSig, r Resolver) string {
	return string(appendParams([]byte(name), m, r))
}

// appendParams appends the parameters of a method in SOS's style, in parentheses.
func appendParams(dst []byte, m *MethodSig, r Resolver) []byte {
	dst = append(dst, '(')
	params := m.FixedParams()
	for i := range params {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendType(dst, &params[i], r)
	}
	return append(appendVarArgs(dst, m, len(params)), ')')
}

func appendVarArgs(dst []byte, m *MethodSig, fixed int) []byte {
	if m == nil || m.Conv.Kind() != CallVarArg {
		return dst
	}
	if fixed > 0 {
		dst = append(dst, ", "...)
	}
	return append(dst, "..."...)
}

// FormatType returns a type in SOS's style: primitive types without namespace,
// String and Object with it (runtime: vm/sigformat.cpp, SigFormat).
func FormatType(t *TypeSig, r Resolver) string { return string(AppendType(nil, t, r)) }

// AppendType appends the result of FormatType.
func AppendType(dst []byte, t *TypeSig, r Resolver) []byte {
	r = orNumbers(r)
	if t = t.Unmodified(); t == nil {
		return dst
	}
	switch t.Kind {
	case ElementValueType, ElementClass:
		return append(dst, r.TypeName(t.Token)...)
	case ElementInternal:
		return appendName(dst, r.TypeHandle(t.Handle))
	case ElementVar:
		return appendVar(dst, "!", t.Number, r.Var(t.Number))
	case ElementMVar:
		return appendVar(dst, "!!", t.Number, r.MVar(t.Number))
	case ElementByRef:
		return append(AppendType(dst, t.Elem, r), " ByRef"...)
	case ElementPtr:
		return append(AppendType(dst, t.Elem, r), '*')
	case ElementSZArray:
		return append(AppendType(dst, t.Elem, r), "[]"...)
	case ElementArray:
		dst = append(AppendType(dst, t.Elem, r), '[')
		for range t.Shape.Rank - 1 {
			dst = append(dst, ',')
		}
		return append(dst, ']')
	case ElementGenericInst:
		return appendGeneric(dst, t, r, AppendType)
	case ElementFnPtr:
		dst = append(AppendType(dst, &t.Method.Return, r), ' ')
		return appendParams(dst, t.Method, r)
	}
	return appendName(dst, clrName(t.Kind))
}

type typeAppender func(dst []byte, t *TypeSig, r Resolver) []byte

// appendGeneric appends "Type<arg,arg>".
func appendGeneric(dst []byte, t *TypeSig, r Resolver, one typeAppender) []byte {
	dst = append(one(dst, t.Elem, r), '<')
	for i := range t.Args {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, &t.Args[i], r)
	}
	return append(dst, '>')
}

func appendVar(dst []byte, prefix string, n uint32, name string) []byte {
	if name != "" {
		return append(dst, name...)
	}
	return strconv.AppendUint(append(dst, prefix...), uint64(n), 10)
}

func appendName(dst []byte, s string) []byte { return append(dst, cmp.Or(s, unknownType)...) }

// clrName returns SOS's name of a primitive type, or "" for other element types.
func clrName(e ElementType) string {
	switch e {
	case ElementVoid, ElementBoolean, ElementChar:
		return e.String()
	case ElementI1:
		return "SByte"
	case ElementU1:
		return "Byte"
	case ElementI2:
		return "Int16"
	case ElementU2:
		return "UInt16"
	case ElementI4:
		return "Int32"
	case ElementU4:
		return "UInt32"
	case ElementI8:
		return "Int64"
	case ElementU8:
		return "UInt64"
	case ElementR4:
		return "Single"
	case ElementR8:
		return "Double"
	case ElementI:
		return "IntPtr"
	case ElementU:
		return "UIntPtr"
	case ElementString:
		return "System.String"
	case ElementObject:
		return "System.Object"
	case ElementTypedByRef:
		return "TypedReference"
	case ElementCanon:
		return "System.__Canon"
	}
	return ""
}

// FormatMethodECMA returns a method in the style of dumpsig and clrstack -i: "[DEFAULT] [hasThis] Boolean
// Ns.Type.Name(I4,ByRef Class System.Exception)". With an empty name it returns the return type and the
// parameters.
func FormatMethodECMA(name string, m *MethodSig, r Resolver) string {
	if m == nil {
		return name
	}
	dst := appendConv(nil, m.Conv)
	if m.Conv&CallGeneric != 0 {
		dst = strconv.AppendUint(append(dst, " [generic:"...), uint64(m.GenericParams), 10)
		dst = append(dst, ']')
	}
	dst = appendTypeECMA(append(dst, ' '), &m.Return, r)
	if name != "" {
		dst = append(append(dst, ' '), name...)
	}
	return string(appendParamsECMA(dst, m, r))
}

func appendConv(dst []byte, c CallConv) []byte {
	names := [...]string{
		CallDefault: "[DEFAULT]", CallC: "[C]", CallStdCall: "[STDCALL]", CallThisCall: "[THISCALL]",
		CallFastCall: "[FASTCALL]", CallVarArg: "[VARARG]", CallField: "[FIELD]",
		CallLocalSig: "[LOCALSIG]", CallProperty: "[PROPERTY]", CallUnmanaged: "[UNMANAGED]",
		CallGenericInst: "[GENERICINST]", CallNativeVarArg: "[NATIVEVARARG]",
	}
	if k := c.Kind(); int(k) < len(names) {
		dst = append(dst, names[k]...)
	}
	if c.HasThis() {
		dst = append(dst, " [hasThis]"...)
	}
	if c&CallExplicitThis != 0 {
		dst = append(dst, " [explicit]"...)
	}
	return dst
}

func appendParamsECMA(dst []byte, m *MethodSig, r Resolver) []byte {
	dst = append(dst, '(')
	for i := range m.Params {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == m.Sentinel {
			dst = append(dst, "<ELEMENT_TYPE_SENTINEL> "...)
		}
		dst = appendTypeECMA(dst, &m.Params[i], r)
	}
	return append(dst, ')')
}

// FormatTypeECMA returns a type in the style of dumpsigelem: "SZArray ValueType Ns.Name".
func FormatTypeECMA(t *TypeSig, r Resolver) string { return string(appendTypeECMA(nil, t, r)) }

// appendTypeECMA appends the result of FormatTypeECMA.
func appendTypeECMA(dst []byte, t *TypeSig, r Resolver) []byte {
	if t == nil {
		return dst
	}
	r = orNumbers(r)
	switch t.Kind {
	case ElementValueType, ElementClass:
		dst = append(append(dst, t.Kind.String()...), ' ')
		return append(dst, r.TypeName(t.Token)...)
	case ElementInternal:
		dst = append(dst, "Internal "...)
		return appendName(dst, r.TypeHandle(t.Handle))
	case ElementVar:
		return appendVar(dst, "!", t.Number, r.Var(t.Number))
	case ElementMVar:
		return appendVar(dst, "!!", t.Number, r.MVar(t.Number))
	case ElementByRef, ElementPtr, ElementSZArray:
		dst = append(append(dst, t.Kind.String()...), ' ')
		return appendTypeECMA(dst, t.Elem, r)
	case ElementPinned:
		return appendTypeECMA(append(dst, "PINNED "...), t.Elem, r)
	case ElementArray:
		dst = appendTypeECMA(append(dst, "MDArray "...), t.Elem, r)
		return appendShapeECMA(dst, t.Shape)
	case ElementGenericInst:
		return appendGeneric(dst, t, r, appendTypeECMA)
	case ElementCModReqd, ElementCModOpt, ElementCModInternal:
		return appendModified(dst, t, r)
	case ElementFnPtr:
		dst = appendConv(append(dst, "FNPTR "...), t.Method.Conv)
		dst = appendTypeECMA(append(dst, ' '), &t.Method.Return, r)
		return appendParamsECMA(dst, t.Method, r)
	case ElementI, ElementU, ElementTypedByRef:
		return append(dst, clrName(t.Kind)...)
	}
	return append(dst, t.Kind.String()...)
}

// appendModified appends a custom modifier and the type that it modifies.
func appendModified(dst []byte, t *TypeSig, r Resolver) []byte {
	name := r.TypeName(t.Token)
	required := t.Kind == ElementCModReqd
	if t.Kind == ElementCModInternal {
		name, required = r.TypeHandle(t.Handle), t.Required
	}
	if required {
		dst = append(dst, "CMOD_REQD "...)
	} else {
		dst = append(dst, "CMOD_OPT "...)
	}
	dst = append(appendName(dst, name), ' ')
	return appendTypeECMA(dst, t.Elem, r)
}

// appendShapeECMA appends the rank, the number of sizes and the sizes, the number of lower bounds and the lower bounds.
func appendShapeECMA(dst []byte, s *ArrayShape) []byte {
	dst = strconv.AppendUint(append(dst, ' '), uint64(s.Rank), 10)
	dst = strconv.AppendInt(append(dst, ' '), int64(len(s.Sizes)), 10)
	for _, n := range s.Sizes {
		dst = strconv.AppendUint(append(dst, ' '), uint64(n), 10)
	}
	dst = strconv.AppendInt(append(dst, ' '), int64(len(s.LowerBounds)), 10)
	for _, n := range s.LowerBounds {
		dst = strconv.AppendInt(append(dst, ' '), int64(n), 10)
	}
	return dst
}

// MethodDefName returns the name of the method in row rid of MethodDef, with its type and parameters.
func (md *Metadata) MethodDefName(rid uint32) (string, error) {
	row, err := md.MethodDef(rid)
	if err != nil {
		return "", err
	}
	owner, err1 := md.MethodOwner(rid)
	full, err2 := md.TypeDefFullName(owner)
	name, err3 := md.String(row.Name)
	blob, err4 := md.Blob(row.Signature)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return "", err
	}
	sig, err := ParseMethodSig(blob)
	if err != nil {
		return "", err
	}
	return FormatMethod(full+"."+name, &sig, md.Names()), nil
}
