package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A contract is a part of the runtime's layout with a version of its own (dotnet/runtime docs/design/datacontracts, one file
// for each; src/coreclr/vm/datadescriptor and src/coreclr/gc/datadescriptor list those of a runtime).
type contract struct {
	name string
	// implemented are the versions whose algorithm sosgo follows: numbers in .NET 9 and 10, "c1" and so on since.
	implemented []string
	// types and globals rest on the contract: a descriptor with another version of it describes something else by them.
	types, globals string
	gives          string // what is lost without it; empty if sosgo reads nothing by it
	// renamed are the members ("Type.Field") and globals that mean something else since versions are strings, or have another
	// name there, with the name that readers use.
	renamed map[string]string
	// constants describe formats by version, as a table does for runtimes without the contract.
	constants map[string]map[string]string
}

// contracts are those of .NET 9 to 11. docs/contracts.md has the sources and the tests of each.
var contracts = []contract{
	{name: "AuxiliarySymbols"},
	{name: "BuiltInCOM"},
	{name: "CodeNotifications"},
	{name: "CodeVersions", implemented: []string{"1", "c1"}, types: "NativeCodeVersionNode MethodDescVersioningState MethodDescCodeData",
		gives: "versions of a method's code"},
	{name: "ComWrappers"},
	{name: "ConditionalWeakTable"},
	{name: "DacStreams"},
	{name: "DebugInfo", implemented: []string{"1", "c1", "c2"}, gives: "IL offsets and places of variables in compiled code",
		constants: map[string]map[string]string{
			"1":  {"DebugInfo": `{"JitDebugInfoFlagByte": 1, "PatchpointInfoSize": 40, "PatchpointInfoNumLocals": 16, "BoundsPacked": 1}`},
			"c1": {"DebugInfo": `{"Chunks": 1, "BoundsPacked": 1}`},
			"c2": {"DebugInfo": `{"Chunks": 1, "BoundsPacked": 1}`},
		}},
	{name: "Debugger"},
	{name: "EcmaMetadata", implemented: []string{"1", "c1"}, types: "DynamicMetadata", gives: "metadata of assemblies that were made at run time"},
	{name: "Exception", implemented: []string{"1", "c1"}, types: "Exception ExceptionInfo", globals: "ExceptionMethodTable",
		gives: "exceptions", renamed: map[string]string{"ExceptionInfo.ThrownObject": "Object"}}, // the reference; before, a handle to it
	{name: "ExecutionManager", implemented: []string{"2", "c1", "c2"},
		types: "RangeSectionMap RangeSectionFragment RangeSection RealCodeHeader CodeHeapListNode EEJitManager LoaderCodeHeap HostCodeHeap ReadyToRunInfo " +
			"RuntimeFunction HashMap Bucket",
		globals: "ExecutionManagerCodeRangeMapAddress EEJitManager StubCodeBlockLast", gives: "methods of code addresses, and so managed stacks",
		renamed: map[string]string{"EEJitManagerAddress": "EEJitManager"}},
	{name: "GC", implemented: []string{"c1"},
		types: "GCHeap Generation CFinalize HeapSegment OomHistory OOMHistory HandleTableMap HandleTableBucket HandleTable TableSegment",
		globals: "GCIdentifiers TotalGenerationCount GCHeapGenerationTable GCHeapAllocAllocated GCHeapEphemeralHeapSegment GCHeapFinalizeQueue GCHeapOomData GCHeapOOMData " +
			"Heaps NumHeaps MaxGeneration StructureInvalidCount DynamicAdaptationMode HandleTableMap InitialHandleTableArraySize",
		gives: "the GC heap, its handles and its finalizer queue"},
	{name: "GCInfo", implemented: []string{"c1"}, globals: "GCInfoVersion", gives: "references on managed stacks"},
	{name: "Loader", implemented: []string{"1", "c1"},
		types: "Module ModuleLookupMap Assembly DomainAssembly PEAssembly AssemblyBinder PEImage PEImageLayout ProbeExtensionResult AppDomain SystemDomain ArrayListBase " +
			"ArrayListBlock LoaderAllocator LoaderHeap LoaderHeapBlock VirtualCallStubManager EETypeHashTable",
		globals: "AppDomain SystemDomain", gives: "assemblies, modules, names of types and loader heaps"},
	{name: "Notifications"},
	{name: "ObjectiveCMarshal"},
	{name: "Object", implemented: []string{"1", "c1"}, types: "String Array",
		globals: "ObjectToMethodTableUnmask StringMethodTable ObjectMethodTable", gives: "all objects: the runtime is not opened"},
	{name: "PlatformMetadata"},
	{name: "PrecodeStubs"},
	{name: "ReJIT"},
	{name: "RuntimeInfo"},
	{name: "RuntimeTypeSystem", implemented: []string{"1", "c1"},
		types: "MethodTable MethodTableAuxiliaryData EEClass GenericsDictInfo TypeDesc ParamTypeDesc TypeVarTypeDesc FieldDesc DynamicStaticsInfo ThreadStaticsInfo " +
			"MethodDesc MethodDescChunk InstantiatedMethodDesc StoredSigMethodDesc DynamicMethodDesc FCallMethodDesc PInvokeMethodDesc EEImplMethodDesc ArrayMethodDesc " +
			"CLRToCOMCallMethodDesc",
		globals: "FreeObjectMethodTable MethodDescTokenRemainderBitCount ContinuationMethodTable", gives: "all types: the runtime is not opened"},
	{name: "SHash"},
	{name: "Signature"},
	{name: "StackWalk", implemented: []string{"1", "c1"},
		types: "Frame InlinedCallFrame SoftwareExceptionFrame FramedMethodFrame TransitionBlock FuncEvalFrame DebuggerEval ResumableFrame HijackFrame HijackArgs " +
			"FaultingExceptionFrame DynamicHelperFrame CalleeSavedRegisters InterpreterFrame InterpMethodContextFrame InterpByteCodeStart InterpMethod", gives: "stacks past frames of the runtime"},
	{name: "StressLog"},
	{name: "SyncBlock", implemented: []string{"1", "c1"}, types: "SyncBlock SyncTableEntry SyncBlockCache",
		globals: "SyncBlockCache SyncTableEntries", gives: "locks that have a sync block"},
	{name: "Thread", implemented: []string{"1", "c1"},
		types:   "Thread ThreadStore RuntimeThreadLocals EEAllocContext ThreadLocalData InFlightTLSData GCFrame",
		globals: "ThreadStore FinalizerThread GCThread GlobalAllocContext NumberOfTlsOffsetsNotUsedInNoncollectibleArray PtrArrayOffsetToDataArray",
		gives:   "managed threads and their static fields"},
}

// A ContractState describes a contract of a descriptor.
type ContractState struct {
	Name        string
	Version     string // in the process
	Implemented bool   // whether sosgo reads this version of it
	Gives       string // what rests on the contract; empty if sosgo reads nothing by it
}

// Contracts lists the contracts of the merged descriptors, by name.
func (l *Layout) Contracts() []ContractState {
	out := make([]ContractState, 0, len(l.contracts))
	for _, name := range slices.Sorted(maps.Keys(l.contracts)) {
		s := ContractState{Name: name, Version: l.contracts[name]}
		if c := contractNamed(name); c != nil {
			s.Implemented, s.Gives = slices.Contains(c.implemented, s.Version), c.gives
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
		reason := &RefusedError{Contract: name, Version: version, Implemented: c.implemented}
		l.refused["contract "+name] = reason
		for t := range strings.FieldsSeq(c.types) {
			l.refused[t] = reason
		}
		for g := range strings.FieldsSeq(c.globals) {
			l.refused["global "+g] = reason
		}
	}
	maps.Copy(l.refused, p.doubts)
}

// Refused returns why nothing that rests on a contract is read, nil if it is.
func (l *Layout) Refused(contract string) error { return l.refused["contract "+contract] }

// A RefusedError is about a contract whose version sosgo does not read.
type RefusedError struct {
	Contract, Version string
	Implemented       []string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("contract %s has version %s, and sosgo reads %s", e.Contract, e.Version, strings.Join(e.Implemented, ", "))
}

// Unwrap makes it an unsupported one.
func (e *RefusedError) Unwrap() error { return target.ErrUnsupported }

// IsRefused reports whether an error is about a contract whose version sosgo does not read.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}
