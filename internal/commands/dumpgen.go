package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func dumpGenCommand() cli.Command {
	return cli.Command{
		Name: "dumpgen", Aliases: []string{"dg"}, Group: cli.GroupObjects, NeedsDump: true, Run: runDumpGen,
		Summary: "counts the objects of one generation by type, or lists those of one type",
		Options: []cli.Option{
			{Name: "mt", Kind: cli.Address, Summary: "list the objects of this MethodTable"},
			{Name: "type", Kind: cli.TypeName, Summary: "only types whose name contains this, in upper or lower case"},
		},
		Args: []cli.Arg{{Name: "generation", Kind: cli.Str, Summary: "gen0, gen1, gen2, loh, poh or foh"}},
		Result: []report.Part{
			report.ListOf[objectItem]("objects"),
			report.ListOf[typeStatItem]("statistics"),
			report.FieldOf[uint64]("count"),
		},
	}
}

func runDumpGen(c *cli.Context) error {
	name, _ := c.Str("generation")
	g, ok := generationOf(name)
	if !ok {
		return c.Usagef("%s is not a supported generation (gen0, gen1, gen2, loh, poh, foh)", name)
	}
	h, err := scannedHeap(c, false)
	if err != nil {
		return err
	}
	f := &heap.Filter{Generations: []heap.Generation{g}}
	if c.Has("mt") {
		if f.Type, err = typeFilter(c, h.Runtime()); err != nil {
			return err
		}
		return listGeneration(c, h, f)
	}
	if part, ok := c.Str("type"); ok {
		part = strings.ToLower(part)
		f.Type = func(mt *dac.MethodTable) bool {
			name, err := h.Runtime().TypeName(mt.Addr, dac.NameManaged)
			return err == nil && strings.Contains(strings.ToLower(name), part)
		}
	}
	o, done := scanOptions(c, "scanning the heap")
	s, err := h.Stats(c.Context(), f, o)
	done()
	if err != nil {
		return err
	}
	if err := warnCorrupt(c, &s); err != nil {
		return err
	}
	s.BySize()
	return printGeneration(c, h, &s)
}

func printGeneration(c *cli.Context, h *heap.Heap, s *heap.Stats) error {
	enc := c.JSON()
	if enc == nil {
		c.Printf("Statistics:\n%16s %8s %12s %s\n", "MT", "Count", "TotalSize", "Class Name")
	} else if err := enc.List("statistics"); err != nil {
		return err
	}
	for _, e := range s.Types {
		name := typeNameOr(c, h.Runtime(), e.Type.Addr)
		if enc == nil {
			c.Printf("%s %8d %12d %s\n", report.Hex16(e.Type.Addr), e.Count, e.Size, report.Escape(name))
		} else if err := enc.Item("statistics", typeStatItem{report.Address(e.Type.Addr), e.Count, e.Size, name}); err != nil {
			return err
		}
	}
	return endGeneration(c, s.Count)
}

func endGeneration(c *cli.Context, count uint64) error {
	if c.JSON() != nil {
		return c.JSON().Field("count", count)
	}
	c.Printf("Total %d objects\n\n", count)
	return nil
}

// listGeneration lists objects in address order.
func listGeneration(c *cli.Context, h *heap.Heap, f *heap.Filter) error {
	if c.JSON() == nil {
		c.Printf("%16s %16s %8s\n", "Address", "MT", "Size")
	} else if err := c.JSON().List("objects"); err != nil {
		return err
	}
	total := heap.NewCounter(h, f)
	o, done := scanOptions(c, "scanning the heap")
	err := heap.Scan(c.Context(), h, h.Spans(f), o, func() *generationList {
		return &generationList{Counter: heap.NewCounter(h, f), sieve: heap.NewSieve(f)}
	}, func(l *generationList) error {
		total.Add(l.Counter)
		return l.print(c)
	})
	done()
	if err != nil {
		return err
	}
	s := total.Stats()
	if err := warnCorrupt(c, &s); err != nil {
		return err
	}
	return endGeneration(c, s.Count)
}

type generationList struct {
	*heap.Counter
	sieve *heap.Sieve
	items []objectItem
}

func (l *generationList) Objects(s *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if o := &batch[i]; l.sieve.Pass(o) {
			l.Count(s, o)
			l.items = append(l.items, objectItem{report.Address(o.Addr), report.Address(o.Type.Addr), o.Size, o.Free})
		}
	}
}

func (l *generationList) Reset() {
	l.Counter.Reset()
	l.items = l.items[:0]
}

func (l *generationList) print(c *cli.Context) error {
	for _, o := range l.items {
		if c.JSON() != nil {
			if err := c.JSON().Item("objects", o); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(c.Out, "%s %s %8d\n", report.Hex16(o.Address), report.Hex16(o.MethodTable), o.Size); err != nil {
			return err
		}
	}
	return nil
}
