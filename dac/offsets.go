package dac

import (
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// offsets holds the offsets of members of the runtime's structures, bound when a runtime is opened. The names
// are the descriptor's. A member that some runtimes lack is optional; it is then layout.Absent.
//
// The span of a structure is the number of bytes of one read.
type offsets struct {
	MethodTable struct {
		span         int
		Flags        int `layout:"MTFlags"`
		BaseSize     int `layout:"BaseSize"`
		Flags2       int `layout:"MTFlags2|Flags2"`
		Token        int `layout:"Token,optional"` // before 9; later the upper bits of MTFlags2
		NumVirtuals  int `layout:"NumVirtuals"`
		NumIfaces    int `layout:"NumInterfaces"`
		Parent       int `layout:"ParentMethodTable"`
		Module       int `layout:"Module,optional"`       // 9 and later
		LoaderModule int `layout:"LoaderModule,optional"` // before 9
		Auxiliary    int `layout:"AuxiliaryData|WriteableData"`
		EEClass      int `layout:"EEClassOrCanonMT"`
		PerInstInfo  int `layout:"PerInstInfo"`
		InterfaceMap int `layout:"InterfaceMap,optional"`
	}
	MethodTableSize struct {
		Size int `layout:"size,optional"`
	} `struct:"MethodTable"`
	Auxiliary struct {
		Flags        int `layout:"Flags"`
		LoaderModule int `layout:"LoaderModule"`
		NonVirtual   int `layout:"OffsetToNonVirtualSlots"`
	} `struct:"MethodTableAuxiliaryData,optional"`
	Writeable struct {
		Flags int `layout:"Flags"`
	} `struct:"MethodTableWriteableData,optional"`
	EEClass struct {
		MethodTable    int `layout:"MethodTable"`
		FieldDescList  int `layout:"FieldDescList"`
		Chunks         int `layout:"MethodDescChunk"`
		Attributes     int `layout:"CorTypeAttr"`
		ElementType    int `layout:"InternalCorElementType"`
		NumInstance    int `layout:"NumInstanceFields,optional"` // 9 and later
		NumStatic      int `layout:"NumStaticFields,optional"`
		NumThread      int `layout:"NumThreadStaticFields,optional"`
		NumMethods     int `layout:"NumMethods,optional"`
		NumNonVirtual  int `layout:"NumNonVirtualSlots,optional"`
		FieldsPacked   int `layout:"FieldsArePacked,optional"` // before 9
		FixedFieldsEnd int `layout:"FixedEEClassFields,optional"`
	}
	Packed struct {
		NumInstance   int `layout:"NumInstanceFields"`
		NumMethods    int `layout:"NumMethods"`
		NumStatic     int `layout:"NumStaticFields"`
		NumThread     int `layout:"NumThreadStaticFields"`
		NumNonVirtual int `layout:"NumNonVirtualSlots"`
	} `struct:"EEClassPackedFields,optional"`
	GenericsDict struct {
		NumDicts    int `layout:"NumDicts"`
		NumTypeArgs int `layout:"NumTypeArgs"`
	} `struct:"GenericsDictInfo"`
	GenericsStatics struct {
		DynamicTypeID int `layout:"DynamicTypeID"`
	} `struct:"GenericsStaticsInfo,optional"`
	TypeDesc struct {
		TypeAndFlags int `layout:"TypeAndFlags"`
	}
	ParamTypeDesc struct {
		TemplateMT int `layout:"TemplateMT,optional"` // for arrays, before 5
		TypeArg    int `layout:"TypeArg"`
	}
	TypeVar struct {
		Module int `layout:"Module"`
		Token  int `layout:"Token"`
	} `struct:"TypeVarTypeDesc,optional"`
	FieldDesc struct {
		Size   int `layout:"size"`
		MT     int `layout:"MTOfEnclosingClass"`
		DWord1 int `layout:"DWord1"`
		DWord2 int `layout:"DWord2"`
	}
	String struct {
		Length    int `layout:"m_StringLength"`
		FirstChar int `layout:"m_FirstChar"`
	}
	Array struct {
		NumComponents int `layout:"m_NumComponents"`
		Size          int `layout:"size"`
	}
	Exception struct {
		Message         int `layout:"_message"`
		Inner           int `layout:"_innerException"`
		StackTrace      int `layout:"_stackTrace,optional"`
		Addresses       int `layout:"_corDbgStackTrace,optional"` // NativeAOT: return addresses in place of _stackTrace
		NumAddresses    int `layout:"_idxFirstFreeStackTraceEntry,optional"`
		StackTraceText  int `layout:"_stackTraceString"`
		RemoteTraceText int `layout:"_remoteStackTraceString"`
		HResult         int `layout:"_HResult"`
		XCode           int `layout:"_xcode,optional"`
	} `struct:",refusable"`
	Statics struct {
		Size        int `layout:"size"`
		GC          int `layout:"GCStatics"`
		NonGC       int `layout:"NonGCStatics"`
		MethodTable int `layout:"MethodTable"`
	} `struct:"DynamicStaticsInfo,optional"`
	ThreadStatics struct {
		Size  int `layout:"size"`
		NonGC int `layout:"NonGCTlsIndex"`
		GC    int `layout:"GCTlsIndex"`
	} `struct:"ThreadStaticsInfo,optional"`
	ThreadLocalData struct {
		NonCollectibleCount int `layout:"NonCollectibleTlsDataCount"`
		CollectibleCount    int `layout:"CollectibleTlsDataCount"`
		NonCollectible      int `layout:"NonCollectibleTlsArrayData"`
		Collectible         int `layout:"CollectibleTlsArrayData"`
		InFlight            int `layout:"InFlightData"`
	} `struct:"ThreadLocalData,optional"`
	InFlight struct {
		Next  int `layout:"Next"`
		Index int `layout:"TlsIndex"`
		Data  int `layout:"TLSData"`
	} `struct:"InFlightTLSData,optional"`
	DomainLocalModule struct {
		DynamicTable   int `layout:"DynamicClassTable"`
		DynamicEntries int `layout:"DynamicEntries"`
		GC             int `layout:"GCStatics"`
		DataBlob       int `layout:"DataBlob"`
	} `struct:"DomainLocalModule,optional"`
	// The statics of generic types and of types made at run time, before 9 (appdomain.hpp, DomainLocalModule;
	// threadstatics.h, ThreadLocalModule).
	DynamicClassInfo struct {
		Size  int `layout:"size"`
		Entry int `layout:"DynamicEntry"`
		Flags int `layout:"Flags"`
	} `struct:"DynamicClassInfo,optional"`
	DynamicEntry struct {
		GC int `layout:"GCStatics"`
	} `struct:"DynamicEntry,optional"`
	ThreadLocalModule struct {
		DynamicTable   int `layout:"DynamicClassTable"`
		DynamicEntries int `layout:"DynamicEntries"`
		GC             int `layout:"GCStatics"`
		DataBlob       int `layout:"DataBlob"`
	} `struct:"ThreadLocalModule,optional"`
	Module struct {
		SimpleName      int `layout:"SimpleName,optional"`
		Path            int `layout:"Path,optional"`
		FileName        int `layout:"FileName,optional"`
		PEAssembly      int `layout:"PEAssembly"`
		Base            int `layout:"Base,optional"`
		Flags           int `layout:"Flags"`
		Assembly        int `layout:"Assembly"`
		LoaderAllocator int `layout:"LoaderAllocator,optional"`
		TypeDefs        int `layout:"TypeDefToMethodTableMap"`
		TypeRefs        int `layout:"TypeRefToMethodTableMap"`
		MethodDefs      int `layout:"MethodDefToDescMap"`
		ILVersions      int `layout:"MethodDefToILCodeVersioningStateMap,optional"` // 9 and later
		FieldDefs       int `layout:"FieldDefToDescMap"`
		MemberRefs      int `layout:"MemberRefToDescMap,optional"`
		FileRefs        int `layout:"FileReferencesMap,optional"`
		AssemblyRefs    int `layout:"ManifestModuleReferencesMap"`
		DynamicMetadata int `layout:"DynamicMetadata,optional"`
		ID              int `layout:"ModuleID,optional"`
		Index           int `layout:"ModuleIndex,optional"`
		Constructed     int `layout:"AvailableTypeParams,optional"`
		ILTable         int `layout:"DynamicILBlobTable,optional"`
	} `struct:",refusable"`
	TypeHash struct {
		Buckets         int `layout:"Buckets,optional"`     // 8 and later: the length is the first slot
		WarmBuckets     int `layout:"WarmBuckets,optional"` // before 8
		WarmBucketCount int `layout:"WarmBucketCount,optional"`
		Count           int `layout:"Count"`
		Value           int `layout:"VolatileEntryValue"`
		Next            int `layout:"VolatileEntryNextEntry"`
	} `struct:"EETypeHashTable,optional"`
	LookupMap struct {
		Next      int `layout:"Next"`
		TableData int `layout:"TableData"`
		Count     int `layout:"Count"`
		Mask      int `layout:"SupportedFlagsMask"`
	} `struct:"ModuleLookupMap,refusable"`
	PEAssembly struct {
		Image  int `layout:"PEImage"`
		Binder int `layout:"AssemblyBinder,optional"`
	} `struct:",refusable"`
	PEImage struct {
		Path         int `layout:"Path,optional"`
		Layout       int `layout:"LoadedImageLayout"`
		BundleOffset int `layout:"BundleOffset,optional"` // 6 and later
		Probe        int `layout:"ProbeExtensionResult,optional"`
		FileName     int `layout:"FileName,optional"`
	} `struct:",refusable"`
	ProbeResult struct {
		Type int `layout:"Type"`
	} `struct:"ProbeExtensionResult,optional"`
	PEImageLayout struct {
		Base  int `layout:"Base"`
		Size  int `layout:"Size"`
		Flags int `layout:"Flags"`
	} `struct:",refusable"`
	DynamicMetadata struct {
		Size int `layout:"Size"`
		Data int `layout:"Data"`
	} `struct:"DynamicMetadata,optional"`
	Assembly struct {
		Module          int `layout:"Module"`
		PEAssembly      int `layout:"PEAssembly,optional"` // before 11
		LoaderAllocator int `layout:"LoaderAllocator,optional"`
		IsDynamic       int `layout:"IsDynamic,optional"` // from 11 on
	} `struct:",refusable"`
	DomainAssembly struct { // before 11
		Assembly int `layout:"Assembly,optional"`
		Module   int `layout:"Module,optional"`
	}
	ArrayList struct {
		Count int `layout:"Count"`
		First int `layout:"FirstBlock"`
	} `struct:"ArrayListBase,refusable"`
	ArrayListBlock struct {
		Next  int `layout:"Next"`
		Size  int `layout:"Size"`
		Items int `layout:"ArrayStart"`
	} `struct:",refusable"`
	AppDomain struct {
		Assemblies   int `layout:"DomainAssemblyList|AssemblyList"`
		FriendlyName int `layout:"FriendlyName"`
		RootAssembly int `layout:"RootAssembly,optional"`
	} `struct:",refusable"`
	SystemDomain struct {
		SystemAssembly  int `layout:"SystemAssembly"`
		GlobalAllocator int `layout:"GlobalLoaderAllocator,optional"`
	} `struct:",refusable"`
	ThreadStore struct {
		First      int `layout:"FirstThreadLink"`
		Count      int `layout:"ThreadCount"`
		Unstarted  int `layout:"UnstartedCount"`
		Background int `layout:"BackgroundCount"`
		Pending    int `layout:"PendingCount"`
		Dead       int `layout:"DeadCount"`
	} `struct:",refusable"`
	Thread struct {
		State        int `layout:"State"`
		GCDisabled   int `layout:"PreemptiveGCDisabled"`
		Frame        int `layout:"Frame"`
		ID           int `layout:"Id"`
		OSID         int `layout:"OSId"`
		Domain       int `layout:"Domain,optional"`
		Locals       int `layout:"RuntimeThreadLocals,optional"`
		LockCount    int `layout:"LockCount,optional"`
		TEB          int `layout:"TEB,optional"`
		Alloc        int `layout:"AllocContext,optional"`
		Link         int `layout:"LinkNext"`
		StackBase    int `layout:"StackBase|CachedStackBase"`
		StackLimit   int `layout:"StackLimit|CachedStackLimit"`
		GCHandle     int `layout:"GCHandle|ExposedObject"`
		StrongHandle int `layout:"StrongGCHandle,optional"`
		LastThrown   int `layout:"LastThrownObject"`
		Tracker      int `layout:"ExceptionTracker"`
		LocalDataPtr int `layout:"ThreadLocalDataPtr,optional"`
		TLMTable     int `layout:"TLMTable,optional"`          // threadstatics.h, ThreadLocalBlock; before 9
		TLMTableSize int `layout:"TLMTableSize,optional"`      // beside it
		GCFrame      int `layout:"GCFrame,optional"`           // 5 and later
		TailCall     int `layout:"TailCallArgBuffer,optional"` // threads.h, TailCallTls::m_argBuffer; 5 and later
		Blocking     int `layout:"DebugBlockingInfo,optional"` // threads.h, Thread::DebugBlockingInfo
	} `struct:",refusable"`
	// Monitors that a thread waits for (threaddebugblockinginfo.h).
	BlockingItem struct {
		Monitor int `layout:"Monitor"`
		Kind    int `layout:"Kind"`
		Timeout int `layout:"Timeout"`
		Next    int `layout:"Next"`
	} `struct:"DebugBlockingItem,optional"`
	// Counters of the runtime's own thread pool, before 7 (win32threadpool.h, ThreadpoolMgr::ThreadCounter).
	PoolCounter struct {
		MaxWorking int `layout:"MaxWorking"`
		Active     int `layout:"NumActive"`
		Working    int `layout:"NumWorking"`
		Retired    int `layout:"NumRetired"`
	} `struct:"ThreadpoolCounter,optional"`
	// An entry of the log of the runtime's own thread pool (hillclimbing.h).
	HillClimbing struct {
		Size       int `layout:"size"`
		Ticks      int `layout:"TickCount"`
		Transition int `layout:"Transition"`
		Threads    int `layout:"NewControlSetting"`
		Samples    int `layout:"LastHistoryCount"`
		Throughput int `layout:"LastHistoryMean"`
	} `struct:"HillClimbingLogEntry,optional"`
	ThreadLocals struct {
		Alloc int `layout:"AllocContext"`
	} `struct:"RuntimeThreadLocals,optional"`
	EEAlloc struct {
		GC int `layout:"GCAllocationContext"`
	} `struct:"EEAllocContext,optional"`
	GCAlloc struct {
		Pointer  int `layout:"Pointer"`
		Limit    int `layout:"Limit"`
		Bytes    int `layout:"AllocBytes,optional"`
		BytesLoh int `layout:"AllocBytesLoh,optional"`
	} `struct:"GCAllocContext"`
	ExceptionInfo struct {
		Previous int `layout:"PreviousNestedInfo"`
		Thrown   int `layout:"ThrownObject,optional"` // a handle; before 11
		Object   int `layout:"Object,optional"`
		Record   int `layout:"ExceptionRecord,optional"`
		Context  int `layout:"ContextRecord,optional"`
		Flags    int `layout:"ExceptionFlags,optional"`
	} `struct:"ExceptionInfo,optional"`
	ExInfo struct { // NativeAOT
		Previous int `layout:"m_pPrevExInfo,optional"`
		Thrown   int `layout:"m_exception,optional"`
	} `struct:"ExInfo,optional"`
	Tracker struct { // ExceptionTracker, before 9 (exceptionhandling.h)
		Previous int `layout:"Previous"`
		Thread   int `layout:"Thread"`
		Thrown   int `layout:"Throwable"`
		Record   int `layout:"ExceptionRecord"`
		Context  int `layout:"ContextRecord"`
		Flags    int `layout:"Flags"`
	} `struct:"ExceptionTracker,optional"`
	SyncEntry struct {
		Size   int `layout:"size"`
		Block  int `layout:"SyncBlock"`
		Object int `layout:"Object"`
	} `struct:"SyncTableEntry,refusable"`
	SyncCache struct {
		Next    int `layout:"FreeSyncTableIndex"`
		Size    int `layout:"SyncTableSize,optional"`
		Cleanup int `layout:"CleanupBlockList,optional"`
	} `struct:"SyncBlockCache,optional"`
	SyncBlock struct {
		LockState     int `layout:"LockState,optional"` // this and the next four: before 11
		Recursion     int `layout:"Recursion,optional"`
		HoldingID     int `layout:"HoldingThreadId,optional"`
		HoldingThread int `layout:"HoldingThread,optional"`
		HoldingOSID   int `layout:"HoldingOSThreadId,optional"`
		Index         int `layout:"SyncIndex,optional"`
		StarvedSince  int `layout:"WaiterStarvationStartTimeMs,optional"`
		Link          int `layout:"Link|LinkNext,optional"`
		Lock          int `layout:"Lock,optional"` // a handle to a System.Threading.Lock; since 11
		ThinLock      int `layout:"ThinLock,optional"`
	} `struct:",refusable"`
	SHash struct {
		Size          int `layout:"size"`
		Table         int `layout:"Table"`
		TableSize     int `layout:"TableSize"`
		TableCount    int `layout:"TableCount"`
		TableOccupied int `layout:"TableOccupied"`
		TableMax      int `layout:"TableMax"`
	} `struct:"SHash,optional"`
	ILBlob struct {
		Size  int `layout:"size"`
		Token int `layout:"MethodToken"`
		IL    int `layout:"IL"`
	} `struct:"DynamicILBlobEntry,optional"`
	ILTable struct { // since 11; before, SHash and DynamicILBlobEntry
		Size  int `layout:"size"` // bytes of an entry
		Table int `layout:"Table"`
		Count int `layout:"TableSize"` // number of entries
		Token int `layout:"EntryMethodToken"`
		IL    int `layout:"EntryIL"`
	} `struct:"DynamicILBlobTable,optional"`
	TraceArray struct {
		Count    int `layout:"Count"`
		Elements int `layout:"Elements"`
	} `struct:"StackTraceArray"`
	TraceElement struct {
		Size   int `layout:"size"`
		IP     int `layout:"IP"`
		SP     int `layout:"SP"`
		Method int `layout:"MethodDesc"`
		Flags  int `layout:"Flags"`
	} `struct:"StackTraceElement"`
}

// bind binds all structures.
func (o *offsets) bind(l *layout.Layout) error {
	if err := l.BindAll(o); err != nil {
		return err
	}
	if f := &o.FieldDesc; max(f.MT+8, f.DWord1+4, f.DWord2+4) > f.Size {
		return target.Corruptf("layout of FieldDesc: it has %d bytes, and members behind them", f.Size)
	}
	mt := &o.MethodTable
	mt.span = 8 + max(mt.Flags, mt.BaseSize, mt.Flags2, mt.Token, mt.NumVirtuals, mt.NumIfaces, mt.Parent, mt.Module,
		mt.LoaderModule, mt.Auxiliary, mt.EEClass, mt.PerInstInfo)
	return nil
}
