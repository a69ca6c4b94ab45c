package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func gcHeapStatCommand() cli.Command {
	return cli.Command{
		Name: "gcheapstat", Aliases: []string{"heapstat"}, Group: cli.GroupObjects, NeedsDump: true, Run: runGCHeapStat,
		Summary: "shows how full the generations of each heap are",
		Options: []cli.Option{
			{Name: "unreachable", Aliases: []string{"iu", "inclunrooted"}, Kind: cli.Bool, Summary: "also the objects that nothing refers to"},
		},
		Result: []report.Part{report.ListOf[heapSizeItem]("heaps")},
	}
}

type heapSizeItem struct {
	Heap        int                  `json:"heap" doc:"number of the heap"`
	Generations []generationSizeItem `json:"generations" doc:"its generations"`
}

type generationSizeItem struct {
	Generation string `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\", or \"ephemeral\" for a segment that generations share"`
	Allocated  uint64 `json:"allocated" doc:"bytes from the first object to the end of the last, in segments of the generation alone"`
	Committed  uint64 `json:"committed" doc:"bytes committed for these segments"`
	Live       uint64 `json:"live" doc:"bytes of objects, whether reachable or not"`
	Free       uint64 `json:"free" doc:"bytes of free blocks"`
}

func runGCHeapStat(c *cli.Context) error {
	if c.Bool("unreachable") {
		return target.Unsupportedf("-unreachable is not there yet: it needs the object graph")
	}
	h, err := scannedHeap(c, false)
	if err != nil {
		return err
	}
	o, done := scanOptions(c, "scanning the heap")
	sizes, stats, err := h.Sizes(c.Context(), o)
	done()
	if err != nil {
		return err
	}
	if err := warnCorrupt(c, &stats); err != nil {
		return err
	}
	if c.JSON() != nil {
		return encodeSizes(c, sizes)
	}
	t := newSizesText(c, h, sizes)
	t.block("", allocated, false)
	t.block("Free space:\n", func(g *heap.GenerationSizes) uint64 { return g.Free }, true)
	t.block("Committed space:\n", func(g *heap.GenerationSizes) uint64 { return g.Committed }, false)
	return nil
}

func encodeSizes(c *cli.Context, sizes []heap.SubHeapSizes) error {
	for i := range sizes {
		z := &sizes[i]
		item := heapSizeItem{Heap: z.Index}
		add := func(name string, g *heap.GenerationSizes) {
			item.Generations = append(item.Generations, generationSizeItem{name, g.Allocated, g.Committed, g.Live, g.Free})
		}
		for g := range z.Generations {
			add(heap.Generation(g).String(), &z.Generations[g])
		}
		if z.Ephemeral.Segments > 0 {
			add("ephemeral", &z.Ephemeral)
		}
		if err := c.JSON().Item("heaps", item); err != nil {
			return err
		}
	}
	return nil
}

// sizesText prints sizes in SOS's form: one line a heap, one column a
// generation.
type sizesText struct {
	c         *cli.Context
	sizes     []heap.SubHeapSizes
	ephemeral bool // some generations share segments
	columns   []heap.Generation
	frozen    bool
}

func newSizesText(c *cli.Context, h *heap.Heap, sizes []heap.SubHeapSizes) *sizesText {
	t := &sizesText{c: c, sizes: sizes, ephemeral: !h.Regions()}
	t.columns = []heap.Generation{heap.Generation0, heap.Generation1, heap.Generation2, heap.GenerationLarge, heap.GenerationPinned}
	for i := range sizes {
		t.frozen = t.frozen || sizes[i].Generations[heap.GenerationFrozen].Allocated > 0
	}
	if t.frozen {
		t.columns = append(t.columns, heap.GenerationFrozen)
	}
	return t
}

// allocated is the size of a generation's own segments, and of its objects in
// those that it shares.
func allocated(g *heap.GenerationSizes) uint64 { return g.Allocated + g.Shared }

func (t *sizesText) block(title string, value func(*heap.GenerationSizes) uint64, percents bool) {
	t.c.Printf("%s", title)
	t.row("Heap", func(g heap.Generation) string { return generationTitle(g) }, "EPH", "")
	total := heap.SubHeapSizes{}
	for i := range t.sizes {
		z := &t.sizes[i]
		tail := ""
		if percents {
			tail = freeShares(z)
		}
		t.row(fmt.Sprintf("Heap%d", z.Index), func(g heap.Generation) string { return fmt.Sprint(value(&z.Generations[g])) }, fmt.Sprint(value(&z.Ephemeral)), tail)
		for g := range z.Generations {
			total.Generations[g].Live += value(&z.Generations[g])
		}
		total.Ephemeral.Live += value(&z.Ephemeral)
	}
	t.row("Total", func(g heap.Generation) string { return fmt.Sprint(total.Generations[g].Live) }, fmt.Sprint(total.Ephemeral.Live), "")
	t.c.Printf("\n")
}

func generationTitle(g heap.Generation) string {
	return [...]string{"Gen0", "Gen1", "Gen2", "LOH", "POH", "FRZ"}[g]
}

// row prints one line. SOS has a column for the frozen heap, and no value in
// it.
func (t *sizesText) row(name string, cell func(heap.Generation) string, ephemeral, tail string) {
	t.c.Printf("%-8s", name)
	if t.ephemeral {
		t.c.Printf(" %-10s", ephemeral)
	}
	for _, g := range t.columns {
		if g == heap.GenerationFrozen && t.c.SOS && name != "Heap" {
			continue
		}
		t.c.Printf(" %-10s", cell(g))
	}
	t.c.Printf(" %s\n", tail)
}

// freeShares says how much of what is allocated is free.
func freeShares(z *heap.SubHeapSizes) string {
	var free, all uint64
	for g := heap.Generation0; g <= heap.Generation2; g++ {
		free += z.Generations[g].Free
		all += allocated(&z.Generations[g])
	}
	large, pinned := &z.Generations[heap.GenerationLarge], &z.Generations[heap.GenerationPinned]
	return fmt.Sprintf("%-8s %-8s %-8s", percent("SOH", free, all), percent("LOH", large.Free, large.Allocated), percent("POH", pinned.Free, pinned.Allocated))
}

func percent(name string, part, all uint64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d%%", name, part*100/all)
}
