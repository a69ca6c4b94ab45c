package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A NativeAOT process has the GC of a CLR, and MethodTables of a smaller form. A header for debuggers has the
// offsets of their members (src/coreclr/nativeaot/Runtime/DebugHeader.cpp).

// nativeAOT implements kind for a NativeAOT program. Such a program has objects, the names of types, the GC
// with its handles, and threads. It has no assemblies, methods, fields or explicit frames.
type nativeAOT struct {
	*Runtime
	nativeLayout
	program lazy.Value[*nativeNames]
}

// openNative opens the runtime of a NativeAOT program.
func (i *Instance) openNative() (*Runtime, error) {
	l, err := i.debugHeader()
	if err != nil {
		return nil, err
	}
	r := &nativeAOT{Runtime: &Runtime{inst: i, tgt: i.tgt, mem: i.mem, layout: *l, files: i.files}}
	r.impl = r
	for f, what := range nativeLacks {
		r.lacks[f] = lackError(what)
	}
	if err := r.off.bindNative(l); err != nil {
		return nil, err
	}
	if err := r.bind(l); err != nil {
		return nil, err
	}
	r.consts.objectMask = 7
	if r.known.Free, err = r.GlobalPointer("FreeObjectMethodTable"); err != nil {
		return nil, err
	}
	for _, p := range r.checkLayout() {
		if r.probes = append(r.probes, p); p.Result == ProbeFailed {
			return nil, target.Corruptf("probe %s failed: %s", p.Name, p.Detail)
		}
	}
	r.findTypes()
	return r.Runtime, nil
}

// A lackError says what a kind of runtime lacks in every dump.
type lackError string

func (e lackError) Error() string { return string(e) }

func (e lackError) Unwrap() error { return target.ErrUnsupported }

// Advice returns "": no other dump and no file has it.
func (e lackError) Advice() string { return "" }

// nativeLacks describes why a NativeAOT program lacks a Feature.
var nativeLacks = [...]string{
	FeatureFields:         "a NativeAOT program has no record of which fields its types have, and where",
	FeatureMethods:        "a NativeAOT program has no methods that are described at run time: clrstack names those of stacks",
	FeatureModules:        "a NativeAOT program has no assemblies: the compiler made one program of them",
	FeatureDomains:        "a NativeAOT program has no AppDomain",
	FeatureStatics:        "the objects in static fields of a NativeAOT program are known, but not the fields",
	FeatureTypeLists:      "a NativeAOT program has no list of its arrays and generic instances: dumpheap -type finds those that have objects",
	FeatureObjectHeaders:  "the content of a NativeAOT program's object headers is unknown",
	FeatureSyncBlocks:     "a NativeAOT program has no table of sync blocks that its debug header names",
	FeatureThreadCounters: "a NativeAOT program does not count its threads",
	FeatureThreadFacts:    "the debug header of a NativeAOT program has no other facts about threads",
	FeatureCodeReferences: "references in the code of a NativeAOT program are not read",
	FeatureVariables:      "a NativeAOT program has no record of where its methods keep their arguments and locals",
}

// bindNative binds the few structures that a NativeAOT process shares with a CLR.
func (o *offsets) bindNative(l *layout.Layout) error {
	layout.SetAllAbsent(o)
	for name, dst := range map[string]any{"GCAllocContext": &o.GCAlloc, "String": &o.String, "Array": &o.Array,
		"Exception": &o.Exception, "ExInfo": &o.ExInfo} {
		if err := l.Bind(name, dst); err != nil {
			return err
		}
	}
	return nil
}

// A nativeLayout has the offsets of structures in NativeAOT's own form: MethodTables (MethodTable.h of
// src/coreclr/nativeaot/Runtime) and threads.
type nativeLayout struct {
	mt struct {
		span     int // bytes of one read
		Flags    int `layout:"m_uFlags"`
		BaseSize int `layout:"m_uBaseSize"`
		Related  int `layout:"m_pBaseType"` // the element's type for an array, pointer or reference
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
		Alloc  int `layout:"m_rgbAllocContextBuffer,optional"` // version 4
		EE     int `layout:"m_eeAllocContext,optional"`        // version 5, contains the allocation context
		ExInfo int `layout:"m_pExInfoStackHead,optional"`
	}
	eeAlloc struct {
		Alloc int `layout:"m_rgbAllocContextBuffer,optional"`
	}
	array                                                     target.Addr // MethodTable of System.Array, 0 if unknown
	kindMask, parameterized, definition, pointers, components uint32
	elementShift, elementMask, generic, dynamic               uint32
}

func (n *nativeLayout) bind(l *layout.Layout) error {
	for _, s := range []struct {
		names []string // the newest first
		dst   any
	}{
		{[]string{"MethodTable"}, &n.mt}, {[]string{"RuntimeInstance"}, &n.instance}, {[]string{"ThreadStore"}, &n.store},
		{[]string{"RuntimeThreadLocals", "ThreadBuffer"}, &n.thread},
	} {
		err := l.Bind(s.names[0], s.dst)
		for _, name := range s.names[1:] {
			if err != nil {
				err = l.Bind(name, s.dst)
			}
		}
		if err != nil {
			return err
		}
	}
	n.mt.span = 8 + max(n.mt.Flags, n.mt.BaseSize, n.mt.Related, n.mt.Virtuals, n.mt.Ifaces)
	if n.thread.Alloc == layout.Absent {
		if err := l.Bind("ee_alloc_context", &n.eeAlloc); err != nil {
			return err
		}
		if n.thread.EE == layout.Absent || n.eeAlloc.Alloc == layout.Absent {
			return &layout.Error{Type: "RuntimeThreadLocals", Field: "m_rgbAllocContextBuffer"}
		}
		n.thread.Alloc = n.thread.EE + n.eeAlloc.Alloc
	}
	for name, dst := range map[string]*uint32{"EETypeKindMask": &n.kindMask, "EETypeKindParameterized": &n.parameterized,
		"EETypeKindDefinition": &n.definition, "EETypeIsGeneric": &n.generic, "EETypeIsDynamic": &n.dynamic, "EETypeHasPointers": &n.pointers, "EETypeHasComponentSize": &n.components,
		"EETypeElementTypeShift": &n.elementShift, "EETypeElementTypeMask": &n.elementMask} {
		v, err := l.Uint(name)
		if err != nil {
			return err
		}
		*dst = uint32(v)
	}
	return nil
}

// Element types of NativeAOT (EETypeElementType of Internal.Runtime).
const (
	eeBoolean   = 0x02
	eeDouble    = 0x0f
	eeValueType = 0x10
	eeNullable  = 0x12
	eeInterface = 0x15
	eeArray     = 0x17
	eeSZArray   = 0x18
)

// nativeElementTypes maps element types of NativeAOT to element types of ECMA-335.
var nativeElementTypes = [...]metadata.ElementType{
	0x01: metadata.ElementVoid, eeBoolean: metadata.ElementBoolean, 0x03: metadata.ElementChar, 0x04: metadata.ElementI1, 0x05: metadata.ElementU1,
	0x06: metadata.ElementI2, 0x07: metadata.ElementU2, 0x08: metadata.ElementI4, 0x09: metadata.ElementU4, 0x0a: metadata.ElementI8,
	0x0b: metadata.ElementU8, 0x0c: metadata.ElementI, 0x0d: metadata.ElementU, 0x0e: metadata.ElementR4, eeDouble: metadata.ElementR8,
	eeValueType: metadata.ElementValueType, eeNullable: metadata.ElementValueType, 0x14: metadata.ElementClass, eeInterface: metadata.ElementClass,
	0x16: metadata.ElementClass, eeArray: metadata.ElementArray, eeSZArray: metadata.ElementSZArray,
}

// elementType returns the element type of a type. Flags2 holds NativeAOT's.
func (r *nativeAOT) elementType(mt *MethodTable) (metadata.ElementType, error) {
	if int(mt.Flags2) < len(nativeElementTypes) && nativeElementTypes[mt.Flags2] != 0 {
		return nativeElementTypes[mt.Flags2], nil
	}
	return 0, target.Unsupportedf("%016x is of element type %#x", uint64(mt.Addr), mt.Flags2)
}

// methodTableAt proves a MethodTable by the program's map of types, which lists all types with names, or by its
// base classes.
func (r *nativeAOT) methodTableAt(a target.Addr) (*MethodTable, Proof, error) {
	mt, err := r.MethodTable(a)
	if err != nil {
		return nil, Proof{}, err
	}
	if _, ok := r.programNames().types[a]; ok {
		return mt, Proof{Strength: Listed, By: "the program's map of types"}, nil
	}
	return mt, Proof{Strength: Consistent, By: "its base classes"}, nil
}

// readMethodTable reads a MethodTable of NativeAOT. It converts flags to the CLR's where both have them.
// Module, token and EEClass are missing.
func (r *nativeAOT) readMethodTable(a target.Addr) (*MethodTable, error) {
	n := &r.nativeLayout
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
		return nil, notMethodTable(a) // only types made at run time are outside of the module
	}
	mt := &MethodTable{Addr: a, Canonical: a, homeless: r.Check(FeatureModules), BaseSize: le.Uint32(b[n.mt.BaseSize:]),
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
		return nil, notMethodTable(a) // a generic definition has no objects
	}
	if err := mt.checkKind(); err != nil {
		return nil, err
	}
	return mt, nil
}

// checkMethodTable proves mt: its base classes, or its element type's for an array, lead to System.Object.
func (r *nativeAOT) checkMethodTable(mt *MethodTable) error {
	if mt.Addr == r.known.Free {
		return nil
	}
	first := mt.Addr
	for range limits.TypeNameDepth {
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
			if _, named := r.programNames().types[mt.Addr]; named && mt.IsInterface() {
				return nil
			}
			return notMethodTable(first)
		}
		var err error
		if mt, err = r.readMethodTable(next); err != nil {
			return err
		}
	}
	return notMethodTable(first)
}

// checkLayout checks the layout against the process.
func (r *nativeAOT) checkLayout() []Probe {
	return runProbes(
		namedProbe{"free object", r.probeFree},
		namedProbe{"GcDacVars", r.probeGC},
		namedProbe{"threads", func() (string, error) {
			l, err := r.readThreads()
			return fmt.Sprintf("%d threads", len(l.threads)), err
		}},
	)
}

// findString finds the MethodTable of System.String by its name. Without names it is the only type with
// components of two bytes that is not an array. It returns 0 if it finds none.
func (r *nativeAOT) findString() target.Addr {
	var found target.Addr
	for _, at := range r.inst.nativeImage().strings {
		flags, err := target.Uint32(r.mem, at+target.Addr(r.mt.Flags))
		if err != nil || flags&r.components == 0 {
			continue
		}
		mt, err := r.MethodTable(at)
		if err != nil || mt.IsArray() || mt.ComponentSize != 2 {
			continue
		}
		if d := r.programNames().types[at]; d.name == "System.String" && d.assembly == coreLibrary {
			return at
		}
		if found != 0 {
			return 0 // several match
		}
		found = at
	}
	return found
}

// findTypes finds the runtime's well-known types by name. Without names it uses that strings derive from
// System.Object, and thrown objects from System.Exception.
func (r *nativeAOT) findTypes() {
	for at, d := range r.programNames().types {
		switch {
		case d.assembly != coreLibrary:
		case d.name == "System.Object":
			r.known.Object = at
		case d.name == "System.Array":
			r.array = at
		case d.name == "System.Exception":
			r.known.Exception = at
		}
	}
	r.known.String = r.findString()
	if mt, err := r.MethodTable(r.known.String); err == nil && r.known.Object == 0 {
		r.known.Object = mt.Parent
	}
	if r.known.Exception == 0 {
		r.known.Exception = r.findThrown()
	}
}

// findThrown returns the common base class of the exceptions that threads are handling, or 0.
func (r *nativeAOT) findThrown() target.Addr {
	l, _ := r.readThreads()
	threads := l.threads
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
