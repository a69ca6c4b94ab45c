package dac

import (
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// sigNames returns a resolver for the names in a signature: tokens of md (may be nil), TypeHandles, and type
// parameters by the TypeHandles of their arguments. Names have the style of signatures (sigformat.cpp,
// SigFormat::AddType): primitive types without namespace, nested types by their own name. An unknown name is
// "".
func (r *Runtime) sigNames(md *metadata.Metadata, typeArgs, methodArgs []target.Addr) metadata.Resolver {
	s := &sigNames{r: r, typeArgs: typeArgs, methodArgs: methodArgs}
	if md != nil {
		s.names = md.Names()
	}
	return s
}

// sigNames is a metadata.Resolver over loaded types.
type sigNames struct {
	r          *Runtime
	names      metadata.Resolver // names of tokens; may be nil
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

// TypeHandle implements metadata.Resolver. It returns "" for a type without a readable name.
func (s *sigNames) TypeHandle(th uint64) string {
	b, err := s.r.appendSigType(nil, target.Addr(th), 0)
	if err != nil {
		return ""
	}
	return string(b)
}

// appendSigType appends a loaded type in the style of signatures (sigformat.cpp, SigFormat::AddType): primitive
// types without namespace, nested types by their own name, generic arguments in angle brackets.
func (r *Runtime) appendSigType(dst []byte, th target.Addr, depth int) ([]byte, error) {
	if depth > limits.TypeNameDepth || len(dst) > maxTypeName {
		return nil, target.Limitf("type %016x is nested deeper, or its name is longer, than sosgo reads", uint64(th))
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
		if !class.ElementType.IsPrimitive() {
			return nil, target.Corruptf("EEClass %016x of a primitive type has element type %v", uint64(class.Addr), class.ElementType)
		}
		primitive := metadata.AppendType(nil, &metadata.TypeSig{Kind: class.ElementType}, nil)
		if name, err := r.definedName(mt); err == nil && name != "System."+string(primitive) {
			return nil, target.Corruptf("EEClass %016x of %s has element type %v", uint64(class.Addr), name, class.ElementType)
		}
		return append(dst, primitive...), nil
	}
	if _, err := r.definedName(mt); err != nil {
		return nil, err
	}
	m, err := r.ModuleOf(mt)
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
		if i == 0 {
			dst = append(dst, '<')
		} else {
			dst = append(dst, ',')
		}
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

// typeVarNumber returns the position of a type parameter.
func (r *Runtime) typeVarNumber(a target.Addr) (uint32, error) {
	rd := layout.Reader{Mem: r.mem, Base: a}
	module, token := rd.Ptr(r.off.TypeVar.Module), metadata.Token(rd.U32(r.off.TypeVar.Token))
	if rd.Err != nil {
		return 0, rd.Err
	}
	m, err := r.TrustedModule(module)
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

// noNames resolves no name, so that type parameters are printed as numbers.
type noNames struct{}

func (noNames) TypeName(metadata.Token) string { return "" }
func (noNames) Var(uint32) string              { return "" }
func (noNames) MVar(uint32) string             { return "" }
func (noNames) TypeHandle(uint64) string       { return "" }
