package commands

import (
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func sizeStatsCommand() cli.Command {
	return cli.Command{
		Name: "sizestats", Group: cli.GroupObjects, NeedsDump: true, Run: runSizeStats,
		Summary: "counts objects and free blocks of each generation by size",
		Help:    "The cumulative columns are of the lines above.",
		Result:  []report.Part{report.ListOf[histogramItem]("generations")},
	}
}

type histogramItem struct {
	Generation string          `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Free       bool            `json:"free" doc:"of free blocks, not of objects"`
	Sizes      []sizeCountItem `json:"sizes" doc:"by size"`
}

type sizeCountItem struct {
	Size  uint64 `json:"size" doc:"bytes, rounded up to the heap's alignment"`
	Count uint64 `json:"count" doc:"objects of that size"`
}

func runSizeStats(c *cli.Context) error {
	h, err := scannedHeap(c, false)
	if err != nil {
		return err
	}
	o, done := scanOptions(c, "scanning the heap")
	list, stats, err := h.SizeHistograms(c.Context(), o)
	done()
	if err != nil {
		return err
	}
	if err := warnCorrupt(c, &stats); err != nil {
		return err
	}
	for i := range list {
		if c.JSON() != nil {
			if err := c.JSON().Item("generations", histogramOf(&list[i])); err != nil {
				return err
			}
			continue
		}
		if err := printHistogram(c, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

func histogramOf(s *heap.SizeHistogram) histogramItem {
	item := histogramItem{Generation: s.Generation.String(), Free: s.Free, Sizes: []sizeCountItem{}}
	for _, n := range s.Sizes {
		item.Sizes = append(item.Sizes, sizeCountItem{n.Size, n.Count})
	}
	return item
}

func printHistogram(c *cli.Context, s *heap.SizeHistogram) error {
	name, free := s.Generation.String(), ""
	if s.Generation <= heap.Generation2 {
		name = "generation" + name
	}
	if s.Free {
		free = "free "
	}
	c.Printf("Size Statistics for %s %sobjects\n\n", name, free)
	if len(s.Sizes) == 0 {
		c.Printf("(none)\n\n")
		return nil
	}
	t := report.NewTable(c.Out,
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Name: "Count", Kind: report.Integer},
		report.Column{Name: "Cumulative Size", Kind: report.Integer, Width: 15},
		report.Column{Name: "Cumulative Count", Kind: report.Integer, Width: 16})
	t.Header()
	var size, count uint64
	for _, n := range s.Sizes {
		if err := t.Row(n.Size, n.Count, size, count); err != nil {
			return err
		}
		size += n.Size * n.Count
		count += n.Count
	}
	c.Printf("\n")
	return nil
}
