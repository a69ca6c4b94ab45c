package commands

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
)

// filterOptions are the options that choose objects.
func filterOptions() []cli.Option {
	return []cli.Option{
		{Name: "mt", Kind: cli.Address, Summary: "only objects of this MethodTable"},
		{Name: "type", Kind: cli.TypeName, Summary: "only objects of types whose name contains this"},
		{Name: "min", Kind: cli.Size, Summary: "only objects of at least this size"},
		{Name: "max", Kind: cli.Size, Summary: "only objects of at most this size"},
		{Name: "gen", Aliases: []string{"generation"}, Kind: cli.Str, Value: "GEN", Summary: "only this generation: gen0, gen1, gen2, loh (large), poh (pinned), foh (frozen)"},
		{Name: "heap", Kind: cli.Int, Summary: "only this heap of a server GC"},
		{Name: "segment", Kind: cli.Address, Summary: "only this segment or region: its address or one in it"},
	}
}

// filterOf makes a filter of filterOptions.
func filterOf(c *cli.Context, h *heap.Heap) (*heap.Filter, error) {
	f := &heap.Filter{}
	f.MinSize, _ = c.Size("min")
	f.MaxSize, _ = c.Size("max")
	if f.MaxSize != 0 && f.MinSize > f.MaxSize {
		return nil, c.Usagef("-min is larger than -max")
	}
	if name, ok := c.Str("gen"); ok {
		g, ok := generationOf(name)
		if !ok {
			return nil, c.Usagef("Unknown generation: %s. Only gen0, gen1, gen2, loh (large), poh (pinned) and foh (frozen) are supported", name)
		}
		f.Generations = []heap.Generation{g}
	}
	var err error
	if f.Segments, err = segmentFilter(c, h); err != nil {
		return nil, err
	}
	f.Type, err = typeFilter(c, h.Runtime())
	return f, err
}

func generationOf(name string) (heap.Generation, bool) {
	for _, g := range generationNames {
		if strings.EqualFold(name, g.name) {
			return g.gen, true
		}
	}
	return 0, false
}

// segmentFilter reads -heap and -segment; nil stands for all.
func segmentFilter(c *cli.Context, h *heap.Heap) (func(*heap.Segment) bool, error) {
	index, hasIndex := c.Int("heap")
	at, hasSegment := c.Addr("segment")
	if !hasIndex && !hasSegment {
		return nil, nil
	}
	if hasIndex && (index < 0 || index >= int64(len(h.SubHeaps()))) {
		return nil, c.Usagef("there is no heap %d: the process has %d", index, len(h.SubHeaps()))
	}
	var only *heap.Segment
	if hasSegment {
		if only = h.SegmentByAddr(at); only == nil {
			return nil, c.Usagef("%x is no segment, and no address in one (eeheap -gc lists them)", uint64(at))
		}
	}
	return func(s *heap.Segment) bool {
		return (!hasIndex || s.SubHeap == int(index)) && (only == nil || s == only)
	}, nil
}

// typeFilter reads -mt and -type; nil stands for all.
func typeFilter(c *cli.Context, rt *dac.Runtime) (func(*dac.MethodTable) bool, error) {
	mt, hasMT := c.Addr("mt")
	part, hasType := c.Str("type")
	if hasMT {
		if _, err := rt.TrustedMethodTable(mt); err != nil {
			return nil, err
		}
	}
	switch {
	case hasMT && hasType:
		return func(t *dac.MethodTable) bool { return t.Addr == mt && nameContains(rt, t, part) }, nil
	case hasMT:
		return func(t *dac.MethodTable) bool { return t.Addr == mt }, nil
	case hasType:
		return func(t *dac.MethodTable) bool { return nameContains(rt, t, part) }, nil
	}
	return nil, nil
}

// nameContains reports whether a type's name contains part. A type without a
// name in the dump does not.
func nameContains(rt *dac.Runtime, mt *dac.MethodTable, part string) bool {
	name, err := rt.TypeName(mt.Addr, dac.NameManaged)
	return err == nil && strings.Contains(name, part)
}
