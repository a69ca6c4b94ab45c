package dac

import (
	"cmp"
	"errors"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A SigContext resolves the references in a signature: tokens in a module, and type parameters by TypeHandles.
type SigContext struct {
	Module     *Module
	TypeArgs   []target.Addr
	MethodArgs []target.Addr
}

// ResolveType returns the TypeHandle of the type described by sig, or 0 if the process has not loaded it. It
// returns an error if the structures that decide are not in the dump, or are damaged.
func (r *Runtime) ResolveType(sig *metadata.TypeSig, c SigContext) (target.Addr, error) {
	return r.resolveType(sig, c, 0)
}

func (r *Runtime) resolveType(sig *metadata.TypeSig, c SigContext, depth int) (target.Addr, error) {
	if depth > limits.SignatureDepth {
		return 0, target.Limitf("a type signature is nested deeper, or its text is longer, than sosgo reads")
	}
	if sig = sig.Unmodified(); sig == nil {
		return 0, target.Unsupportedf("no type signature")
	}
	switch sig.Kind {
	case metadata.ElementClass, metadata.ElementValueType:
		return r.resolveToken(sig.Token, c, depth)
	case metadata.ElementVar:
		return typeArgument(c.TypeArgs, sig.Number)
	case metadata.ElementMVar:
		return typeArgument(c.MethodArgs, sig.Number)
	case metadata.ElementInternal:
		return target.Addr(sig.Handle), nil
	case metadata.ElementGenericInst:
		return r.resolveInstance(sig, c, depth)
	case metadata.ElementSZArray, metadata.ElementArray, metadata.ElementPtr, metadata.ElementByRef:
		elem, err := r.resolveType(sig.Elem, c, depth+1)
		if err != nil || elem == 0 {
			return 0, err
		}
		rank := 0
		if sig.Kind == metadata.ElementSZArray {
			rank = 1
		} else if sig.Shape != nil {
			rank = int(sig.Shape.Rank)
		}
		return r.constructed().find(elementKey(nil, sig.Kind, rank, elem))
	case metadata.ElementFnPtr:
		return 0, nil // its TypeDesc is not needed for its name
	}
	return r.CorType(sig.Kind)
}

func typeArgument(args []target.Addr, n uint32) (target.Addr, error) {
	if uint64(n) >= uint64(len(args)) {
		return 0, target.Corruptf("type parameter %d of %d", n, len(args))
	}
	return args[n], nil
}

// resolveToken finds the type of a TypeDef, TypeRef or TypeSpec token in the module's lookup maps.
func (r *Runtime) resolveToken(t metadata.Token, c SigContext, depth int) (target.Addr, error) {
	switch t.Table() {
	case metadata.TableTypeDef:
		return c.Module.Lookup(MapTypeDef, t.Row())
	case metadata.TableTypeRef:
		th, err := c.Module.Lookup(MapTypeRef, t.Row())
		if err != nil || th != 0 {
			return th, err
		}
		return r.resolveTypeRef(c.Module, t.Row())
	case metadata.TableTypeSpec:
		md, err := c.Module.Metadata()
		if err != nil {
			return 0, err
		}
		sig, err := md.TypeSpecSig(t.Row())
		if err != nil {
			return 0, err
		}
		return r.resolveType(&sig, c, depth+1)
	}
	return 0, target.Corruptf("token %v is not a type", t)
}

// resolveTypeRef finds a type that the module refers to but has not used, by its name in the assembly that
// defines it. If the assembly is not loaded, neither is the type. If the metadata of the assembly is not in the
// dump, the type may be loaded.
func (r *Runtime) resolveTypeRef(m *Module, rid uint32) (target.Addr, error) {
	md, err := m.Metadata()
	if err != nil {
		return 0, err
	}
	name, err := md.TypeRefFullName(rid)
	if err != nil {
		return 0, err
	}
	scope, err := md.TypeRefScope(rid)
	if err != nil {
		return 0, err
	}
	for range limits.TypeForwarders {
		if m, md, err = r.referencedModule(md, scope); m == nil || err != nil {
			return 0, err
		}
		if t, ok := md.FindTypeDef(name); ok {
			return m.Lookup(MapTypeDef, t.Row())
		}
		if scope, err = forwarder(md, name); scope.IsNil() {
			return 0, cmp.Or(md.UnnamedTypes(), err)
		}
	}
	return 0, target.Corruptf("type %s is forwarded without end", name)
}

// referencedModule returns the loaded module of an AssemblyRef with its metadata, or nil. It returns an error
// if a module without a readable name, or a missing part of the list, may be the module.
func (r *Runtime) referencedModule(md *metadata.Metadata, scope metadata.Token) (*Module, *metadata.Metadata, error) {
	if scope.Table() != metadata.TableAssemblyRef {
		return nil, nil, nil
	}
	row, err := md.AssemblyRef(scope.Row())
	if err != nil {
		return nil, nil, err
	}
	want, err := md.String(row.Name)
	if err != nil {
		return nil, nil, err
	}
	modules, missing := r.KnownModules()
	for _, m := range modules {
		name, err := m.SimpleName()
		if err == nil && name != want {
			continue
		}
		if err == nil {
			if md, err = m.Metadata(); err == nil {
				return m, md, nil
			}
		}
		missing = cmp.Or(missing, err)
	}
	return nil, nil, missing
}

// forwarder returns the assembly to which a module forwards a type, or nil. missing is the reason why a
// forwarder may be overlooked. It covers only types that are not nested.
func forwarder(md *metadata.Metadata, name string) (to metadata.Token, missing error) {
	if i := strings.IndexByte(name, '+'); i >= 0 {
		name = name[:i]
	}
	space := ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		space, name = name[:i], name[i+1:]
	}
	for rid := range md.RowCount(metadata.TableExportedType) {
		row, err := md.ExportedType(rid + 1)
		if err != nil {
			return 0, err
		}
		b, err := md.StringBytes(row.Name)
		if err == nil && string(b) == name {
			if b, err = md.StringBytes(row.Namespace); err == nil && string(b) == space {
				return row.Implementation, nil
			}
		}
		missing = cmp.Or(missing, err)
	}
	return 0, missing
}

func (r *Runtime) resolveInstance(sig *metadata.TypeSig, c SigContext, depth int) (target.Addr, error) {
	def, err := r.resolveType(sig.Elem, c, depth+1)
	if err != nil || def == 0 {
		return 0, err
	}
	mt, err := r.TrustedMethodTable(def)
	if err != nil {
		return 0, err
	}
	args := make([]target.Addr, len(sig.Args))
	for i := range sig.Args {
		if args[i], err = r.resolveType(&sig.Args[i], c, depth+1); err != nil || args[i] == 0 {
			return 0, err
		}
	}
	return r.GenericInstance(mt, args)
}

// GenericInstance returns the loaded instance of a generic type with the given arguments, or 0. It returns an
// error if the dump cannot decide.
func (r *Runtime) GenericInstance(def *MethodTable, args []target.Addr) (target.Addr, error) {
	return r.constructed().find(instanceKey(nil, def.Module, def.Token, args))
}

// corTypeNames maps element types to the names of types that signatures encode as one byte.
var corTypeNames = map[metadata.ElementType]string{
	metadata.ElementVoid:       "System.Void",
	metadata.ElementBoolean:    "System.Boolean",
	metadata.ElementChar:       "System.Char",
	metadata.ElementI1:         "System.SByte",
	metadata.ElementU1:         "System.Byte",
	metadata.ElementI2:         "System.Int16",
	metadata.ElementU2:         "System.UInt16",
	metadata.ElementI4:         "System.Int32",
	metadata.ElementU4:         "System.UInt32",
	metadata.ElementI8:         "System.Int64",
	metadata.ElementU8:         "System.UInt64",
	metadata.ElementR4:         "System.Single",
	metadata.ElementR8:         "System.Double",
	metadata.ElementString:     "System.String",
	metadata.ElementTypedByRef: "System.TypedReference",
	metadata.ElementI:          "System.IntPtr",
	metadata.ElementU:          "System.UIntPtr",
	metadata.ElementObject:     "System.Object",
}

// CorTypeName returns the name of a type that signatures encode as one byte, or "" for other element types.
func CorTypeName(et metadata.ElementType) string { return corTypeNames[et] }

// CorTypeWord returns SOS's word for an element type: the type's name without namespace, or the specification's name in
// capitals (ECMA-335 II.23.1.16). It returns "" for instances of generic types and modifiers.
func CorTypeWord(et metadata.ElementType) string {
	switch et {
	case metadata.ElementPtr, metadata.ElementByRef, metadata.ElementValueType, metadata.ElementClass, metadata.ElementVar, metadata.ElementArray,
		metadata.ElementFnPtr, metadata.ElementSZArray, metadata.ElementMVar:
		return strings.ToUpper(et.String())
	}
	return strings.TrimPrefix(CorTypeName(et), "System.")
}

// CorType returns the MethodTable of a type that signatures encode as one byte, or 0 if it is not loaded.
func (r *Runtime) CorType(et metadata.ElementType) (target.Addr, error) {
	switch et {
	case metadata.ElementString:
		if r.known.String != 0 {
			return r.known.String, nil
		}
	case metadata.ElementObject:
		return r.known.Object, nil
	}
	types, err := r.corTypes.Get(r.readCorTypes)
	if err != nil {
		return 0, err
	}
	return types[et].addr, types[et].err
}

// A corType is the MethodTable of such a type, 0 if it is not loaded, or the reason why it is unknown.
type corType struct {
	addr target.Addr
	err  error
}

func (r *Runtime) readCorTypes() (map[metadata.ElementType]corType, error) {
	m, err := r.CoreLib()
	if err != nil {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	types := map[metadata.ElementType]corType{}
	for et, name := range corTypeNames {
		t, ok := md.FindTypeDef(name)
		if !ok {
			types[et] = corType{err: md.UnnamedTypes()}
			continue
		}
		// a type missing from a partial dump does not affect the others
		mt, err := m.Lookup(MapTypeDef, t.Row())
		types[et] = corType{mt, err}
	}
	return types, nil
}

// SigTypeName returns the name of the type described by sig: the loaded type's or, if it is not loaded,
// metadata's.
func (r *Runtime) SigTypeName(sig *metadata.TypeSig, c SigContext, style NameStyle) (string, error) {
	var b strings.Builder
	err := r.sigName(&b, sig, c, style, 0)
	return b.String(), err
}

func (r *Runtime) sigName(b *strings.Builder, sig *metadata.TypeSig, c SigContext, style NameStyle, depth int) error {
	if sig == nil {
		return target.Unsupportedf("no type signature")
	}
	if depth > limits.SignatureDepth || b.Len() > maxTypeName {
		return target.Limitf("a type signature is nested deeper, or its text is longer, than sosgo reads")
	}
	sig = sig.Unmodified()
	if th, err := r.resolveType(sig, c, depth); err == nil && th != 0 {
		// Partial dumps lack MethodTables of types with names in metadata.
		name, err := r.TypeName(th, style)
		if !errors.Is(err, target.ErrNotInDump) {
			b.WriteString(name)
			return err
		}
	}
	elem := func(suffix string) error {
		err := r.sigName(b, sig.Elem, c, style, depth+1)
		b.WriteString(suffix)
		return err
	}
	switch sig.Kind {
	case metadata.ElementSZArray:
		return elem("[]")
	case metadata.ElementArray:
		return elem("[" + strings.Repeat(",", int(sig.Shape.Rank)-1) + "]")
	case metadata.ElementPtr:
		return elem("*")
	case metadata.ElementByRef:
		return elem("&")
	case metadata.ElementFnPtr:
		b.WriteString("(FNPTR)")
		return nil
	case metadata.ElementGenericInst:
		return r.sigInstanceName(b, sig, c, style, depth)
	case metadata.ElementClass, metadata.ElementValueType:
		md, err := c.Module.Metadata()
		if err != nil {
			return err
		}
		name, err := md.TypeFullName(sig.Token)
		b.WriteString(name)
		return err
	}
	if name := corTypeNames[sig.Kind]; name != "" {
		b.WriteString(name)
		return nil
	}
	return target.Unsupportedf("no name for a type signature of kind %v", sig.Kind)
}

func (r *Runtime) sigInstanceName(b *strings.Builder, sig *metadata.TypeSig, c SigContext, style NameStyle, depth int) error {
	md, err := c.Module.Metadata()
	if err != nil {
		return err
	}
	def := sig.Elem.Unmodified()
	name, err := md.TypeFullName(def.Token)
	if err != nil {
		return err
	}
	args := make([]string, len(sig.Args))
	for i := range sig.Args {
		var a strings.Builder
		if err := r.sigName(&a, &sig.Args[i], c, style, depth+1); err != nil {
			return err
		}
		args[i] = a.String()
	}
	if style == NameNative {
		b.WriteString(name + "[[" + strings.Join(args, "],[") + "]]")
		return nil
	}
	for i, part := range splitNested(name) {
		if i > 0 {
			b.WriteByte('+')
		}
		head, n := cutArity(part)
		b.WriteString(head)
		if n = min(n, len(args)); n > 0 {
			b.WriteString("<" + strings.Join(args[:n], ", ") + ">")
			args = args[n:]
		}
	}
	return nil
}
