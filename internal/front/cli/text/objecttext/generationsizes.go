package objecttext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// generationTitles are the columns of gcheapstat, in the order of generations.
var generationTitles = [...]string{"Gen0", "Gen1", "Gen2", "LOH", "POH", "FRZ"}

// The places of generations in answer.HeapSizes.
const (
	largeGeneration  = 3
	pinnedGeneration = 4
	frozenGeneration = 5
)

// GenerationSizes is the text of gcheapstat: one line a heap, one column a generation.
func GenerationSizes(p *report.Page, s *answer.GenerationSizes) {
	t := sizesText{p: p, sizes: s, columns: frozenGeneration}
	for i := range s.Heaps {
		if s.Heaps[i].Generations[frozenGeneration].Allocated > 0 {
			t.columns = frozenGeneration + 1
		}
	}
	t.block("", allocated, false)
	t.block("Free space:\n", func(g *answer.GenerationSize) uint64 { return g.Free }, true)
	if s.WithDead {
		t.block("Unrooted objects:\n", func(g *answer.GenerationSize) uint64 { return g.Dead }, true)
	}
	t.block("Committed space:\n", func(g *answer.GenerationSize) uint64 { return g.Committed }, false)
}

// allocated returns the size of a generation's own segments, and of its objects in those that it shares.
func allocated(g *answer.GenerationSize) uint64 { return g.Allocated + g.Shared }

// A sizeCell is a sum of sizes, which may lack some.
type sizeCell struct {
	bytes uint64
	lacks error
}

func (c *sizeCell) add(b sizeCell) {
	c.bytes += b.bytes
	if c.lacks == nil {
		c.lacks = b.lacks
	}
}

// String has a plus behind a sum that lacks something, and no zero for nothing known.
func (c sizeCell) String() string {
	switch {
	case c.lacks == nil:
		return fmt.Sprint(c.bytes)
	case c.bytes == 0:
		return answer.Absent(c.lacks)
	}
	return fmt.Sprintf("%d+", c.bytes)
}

type sizesText struct {
	p       *report.Page
	sizes   *answer.GenerationSizes
	columns int
}

// cell returns a value of a generation. objects reports that it is a sum over objects, some of which may be unreadable.
func (t *sizesText) cell(g *answer.GenerationSize, value func(*answer.GenerationSize) uint64, objects bool) sizeCell {
	lacks := g.Err
	if lacks == nil && objects && !t.p.SOS {
		lacks = g.Unread
	}
	return sizeCell{value(g), lacks}
}

// block writes one value of all generations.
func (t *sizesText) block(title string, value func(*answer.GenerationSize) uint64, percents bool) {
	t.p.Print(title)
	t.row("Heap", generationTitles[:t.columns], "EPH", "")
	total := make([]sizeCell, t.columns+1) // the ephemeral segment's is the last
	for i := range t.sizes.Heaps {
		z := &t.sizes.Heaps[i]
		values := make([]sizeCell, t.columns+1)
		for g := range t.columns {
			values[g] = t.cell(&z.Generations[g], value, percents)
		}
		if e := &z.Generations[len(z.Generations)-1]; e.Generation == answer.Ephemeral {
			values[t.columns] = t.cell(e, value, percents)
		} else {
			values[t.columns].lacks = z.Generations[0].Err // with the generations that share it
		}
		for k, v := range values {
			total[k].add(v)
		}
		tail := ""
		if percents {
			tail = t.shares(z.Generations, value)
		}
		t.numbers(fmt.Sprintf("Heap%d", z.Heap), values, tail)
	}
	t.numbers("Total", total, "")
	t.p.Print("\n")
}

// numbers writes one line of values. SOS has a column for the frozen heap, and no value in it.
func (t *sizesText) numbers(name string, values []sizeCell, tail string) {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = v.String()
	}
	shown := t.columns
	if t.p.SOS {
		shown = min(shown, frozenGeneration)
	}
	t.row(name, cells[:shown], cells[t.columns], tail)
}

func (t *sizesText) row(name string, cells []string, ephemeral, tail string) {
	t.p.Printf("%-8s", name)
	if !t.sizes.Regions {
		t.p.Printf(" %-10s", ephemeral)
	}
	for _, cell := range cells {
		t.p.Printf(" %-10s", cell)
	}
	t.p.Printf(" %s\n", tail)
}

// shares returns how much of what is allocated a value makes out, of what was read whole.
func (t *sizesText) shares(list []answer.GenerationSize, value func(*answer.GenerationSize) uint64) string {
	var part, all uint64
	whole := func(g int) bool { return t.p.SOS || list[g].Unread == nil }
	soh := true
	for g := range largeGeneration {
		part += value(&list[g])
		all += allocated(&list[g])
		soh = soh && whole(g)
	}
	return fmt.Sprintf("%-8s %-8s %-8s", percent("SOH", part, all, soh), percent("LOH", value(&list[largeGeneration]), list[largeGeneration].Allocated, whole(largeGeneration)),
		percent("POH", value(&list[pinnedGeneration]), list[pinnedGeneration].Allocated, whole(pinnedGeneration)))
}

func percent(name string, part, all uint64, whole bool) string {
	if all == 0 || !whole {
		return ""
	}
	return fmt.Sprintf("%s:%d%%", name, part*100/all)
}

// SizeStatistics is the text of sizestats.
func SizeStatistics(p *report.Page, s *answer.SizeStatistics) {
	for i := range s.Generations {
		histogram(p, &s.Generations[i])
	}
}

func histogram(p *report.Page, h *answer.SizeHistogram) {
	name, free := h.Generation, ""
	if name >= "0" && name <= "9" {
		name = "generation" + name
	}
	if h.Free {
		free = "free "
	}
	p.Printf("Size Statistics for %s %sobjects\n\n", name, free)
	if len(h.Sizes) == 0 {
		p.Print("(none)\n\n")
		return
	}
	t := p.Table(
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Name: "Count", Kind: report.Integer},
		report.Column{Name: "Cumulative Size", Kind: report.Integer, Width: 15},
		report.Column{Name: "Cumulative Count", Kind: report.Integer, Width: 16})
	t.Header()
	var size, count uint64
	for _, n := range h.Sizes {
		t.Row(n.Size, n.Count, size, count)
		size += n.Size * n.Count
		count += n.Count
	}
	p.Print("\n")
}
