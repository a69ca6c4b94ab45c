// Package limits defines every bound on what a dump can make sosgo do. A dump is untrusted input:
// code first checks a count against the remaining bytes, and then against these bounds. They are
// far above the values of real processes. A dump that exceeds one is reported as corrupt, or its
// list is cut with a warning.
package limits

// Containers.
const (
	MinidumpStreams = 10_000
	MemoryRanges    = 1_000_000 // a kernel allows 65,530 mappings; createdump splits them
	Modules         = 100_000
	Threads         = 100_000
	Handles         = 1 << 20 // of the operating system
	PathBytes       = 32 << 10
	Notes           = 2_000_000
	NoteBytes       = 1 << 30 // in one PT_NOTE segment; a thread takes 1 to 11 KB
	NoteOwnerBytes  = 64
	FileNoteBytes   = 64 << 20 // in NT_FILE
	LinkMap         = 100_000  // entries of the dynamic linker's list
	AuxEntries      = 1024     // of the auxiliary vector
	Annotations     = 100_000  // in a Crashpad dump
	FunctionTables  = 1_000_000

	CrashReportBytes    = 256 << 20 // of a crash report in JSON; createdump writes 400 bytes a frame
	CrashReportFrames   = 1 << 20   // of all its threads
	CrashReportWarnings = 100

	// Compressed dumps. All limits have an option to raise them.
	DecompressedSize  = 1 << 40 // unpacked bytes
	DecompressedRatio = 1000    // unpacked bytes for each byte of the file, beyond DecompressedFree
	DecompressedFree  = 1 << 30 // bytes that any file may unpack to
	DecompressedAhead = 8       // what was unpacked so far may have so many times as much as the ratio allows for what was read so far
	CompressedIdle    = 4 << 20 // bytes of a compressed file that may unpack to nothing, such as tables of its blocks
	CompressedExtra   = 8       // beyond these, a file may be longer than its content by one in so many bytes
	SpaceReserve      = 1 << 30 // bytes, or a tenth if less, to leave free on the disk
	MemoryShare       = 2       // if the disk is memory (tmpfs): the fraction of available memory to use, 1/2
	CacheSize         = 64 << 30
	PageCache         = 64 << 20 // cached bytes of a slow file or memory
	CacheDays         = 7
	CacheLeast        = 4 << 20 // least size in bytes of a compressed file that is cached unpacked
)

// SoughtBytes bounds the part of the heap that is searched for a word.
const SoughtBytes = 8 << 30

// Images and metadata.
const (
	ExportNames         = 1 << 20
	Sections            = 4096
	DescriptorJSON      = 1 << 20   // bytes of a contract descriptor; .NET 11 has about 15,000
	SubDescriptors      = 16        // of one contract descriptor, all levels
	DebugEntries        = 4096      // members or variables in the debug header of a NativeAOT process
	NativeSections      = 256       // of the ReadyToRun header of a NativeAOT program
	NativeBlob          = 256 << 20 // bytes of metadata, or of a map to it, of a NativeAOT program
	NativeHeaders       = 16        // ReadyToRun headers of a NativeAOT program
	NativeStrings       = 1 << 16   // places in a NativeAOT program's image that may be the type of strings
	CrashRecord         = 16 << 20  // bytes of JSON of a NativeAOT crash
	MetadataSize        = 1 << 31
	SignatureDepth      = 64
	NestedTypeDepth     = 64
	TypeNameDepth       = 64
	TypeForwarders      = 16 // assemblies that forward a type to the next
	GenericArguments    = 65_536
	BuildIDBytes        = 256
	InlineArray         = 1 << 20 // elements: the runtime allows a value of 1 MB
	StringBuilderChars  = 1 << 28 // of all its chunks, UTF-16 code units
	StressLogModules    = 256     // images with format strings of the stress log; the runtime has room for 5
	StressLogChunkBytes = 1 << 20 // the runtime's chunks have 32 KB
	StressLogChunks     = 1 << 17 // of one thread: 4 GB, the most that a 32-bit setting allows
	StressLogText       = 4096    // bytes of a format string, or of a text in a message
	StressLogStrings    = 1 << 16 // cached texts
	StructLeaves        = 1 << 16 // numbers and references in one struct
	ResourceBytes       = 64 << 20
	IdentifierBytes     = 64 << 10
	FitWords            = 1 << 20 // relocated words to compare for the proof of a file
)

// Files other than the dump: module files and symbols, on this machine and on servers.
const (
	ModuleFile    = 1 << 34 // bytes; it is mapped, not read
	PDBFile       = 1 << 30
	PDBHead       = 64 << 10  // bytes at the start of a PDB that hold its id
	EmbeddedPDB   = 256 << 20 // bytes of a PDB in an image, once unpacked
	EmbeddedPDBs  = 1 << 30   // bytes of the embedded PDBs of one runtime's modules, once unpacked; several images may be the same bytes of a dump
	EmbeddedRatio = 64        // unpacked bytes per byte of an embedded PDB; deflate saves two thirds
	SourceText    = 64 << 20  // bytes of a source file in a PDB, once unpacked
	SourceRatio   = 1032      // the most that deflate can compress
	SourceLink    = 1 << 20   // bytes of the Source Link map of a PDB
	Download      = 1 << 30   // bytes of one file of a symbol server, once unpacked
	Downloads     = 8 << 30   // bytes of all files that sosgo downloads for one dump

	FolderImages = 16384 // files to examine in a folder for a module whose file was renamed

	// Bundles of single-file apps.
	BundleManifest = 64 << 20 // bytes
	BundleFile     = 1 << 30  // bytes of one unpacked file
	BundleFiles    = 4 << 30  // bytes of all files unpacked for one dump
	BundleProgram  = 1 << 30  // bytes of a program to search for the offset of its bundle
	DeflateRatio   = 1032     // the most that deflate can compress
)

// Structures of the runtime.
const (
	AppDomains          = 100_000
	AssembliesList      = 1_000_000
	ManagedThreads      = 1_000_000
	LookupMapEntries    = 1 << 24 // a rid has 24 bits
	LookupMapParts      = 1 << 18
	ParentChain         = 10_000
	ModuleWords         = 256    // words of a Module to search for fields with an unknown offset
	NestedExceptions    = 10_000 // that one thread is handling, or that one exception holds
	ExceptionRecords    = 64     // in a chain of EXCEPTION_RECORDs
	DescribedExceptions = 1_000  // exceptions of one thread in crashinfo, causes included
	WrappedExceptions   = 100    // nested in each other
	FieldsPerType       = 65_536 // of one kind: instance fields, or statics
	MethodChunks        = 1_000_000
	SignatureBytes      = 64 << 10 // of a signature in memory
	FragmentsPerLeaf    = 4096     // of code, in 128 KB of addresses
	RadixNodes          = 100_000  // of the map from addresses to ranges of code
	RangeSections       = 100_000
	VersioningStates    = 1 << 24 // slots of the table of methods with versions
	EventPipeProviders  = 100_000
	EventListeners      = 10_000  // of one source
	CodeVersions        = 10_000  // of one method
	ReplacedMethods     = 10_000  // methods with IL from a profiler, in one answer
	NibbleWords         = 1 << 16 // words of a nibble map to search backwards: a method of 16 MB
	NibbleMapWords      = 1 << 24 // words of a nibble map: the 4 GB of code that calls can reach
	Funclets            = 65_536  // of one method
	RuntimeFunctions    = 1 << 24 // of one image
	HashBuckets         = 1 << 24
	HashProbes          = 256
	DebugInfoBytes      = 64 << 20
	ILBytes             = 64 << 20
	LoaderBlocks        = 1_000_000
	HandleSegments      = 1_000_000
	HandleBuckets       = 65_536 // handle tables, without those of further heaps
	FrameChain          = 1_000_000
	// One GCFrame: the runtime's own code protects a few locals, or the arguments of a call.
	ProtectedReferences = 1 << 16
	TailCallBuffer      = 1 << 20 // bytes
	EnvironmentBytes    = 1 << 18 // of a process's environment variables
	InFlightTLS         = 100_000
	DynamicClasses      = 1 << 22 // entries of a DomainLocalModule's dynamic class table
	SyncBlocks          = 1 << 26
	HeapBeforeMain      = 64 << 20 // bytes of a heap to search for an exception from before Main
	ConstructedTypes    = 1 << 22  // arrays, pointers and generic instances of a module
	WorkItems           = 1 << 20  // listed items of a thread pool's queues, and timers
	ChainedObjects      = 1 << 22  // objects of a linked list to follow
	QueueSegments       = 1 << 20  // of one queue; a segment has up to a million items
	TokenCallbacks      = 1 << 24  // registered with one CancellationTokenSource
	HeldReaderLocks     = 100_000  // reader-writer locks that one thread holds or held for reading
	InterpretedMethods  = 100_000  // interpreted methods in one frame
	BlockingItems       = 1024     // nested monitors that one thread waits for
	UnloadPaths         = 20       // listed paths that keep a load context alive
	CollectionRecords   = 20       // listed collections: a program may keep figures of each kind
	SecretMaps          = 100_000  // dictionaries searched for names of secrets
	SecretItems         = 100_000  // of one dictionary
	SecretChars         = 16 << 10 // UTF-16 code units of a value with a name
	SecretFrames        = 10_000   // of one stack with variables searched for secrets
	SecretNameChars     = 256      // UTF-16 code units of such a name, where it is a text
	Settings            = 100_000  // properties of AppContext, or keys of a configuration
	SettingText         = 1 << 20  // UTF-16 code units of one: TRUSTED_PLATFORM_ASSEMBLIES has hundreds of paths
	HillClimbing        = 1 << 16  // entries of the thread pool's log: the runtime has room for 200
)

// The GC heap.
const (
	ObjectBytes      = 1 << 40 // of one object: no machine has a heap with room for more
	GCHeaps          = 1024
	Generations      = 16
	Segments         = 1_000_000
	CardTables       = 64      // of one heap: the current one, and older ones that collections still use
	BadSegments      = 64      // invalid entries of one list
	GenerationSize   = 4096    // bytes of one entry of the generation table
	GCHeapSize       = 1 << 20 // bytes of a gc_heap
	ArrayRank        = 32
	HeapTypes        = 1 << 24 // distinct types of all objects
	ListedReferences = 1 << 22 // listed references, or words of a range
	StringChars      = 1 << 30
	StringContents   = 1 << 26   // distinct strings to count, at 60 bytes each: 4 GB
	StackScan        = 256 << 20 // bytes of one thread's stack that are scanned
	ObjectLength     = 1 << 40
	MapCells         = 1 << 20 // of a picture of the heap
	PathNodes        = 1 << 20 // distinct paths by types from roots to objects
	WasteTypes       = 1 << 20 // types whose objects are examined for waste
	WasteObjects     = 1 << 24 // wasteful objects to remember until their holders are known, 16 bytes each

	AsyncFrames = 1 << 21 // of one stack of async methods
	AsyncWaits  = 1 << 16 // nested waits below one async method
	AsyncGroups = 1 << 20 // of merged stacks

	Pattern         = 1 << 14  // UTF-16 code units of a regular expression
	RequestText     = 1 << 16  // UTF-16 code units of one text of a request: its URL, a header, a command
	RequestHeaders  = 1 << 12  // of one request
	SessionBytes    = 64 << 20 // of one session at rest, and of one of its values
	SessionValues   = 1 << 10  // listed values of one session
	HubConnections  = 100_000  // listed clients and groups of a SignalR hub
	HTTPClients     = 10_000   // listed HttpClients
	RequestFeatures = 64       // chained collections of features
	RequestScopes   = 1 << 10  // nested logging scopes and activities
	ContextValues   = 1 << 16  // of the AsyncLocals of one ExecutionContext
	Flows           = 1 << 16  // ExecutionContexts in one answer

	MissingElements = 4096 // consecutive array elements shown as missing

	FinalizerQueueBytes = 8 << 30
)

// Native heaps of malloc.
const (
	MallocArenas    = 1 << 16
	MallocHeaps     = 1 << 16 // of one arena, 64 MB each
	MallocMapped    = 1 << 20 // chunks with mappings of their own
	MallocCached    = 1 << 24 // free chunks in caches
	MallocCacheList = 1 << 16 // free chunks of one size in the cache of a thread
	MallocOwners    = 1 << 20 // distinct first words of chunks
)

// Stacks.
const (
	StackFrames     = 16 << 20 // of one thread
	UnwindChain     = 32       // UNWIND_INFOs of one function
	UnwindInfoCodes = 4096     // of one function, including its chain
	FDEBytes        = 1 << 20  // of one FDE or CIE
	FrameTableItems = 16 << 20 // entries of .eh_frame_hdr
)

// Memory in the output of one command.
const (
	MemoryElements = 1 << 28
	TextUnits      = 16 << 20 // UTF-16 code units of a zero-terminated text
)

// Tables that compilers emit for code.
const (
	MethodCode     = 64 << 20 // bytes of one method
	GCInfoBytes    = 16 << 20 // of one method
	GCSlots        = 1 << 18  // of one method
	EHClauses      = 65_536   // of one method
	ImageEHMethods = 1 << 24  // methods of an image with exception clauses
	NativeVars     = 1 << 20  // locations of one method's variables
)

// User input: expressions and queries.
const (
	ExpressionBytes   = 1 << 20
	ExpressionDepth   = 10_000
	ExpressionNodes   = 1 << 18
	ExpressionDigits  = 64       // of one number
	ExpressionPattern = 64 << 10 // bytes of a regular expression
	ExpressionText    = 1 << 20  // UTF-16 code units of a computed string
	ExpressionItems   = 1 << 20  // objects that refs or referrers lists
	QueryColumns      = 256      // columns that one query shows, groups by or sorts by
	QueryRows         = 1 << 24  // rows or groups that a query holds
	QueryMemory       = 1 << 30  // bytes of these rows
	QueryTypes        = 1 << 22  // types that a query knows by name
	SuggestedNames    = 1 << 16  // names to compare with a misspelled one
)
