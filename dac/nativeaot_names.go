package dac

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/nativeformat"
	"github.com/sosgo/sosgo/target"
)

// A NativeAOT program contains the names of its types and methods, for reflection and for stack traces:
// metadata (package internal/files/nativeformat) and maps to it from MethodTables of definitions and from
// methods. Instances of generic types refer to their definition and arguments after their interface maps
// (MethodTable.h, ETF_GenericDefinition and ETF_GenericComposition).

// nativeNames holds the names of a program's types and methods.
type nativeNames struct {
	types   map[target.Addr]nativeDefinition // by MethodTable
	statics map[target.Addr]string           // types of the objects with static fields
	methods []nativeMethod                   // sorted by address
	invoked map[target.Addr]invokableMethod  // by address
	symbols *nativeSymbols                   // symbols of the program's file
	noType  error                            // why types is incomplete; nil if complete
	noCode  error                            // why methods is incomplete; nil if complete
}

type nativeDefinition struct {
	name, assembly string
	meta           *nativeformat.Metadata
	handle         nativeformat.Handle
}

// An invokableMethod is a method that reflection can call.
type invokableMethod struct {
	owner target.Addr // MethodTable of its type
	at    uint32      // offset of its record in the metadata
}

// A nativeMethod is a method with a name in the program.
type nativeMethod struct {
	at   target.Addr
	meta *nativeformat.Metadata
	nativeformat.Method
}

// programNames returns the program's names. It reads them once.
func (r *nativeAOT) programNames() *nativeNames {
	n, _ := r.program.Get(func() (*nativeNames, error) { return r.readNames(), nil })
	return n
}

func (r *nativeAOT) readNames() *nativeNames {
	n := &nativeNames{types: map[target.Addr]nativeDefinition{}, statics: map[target.Addr]string{}, invoked: map[target.Addr]invokableMethod{}}
	headers, err := r.Instance().nativeImage().headers, r.Instance().nativeImage().err
	if err == nil && len(headers) == 0 {
		err = target.Unsupportedf("the program has no ReadyToRun header that locates its names")
	}
	n.noType, n.noCode = err, err
	for _, h := range headers {
		meta, err := r.Instance().nativeMetadata(h)
		if err != nil {
			n.noType, n.noCode = err, err
			continue
		}
		if err := r.readTypeMap(n, h, meta); err != nil {
			n.noType = fmt.Errorf("map of types: %w", err)
		}
		if err := r.readMethodMap(n, h, meta); err != nil {
			n.noCode = fmt.Errorf("stack trace data: %w", err)
		}
		if err := r.readInvokeMap(n, h); err != nil && n.noCode == nil && !errors.Is(err, target.ErrUnsupported) {
			n.noCode = fmt.Errorf("map of methods: %w", err)
		}
		r.readStaticBases(n, h)
	}
	n.symbols = r.Instance().readNativeSymbols(n)
	sort.SliceStable(n.methods, func(i, j int) bool { return n.methods[i].at < n.methods[j].at })
	return n
}

// readTypeMap records the names of the MethodTables in the program's map. It returns the error of the first name that it lacks.
func (r *nativeAOT) readTypeMap(n *nativeNames, h nativeSections, meta *nativeformat.Metadata) error {
	b, _, err := r.inst.blob(h, nativeformat.SectionTypeMap)
	if err != nil {
		return err
	}
	list, err := nativeformat.TypeMap(b)
	if err != nil {
		return err
	}
	var unread error
	for _, t := range list {
		mt, err := r.Instance().fixup(h, t.Fixup)
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		handle := meta.Handle(t.Type)
		name, assembly, err := meta.TypeName(handle)
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		n.types[mt] = nativeDefinition{name, assembly, meta, handle}
	}
	return unread
}

// readInvokeMap records the methods that reflection can call. It returns the error of the first method that it lacks.
func (r *nativeAOT) readInvokeMap(n *nativeNames, h nativeSections) error {
	b, _, err := r.inst.blob(h, nativeformat.SectionInvokeMap)
	if err != nil {
		return err
	}
	list, err := nativeformat.InvokeMap(b)
	if err != nil {
		return err
	}
	var unread error
	for _, m := range list {
		owner, err := r.Instance().fixup(h, m.Type)
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		// A method without code has another address, which is refused when it is named.
		if code, err := r.Instance().fixup(h, m.Code); err == nil && r.inst.Module.Contains(code) {
			n.invoked[code] = invokableMethod{owner, m.Method}
		}
	}
	return unread
}

func (r *nativeAOT) readMethodMap(n *nativeNames, h nativeSections, meta *nativeformat.Metadata) error {
	b, at, err := r.inst.blob(h, nativeformat.SectionStackTrace)
	if err != nil {
		return err
	}
	list, err := nativeformat.Methods(b)
	if err != nil {
		return err
	}
	for _, m := range list {
		if code := at + target.Addr(m.Offset); m.Name != 0 && r.inst.Module.Contains(code) {
			n.methods = append(n.methods, nativeMethod{code, meta, m})
		}
	}
	return nil
}

// readStaticBases records the MethodTables of the objects with static fields. The program has a cell for each
// such object, and the MethodTables of objects with a thread's static fields.
func (r *nativeAOT) readStaticBases(n *nativeNames, h nativeSections) {
	threads := h[nativeformat.SectionThreadStatics]
	for at := threads.Start; at+8 <= threads.End; at += 8 {
		if mt, err := target.Pointer(r.mem, at); err == nil && r.inst.Module.Contains(mt) {
			n.statics[mt] = threadStaticsType
		}
	}
	s := h[nativeformat.SectionGCStatics]
	for at := s.Start; at+4 <= s.End; at += 4 {
		cell, err := r.Instance().relative(at)
		if err != nil {
			return
		}
		object, err := target.Pointer(r.mem, cell)
		if err != nil || object&1 != 0 || object == 0 {
			continue // unreadable, or not allocated yet
		}
		if mt, err := target.Pointer(r.mem, object); err == nil {
			n.statics[mt&^7] = staticsType
		}
	}
}

// Names for types of objects with static fields. The program has no names for them.
const (
	staticsType       = "<static fields>"
	threadStaticsType = "<thread static fields>"
)

// coreLibrary is the assembly of the runtime's well-known types.
const coreLibrary = "System.Private.CoreLib"

// writeName writes the name of a type, as far as it is known.
func (r *nativeAOT) writeName(f *nameFormatter, th target.Addr, depth int) error {
	mt, err := r.TrustedMethodTable(th)
	switch {
	case err != nil:
		return err
	case depth > limits.TypeNameDepth || f.b.Len() > maxTypeName:
		return target.Limitf("type %016x is nested deeper, or its name is longer, than sosgo reads", uint64(th))
	case mt.Addr == r.known.Free:
		f.b.WriteString("Free")
		return nil
	case mt.PerInstInfo != 0:
		return r.writeArray(f, mt, depth)
	}
	n := r.programNames()
	if d, ok := n.types[mt.Addr]; ok {
		f.b.WriteString(d.name)
		return nil
	}
	if mt.Addr == r.known.String {
		f.b.WriteString("System.String")
		return nil
	}
	if s := n.statics[mt.Addr]; s != "" {
		f.b.WriteString(s)
		return nil
	}
	definition, args, err := r.genericInstance(mt)
	switch {
	case err != nil:
		return err
	case definition == 0 && n.symbols.typeAt(mt.Addr) != "":
		f.b.WriteString(n.symbols.typeAt(mt.Addr))
		return nil
	case definition == 0 && n.noType != nil:
		return n.noType
	case definition == 0:
		return target.Unsupportedf("MethodTable %016x (no name: the program's metadata has none for it)", uint64(mt.Addr))
	case f.style == NameManaged:
		return f.managedInstance(n.types[definition].name, args, depth)
	}
	f.b.WriteString(n.types[definition].name)
	return f.arguments(args, depth)
}

// writeArray writes the name of an array.
func (r *nativeAOT) writeArray(f *nameFormatter, mt *MethodTable, depth int) error {
	if err := r.writeName(f, mt.PerInstInfo, depth+1); err != nil {
		return err
	}
	rank, err := r.ArrayRank(mt)
	if err != nil {
		return err
	}
	f.b.WriteString("[" + strings.Repeat(",", rank-1) + "]")
	return nil
}

// genericInstance returns the definition of a generic instance and its arguments. The definition is 0 for other
// types, and if its name is unknown.
func (r *nativeAOT) genericInstance(mt *MethodTable) (target.Addr, []target.Addr, error) {
	flags, err := target.Uint32(r.mem, mt.Addr+target.Addr(r.mt.Flags))
	if err != nil || flags&r.generic == 0 {
		return 0, nil, err
	}
	// Optional pointers precede the definition: the first that leads to a named definition is it.
	const optional = 8
	follow, width := r.inst.relative, target.Addr(4)
	if flags&r.dynamic != 0 {
		follow, width = func(at target.Addr) (target.Addr, error) { return target.Pointer(r.mem, at) }, 8
	}
	at := mt.Addr + target.Addr(r.mt.VTable+8*(int(mt.NumVirtuals)+int(mt.NumInterfaces)))
	named := r.programNames().types
	for range optional {
		definition, err := follow(at)
		if err != nil {
			return 0, nil, err
		}
		at += width
		d, ok := named[definition]
		if !ok || !r.isDefinition(definition) {
			continue
		}
		arguments, err := follow(at)
		if err != nil {
			return 0, nil, err
		}
		args, err := r.genericArguments(arguments, arityOf(d.name), follow, width)
		return definition, args, err
	}
	return 0, nil, nil
}

// isDefinition reports whether mt is the MethodTable of a generic definition.
func (r *nativeAOT) isDefinition(mt target.Addr) bool {
	flags, err := target.Uint32(r.mem, mt+target.Addr(r.mt.Flags))
	return err == nil && flags&r.kindMask == r.definition
}

// arityOf returns the number of type parameters of a type, including its enclosing types.
func arityOf(name string) int {
	n := 0
	for _, part := range splitNested(name) {
		_, k := cutArity(part)
		n += k
	}
	return n
}

// genericArguments reads the type arguments of an instance: a single one in place, several in a list.
func (r *nativeAOT) genericArguments(at target.Addr, n int, follow func(target.Addr) (target.Addr, error), width target.Addr) ([]target.Addr, error) {
	if n == 1 {
		return []target.Addr{at}, nil
	}
	if n > limits.GenericArguments {
		return nil, target.Corruptf("an instance with %d type arguments", n)
	}
	var out []target.Addr
	for range n {
		a, err := follow(at)
		if err != nil {
			return nil, err
		}
		out, at = append(out, a), at+width
	}
	return out, nil
}

// typeAssembly returns the simple name of the assembly that defines a type.
func (r *nativeAOT) typeAssembly(th target.Addr) (string, error) {
	for range limits.TypeNameDepth {
		mt, err := r.TrustedMethodTable(th)
		if err != nil {
			return "", err
		}
		if mt.PerInstInfo != 0 {
			th = mt.PerInstInfo
			continue
		}
		definition, _, err := r.genericInstance(mt)
		if err != nil {
			return "", err
		}
		if definition == 0 {
			definition = mt.Addr
		}
		if d := r.programNames().types[definition]; d.assembly != "" {
			return d.assembly, nil
		}
		return "", target.Unsupportedf("the program does not record the assembly that defines %016x", uint64(mt.Addr))
	}
	return "", target.Limitf("type %016x is nested deeper, or its name is longer, than sosgo reads", uint64(th))
}

// codeName returns the name of the NativeAOT method with its code at an address, in the form of NativeAOT's
// stack traces. It returns "" for an unknown name, and for a CLR: a CodeReader names its methods.
func (r *Runtime) codeName(at target.Addr) (string, error) { return r.impl.codeName(at) }

func (clr) codeName(target.Addr) (string, error) { return "", nil }

func (r *nativeAOT) codeName(at target.Addr) (string, error) {
	n := r.programNames()
	i := sort.Search(len(n.methods), func(i int) bool { return n.methods[i].at >= at })
	if i < len(n.methods) && n.methods[i].at == at {
		return n.methods[i].meta.MethodName(&n.methods[i].Method)
	}
	if name, err := r.invokableName(at); name != "" || err != nil {
		return name, err
	}
	if name := n.symbols.method(at); name != "" {
		return name, nil
	}
	return "", n.noCode
}

// invokableName returns the name of the method at an address that reflection can call, or "".
func (r *nativeAOT) invokableName(at target.Addr) (string, error) {
	n := r.programNames()
	m, ok := n.invoked[at]
	if !ok {
		return "", nil
	}
	d, ok := n.types[m.owner]
	if !ok {
		mt, err := r.TrustedMethodTable(m.owner)
		if err != nil {
			return "", err
		}
		definition, _, err := r.genericInstance(mt)
		if err != nil {
			return "", err
		}
		if d, ok = n.types[definition]; !ok {
			return "", nil
		}
	}
	return d.meta.MethodOf(d.handle, m.at)
}

// methodOfFunclet returns the start of the method of the NativeAOT code that begins at start. data is the
// address of that code's language-specific data (UnixNativeCodeManager.cpp). It returns start unless the code
// is a funclet, such as a catch block.
func (r *Runtime) methodOfFunclet(start, data target.Addr) (target.Addr, error) {
	return r.impl.methodOfFunclet(start, data)
}

func (clr) methodOfFunclet(start, _ target.Addr) (target.Addr, error) { return start, nil }

func (r *nativeAOT) methodOfFunclet(start, data target.Addr) (target.Addr, error) {
	const kindMask, behindMainData = 3, 1 + 4 // flags, then for a funclet the distances to the method's data and to its code
	flags, err := target.Uint8(r.mem, data)
	if err != nil || flags&kindMask == 0 {
		return start, err
	}
	distance, err := target.Uint32(r.mem, data+behindMainData)
	if err != nil || !r.inst.Module.Contains(start-target.Addr(int32(distance))) {
		return start, err
	}
	return start - target.Addr(int32(distance)), nil
}

// definitionName also returns "" for types of objects with static fields.
func (r *nativeAOT) definitionName(mt *MethodTable) (string, error) {
	n := r.programNames()
	d, ok := n.types[mt.Addr]
	switch {
	case ok:
		return d.name, nil
	case mt.IsArray() || n.statics[mt.Addr] != "" || mt.Addr == r.known.Free:
		return "", nil
	case mt.Addr == r.known.String:
		return "System.String", nil
	}
	at, _, err := r.genericInstance(mt)
	if err != nil || at != 0 {
		return n.types[at].name, err
	}
	name, err := r.TypeName(mt.Addr, NameManaged)
	if err == nil && strings.ContainsAny(name, "<[`") {
		err = target.Unsupportedf("MethodTable %016x is %s, of a generic type that has no name in the program's metadata", uint64(mt.Addr), name)
	}
	return name, err
}
