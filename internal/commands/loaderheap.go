package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// loaderHeapItem is one native heap in the JSON result of eeheap, an item of
// the list "loaderHeaps".
type loaderHeapItem struct {
	Allocator report.Address    `json:"allocator" doc:"LoaderAllocator that owns the heap; of code the JIT manager"`
	Kind      string            `json:"kind" doc:"what the runtime keeps in it"`
	Blocks    []loaderBlockItem `json:"blocks" doc:"its reserved ranges, in the order of the runtime's list"`
	Complete  bool              `json:"complete" doc:"false: the dump lacks a part of the list"`
}

type loaderBlockItem struct {
	Address report.Address `json:"address" doc:"start of the range"`
	Size    uint64         `json:"size" doc:"bytes reserved"`
	Stored  uint64         `json:"stored" doc:"bytes from the start that the dump holds; the process never touched the rest, or the dump left it out"`
	Current bool           `json:"current" doc:"the heap still allocates from it"`
}

const (
	loaderHeapPage    = 4096
	loaderHeapDivider = "----------------------------------------"
)

// printLoaderHeaps prints the runtime's native heaps as eeheap -loader does,
// and returns how many bytes of them are there. In JSON it writes the list
// "loaderHeaps" of loaderHeapItem.
func printLoaderHeaps(c *cli.Context) (uint64, error) {
	rt, err := runtimeOf(c)
	if err != nil {
		return 0, err
	}
	p := &loaderHeapPrinter{c: c, rt: rt, mem: dumpOf(c).Target()}
	if c.JSON() != nil {
		if err := c.JSON().List("loaderHeaps"); err != nil {
			return 0, err
		}
	}
	p.printf("Loader Heap:\n%s\n", loaderHeapDivider)
	global, err := p.domains()
	if err != nil {
		return 0, err
	}
	p.jitManager()
	p.collectible(global)
	return p.total, nil
}

type loaderHeapPrinter struct {
	c     *cli.Context
	rt    *dac.Runtime
	mem   target.Memory // the dump alone: files don't tell what the process touched
	total uint64
}

func (p *loaderHeapPrinter) printf(format string, args ...any) {
	if p.c.JSON() == nil {
		p.c.Printf(format, args...)
	}
}

func (p *loaderHeapPrinter) row(label, text string) { p.printf("%-21s %s\n", label, text) }

// domains prints the heaps of the global LoaderAllocator, which the system
// domain and the application domain share.
func (p *loaderHeapPrinter) domains() (target.Addr, error) {
	system, err := p.rt.SystemDomain()
	if err != nil {
		return 0, err
	}
	global, err := p.rt.GlobalLoaderAllocator()
	if err != nil {
		return 0, err
	}
	p.row("System Domain:", report.Hex12(system))
	p.row("LoaderAllocator:", report.Hex12(global))
	p.allocator(global)
	p.printf("%s\n", loaderHeapDivider)
	domain, err := p.rt.AppDomain()
	if err != nil {
		p.c.Warn(err)
	}
	p.row("Domain 1:", report.Hex12(domain.Addr))
	p.row("LoaderAllocator:", report.Hex12(global))
	p.printf("No unique loader heaps found.\n%s\n", loaderHeapDivider)
	return global, nil
}

// allocator prints the heaps of one LoaderAllocator.
func (p *loaderHeapPrinter) allocator(a target.Addr) {
	l, err := p.rt.LoaderAllocator(a)
	if err != nil {
		p.c.Warn(err)
	}
	var size, wasted uint64
	if l != nil {
		seen := map[target.Addr]bool{} // a collectible allocator has one heap for several kinds
		for i := range l.Heaps {
			if seen[l.Heaps[i].Addr] {
				continue
			}
			seen[l.Heaps[i].Addr] = true
			s, w := p.heap(a, &l.Heaps[i])
			size, wasted = size+s, wasted+w
		}
	}
	p.total += size
	if size == 0 {
		p.printf("No unique loader heaps found.\n")
		return
	}
	p.row("Total size:", heapSizes(size, wasted)+".")
}

// heap prints one heap and returns how many of its bytes are there, and how
// many of those that it no longer allocates from are not.
func (p *loaderHeapPrinter) heap(owner target.Addr, h *dac.LoaderHeap) (size, wasted uint64) {
	item := loaderHeapItem{Allocator: report.Address(owner), Kind: h.Kind.String(), Blocks: []loaderBlockItem{}, Complete: h.Err == nil}
	var text strings.Builder
	for _, b := range h.Blocks {
		if b.Range.Size() == 0 {
			continue
		}
		stored := p.stored(b.Range)
		item.Blocks = append(item.Blocks, loaderBlockItem{report.Address(b.Range.Start), b.Range.Size(), stored, b.Current})
		fmt.Fprintf(&text, "%s(%x:%x) ", report.Hex12(b.Range.Start), b.Range.Size(), stored)
		size += stored
		if !b.Current {
			wasted += b.Range.Size() - min(stored, b.Range.Size())
		}
	}
	if h.Err != nil {
		missing := absent(p.c, fmt.Errorf("%v %016x: %w", h.Kind, uint64(h.Addr), h.Err))
		if !p.c.SOS { // SOS says nothing of what it can't read
			text.WriteString(missing + " ")
		}
	}
	if text.Len() == 0 {
		return 0, 0
	}
	p.row(p.label(h.Kind), text.String()+heapSizes(size, wasted)+".")
	if p.c.JSON() != nil {
		_ = p.c.JSON().Item("loaderHeaps", item) // the encoder keeps its first error
	}
	return size, wasted
}

// label is the kind as SOS names it: it knows no StaticsHeap.
func (p *loaderHeapPrinter) label(k dac.LoaderHeapKind) string {
	if p.c.SOS && k == dac.StaticsHeap {
		return "Unknown:"
	}
	return k.String() + ":"
}

// stored counts the whole pages at the start of r that the dump holds.
func (p *loaderHeapPrinter) stored(r target.Range) uint64 {
	var n uint64
	for n < r.Size() && target.Available(p.mem, r.Start+target.Addr(n), loaderHeapPage) {
		n += loaderHeapPage
	}
	return n
}

// heapSizes words sizes as eeheap does; none at all is empty there.
func heapSizes(size, wasted uint64) string {
	text := "Size: " + memorySize(size) + " bytes total"
	if wasted > 0 {
		text += ", " + memorySize(wasted) + " bytes wasted"
	}
	return text
}

func memorySize(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x (%d)", n, n)
}

// jitManager prints the memory of code, in the order of addresses.
func (p *loaderHeapPrinter) jitManager() {
	manager, err := p.rt.JitManager()
	var heaps []dac.CodeHeap
	if err == nil {
		heaps, err = p.rt.CodeHeaps()
	}
	if err != nil {
		p.c.Warn(err)
	}
	slices.SortFunc(heaps, func(a, b dac.CodeHeap) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(firstBlock(&a), firstBlock(&b)))
	})
	p.row("JIT Manager:", report.Hex12(manager))
	var size, wasted uint64
	for i := range heaps {
		s, w := p.heap(manager, &heaps[i].LoaderHeap)
		size, wasted = size+s, wasted+w
	}
	p.total += size
	p.row("Total size:", heapSizes(size, wasted)+".")
	p.printf("%s\n", loaderHeapDivider)
}

func firstBlock(h *dac.CodeHeap) target.Addr {
	if len(h.Blocks) == 0 {
		return 0
	}
	return h.Blocks[0].Range.Start
}

// collectible prints the heaps of the LoaderAllocators that can be unloaded.
// SOS means to print them and misses them all.
func (p *loaderHeapPrinter) collectible(global target.Addr) {
	if p.c.SOS {
		return
	}
	mods, err := p.rt.KnownModules()
	if err != nil {
		p.c.Warn(err)
	}
	seen := map[target.Addr]bool{global: true}
	for _, m := range mods {
		a, err := m.LoaderAllocator()
		if err != nil || a == 0 || seen[a] {
			continue // runtimes before 8 have no such member
		}
		seen[a] = true
		name, err := moduleLabel(m)
		p.row("LoaderAllocator:", report.Hex12(a)+" "+report.Escape(textOr(p.c, name, err)))
		p.allocator(a)
		p.printf("%s\n", loaderHeapDivider)
	}
}
