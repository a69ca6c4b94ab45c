package ask

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// ScannedHeap is Heap for commands that need objects: a heap without segments is
// an error that says why, and one that a collection was changing is told of,
// unless the user does not want to hear it.
func ScannedHeap(c *cli.Context, ignoreGCState bool) (*heap.Heap, error) {
	h, err := View(c).Heap()
	if err != nil {
		return nil, err
	}
	if err := h.Unread(); err != nil {
		return nil, err
	}
	if h.InGC() && !ignoreGCState {
		c.Warn(target.Corruptf("the dump was taken during a garbage collection: the heap is read as far as it is sound"))
	}
	return Heap(c)
}

// Scan are the options of a scan of the heap. Each scan that is made with them
// has a progress display, which ends with it.
func Scan(c *cli.Context, label string) heap.ScanOptions {
	var p *cli.Progress
	return heap.ScanOptions{Jobs: c.Jobs, Progress: func(done, total uint64) {
		if p == nil {
			p = c.Progress(label)
		}
		p.Set(done, total)
		if done == total {
			p.Done()
			p = nil
		}
	}}
}

// FilterOptions are the options that choose objects.
func FilterOptions() []cli.Option {
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

// Filter makes a filter of FilterOptions.
func Filter(c *cli.Context, h *heap.Heap) (*heap.Filter, error) {
	f := &heap.Filter{}
	f.MinSize, _ = c.Size("min")
	f.MaxSize, _ = c.Size("max")
	if f.MaxSize != 0 && f.MinSize > f.MaxSize {
		return nil, c.Usagef("-min is larger than -max")
	}
	if name, ok := c.Str("gen"); ok {
		g, ok := Generation(name)
		if !ok {
			return nil, c.Usagef("Unknown generation: %s. Only gen0, gen1, gen2, loh (large), poh (pinned) and foh (frozen) are supported", name)
		}
		f.Generations = []heap.Generation{g}
	}
	var err error
	if f.Segments, err = SegmentFilter(c, h); err != nil {
		return nil, err
	}
	f.Type, err = TypeFilter(c, h)
	return f, err
}

// Generation is the generation with a name that heap.ParseGeneration knows, or with
// a number alone.
func Generation(name string) (heap.Generation, bool) {
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		name = "gen" + name
	}
	return heap.ParseGeneration(name)
}

// SegmentFilter reads -heap and -segment; nil stands for all.
func SegmentFilter(c *cli.Context, h *heap.Heap) (func(*heap.Segment) bool, error) {
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

// TypeFilter reads -mt and -type; nil stands for all.
func TypeFilter(c *cli.Context, h *heap.Heap) (func(*dac.MethodTable) bool, error) {
	mt, hasMT := c.Addr("mt")
	part, hasType := c.Str("type")
	if hasMT {
		if _, err := h.Runtime().TrustedMethodTable(mt); err != nil {
			return nil, err
		}
	}
	is, named := heap.TypeIs(mt), nearMisses(c, h, part)
	switch {
	case hasMT && hasType:
		return func(t *dac.MethodTable) bool { return is(t) && named(t) }, nil
	case hasMT:
		return is, nil
	case hasType:
		return named, nil
	}
	return nil, nil
}

// NothingFound says that no object was found, unless it is said why, or SOS's form was asked for, which says nothing.
func NothingFound(c *cli.Context) {
	if c.Warned() == 0 && !c.SOS {
		c.Warn(errors.New("no object was found where the options look for it"))
	}
}

// nearMisses is h.TypeContains(part). Where no type is one of those, the command warns
// and names one that may have been meant.
func nearMisses(c *cli.Context, h *heap.Heap, part string) func(*dac.MethodTable) bool {
	named := h.TypeContains(part)
	if part == "" || c.SOS {
		return named
	}
	var mu sync.Mutex
	found, others, unnamed := false, map[string]bool{}, map[target.Addr]bool{}
	c.AtEnd(func() {
		mu.Lock() // no worker is left; the race detector can't know
		defer mu.Unlock()
		if found {
			return
		}
		if len(unnamed) > 0 {
			c.Warn(fmt.Errorf("no type whose name can be read has %q in its name; the names of %d types can't be read", part, len(unnamed)))
			return
		}
		if len(others) == 0 {
			NothingFound(c)
			return
		}
		text := fmt.Sprintf("no type on the heap has %q in its name", part)
		if s := nearest(part, slices.Sorted(maps.Keys(others))); s != "" {
			text += fmt.Sprintf("; did you mean %s?", s)
		}
		c.Warn(errors.New(text))
	})
	return func(t *dac.MethodTable) bool {
		is := named(t)
		mu.Lock()
		defer mu.Unlock()
		if found = found || is; found {
			return is
		}
		name, err := h.Runtime().TypeName(t.Addr, dac.NameManaged)
		switch {
		case len(others)+len(unnamed) >= limits.ConstructedTypes:
		case err == nil:
			others[name] = true
		default:
			unnamed[t.Addr] = true
		}
		return false
	}
}

// nearest is what was meant by a part of a type's name: the same part in another case,
// or the name of a type, without its namespace, that is spelt nearly so.
func nearest(part string, names []string) string {
	var simple []string
	for _, n := range names {
		if i := strings.Index(strings.ToLower(n), strings.ToLower(part)); i >= 0 && i+len(part) <= len(n) {
			return n[i : i+len(part)]
		}
		n, _, _ = strings.Cut(n, "<")
		simple = append(simple, n[strings.LastIndexAny(n, ".+")+1:])
	}
	slices.Sort(simple)
	return cli.Suggest(part, simple)
}

// RangeArgs are the arguments of AddressRange.
func RangeArgs() []cli.Arg {
	return []cli.Arg{
		{Name: "start", Kind: cli.Address, Optional: true, Summary: "first address"},
		{Name: "end", Kind: cli.Str, Optional: true, Summary: "address behind the last, or L and a number of bytes in hexadecimal"},
	}
}

// AddressRange reads RangeArgs; an empty range stands for all.
func AddressRange(c *cli.Context) (target.Range, error) {
	start, ok := c.Addr("start")
	if !ok {
		return target.Range{}, nil
	}
	text, ok := c.Str("end")
	if !ok {
		return target.Range{Start: start, End: ^target.Addr(0)}, nil
	}
	size, isSize := strings.CutPrefix(strings.ToUpper(text), "L")
	end, err := cli.ParseAddress(size)
	if err != nil {
		return target.Range{}, c.Usagef("END: %v", err)
	}
	if isSize {
		end += start
	}
	if end <= start {
		return target.Range{}, c.Usagef("the range ends at %x, before it starts", uint64(end))
	}
	return target.Range{Start: start, End: end}, nil
}
