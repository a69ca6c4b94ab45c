package heap

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// TypeStats holds the number and size of a type's objects.
type TypeStats struct {
	Type  *dac.MethodTable
	Count uint64
	Size  uint64 // bytes
}

// Stats holds the counts of a scan.
type Stats struct {
	Types []TypeStats // in the order of their first objects
	Count uint64
	Size  uint64 // bytes
	// Corruptions are the places where the walk had to skip memory, in address order, at most MaxCorruptions.
	// Corrupt is their number.
	Corruptions []*Corruption
	Corrupt     int
	// Fragments are large free blocks that precede a live object, in address order, at most MaxFragments.
	Fragments []Fragment
}

// Limits of the places in a result.
const (
	MaxCorruptions = 1000
	MaxFragments   = 100_000
)

// BySize sorts types by their total size, the largest first. Equal types keep the order of their first objects.
func (s *Stats) BySize() {
	slices.SortStableFunc(s.Types, func(a, b TypeStats) int { return cmp.Compare(b.Size, a.Size) })
}

// ByCount sorts types by the number of their objects, as BySize does by size.
func (s *Stats) ByCount() {
	slices.SortStableFunc(s.Types, func(a, b TypeStats) int { return cmp.Compare(b.Count, a.Count) })
}

// ascending sorts types by their number or their size, the smallest first, as SOS lists them.
func (s *Stats) ascending(byCount bool) {
	slices.SortStableFunc(s.Types, func(a, b TypeStats) int {
		if byCount {
			return cmp.Compare(a.Count, b.Count)
		}
		return cmp.Compare(a.Size, b.Size)
	})
}

// unread returns an error if the scan found no object, and an unreadable place.
func (s *Stats) unread() error {
	if s.Count == 0 && len(s.Corruptions) > 0 {
		return fmt.Errorf("no object can be read: %w", s.Corruptions[0])
	}
	return nil
}

// Stats counts the objects that f selects, by type. It fails if it finds none and a part of the heap is
// unreadable.
func (h *Heap) Stats(ctx context.Context, f *Filter, o ScanOptions) (Stats, error) {
	if f != nil && f.Counts != nil && f.Where == nil && f.Segments == nil && f.Generations == nil && f.Range == (target.Range{}) {
		return f.Counts(ctx, f)
	}
	if h != nil && f.isAll() {
		if census, ok := h.census.Known(); ok { // the census has counted all objects
			stats := census.stats(h)
			return stats, stats.unread()
		}
	}
	total := NewCounter(h, f)
	err := Scan(ctx, h, f, o, func() *Counter { return NewCounter(h, f) }, func(c *Counter) error {
		total.Add(c)
		return nil
	})
	stats := total.Stats()
	if err == nil {
		err = stats.unread()
	}
	return stats, err
}

// A Counter is a Collector that counts the objects that a Filter selects by type. It does not allocate per object.
type Counter struct {
	h         *Heap
	sieve     *Sieve
	entries   []counterEntry // by Object.typeID
	seen      []uint32       // typeIDs in the order of the types' first objects
	corrupt   []*Corruption
	nCorrupt  int
	fragments []Fragment
}

type counterEntry struct{ count, size uint64 }

// NewCounter returns a Counter for the objects of h that f selects.
func NewCounter(h *Heap, f *Filter) *Counter { return &Counter{h: h, sieve: NewSieve(f)} }

// Objects counts the objects that the filter selects.
func (c *Counter) Objects(s *Segment, batch []Object) {
	if c.h == nil {
		return
	}
	all, entries := c.sieve.all, c.entries
	for i := range batch {
		o := &batch[i]
		if !all && !c.sieve.Pass(o) {
			continue
		}
		// Count, inlined for most objects.
		if int(o.typeID) < len(entries) && entries[o.typeID].count != 0 && !o.Free {
			e := &entries[o.typeID]
			e.count++
			e.size += o.Size
			continue
		}
		c.countOne(s, o)
		entries = c.entries
	}
}

// countOne counts one object, ignoring the filter.
func (c *Counter) countOne(s *Segment, o *Object) {
	if int(o.typeID) >= len(c.entries) || c.entries[o.typeID].count == 0 {
		c.addType(o.typeID)
	}
	e := &c.entries[o.typeID]
	e.count++
	e.size += o.Size
	if o.Free && o.Size >= FragmentSize {
		c.fragment(s, o)
	}
}

func (c *Counter) fragment(s *Segment, o *Object) {
	if f, ok := c.h.fragment(s, o); ok && c.sieve.Pass(&f.Next) && len(c.fragments) < MaxFragments {
		c.fragments = append(c.fragments, f)
	}
}

// addType adds an entry for a new type.
func (c *Counter) addType(id uint32) {
	if n := int(id) + 1 - len(c.entries); n > 0 {
		c.entries = append(c.entries, make([]counterEntry, n)...)
	}
	c.seen = append(c.seen, id)
}

// Corrupt records a corruption.
func (c *Counter) Corrupt(e *Corruption) {
	if c.nCorrupt++; len(c.corrupt) < MaxCorruptions {
		c.corrupt = append(c.corrupt, e)
	}
}

// Reset drops all counts.
func (c *Counter) Reset() {
	for _, id := range c.seen {
		c.entries[id] = counterEntry{}
	}
	c.seen, c.corrupt, c.nCorrupt, c.fragments = c.seen[:0], nil, 0, nil
}

// Add adds the counts of b. Its objects follow c's.
func (c *Counter) Add(b *Counter) {
	for _, id := range b.seen {
		if int(id) >= len(c.entries) || c.entries[id].count == 0 {
			c.addType(id)
		}
		c.entries[id].count += b.entries[id].count
		c.entries[id].size += b.entries[id].size
	}
	c.nCorrupt += b.nCorrupt
	c.corrupt = append(c.corrupt, b.corrupt[:min(len(b.corrupt), MaxCorruptions-len(c.corrupt))]...)
	c.fragments = append(c.fragments, b.fragments[:min(len(b.fragments), MaxFragments-len(c.fragments))]...)
}

// Stats returns the result.
func (c *Counter) Stats() Stats {
	s := Stats{Types: make([]TypeStats, 0, len(c.seen)), Corruptions: c.corrupt, Corrupt: c.nCorrupt, Fragments: c.fragments}
	for _, id := range c.seen {
		e := c.entries[id]
		s.Types = append(s.Types, TypeStats{Type: c.h.types.get(id).mt, Count: e.count, Size: e.size})
		s.Count += e.count
		s.Size += e.size
	}
	return s
}
