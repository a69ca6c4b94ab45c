package synth

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
)

// Addresses in a CLR's process.
const (
	CLRBase    = 0x7f00_0000_0000 // the runtime's module
	CLRStack   = 0x7ffe_0000_0000
	CLRObjects = 0x7000_0000_0000
	CLRHandles = 0x7100_0001_0000 // a multiple of the size of a handle table's segment

	clrPage    = 0x1000
	clrModule  = 0x80000
	clrThread  = 42
	clrStack   = 0x4000
	clrObjects = 0x2000
)

// clrTypes are the structures of a CLR. A member has its width in bytes if it is not 8, and its
// offset if tables depend on it. A member with two names has the second one in descriptors with
// numeric versions; "-" means that it is missing there. The offsets match no runtime.
const clrTypes = `
Thread Id:4 OSId State:4 PreemptiveGCDisabled:4 RuntimeThreadLocals Frame CachedStackBase|StackBase CachedStackLimit|StackLimit ExceptionTracker ExposedObject|GCHandle LastThrownObject LinkNext ThreadLocalDataPtr
ThreadStore ThreadCount:4 UnstartedCount:4 BackgroundCount:4 PendingCount:4 DeadCount:4 FirstThreadLink
RuntimeThreadLocals AllocContext:24
EEAllocContext GCAllocationContext:16
GCAllocContext Pointer Limit
Exception _message@8 _innerException _stackTrace _stackTraceString _remoteStackTraceString _HResult:4 _xcode:4
ExceptionInfo PassNumber:1 ThrownObject PreviousNestedInfo ExceptionFlags:4
Object m_pMethTab
String m_StringLength:4@8 m_FirstChar:2
Array m_NumComponents:4@8
SyncBlock ThinLock:4|LockState:4 -|Recursion:4 Lock|HoldingThreadId:4 LinkNext|Link -|SyncIndex:4
SyncTableEntry SyncBlock Object
SyncBlockCache FreeSyncTableIndex:4 CleanupBlockList
Module Assembly PEAssembly Base Flags:4 LoaderAllocator DynamicMetadata SimpleName Path FileName FieldDefToDescMap:32 ManifestModuleReferencesMap:32 MemberRefToDescMap:32 MethodDefToDescMap:32 MethodDefToILCodeVersioningStateMap:32 TypeDefToMethodTableMap:32 TypeRefToMethodTableMap:32
ModuleLookupMap Next TableData Count:4 SupportedFlagsMask
Assembly IsCollectible:1 IsDynamic:1|- Module
DomainAssembly -|Assembly
PEAssembly PEImage AssemblyBinder
PEImage ProbeExtensionResult:4 LoadedImageLayout
PEImageLayout Base Size:4 Flags:4
ProbeExtensionResult Type:4
DynamicMetadata Size:4 Data:4
AppDomain RootAssembly AssemblyList:32|DomainAssemblyList:32 FriendlyName
SystemDomain GlobalLoaderAllocator SystemAssembly
ArrayListBase Count:4 FirstBlock:24
ArrayListBlock Next Size:4 ArrayStart
MethodTable! NumVirtuals:2 NumInterfaces:2 MTFlags:4 BaseSize:4 MTFlags2:4 Module ParentMethodTable EEClassOrCanonMT AuxiliaryData PerInstInfo -|InterfaceMap
MethodTableAuxiliaryData Flags:4 OffsetToNonVirtualSlots:2 LoaderModule
EEClass MethodTable FieldDescList MethodDescChunk CorTypeAttr:4 InternalCorElementType:1 NumMethods:2 NumInstanceFields:2 NumStaticFields:2 NumThreadStaticFields:2 NumNonVirtualSlots:2
GenericsDictInfo NumDicts:2 NumTypeArgs:2
TypeDesc TypeAndFlags:4
ParamTypeDesc TypeArg
TypeVarTypeDesc Module Token:4
FieldDesc! DWord1:4 DWord2:4 MTOfEnclosingClass
DynamicStaticsInfo! GCStatics NonGCStatics
ThreadStaticsInfo! GCTlsIndex NonGCTlsIndex
MethodDesc! Flags3AndTokenRemainder:2@0 ChunkIndex:1@2 EntryPointFlags:1@3 Slot:2@4 Flags:2@6 CodeData@8
MethodDescChunk! MethodTable Next Size:1 Count:1 FlagsAndTokenRange:2
FCallMethodDesc! -:24
PInvokeMethodDesc! -:56
EEImplMethodDesc! -:32
ArrayMethodDesc! -:32
InstantiatedMethodDesc! PerInstInfo Flags2:2 NumGenericArgs:2
DynamicMethodDesc! MethodName
MethodDescCodeData TemporaryEntryPoint VersioningState
MethodDescVersioningState NativeCodeVersionNode Flags:1
NativeCodeVersionNode Next MethodDesc NativeCode Flags:4 ILVersionId OptimizationTier:4
ILCodeVersioningState FirstVersionNode ActiveVersionKind:4 ActiveVersionNode ActiveVersionModule ActiveVersionMethodDef:4
ILCodeVersionNode VersionId Next RejitState:4
RangeSectionMap TopLevelData
RangeSectionFragment RangeBegin RangeEndOpen RangeSection Next
RangeSection NextForDelete RangeBegin RangeEndOpen JitManager Flags:4 HeapList R2RModule
CodeHeapListNode Next StartAddress EndAddress MapBase HeaderMap Heap
RealCodeHeader DebugInfo EHInfo GCInfo MethodDesc NumUnwindInfos:4 UnwindInfos:4
InterpreterRealCodeHeader MethodDesc|- DebugInfo|- GCInfo|-
RuntimeFunction! BeginAddress:4 EndAddress:4 UnwindData:4
EEJitManager StoreRichDebugInfo:1 AllCodeHeaps
Frame Next@8
InlinedCallFrame! Datum@16 CallSiteSP CallerReturnAddress CalleeSavedFP
InterpreterFrame TopInterpMethodContextFrame@16|- IsFaulting:1|-
InterpMethodContextFrame StartIp|- ParentPtr|- Ip|- NextPtr|- Stack|-
InterpByteCodeStart Method|-
InterpMethod MethodDesc|-
StressLog LoggedFacilities:4 Level:4 MaxSizePerThread:4 MaxSizeTotal:4 TotalChunks:4 Logs TickFrequency StartTimestamp ModuleOffset Modules
StressLogModuleDesc! BaseAddress Size
ThreadStressLog Next ThreadId WriteHasWrapped:8 CurrentPtr ChunkListHead ChunkListTail CurrentWriteChunk
StressLogChunk Next Buf:128@16 Sig1:4@144 Sig2:4@148 -
StressMsgHeader! -:16
GC.Generation! StartSegment AllocationStart AllocationContext:16@48
GC.CFinalize FillPointers@8
GC.HeapSegment Mem Allocated Committed Reserved Used Flags Next BackgroundAllocated
GC.GCHeap AllocAllocated EphemeralHeapSegment FinalizeQueue GenerationTable:480 OomData:80 CompactReasons:88
GC.HandleTableMap BucketsPtr|Buckets Next -|MaxIndex:4
GC.HandleTableBucket Table
GC.HandleTable SegmentList@8
GC.TableSegment NextSegment@1998 RgUserData@1680|UserData@1680 RgValue@4096|Values@4096
`

// A CLR is a small process with a CLR that describes itself with contract descriptors: in the form
// of .NET 11 or, if Numbered, with the names and meanings of .NET 10 and numeric versions. It has
// the structures of the contracts, but no code to execute.
type CLR struct {
	Numbered bool
	// Main and GC are the descriptors; GC is a sub-descriptor. Change them before calling Bytes.
	Main, GC *CLRDescriptor
	// GCUnpublished leaves the pointer to the GC's descriptor null.
	GCUnpublished bool

	offsets map[string]int
	sizes   map[string]int
	module  []byte // after the first page
	Stack   []byte
	Objects []byte
	Handles []byte
}

// A CLRDescriptor is a contract descriptor under construction.
type CLRDescriptor struct {
	Version        int                       `json:"version"`
	Baseline       string                    `json:"baseline"`
	Types          map[string]map[string]any `json:"types"`
	Globals        map[string]any            `json:"globals"`
	Contracts      map[string]any            `json:"contracts"`
	SubDescriptors map[string]any            `json:"subDescriptors,omitempty"`

	pointers []uint64
}

func newCLRDescriptor(version int) *CLRDescriptor {
	return &CLRDescriptor{Version: version, Baseline: "empty", Types: map[string]map[string]any{}, Globals: map[string]any{}, Contracts: map[string]any{}, pointers: []uint64{0}}
}

// Variable adds a global for the variable at an address.
func (d *CLRDescriptor) Variable(name string, at uint64) {
	d.pointers = append(d.pointers, at)
	d.Globals[name] = []any{[]int{len(d.pointers) - 1}, "pointer"}
}

// NewCLR returns a CLR without content: its structures have layouts, but there are no instances.
func NewCLR(numbered bool) *CLR {
	version := 2
	if numbered {
		version = 0
	}
	c := &CLR{Numbered: numbered, Main: newCLRDescriptor(version), GC: newCLRDescriptor(version), offsets: map[string]int{}, sizes: map[string]int{},
		Stack: make([]byte, clrStack), Objects: make([]byte, clrObjects), Handles: make([]byte, 1<<16)}
	for line := range strings.Lines(strings.TrimSpace(clrTypes)) {
		c.declare(strings.Fields(line))
	}
	return c
}

// declare assigns offsets to the members of a type. words are its name and its members.
func (c *CLR) declare(words []string) {
	name, sized := strings.CutSuffix(words[0], "!")
	name, inGC := strings.CutPrefix(name, "GC.")
	to := c.Main
	if inGC && !c.Numbered {
		to = c.GC
	}
	members, at := map[string]any{}, 0
	for _, word := range words[1:] {
		names := strings.Split(word, "|")
		spec := names[0]
		if c.Numbered {
			spec = names[len(names)-1]
		}
		spec, place, placed := strings.Cut(spec, "@")
		field, bytes, _ := strings.Cut(spec, ":")
		width, err := strconv.Atoi(bytes)
		if err != nil {
			width = 8
		}
		if align := min(width&-width, 8); at%align != 0 {
			at += align - at%align
		}
		if placed {
			at, _ = strconv.Atoi(place)
		}
		if field != "-" {
			c.offsets[name+"."+field] = at
			members[field] = at
		}
		at += width
	}
	c.sizes[name] = (at + 7) &^ 7
	if name == "RuntimeFunction" {
		c.sizes[name] = at
	}
	if sized || name == "Array" || name == "SyncTableEntry" || name == "Object" {
		members["!"] = c.sizes[name]
	}
	if len(members) > 0 {
		to.Types[name] = members
	}
}

// Offset returns the offset of a member, such as "Thread.Id".
func (c *CLR) Offset(member string) uint64 {
	at, ok := c.offsets[member]
	if !ok {
		panic("synth.CLR: there is no member " + member)
	}
	return uint64(at)
}

// Has reports whether a member exists in this CLR.
func (c *CLR) Has(member string) bool { _, ok := c.offsets[member]; return ok }

// Size returns the size of a structure in bytes.
func (c *CLR) Size(typ string) uint64 { return uint64(c.sizes[typ]) }

// Alloc allocates n bytes, rounded up to a multiple of 8, in the module's data and returns their
// address.
func (c *CLR) Alloc(n uint64) uint64 {
	at := CLRBase + clrPage + uint64(len(c.module))
	c.module = append(c.module, make([]byte, (n+7)&^7)...)
	return at
}

// New allocates a structure, sets members and returns its address.
func (c *CLR) New(typ string, members map[string]uint64) uint64 {
	at := c.Alloc(c.Size(typ))
	c.Set(at, typ, members)
	return at
}

// Set writes members of the structure at an address. A member extends to the next one.
func (c *CLR) Set(at uint64, typ string, members map[string]uint64) {
	for name, v := range members {
		off := c.Offset(typ + "." + name)
		width := uint64(8)
		for other, o := range c.offsets {
			if strings.HasPrefix(other, typ+".") && uint64(o) > off {
				width = min(width, uint64(o)-off)
			}
		}
		c.Write(at+off, binary.LittleEndian.AppendUint64(nil, v)[:width])
	}
}

// Words writes words at an address.
func (c *CLR) Words(at uint64, words ...uint64) { c.Write(at, Fields(words)) }

// Text allocates a zero-terminated UTF-16 string and returns its address.
func (c *CLR) Text(s string) uint64 {
	var b []byte
	for _, r := range s + "\x00" {
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	at := c.Alloc(uint64(len(b)))
	c.Write(at, b)
	return at
}

// Pointer adds a global for a new variable with a value.
func (c *CLR) Pointer(d *CLRDescriptor, name string, v uint64) {
	at := c.Alloc(8)
	c.Words(at, v)
	d.Variable(name, at)
}

// Write writes bytes at an address.
func (c *CLR) Write(at uint64, b []byte) {
	for _, m := range []struct {
		start uint64
		bytes []byte
	}{{CLRBase + clrPage, c.module}, {CLRStack, c.Stack}, {CLRObjects, c.Objects}, {CLRHandles, c.Handles}} {
		if at >= m.start && at+uint64(len(b)) <= m.start+uint64(len(m.bytes)) {
			copy(m.bytes[at-m.start:], b)
			return
		}
	}
	panic("synth.CLR: nothing at " + strconv.FormatUint(at, 16))
}

// header writes a descriptor and returns the words of its header.
func (c *CLR) header(d *CLRDescriptor) []uint64 {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	at, pointers := c.Alloc(uint64(len(text))), c.Alloc(uint64(8*len(d.pointers)))
	c.Write(at, text)
	c.Words(pointers, d.pointers...)
	const magic = 0x0043414443434e44
	return []uint64{magic, 1 | uint64(len(text))<<32, at, uint64(len(d.pointers)), pointers}
}

// Bytes returns a core of the process.
func (c *CLR) Bytes() []byte {
	place := func(words []uint64) uint64 {
		at := c.Alloc(uint64(8 * len(words)))
		c.Words(at, words...)
		return at
	}
	if !c.Numbered {
		header := uint64(0)
		if !c.GCUnpublished {
			header = place(c.header(c.GC))
		}
		c.Main.pointers = append(c.Main.pointers, place([]uint64{header}))
		c.Main.SubDescriptors = map[string]any{"GC": []any{[]int{len(c.Main.pointers) - 1}, "pointer"}}
	}
	descriptor := place(c.header(c.Main))

	// The export: a table of an empty symbol and the descriptor's symbol, and a hash table with
	// one chain.
	const name = "\x00DotNetRuntimeContractDescriptor\x00"
	names := c.Alloc(uint64(len(name)))
	c.Write(names, []byte(name))
	symbols := c.Alloc(48)
	c.Write(symbols+24, Fields(uint32(1), byte(0x11), byte(0), uint16(1), descriptor-CLRBase, uint64(40)))
	hash := c.Alloc(24)
	c.Write(hash, Fields(uint32(1), uint32(2), uint32(1), uint32(0), uint32(0)))
	dynamic := place([]uint64{4, hash, 5, names, 6, symbols, 10, uint64(len(name)), 0, 0})

	path := "/usr/share/dotnet/shared/Microsoft.NETCore.App/11.0.0/libcoreclr.so"
	if c.Numbered {
		path = strings.Replace(path, "11.0.0", "10.0.99", 1)
	}
	module := append(c.module, make([]byte, clrModule-clrPage-len(c.module))...)
	var registers [27]uint64
	registers[19] = CLRStack + clrStack/2 // rsp
	core := &ELFCore{
		Notes: []ELFNote{ELFProcess(clrThread, "tiny", "tiny"), ELFThread(clrThread, 0, registers[:]),
			ELFFiles(clrPage, ELFFile{Start: CLRBase, End: CLRBase + clrModule, Path: path})},
		Segments: []ELFSegment{
			{Addr: CLRObjects, Data: c.Objects, Flags: 6}, {Addr: CLRHandles, Data: c.Handles, Flags: 6},
			{Addr: CLRBase, Data: append(ELFImage(3, dynamic-CLRBase, [4]uint64{0, 0, clrModule, clrModule}), module...), Flags: 6},
			{Addr: CLRStack, Data: c.Stack, Flags: 6},
		},
	}
	return core.Bytes()
}
