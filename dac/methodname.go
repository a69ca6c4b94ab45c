package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A MethodStyle is a form of a method's name.
type MethodStyle uint8

const (
	// MethodFull is what SOS prints: type, name, generic arguments, parameters:
	// "Ns.Type`1[[System.__Canon, System.Private.CoreLib]].Name(Int32)".
	MethodFull MethodStyle = iota
	// MethodQualified is the type's name and the method's: "Ns.Type.Name".
	MethodQualified
)

// The classes that the runtime names for methods without metadata
// (typestring.cpp, TypeString::AppendMethodInternal).
const (
	dynamicClass = "DynamicClass"
	stubClass    = "ILStubClass"
)

// extendedLCG marks a System.Reflection.Emit.DynamicMethod, as against an IL
// stub, in StoredSigMethodDesc's extended flags.
const dynamicLCG = "DynamicMethodLCGFlag"

type methodNameKey struct {
	md    target.Addr
	style MethodStyle
}

// MethodName returns the name of m. It is kept.
func (r *Runtime) MethodName(m *MethodDesc, style MethodStyle) (string, error) {
	k := methodNameKey{m.Addr, style}
	if s, ok := r.code.names.Load(k); ok {
		return s.(string), nil
	}
	s, err := r.methodName(m, style)
	if err != nil {
		return "", fmt.Errorf("name of method %016x: %w", uint64(m.Addr), err)
	}
	r.code.names.Store(k, s)
	return s, nil
}

func (r *Runtime) methodName(m *MethodDesc, style MethodStyle) (string, error) {
	class, err := m.className()
	if err != nil {
		return "", err
	}
	name, err := m.Name()
	if err != nil {
		return "", err
	}
	if name = class + "." + name; style == MethodQualified {
		return name, nil
	}
	args, err := m.TypeArguments()
	if err != nil {
		return "", err
	}
	f := nameFormatter{r: r, style: NameNative}
	f.b.WriteString(name)
	if err := f.arguments(args, 0); err != nil {
		return "", err
	}
	sig, md, err := m.Signature()
	if err != nil {
		return "", err
	}
	res, err := m.resolver(md)
	if err != nil {
		return "", err
	}
	return metadata.FormatMethod(f.b.String(), &sig, res), nil
}

// className is the name of the type in front of a method's name.
func (m *MethodDesc) className() (string, error) {
	if m.Kind != MethodDynamic {
		return m.r.TypeName(m.MethodTable, NameNative)
	}
	lcg, err := m.IsLCG()
	if err != nil || lcg {
		return dynamicClass, err
	}
	return stubClass, nil
}

// IsLCG reports whether the method is a System.Reflection.Emit.DynamicMethod.
// The other methods without metadata are stubs that the runtime made.
func (m *MethodDesc) IsLCG() (bool, error) {
	if m.Kind != MethodDynamic {
		return false, nil
	}
	c, err := m.r.codeLayout()
	if err != nil {
		return false, err
	}
	mask, err := m.r.layout.Uint(dynamicLCG)
	if err != nil {
		return false, err
	}
	flags, err := m.r.u32(m.Addr, c.StoredSig.Flags, "StoredSigMethodDesc.ExtendedFlags")
	return uint64(flags)&mask != 0, err
}

// Name is the method's own name, such as ".ctor".
func (m *MethodDesc) Name() (string, error) {
	switch m.Kind {
	case MethodArray:
		return m.arrayName()
	case MethodDynamic:
		c, err := m.r.codeLayout()
		if err != nil {
			return "", err
		}
		at, err := m.r.ptr(m.Addr, c.Dynamic.Name, "DynamicMethodDesc.MethodName")
		if err != nil {
			return "", err
		}
		return target.CString(m.r.mem, at, limits.IdentifierBytes)
	}
	md, row, err := m.def()
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

// arrayMethods are the methods that each array type has behind the virtual
// ones, in the order of their slots (array.cpp, ArrayMethodDesc); from the
// fourth on all are constructors.
var arrayMethods = [...]string{"Get", "Set", "Address", ".ctor"}

func (m *MethodDesc) arrayName() (string, error) {
	mt, err := m.r.TrustedMethodTable(m.MethodTable)
	if err != nil {
		return "", err
	}
	if m.Slot < mt.NumVirtuals {
		return "", target.Corruptf("array method in slot %d of %d virtual ones", m.Slot, mt.NumVirtuals)
	}
	return arrayMethods[min(int(m.Slot-mt.NumVirtuals), len(arrayMethods)-1)], nil
}

// Signature decodes the method's signature and returns the metadata that its
// tokens belong to, nil for the methods of arrays.
func (m *MethodDesc) Signature() (metadata.MethodSig, *metadata.Metadata, error) {
	b, md, err := m.SignatureBlob()
	if err != nil {
		return metadata.MethodSig{}, nil, err
	}
	sig, err := metadata.ParseMethodSig(b)
	if n := len(b) - 1; err != nil && n >= 0 && b[n] == byte(metadata.ElementEnd) {
		// The stubs for calls from unmanaged code store a terminator.
		if cut, cutErr := metadata.ParseMethodSig(b[:n]); cutErr == nil {
			sig, err = cut, nil
		}
	}
	return sig, md, err
}

// SignatureBlob is the method's signature as it is stored: in metadata, or in
// memory for the methods that the runtime made.
func (m *MethodDesc) SignatureBlob() ([]byte, *metadata.Metadata, error) {
	if m.Kind == MethodArray || m.Kind == MethodDynamic {
		return m.storedSignature()
	}
	md, row, err := m.def()
	if err != nil {
		return nil, nil, err
	}
	b, err := md.Blob(row.Signature)
	return b, md, err
}

func (m *MethodDesc) storedSignature() ([]byte, *metadata.Metadata, error) {
	c, err := m.r.codeLayout()
	if err != nil {
		return nil, nil, err
	}
	if c.StoredSig.Sig == layout.Absent {
		return nil, nil, &layout.Error{Type: "StoredSigMethodDesc", Field: "Sig"}
	}
	rd := reader{mem: m.r.mem, base: m.Addr}
	at, size := rd.ptr(c.StoredSig.Sig), rd.u32(c.StoredSig.Size)
	if rd.err != nil {
		return nil, nil, rd.err
	}
	if size > limits.SignatureBytes {
		return nil, nil, target.Corruptf("signature of %d bytes", size)
	}
	b, err := target.Bytes(m.r.mem, at, int(size))
	if err != nil {
		return nil, nil, err
	}
	if m.Kind == MethodArray {
		return b, nil, nil
	}
	mod, err := m.Module()
	if err != nil {
		return nil, nil, err
	}
	// The signature of a dynamic method names types by their handles: it needs
	// no metadata, and its module may have none.
	md, err := mod.Metadata()
	if err != nil {
		return b, nil, nil
	}
	return b, md, nil
}

// resolver names what the method's signature refers to: tokens of md and the
// exact generic arguments of its type and of itself.
func (m *MethodDesc) resolver(md *metadata.Metadata) (metadata.Resolver, error) {
	mt, err := m.r.TrustedMethodTable(m.MethodTable)
	if err != nil {
		return nil, err
	}
	s := &sigNames{r: m.r}
	if md != nil {
		s.names = md.Names()
	}
	if mt.IsArray() {
		s.typeArgs = []target.Addr{mt.PerInstInfo}
		return s, nil
	}
	if s.typeArgs, err = m.r.TypeArguments(mt); err != nil {
		return nil, err
	}
	s.methodArgs, err = m.TypeArguments()
	return s, err
}

// sigNames is a metadata.Resolver over loaded types.
type sigNames struct {
	r          *Runtime
	names      metadata.Resolver // of tokens; may be nil
	typeArgs   []target.Addr
	methodArgs []target.Addr
}

// TypeName implements metadata.Resolver.
func (s *sigNames) TypeName(t metadata.Token) string {
	if s.names == nil {
		return ""
	}
	return s.names.TypeName(t)
}

// Var implements metadata.Resolver.
func (s *sigNames) Var(n uint32) string { return s.argument(s.typeArgs, n) }

// MVar implements metadata.Resolver.
func (s *sigNames) MVar(n uint32) string { return s.argument(s.methodArgs, n) }

func (s *sigNames) argument(args []target.Addr, n uint32) string {
	if uint64(n) >= uint64(len(args)) {
		return ""
	}
	return s.TypeHandle(uint64(args[n]))
}

// TypeHandle implements metadata.Resolver. A type that can't be named is "".
func (s *sigNames) TypeHandle(th uint64) string {
	b, err := s.r.appendSigType(nil, target.Addr(th), 0)
	if err != nil {
		return ""
	}
	return string(b)
}

// appendSigType appends a loaded type in the style of signatures (sigformat.cpp,
// SigFormat::AddType): primitive types without namespace, nested ones by their
// own name, generic arguments in angle brackets.
func (r *Runtime) appendSigType(dst []byte, th target.Addr, depth int) ([]byte, error) {
	if depth > limits.TypeNameDepth || len(dst) > maxTypeName {
		return nil, target.Corruptf("type %016x is nested too deeply", uint64(th))
	}
	if th&2 != 0 {
		return r.appendSigTypeDesc(dst, th&^2, depth)
	}
	mt, err := r.TrustedMethodTable(th)
	if err != nil {
		return nil, err
	}
	if mt.IsArray() {
		return r.appendSigArray(dst, mt, depth)
	}
	if mt.Category() == CategoryTruePrimitive {
		class, err := r.EEClass(mt)
		if err != nil {
			return nil, err
		}
		return metadata.AppendType(dst, &metadata.TypeSig{Kind: class.ElementType}, nil), nil
	}
	m, err := r.Module(mt.Module)
	if err != nil {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	dst = append(dst, md.Names().TypeName(mt.Token)...)
	args, err := r.TypeArguments(mt)
	if err != nil || len(args) == 0 {
		return dst, err
	}
	for i, a := range args {
		dst = append(dst, "<,"[boolInt(i > 0)])
		if dst, err = r.appendSigType(dst, a, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '>'), nil
}

func (r *Runtime) appendSigArray(dst []byte, mt *MethodTable, depth int) ([]byte, error) {
	rank, err := r.ArrayRank(mt)
	if err != nil {
		return nil, err
	}
	if dst, err = r.appendSigType(dst, mt.PerInstInfo, depth+1); err != nil {
		return nil, err
	}
	dst = append(dst, '[')
	for range rank - 1 {
		dst = append(dst, ',')
	}
	return append(dst, ']'), nil
}

func (r *Runtime) appendSigTypeDesc(dst []byte, a target.Addr, depth int) ([]byte, error) {
	flags, err := r.u32(a, r.off.TypeDesc.TypeAndFlags, "TypeDesc.TypeAndFlags")
	if err != nil {
		return nil, err
	}
	et := metadata.ElementType(flags & 0xff)
	suffix, ok := map[metadata.ElementType]string{metadata.ElementPtr: "*", metadata.ElementByRef: " ByRef",
		metadata.ElementSZArray: "[]", metadata.ElementArray: "[,]"}[et]
	switch {
	case ok:
		arg, err := r.ptr(a, r.off.ParamTypeDesc.TypeArg, "ParamTypeDesc.TypeArg")
		if err != nil {
			return nil, err
		}
		if dst, err = r.appendSigType(dst, arg, depth+1); err != nil {
			return nil, err
		}
		return append(dst, suffix...), nil
	case et == metadata.ElementFnPtr:
		return append(dst, "(FNPTR)"...), nil
	case et == metadata.ElementVar || et == metadata.ElementMVar:
		n, err := r.typeVarNumber(a)
		return metadata.AppendType(dst, &metadata.TypeSig{Kind: et, Number: n}, noNames{}), err
	}
	return nil, target.Corruptf("TypeDesc %016x of element type %#x", uint64(a), uint8(et))
}

// typeVarNumber is the position of a type parameter.
func (r *Runtime) typeVarNumber(a target.Addr) (uint32, error) {
	rd := reader{mem: r.mem, base: a}
	module, token := rd.ptr(r.off.TypeVar.Module), metadata.Token(rd.u32(r.off.TypeVar.Token))
	if rd.err != nil {
		return 0, rd.err
	}
	m, err := r.Module(module)
	if err != nil {
		return 0, err
	}
	md, err := m.Metadata()
	if err != nil {
		return 0, err
	}
	row, err := md.GenericParam(token.Row())
	return uint32(row.Number), err
}

// noNames names nothing, so that type parameters are printed as numbers.
type noNames struct{}

func (noNames) TypeName(metadata.Token) string { return "" }
func (noNames) Var(uint32) string              { return "" }
func (noNames) MVar(uint32) string             { return "" }
func (noNames) TypeHandle(uint64) string       { return "" }
