package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A MethodStyle is a form of a method's name.
type MethodStyle uint8

const (
	// MethodFull is SOS's form with type, name, generic arguments and parameters: "Ns.Type`1[[System.__Canon,
	// System.Private.CoreLib]].Name(Int32)".
	MethodFull MethodStyle = iota
	// MethodQualified is the type's name in ClrMD's style with the method's name:
	// "Ns.Type<System.__Canon>.Name".
	MethodQualified
)

// Class names of methods without metadata (typestring.cpp, TypeString::AppendMethodInternal).
const (
	lcgClass  = "DynamicClass"
	stubClass = "ILStubClass"
)

// dynamicLCG names the flag of a System.Reflection.Emit.DynamicMethod in StoredSigMethodDesc's extended flags.
// IL stubs lack it.
const dynamicLCG = "DynamicMethodLCGFlag"

type methodNameKey struct {
	md    target.Addr
	style MethodStyle
}

// MethodName returns the name of m, and caches it. It returns target.ErrUnsupported for nil: the code of a stub
// has no method.
func (r *CodeReader) MethodName(m *MethodDesc, style MethodStyle) (string, error) {
	if m == nil {
		return "", errNoMethod
	}
	k := methodNameKey{m.Addr, style}
	if s, ok := r.names.Load(k); ok {
		return s.(string), nil
	}
	s, err := r.methodName(m, style)
	if err != nil {
		return "", fmt.Errorf("name of method %016x: %w", uint64(m.Addr), err)
	}
	r.names.Store(k, s)
	return s, nil
}

func (r *CodeReader) methodName(m *MethodDesc, style MethodStyle) (string, error) {
	if style == MethodQualified {
		class, err := m.className(NameManaged)
		if err != nil {
			return "", err
		}
		name, err := m.Name()
		return class + "." + name, err
	}
	class, err := m.className(NameNative)
	if err != nil {
		return "", err
	}
	typeArgs, methodArgs, err := m.arguments()
	if err != nil {
		return "", err
	}
	return m.fullName(class, typeArgs, methodArgs)
}

// MethodNameIn returns the full name of m with the type arguments of c in place of m's own. These are shared
// ones (System.__Canon) for code that instances share.
func (r *CodeReader) MethodNameIn(m *MethodDesc, c SigContext) (string, error) {
	if m == nil {
		return "", errNoMethod
	}
	class, err := m.className(NameNative)
	if err == nil && len(c.TypeArgs) > 0 {
		var mt *MethodTable
		if mt, err = r.Runtime().MethodTable(m.MethodTable); err == nil {
			class, err = r.Runtime().instanceName(mt, c.TypeArgs)
		}
	}
	if err == nil {
		class, err = m.fullName(class, c.TypeArgs, c.MethodArgs)
	}
	if err != nil {
		return "", fmt.Errorf("name of method %016x: %w", uint64(m.Addr), err)
	}
	return class, nil
}

// fullName returns the MethodFull name with the class and type arguments.
func (m *MethodDesc) fullName(class string, typeArgs, methodArgs []target.Addr) (string, error) {
	name, err := m.Name()
	if err != nil {
		return "", err
	}
	list, err := m.r.Runtime().typeArgumentNames(methodArgs)
	if err != nil {
		return "", err
	}
	sig, md, err := m.Signature()
	if err != nil {
		return "", err
	}
	return metadata.FormatMethod(class+"."+name+list, &sig, m.r.Runtime().sigNames(md, typeArgs, methodArgs)), nil
}

// className returns the type's name before a method's name.
func (m *MethodDesc) className(style NameStyle) (string, error) {
	if m == nil {
		return "", errNoMethod
	}
	if m.Kind != MethodDynamic {
		return m.r.Runtime().TypeName(m.MethodTable, style)
	}
	lcg, err := m.IsLCG()
	if err != nil || lcg {
		return lcgClass, err
	}
	return stubClass, nil
}

// IsLCG reports whether the method is a System.Reflection.Emit.DynamicMethod. Other methods without metadata
// are stubs of the runtime.
func (m *MethodDesc) IsLCG() (bool, error) {
	if m == nil {
		return false, errNoMethod
	}
	if m.Kind != MethodDynamic {
		return false, nil
	}
	c, err := m.r.members()
	if err != nil {
		return false, err
	}
	mask, err := m.r.Runtime().Layout().Uint(dynamicLCG)
	if err != nil {
		return false, err
	}
	flags, err := m.r.u32(m.Addr, c.StoredSig.Flags, "StoredSigMethodDesc.ExtendedFlags")
	return uint64(flags)&mask != 0, err
}

// Name returns the method's own name, such as ".ctor".
func (m *MethodDesc) Name() (string, error) {
	switch m.Kind {
	case MethodArray:
		return m.arrayName()
	case MethodDynamic:
		c, err := m.r.members()
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

// arrayMethods are the methods of each array type after the virtual ones, in the order of their slots
// (array.cpp, ArrayMethodDesc). From the fourth on all are constructors.
var arrayMethods = [...]string{"Get", "Set", "Address", ".ctor"}

func (m *MethodDesc) arrayName() (string, error) {
	mt, err := m.r.Runtime().TrustedMethodTable(m.MethodTable)
	if err != nil {
		return "", err
	}
	if m.Slot < mt.NumVirtuals {
		return "", target.Corruptf("array method in slot %d of %d virtual ones", m.Slot, mt.NumVirtuals)
	}
	return arrayMethods[min(int(m.Slot-mt.NumVirtuals), len(arrayMethods)-1)], nil
}

// Signature decodes the method's signature. It also returns the metadata of its tokens, nil for methods of
// arrays.
func (m *MethodDesc) Signature() (metadata.MethodSig, *metadata.Metadata, error) {
	b, md, err := m.signatureBlob()
	if err != nil {
		return metadata.MethodSig{}, nil, err
	}
	sig, err := metadata.ParseMethodSig(b)
	if n := len(b) - 1; err != nil && n >= 0 && b[n] == byte(metadata.ElementEnd) {
		// Stubs for calls from unmanaged code store a terminator.
		if cut, cutErr := metadata.ParseMethodSig(b[:n]); cutErr == nil {
			sig, err = cut, nil
		}
	}
	return sig, md, err
}

// signatureBlob returns the method's signature: from metadata, or from memory for generated methods.
func (m *MethodDesc) signatureBlob() ([]byte, *metadata.Metadata, error) {
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
	c, err := m.r.members()
	if err != nil {
		return nil, nil, err
	}
	if c.StoredSig.Sig == layout.Absent {
		return nil, nil, &layout.Error{Type: "StoredSigMethodDesc", Field: "Sig"}
	}
	rd := layout.Reader{Mem: m.r.mem, Base: m.Addr}
	at, size := rd.Ptr(c.StoredSig.Sig), rd.U32(c.StoredSig.Size)
	if rd.Err != nil {
		return nil, nil, rd.Err
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
	// The signature of a dynamic method refers to types by their handles and works without metadata.
	md, err := mod.Metadata()
	if err != nil {
		return b, nil, nil
	}
	return b, md, nil
}

// arguments returns the type arguments of the method's type and of the method. For an array's method it returns
// the element type.
func (m *MethodDesc) arguments() (ofType, ofMethod []target.Addr, err error) {
	mt, err := m.r.Runtime().TrustedMethodTable(m.MethodTable)
	if err != nil {
		return nil, nil, err
	}
	if mt.IsArray() {
		return []target.Addr{mt.PerInstInfo}, nil, nil
	}
	if ofType, err = m.r.Runtime().TypeArguments(mt); err != nil {
		return nil, nil, err
	}
	ofMethod, err = m.TypeArguments()
	return ofType, ofMethod, err
}
