package answer

import "github.com/sosgo/sosgo/target"

// A MemoryKind is the use of a range of a process's memory.
type MemoryKind string

// The kinds. Each byte of a mapping has exactly one.
const (
	MemoryGeneration0   MemoryKind = "gc generation 0" // of the GC heap, committed, as the next six
	MemoryGeneration1   MemoryKind = "gc generation 1"
	MemoryGeneration2   MemoryKind = "gc generation 2"
	MemoryLarge         MemoryKind = "gc large"
	MemoryPinned        MemoryKind = "gc pinned"
	MemoryFrozen        MemoryKind = "gc frozen"
	MemoryEphemeral     MemoryKind = "gc ephemeral" // a segment that generations share
	MemoryGCReserve     MemoryKind = "gc reserve"   // reserved by the collector, without objects: free regions and the rest of segments
	MemoryGCTables      MemoryKind = "gc tables"    // card table, brick table, mark array
	MemoryLoaderHeap    MemoryKind = "loader heap"  // types, methods, stubs
	MemoryCodeHeap      MemoryKind = "code heap"    // code of the JIT compiler
	MemoryExecutable    MemoryKind = "executable"   // other memory that the runtime maps twice: to write and to execute
	MemoryReadyToRun    MemoryKind = "image, precompiled"
	MemoryManagedImage  MemoryKind = "image, managed"
	MemoryNativeImage   MemoryKind = "image, native"
	MemoryImage         MemoryKind = "image" // an image with unreadable headers
	MemoryFile          MemoryKind = "file"
	MemoryStack         MemoryKind = "stack"
	MemoryMalloc        MemoryKind = "malloc"         // arenas
	MemoryMallocReserve MemoryKind = "malloc reserve" // addresses that arenas may grow into
	MemoryMallocMapped  MemoryKind = "malloc mapped"  // blocks with mappings of their own
	MemorySystem        MemoryKind = "system"         // the vDSO
	MemoryReserved      MemoryKind = "reserved"       // no access; nothing else is known
	MemoryUnknown       MemoryKind = "anonymous"      // nothing is known about it
)

// A MemoryMap divides the memory of a process by use. The sums of Kinds cover all mappings.
type MemoryMap struct {
	Gaps
	Complete bool            `json:"complete" doc:"the dump lists all mappings of the process; else only files and the memory that it holds"`
	Mappings MemorySum       `json:"mappings" doc:"all mappings"`
	LeftOut  uint64          `json:"leftOut,omitempty" doc:"bytes that sosgo shrink left out; they count as stored"`
	Kinds    []MemorySum     `json:"kinds" doc:"by kind; each byte counts once"`
	Counters []MemoryCounter `json:"counters,omitempty" doc:"what the dump records of the process's memory, as it words it"`
	Native   *NativeHeap     `json:"native,omitempty" doc:"the heap of malloc, if it can be read"`
	Ranges   []MemoryRange   `json:"ranges,omitempty" doc:"the parts of mappings by address, if requested"`
}

// A MemorySum adds up the ranges of one kind.
type MemorySum struct {
	Kind     MemoryKind `json:"kind,omitempty" doc:"what the memory is for"`
	Detail   string     `json:"detail,omitempty" doc:"the kind of loader heap or code heap"`
	Known    string     `json:"known,omitempty" doc:"by what: \"runtime\" and \"malloc\" for their structures, \"images\" and \"stacks\" for headers and registers, \"mappings\" for the list of mappings alone"`
	Ranges   int        `json:"ranges" doc:"number of ranges"`
	Size     uint64     `json:"size" doc:"bytes that are mapped"`
	NoAccess uint64     `json:"noAccess,omitempty" doc:"bytes of them that the process may not access: reserved, but not committed"`
	Stored   uint64     `json:"stored" doc:"bytes of them that the dump holds"`
	InUse    *uint64    `json:"inUse,omitempty" doc:"bytes in use: of objects, of blocks, of stacks above the stack pointers; absent where unknown"`
	Free     *uint64    `json:"free,omitempty" doc:"bytes of free blocks between them; absent where unknown"`
	Partial  bool       `json:"partial,omitempty" doc:"a part of the memory could not be read: inUse and free are those of the rest"`
}

// A MemoryRange is a part of a mapping with one kind.
type MemoryRange struct {
	Start  target.Addr `json:"start" doc:"first byte"`
	End    target.Addr `json:"end" doc:"behind the last byte"`
	Kind   MemoryKind  `json:"kind" doc:"what the memory is for"`
	Detail string      `json:"detail,omitempty" doc:"the kind of loader heap or code heap"`
	Access string      `json:"access" doc:"\"rw-\": what the process may do; \"---\" also where the dump does not record it"`
	Stored uint64      `json:"stored" doc:"bytes that the dump holds"`
	Path   string      `json:"path,omitempty" doc:"the mapped file"`
}

// A NativeHeap is the heap of malloc.
type NativeHeap struct {
	Library string               `json:"library" doc:"path of the C library"`
	Others  []string             `json:"others,omitempty" doc:"other allocators among the modules, whose memory is not read"`
	InUse   NativeSum            `json:"inUse" doc:"blocks in use in arenas"`
	Free    NativeSum            `json:"free" doc:"free blocks in arenas"`
	Cached  NativeSum            `json:"cached" doc:"free blocks that are kept for a thread or a size"`
	Top     NativeSum            `json:"top" doc:"the unused ends of arenas"`
	Mapped  NativeSum            `json:"mapped" doc:"blocks with mappings of their own that were found"`
	Counted *NativeSum           `json:"counted,omitempty" doc:"blocks with mappings of their own, as malloc counts them; absent where that is not in the dump"`
	Arenas  []NativeArena        `json:"arenas" doc:"the main arena, then those of threads"`
	Sizes   []NativeSizes        `json:"sizes" doc:"blocks of arenas by size"`
	Owners  []NativeOwner        `json:"owners,omitempty" doc:"blocks in use by their first word, those with the most bytes first, if requested"`
	More    int                  `json:"more,omitempty" doc:"owners that are not listed"`
	Words   map[string]NativeSum `json:"words,omitempty" doc:"blocks in use by what their first word is: \"image\", \"block\" for an address in the heap of malloc, \"zero\", \"unread\" or \"other\""`
}

// A NativeSum counts blocks.
type NativeSum struct {
	Blocks uint64 `json:"blocks" doc:"number of blocks"`
	Bytes  uint64 `json:"bytes" doc:"their bytes, with malloc's headers"`
}

// A NativeArena is a part of malloc's heap that several threads share.
type NativeArena struct {
	Address target.Addr `json:"address,omitempty" doc:"its malloc_state; absent where that is not in the dump"`
	Start   target.Addr `json:"start" doc:"its first memory"`
	Main    bool        `json:"main" doc:"the main arena, behind the program break"`
	Threads *uint64     `json:"threads,omitempty" doc:"how many threads allocate from it; absent where unknown"`
	Heaps   int         `json:"heaps" doc:"its contiguous parts"`
	Size    uint64      `json:"size" doc:"bytes that it has from the system"`
	InUse   NativeSum   `json:"inUse" doc:"blocks in use"`
	Free    NativeSum   `json:"free" doc:"free blocks, those in caches included"`
	Top     uint64      `json:"top" doc:"bytes of the unused end"`
	Unread  uint64      `json:"unread,omitempty" doc:"bytes behind the first block that could not be read"`
	Err     error       `json:"-"` // why bytes are unread
}

// NativeSizes counts the blocks with a size up to a limit and above the previous row's limit.
type NativeSizes struct {
	UpTo  uint64    `json:"upTo" doc:"the largest size in bytes, with the header"`
	InUse NativeSum `json:"inUse" doc:"blocks in use"`
	Free  NativeSum `json:"free" doc:"free blocks, those in caches included"`
}

// A NativeOwner is the address in an image that the first word of blocks points to. For a C++ object it is the
// virtual function table of its class.
type NativeOwner struct {
	NativeSum
	Module  string      `json:"module" doc:"path of the image"`
	Offset  Hex         `json:"offset" doc:"where in the image the first word points"`
	Symbol  string      `json:"symbol,omitempty" doc:"the symbol there, if the image names one"`
	Example target.Addr `json:"example" doc:"one of the blocks, as malloc returned it"`
}
