package answer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

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
	Complete bool            `json:"complete" doc:"the dump lists all mappings of the process; else only files and the memory that it holds" text:"|The dump lists files and the memory that it holds: the process may have more.;line"`
	Mappings MemorySum       `json:"mappings" doc:"all mappings" text:"all mappings"`
	LeftOut  uint64          `json:"leftOut,omitempty" doc:"bytes that sosgo shrink left out; they count as stored" text:"% left out by sosgo shrink, counted as if the dump held them;size;line"`
	Kinds    []MemorySum     `json:"kinds" doc:"by kind; each byte counts once" text:"kinds;table"`
	Counters []MemoryCounter `json:"counters,omitempty" doc:"what the dump records of the process's memory, as it words it" text:"the dump records;heading"`
	Native   *NativeHeap     `json:"native,omitempty" doc:"the heap of malloc, if it can be read" text:"malloc;line"`
	Ranges   []MemoryRange   `json:"ranges,omitempty" doc:"the parts of mappings by address, if requested" text:"ranges;table;heading"`
}

// A MemorySum adds up the ranges of one kind.
type MemorySum struct {
	Kind     MemoryKind `json:"kind,omitempty" doc:"what the memory is for" text:"="`
	Detail   string     `json:"detail,omitempty" doc:"the kind of loader heap or code heap" text:"+: %"`
	Known    string     `json:"known,omitempty" doc:"by what: \"runtime\" and \"malloc\" for their structures, \"images\" and \"stacks\" for headers and registers, \"mappings\" for the list of mappings alone" text:"known by"`
	Ranges   int        `json:"ranges" doc:"number of ranges"`
	Size     uint64     `json:"size" doc:"bytes that are mapped" text:"mapped;size"`
	NoAccess uint64     `json:"noAccess,omitempty" doc:"bytes of them that the process may not access: reserved, but not committed" text:"no access;size;zero"`
	Stored   uint64     `json:"stored" doc:"bytes of them that the dump holds" text:"in dump;size"`
	InUse    *uint64    `json:"inUse,omitempty" doc:"bytes in use: of objects, of blocks, of stacks above the stack pointers; absent where unknown" text:"in use;size"`
	Free     *uint64    `json:"free,omitempty" doc:"bytes of free blocks between them; absent where unknown" text:"free;size"`
	Partial  bool       `json:"partial,omitempty" doc:"a part of the memory could not be read: inUse and free are those of the rest" text:"partly read"`
}

// A MemoryRange is a part of a mapping with one kind.
type MemoryRange struct {
	Start  target.Addr `json:"start" doc:"first byte"`
	End    target.Addr `json:"end" doc:"behind the last byte"`
	Kind   MemoryKind  `json:"kind" doc:"what the memory is for" text:"="`
	Detail string      `json:"detail,omitempty" doc:"the kind of loader heap or code heap" text:"+: %"`
	Access string      `json:"access" doc:"\"rw-\": what the process may do; \"---\" also where the dump does not record it"`
	Stored uint64      `json:"stored" doc:"bytes that the dump holds" text:"in dump;size"`
	Path   string      `json:"path,omitempty" doc:"the mapped file" text:"file"`
}

// A NativeHeap is the heap of malloc.
type NativeHeap struct {
	Library string        `json:"library" doc:"path of the C library" text:"="`
	Others  []string      `json:"others,omitempty" doc:"other allocators among the modules, whose memory is not read" text:"not read;row"`
	InUse   NativeSum     `json:"inUse" doc:"blocks in use in arenas" text:"in use"`
	Free    NativeSum     `json:"free" doc:"free blocks in arenas"`
	Cached  NativeSum     `json:"cached" doc:"free blocks that are kept for a thread or a size"`
	Top     NativeSum     `json:"top" doc:"the unused ends of arenas" text:"at the ends of arenas"`
	Mapped  NativeSum     `json:"mapped" doc:"blocks with mappings of their own that were found" text:"with mappings of their own"`
	Counted *NativeSum    `json:"counted,omitempty" doc:"blocks with mappings of their own, as malloc counts them; absent where that is not in the dump" text:"counted by malloc"`
	Arenas  []NativeArena `json:"arenas" doc:"the main arena, then those of threads" text:"arenas;table;heading"`
	Sizes   []NativeSizes `json:"sizes" doc:"blocks of arenas by size" text:"blocks by size;table;heading"`
	Owners  []NativeOwner `json:"owners,omitempty" doc:"blocks in use by their first word, those with the most bytes first, if requested" text:"blocks by their first word;table;heading"`
	More    int           `json:"more,omitempty" doc:"owners that are not listed" text:"first words not listed;nonzero;line"`
	Words   NativeWords   `json:"words,omitempty" doc:"blocks in use by what their first word is: \"image\", \"block\" for an address in the heap of malloc, \"zero\", \"unread\" or \"other\"" text:"first words of blocks in use;line"`
}

// Omits reports whether text leaves out a field: the arenas and sizes, unless the first words of blocks were requested.
func (n *NativeHeap) Omits(field string) bool {
	return n.Words == nil && (field == "arenas" || field == "sizes")
}

// NativeWords counts blocks by what their first word is.
type NativeWords map[string]NativeSum

// String lists the blocks.
func (w NativeWords) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(w)) {
		parts = append(parts, fmt.Sprintf("%s %d (%d bytes)", kind, w[kind].Blocks, w[kind].Bytes))
	}
	return strings.Join(parts, ", ")
}

// A NativeSum counts blocks.
type NativeSum struct {
	Blocks uint64 `json:"blocks" doc:"number of blocks" text:"=% block|% blocks"`
	Bytes  uint64 `json:"bytes" doc:"their bytes, with malloc's headers" text:"+ of %;size"`
}

// A NativeArena is a part of malloc's heap that several threads share.
type NativeArena struct {
	Address target.Addr `json:"address,omitempty" doc:"its malloc_state; absent where that is not in the dump" text:"-"`
	Start   target.Addr `json:"start" doc:"its first memory"`
	Main    bool        `json:"main" doc:"the main arena, behind the program break" text:"main"`
	Threads *uint64     `json:"threads,omitempty" doc:"how many threads allocate from it; absent where unknown"`
	Heaps   int         `json:"heaps" doc:"its contiguous parts"`
	Size    uint64      `json:"size" doc:"bytes that it has from the system" text:";size"`
	InUse   NativeSum   `json:"inUse" doc:"blocks in use" text:"in use"`
	Free    NativeSum   `json:"free" doc:"free blocks, those in caches included"`
	Top     uint64      `json:"top" doc:"bytes of the unused end" text:";size"`
	Unread  uint64      `json:"unread,omitempty" doc:"bytes behind the first block that could not be read" text:";size;nonzero"`
	Err     error       `json:"-"` // why bytes are unread
}

// NativeSizes counts the blocks with a size up to a limit and above the previous row's limit.
type NativeSizes struct {
	UpTo  uint64    `json:"upTo" doc:"the largest size in bytes, with the header" text:"up to;size"`
	InUse NativeSum `json:"inUse" doc:"blocks in use" text:"in use"`
	Free  NativeSum `json:"free" doc:"free blocks, those in caches included"`
}

// A NativeOwner is the address in an image that the first word of blocks points to. For a C++ object it is the
// virtual function table of its class.
type NativeOwner struct {
	NativeSum
	Module  string      `json:"module" doc:"path of the image"`
	Offset  Hex         `json:"offset" doc:"where in the image the first word points" text:"++%"`
	Symbol  string      `json:"symbol,omitempty" doc:"the symbol there, if the image names one"`
	Example target.Addr `json:"example" doc:"one of the blocks, as malloc returned it"`
}
