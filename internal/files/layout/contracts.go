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

// A contract is a part of the runtime's layout with its own version (dotnet/runtime docs/design/datacontracts,
// one file each; src/coreclr/vm/datadescriptor and src/coreclr/gc/datadescriptor list the contracts of a
// runtime).
type contract struct {
	name string
	// implemented lists the versions that sosgo reads: numbers in .NET 9 and 10, "c1" and so on since.
	implemented []string
	// types and globals belong to the contract. With another version of it they mean something else.
	types, globals string
	// sign is a member ("Type.Field") of another contract. It shows that the runtime has this one, which has no
	// types.
	sign string
	// unnamed marks a contract that descriptors with numeric versions do not list. Tables describe it.
	unnamed bool
	gives   string // what is lost without it; "" if sosgo does not use it
	// renamed maps members ("Type.Field") and globals to the names that readers use. They have another name or
	// meaning since versions are strings.
	renamed map[string]string
	// constants describes formats by version, as a table does for runtimes without the contract.
	constants map[string]map[string]string
}

// contracts lists the contracts of .NET 9 to 11. docs/contracts.md has the sources and the tests of each.
var contracts = []contract{
	{name: "AuxiliarySymbols"},
	{name: "BuiltInCOM"},
	{name: "CodeNotifications"},
	{name: "CodeVersions", implemented: []string{"1", "c1"}, types: "NativeCodeVersionNode MethodDescVersioningState MethodDescCodeData ILCodeVersioningState ILCodeVersionNode",
		gives: "versions of a method's code"},
	{name: "ComWrappers"},
	{name: "ConditionalWeakTable"},
	{name: "DacStreams"},
	{name: "DebugInfo", implemented: []string{"1", "c1", "c2"}, sign: "RealCodeHeader.DebugInfo", unnamed: true,
		gives: "IL offsets and places of variables in compiled code", constants: map[string]map[string]string{
			"1":  {"DebugInfo": `{"JitDebugInfoFlagByte": 1, "PatchpointInfoSize": 40, "PatchpointInfoNumLocals": 16, "BoundsPacked": 1}`},
			"c1": {"DebugInfo": `{"Chunks": 1, "BoundsPacked": 1}`},
			"c2": {"DebugInfo": `{"Chunks": 1, "BoundsPacked": 1}`},
		}},
	{name: "Debugger"},
	{name: "EcmaMetadata", implemented: []string{"1", "c1"}, types: "DynamicMetadata", gives: "metadata of assemblies that were made at run time"},
	{name: "Exception", implemented: []string{"1", "c1"}, types: "Exception ExceptionInfo", globals: "ExceptionMethodTable",
		gives: "exceptions", renamed: map[string]string{"ExceptionInfo.ThrownObject": "Object"}}, // the reference; before 11 a handle to it
	{name: "ExecutionManager", implemented: []string{"2", "c1", "c2"},
		types: "RangeSectionMap RangeSectionFragment RangeSection RealCodeHeader CodeHeapListNode EEJitManager LoaderCodeHeap HostCodeHeap ReadyToRunInfo " +
			"RuntimeFunction HashMap Bucket InterpreterRealCodeHeader",
		globals: "ExecutionManagerCodeRangeMapAddress EEJitManager StubCodeBlockLast", gives: "methods of code addresses, and so managed stacks",
		renamed: map[string]string{"EEJitManagerAddress": "EEJitManager"}, constants: map[string]map[string]string{
			"c1": {"RangeSectionInterpreter": "8"}, "c2": {"RangeSectionInterpreter": "8"}}},
	{name: "GC", implemented: []string{"c1"}, unnamed: true,
		types: "GCHeap Generation CFinalize HeapSegment OomHistory OOMHistory HandleTableMap HandleTableBucket HandleTable TableSegment",
		globals: "GCIdentifiers TotalGenerationCount GCHeapGenerationTable GCHeapAllocAllocated GCHeapEphemeralHeapSegment GCHeapFinalizeQueue GCHeapOomData GCHeapOOMData " +
			"Heaps NumHeaps MaxGeneration StructureInvalidCount DynamicAdaptationMode HandleTableMap InitialHandleTableArraySize " +
			"CurrentGCState GCGlobalMechanisms GlobalMechanismsLength GCHeapCompactReasons CompactReasonsLength",
		gives: "the GC heap, its handles and its finalizer queue"},
	{name: "GCInfo", implemented: []string{"c1"}, unnamed: true, globals: "GCInfoVersion", gives: "references on managed stacks"},
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
	{name: "StressLog", implemented: []string{"2", "c1", "c2"}, types: "StressLog StressLogModuleDesc ThreadStressLog StressLogChunk StressMsgHeader",
		globals: "StressLog", gives: "the runtime's stress log"},
	{name: "SyncBlock", implemented: []string{"1", "c1"}, unnamed: true, types: "SyncBlock SyncTableEntry SyncBlockCache",
		globals: "SyncBlockCache SyncTableEntries", gives: "locks that have a sync block"},
	{name: "Thread", implemented: []string{"1", "c1"},
		types:   "Thread ThreadStore RuntimeThreadLocals EEAllocContext ThreadLocalData InFlightTLSData GCFrame",
		globals: "ThreadStore FinalizerThread GCThread GlobalAllocContext NumberOfTlsOffsetsNotUsedInNoncollectibleArray PtrArrayOffsetToDataArray",
		gives:   "managed threads and their static fields"},
}

// A ContractState describes a contract of a descriptor.
type ContractState struct {
	Name        string
	Version     string // in the process; "" if the descriptor contains types of the contract but does not list it
	Implemented bool   // sosgo reads this version
	Gives       string // what needs the contract; "" if sosgo does not use it
}

// Contracts lists the contracts of the merged descriptors, and contracts that a descriptor should list but does
// not, by name.
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

// renamed returns the names that readers use for members and globals of p's contracts, where they differ.
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

// Join tells each part about the contracts of all: a descriptor and its sub-descriptors belong together. Call
// it before the parts are used.
func Join(parts []*Part) {
	listed := map[string]bool{}
	for _, p := range parts {
		for name := range p.contracts {
			listed[name] = true
		}
	}
	for _, p := range parts {
		p.listed = listed
	}
}

// lists reports whether p, or a descriptor that belongs to it, lists the contract.
func (p *Part) lists(contract string) bool {
	_, own := p.contracts[contract]
	return own || p.listed[contract]
}

// numbered reports whether versions of contracts are numbers, as in .NET 9, 10 and the first previews of 11.
func (p *Part) numbered() bool {
	if p.version == descriptorVersions {
		return false
	}
	for _, v := range p.contracts {
		if strings.HasPrefix(v, "c") {
			return false
		}
	}
	return true
}

// describes reports whether p has a type or global of c.
func (p *Part) describes(c *contract) bool {
	for t := range strings.FieldsSeq(c.types) {
		if _, ok := p.types[t]; ok {
			return true
		}
	}
	for g := range strings.FieldsSeq(c.globals) {
		if _, ok := p.globals[g]; ok {
			return true
		}
	}
	typ, field, _ := strings.Cut(c.sign, ".")
	_, ok := p.types[typ].fields[field]
	return ok
}

// refuse records the types, globals and constants of p's contracts that are not implemented, or that p
// describes without listing them. No part supplies them then.
func (l *Layout) refuse(p *Part) {
	for i := range contracts {
		c := &contracts[i]
		version, listed := p.contracts[c.name]
		switch {
		case listed && slices.Contains(c.implemented, version):
		case listed, p.contracts != nil && !p.lists(c.name) && p.describes(c) && !(c.unnamed && p.numbered()):
			l.refuseContract(c, version)
		}
	}
	maps.Copy(l.refused, p.doubts)
}

func (l *Layout) refuseContract(c *contract, version string) {
	reason := &RefusedError{Contract: c.name, Version: version, Implemented: c.implemented}
	if version == "" {
		l.contracts[c.name] = ""
	}
	l.refused["contract "+c.name] = reason
	for t := range strings.FieldsSeq(c.types) {
		l.refused[t] = reason
	}
	for g := range strings.FieldsSeq(c.globals) {
		l.refused["global "+g] = reason
	}
	for _, version := range c.constants {
		for constant := range version {
			l.refused["constant "+constant] = reason
		}
	}
}

// Refused returns why a contract is not read, or nil if it is.
func (l *Layout) Refused(contract string) error { return l.refused["contract "+contract] }

// A RefusedError reports a contract with a version that sosgo does not read, or without a version.
type RefusedError struct {
	Contract    string
	Version     string // "" if the descriptor does not list the contract
	Implemented []string
}

func (e *RefusedError) Error() string {
	if e.Version == "" {
		return fmt.Sprintf("the contract descriptor describes structures of contract %s and does not have its version", e.Contract)
	}
	return fmt.Sprintf("contract %s has version %s, and sosgo reads %s", e.Contract, e.Version, strings.Join(e.Implemented, ", "))
}

// Unwrap returns target.ErrUnsupported.
func (e *RefusedError) Unwrap() error { return target.ErrUnsupported }

// IsRefused reports whether an error concerns a contract that sosgo does not read.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}
