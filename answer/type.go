package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A ModuleDetails describes a managed module and, if they are wanted, the types
// that it has loaded.
type ModuleDetails struct {
	Gaps
	Module     Module                       `json:"module"`
	Types      iter.Seq2[ModuleType, error] `json:"types,omitempty"`
	References iter.Seq2[ModuleType, error] `json:"references,omitempty"`
}

// A Module is the runtime's structure of that name (ceeload.h).
type Module struct {
	Module          target.Addr                   `json:"module" doc:"address of the Module"`
	Name            Text                          `json:"name,omitzero" doc:"path of the file"`
	Assembly        target.Addr                   `json:"assembly" doc:"address of the Assembly"`
	ImageBase       Pointer                       `json:"imageBase,omitzero" doc:"where the image lies"`
	LoaderAllocator Pointer                       `json:"loaderAllocator,omitzero" doc:"owns the module's structures"`
	Dynamic         bool                          `json:"dynamic" doc:"made by Reflection.Emit"`
	InMemory        bool                          `json:"inMemory" doc:"loaded from bytes, not from a file"`
	Flat            bool                          `json:"flat" doc:"the image is laid out as in its file"`
	Maps            map[string]Maybe[target.Addr] `json:"maps" doc:"tables from metadata rows to structures"`
	Metadata        Pointer                       `json:"metadata,omitzero" doc:"where the metadata lies"`
	MetadataSize    uint64                        `json:"metadataSize,omitempty" doc:"bytes of metadata"`
}

// A ModuleType is a loaded type that a module defines or refers to.
type ModuleType struct {
	MethodTable target.Addr `json:"methodTable" doc:"of the type"`
	Token       Hex         `json:"token" doc:"TypeDef or TypeRef"`
	Name        Text        `json:"name,omitzero" doc:"of the type"`
}

// An Assembly is the runtime's structure of that name (assembly.hpp) with its
// module: since .NET Core an assembly has one.
type Assembly struct {
	Gaps
	Assembly target.Addr        `json:"assembly" doc:"address of the Assembly"`
	Domain   Maybe[target.Addr] `json:"domain" doc:"domain that it belongs to"`
	Path     Text               `json:"path,omitzero" doc:"of its file; absent for one made in memory"`
	Dynamic  bool               `json:"dynamic" doc:"made by Reflection.Emit"`
	Module   target.Addr        `json:"module" doc:"address of its Module"`
	Name     Text               `json:"name,omitzero" doc:"path of the module, or what it is"`
}

// A Domain is the system domain or the application domain.
type Domain struct {
	Gaps
	Address    target.Addr  `json:"address" doc:"of the domain"`
	Kind       string       `json:"kind" doc:"\"system\" or \"application\""`
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

// A Signature is a signature of ECMA-335 II.23.2 in words.
type Signature struct {
	Signature string `json:"signature" doc:"the signature in words"`
}

// A NameSearch is what a name or a token means in the modules that were looked
// at.
type NameSearch struct {
	Gaps
	Matches []NameMatch `json:"matches" doc:"in the order of the modules"`
	Without int         `json:"modulesWithoutMatch" doc:"how many modules have none"`

	// Modules are the modules that were looked at, with or without a match.
	Modules []SearchedModule `json:"-"`
	// All says that all modules were to be looked at, not those of one name.
	All bool `json:"-"`
	// Token is the token that was looked for, 0 for a name.
	Token Hex `json:"-"`
}

// A SearchedModule is a module in which a name or token was looked for.
type SearchedModule struct {
	Module  target.Addr
	File    Text
	Matches []NameMatch
	// Similar are the matches in SOS's way: also loaded types whose name contains
	// what was looked for, in the order of their tokens, where the name is not a
	// member's. Nil where Matches has them.
	Similar iter.Seq2[NameMatch, error]
}

// A NameMatch is a type, method or field with a name or token.
type NameMatch struct {
	Module      target.Addr `json:"module" doc:"address of the Module"`
	File        Text        `json:"file,omitzero" doc:"file name of the module"`
	Kind        string      `json:"kind" doc:"\"type\", \"method\" or \"field\""`
	Token       Hex         `json:"token" doc:"metadata token of the type or method, of a field that of its type"`
	FieldToken  Hex         `json:"fieldToken,omitempty" doc:"metadata token of a field"`
	Field       Text        `json:"field,omitzero" doc:"name of a field"`
	MethodTable Pointer     `json:"methodTable,omitzero" doc:"of the type; absent while it is not loaded"`
	MethodDesc  Pointer     `json:"methodDesc,omitzero" doc:"of the method; absent while its type is not loaded"`
	Name        Text        `json:"name,omitzero" doc:"of the type, or of the method with its parameters"`
	Code        Pointer     `json:"code,omitzero" doc:"compiled code of the method"`
}

// The kinds of matches.
const (
	MatchType   = "type"
	MatchMethod = "method"
	MatchField  = "field"
)
