package objecttext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// RuntimeHeapsOptions select the form of eeheap.
type RuntimeHeapsOptions struct {
	Total bool // end with the total of all heaps
}

// RuntimeHeaps is the text of eeheap.
func RuntimeHeaps(p *report.Page, h *answer.RuntimeHeaps, o RuntimeHeapsOptions) {
	var total uint64
	if h.LoaderHeaps != nil {
		total += loaderHeaps(p, h.LoaderHeaps)
	}
	if h.GC != nil {
		gcHeap(p, h.GC)
		total += h.GC.Committed
	}
	if o.Total {
		least := ""
		if !p.SOS && h.LoaderHeaps != nil && h.LoaderHeaps.Partial {
			least = "at least "
		}
		p.Printf("\nTotal bytes consumed by CLR: %s0x%x (%d)", least, total, total)
		if h.GC != nil && len(h.GC.Lost) > 0 {
			p.Printf("; %s", lostSegments(len(h.GC.Lost)))
		}
		p.Print("\n\n")
	}
}

const loaderHeapDivider = "----------------------------------------"

// loaderHeaps writes the runtime's native heaps and returns their bytes in the dump. SOS tries to write the heaps of
// collectible assemblies, but misses all of them.
func loaderHeaps(p *report.Page, l *answer.LoaderHeaps) uint64 {
	t := loaderText{p}
	p.Printf("Loader Heap:\n%s\n", loaderHeapDivider)
	t.row("System Domain:", report.Hex12(l.SystemDomain))
	t.row("LoaderAllocator:", report.Hex12(l.GlobalAllocator))
	total := t.allocator(l.Of(l.GlobalAllocator))
	p.Printf("%s\n", loaderHeapDivider)
	t.row("Domain 1:", report.Hex12(l.AppDomain))
	t.row("LoaderAllocator:", report.Hex12(l.GlobalAllocator))
	p.Printf("No unique loader heaps found.\n%s\n", loaderHeapDivider)
	t.row("JIT Manager:", report.Hex12(l.JITManager))
	sum := t.heaps(l.Of(l.JITManager))
	t.row("Total size:", t.sizes(sum))
	p.Printf("%s\n", loaderHeapDivider)
	total += sum.size
	if p.SOS {
		return total
	}
	for _, c := range l.Collectible {
		t.row("LoaderAllocator:", report.Hex12(c.Address)+" "+report.Escape(c.Module.String()))
		total += t.allocator(l.Of(c.Address))
		p.Printf("%s\n", loaderHeapDivider)
	}
	return total
}

type loaderText struct{ p *report.Page }

func (t loaderText) row(label, text string) { t.p.Printf("%-21s %s\n", label, text) }

// A loaderSum is the size of heaps.
type loaderSum struct {
	size, wasted uint64
	partial      bool // some heaps may be missing
}

// allocator writes the heaps of one LoaderAllocator.
func (t loaderText) allocator(heaps []answer.LoaderHeap) uint64 {
	sum := t.heaps(heaps)
	if sum.size == 0 && (t.p.SOS || len(heaps) == 0) {
		t.p.Print("No unique loader heaps found.\n")
		return 0
	}
	t.row("Total size:", t.sizes(sum))
	return sum.size
}

// heaps writes heaps and returns their sizes.
func (t loaderText) heaps(list []answer.LoaderHeap) (sum loaderSum) {
	for i := range list {
		h := &list[i]
		s, w := h.Sizes()
		one := loaderSum{s, w, h.Partial}
		sum.size, sum.wasted, sum.partial = sum.size+s, sum.wasted+w, sum.partial || h.Partial
		var text strings.Builder
		for _, b := range h.Blocks {
			fmt.Fprintf(&text, "%s(%x:%x) ", report.Hex12(b.Address), b.Size, b.Stored)
		}
		if h.Err != nil && !t.p.SOS { // SOS prints nothing for unreadable heaps
			text.WriteString(answer.Absent(h.Err) + " ")
		}
		if text.Len() > 0 {
			t.row(t.label(h.Kind), text.String()+t.sizes(one))
		}
	}
	return sum
}

// label returns SOS's name of the kind. SOS has no name for StaticsHeap.
func (t loaderText) label(kind string) string {
	if t.p.SOS && kind == "StaticsHeap" {
		return "Unknown:"
	}
	return kind + ":"
}

// sizes formats sizes as eeheap does. For a zero size SOS prints nothing, not even for missing heaps.
func (t loaderText) sizes(sum loaderSum) string {
	if t.p.SOS {
		text := "Size: " + memorySize(sum.size) + " bytes total"
		if sum.wasted > 0 {
			text += ", " + memorySize(sum.wasted) + " bytes wasted"
		}
		return text + "."
	}
	if sum.partial {
		return fmt.Sprintf("Size: at least 0x%x (%d) bytes; the dump may lack a part.", sum.size, sum.size)
	}
	text := fmt.Sprintf("Size: 0x%x (%d) bytes total", sum.size, sum.size)
	if sum.wasted > 0 {
		text += ", " + memorySize(sum.wasted) + " bytes wasted"
	}
	return text + "."
}

func memorySize(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x (%d)", n, n)
}

// gcHeapText writes the GC heap.
type gcHeapText struct {
	p     *report.Page
	h     *answer.GCHeap
	table *report.Table
}

func gcHeap(p *report.Page, h *answer.GCHeap) {
	t := gcHeapText{p: p, h: h}
	t.table = p.Table(
		report.Column{Name: "segment", Kind: report.Pointer},
		report.Column{Name: "begin", Kind: report.Pointer},
		report.Column{Name: "allocated", Kind: report.Pointer},
		report.Column{Name: "committed", Kind: report.Pointer},
		report.Column{Name: "allocated size", Kind: report.Text, Width: max(len("allocated size"), len(t.size(h.MaxAllocated)))},
		report.Column{Name: "committed size", Kind: report.Text, Width: max(len("committed size"), len(t.size(h.MaxCommitted)))})
	if h.DATAS != nil {
		p.Printf("\nDATAS = %d\n", *h.DATAS)
	} else if p.SOS {
		p.Print("\nDATAS = \n")
	}
	p.Print("========================================\n")
	p.Printf("Number of GC Heaps: %d\n", h.Heaps)
	p.Print("----------------------------------------\n")
	for i := range h.SubHeaps {
		t.subHeap(&h.SubHeaps[i])
	}
	prefix := ""
	if h.Partial {
		prefix = "Partial "
	}
	p.Printf("%sGC Allocated Heap Size:    Size: %s.\n", prefix, t.sum(h.Allocated))
	p.Printf("%sGC Committed Heap Size:    Size: %s.\n", prefix, t.sum(h.Committed))
}

// size formats a number of bytes as SOS does. sosgo prints zeros, too.
func (t *gcHeapText) size(n uint64) string {
	if t.p.SOS {
		return memorySize(n)
	}
	return fmt.Sprintf("0x%x (%d)", n, n)
}

// sum formats the size of all segments, and marks it if segments are missing.
func (t *gcHeapText) sum(n uint64) string {
	switch lost := t.h.Lost; {
	case len(lost) == 0:
		return t.size(n) + " bytes"
	case len(t.h.Segments) == 0:
		return answer.Absent(lost[0].Err)
	default:
		return t.size(n) + " bytes" + "; " + lostSegments(len(lost))
	}
}

// lost writes the unreadable segments of some generations.
func (t *gcHeapText) lost(heap int, generations ...string) {
	if t.h.Partial {
		return
	}
	for i := range t.h.Lost {
		l := &t.h.Lost[i]
		if l.Heap != heap || !slices.Contains(generations, l.Generation) {
			continue
		}
		if len(l.Generation) == 1 && t.h.Regions {
			t.p.Printf("generation %s:\n", l.Generation)
		}
		t.p.Printf("%16s %s\n", report.Hex12(l.Address), answer.Absent(l.Err))
	}
}

func (t *gcHeapText) hasLost(heap int, generation string) bool {
	return !t.h.Partial && slices.ContainsFunc(t.h.Lost, func(l answer.LostSegment) bool { return l.Heap == heap && l.Generation == generation })
}

// of returns the segments of a heap by kind and address.
func (t *gcHeapText) of(heap int, kinds ...answer.SegmentKind) (list []*answer.Segment) {
	for _, kind := range kinds {
		for i := range t.h.Segments {
			if s := &t.h.Segments[i]; s.Heap == heap && s.Kind == kind {
				list = append(list, s)
			}
		}
	}
	return list
}

// subHeap writes one heap, unless the filter excludes all of it.
func (t *gcHeapText) subHeap(s *answer.GCPart) {
	small := t.of(s.Index, answer.SegmentGeneration0, answer.SegmentGeneration1, answer.SegmentGeneration2, answer.SegmentEphemeral)
	frozen := t.of(s.Index, answer.SegmentFrozen)
	large := t.of(s.Index, answer.SegmentLarge)
	pinned := t.of(s.Index, answer.SegmentPinned)
	if t.h.Partial && len(small)+len(frozen)+len(large)+len(pinned) == 0 {
		return
	}
	if t.h.Server {
		t.p.Printf("Heap %d (%s)\n", s.Index, report.Hex16(s.Address))
	}
	t.generationStarts(s)
	t.section("Small object heap", small)
	t.lost(s.Index, "0", "1", "2")
	if len(frozen) > 0 {
		t.section("NonGC heap", frozen)
	}
	t.section("Large object heap"+t.startsAt(s, largeGeneration), large)
	t.lost(s.Index, "large")
	if len(pinned) > 0 || t.hasLost(s.Index, "pinned") {
		t.section("Pinned object heap"+t.startsAt(s, pinnedGeneration), pinned)
	}
	t.lost(s.Index, "pinned")
	if t.h.Partial {
		t.partialSizes(small, frozen, large, pinned)
	}
	t.p.Print("------------------------------\n")
}

func (t *gcHeapText) partialSizes(lists ...[]*answer.Segment) {
	var allocated, committed uint64
	for _, list := range lists {
		for _, s := range list {
			allocated += s.Objects.Size()
			committed += s.Committed.Size()
		}
	}
	t.p.Printf("Partial Allocated Size:              Size: %s bytes.\n", t.size(allocated))
	t.p.Printf("Partial Committed Size:              Size: %s bytes.\n", t.size(committed))
}

// generationStarts writes the generation starts in the ephemeral segment. Regions have no such addresses.
func (t *gcHeapText) generationStarts(s *answer.GCPart) {
	if t.h.Regions {
		return
	}
	for i, g := range s.Generations[:min(smallGenerations, len(s.Generations))] {
		t.p.Printf("generation %d starts at %x\n", i, uint64(g.Start))
	}
	t.p.Print("ephemeral segment allocation context: ")
	if len(s.Generations) == 0 || s.Generations[0].AllocContext.Size() == 0 {
		t.p.Print("none\n")
		return
	}
	a := s.Generations[0].AllocContext
	t.p.Printf("(0x%x, 0x%x)\n", uint64(a.Start), uint64(a.End))
}

func (t *gcHeapText) startsAt(s *answer.GCPart, generation int) string {
	if t.h.Regions || generation >= len(s.Generations) {
		return ""
	}
	return fmt.Sprintf(" starts at %x", uint64(s.Generations[generation].Start))
}

// section writes segments under a title. For regions, it is the generation's name.
func (t *gcHeapText) section(title string, list []*answer.Segment) {
	t.p.Printf("%s\n", title)
	t.table.Header()
	var last answer.SegmentKind
	for _, s := range list {
		if number, ok := strings.CutPrefix(string(s.Kind), "Generation"); ok && t.h.Regions && s.Kind != last {
			t.p.Printf("generation %s:\n", number)
			last = s.Kind
		}
		for _, a := range [...]target.Addr{s.Address, s.Objects.Start, s.Objects.End, s.Committed.End} {
			t.table.Uint(uint64(a))
		}
		t.table.Text(t.size(s.Objects.Size()))
		t.table.Text(t.size(s.Committed.Size()))
		t.table.End()
	}
}
