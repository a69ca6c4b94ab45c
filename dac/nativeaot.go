package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A NativeAOT process has no CLR, but it has the GC of one, and MethodTables of a smaller form. A header for debuggers
// has the offsets of their members (src/coreclr/nativeaot/Runtime/DebugHeader.cpp).

// The debug header: cookie, major and minor version, flags, padding, and the arrays
// of members and of variables, which end with an entry of zeros.
const (
	debugCookie      = 0x48444e44 // "DNDH"
	debugPointer64   = 1          // the bits of flags
	debugBigEndian   = 2
	debugEntrySize   = 24
	debugGlobalSize  = 16
	debugGlobalValue = 8  // in such an entry
	debugVariables   = 24 // in the header: address of the array of variables
)

// openNative opens the runtime of a NativeAOT program. It has objects, the names of types, the GC with its handles, and
// the program's threads. Everything else returns target.ErrUnsupported.
func (i *Instance) openNative() (*Runtime, error) {
	l, err := i.nativeLayout()
	if err != nil {
		return nil, err
	}
	r := &Runtime{inst: i, tgt: i.tgt, mem: i.mem, layout: l, files: i.files}
	if err := r.off.bindNative(l); err != nil {
		return nil, err
	}
	if r.native, err = bindNativeTypes(l); err != nil {
		return nil, err
	}
	r.consts.objectMask = 7
	if r.known.Free, err = r.globalPointer("FreeObjectMethodTable"); err != nil {
		return nil, err
	}
	for _, p := range r.nativeProbes() {
		if r.probes = append(r.probes, p); p.Result == ProbeFailed {
			return nil, target.Corruptf("probe %s failed: %s", p.Name, p.Detail)
		}
	}
	r.findNativeTypes()
	return r, nil
}

// IsNative reports whether the program was compiled ahead of time (NativeAOT). Such a program has typed objects, a GC
// and threads. It has no assemblies, methods, fields or explicit frames: methods for those return
// target.ErrUnsupported.
func (r *Runtime) IsNative() bool { return r.native != nil }

// clrOnly returns target.ErrUnsupported for a NativeAOT program, which lacks the CLR's structure what.
func (r *Runtime) clrOnly(what string) error {
	if r.native == nil {
		return nil
	}
	return target.Unsupportedf("a NativeAOT program has no %s", what)
}

// The structures that a NativeAOT program lacks.
const (
	lacksFields  = "record of which fields its types have, and where"
	lacksMethods = "methods that are described at run time"
	lacksModules = "assemblies: the compiler made one program of them"
	lacksDomain  = "AppDomain"
)

// nativeLayout returns the layout from the debug header, completed by the table for its version.
func (i *Instance) nativeLayout() (*layout.Layout, error) {
	rd := layout.Reader{Mem: i.mem, Base: i.aotHeader}
	cookie, major, flags, types, globals := rd.U32(0), rd.U16(4), rd.U32(8), rd.Ptr(16), rd.Ptr(debugVariables)
	switch {
	case rd.Err != nil:
		return nil, fmt.Errorf("debug header: %w", rd.Err)
	case cookie != debugCookie:
		return nil, target.Corruptf("debug header without its cookie")
	case flags&debugPointer64 == 0 || flags&debugBigEndian != 0:
		return nil, target.Unsupportedf("debug header of a process that is not a little-endian 64-bit one")
	case types == 0 || globals == 0:
		return nil, target.Unsupportedf("the debug header is empty: the process had not started its runtime")
	}
	table, err := layout.DebugHeaderTable(major)
	if err != nil {
		return nil, err
	}
	entries, err := i.debugEntries(types)
	if err != nil {
		return nil, err
	}
	names, err := i.debugGlobals(globals)
	if err != nil {
		return nil, err
	}
	part, err := layout.DebugHeaderPart(entries, names, "debug header in the dump")
	if err != nil {
		return nil, err
	}
	b := layout.NewBuilder()
	b.Add(part, layout.Addresses{Pointer: func(n int) (target.Addr, bool) {
		return globals + target.Addr(debugGlobalSize*n+debugGlobalValue), n < len(names)
	}})
	b.Add(table, layout.Addresses{})
	return b.Layout(), nil
}

// findDebugHeader finds a debug header that is not exported in the data of the module: its cookie, flags of a 64-bit
// process, and two arrays in the module. It returns 0 if there is no header that the runtime has filled in.
func (i *Instance) findDebugHeader() target.Addr {
	return i.findInData(func(at target.Addr, v uint64) bool {
		if uint32(v) != debugCookie {
			return false
		}
		rd := layout.Reader{Mem: i.mem, Base: at}
		flags, types, globals := rd.U64(8), rd.Ptr(16), rd.Ptr(debugVariables)
		return rd.Err == nil && flags == debugPointer64 && i.inData(types) && i.inData(globals)
	})
}

// inData reports whether a can be an array of pointers in the module.
func (i *Instance) inData(a target.Addr) bool { return a%8 == 0 && i.Module.Contains(a) }

// debugEntries reads the members that a debug header names.
func (i *Instance) debugEntries(at target.Addr) ([]layout.DebugEntry, error) {
	var out []layout.DebugEntry
	for n := 0; ; n++ {
		rd := layout.Reader{Mem: i.mem, Base: at + target.Addr(debugEntrySize*n)}
		typ, field, offset := rd.Ptr(0), rd.Ptr(8), rd.U32(16)
		switch {
		case rd.Err != nil:
			return nil, fmt.Errorf("members of the debug header: %w", rd.Err)
		case typ == 0:
			return out, nil
		case n == limits.DebugEntries:
			return nil, target.Corruptf("the debug header has more than %d members", n)
		}
		e := layout.DebugEntry{Offset: offset}
		var err error
		if e.Type, err = target.CString(i.mem, typ, limits.IdentifierBytes); err == nil {
			e.Field, err = target.CString(i.mem, field, limits.IdentifierBytes)
		}
		if err != nil {
			return nil, fmt.Errorf("members of the debug header: %w", err)
		}
		out = append(out, e)
	}
}

// debugGlobals reads the names of a debug header's variables.
func (i *Instance) debugGlobals(at target.Addr) ([]string, error) {
	var out []string
	for n := 0; ; n++ {
		name, err := target.Pointer(i.mem, at+target.Addr(debugGlobalSize*n))
		switch {
		case err != nil:
			return nil, fmt.Errorf("variables of the debug header: %w", err)
		case name == 0, n > 0 && !i.Module.Contains(name):
			return out, nil // .NET 8 fills the array to its end, without the closing zeros
		case n == limits.DebugEntries:
			return nil, target.Corruptf("the debug header has more than %d variables", n)
		}
		s, err := target.CString(i.mem, name, limits.IdentifierBytes)
		if err != nil {
			return nil, fmt.Errorf("variables of the debug header: %w", err)
		}
		out = append(out, s)
	}
}

// bindNative binds the few structures that a NativeAOT process shares with a CLR.
func (o *offsets) bindNative(l *layout.Layout) error {
	layout.SetAllAbsent(o)
	for name, dst := range map[string]any{"GCAllocContext": &o.GCAlloc, "String": &o.String, "Array": &o.Array} {
		if err := l.Bind(name, dst); err != nil {
			return err
		}
	}
	return nil
}

// nativeTypes is how MethodTables of NativeAOT are read (MethodTable.h of
// src/coreclr/nativeaot/Runtime), and the lists of its threads.
type nativeTypes struct {
	mt struct {
		span     int // bytes of one read
		Flags    int `layout:"m_uFlags"`
		BaseSize int `layout:"m_uBaseSize"`
		Related  int `layout:"m_pBaseType"` // of an array, pointer or reference: the element's type
		Virtuals int `layout:"NumVirtuals"`
		Ifaces   int `layout:"NumInterfaces"`
		VTable   int `layout:"m_VTable"`
	}
	instance struct {
		Store int `layout:"m_pThreadStore"`
	}
	store struct {
		First int `layout:"m_ThreadList"`
	}
	thread struct {
		Size   int `layout:"size"`
		Next   int `layout:"m_pNext"`
		ID     int `layout:"m_threadId"`
		Alloc  int `layout:"m_rgbAllocContextBuffer,optional"` // of version 4
		EE     int `layout:"m_eeAllocContext,optional"`        // of version 5, which has it in there
		ExInfo int `layout:"m_pExInfoStackHead,optional"`
	}
	eeAlloc struct {
		Alloc int `layout:"m_rgbAllocContextBuffer,optional"`
	}
	exInfo struct {
		Exception int `layout:"m_exception,optional"`
		Previous  int `layout:"m_pPrevExInfo,optional"`
	}
	exception struct {
		Message int `layout:"_message"`
		Inner   int `layout:"_innerException"`
		Text    int `layout:"_stackTraceString"`
		Remote  int `layout:"_remoteStackTraceString"`
		Trace   int `layout:"_corDbgStackTrace"`
		HResult int `layout:"_HResult"`
		Frames  int `layout:"_idxFirstFreeStackTraceEntry"`
	}
	array                                                     target.Addr // MethodTable of System.Array, 0 if its name is unknown
	kindMask, parameterized, definition, pointers, components uint32
	elementShift, elementMask, generic, dynamic               uint32
}

func bindNativeTypes(l *layout.Layout) (*nativeTypes, error) {
	n := &nativeTypes{}
	for _, s := range []struct {
		names []string // from the newest on
		dst   any
	}{
		{[]string{"MethodTable"}, &n.mt}, {[]string{"RuntimeInstance"}, &n.instance}, {[]string{"ThreadStore"}, &n.store},
		{[]string{"RuntimeThreadLocals", "ThreadBuffer"}, &n.thread}, {[]string{"ExInfo"}, &n.exInfo},
		{[]string{"Exception"}, &n.exception},
	} {
		err := l.Bind(s.names[0], s.dst)
		for _, name := range s.names[1:] {
			if err != nil {
				err = l.Bind(name, s.dst)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	n.mt.span = 8 + max(n.mt.Flags, n.mt.BaseSize, n.mt.Related, n.mt.Virtuals, n.mt.Ifaces)
	if n.thread.Alloc == layout.Absent {
		if err := l.Bind("ee_alloc_context", &n.eeAlloc); err != nil {
			return nil, err
		}
		if n.thread.EE == layout.Absent || n.eeAlloc.Alloc == layout.Absent {
			return nil, &layout.Error{Type: "RuntimeThreadLocals", Field: "m_rgbAllocContextBuffer"}
		}
		n.thread.Alloc = n.thread.EE + n.eeAlloc.Alloc
	}
	for name, dst := range map[string]*uint32{"EETypeKindMask": &n.kindMask, "EETypeKindParameterized": &n.parameterized,
		"EETypeKindDefinition": &n.definition, "EETypeIsGeneric": &n.generic, "EETypeIsDynamic": &n.dynamic, "EETypeHasPointers": &n.pointers, "EETypeHasComponentSize": &n.components,
		"EETypeElementTypeShift": &n.elementShift, "EETypeElementTypeMask": &n.elementMask} {
		v, err := l.Uint(name)
		if err != nil {
			return nil, err
		}
		*dst = uint32(v)
	}
	return n, nil
}

// The element types of NativeAOT in use (EETypeElementType of Internal.Runtime).
const (
	eeBoolean   = 0x02
	eeDouble    = 0x0f
	eeValueType = 0x10
	eeNullable  = 0x12
	eeInterface = 0x15
	eeArray     = 0x17
	eeSZArray   = 0x18
)

// nativeElementTypes maps element types of NativeAOT to those of ECMA-335.
var nativeElementTypes = [...]metadata.ElementType{
	0x01: metadata.ElementVoid, eeBoolean: metadata.ElementBoolean, 0x03: metadata.ElementChar, 0x04: metadata.ElementI1, 0x05: metadata.ElementU1,
	0x06: metadata.ElementI2, 0x07: metadata.ElementU2, 0x08: metadata.ElementI4, 0x09: metadata.ElementU4, 0x0a: metadata.ElementI8,
	0x0b: metadata.ElementU8, 0x0c: metadata.ElementI, 0x0d: metadata.ElementU, 0x0e: metadata.ElementR4, eeDouble: metadata.ElementR8,
	eeValueType: metadata.ElementValueType, eeNullable: metadata.ElementValueType, 0x14: metadata.ElementClass, eeInterface: metadata.ElementClass,
	0x16: metadata.ElementClass, eeArray: metadata.ElementArray, eeSZArray: metadata.ElementSZArray,
}

// nativeElementType returns the element type of a type. Its Flags2 has NativeAOT's.
func nativeElementType(mt *MethodTable) (metadata.ElementType, error) {
	if int(mt.Flags2) < len(nativeElementTypes) && nativeElementTypes[mt.Flags2] != 0 {
		return nativeElementTypes[mt.Flags2], nil
	}
	return 0, target.Unsupportedf("%016x is of element type %#x", uint64(mt.Addr), mt.Flags2)
}

// nativeMethodTableAt proves a MethodTable: by the program's map of types, which has all with a name of their own, or
// by its base classes.
func (r *Runtime) nativeMethodTableAt(a target.Addr) (*MethodTable, Proof, error) {
	mt, err := r.MethodTable(a)
	if err != nil {
		return nil, Proof{}, err
	}
	if _, ok := r.nativeNamed().types[a]; ok {
		return mt, Proof{Strength: Listed, By: "the program's map of types"}, nil
	}
	return mt, Proof{Strength: Consistent, By: "its base classes"}, nil
}

// readNativeMethodTable reads a MethodTable of NativeAOT. Its Flags are converted to the CLR's where both have a flag.
// It has no module, token or EEClass.
func (r *Runtime) readNativeMethodTable(a target.Addr) (*MethodTable, error) {
	n := r.native
	if !canonical(a) || a%8 != 0 {
		return nil, notMethodTable(a)
	}
	b, err := target.Bytes(r.mem, a, n.mt.span)
	if err != nil {
		return nil, fmt.Errorf("MethodTable %#x: %w", uint64(a), err)
	}
	le := binary.LittleEndian
	flags, related := le.Uint32(b[n.mt.Flags:]), target.Addr(le.Uint64(b[n.mt.Related:]))
	if !r.inst.Module.Contains(a) && flags&n.dynamic == 0 && a != r.known.Free {
		return nil, notMethodTable(a) // only types that were made at run time are elsewhere
	}
	mt := &MethodTable{Addr: a, Canonical: a, homeless: r.clrOnly(lacksModules), BaseSize: le.Uint32(b[n.mt.BaseSize:]),
		NumVirtuals: le.Uint16(b[n.mt.Virtuals:]), NumInterfaces: le.Uint16(b[n.mt.Ifaces:])}
	if flags&n.components != 0 {
		mt.ComponentSize = uint16(flags)
		mt.Flags = mtfComponentSize | uint32(mt.ComponentSize)
	}
	if flags&n.pointers != 0 {
		mt.Flags |= mtfContainsPtrs
	}
	category := CategoryClass
	e := flags >> n.elementShift & n.elementMask
	mt.Flags2 = e
	switch {
	case e >= eeBoolean && e <= eeDouble:
		category = CategoryTruePrimitive
	case e == eeNullable:
		category = CategoryNullable
	case e == eeValueType:
		category = CategoryValueType
	case e == eeInterface:
		category = CategoryInterface
	case e == eeArray:
		category = CategoryArray
	case e == eeSZArray:
		category = CategorySZArray
	}
	mt.Flags |= uint32(category) << 16
	switch flags & n.kindMask {
	case 0:
		mt.Parent = related
	case n.parameterized:
		mt.PerInstInfo, mt.Parent = related, n.array
	default:
		return nil, notMethodTable(a) // of a generic definition there are no objects
	}
	if err := mt.checkKind(); err != nil {
		return nil, err
	}
	return mt, nil
}

// checkNativeMethodTable proves mt: its base classes, or those of an array's element, lead to System.Object.
func (r *Runtime) checkNativeMethodTable(mt *MethodTable) error {
	if mt.Addr == r.known.Free {
		return nil
	}
	first := mt.Addr
	for depth := 0; depth < limits.TypeNameDepth; depth++ {
		next := mt.Parent
		switch {
		case mt.IsArray():
			next = mt.PerInstInfo
		case mt.PerInstInfo != 0:
			return notMethodTable(first) // pointers and references have no objects
		case next == 0:
			if isSystemObject(mt) && !mt.IsValueType() {
				return nil
			}
			if _, named := r.nativeNamed().types[mt.Addr]; named && mt.IsInterface() {
				return nil
			}
			return notMethodTable(first)
		}
		var err error
		if mt, err = r.readNativeMethodTable(next); err != nil {
			return err
		}
	}
	return notMethodTable(first)
}

// nativeProbes checks the layout against the process.
func (r *Runtime) nativeProbes() []Probe {
	return runProbes(
		namedProbe{"free object", r.probeFree},
		namedProbe{"GcDacVars", r.probeGC},
		namedProbe{"threads", func() (string, error) {
			threads, err := r.nativeThreads()
			return fmt.Sprintf("%d threads", len(threads)), err
		}},
	)
}

// findNativeString finds the MethodTable of System.String by its name, or without a name by its form: it is the only
// type with components of two bytes that is not an array. It returns 0 if the dump lacks it.
func (r *Runtime) findNativeString() target.Addr {
	var found target.Addr
	for _, at := range r.inst.nativeImage().strings {
		flags, err := target.Uint32(r.mem, at+target.Addr(r.native.mt.Flags))
		if err != nil || flags&r.native.components == 0 {
			continue
		}
		mt, err := r.MethodTable(at)
		if err != nil || mt.IsArray() || mt.ComponentSize != 2 {
			continue
		}
		if d := r.nativeNamed().types[at]; d.name == "System.String" && d.assembly == coreLibrary {
			return at
		}
		if found != 0 {
			return 0 // several match, and nothing distinguishes them
		}
		found = at
	}
	return found
}

// findNativeTypes finds the runtime's well-known types by name. Without names it uses other facts: strings derive from
// System.Object, and thrown objects derive from System.Exception.
func (r *Runtime) findNativeTypes() {
	for at, d := range r.nativeNamed().types {
		switch {
		case d.assembly != coreLibrary:
		case d.name == "System.Object":
			r.known.Object = at
		case d.name == "System.Array":
			r.native.array = at
		case d.name == "System.Exception":
			r.known.Exception = at
		}
	}
	r.known.String = r.findNativeString()
	if mt, err := r.MethodTable(r.known.String); err == nil && r.known.Object == 0 {
		r.known.Object = mt.Parent
	}
	if r.known.Exception == 0 {
		r.known.Exception = r.findThrown()
	}
}

// findThrown returns the common base class of the exceptions that threads are handling, or 0.
func (r *Runtime) findThrown() target.Addr {
	threads, _ := r.nativeThreads()
	for i := range threads {
		word, err := target.Uint64(r.mem, threads[i].LastThrown)
		if threads[i].LastThrown == 0 || err != nil {
			continue
		}
		mt, err := r.TrustedMethodTable(target.Addr(word &^ r.consts.objectMask))
		for depth := 0; err == nil && depth < limits.ParentChain && mt.Parent != 0; depth++ {
			if mt.Parent == r.known.Object {
				return mt.Addr
			}
			mt, err = r.TrustedMethodTable(mt.Parent)
		}
	}
	return 0
}
