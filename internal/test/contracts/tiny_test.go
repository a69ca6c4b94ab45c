package contracts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

type members = map[string]uint64

// A tiny is a process with five objects and one thread, which handles an exception in a call of
// native code.
type tiny struct {
	*synth.CLR
	gc                                    *synth.CLRDescriptor // the descriptor with the GC's globals
	module, object, text, exception, free uint64               // MethodTables, except for the Module
	thread, info, frame, method, code, il uint64
	byteCode, interpreter, inner          uint64 // since 11
	plain, hello, thrown                  uint64 // objects
	syncBlock                             uint64
	segment, generations                  uint64
	heap, second                          uint64    // the heaps of a server GC
	emitted                               uint64    // a Module made at run time
	chunks                                [2]uint64 // of the thread's stress log
	threadLog                             uint64
	// Format strings: offsets into all images, and the address of a text.
	typed, counted, word uint64
	classes              map[uint64]uint64 // of MethodTables
}

const (
	categorySZArray = 0x000a0000
	hasComponents   = 0x80000000
	elementClass    = 0x12
)

// emptyMetadata is metadata with one stream, #~, and no tables.
var emptyMetadata = append([]byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00\x0c\x00\x00\x00v4.0.30319\x00\x00\x00\x00\x01\x00\x2c\x00\x00\x00\x18\x00\x00\x00#~\x00\x00"),
	"\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)

func newTiny(numbered bool) *tiny {
	p := &tiny{CLR: synth.NewCLR(numbered), classes: map[uint64]uint64{}}
	p.gc = p.GC
	if numbered {
		p.gc = p.Main
	}
	for _, name := range []string{"CodeVersions", "EcmaMetadata", "Exception", "Loader", "Object", "RuntimeTypeSystem", "StackWalk", "Thread", "SyncBlock", "GCInfo"} {
		p.Main.Contracts[name] = p.version("c1", 1)
	}
	if numbered {
		delete(p.Main.Contracts, "GCInfo") // 10 has its version only as a number
	} else {
		p.GC.Contracts["GC"] = "c1"
	}
	p.Main.Contracts["StressLog"] = p.version("c1", 2)
	p.Main.Contracts["DebugInfo"], p.Main.Contracts["ExecutionManager"] = p.version("c2", 1), p.version("c2", 2)
	for name, v := range map[string]uint64{"ObjectToMethodTableUnmask": 7, "MethodDescTokenRemainderBitCount": 12, "StubCodeBlockLast": 15, "GCInfoVersion": 4,
		"SyncBlockMaskLockThreadId": 0xffff, "SyncBlockMaskLockRecursionLevel": 0x3f0000, "SyncBlockRecursionLevelShift": 16, "InlinedCallFrameIdentifier": 3} {
		p.Main.Globals[name] = v
	}
	p.types()
	p.loader()
	p.codeOf()
	p.objects()
	p.locks()
	p.threads()
	p.stressLog()
	return p
}

func (p *tiny) version(text string, number int) any {
	if p.Numbered {
		return number
	}
	return text
}

// methodTable adds a type of CoreLib with the given number of instance fields, eight bytes each.
func (p *tiny) methodTable(row, flags, size, parent uint64, inherited, fields int) uint64 {
	class := p.New("EEClass", members{"InternalCorElementType": elementClass, "NumInstanceFields": uint64(inherited + fields)})
	mt := p.New("MethodTable", members{"MTFlags": flags, "BaseSize": size, "MTFlags2": row << 8, "Module": p.module, "ParentMethodTable": parent, "EEClassOrCanonMT": class,
		"AuxiliaryData": p.New("MethodTableAuxiliaryData", nil)})
	list := p.Alloc(uint64(fields) * p.Size("FieldDesc"))
	for i := range uint64(fields) {
		p.Set(list+i*p.Size("FieldDesc"), "FieldDesc", members{"DWord1": 10*row + i, "DWord2": 8*i | elementClass<<27, "MTOfEnclosingClass": mt})
	}
	p.Set(class, "EEClass", members{"MethodTable": mt, "FieldDescList": list})
	p.classes[mt] = class
	return mt
}

func (p *tiny) types() {
	p.module = p.Alloc(p.Size("Module"))
	p.object = p.methodTable(1, 0, 24, 0, 0, 0)
	p.text = p.methodTable(2, hasComponents|2, 22, p.object, 0, 2)
	p.exception = p.methodTable(3, 0, 64, p.object, 0, 6)
	p.free = p.methodTable(4, hasComponents|categorySZArray|1, 24, p.object, 0, 0)
	for name, mt := range (members{"ObjectMethodTable": p.object, "StringMethodTable": p.text, "ExceptionMethodTable": p.exception, "FreeObjectMethodTable": p.free}) {
		p.Pointer(p.Main, name, mt)
	}
}

func (p *tiny) loader() {
	assembly := p.New("Assembly", members{"Module": p.module})
	p.Set(p.module, "Module", members{"Assembly": assembly, "Path": p.Text("/app/Tiny.dll")})
	saved := p.New("DynamicMetadata", members{"Size": uint64(len(emptyMetadata))})
	p.Alloc(uint64(len(emptyMetadata)))
	p.Write(saved+p.Offset("DynamicMetadata.Data"), emptyMetadata)
	p.emitted = p.New("Module", members{"DynamicMetadata": saved})
	p.Set(p.emitted, "Module", members{"Assembly": p.New("Assembly", members{"Module": p.emitted})})
	table := p.Alloc(8 * 8)
	p.Words(table, 0, p.object, p.text, p.exception, p.free)
	p.Set(p.module+p.Offset("Module.TypeDefToMethodTableMap"), "ModuleLookupMap", members{"TableData": table, "Count": 8})
	entry := assembly
	if p.Numbered {
		entry = p.New("DomainAssembly", members{"Assembly": assembly})
	}
	domain, list := p.Alloc(p.Size("AppDomain")), "AppDomain.AssemblyList"
	if p.Numbered {
		list = "AppDomain.DomainAssemblyList"
	}
	at := domain + p.Offset(list)
	p.Set(at, "ArrayListBase", members{"Count": 1})
	p.Set(at+p.Offset("ArrayListBase.FirstBlock"), "ArrayListBlock", members{"Size": 1, "ArrayStart": entry})
	p.Set(domain, "AppDomain", members{"FriendlyName": p.Text("tiny")})
	p.Pointer(p.Main, "AppDomain", domain)
	p.Pointer(p.Main, "SystemDomain", p.New("SystemDomain", members{"SystemAssembly": assembly}))
}

// codeOf adds one compiled method: a chunk of System.Object's class, its code, and the maps from
// addresses to them.
func (p *tiny) codeOf() {
	chunk := p.Alloc(p.Size("MethodDescChunk") + 16)
	p.method = chunk + p.Size("MethodDescChunk")
	p.Set(chunk, "MethodDescChunk", members{"MethodTable": p.object, "Size": 1})
	p.Set(p.method, "MethodDesc", members{"Flags3AndTokenRemainder": 5})
	version := p.New("NativeCodeVersionNode", members{"MethodDesc": p.method, "NativeCode": 0x1000, "Flags": 1, "ILVersionId": 7, "OptimizationTier": 3})
	p.Set(p.method, "MethodDesc", members{"CodeData": p.New("MethodDescCodeData", members{
		"VersioningState": p.New("MethodDescVersioningState", members{"NativeCodeVersionNode": version})})})
	p.Set(p.classes[p.object], "EEClass", members{"MethodDescChunk": chunk, "NumMethods": 1})

	table := p.Alloc(8 * 8)
	p.Words(table+5*8, p.method)
	p.Set(p.module+p.Offset("Module.MethodDefToDescMap"), "ModuleLookupMap", members{"TableData": table, "Count": 8})

	// Three versions of the method's IL: the newest is active, the previous one has its own IL, and
	// the first was requested and never compiled.
	first := p.New("ILCodeVersionNode", members{"VersionId": 5})
	second := p.New("ILCodeVersionNode", members{"VersionId": 6, "RejitState": 1, "Next": first})
	third := p.New("ILCodeVersionNode", members{"VersionId": 7, "RejitState": 2, "Next": second})
	p.il = p.New("ILCodeVersioningState", members{"FirstVersionNode": third, "ActiveVersionKind": 1, "ActiveVersionNode": third})
	states := p.Alloc(8 * 8)
	p.Words(states+5*8, p.il)
	p.Set(p.module+p.Offset("Module.MethodDefToILCodeVersioningStateMap"), "ModuleLookupMap", members{"TableData": states, "Count": 8})

	const span, into = 256, 64
	both := (p.Alloc(3*span) + 31) &^ 31 // compiled code, and byte code
	base, after := both, both+span
	p.code = base + into
	header := p.New("RealCodeHeader", members{"MethodDesc": p.method, "NumUnwindInfos": 1})
	p.Alloc(16)
	p.Set(header+p.Offset("RealCodeHeader.UnwindInfos"), "RuntimeFunction", members{"BeginAddress": into, "EndAddress": into + 32})
	p.Words(p.code-8, header)
	nibbles := p.Alloc(16)
	p.Words(nibbles, 1<<(28-4*into/32)) // code starts at byte 0 of the bucket
	manager := p.New("EEJitManager", nil)
	heap := p.New("CodeHeapListNode", members{"StartAddress": base, "EndAddress": base + span, "MapBase": base, "HeaderMap": nibbles})
	section := p.New("RangeSection", members{"RangeBegin": base, "RangeEndOpen": base + span, "JitManager": manager, "HeapList": heap})
	leaf := p.New("RangeSectionFragment", members{"RangeBegin": base, "RangeEndOpen": base + span, "RangeSection": section})
	if !p.Numbered {
		heap := p.New("CodeHeapListNode", members{"StartAddress": after, "EndAddress": after + span, "MapBase": after, "HeaderMap": nibbles})
		section := p.New("RangeSection", members{"RangeBegin": after, "RangeEndOpen": after + span, "JitManager": heap, "HeapList": heap, "Flags": 2 | 8})
		second := p.New("RangeSectionFragment", members{"RangeBegin": after, "RangeEndOpen": after + span, "RangeSection": section})
		p.Set(leaf, "RangeSectionFragment", members{"Next": second})
		p.interpreted(after + into)
	}
	for level := 0; level < 5; level++ { // from the leaves up
		node := p.Alloc(8 * 256)
		p.Words(node+8*(base>>(17+8*level)&255), leaf)
		leaf = node
	}
	p.Main.Variable("ExecutionManagerCodeRangeMapAddress", leaf)
	name := "EEJitManagerAddress"
	if p.Numbered {
		name = "EEJitManager"
	}
	p.Pointer(p.Main, name, manager)
}

// interpreted adds byte code of the method at an address, with a call of itself.
func (p *tiny) interpreted(at uint64) {
	p.byteCode = at
	bounds := synth.Bounds([]synth.Mapping{{Native: 8, IL: 0}, {Native: 20, IL: 3}, {Native: 40, IL: 7}}, 3)
	debug := append((&synth.Nibbles{}).Uint(uint32(len(bounds)), 0).B, bounds...)
	info := p.Alloc(uint64(len(debug)))
	p.Write(info, debug)
	p.Words(at-8, p.New("InterpreterRealCodeHeader", members{"MethodDesc": p.method, "DebugInfo": info}))
	p.Set(at, "InterpByteCodeStart", members{"Method": p.New("InterpMethod", members{"MethodDesc": p.method})})
	outer := p.New("InterpMethodContextFrame", members{"StartIp": at, "Ip": at + 20, "Stack": 0x100})
	p.inner = p.New("InterpMethodContextFrame", members{"StartIp": at, "Ip": at + 40, "ParentPtr": outer})
	p.Set(outer, "InterpMethodContextFrame", members{"NextPtr": p.inner})
	p.interpreter = synth.CLRStack + 0x2f00
	p.Main.Globals["InterpreterFrameIdentifier"] = 9
	p.Words(p.interpreter, 9)
	p.Set(p.interpreter, "Frame", members{"Next": ^uint64(0)})
	p.Set(p.interpreter, "InterpreterFrame", members{"TopInterpMethodContextFrame": outer, "IsFaulting": 1})
}

func (p *tiny) objects() {
	const start = synth.CLRObjects + 0x28
	at := uint64(start)
	add := func(mt, size uint64, words ...uint64) uint64 {
		a := at
		p.Words(a, append([]uint64{mt}, words...)...)
		at += (size + 7) &^ 7
		return a
	}
	p.plain = add(p.object, 24)
	p.hello = add(p.text, 22+2*2, 2|'h'<<32|'i'<<48)
	p.thrown = add(p.exception, 64)
	p.Set(p.thrown, "Exception", members{"_message": p.hello, "_HResult": 0x80131500})
	p.segment = p.New("HeapSegment", members{"Mem": start, "Allocated": at, "Committed": synth.CLRObjects + 0x1000, "Reserved": synth.CLRObjects + 0x2000})
	p.generations = p.Alloc(5 * p.Size("Generation"))
	p.Set(p.generations, "Generation", members{"StartSegment": p.segment})
	queue := p.Alloc(128)
	array := p.Alloc(64)
	p.Words(queue+p.Offset("CFinalize.FillPointers"), array, array, array, array, array+8, array+8, array+8, array, array+64)
	p.Words(array, p.plain)

	g := p.gc
	delete(g.Types["Generation"], "AllocationStart") // with regions
	g.Globals["GCIdentifiers"], g.Globals["TotalGenerationCount"] = []any{"workstation,regions,background,", "string"}, 5
	g.Variable("GCHeapGenerationTable", p.generations)
	for name, v := range (members{"GCHeapAllocAllocated": at, "GCHeapEphemeralHeapSegment": p.segment, "GCHeapFinalizeQueue": queue, "StructureInvalidCount": 0}) {
		p.Pointer(g, name, v)
	}

	// One strong handle.
	handles := p.New("HandleTable", members{"SegmentList": synth.CLRHandles})
	for i := range p.Handles[1560:1998] {
		p.Handles[1560+i] = 0xff
	}
	p.Handles[1560] = 2
	p.Words(synth.CLRHandles+1998, 0, handles)
	p.Words(synth.CLRHandles+4096, p.hello)
	tables, buckets := p.Alloc(8), p.Alloc(80)
	p.Words(tables, handles)
	p.Words(buckets, p.New("HandleTableBucket", members{"Table": tables}))
	first := "BucketsPtr"
	if p.Numbered {
		first = "Buckets"
	}
	m := p.New("HandleTableMap", members{first: buckets})
	if p.Numbered {
		p.Set(m, "HandleTableMap", members{"MaxIndex": 10})
	}
	g.Globals["InitialHandleTableArraySize"] = 10
	g.Variable("HandleTableMap", m)
}

// server changes the heap to a server GC's with two heaps. The second is empty.
func (p *tiny) server() {
	g := p.gc
	g.Globals["GCIdentifiers"] = []any{"server, regions,, dynamic_heap", "string"}
	p.heap, p.second = p.New("GCHeap", members{"EphemeralHeapSegment": p.segment, "AllocAllocated": p.plain + 24}), p.New("GCHeap", nil)
	p.Set(p.heap+p.Offset("GCHeap.GenerationTable"), "Generation", members{"StartSegment": p.segment})
	list := p.Alloc(16)
	p.Words(list, p.heap, p.second)
	p.Pointer(g, "Heaps", list)
	p.Pointer(g, "NumHeaps", 2)
	for _, name := range []string{"GCHeapGenerationTable", "GCHeapAllocAllocated", "GCHeapEphemeralHeapSegment", "GCHeapFinalizeQueue"} {
		delete(g.Globals, name)
	}
}

// segments changes the heap to one segment with three generations.
func (p *tiny) segments() {
	p.gc.Globals["GCIdentifiers"] = []any{"workstation,segments,,", "string"}
	p.gc.Types["Generation"]["AllocationStart"] = p.Offset("Generation.AllocationStart")
	size := p.Size("Generation")
	for i, start := range []uint64{p.thrown, p.hello, p.plain} {
		p.Set(p.generations+uint64(i)*size, "Generation", members{"StartSegment": p.segment, "AllocationStart": start})
	}
}

// locks adds a thin lock to the plain object, and a sync block to the text.
func (p *tiny) locks() {
	p.Words(p.plain-8, (1|2<<16)<<32) // thread 1, entered three times
	p.Words(p.hello-8, (0x08000000|1)<<32)
	if p.Numbered {
		p.syncBlock = p.New("SyncBlock", members{"LockState": 1, "Recursion": 2, "HoldingThreadId": 1, "SyncIndex": 1})
	} else {
		p.syncBlock = p.New("SyncBlock", members{"ThinLock": 1 | 1<<16})
	}
	table := p.Alloc(4 * p.Size("SyncTableEntry"))
	p.Set(table+p.Size("SyncTableEntry"), "SyncTableEntry", members{"SyncBlock": p.syncBlock, "Object": p.hello})
	p.Pointer(p.Main, "SyncTableEntries", table)
	cache := p.New("SyncBlockCache", members{"FreeSyncTableIndex": 2})
	p.Alloc(128)
	p.Words(cache+120, 250) // the position of the table's length in 10
	p.Pointer(p.Main, "SyncBlockCache", cache)
}

func (p *tiny) threads() {
	const base = synth.CLRStack + 0x4000
	p.info, p.frame = synth.CLRStack+0x3000, synth.CLRStack+0x3100
	thrown := p.thrown
	if p.Numbered {
		thrown = p.Alloc(8)
		p.Words(thrown, p.thrown)
	}
	p.Set(p.info, "ExceptionInfo", members{"ThrownObject": thrown, "ExceptionFlags": 0x800})
	p.Words(p.frame, 3)
	p.Set(p.frame, "Frame", members{"Next": ^uint64(0)})
	p.Set(p.frame, "InlinedCallFrame", members{"Datum": p.method, "CallSiteSP": p.frame + 0x80, "CallerReturnAddress": p.code + 4, "CalleeSavedFP": p.frame + 0x90})
	p.thread = p.Alloc(p.Size("Thread"))
	p.Alloc(1024) // padding after tables
	last := p.Alloc(8)
	p.Words(last, p.thrown)
	word := func(ours, theirs string) string {
		if p.Numbered {
			return theirs
		}
		return ours
	}
	p.Set(p.thread, "Thread", members{"Id": 1, "OSId": 42, "State": 0x1000, "RuntimeThreadLocals": p.New("RuntimeThreadLocals", nil), "Frame": p.frame,
		word("CachedStackBase", "StackBase"): base, word("CachedStackLimit", "StackLimit"): synth.CLRStack, "ExceptionTracker": p.info, "LastThrownObject": last,
		word("ExposedObject", "GCHandle"): last})
	p.Pointer(p.Main, "ThreadStore", p.New("ThreadStore", members{"ThreadCount": 1, "FirstThreadLink": p.thread + p.Offset("Thread.LinkNext")}))
	p.Pointer(p.Main, "FinalizerThread", p.thread)
	p.Main.Variable("GlobalAllocContext", p.New("EEAllocContext", nil))
}

// open opens the process and its runtime.
func (p *tiny) open(t *testing.T) (*dac.Runtime, target.Target, error) {
	raw := p.Bytes()
	d, err := dump.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	all := dac.Find(d, d, nil)
	require.Len(t, all, 1)
	rt, err := all[0].Open()
	return rt, d, err
}

// The format strings of the stress log, and the size of a chunk's buffer.
const (
	stressFormats = "method %pM of type %pT\n\x00%s %-4d|%04x %I64u%%\x00word\x00"
	stressChunk   = 128
	stressStart   = 1000 // tick
)

// stressLog adds the log of one thread: a full chunk with two messages, and a newer one with one
// message.
func (p *tiny) stressLog() {
	for name, v := range (members{"StressLogEnabled": 1, "StressLogHasModuleTable": 1, "StressLogMaxModules": 2, "StressLogChunkSize": stressChunk,
		"StressLogValidChunkSig": 0xcfcfcfcf, "StressLogMaxMessageSize": 64}) {
		p.Main.Globals[name] = v
	}
	const before = 0x1_0000_0000 // bytes of an image that comes first: the offset takes all 39 bits
	formats := p.Alloc(uint64(len(stressFormats)))
	p.Write(formats, []byte(stressFormats))
	p.typed, p.counted = before, before+uint64(strings.IndexByte(stressFormats, 0)+1)
	p.word = formats + uint64(strings.Index(stressFormats, "word"))
	for i := range p.chunks {
		p.chunks[i] = p.New("StressLogChunk", members{"Sig1": 0xcfcfcfcf, "Sig2": 0xcfcfcfcf})
	}
	for i, c := range p.chunks {
		p.Set(c, "StressLogChunk", members{"Next": p.chunks[1-i]})
	}
	older, newer := p.buffer(0), p.buffer(1)
	p.message(older+stressChunk-48, 0x80000000, stressStart, p.counted, p.word, 7, 0xab, 5)
	p.message(older+stressChunk-96, 1, stressStart+500, p.counted, p.word, ^uint64(0)-1, 0x1_0000_00cd, 1<<40)
	p.message(newer+stressChunk-32, 0x11, stressStart+1500, p.typed, p.method, p.text|1)

	p.threadLog = p.New("ThreadStressLog", members{"ThreadId": 42, "CurrentPtr": newer + stressChunk - 32, "ChunkListHead": p.chunks[1], "ChunkListTail": p.chunks[0],
		"CurrentWriteChunk": p.chunks[1]})
	silent := p.New("ThreadStressLog", members{"ThreadId": 43, "Next": p.threadLog})
	log := p.New("StressLog", members{"LoggedFacilities": 0xffffffff, "Level": 6, "MaxSizePerThread": 256, "MaxSizeTotal": 512, "TotalChunks": 2, "Logs": silent,
		"TickFrequency": 1000, "StartTimestamp": stressStart})
	p.Alloc(2 * p.Size("StressLogModuleDesc"))
	p.Words(log+p.Offset("StressLog.Modules"), 0x1000, before, formats, uint64(len(stressFormats)))
	p.Pointer(p.Main, "StressLog", log)
}

// buffer returns the address of the messages of a chunk.
func (p *tiny) buffer(chunk int) uint64 { return p.chunks[chunk] + p.Offset("StressLogChunk.Buf") }

// message writes a message: 16 bytes and 8 for each argument.
func (p *tiny) message(at, facility, ticks, format uint64, args ...uint64) {
	p.Words(at, append([]uint64{facility | uint64(len(args))<<32 | format<<38, format>>26 | ticks<<13}, args...)...)
}
