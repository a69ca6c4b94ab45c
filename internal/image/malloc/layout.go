package malloc

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// glibcTable holds the layouts of glibc's structures. They are not selected by version; the data of
// the process proves them.
//
//go:embed glibc.json
var glibcTable []byte

// A layout lists the layouts of glibc's structures, the newest first.
type layout struct {
	HeapAlignment uint64 // HEAP_MAX_SIZE: thread arenas have heaps at multiples of it
	FastBins      int    // NFASTBINS
	Bins          int    // NBINS without bin 0, which does not exist
	States        []stateForm
	Heaps         []heapForm
	Parameters    []parameterForm
	Caches        []cacheForm
}

// A stateForm holds the offsets in a malloc_state.
type stateForm struct {
	Flags, FastBins, Top, Bins, Next, Threads, SystemMemory, Bytes target.Addr
}

// A heapForm holds the offsets in a heap_info.
type heapForm struct{ Arena, Previous, Size, Bytes target.Addr }

// A parameterForm holds the offsets in a malloc_par.
type parameterForm struct {
	Mappings, MappingsMax, MappedMemory, BreakBase, Bytes target.Addr
}

// A cacheForm holds the offsets in a tcache_perthread_struct.
type cacheForm struct {
	Bins, SmallBins int
	CountBytes      int
	Entries, Bytes  target.Addr
	Remaining       bool // counts are of free places
	Protected       bool // links are mangled with their addresses (PROTECT_PTR)
}

// glibc returns the layouts of glibc's structures.
var glibc = sync.OnceValue(func() *layout {
	var l layout
	if err := json.Unmarshal(glibcTable, &l); err != nil {
		panic(err) // the file is embedded
	}
	return &l
})

// Constants of all versions (malloc.c): a chunk begins with two words, the size of the previous
// chunk if that is free, and its own size with three flags. Sizes are multiples of 16.
const (
	word       = 8
	headerSize = 2 * word
	alignment  = 16
	leastChunk = 32
	pageSize   = 4096

	flagPreviousInUse = 1
	flagMapped        = 2 // the chunk has its own mapping
	flagThreadArena   = 4
	chunkFlags        = 7

	stateNotContiguous = 2 // NONCONTIGUOUS_BIT of a malloc_state's flags
)

// chunkOf returns the size of the chunk for a request of n bytes (request2size).
func chunkOf(n target.Addr) uint64 {
	return max(leastChunk, (uint64(n)+word+alignment-1)&^(alignment-1))
}

func alignUp(a target.Addr) target.Addr { return (a + alignment - 1) &^ (alignment - 1) }
