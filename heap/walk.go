package heap

import (
	"context"
	"encoding/binary"
	"iter"
	"sort"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// An Object is an object of the heap as a walk sees it. It is a plain value.
type Object struct {
	Addr   target.Addr
	Type   *dac.MethodTable
	Size   uint64 // bytes, as SOS counts them: not rounded up
	Length uint32 // components of a string or an array
	typeID uint32
	Free   bool // a free block instead of an object
}

// Next returns the address after o, where the next object is unless an allocation context begins there.
func (o *Object) Next() target.Addr { return o.Addr + target.Addr((o.Size+7)&^7) }

// Objects iterates over all objects in address order, including free blocks. A *Corruption is an item of the
// iteration and does not end it. Unread's error is an item too.
func (h *Heap) Objects() iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if err := h.Unread(); err != nil {
			yield(Object{}, err)
			return
		}
		w := newWalker(h)
		for i := range h.segments {
			s := &h.segments[i]
			if _, ok := w.walk(s, s.Objects.Start, s.Objects.End, yielder{s.Objects.Start, yield}); !ok {
				return
			}
		}
	}
}

// Walk iterates over the objects that f selects, in address order; a nil f selects all. Unlike Objects it
// observes ctx, also while it searches a damaged heap for a place to continue; ctx's error is then the last
// item. If all selected objects are unreadable, an error is the only item, as with Scan.
func (h *Heap) Walk(ctx context.Context, f *Filter) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		spans := h.Spans(f)
		if err := h.unreadOf(f, spans); err != nil {
			yield(Object{}, err)
			return
		}
		w := newWalker(h)
		w.ctx = ctx
		out := walkSink{ctx: ctx, sieve: NewSieve(f), yield: yield}
		for _, sp := range spans {
			out.from = sp.Range.Start
			w.walk(sp.Segment, sp.Segment.Objects.Start, min(sp.Segment.Objects.End, sp.Range.End), &out)
			if out.stopped {
				return
			}
			if err := ctx.Err(); err != nil {
				yield(Object{}, err)
				return
			}
		}
	}
}

// A walkSink is the sink of Walk.
type walkSink struct {
	ctx     context.Context
	sieve   *Sieve
	from    target.Addr // earlier objects are skipped
	yield   func(Object, error) bool
	stopped bool // the caller stopped
}

func (y *walkSink) objects(_ *Segment, batch []Object) bool {
	for i := range batch {
		if y.ctx.Err() != nil {
			return false
		}
		if batch[i].Addr >= y.from && y.sieve.Pass(&batch[i]) && !y.yield(batch[i], nil) {
			y.stopped = true
			return false
		}
	}
	return true
}

func (y *walkSink) corrupt(c *Corruption) bool {
	if y.ctx.Err() != nil {
		return false // resync gave up
	}
	y.stopped = c.Next > y.from && !y.yield(Object{}, c)
	return !y.stopped
}

// ObjectsIn iterates over the objects of a segment that start inside r, in address order. It walks
// from the segment's start, because each object determines where the next one begins.
func (h *Heap) ObjectsIn(s *Segment, r target.Range) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		newWalker(h).walk(s, s.Objects.Start, min(s.Objects.End, r.End), yielder{r.Start, yield})
	}
}

// ObjectAt reads the object at a. It checks the type but does not walk: a must look like an object in a segment.
func (h *Heap) ObjectAt(a target.Addr) (Object, error) {
	b, err := target.Bytes(h.mem, a, headSize)
	if err != nil {
		return Object{}, target.InHeap(err)
	}
	info, err := h.types.lookup(methodTableOf(b))
	if err != nil {
		return Object{}, err
	}
	o := info.object(a, b)
	if s := h.Segment(a); s != nil && o.Size > uint64(s.Objects.End-a) {
		return Object{}, behindSegment(o.Size)
	}
	return o, nil
}

// A yielder is the sink of an iterator.
type yielder struct {
	from  target.Addr // earlier objects are skipped
	yield func(Object, error) bool
}

func (y yielder) objects(_ *Segment, batch []Object) bool {
	for i := range batch {
		if batch[i].Addr >= y.from && !y.yield(batch[i], nil) {
			return false
		}
	}
	return true
}

func (y yielder) corrupt(c *Corruption) bool {
	return c.Next <= y.from || y.yield(Object{}, c)
}

// A sink receives the results of a walk in address order. Its methods return false to stop.
type sink interface {
	objects(s *Segment, batch []Object) bool // batch is valid during the call
	corrupt(c *Corruption) bool
}

const (
	headSize      = 16      // bytes of an object that determine its size: MethodTable and length
	batchSize     = 256     // objects per call of a sink, few enough for the first-level cache
	typeCacheSize = 1 << 12 // entries
	chunkSize     = 64 << 10
)

// A walker walks segments for one goroutine.
type walker struct {
	h     *Heap
	ctx   context.Context // checked by resync, which may take long; may be nil
	cache []typeInfo      // direct-mapped; a collision costs a lookup in the shared table
	batch []Object
	buf   []byte // memory that the target does not lend

	bad  []target.Addr // direct-mapped: addresses that resync rejected as MethodTables
	head [headSize]byte
}

func newWalker(h *Heap) *walker {
	return &walker{h: h, cache: make([]typeInfo, typeCacheSize), batch: make([]Object, batchSize)}
}

// typeSlot spreads MethodTables, which are 8-byte aligned and close together, over a cache of typeCacheSize entries.
func typeSlot(a target.Addr) uint64 { return uint64(a>>3) * 0x9e3779b97f4a7c15 >> (64 - 12) }

// loadType loads the type at a into its cache slot.
func (w *walker) loadType(a target.Addr) (*typeInfo, error) {
	info, err := w.h.types.lookup(a)
	if err != nil {
		return nil, err
	}
	e := &w.cache[typeSlot(a)]
	*e = *info
	return e, nil
}

// walk passes the objects of s from a, where one starts, up to the first that starts at or after limit. It
// returns the address of that object, and false if the sink did.
func (w *walker) walk(s *Segment, a, limit target.Addr, out sink) (target.Addr, bool) {
	gaps := w.h.gapsFrom(a)
	for a < limit {
		stop := limit
		if len(gaps) > 0 {
			// The unused memory of an allocation context is followed by room for the smallest object.
			if a >= gaps[0].Start {
				if a == gaps[0].Start {
					a = gaps[0].End
				}
				gaps = gaps[1:]
				continue
			}
			stop = min(stop, gaps[0].Start)
		}
		next, n, err := w.fill(s, a, stop)
		if n > 0 && !out.objects(s, w.batch[:n]) {
			return a, false
		}
		a = next
		if err == nil {
			continue
		}
		c := &Corruption{Addr: a, Segment: s, Err: target.InHeap(err), Next: w.resync(s, a, err)}
		if (w.h.contextUnknown || w.h.isGap(c.Next)) && w.unused(s, a, c.Next) {
			a = c.Next
			continue
		}
		if !w.h.inGC && w.h.newest(s, a) && w.h.running() > 0 {
			return s.Objects.End, true // a thread is in the allocator
		}
		if !out.corrupt(c) {
			return a, false
		}
		a = c.Next
	}
	return a, true
}

// fill reads the objects from a into the batch, up to the first that starts at or after stop. It returns the
// address after the last one and their number. An error concerns the object at that address.
func (w *walker) fill(s *Segment, a, stop target.Addr) (next target.Addr, n int, err error) {
	b, err := w.bytes(a, s.Objects.End)
	if err != nil {
		return a, 0, err
	}
	cache, batch := w.cache[:typeCacheSize], w.batch[:batchSize]
	end := s.Objects.End
	for n < batchSize && a < stop && len(b) >= headSize {
		mt := methodTableOf(b)
		info := &cache[typeSlot(mt)]
		if info.addr != mt || mt == 0 {
			if info, err = w.loadType(mt); err != nil {
				return a, n, err
			}
		}
		head := (*[headSize]byte)(b)
		length, size := info.extent(head)
		room := (size + 7) &^ 7
		if room > uint64(end-a) {
			return a, n, behindSegment(size)
		}
		// Written in place: copying a struct built elsewhere waits for its stores, which takes half of the
		// walk's time.
		o := &batch[n]
		o.Addr, o.Type, o.Size, o.Length, o.typeID, o.Free = a, info.mt, size, length, info.id, info.free
		n++
		a += target.Addr(room)
		if room > uint64(len(b)) {
			break
		}
		b = b[room:]
	}
	return a, n, nil
}

func behindSegment(size uint64) error {
	return target.CorruptHeapf("an object of %#x bytes ends behind the segment", size)
}

// methodTableOf returns the first word of an object without the GC's mark bits.
func methodTableOf(head []byte) target.Addr {
	return target.Addr(binary.LittleEndian.Uint64(head)) &^ 7
}

// object returns the object at a, given its first bytes.
func (t *typeInfo) object(a target.Addr, head []byte) Object {
	length, size := t.extent((*[headSize]byte)(head))
	return Object{Addr: a, Type: t.mt, Size: size, Length: length, typeID: t.id, Free: t.free}
}

// extent returns the number of components and the size in bytes of the object that begins with head.
func (t *typeInfo) extent(head *[headSize]byte) (length uint32, size uint64) {
	size = uint64(t.base)
	if t.comp != 0 {
		length = binary.LittleEndian.Uint32(head[8:])
		size += uint64(t.comp) * uint64(length)
	}
	return length, max(size, minObjectSize)
}

// bytes lends the heap's bytes from a on, at least headSize of them.
func (w *walker) bytes(a, end target.Addr) ([]byte, error) {
	if end-a < headSize {
		return nil, target.CorruptHeapf("%d bytes are no object", uint64(end-a))
	}
	if b := w.h.mem.Span(a); len(b) >= headSize {
		return b, nil
	}
	if w.buf == nil {
		w.buf = make([]byte, chunkSize)
	}
	n, err := w.h.mem.ReadMemory(w.buf[:min(chunkSize, uint64(end-a))], a)
	if n < headSize {
		return nil, err
	}
	return w.buf[:n], nil
}

// gapsFrom returns the gaps of allocation contexts that start at or after a.
func (h *Heap) gapsFrom(a target.Addr) []target.Range {
	i := sort.Search(len(h.gaps), func(i int) bool { return h.gaps[i].Start >= a })
	return h.gaps[i:]
}

// gapAround returns the gap that contains a, or an empty range.
func (h *Heap) gapAround(a target.Addr) target.Range {
	i := sort.Search(len(h.gaps), func(i int) bool { return h.gaps[i].End > a })
	if i < len(h.gaps) && h.gaps[i].Contains(a) {
		return h.gaps[i]
	}
	return target.Range{}
}
