package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A contract is a part of the runtime's layout with a version of its own (dotnet/runtime docs/design/datacontracts, one file
// for each; src/coreclr/vm/datadescriptor and src/coreclr/gc/datadescriptor list those of a runtime).
type contract struct {
	name string
	// implemented are the versions whose algorithm sosgo follows: numbers in .NET 9 and 10, "c1" and so on since. Previews of
	// 11 counted on from the numbers ("c2" of ExecutionManager); the release began anew.
	implemented []string
	// types and globals rest on the contract: a descriptor with another version of it describes something else by them.
	types, globals []string
	gives          string // what is lost without it; empty if sosgo does not use it
	// renamed are the members ("Type.Field") and globals that mean something else since versions are strings, or have another
	// name there, with the name that readers use.
	renamed map[string]string
	// constants describe formats by version, as a table does for runtimes without the contract.
	constants map[string]map[string]string
}

var contracts = []contract{
	{name: "Thread", implemented: []string{"1", "c1"},
		types:   []string{"Thread", "ThreadStore", "RuntimeThreadLocals", "EEAllocContext", "ThreadLocalData", "InFlightTLSData", "TLSIndex", "IdDispenser", "GCFrame"},
		globals: []string{"ThreadStore", "FinalizerThread", "GCThread", "ThinlockThreadIdDispenser", "OffsetOfCurrentThreadInfo"},
		gives:   "managed threads and their static fields"},
	{name: "Exception", implemented: []string{"1", "c1"}, types: []string{"Exception", "ExceptionInfo"}, globals: []string{"ExceptionMethodTable"},
		gives: "exceptions", renamed: map[string]string{"ExceptionInfo.ThrownObject": "Object"}}, // the reference; before, a handle to it
	{name: "Object", implemented: []string{"1", "c1"}, types: []string{"Object", "ObjectHeader", "String", "Array"},
		globals: []string{"ObjectToMethodTableUnmask", "SyncBlockValueToObjectOffset", "StringMethodTable", "ObjectMethodTable"}, gives: "objects"},
	{name: "SyncBlock", implemented: []string{"1", "c1"}, types: []string{"SyncBlock", "SyncTableEntry", "SyncBlockCache"},
		globals: []string{"SyncBlockCache", "SyncTableEntries"}, gives: "locks and hash codes of objects"},
	{name: "Loader", implemented: []string{"1", "c1"},
		types: []string{"Module", "ModuleLookupMap", "Assembly", "DomainAssembly", "PEAssembly", "AssemblyBinder", "PEImage", "PEImageLayout", "ProbeExtensionResult", "AppDomain",
			"SystemDomain", "ArrayListBase", "ArrayListBlock", "LoaderAllocator", "LoaderHeap", "LoaderHeapBlock", "VirtualCallStubManager"},
		globals: []string{"AppDomain", "SystemDomain"}, gives: "assemblies, modules and loader heaps"},
	{name: "RuntimeTypeSystem", implemented: []string{"1", "c1"},
		types: []string{"MethodTable", "MethodTableAuxiliaryData", "EEClass", "ArrayClass", "GenericsDictInfo", "TypeDesc", "ParamTypeDesc", "TypeVarTypeDesc", "FnPtrTypeDesc",
			"FieldDesc", "DynamicStaticsInfo", "ThreadStaticsInfo", "MethodDesc", "MethodDescChunk", "InstantiatedMethodDesc", "StoredSigMethodDesc", "DynamicMethodDesc",
			"EETypeHashTable", "InstMethodHashTable"},
		globals: []string{"FreeObjectMethodTable"}, gives: "types, fields and methods"},
	{name: "EcmaMetadata", implemented: []string{"1", "c1"}, types: []string{"DynamicMetadata"}, gives: "metadata of assemblies that were made at run time"},
	{name: "ExecutionManager", implemented: []string{"2", "c1", "c2"},
		types: []string{"RangeSectionMap", "RangeSectionFragment", "RangeSection", "RealCodeHeader", "CodeHeapListNode", "EEJitManager", "LoaderCodeHeap", "HostCodeHeap",
			"ReadyToRunInfo", "RuntimeFunction", "HashMap", "Bucket"},
		globals: []string{"ExecutionManagerCodeRangeMapAddress", "EEJitManagerAddress"}, gives: "methods of code addresses, and so managed stacks",
		renamed: map[string]string{"EEJitManagerAddress": "EEJitManager"}},
	{name: "CodeVersions", implemented: []string{"1", "c1"},
		types: []string{"ILCodeVersioningState", "ILCodeVersionNode", "NativeCodeVersionNode", "MethodDescVersioningState"}, gives: "versions of a method's code"},
	{name: "PrecodeStubs", implemented: []string{"3", "c1", "c3"},
		types: []string{"PrecodeMachineDescriptor", "StubPrecodeData", "FixupPrecodeData", "ThisPtrRetBufPrecodeData"}, gives: "methods of call stubs"},
	{name: "StackWalk", implemented: []string{"1", "c1"},
		types: []string{"Frame", "InlinedCallFrame", "SoftwareExceptionFrame", "FramedMethodFrame", "TransitionBlock", "FuncEvalFrame", "DebuggerEval", "ResumableFrame",
			"HijackFrame", "HijackArgs", "FaultingExceptionFrame", "DynamicHelperFrame", "CalleeSavedRegisters"}, gives: "stacks past frames of the runtime"},
	{name: "StressLog", implemented: []string{"2", "c1", "c2"},
		types:   []string{"StressLog", "StressLogModuleDesc", "ThreadStressLog", "StressLogChunk", "StressMsgHeader", "StressMsg"},
		globals: []string{"StressLog"}, gives: "the stress log"},
	{name: "DebugInfo", implemented: []string{"1", "c1", "c2"}, gives: "IL offsets and places of variables in compiled code",
		constants: map[string]map[string]string{
			"1":  {"DebugInfo": `{"JitDebugInfoFlagByte": 1, "PatchpointInfoSize": 40, "PatchpointInfoNumLocals": 16, "BoundsPacked": 1}`},
			"c1": {"DebugInfo": `{"Chunks": 1, "BoundsPacked": 1}`},
			"c2": {"DebugInfo": `{"Chunks": 1, "BoundsPacked": 1}`},
		}},
	{name: "GCInfo", implemented: []string{"c1"}, globals: []string{"GCInfoVersion"}, gives: "references on managed stacks"},
	{name: "GC", implemented: []string{"c1"},
		types:   []string{"GCHeap", "Generation", "CFinalize", "HeapSegment", "OomHistory", "HandleTableMap", "HandleTableBucket", "HandleTable", "TableSegment", "RegionFreeList"},
		globals: []string{"GCIdentifiers", "GCHeapGenerationTable", "Heaps", "NumHeaps", "HandleTableMap"}, gives: "the GC heap, its handles and its finalizer queue"},
	{name: "SHash", implemented: []string{"c1"}, types: []string{"DynamicILBlobTable"}, gives: "IL that was written at run time"},
	{name: "PlatformMetadata", implemented: []string{"1", "c1"}, types: []string{"PlatformMetadata"}},
	{name: "ReJIT", implemented: []string{"1", "c1"}, types: []string{"ProfControlBlock"}},
	{name: "DacStreams", implemented: []string{"1", "c1"}},
	{name: "RuntimeInfo", implemented: []string{"1", "c1"}},
}

// A ContractState describes a contract of a descriptor.
type ContractState struct {
	Name    string
	Version string // in the process
	// Used reports whether sosgo reads anything by the contract, Implemented whether it reads this version of it.
	Used, Implemented bool
	Gives             string // what rests on the contract; empty unless Used
}

// Contracts lists the contracts of the merged descriptors, by name.
func (l *Layout) Contracts() []ContractState {
	out := make([]ContractState, 0, len(l.contracts))
	for _, name := range slices.Sorted(maps.Keys(l.contracts)) {
		s := ContractState{Name: name, Version: l.contracts[name]}
		if c := contractNamed(name); c != nil {
			s.Used, s.Implemented, s.Gives = c.gives != "", slices.Contains(c.implemented, s.Version), c.gives
		}
		out = append(out, s)
	}
	return out
}

func contractNamed(name string) *contract {
	if i := slices.IndexFunc(contracts, func(c contract) bool { return c.name == name }); i >= 0 {
		return &contracts[i]
	}
	return nil
}

// renamed returns the names that readers use for members and globals of p's contracts, where those are others.
func (p *Part) renamed() map[string]string {
	out := map[string]string{}
	for name, version := range p.contracts {
		if c := contractNamed(name); c != nil && strings.HasPrefix(version, "c") {
			maps.Copy(out, c.renamed)
		}
	}
	return out
}

// formats returns the constants that the versions of p's contracts imply.
func (p *Part) formats() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, version := range p.contracts {
		if c := contractNamed(name); c != nil {
			for constant, text := range c.constants[version] {
				out[constant] = json.RawMessage(text)
			}
		}
	}
	return out
}

// refuse records the types and globals of p's contracts whose version is not implemented. No part supplies them then.
func (l *Layout) refuse(p *Part) {
	for name, version := range p.contracts {
		c := contractNamed(name)
		if c == nil || slices.Contains(c.implemented, version) {
			continue
		}
		reason := fmt.Sprintf("contract %s has version %s, and sosgo reads %s", name, version, strings.Join(c.implemented, ", "))
		for _, t := range c.types {
			l.refused[t] = reason
		}
		for _, g := range c.globals {
			l.refused["global "+g] = reason
		}
	}
}
