package dac

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A NameStyle is one of the two ways in which SOS writes type names.
type NameStyle uint8

const (
	// NameNative is the runtime's style: Dictionary`2[[System.Int32, System.Private.CoreLib],[Zoo.Dog, Zoo]].
	// dumpobj, dumpmt and the other commands of native SOS print it.
	NameNative NameStyle = iota
	// NameManaged is ClrMD's style: Dictionary<System.Int32, Zoo.Dog>. dumpheap, dso and the other managed
	// commands print it.
	NameManaged
)

// nameDefined is the style of a name without type arguments.
const nameDefined NameStyle = 0xff

type nameKey struct {
	th    target.Addr
	style NameStyle
}

// A nameCache caches names of types.
type nameCache struct {
	mu sync.RWMutex
	m  map[nameKey]string
}

func (c *nameCache) get(k nameKey) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.m[k]
	return s, ok
}

func (c *nameCache) set(k nameKey, s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[nameKey]string{}
	}
	c.m[k] = s
}

// TypeName returns the name of the type of a TypeHandle: a MethodTable, or a TypeDesc with the second bit set.
// A continuation of runtime-async (.NET 11) has no metadata; its name is its parent's with a note.
func (r *Runtime) TypeName(th target.Addr, style NameStyle) (string, error) {
	k := nameKey{th, style}
	s, ok := r.names.get(k)
	if ok {
		return s, nil
	}
	f := nameFormatter{r: r, style: style}
	switch err := f.typeHandle(th, 0); {
	case err == nil:
		s = f.b.String()
	case r.wellKnownName(th) != "":
		s = r.wellKnownName(th)
	default:
		return "", fmt.Errorf("name of type %016x: %w", uint64(th), err)
	}
	r.names.set(k, s)
	return s, nil
}

// maxTypeName bounds a name in bytes: type arguments that contain each other could otherwise grow it without
// end.
const maxTypeName = 64 << 10

type nameFormatter struct {
	r     *Runtime
	style NameStyle
	b     strings.Builder
}

func (f *nameFormatter) typeHandle(th target.Addr, depth int) error {
	return f.r.impl.writeName(f, th, depth)
}

func (r clr) writeName(f *nameFormatter, th target.Addr, depth int) error {
	if depth > limits.TypeNameDepth || f.b.Len() > maxTypeName {
		return target.Limitf("type %016x is nested deeper, or its name is longer, than sosgo reads", uint64(th))
	}
	if th&2 != 0 {
		return f.typeDesc(th&^2, depth)
	}
	mt, err := r.TrustedMethodTable(th)
	if err != nil {
		return err
	}
	switch {
	case mt.Addr == r.known.Free:
		f.b.WriteString("Free")
		return nil
	case mt.IsArray():
		return f.array(mt, depth)
	}
	return f.class(mt, depth)
}

// typeDesc writes the name of a type without a MethodTable (typedesc.h).
func (f *nameFormatter) typeDesc(a target.Addr, depth int) error {
	r := f.r
	flags, err := r.u32(a, r.off.TypeDesc.TypeAndFlags, "TypeDesc.TypeAndFlags")
	if err != nil {
		return err
	}
	switch et := metadata.ElementType(flags & 0xff); et {
	case metadata.ElementPtr, metadata.ElementByRef, metadata.ElementSZArray, metadata.ElementArray:
		arg, err := r.ptr(a, r.off.ParamTypeDesc.TypeArg, "ParamTypeDesc.TypeArg")
		if err != nil {
			return err
		}
		if err := f.typeHandle(arg, depth+1); err != nil {
			return err
		}
		f.b.WriteString(map[metadata.ElementType]string{metadata.ElementPtr: "*", metadata.ElementByRef: "&",
			metadata.ElementSZArray: "[]", metadata.ElementArray: "[,]"}[et])
	case metadata.ElementVar, metadata.ElementMVar:
		name, err := f.typeVar(a)
		if err != nil {
			if depth == 0 {
				return err
			}
			name = "?" // keep the name of the containing type
		}
		f.b.WriteString(name)
	case metadata.ElementFnPtr:
		f.b.WriteString("(FNPTR)")
	default:
		return target.Corruptf("TypeDesc %016x of element type %#x", uint64(a), uint8(et))
	}
	return nil
}

// typeVar returns the name of a type parameter.
func (f *nameFormatter) typeVar(a target.Addr) (string, error) {
	rd := layout.Reader{Mem: f.r.mem, Base: a}
	module, token := rd.Ptr(f.r.off.TypeVar.Module), metadata.Token(rd.U32(f.r.off.TypeVar.Token))
	if rd.Err != nil {
		return "", rd.Err
	}
	m, err := f.r.TrustedModule(module)
	if err != nil {
		return "", err
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	row, err := md.GenericParam(token.Row())
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

func (f *nameFormatter) array(mt *MethodTable, depth int) error {
	rank, err := f.r.ArrayRank(mt)
	if err != nil {
		return err
	}
	if err := f.typeHandle(mt.PerInstInfo, depth+1); err != nil {
		return err
	}
	if rank == 1 && mt.Category() != CategorySZArray {
		// ClrMD takes the star for a type argument, and its users expect that name.
		if f.style == NameManaged {
			f.b.WriteString("<*>")
		} else {
			f.b.WriteString("[*]")
		}
		return nil
	}
	f.b.WriteByte('[')
	for range rank - 1 {
		f.b.WriteByte(',')
	}
	f.b.WriteByte(']')
	return nil
}

// ArrayRank returns the number of dimensions of an array type. It follows from the size of an array without
// elements: each dimension has a length and a lower bound of four bytes.
func (r *Runtime) ArrayRank(mt *MethodTable) (int, error) {
	const bounds = 8
	if mt.Category() == CategorySZArray {
		return 1, nil
	}
	rank := (int(mt.BaseSize) - minObjectSize) / bounds
	if rank < 1 || rank > limits.ArrayRank || int(mt.BaseSize) != minObjectSize+rank*bounds {
		return 0, target.Corruptf("array type %016x of %d bytes", uint64(mt.Addr), mt.BaseSize)
	}
	return rank, nil
}

func (f *nameFormatter) class(mt *MethodTable, depth int) error {
	name, err := f.r.definedName(mt)
	if err != nil {
		return err
	}
	if !mt.IsGeneric() {
		f.b.WriteString(name)
		return nil
	}
	if mt.IsOpen() {
		f.open(name)
		return nil
	}
	args, err := f.r.TypeArguments(mt)
	if err != nil {
		return err
	}
	if f.style == NameManaged {
		return f.managedInstance(name, args, depth)
	}
	f.b.WriteString(name)
	return f.arguments(args, depth)
}

// definedName returns the name of mt without type arguments, unless the module of mt denies its token.
func (r *Runtime) definedName(mt *MethodTable) (string, error) {
	k := nameKey{mt.Addr, nameDefined}
	name, ok := r.names.get(k)
	if ok {
		return name, nil
	}
	var err error
	if r.isContinuation(mt) {
		name = continuationType + continuationNote
	} else if name, err = r.impl.definitionName(mt); err != nil {
		return "", err
	} else if m, err := r.ModuleOf(mt); err == nil && mt.Token.Row() != 0 {
		if err := m.deniesToken(mt); err != nil {
			return "", err
		}
	}
	r.names.set(k, name)
	return name, nil
}

// arguments writes generic arguments in the native style:
// [[System.Int32, System.Private.CoreLib],[Zoo.Dog, Zoo]].
func (f *nameFormatter) arguments(args []target.Addr, depth int) error {
	if len(args) == 0 {
		return nil
	}
	for i, a := range args {
		if i == 0 {
			f.b.WriteByte('[')
		} else {
			f.b.WriteByte(',')
		}
		f.b.WriteByte('[')
		if err := f.typeHandle(a, depth+1); err != nil {
			return err
		}
		f.b.WriteString(", ")
		assembly, err := f.r.TypeAssembly(a)
		if err != nil {
			return err
		}
		f.b.WriteString(assembly)
		f.b.WriteByte(']')
	}
	f.b.WriteByte(']')
	return nil
}

// instanceName returns the name, in the native style, of the generic type of mt with args in place of mt's type
// arguments. A frame of code shared by instances has such arguments.
func (r *Runtime) instanceName(mt *MethodTable, args []target.Addr) (string, error) {
	name, err := r.definedName(mt)
	if err != nil {
		return "", err
	}
	list, err := r.typeArgumentNames(args)
	return name + list, err
}

// typeArgumentNames formats generic arguments, given by TypeHandles, in the native style: [[System.Int32,
// System.Private.CoreLib]]. It returns "" for an empty list.
func (r *Runtime) typeArgumentNames(args []target.Addr) (string, error) {
	f := nameFormatter{r: r, style: NameNative}
	err := f.arguments(args, 0)
	return f.b.String(), err
}

// open writes the name of a generic definition. ClrMD numbers only the parameters of the last part.
func (f *nameFormatter) open(name string) {
	head, n := cutArity(name)
	if f.style != NameManaged || n == 0 {
		f.b.WriteString(name)
		return
	}
	parts := splitNested(head)
	for i, p := range parts {
		if i > 0 {
			f.b.WriteByte('+')
		}
		k := n
		if i < len(parts)-1 {
			p, k = cutArity(p)
		}
		f.b.WriteString(p)
		for j := range k {
			if j == 0 {
				f.b.WriteString("<T")
			} else {
				f.b.WriteString(", T")
			}
			f.b.WriteString(strconv.Itoa(j + 1))
		}
		if k > 0 {
			f.b.WriteByte('>')
		}
	}
}

// managedInstance distributes the type arguments over the nested parts of the name by their arity: Outer<A>+Inner<B>.
// Remaining arguments belong to the last part, because not every compiler writes arities (F#'s closures, obfuscators).
func (f *nameFormatter) managedInstance(name string, args []target.Addr, depth int) error {
	parts := splitNested(name)
	for i, part := range parts {
		if i > 0 {
			f.b.WriteByte('+')
		}
		head, n := cutArity(part)
		f.b.WriteString(head)
		n = min(n, len(args))
		if i == len(parts)-1 {
			n = len(args)
		}
		if err := f.managedArguments(args[:n], depth); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// managedArguments writes generic arguments in the managed style: <System.Int32, Zoo.Dog>.
func (f *nameFormatter) managedArguments(args []target.Addr, depth int) error {
	if len(args) == 0 {
		return nil
	}
	f.b.WriteByte('<')
	for i, a := range args {
		if i > 0 {
			f.b.WriteString(", ")
		}
		if err := f.typeHandle(a, depth+1); err != nil {
			return err
		}
	}
	f.b.WriteByte('>')
	return nil
}

// splitNested cuts a full name at the pluses that join nested types.
func splitNested(name string) []string { return strings.Split(name, "+") }

// cutArity cuts the arity off a name: List`1 is List and 1.
func cutArity(name string) (string, int) {
	i := strings.LastIndexByte(name, '`')
	if i < 0 {
		return name, 0
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || n <= 0 || n > limits.GenericArguments {
		return name, 0
	}
	return name[:i], n
}

// dynamicClass is the name of a module's type for methods without a class. It has no definition, no base type
// (CreateMinimalMethodTable, class.cpp) and no objects.
const dynamicClass = "(dynamicClass)"

// DefinitionName returns the name of the type's definition in metadata: "Ns.Outer`1+Inner". It returns "" for
// an array, and target.ErrUnsupported if the name is unknown.
func (r *Runtime) DefinitionName(mt *MethodTable) (string, error) {
	if mt.IsArray() {
		return "", nil
	}
	return r.impl.definitionName(mt)
}

func (r clr) definitionName(mt *MethodTable) (string, error) {
	m, err := r.ModuleOf(mt)
	if mt.Token.Row() == 0 {
		defined := false
		if err == nil {
			_, defined = m.definedRows()[mt.Addr]
		}
		if mt.Parent != 0 || mt.IsGeneric() || defined {
			return "", target.Corruptf("MethodTable %016x has no token", uint64(mt.Addr))
		}
		return dynamicClass, nil
	}
	if err != nil {
		return "", err
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	return md.TypeDefFullName(mt.Token.Row())
}

// deniesToken returns an error if m's map from tokens to MethodTables contradicts the token of mt, the source of its name: it has mt
// under another token, or under this token another MethodTable with the same token, and mt is no instance of it. An empty entry
// denies nothing: a type is entered after it is built. Nor does a part of the map that is not in the dump.
func (m *Module) deniesToken(mt *MethodTable) error {
	defined, err := m.Lookup(MapTypeDef, mt.Token.Row())
	if defined == mt.Addr {
		return nil
	}
	if err := m.membersDeny(mt); err != nil {
		return err
	}
	if err != nil {
		return nil
	}
	if !mt.IsGeneric() || mt.IsOpen() {
		if row, ok := m.definedRows()[mt.Addr]; ok {
			return target.Corruptf("MethodTable %016x has the token %08x, but module %016x defines it with row %#x", uint64(mt.Addr), uint32(mt.Token), uint64(m.Addr), row)
		}
	}
	if defined == 0 {
		return nil
	}
	d, err := m.r.TrustedMethodTable(defined)
	if err != nil || d.Token != mt.Token || d.Module != m.Addr || m.instanceOf(mt, d) {
		return nil
	}
	return target.Corruptf("MethodTable %016x has the token %08x, with which module %016x defines %016x", uint64(mt.Addr), uint32(mt.Token), uint64(m.Addr), uint64(defined))
}

// instanceOf reports whether mt can be an instance of definition. It has as many virtual methods, unless methods were added.
func (m *Module) instanceOf(mt, definition *MethodTable) bool {
	return mt.IsGeneric() && definition.IsGeneric() && (m.editable() || mt.NumVirtuals == definition.NumVirtuals)
}

// definedRows returns the rows of the MethodTables in m's map, as far as it is readable.
func (m *Module) definedRows() map[target.Addr]uint32 {
	rows, _ := m.defined.Get(func() (map[target.Addr]uint32, error) {
		rows := map[target.Addr]uint32{}
		for e, err := range m.Entries(MapTypeDef) {
			if err == nil {
				rows[e.Value] = e.Row
			}
		}
		return rows, nil
	})
	return rows
}

// TypeArguments returns the TypeHandles of a generic instance's arguments.
func (r *Runtime) TypeArguments(mt *MethodTable) ([]target.Addr, error) {
	if !mt.IsGeneric() {
		return nil, nil
	}
	if mt.PerInstInfo == 0 {
		return nil, target.Corruptf("the generic type %016x has no dictionaries", uint64(mt.Addr))
	}
	o := &r.off.GenericsDict
	numTypeArgs, err := target.Uint16(r.mem, mt.PerInstInfo-8+target.Addr(o.NumTypeArgs))
	if err != nil {
		return nil, err
	}
	numDicts, err := target.Uint16(r.mem, mt.PerInstInfo-8+target.Addr(o.NumDicts))
	if err != nil {
		return nil, err
	}
	if numDicts == 0 || int(numDicts) > limits.ParentChain {
		return nil, target.Corruptf("type %016x has %d dictionaries", uint64(mt.Addr), numDicts)
	}
	if err := r.deniesArity(mt, int(numTypeArgs)); err != nil {
		return nil, err
	}
	dict, err := target.Pointer(r.mem, mt.PerInstInfo+target.Addr(8*(int(numDicts)-1)))
	if err != nil {
		return nil, err
	}
	rd, out := layout.Reader{Mem: r.mem, Base: dict}, []target.Addr(nil)
	for i := range int(numTypeArgs) {
		out = append(out, rd.Ptr(8*i))
		if rd.Err != nil {
			return nil, rd.Err
		}
	}
	return out, nil
}

// TypeAssembly returns the simple name of the assembly that defines the type of a TypeHandle. For arrays and
// pointers it is the element type's assembly.
func (r *Runtime) TypeAssembly(th target.Addr) (string, error) { return r.impl.typeAssembly(th) }

func (r clr) typeAssembly(th target.Addr) (string, error) {
	for range limits.TypeNameDepth {
		if th&2 != 0 {
			a := th &^ 2
			flags, err := r.u32(a, r.off.TypeDesc.TypeAndFlags, "TypeDesc.TypeAndFlags")
			if err != nil {
				return "", err
			}
			switch metadata.ElementType(flags & 0xff) {
			case metadata.ElementVar, metadata.ElementMVar:
				rd := layout.Reader{Mem: r.mem, Base: a}
				module := rd.Ptr(r.off.TypeVar.Module)
				if rd.Err != nil {
					return "", rd.Err
				}
				return r.moduleName(module)
			case metadata.ElementFnPtr:
				m, err := r.CoreLib()
				if err != nil {
					return "", err
				}
				return m.SimpleName()
			}
			if th, err = r.ptr(a, r.off.ParamTypeDesc.TypeArg, "ParamTypeDesc.TypeArg"); err != nil {
				return "", err
			}
			continue
		}
		mt, err := r.TrustedMethodTable(th)
		if err != nil {
			return "", err
		}
		if mt.IsArray() {
			th = mt.PerInstInfo
			continue
		}
		home, err := mt.ModuleAddr()
		if err != nil {
			return "", err
		}
		return r.moduleName(home)
	}
	return "", target.Limitf("type %016x is nested deeper, or its name is longer, than sosgo reads", uint64(th))
}

func (r *Runtime) moduleName(a target.Addr) (string, error) {
	m, err := r.TrustedModule(a)
	if err != nil {
		return "", err
	}
	return m.SimpleName()
}
