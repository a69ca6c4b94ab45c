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
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/target"
)

// ScannedHeap is like Heap for commands that need objects. It fails if the heap has no segments. It warns if a
// collection was in progress, unless ignoreGCState is set.
func ScannedHeap(c *cli.Context, ignoreGCState bool) (*heap.Heap, error) {
	if _, err := ListedHeap(c, ignoreGCState); err != nil {
		return nil, err
	}
	return Heap(c)
}

// ListedHeap is ScannedHeap for lists that have the heap's warnings as missing rows.
func ListedHeap(c *cli.Context, ignoreGCState bool) (*heap.Heap, error) {
	h, err := View(c).Heap()
	if err != nil {
		return nil, err
	}
	if err := h.Unread(); err != nil {
		return nil, err
	}
	if h.InGC() && !ignoreGCState {
		c.Warn(target.ErrInCollection)
	}
	return h, nil
}

// Scan returns the options for a scan of the heap. Each scan has its own progress display.
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

// A Generation is an option with the name of a generation.
type Generation heap.Generation

// UnmarshalText parses a generation's name, as heap.ParseGeneration does, or its number.
func (g *Generation) UnmarshalText(text []byte) error {
	name := string(text)
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		name = "gen" + name
	}
	parsed, ok := heap.ParseGeneration(name)
	if !ok {
		return fmt.Errorf("%s is not a supported generation (gen0, gen1, gen2, loh, poh, foh)", text)
	}
	*g = Generation(parsed)
	return nil
}

// Examples returns the names of generations, for completion.
func (Generation) Examples() []string { return []string{"gen0", "gen1", "gen2", "loh", "poh", "foh"} }

// Placeholder describes a generation in help.
func (Generation) Placeholder() string { return "GEN" }

// Types selects objects by type.
type Types struct {
	MT   *target.Addr `opt:"mt" help:"only objects of this MethodTable"`
	Type string       `opt:"type" kind:"type" help:"only objects of types whose name contains this"`
}

// Segments selects parts of the GC heap.
type Segments struct {
	Heap    *int         `opt:"heap" help:"only this heap of a server GC"`
	Segment *target.Addr `opt:"segment" help:"only this segment or region: its address or one in it"`
}

// A Filter selects objects.
type Filter struct {
	Types
	Min uint64      `opt:"min" kind:"size" help:"only objects of at least this size"`
	Max uint64      `opt:"max" kind:"size" help:"only objects of at most this size"`
	Gen *Generation `opt:"gen,generation" help:"only this generation: gen0, gen1, gen2, loh (large), poh (pinned), foh (frozen)"`
	Segments
}

// Of returns the filter for a heap.
func (f *Filter) Of(c *cli.Context, h *heap.Heap) (*heap.Filter, error) {
	if f.Max != 0 && f.Min > f.Max {
		return nil, c.Usagef("-min is larger than -max")
	}
	out := &heap.Filter{MinSize: f.Min, MaxSize: f.Max}
	if f.Gen != nil {
		out.Generations = []heap.Generation{heap.Generation(*f.Gen)}
	}
	var err error
	if out.Segments, err = f.Segments.Of(c, h); err != nil {
		return nil, err
	}
	out.Type, err = f.Types.Of(c, h)
	return out, err
}

// Of returns the filter for a heap; nil selects all segments.
func (s *Segments) Of(c *cli.Context, h *heap.Heap) (func(*heap.Segment) bool, error) {
	if s.Heap == nil && s.Segment == nil {
		return nil, nil
	}
	if s.Heap != nil && (*s.Heap < 0 || *s.Heap >= len(h.SubHeaps())) {
		return nil, c.Usagef("there is no heap %d: the process has %d", *s.Heap, len(h.SubHeaps()))
	}
	var only *heap.Segment
	if s.Segment != nil {
		if only = h.SegmentByAddr(*s.Segment); only == nil {
			return nil, c.Usagef("%x is not in a segment (eeheap -gc lists them)", uint64(*s.Segment))
		}
	}
	return func(seg *heap.Segment) bool {
		return (s.Heap == nil || seg.SubHeap == *s.Heap) && (only == nil || seg == only)
	}, nil
}

// Of returns the filter for a heap; nil selects all types.
func (t *Types) Of(c *cli.Context, h *heap.Heap) (func(*dac.MethodTable) bool, error) {
	named := nearMisses(c, h, t.Type)
	if t.MT == nil {
		if t.Type == "" {
			return nil, nil
		}
		return named, nil
	}
	if _, err := h.Runtime().TrustedMethodTable(*t.MT); err != nil {
		return nil, err
	}
	is := heap.TypeIs(*t.MT)
	if t.Type == "" {
		return is, nil
	}
	return func(mt *dac.MethodTable) bool { return is(mt) && named(mt) }, nil
}

// NothingFound warns that no object was found. It does nothing if another warning gives a reason, or in SOS's form.
func NothingFound(c *cli.Context) {
	if c.Warned() == 0 && !FormOf(c).NoAdvice {
		c.Warn(errors.New("no object was found where the options look for it"))
	}
}

// nearMisses returns h.TypeContains(part). If no type matches, the command warns and suggests a similar name.
func nearMisses(c *cli.Context, h *heap.Heap, part string) func(*dac.MethodTable) bool {
	named := h.TypeContains(part)
	if part == "" || FormOf(c).NoAdvice {
		return named
	}
	var mu sync.Mutex
	found, others, unnamed := false, map[string]bool{}, map[target.Addr]bool{}
	c.AtEnd(func() {
		mu.Lock() // all workers have ended, but the race detector cannot see that
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

// nearest returns the most similar name: the same part in another case, or a type's name without its namespace.
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

// A Range holds the arguments that select a range of addresses.
type Range struct {
	Start *target.Addr `arg:"start,optional" help:"first address"`
	End   string       `arg:"end,optional" help:"address behind the last, or L and a number of bytes in hexadecimal"`
}

// Of returns the range. An empty one selects all addresses.
func (r *Range) Of(c *cli.Context) (target.Range, error) {
	switch {
	case r.Start == nil:
		return target.Range{}, nil
	case r.End == "":
		return target.Range{Start: *r.Start, End: ^target.Addr(0)}, nil
	}
	size, isSize := strings.CutPrefix(strings.ToUpper(r.End), "L")
	end, err := cli.ParseAddress(size)
	if err != nil {
		return target.Range{}, c.Usagef("END: %v", err)
	}
	if isSize {
		end += *r.Start
	}
	if end <= *r.Start {
		return target.Range{}, c.Usagef("the range ends at %x, before it starts", uint64(end))
	}
	return target.Range{Start: *r.Start, End: end}, nil
}
