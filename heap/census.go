package heap

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// A Census is the result of one walk of all objects: the counts of all types, the addresses of each type's
// objects unless there are too many, objects with thin locks, and the free space between objects.
type Census struct {
	Objects uint64 // without free blocks
	Free    [GenerationUnknown + 1]FreeSpace
	Thin    []LockedObject // sorted by address
	synced  []target.Addr  // objects with a sync block; at most censusAll of them
	corrupt []*Corruption  // by address
	types   []typeObjects  // by type number
	met     []uint32       // numbers of types in the order of their first objects
	free    freeBlocks
	kept    int // number of addresses in types
	most    int // largest number of addresses of a type
}

// Unread returns an error if no object was found and a place could not be read.
func (c *Census) Unread() error {
	if c == nil {
		return nil
	}
	return (&Stats{Count: c.Objects, Corruptions: c.corrupt}).unread()
}

// FreeSpace counts the free blocks between the objects of a generation.
type FreeSpace struct {
	Objects, Free uint64 // bytes, with those between an object and the next
	Blocks        uint64
	Largest       uint64 // bytes of a block
}

// typeObjects holds the objects of a type: all of them, or no addresses if there are too many.
type typeObjects struct {
	count, size uint64
	at          []target.Addr
}

// freeBlocks holds the free blocks. They have their own type.
type freeBlocks struct {
	counterEntry
	id        uint32
	fragments []Fragment
}

// stats returns the counts of all objects, as Heap.Stats does for no filter.
func (c *Census) stats(h *Heap) Stats {
	s := Stats{Types: make([]TypeStats, 0, len(c.met)), Corruptions: c.corrupt[:min(len(c.corrupt), MaxCorruptions)], Corrupt: len(c.corrupt), Fragments: c.free.fragments}
	for _, n := range c.met {
		e := counterEntry{c.types[n].count, c.types[n].size}
		if n == c.free.id && c.free.count > 0 {
			e = c.free.counterEntry
		}
		s.Types = append(s.Types, TypeStats{Type: h.TypeByNumber(n), Count: e.count, Size: e.size})
		s.Count += e.count
		s.Size += e.size
	}
	return s
}

// Bounds of a Census.
const (
	censusType = 1 << 16 // objects of one type
	censusAll  = 1 << 21 // objects of all types
)

// Census returns the census of the heap. The first caller takes it, with the progress in o; others wait.
func (h *Heap) Census(ctx context.Context, o ScanOptions) (*Census, error) {
	return h.census.GetContext(ctx, func(ctx context.Context) (*Census, error) {
		c := &Census{most: censusType}
		err := Scan(ctx, h, nil, o, func() *counting { return newCounting(h) }, c.merge)
		if err != nil {
			return nil, err
		}
		return c, nil
	})
}

// ScanWithCensus is Scan of all objects. The same walk takes the census of the heap unless that has been taken.
func ScanWithCensus[C Collector](ctx context.Context, h *Heap, o ScanOptions, create func() C, merge func(C) error) error {
	if _, ok := h.census.Known(); ok {
		return Scan(ctx, h, nil, o, create, merge)
	}
	census := &Census{most: censusType}
	err := Scan(ctx, h, nil, o, func() *counted[C] { return &counted[C]{create(), newCounting(h)} }, func(b *counted[C]) error {
		if err := merge(b.into); err != nil {
			return err
		}
		return census.merge(b.count)
	})
	if err != nil {
		return err
	}
	_, err = h.census.Get(func() (*Census, error) { return census, nil })
	return err
}

// A counted forwards the results of a walk to a Collector, and counts them.
type counted[C Collector] struct {
	into  C
	count *counting
}

// Objects forwards and counts a batch.
func (b *counted[C]) Objects(s *Segment, batch []Object) {
	b.into.Objects(s, batch)
	b.count.Objects(s, batch)
}

// Corrupt forwards and records a place where the walk had to skip memory.
func (b *counted[C]) Corrupt(c *Corruption) {
	b.into.Corrupt(c)
	b.count.Corrupt(c)
}

// Reset drops everything.
func (b *counted[C]) Reset() {
	b.into.Reset()
	b.count.Reset()
}

// A counting is the part of a Census that a run of the heap adds.
type counting struct {
	Census
	h       *Heap
	rt      *dac.Runtime
	headers bool
	base    target.Addr
	bytes   []byte         // memory from base on
	copied  *target.Window // for memory that the target does not lend
}

func newCounting(h *Heap) *counting {
	rt := h.Runtime()
	return &counting{h: h, rt: rt, headers: rt.Check(dac.FeatureObjectHeaders) == nil, copied: target.NewWindow(h.mem)}
}

// Objects counts a batch.
func (c *counting) Objects(s *Segment, batch []Object) {
	for i := range batch {
		o := &batch[i]
		if o.Free {
			c.freeBlock(s, o)
			continue
		}
		c.Census.Objects++
		if c.headers {
			c.header(o)
		}
		t := c.entry(o.typeID)
		if t.count == 0 {
			c.met = append(c.met, o.typeID)
		}
		t.size += o.Size
		if t.count++; t.count <= censusType {
			t.at = append(t.at, o.Addr)
		}
	}
	c.measure(s, batch)
}

// measure adds the sizes of the objects and free blocks of a batch. A batch has no gaps.
func (c *counting) measure(s *Segment, batch []Object) {
	if len(batch) == 0 {
		return
	}
	first, last := &batch[0], &batch[len(batch)-1]
	if g := s.Generation(first.Addr); g == s.Generation(last.Addr) {
		c.Free[g].Objects += uint64(last.Next() - first.Addr)
		return
	}
	for i := range batch {
		c.Free[s.Generation(batch[i].Addr)].Objects += uint64(batch[i].Next() - batch[i].Addr)
	}
}

// entry returns the entry of a type.
func (c *counting) entry(id uint32) *typeObjects {
	if int(id) >= len(c.types) {
		c.types = append(c.types, make([]typeObjects, int(id)+1-len(c.types))...)
	}
	return &c.types[id]
}

func (c *counting) freeBlock(s *Segment, o *Object) {
	if c.free.count == 0 {
		c.entry(o.typeID)
		c.met, c.free.id = append(c.met, o.typeID), o.typeID
	}
	c.free.count++
	c.free.size += o.Size
	if o.Size >= FragmentSize && len(c.free.fragments) < MaxFragments {
		if f, ok := c.h.fragment(s, o); ok {
			c.free.fragments = append(c.free.fragments, f)
		}
	}
	f := &c.Free[s.Generation(o.Addr)]
	f.Blocks++
	f.Free += uint64(o.Next() - o.Addr)
	f.Largest = max(f.Largest, o.Size)
}

// header records a thin lock. The header of a segment's first object may not be stored; it is not locked.
func (c *counting) header(o *Object) {
	at := o.Addr - dac.ObjectHeaderSize
	if at < c.base || at+dac.ObjectHeaderSize > c.base+target.Addr(len(c.bytes)) {
		c.base, c.bytes = at, c.h.mem.Span(at)
	}
	var header dac.ObjectHeader
	if b := c.bytes[min(int(at-c.base), len(c.bytes)):]; len(b) >= dac.ObjectHeaderSize {
		header = dac.ObjectHeader(binary.LittleEndian.Uint32(b))
	} else if v, err := c.copied.Uint32(at); err == nil {
		header = dac.ObjectHeader(v)
	} else if h, err := c.rt.ObjectHeader(o.Addr); err == nil {
		header = h
	}
	if header == 0 {
		return
	}
	if header.SyncBlockIndex() != 0 && len(c.synced) < censusAll {
		c.synced = append(c.synced, o.Addr)
		return
	}
	if lock, ok := c.rt.ThinLock(header); ok {
		c.Thin = append(c.Thin, LockedObject{Object: *o, Lock: lock})
	}
}

// Corrupt records a place where the walk had to skip memory.
func (c *counting) Corrupt(e *Corruption) { c.corrupt = append(c.corrupt, e) }

// Reset drops the counts.
func (c *counting) Reset() {
	for _, n := range c.met {
		c.types[n] = typeObjects{at: c.types[n].at[:0]}
	}
	c.free = freeBlocks{}
	c.met, c.Thin, c.synced, c.corrupt = c.met[:0], c.Thin[:0], c.synced[:0], c.corrupt[:0]
	c.Free, c.Census.Objects = [GenerationUnknown + 1]FreeSpace{}, 0
}

// merge adds a run.
func (c *Census) merge(run *counting) error {
	c.Objects += run.Census.Objects
	c.Thin = append(c.Thin, run.Thin...)
	c.synced = append(c.synced, run.synced[:min(len(run.synced), censusAll-len(c.synced))]...)
	c.corrupt = append(c.corrupt, run.corrupt...)
	for g := range c.Free {
		f, more := &c.Free[g], &run.Free[g]
		f.Objects, f.Free, f.Blocks, f.Largest = f.Objects+more.Objects-more.Free, f.Free+more.Free, f.Blocks+more.Blocks, max(f.Largest, more.Largest)
	}
	if n := len(run.types) - len(c.types); n > 0 {
		c.types = append(c.types, make([]typeObjects, n)...)
	}
	for _, n := range run.met {
		t, more := &c.types[n], &run.types[n]
		if n == run.free.id && run.free.count > 0 {
			if c.free.count == 0 {
				c.met = append(c.met, n)
			}
			c.free.id, c.free.count, c.free.size = n, c.free.count+run.free.count, c.free.size+run.free.size
			c.free.fragments = append(c.free.fragments, run.free.fragments[:min(len(run.free.fragments), MaxFragments-len(c.free.fragments))]...)
			continue
		}
		if t.count == 0 {
			c.met = append(c.met, n)
		}
		t.size += more.size
		whole := uint64(len(t.at)) == t.count
		t.count += more.count
		if whole && t.count <= uint64(c.most) {
			t.at = append(t.at, more.at...)
			c.kept += len(more.at)
		} else {
			c.drop(t)
		}
	}
	for c.kept > censusAll {
		c.most /= 2
		for n := range c.types {
			if t := &c.types[n]; t.count > uint64(c.most) {
				c.drop(t)
			}
		}
	}
	return nil
}

func (c *Census) drop(t *typeObjects) {
	c.kept -= len(t.at)
	t.at = nil
}

// objectsOf returns the objects of the types for which want returns true, by address. It returns false if there
// are too many.
func (c *Census) objectsOf(h *Heap, want func(*dac.MethodTable) bool) ([]target.Addr, bool) {
	var out []target.Addr
	for n := range c.types {
		t := &c.types[n]
		if t.count == 0 || !want(h.TypeByNumber(uint32(n))) {
			continue
		}
		if uint64(len(t.at)) < t.count {
			return nil, false
		}
		out = append(out, t.at...)
	}
	slices.Sort(out)
	return out, true
}

// Select is Scan for a Filter of types. Its collectors get only objects of these types. If the heap's census has the addresses of these objects,
// Select reads only those.
func Select[C Collector](ctx context.Context, h *Heap, want func(*dac.MethodTable) bool, o ScanOptions, create func() C, merge func(C) error) error {
	census, err := h.Census(ctx, o)
	if err != nil {
		return err
	}
	list, ok := census.objectsOf(h, want)
	if !ok {
		f := &Filter{Type: want}
		return Scan(ctx, h, f, o, func() *sifted[C] { return &sifted[C]{into: create(), sieve: NewSieve(f)} }, func(c *sifted[C]) error { return merge(c.into) })
	}
	if len(list)+len(census.corrupt) == 0 {
		return ctx.Err()
	}
	// Unreadable places are passed between the objects around them.
	pieces := max(1, (len(list)+selectPiece-1)/selectPiece)
	type piece struct {
		into C
	}
	produce := func(_ struct{}, n int, p *piece) (*piece, error) {
		if p == nil {
			p = &piece{into: create()}
		}
		p.into.Reset()
		from, to := n*selectPiece, min(len(list), (n+1)*selectPiece)
		corrupt := census.corrupt
		if n > 0 {
			corrupt = after(corrupt, list[from])
		}
		if n+1 < pieces {
			corrupt = corrupt[:len(corrupt)-len(after(corrupt, list[to]))]
		}
		pass(h, list[from:to], corrupt, p.into)
		return p, ctx.Err()
	}
	return workers.Ordered(ctx, o.jobs(), pieces, func() struct{} { return struct{}{} }, produce, func(p *piece) error { return merge(p.into) })
}

// A sifted collector gets only objects that pass a sieve.
type sifted[C Collector] struct {
	into   C
	sieve  *Sieve
	passed []Object
}

// Objects passes on what passes.
func (c *sifted[C]) Objects(s *Segment, batch []Object) {
	c.passed = c.passed[:0]
	for i := range batch {
		if c.sieve.Pass(&batch[i]) {
			c.passed = append(c.passed, batch[i])
		}
	}
	if len(c.passed) > 0 {
		c.into.Objects(s, c.passed)
	}
}

// Corrupt passes on the place.
func (c *sifted[C]) Corrupt(e *Corruption) { c.into.Corrupt(e) }

// Reset resets the collector.
func (c *sifted[C]) Reset() { c.into.Reset() }

// selectPiece is the number of objects that a worker reads at a time.
const selectPiece = 1 << 12

// after returns the places at or after a.
func after(list []*Corruption, a target.Addr) []*Corruption {
	n, _ := slices.BinarySearchFunc(list, a, func(c *Corruption, a target.Addr) int {
		if c.Addr < a {
			return -1
		}
		return 1
	})
	return list[n:]
}

// pass passes objects and places that could not be read to a Collector, in the order of addresses.
func pass(h *Heap, list []target.Addr, corrupt []*Corruption, into Collector) {
	batch := make([]Object, 0, batchSize)
	var s *Segment
	flush := func() {
		if len(batch) > 0 {
			into.Objects(s, batch)
			batch = batch[:0]
		}
	}
	for _, a := range list {
		for len(corrupt) > 0 && corrupt[0].Addr < a {
			flush()
			into.Corrupt(corrupt[0])
			corrupt = corrupt[1:]
		}
		if s == nil || !s.Objects.Contains(a) || len(batch) == batchSize {
			flush()
			s = h.Segment(a)
		}
		if o, err := h.ObjectAt(a); err == nil && s != nil { // the census has read it
			batch = append(batch, o)
		}
	}
	flush()
	for _, c := range corrupt {
		into.Corrupt(c)
	}
}
