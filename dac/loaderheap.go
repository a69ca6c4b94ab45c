package dac

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A LoaderHeapKind is the purpose of a native heap.
type LoaderHeapKind uint8

// The heaps of a LoaderAllocator (loaderallocator.hpp) and of its VirtualCallStubManager in the order of SOS,
// and the code heaps of the JIT manager (codeman.h).
const (
	LowFrequencyHeap LoaderHeapKind = iota
	HighFrequencyHeap
	StubHeap
	ExecutableHeap
	FixupPrecodeHeap
	NewStubPrecodeHeap
	IndirectionCellHeap
	LookupHeap // this and the next two before 8
	ResolveHeap
	DispatchHeap
	CacheEntryHeap
	StaticsHeap
	LoaderCodeHeap
	HostCodeHeap
)

var loaderHeapNames = [...]string{"LowFrequencyHeap", "HighFrequencyHeap", "StubHeap", "ExecutableHeap", "FixupPrecodeHeap",
	"NewStubPrecodeHeap", "IndirectionCellHeap", "LookupHeap", "ResolveHeap", "DispatchHeap", "CacheEntryHeap", "StaticsHeap", "LoaderCodeHeap", "HostCodeHeap"}

// always reports whether each allocator makes a heap of the kind at once.
func (k LoaderHeapKind) always() bool {
	return k == LowFrequencyHeap || k == HighFrequencyHeap || k == StubHeap || k == StaticsHeap || k.interleaved()
}

// interleaved reports whether pages of code and of data alternate in the blocks of a heap (loaderheap.h, UnlockedInterleavedLoaderHeap, 7 and later).
func (k LoaderHeapKind) interleaved() bool { return k == FixupPrecodeHeap || k == NewStubPrecodeHeap }

func (k LoaderHeapKind) String() string { return enum.Name(loaderHeapNames[:], k, "LoaderHeapKind") }

// A LoaderHeapBlock is a reserved range of a native heap. Only the operating system records how much is
// committed; untouched pages are not in dumps.
type LoaderHeapBlock struct {
	Range   target.Range
	Current bool // the heap still allocates from it
}

// A LoaderHeap is one native heap of the runtime (loaderheap.h).
type LoaderHeap struct {
	Kind   LoaderHeapKind
	Addr   target.Addr
	Blocks []LoaderHeapBlock // in the order of the runtime's list
	Err    error             // why blocks are missing, or nil
}

// A LoaderAllocator owns the memory of assemblies that are unloaded together: all that are not collectible, or
// the assemblies of one collectible AssemblyLoadContext.
type LoaderAllocator struct {
	Addr  target.Addr
	Heaps []LoaderHeap // by Kind, without heaps that the runtime has not made
}

// heap returns the heap of kind k, or nil.
func (l *LoaderAllocator) heap(k LoaderHeapKind) *LoaderHeap {
	for i := range l.Heaps {
		if l.Heaps[i].Kind == k {
			return &l.Heaps[i]
		}
	}
	return nil
}

// GlobalLoaderAllocator returns the address of the allocator of everything that is not collectible. Before 8
// the system domain contains its heaps, and the result is the domain's address.
func (r *Runtime) GlobalLoaderAllocator() (target.Addr, error) {
	domain, err := r.SystemDomain()
	if err != nil {
		return 0, err
	}
	if off := r.off.SystemDomain.GlobalAllocator; off != layout.Absent {
		return domain + target.Addr(off), nil
	}
	return domain, nil
}

// checkLoaderAllocator returns an error unless the system domain or a module refers to the allocator a.
func (r *Runtime) checkLoaderAllocator(a target.Addr) error {
	if global, err := r.GlobalLoaderAllocator(); err != nil || a == global {
		return err
	}
	modules, err := r.KnownModules()
	for _, m := range modules {
		switch at, aerr := m.LoaderAllocator(); {
		case aerr == nil && at == a:
			return nil
		case err == nil:
			err = ignoreUnsupported(aerr)
		}
	}
	if err == nil {
		err = target.Corruptf("no domain and no module has it")
	}
	return fmt.Errorf("LoaderAllocator %016x: %w", uint64(a), err)
}

// LoaderAllocator reads the heaps of the allocator at a, which a domain or a module must refer to. It returns a
// *target.AddressError for any other address. The Err of a heap describes what is not in a partial dump.
func (r *Runtime) LoaderAllocator(a target.Addr) (*LoaderAllocator, error) {
	if err := r.Check(FeatureModules); err != nil {
		return nil, err
	}
	if err := r.checkLoaderAllocator(a); err != nil {
		return nil, target.WrongAddress(err)
	}
	o, err := r.loaderLayout()
	if err != nil {
		return nil, err
	}
	l := &LoaderAllocator{Addr: a}
	var firstErr error
	for _, h := range o.heaps() {
		at := a + target.Addr(h.off)
		if !h.inPlace {
			at, err = r.heapPointer(o, a, h)
		}
		switch {
		case err != nil && firstErr == nil:
			firstErr = fmt.Errorf("%v of LoaderAllocator %016x: %w", h.kind, uint64(a), err)
		case err == nil && at != 0:
			l.Heaps = append(l.Heaps, r.loaderHeap(o, h.kind, at))
		}
	}
	if len(l.Heaps) == 0 && firstErr == nil {
		firstErr = &layout.Error{Type: "LoaderAllocator"}
	}
	if len(l.Heaps) == 0 {
		return nil, firstErr
	}
	return l, firstErr
}

// A heapMember is the offset of a heap in a LoaderAllocator.
type heapMember struct {
	kind    LoaderHeapKind
	off     int
	inPlace bool // the heap itself, not a pointer to it
	stub    bool // a member of the VirtualCallStubManager
}

// heaps lists the heaps of the layout by kind.
func (o *loaderOffsets) heaps() []heapMember {
	all := []heapMember{
		{LowFrequencyHeap, o.Allocator.LowFrequency, false, false},
		{HighFrequencyHeap, o.Allocator.HighFrequency, false, false},
		{StubHeap, o.Allocator.Stub, false, false},
		{LowFrequencyHeap, o.SystemDomain.LowFrequency, true, false},
		{HighFrequencyHeap, o.SystemDomain.HighFrequency, true, false},
		{StubHeap, o.SystemDomain.Stub, true, false},
		{ExecutableHeap, o.Allocator.Executable, false, false},
		{FixupPrecodeHeap, o.Allocator.Fixup, false, false},
		{NewStubPrecodeHeap, o.Allocator.NewStub, false, false},
		{IndirectionCellHeap, o.CallStubs.Indcell, false, true},
		{LookupHeap, o.CallStubs.Lookup, false, true},
		{ResolveHeap, o.CallStubs.Resolve, false, true},
		{DispatchHeap, o.CallStubs.Dispatch, false, true},
		{CacheEntryHeap, o.CallStubs.CacheEntry, false, true},
		{StaticsHeap, o.Allocator.Statics, false, false},
	}
	known := all[:0]
	for _, h := range all {
		if h.off != layout.Absent && !(h.stub && o.callStubs() == layout.Absent) {
			known = append(known, h)
		}
	}
	return known
}

// callStubs returns the offset of an allocator's VirtualCallStubManager.
func (o *loaderOffsets) callStubs() int {
	if o.Allocator.CallStubs != layout.Absent {
		return o.Allocator.CallStubs
	}
	return o.SystemDomain.CallStubs
}

// heapPointer returns the address of a heap of the allocator at a, or 0 if the runtime has not made the heap. It makes the stubs' manager of the
// global allocator when it starts, and all heaps of a manager before it enters the manager (virtualcallstub.cpp, VirtualCallStubManager::Init).
func (r *Runtime) heapPointer(o *loaderOffsets, a target.Addr, h heapMember) (target.Addr, error) {
	if h.stub {
		manager, err := r.ptr(a, o.callStubs(), "LoaderAllocator.VirtualCallStubManager")
		if err != nil || manager == 0 {
			if global, gerr := r.GlobalLoaderAllocator(); err == nil && gerr == nil && global == a {
				err = target.Corruptf("there is no manager of call stubs")
			}
			return 0, err
		}
		a = manager
	}
	at, err := r.ptr(a, h.off, "LoaderAllocator."+h.kind.String())
	if err == nil && at == 0 && (h.stub || h.kind.always()) {
		err = target.Corruptf("there is none")
	}
	return at, err
}

// loaderHeap reads the blocks of the heap at a.
func (r *Runtime) loaderHeap(o *loaderOffsets, kind LoaderHeapKind, a target.Addr) LoaderHeap {
	h := LoaderHeap{Kind: kind, Addr: a}
	first, err := r.ptr(a, o.Heap.First, "LoaderHeap.FirstBlock")
	if err == nil {
		h.Blocks, err = r.loaderBlocks(o, first)
	}
	if h.Err = cmp.Or(err, r.markCurrent(o, &h)); h.Err == nil {
		h.Err = r.deniesBlocks(o, &h)
	}
	return h
}

// The units in bytes in which the runtime commits and reserves memory for heaps (ex.h, VIRTUAL_ALLOC_RESERVE_GRANULARITY).
const (
	commitUnit  = 4 << 10
	reserveUnit = 64 << 10
)

// deniesBlocks returns an error if the blocks of a heap contradict what the heap counts: it has committed more than they have, or its current block has
// another end. Its first block may be a part of a larger reservation; the others are reservations.
func (r *Runtime) deniesBlocks(o *loaderOffsets, h *LoaderHeap) error {
	parts := 0
	for _, b := range h.Blocks {
		size := b.Range.Size()
		if size%reserveUnit != 0 {
			parts++
		}
		if size%commitUnit != 0 || parts > 1 {
			return target.Corruptf("it has a block of %#x bytes at %016x", size, uint64(b.Range.Start))
		}
	}
	if o.Heap.TotalAlloc == layout.Absent || o.Heap.CommittedEnd == layout.Absent || o.Heap.ReservedEnd == layout.Absent {
		return nil
	}
	rd := layout.Reader{Mem: r.mem, Base: h.Addr}
	committed, reserved, total := rd.Ptr(o.Heap.CommittedEnd), rd.Ptr(o.Heap.ReservedEnd), rd.U64(o.Heap.TotalAlloc)
	if rd.Err != nil {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	most := uint64(0)
	for _, b := range h.Blocks {
		switch {
		case !b.Current:
			most += b.Range.Size()
			continue
		case b.Range.End != reserved || committed > reserved || committed < b.Range.Start:
			return target.Corruptf("its block from %016x to %016x is committed up to %016x and reserved up to %016x", uint64(b.Range.Start), uint64(b.Range.End),
				uint64(committed), uint64(reserved))
		case h.Kind.interleaved():
			most += uint64(committed - b.Range.Start)
		}
		most += uint64(committed - b.Range.Start)
	}
	if total > most {
		return target.Corruptf("it has committed %d bytes, and its blocks have %d at most", total, most)
	}
	return nil
}

// markCurrent marks the block that contains the allocation pointer. Since 8 new blocks are first in the list,
// before 8 they are last.
func (r *Runtime) markCurrent(o *loaderOffsets, h *LoaderHeap) error {
	at, err := r.ptr(h.Addr, o.Heap.AllocPtr, "LoaderHeap.AllocPtr")
	if err != nil {
		return err
	}
	found := len(h.Blocks) == 0
	for i := range h.Blocks {
		b := &h.Blocks[i]
		b.Current = at >= b.Range.Start && at <= b.Range.End
		found = found || b.Current
	}
	if !found {
		return target.Corruptf("it allocates at %016x, which is in none of its blocks", uint64(at))
	}
	return nil
}

// loaderBlocks reads a list of LoaderHeapBlocks (loaderheap.h).
func (r *Runtime) loaderBlocks(o *loaderOffsets, a target.Addr) ([]LoaderHeapBlock, error) {
	var out []LoaderHeapBlock
	var seen cycle
	for a != 0 {
		if len(out) >= limits.LoaderBlocks || seen.closes(a) {
			return out, target.Corruptf("list of loader heap blocks has no end")
		}
		rd := layout.Reader{Mem: r.mem, Base: a}
		next, start, size := rd.Ptr(o.Block.Next), rd.Ptr(o.Block.Address), rd.U64(o.Block.Size)
		if rd.Err != nil {
			return out, rd.Err
		}
		if size > uint64(-start-1) || start == 0 {
			return out, target.Corruptf("loader heap block %016x: %d bytes at %#x", uint64(a), size, uint64(start))
		}
		out = append(out, LoaderHeapBlock{Range: target.RangeAt(start, size)})
		a = next
	}
	return out, nil
}

// A CodeHeap is memory for code of the JIT compiler.
type CodeHeap struct {
	Node target.Addr // the HeapList that describes it
	LoaderHeap
}

// JitManager returns the address of the manager of JIT-compiled code (EEJitManager, codeman.h).
func (r *Runtime) JitManager() (target.Addr, error) { return r.GlobalPointer("EEJitManager") }

// CodeHeaps returns the code heaps of the JIT manager, the newest first. It returns the heaps found together
// with the first error. Ranges of code that contradict them are target.ErrCorrupt.
func (r *Runtime) CodeHeaps() ([]CodeHeap, error) {
	heaps, err := r.codeHeaps()
	if err == nil {
		err = r.deniesCodeHeaps(heaps)
	}
	return heaps, err
}

// deniesCodeHeaps returns an error if a range of compiled code belongs to a heap that is not in the list, or ends elsewhere than the heap's memory.
// Under a lock, the runtime enters the range of a new heap before it lists the heap, and removes the range of an old one after it (codeman.cpp, NewCodeHeap,
// DeleteCodeHeap), so that the list can lack one.
func (r *Runtime) deniesCodeHeaps(heaps []CodeHeap) error {
	var lost *RangeSection
	for _, s := range CodeOf(r).knownSections() {
		if s.Kind != CodeJIT || s.err != nil {
			continue
		}
		i := slices.IndexFunc(heaps, func(h CodeHeap) bool { return h.Node == s.Heap })
		switch {
		case i >= 0:
		case lost != nil && lost.Heap != s.Heap:
			return target.Corruptf("the list of code heaps lacks %016x and %016x, which have ranges of code", uint64(lost.Heap), uint64(s.Heap))
		default:
			lost = s
			continue
		}
		if h := &heaps[i]; h.Kind == LoaderCodeHeap && h.Err == nil && len(h.Blocks) == 1 && h.Blocks[0].Range.End < s.Range.End {
			return target.Corruptf("the code heap %016x has memory up to %016x, and code up to %016x", uint64(h.Addr), uint64(h.Blocks[0].Range.End), uint64(s.Range.End))
		}
	}
	if lost != nil {
		return fmt.Errorf("the list of code heaps lacks %016x, which has code from %016x to %016x; it is damaged, or the heap was being made or freed and is %w",
			uint64(lost.Heap), uint64(lost.Range.Start), uint64(lost.Range.End), target.ErrNotInDump)
	}
	return nil
}

// codeHeaps is CodeHeaps without the comparison with the ranges of code.
func (r *Runtime) codeHeaps() ([]CodeHeap, error) {
	o, err := r.loaderLayout()
	if err != nil {
		return nil, err
	}
	manager, err := r.JitManager()
	if err != nil {
		return nil, err
	}
	node, err := r.ptr(manager, o.JitManager.CodeHeaps, "EEJitManager.AllCodeHeaps")
	var out []CodeHeap
	var seen cycle
	for err == nil && node != 0 {
		if len(out) >= limits.LoaderBlocks || seen.closes(node) {
			return out, target.Corruptf("list of code heaps has no end")
		}
		out = append(out, r.codeHeap(o, node))
		node, err = r.ptr(node, o.CodeHeapNode.Next, "CodeHeapListNode.Next")
	}
	if err != nil {
		err = fmt.Errorf("code heaps: %w", err)
	}
	return out, err
}

// codeHeap reads the heap of a HeapList node. A HostCodeHeap, with the code of dynamic methods, keeps its start
// where a LoaderCodeHeap keeps the end of its committed part. The node's MapBase distinguishes them without a
// vtable.
func (r *Runtime) codeHeap(o *loaderOffsets, node target.Addr) CodeHeap {
	n := layout.Reader{Mem: r.mem, Base: node}
	heap, base := n.Ptr(o.CodeHeapNode.Heap), n.Ptr(o.CodeHeapNode.Base)
	if n.Err != nil {
		return CodeHeap{Node: node, LoaderHeap: LoaderHeap{Kind: LoaderCodeHeap, Err: n.Err}}
	}
	h := CodeHeap{Node: node, LoaderHeap: LoaderHeap{Kind: LoaderCodeHeap, Addr: heap}}
	rd := layout.Reader{Mem: r.mem, Base: heap}
	start, end := rd.Ptr(o.HostCodeHeap.Base), rd.Ptr(o.HostCodeHeap.Current)
	if rd.Err == nil && start == base && end >= start {
		h.Kind = HostCodeHeap
		h.Blocks = []LoaderHeapBlock{{Range: target.Range{Start: start, End: end}, Current: true}}
		return h
	}
	h.Blocks, h.Err = r.codeBlocks(o, heap)
	for i := range h.Blocks {
		h.Blocks[i].Current = true
	}
	if h.Err == nil && !slices.ContainsFunc(h.Blocks, func(b LoaderHeapBlock) bool { return b.Range.Contains(base) }) {
		h.Err = target.Corruptf("its code begins at %016x, which is in none of its blocks", uint64(base))
	}
	return h
}

// codeBlocks reads the blocks of a LoaderCodeHeap.
func (r *Runtime) codeBlocks(o *loaderOffsets, heap target.Addr) ([]LoaderHeapBlock, error) {
	at := o.LoaderCodeHeap.First
	if at == layout.Absent && o.LoaderCodeHeap.Heap != layout.Absent && o.Heap.First != layout.Absent {
		at = o.LoaderCodeHeap.Heap + o.Heap.First
	}
	first, err := r.ptr(heap, at, "LoaderCodeHeap.FirstBlock")
	if err != nil {
		return nil, err
	}
	return r.loaderBlocks(o, first)
}
