package dac

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// storedPage is the unit in bytes in which LoaderHeaps counts memory in the dump.
const storedPage = 4096

// LoaderHeaps lists the native heaps of the runtime: heaps of assemblies that are not collectible, heaps of
// code by address, and heaps of collectible assemblies. It notes unreadable parts. Without the system domain it
// returns only the error.
func (r *Runtime) LoaderHeaps() (*answer.LoaderHeaps, error) {
	m := loaderMemory{r: r, out: &answer.LoaderHeaps{Heaps: []answer.LoaderHeap{}}, reserved: reservedRanges(r.tgt)}
	var err error
	if m.out.SystemDomain, err = r.SystemDomain(); err != nil {
		return nil, err
	}
	if m.out.GlobalAllocator, err = r.GlobalLoaderAllocator(); err != nil {
		return nil, err
	}
	m.allocator(m.out.GlobalAllocator)
	domain, err := r.AppDomain()
	m.out.Note(err)
	m.out.AppDomain = domain.Addr
	m.code()
	m.collectible()
	return m.out, nil
}

// A loaderMemory collects native heaps.
type loaderMemory struct {
	r        *Runtime
	out      *answer.LoaderHeaps
	reserved []target.Range // sorted by address
}

// reservedRanges returns the ranges of mapped files that the process may neither write nor execute. A runtime
// that maps its memory twice through a file in memory reserves uncommitted parts of heaps that way. The kernel
// and gdb write such pages to a core, too.
func reservedRanges(t target.Target) []target.Range {
	var out []target.Range
	for r := range t.Regions() {
		if r.Prot&(target.ProtWrite|target.ProtExec) == 0 && r.Path != "" && r.Stored > 0 {
			out = append(out, target.RangeAt(r.Start, r.Size))
		}
	}
	return out
}

// isReserved reports whether the page at a is in a reserved range.
func (m *loaderMemory) isReserved(a target.Addr) bool {
	_, found := slices.BinarySearchFunc(m.reserved, a, func(r target.Range, a target.Addr) int {
		switch {
		case r.Start > a:
			return 1
		case r.End <= a:
			return -1
		}
		return 0
	})
	return found
}

// allocator adds the heaps of one LoaderAllocator.
func (m *loaderMemory) allocator(a target.Addr) {
	l, err := m.r.LoaderAllocator(a)
	m.out.Note(target.CorruptAddress(err))
	if l == nil {
		m.out.Partial = true
		return
	}
	seen := map[target.Addr]bool{} // a collectible allocator uses one heap for several kinds
	for i := range l.Heaps {
		if h := &l.Heaps[i]; !seen[h.Addr] {
			seen[h.Addr] = true
			m.heap(a, h)
		}
	}
}

// heap adds one heap, unless it is empty.
func (m *loaderMemory) heap(owner target.Addr, h *LoaderHeap) {
	row := answer.LoaderHeap{Allocator: owner, Kind: h.Kind.String(), Blocks: []answer.LoaderBlock{}, Complete: h.Err == nil}
	for _, b := range h.Blocks {
		if b.Range.Size() > 0 {
			stored := m.storedSize(b.Range)
			row.Blocks = append(row.Blocks, answer.LoaderBlock{Address: b.Range.Start, Size: b.Range.Size(), Stored: stored, Current: b.Current})
			row.Partial = row.Partial || m.lacks(b.Range, stored)
		}
	}
	if h.Err != nil {
		row.Err = fmt.Errorf("%v %016x: %w", h.Kind, uint64(h.Addr), h.Err)
		m.out.Note(row.Err)
	}
	row.Partial = row.Partial || row.Err != nil
	if m.out.Partial = m.out.Partial || row.Partial; len(row.Blocks) > 0 || row.Err != nil {
		m.out.Heaps = append(m.out.Heaps, row)
	}
}

// lacks reports whether memory of a block that the heap uses may be missing from the dump: all of it, or memory
// after a gap, since a heap commits pages in order.
func (m *loaderMemory) lacks(block target.Range, stored uint64) bool {
	if stored == 0 {
		return true
	}
	for at := block.Start + target.Addr(stored); at < block.End; at += storedPage {
		next, ok := target.NextStored(m.r.tgt, at)
		if !ok || next >= block.End {
			return false
		}
		if at = next &^ (storedPage - 1); !m.isReserved(at) {
			return true
		}
	}
	return false
}

// storedSize returns the size in bytes of the pages at the start of a range that are in the dump. Mapped files do
// not show which pages the process touched, so only the dump counts.
func (m *loaderMemory) storedSize(of target.Range) uint64 {
	var n uint64
	for n < of.Size() && target.Available(m.r.tgt, of.Start+target.Addr(n), storedPage) && !m.isReserved(of.Start+target.Addr(n)) {
		n += storedPage
	}
	return n
}

// code adds the memory of code.
func (m *loaderMemory) code() {
	manager, err := m.r.JitManager()
	var heaps []CodeHeap
	if err == nil {
		heaps, err = m.r.CodeHeaps()
	}
	m.out.Note(err)
	m.out.Partial = m.out.Partial || err != nil
	m.out.JITManager = manager
	slices.SortStableFunc(heaps, func(a, b CodeHeap) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.start(), b.start()))
	})
	for i := range heaps {
		m.heap(manager, &heaps[i].LoaderHeap)
	}
}

// start returns the start of the first block, or 0.
func (h *LoaderHeap) start() target.Addr {
	if len(h.Blocks) == 0 {
		return 0
	}
	return h.Blocks[0].Range.Start
}

// collectible adds the heaps of the LoaderAllocators that can be unloaded.
func (m *loaderMemory) collectible() {
	mods, err := m.r.KnownModules()
	m.out.Note(err)
	seen := map[target.Addr]bool{m.out.GlobalAllocator: true}
	for _, mod := range mods {
		a, err := mod.LoaderAllocator()
		if err != nil || a == 0 || seen[a] {
			continue // before 8 modules have no such member
		}
		seen[a] = true
		m.out.Collectible = append(m.out.Collectible, answer.CollectibleAllocator{Address: a, Module: m.out.Text(mod.Title())})
		m.allocator(a)
	}
}
