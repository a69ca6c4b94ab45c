package heap

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"unicode/utf16"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// StringStats are the strings of one content.
type StringStats struct {
	First target.Addr // the first of them
	Count uint64
	Size  uint64 // bytes of one
}

// TotalSize is the size of all of them in bytes.
func (s *StringStats) TotalSize() uint64 { return s.Count * s.Size }

// comparedChars is how much of a string counts as its content, as in SOS:
// longer ones of one size that begin alike are taken for the same.
const comparedChars = 1024

// Strings counts the strings that f chooses by content, sorted by total size,
// the smallest first; equal ones stay in the order of their first objects.
// Contents are told apart by a hash of 128 bits and not kept. The Stats are of
// the strings as objects.
func (h *Heap) Strings(ctx context.Context, f *Filter, o ScanOptions) ([]StringStats, Stats, error) {
	sf := h.StringFilter(f)
	total := NewStringCounter(h, sf)
	err := Scan(ctx, h, h.Spans(sf), o, func() *StringCounter { return NewStringCounter(h, sf) }, func(c *StringCounter) error {
		total.Add(c)
		return nil
	})
	return total.Strings(), total.Stats(), err
}

// StringFilter is f for strings alone.
func (h *Heap) StringFilter(f *Filter) *Filter {
	f = f.orAll()
	sf := *f
	sf.Type = func(mt *dac.MethodTable) bool {
		return mt.Addr == h.rt.WellKnown().String && (f.Type == nil || f.Type(mt))
	}
	return &sf
}

type stringKey struct{ a, b uint64 }

// A StringCounter is a Collector that counts strings by content.
type StringCounter struct {
	Counter
	win   *target.Window
	seeds *[2]maphash.Seed
	index map[stringKey]int
	list  []StringStats
	keys  []stringKey // beside list
}

// NewStringCounter returns a StringCounter for the objects of h that f chooses,
// which must be strings (see Heap.StringFilter).
func NewStringCounter(h *Heap, f *Filter) *StringCounter {
	return &StringCounter{Counter: *NewCounter(h, f), win: target.NewWindow(h.mem), seeds: &h.seeds, index: map[stringKey]int{}}
}

// Objects counts those that the filter chooses.
func (c *StringCounter) Objects(s *Segment, batch []Object) {
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.Count(s, o)
		}
	}
}

// Count counts the string o. One that can't be read counts as the object that
// it is, without content.
func (c *StringCounter) Count(s *Segment, o *Object) {
	c.Counter.Count(s, o)
	b, err := c.win.Bytes(o.Addr+stringChars, 2*int(min(o.Length, comparedChars)))
	if err != nil {
		return
	}
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], o.Size)
	c.add(stringKey{
		maphash.Bytes(c.seeds[0], b) ^ maphash.Bytes(c.seeds[1], size[:]),
		maphash.Bytes(c.seeds[1], b) ^ maphash.Bytes(c.seeds[0], size[:]),
	}, StringStats{First: o.Addr, Count: 1, Size: o.Size})
}

func (c *StringCounter) add(k stringKey, s StringStats) {
	i, ok := c.index[k]
	if !ok {
		c.index[k] = len(c.list)
		c.list = append(c.list, s)
		c.keys = append(c.keys, k)
		return
	}
	c.list[i].Count += s.Count
}

// Add adds what b counted behind what c counted.
func (c *StringCounter) Add(b *StringCounter) {
	c.Counter.Add(&b.Counter)
	for i := range b.list {
		c.add(b.keys[i], b.list[i])
	}
}

// Reset forgets everything.
func (c *StringCounter) Reset() {
	c.Counter.Reset()
	clear(c.index)
	c.list, c.keys = c.list[:0], c.keys[:0]
}

// Strings is the result, sorted as Heap.Strings says.
func (c *StringCounter) Strings() []StringStats {
	slices.SortStableFunc(c.list, func(a, b StringStats) int { return cmp.Compare(a.TotalSize(), b.TotalSize()) })
	return c.list
}

// stringChars is where the characters of a string are, behind the MethodTable
// and the length (object.h, StringObject).
const stringChars = 12

// StringText reads the string at a, at most limit characters of it, and whether
// that is all.
func (h *Heap) StringText(a target.Addr, limit int) (text string, whole bool, err error) {
	n, err := target.Uint32(h.mem, a+stringChars-4)
	if err != nil {
		return "", false, err
	}
	chars := int(min(n, uint32(limit)))
	b, err := target.Bytes(h.mem, a+stringChars, 2*chars)
	if err != nil {
		return "", false, err
	}
	u := make([]uint16, chars)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u)), uint32(chars) == n, nil
}
