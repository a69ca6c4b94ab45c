package dac

import (
	"github.com/sosgo/sosgo/internal/files/layout"
)

// loaderOffsets holds the offsets of the loader's structures: allocators, their heaps, load contexts. It is
// bound on first use, so that a runtime can be opened without them.
type loaderOffsets struct {
	Allocator struct {
		LowFrequency  int `layout:"LowFrequencyHeap,optional"`
		HighFrequency int `layout:"HighFrequencyHeap,optional"`
		Statics       int `layout:"StaticsHeap,optional"`
		Stub          int `layout:"StubHeap,optional"`
		Executable    int `layout:"ExecutableHeap,optional"`
		Fixup         int `layout:"FixupPrecodeHeap,optional"`
		NewStub       int `layout:"NewStubPrecodeHeap,optional"`
		ObjectHandle  int `layout:"ObjectHandle,optional"`
		CallStubs     int `layout:"VirtualCallStubManager,optional"`
	} `struct:"LoaderAllocator,optional"`
	CallStubs struct {
		Indcell    int `layout:"IndcellHeap"`
		CacheEntry int `layout:"CacheEntryHeap"`
		Lookup     int `layout:"LookupHeap,optional"`
		Resolve    int `layout:"ResolveHeap,optional"`
		Dispatch   int `layout:"DispatchHeap,optional"`
	} `struct:"VirtualCallStubManager,optional"`
	// Before 8 the system domain contains the heaps.
	SystemDomain struct {
		LowFrequency  int `layout:"LowFrequencyHeap"`
		HighFrequency int `layout:"HighFrequencyHeap"`
		Stub          int `layout:"StubHeap"`
		CallStubs     int `layout:"VirtualCallStubManager,optional"`
	} `struct:"SystemDomain,optional"`
	Heap struct {
		First        int `layout:"FirstBlock"`
		AllocPtr     int `layout:"AllocPtr,optional"`
		CommittedEnd int `layout:"CommittedEnd,optional"` // of the block with AllocPtr
		ReservedEnd  int `layout:"ReservedEnd,optional"`  // of that block
		TotalAlloc   int `layout:"TotalAlloc,optional"`   // bytes committed in all blocks
	} `struct:"LoaderHeap,optional"`
	Block struct {
		Next    int `layout:"Next"`
		Address int `layout:"VirtualAddress"`
		Size    int `layout:"VirtualSize"`
	} `struct:"LoaderHeapBlock,optional"`
	JitManager struct {
		CodeHeaps int `layout:"AllCodeHeaps"`
	} `struct:"EEJitManager,optional"`
	CodeHeapNode   layout.CodeHeapListNode `struct:"CodeHeapListNode,optional"`
	LoaderCodeHeap struct {
		First int `layout:"FirstBlock,optional"`
		Heap  int `layout:"LoaderHeap,optional"` // contains a LoaderHeap; since 11 in place of FirstBlock
	} `struct:"LoaderCodeHeap,optional"`
	HostCodeHeap struct {
		Base    int `layout:"BaseAddress"`
		Current int `layout:"CurrentAddress"`
	} `struct:"HostCodeHeap,optional"`
	PEAssembly struct {
		Binder         int `layout:"AssemblyBinder,optional"` // 10 and later
		HostAssembly   int `layout:"HostAssembly,optional"`
		FallbackBinder int `layout:"FallbackBinder,optional"`
	} `struct:"PEAssembly"`
	HostAssembly struct {
		Binder int `layout:"Binder"`
	} `struct:"BinderAssembly,optional"`
	Binder struct {
		LoadContext int `layout:"AssemblyLoadContext"`
	} `struct:"AssemblyBinder,optional"`
}

// loaderLayout binds the offsets of the loader's structures.
func (r *Runtime) loaderLayout() (*loaderOffsets, error) {
	return r.loader.Get(func() (*loaderOffsets, error) {
		o := &loaderOffsets{}
		return o, r.layout.BindAll(o)
	})
}
