package commands

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func eeheapCommand() cli.Command {
	return cli.Command{
		Name: "eeheap", Group: cli.GroupObjects, NeedsDump: true, Run: runEEHeap,
		Summary: "shows the memory of the GC heap and of the loader heaps",
		Help:    "Without -gc and -loader it shows both. -heap and -segment choose a part of the GC heap.",
		Options: []cli.Option{
			{Name: "gc", Kind: cli.Bool, Summary: "only the GC heap"},
			{Name: "loader", Kind: cli.Bool, Summary: "only the loader heaps"},
			{Name: "heap", Kind: cli.Int, Summary: "only this heap of a server GC"},
			{Name: "segment", Kind: cli.Address, Summary: "only this segment or region: its address or one in it"},
		},
		Examples: []cli.Example{{Line: "eeheap -gc", Text: "the generations and their segments"}},
		Result: []report.Part{
			report.ListOf[loaderHeapItem]("loaderHeaps"),
			report.FieldOf[gcHeapItem]("gc"),
		},
	}
}

// gcHeapItem is the JSON of the GC heap.
type gcHeapItem struct {
	Server    bool          `json:"server" doc:"server GC"`
	Regions   bool          `json:"regions" doc:"the heap is made of regions, not of segments"`
	InGC      bool          `json:"inCollection" doc:"the dump was taken during a garbage collection"`
	DATAS     *uint64       `json:"datas,omitempty" doc:"mode of dynamic adaptation to application sizes, where the runtime tells it"`
	Heaps     int           `json:"heaps" doc:"number of heaps"`
	Allocated uint64        `json:"allocated" doc:"bytes from the first object to the end of the last, of the segments listed"`
	Committed uint64        `json:"committed" doc:"bytes committed, of the segments listed"`
	Segments  []segmentItem `json:"segments" doc:"the segments or regions by address"`
}

type segmentItem struct {
	Heap      int            `json:"heap" doc:"number of the heap"`
	Address   report.Address `json:"address" doc:"the segment"`
	Kind      string         `json:"kind" doc:"\"Generation0\", \"Generation1\", \"Generation2\", \"Large\", \"Pinned\", \"Frozen\" or \"Ephemeral\""`
	Objects   rangeItem      `json:"objects" doc:"from the first object to the end of the last"`
	Committed rangeItem      `json:"committed" doc:"committed memory"`
	Reserved  rangeItem      `json:"reserved" doc:"reserved memory behind it"`
}

func runEEHeap(c *cli.Context) error {
	gc, loader := c.Bool("gc"), c.Bool("loader")
	both := gc == loader
	var total uint64
	if loader || both {
		n, err := printLoaderHeaps(c)
		if err != nil {
			return err
		}
		total += n
	}
	if gc || both {
		n, err := printGCHeap(c)
		if err != nil {
			return err
		}
		total += n
	}
	if !gc && !loader && c.JSON() == nil {
		c.Printf("\nTotal bytes consumed by CLR: 0x%x (%d)\n\n", total, total)
	}
	return nil
}

// printGCHeap prints the segments of the GC heap and returns the bytes that are
// committed for them.
func printGCHeap(c *cli.Context) (uint64, error) {
	h, err := heapOf(c)
	if err != nil {
		return 0, err
	}
	keep, err := segmentFilter(c, h)
	if err != nil {
		return 0, err
	}
	item := gcHeapOf(h, keep)
	if c.JSON() != nil {
		return item.Committed, c.JSON().Field("gc", item)
	}
	return item.Committed, newGCHeapText(c, h, keep).print(&item)
}

func gcHeapOf(h *heap.Heap, keep func(*heap.Segment) bool) gcHeapItem {
	item := gcHeapItem{Server: h.Server(), Regions: h.Regions(), InGC: h.InGC(), Heaps: len(h.SubHeaps()), Segments: []segmentItem{}}
	if mode, ok := h.DATAS(); ok {
		item.DATAS = &mode
	}
	of := func(r target.Range) rangeItem { return rangeItem{report.Address(r.Start), report.Address(r.End)} }
	for i := range h.Segments() {
		s := &h.Segments()[i]
		if keep != nil && !keep(s) {
			continue
		}
		item.Allocated += s.Objects.Size()
		item.Committed += s.Committed.Size()
		item.Segments = append(item.Segments, segmentItem{s.SubHeap, report.Address(s.Addr), s.Kind.String(), of(s.Objects), of(s.Committed), of(s.Reserved)})
	}
	return item
}

// gcHeapText prints the GC heap in SOS's form.
type gcHeapText struct {
	c        *cli.Context
	h        *heap.Heap
	partial  bool
	segments []*heap.Segment
	table    *report.Table
}

func newGCHeapText(c *cli.Context, h *heap.Heap, keep func(*heap.Segment) bool) *gcHeapText {
	e := &gcHeapText{c: c, h: h, partial: keep != nil}
	allocated, committed := len("allocated size"), len("committed size")
	for i := range h.Segments() {
		s := &h.Segments()[i]
		allocated = max(allocated, len(e.size(s.Objects.Size())))
		committed = max(committed, len(e.size(s.Committed.Size())))
		if keep == nil || keep(s) {
			e.segments = append(e.segments, s)
		}
	}
	// By kind and address: a region's generation, then the rest.
	slices.SortStableFunc(e.segments, func(a, b *heap.Segment) int { return int(a.Kind) - int(b.Kind) })
	e.table = report.NewTable(c.Out,
		report.Column{Name: "segment", Kind: report.Pointer},
		report.Column{Name: "begin", Kind: report.Pointer},
		report.Column{Name: "allocated", Kind: report.Pointer},
		report.Column{Name: "committed", Kind: report.Pointer},
		report.Column{Name: "allocated size", Kind: report.Text, Width: allocated},
		report.Column{Name: "committed size", Kind: report.Text, Width: committed})
	return e
}

// size is a number of bytes as SOS prints it; it leaves nothing empty.
func (e *gcHeapText) size(n uint64) string {
	if n == 0 && e.c.SOS {
		return ""
	}
	return fmt.Sprintf("0x%x (%d)", n, n)
}

func (e *gcHeapText) print(all *gcHeapItem) error {
	if all.DATAS != nil {
		e.c.Printf("\nDATAS = %d\n", *all.DATAS)
	} else if e.c.SOS {
		e.c.Printf("\nDATAS = \n")
	}
	e.c.Printf("========================================\n")
	e.c.Printf("Number of GC Heaps: %d\n", all.Heaps)
	e.c.Printf("----------------------------------------\n")
	for i := range e.h.SubHeaps() {
		e.subHeap(&e.h.SubHeaps()[i])
	}
	prefix := ""
	if e.partial {
		prefix = "Partial "
	}
	e.c.Printf("%sGC Allocated Heap Size:    Size: %s bytes.\n", prefix, e.size(all.Allocated))
	_, err := fmt.Fprintf(e.c.Out, "%sGC Committed Heap Size:    Size: %s bytes.\n", prefix, e.size(all.Committed))
	return err
}

// subHeap prints one heap, unless a filter leaves nothing of it.
func (e *gcHeapText) subHeap(s *heap.SubHeap) {
	of := func(kinds ...heap.SegmentKind) (list []*heap.Segment) {
		for _, x := range e.segments {
			if x.SubHeap == s.Index && slices.Contains(kinds, x.Kind) {
				list = append(list, x)
			}
		}
		return list
	}
	small := of(heap.KindGeneration0, heap.KindGeneration1, heap.KindGeneration2, heap.KindEphemeral)
	frozen, large, pinned := of(heap.KindFrozen), of(heap.KindLarge), of(heap.KindPinned)
	all := slices.Concat(small, frozen, large, pinned)
	if e.partial && len(all) == 0 {
		return
	}
	if e.h.Server() {
		e.c.Printf("Heap %d (%s)\n", s.Index, report.Hex16(s.Addr))
	}
	e.generationStarts(s)
	e.section("Small object heap", small)
	if len(frozen) > 0 {
		e.section("NonGC heap", frozen)
	}
	e.section("Large object heap"+e.startsAt(s, heap.GenerationLarge), large)
	if len(pinned) > 0 {
		e.section("Pinned object heap"+e.startsAt(s, heap.GenerationPinned), pinned)
	}
	if e.partial {
		var allocated, committed uint64
		for _, x := range all {
			allocated += x.Objects.Size()
			committed += x.Committed.Size()
		}
		e.c.Printf("Partial Allocated Size:              Size: %s bytes.\n", e.size(allocated))
		e.c.Printf("Partial Committed Size:              Size: %s bytes.\n", e.size(committed))
	}
	e.c.Printf("------------------------------\n")
}

// generationStarts prints where the generations start in the ephemeral segment;
// regions have no such place.
func (e *gcHeapText) generationStarts(s *heap.SubHeap) {
	if e.h.Regions() {
		return
	}
	for i := range min(3, len(s.Generations)) {
		e.c.Printf("generation %d starts at %x\n", i, uint64(s.Generations[i].AllocationStart))
	}
	e.c.Printf("ephemeral segment allocation context: ")
	if len(s.Generations) == 0 || s.Generations[0].AllocContext.Limit == s.Generations[0].AllocContext.Pointer {
		e.c.Printf("none\n")
		return
	}
	a := s.Generations[0].AllocContext
	e.c.Printf("(0x%x, 0x%x)\n", uint64(a.Pointer), uint64(a.Limit))
}

func (e *gcHeapText) startsAt(s *heap.SubHeap, g heap.Generation) string {
	if e.h.Regions() || int(g) >= len(s.Generations) {
		return ""
	}
	return fmt.Sprintf(" starts at %x", uint64(s.Generations[g].AllocationStart))
}

func (e *gcHeapText) section(title string, list []*heap.Segment) {
	e.c.Printf("%s\n", title)
	e.table.Header()
	last := heap.KindEphemeral
	for _, s := range list {
		if e.h.Regions() && s.Kind != last && s.Kind <= heap.KindGeneration2 {
			e.c.Printf("generation %d:\n", s.Kind)
			last = s.Kind
		}
		e.table.Uint(uint64(s.Addr))
		e.table.Uint(uint64(s.Objects.Start))
		e.table.Uint(uint64(s.Objects.End))
		e.table.Uint(uint64(s.Committed.End))
		e.table.Text(e.size(s.Objects.Size()))
		e.table.Text(e.size(s.Committed.Size()))
		e.table.End()
	}
}
