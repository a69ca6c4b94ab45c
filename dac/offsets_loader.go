package dac

import (
	"github.com/sosgo/sosgo/internal/files/layout"
)

// loaderOffsets holds the offsets of the loader's structures: allocators, their heaps, load contexts. It is bound at
// the first use, so that a runtime whose layout lacks them opens all the same.
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
	// Before 8 the heaps are in the system domain itself.
	SystemDomain struct {
		LowFrequency  int `layout:"LowFrequencyHeap"`
		HighFrequency int `layout:"HighFrequencyHeap"`
		Stub          int `layout:"StubHeap"`
		CallStubs     int `layout:"VirtualCallStubManager,optional"`
	} `struct:"SystemDomain,optional"`
	Heap struct {
		First    int `layout:"FirstBlock"`
		AllocPtr int `layout:"AllocPtr,optional"`
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
		Heap  int `layout:"LoaderHeap,optional"` // a LoaderHeap in it; since 11 instead of FirstBlock
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

// loaderLayout binds the members of the structures of loading.
func (r *Runtime) loaderLayout() (*loaderOffsets, error) {
	return r.loader.Get(func() (*loaderOffsets, error) {
		o := &loaderOffsets{}
		return o, r.layout.BindAll(o)
	})
}
