package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// Memory is a piece of memory as rows of elements.
type Memory struct {
	Gaps
	Address target.Addr                 `json:"address" doc:"where it starts"`
	Length  int                         `json:"-"` // bytes of an element: 1, 2, 4 or 8
	Width   int                         `json:"-"` // elements of a row
	Rows    iter.Seq2[MemoryRow, error] `json:"rows" doc:"the rows"`
}

// A MemoryRow is a row of elements.
type MemoryRow struct {
	Address  target.Addr `json:"address" doc:"of the first element"`
	Elements []*Hex      `json:"elements" doc:"the row's elements; null for one that the dump does not hold"`
}

// MemoryText is the text that memory holds up to a zero.
type MemoryText struct {
	Gaps
	Address target.Addr `json:"address" doc:"where it starts"`
	Units   []uint16    `json:"-"` // its UTF-16 code units
	Text    string      `json:"string" doc:"the text"`
}

// An AddressKind is what an address is known to be.
type AddressKind string

// The kinds, each proven by what stands around the address, never by its value alone.
const (
	AddressUnknown     AddressKind = "unknown"     // nothing is known; no region of the dump has it
	AddressUnmapped    AddressKind = "unmapped"    // the dump says that nothing was mapped there
	AddressMapped      AddressKind = "memory"      // memory of the process about which nothing more is known
	AddressModule      AddressKind = "module"      // in an image
	AddressStack       AddressKind = "stack"       // in the used part of a thread's stack
	AddressFrame       AddressKind = "frame"       // an explicit frame of the runtime
	AddressCode        AddressKind = "code"        // in the code of a managed method
	AddressStub        AddressKind = "stub"        // in code that the runtime made
	AddressMethodDesc  AddressKind = "MethodDesc"  // of a method
	AddressMethodTable AddressKind = "MethodTable" // of a type
	AddressEEClass     AddressKind = "EEClass"     // of a type
	AddressFieldDesc   AddressKind = "FieldDesc"   // of a field
	AddressCLRModule   AddressKind = "Module"      // of the runtime, for a managed module
	AddressAssembly    AddressKind = "Assembly"    // of the runtime
	AddressDomain      AddressKind = "AppDomain"   // the application domain, or the system domain
	AddressAllocator   AddressKind = "LoaderAllocator"
	AddressThread      AddressKind = "Thread"        // of the runtime, for a managed thread
	AddressHeap        AddressKind = "heap"          // in a segment of the GC heap, but in no known object
	AddressFree        AddressKind = "free block"    // of the GC heap
	AddressObject      AddressKind = "object"        // its beginning
	AddressInObject    AddressKind = "inside object" // behind its beginning
)

// An Address says what an address is. Why no more is known is in the Gaps.
type Address struct {
	Gaps
	Address     target.Addr    `json:"address" doc:"that was asked about"`
	Kind        AddressKind    `json:"kind" doc:"what it is known to be"`
	Start       target.Addr    `json:"start,omitempty" doc:"of what it lies in: an object, code, a stack, an image, a region"`
	Size        uint64         `json:"size,omitempty" doc:"bytes of what it lies in; absent where unknown"`
	MethodTable target.Addr    `json:"methodTable,omitempty" doc:"type of the object"`
	MethodDesc  target.Addr    `json:"methodDesc,omitempty" doc:"method of the code"`
	Name        Text           `json:"name,omitzero" doc:"of the type, the method or the frame's class; path of the image or the mapped file"`
	Thread      *Thread        `json:"thread,omitempty" doc:"whose stack it is, or that it is"`
	Runtime     *int           `json:"runtime,omitempty" doc:"number of the runtime that it belongs to, where that is another one than was asked"`
	Memory      *AddressMemory `json:"memory,omitempty" doc:"what the memory is for, if nothing more specific is known"`
}

// AddressMemory is what the memory at an address is for; see MemoryMap.
type AddressMemory struct {
	Kind   MemoryKind   `json:"kind" doc:"as the command memory has it"`
	Detail string       `json:"detail,omitempty" doc:"the kind of loader heap or code heap"`
	Block  *NativeBlock `json:"block,omitempty" doc:"the block of malloc that holds the address"`
}

// A NativeBlock is a block of malloc.
type NativeBlock struct {
	Address target.Addr `json:"address" doc:"as malloc returned it"`
	Size    uint64      `json:"size" doc:"bytes, with malloc's header of 16 bytes before the address"`
	State   string      `json:"state" doc:"\"in use\", \"free\", \"cached\" for a free block that is kept for a thread or a size, \"top\" for the unused end of an arena"`
}

// Nameless reports whether nothing of a runtime's was found at the address: it is memory, or an image, or nothing.
func (k AddressKind) Nameless() bool {
	switch k {
	case AddressUnknown, AddressUnmapped, AddressMapped, AddressModule:
		return true
	}
	return false
}
