package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A ModuleDetails describes a managed module and, if requested, the types that it has loaded.
type ModuleDetails struct {
	Gaps
	Module     Module                       `json:"module"`
	Types      iter.Seq2[ModuleType, error] `json:"types,omitempty"`
	References iter.Seq2[ModuleType, error] `json:"references,omitempty"`
}

// A Module is the runtime's structure of the same name (ceeload.h).
type Module struct {
	Module          target.Addr                   `json:"module" doc:"address of the Module"`
	Name            Text                          `json:"name,omitzero" doc:"path of the file"`
	Assembly        target.Addr                   `json:"assembly" doc:"address of the Assembly"`
	ImageBase       Pointer                       `json:"imageBase,omitzero" doc:"where the image lies"`
	LoaderAllocator Pointer                       `json:"loaderAllocator,omitzero" doc:"owns the module's structures"`
	Dynamic         bool                          `json:"dynamic" doc:"made by Reflection.Emit"`
	InMemory        bool                          `json:"inMemory" doc:"loaded from bytes, not from a file"`
	Flat            Maybe[bool]                   `json:"flat,omitzero" doc:"the image is laid out as in its file; absent if that is not known"`
	Maps            map[string]Maybe[target.Addr] `json:"maps" doc:"tables from metadata rows to structures"`
	Metadata        Pointer                       `json:"metadata,omitzero" doc:"where the metadata lies"`
	MetadataSize    uint64                        `json:"metadataSize,omitempty" doc:"bytes of metadata"`
	DomainLocal     *DomainLocalModule            `json:"domainLocalModule,omitempty" doc:"statics of the module's classes; before .NET 9, absent while none are allocated"`
}

// A DomainLocalModule is the runtime's structure of the same name (appdomain.hpp): the statics of a module's classes.
type DomainLocalModule struct {
	Address        target.Addr `json:"address" doc:"start of the structure, from which non-GC statics count"`
	GCStatics      Pointer     `json:"gcStatics,omitzero" doc:"start of the GC statics"`
	DynamicClasses int         `json:"dynamicClasses,omitempty" doc:"generic types with statics"`
}

// A ModuleType is a loaded type that a module defines or refers to.
type ModuleType struct {
	MethodTable target.Addr `json:"methodTable" doc:"of the type"`
	Token       Hex         `json:"token" doc:"TypeDef or TypeRef"`
	Name        Text        `json:"name,omitzero" doc:"of the type"`
}

// An Assembly is the runtime's structure of the same name (assembly.hpp). It has one module since .NET Core.
type Assembly struct {
	Gaps
	Assembly target.Addr        `json:"assembly" doc:"address of the Assembly"`
	Domain   Maybe[target.Addr] `json:"domain" doc:"domain that it belongs to"`
	Path     Text               `json:"path,omitzero" doc:"of its file; absent for one made in memory"`
	Dynamic  bool               `json:"dynamic" doc:"made by Reflection.Emit"`
	Module   target.Addr        `json:"module" doc:"address of its Module"`
	Name     Text               `json:"name,omitzero" doc:"path of the module, or what it is"`
}

// A DomainKind is the kind of a Domain.
type DomainKind string

// The kinds of domains.
const (
	DomainSystem      DomainKind = "system"
	DomainApplication DomainKind = "application"
)

// A Domain is the system domain or the application domain.
type Domain struct {
	Gaps
	Address    target.Addr  `json:"address" doc:"of the domain"`
	Kind       DomainKind   `json:"kind" doc:"\"system\" or \"application\""`
	Name       Text         `json:"name,omitzero" doc:"friendly name"`
	Heaps      []DomainHeap `json:"heaps,omitempty" doc:"native heaps that the domain's structures lie in"`
	Assemblies []Assembly   `json:"assemblies,omitempty" doc:"in the order in which they were loaded"`
}

// A DomainHeap is a native heap of the runtime.
type DomainHeap struct {
	Kind    string      `json:"kind" doc:"what the runtime keeps in it"`
	Address target.Addr `json:"address" doc:"of the heap"`
}

// An AppDomain is the application domain that an object belongs to.
type AppDomain struct {
	Gaps
	Address target.Addr `json:"address" doc:"of the AppDomain"`
	Name    Text        `json:"name,omitzero" doc:"friendly name"`
	ID      int         `json:"id" doc:"number of the domain"`
}

// A Signature is a signature (ECMA-335 II.23.2) in readable form.
type Signature struct {
	Signature string `json:"signature" doc:"the signature in words"`
}

// A NameSearch lists the matches of a name or token in modules.
type NameSearch struct {
	Gaps
	Matches []NameMatch `json:"matches" doc:"in the order of the modules"`
	Without int         `json:"modulesWithoutMatch" doc:"how many modules have none"`
	Unread  int         `json:"modulesUnread,omitempty" doc:"how many others may have one, but their names or tokens can't be read"`

	// Modules lists the searched modules, with or without matches.
	Modules []SearchedModule `json:"-"`
	// All reports that all modules were to be searched, not only those with a given name.
	All bool `json:"-"`
	// Token is the token of the search; 0 if the search is for a name.
	Token Hex `json:"-"`
}

// A SearchedModule is a searched module with its matches.
type SearchedModule struct {
	Module  target.Addr
	File    Text
	Matches []NameMatch
	Err     error // why Matches may be incomplete
	// Similar lists the matches as SOS finds them: it adds loaded types with names that contain the search text, in
	// token order, unless the text names a member. It is nil if Matches is used.
	Similar iter.Seq2[NameMatch, error]
}

// A NameMatch is a type, method or field that matches a name or token.
type NameMatch struct {
	Module      target.Addr `json:"module" doc:"address of the Module"`
	File        Text        `json:"file,omitzero" doc:"file name of the module"`
	Kind        MatchKind   `json:"kind" doc:"\"type\", \"method\" or \"field\""`
	Token       Hex         `json:"token" doc:"metadata token of the type or method, of a field that of its type"`
	FieldToken  Hex         `json:"fieldToken,omitempty" doc:"metadata token of a field"`
	Field       Text        `json:"field,omitzero" doc:"name of a field"`
	MethodTable Pointer     `json:"methodTable,omitzero" doc:"of the type; absent while it is not loaded"`
	MethodDesc  Pointer     `json:"methodDesc,omitzero" doc:"of the method; absent while its type is not loaded"`
	Name        Text        `json:"name,omitzero" doc:"of the type, or of the method with its parameters"`
	Code        Pointer     `json:"code,omitzero" doc:"compiled code of the method"`
	// InitializerFailed reports that the type's class constructor threw an exception.
	InitializerFailed bool `json:"initializerFailed,omitempty" doc:"the type's class constructor threw an exception"`
}

// A MatchKind is the kind of a NameMatch.
type MatchKind string

// The kinds of matches.
const (
	MatchType   MatchKind = "type"
	MatchMethod MatchKind = "method"
	MatchField  MatchKind = "field"
)

// A Type describes a type by its MethodTable.
type Type struct {
	Gaps
	MethodTable     target.Addr   `json:"methodTable" doc:"address of the MethodTable"`
	Name            Maybe[string] `json:"name,omitzero" doc:"of the type, as the runtime writes it"`
	Free            bool          `json:"free,omitempty" doc:"the type of free space in the heap; nothing else is known of it"`
	Parent          *target.Addr  `json:"parent,omitempty" doc:"MethodTable of the base class, 0x0 for none"`
	Canonical       target.Addr   `json:"canonical,omitempty" doc:"MethodTable that owns the EEClass"`
	EEClass         Pointer       `json:"eeClass,omitzero" doc:"address of the EEClass"`
	Module          Pointer       `json:"module,omitzero" doc:"module that defines the type"`
	File            Maybe[string] `json:"file,omitzero" doc:"path of the module"`
	Token           Hex           `json:"token,omitempty" doc:"metadata token"`
	LoaderAllocator Pointer       `json:"loaderAllocator,omitzero" doc:"managed LoaderAllocator object of a type that can be unloaded"`
	LoadContext     Pointer       `json:"assemblyLoadContext,omitzero" doc:"managed AssemblyLoadContext object, if it was ever made"`
	BaseSize        uint32        `json:"baseSize" doc:"bytes of an instance without its components"`
	ComponentSize   uint16        `json:"componentSize,omitempty" doc:"bytes of a component of a string or array"`
	GCPointers      bool          `json:"gcPointers" doc:"instances hold references"`
	Methods         *int          `json:"methods,omitempty" doc:"number of methods, inherited virtual ones included"`
	MethodList      []MethodSlot  `json:"methodList,omitempty" doc:"with -md: the methods"`
	Interfaces      []target.Addr `json:"interfaces,omitempty" doc:"MethodTables of the interfaces"`
	Attributes      *Hex          `json:"attributes,omitempty" doc:"TypeAttributes of ECMA-335 II.23.1.15"`
	InstanceFields  *int          `json:"instanceFields,omitempty" doc:"number of instance fields, inherited ones included"`
	StaticFields    *int          `json:"staticFields,omitempty" doc:"number of static fields"`
	FieldList

	// ByCanonical reports that debuggers find the class by the canonical MethodTable, not by the EEClass (since .NET
	// 9).
	ByCanonical bool `json:"-"`
	// DataSize is BaseSize as the data-access library returns it: for strings without the terminating character.
	DataSize uint32 `json:"-"`
	// ParentClass is the EEClass of the base class; 0 if there is no base class.
	ParentClass   Maybe[target.Addr] `json:"-"`
	NumInterfaces int                `json:"-"`
	NumVirtuals   int                `json:"-"` // slots of the vtable
	NumSlots      int                `json:"-"` // all slots for methods
	ThreadStatics int                `json:"-"` // static fields with a value per thread
	// InitializerFailed reports that the class constructor threw an exception.
	InitializerFailed bool `json:"initializerFailed,omitempty" doc:"the class constructor threw an exception: every use of the class throws TypeInitializationException"`
	HasMethods        bool `json:"-"` // MethodList was requested
}

// A MethodSlot is one method of a type.
type MethodSlot struct {
	Entry      target.Addr   `json:"entry" doc:"where calls go, 0x0 if the runtime has not made it yet"`
	MethodDesc target.Addr   `json:"methodDesc" doc:"address of the MethodDesc"`
	Code       Text          `json:"code" doc:"\"JIT\", \"PreJIT\" (ahead of time), \"FCALL\" (in the runtime itself) or \"NONE\""`
	Slot       int           `json:"slot" doc:"in the type's table of methods"`
	Name       Maybe[string] `json:"name,omitzero" doc:"type, name, generic arguments and parameters"`
}
