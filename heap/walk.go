package heap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// An Object is an object of the heap as the walk sees it. It costs no
// allocation.
type Object struct {
	Addr   target.Addr
	Type   *dac.MethodTable
	Size   uint64 // bytes, as SOS counts them: not rounded up
	Length uint32 // components of a string or array
	Free   bool   // no object but a free block
}

// A Corruption is a place of the heap where the walk could not go on. The walk
// continues at Next.
type Corruption struct {
	Addr    target.Addr // where an object should be
	Segment *Segment
	Next    target.Addr // the next known good address, the segment's end if there is none
	Err     error       // ErrCorrupt, or ErrNotInDump for a hole in the dump
}

func (e *Corruption) Error() string {
	if errors.Is(e.Err, target.ErrNotInDump) {
		return fmt.Sprintf("heap from %#x to %#x is not in the dump", uint64(e.Addr), uint64(e.Next))
	}
	return fmt.Sprintf("heap corruption at %#x (%v), going on at %#x", uint64(e.Addr), e.Err, uint64(e.Next))
}

func (e *Corruption) Unwrap() error { return e.Err }

// Objects iterates over all objects in address order, free blocks included. A
// *Corruption is an item of the walk and not its end.
func (h *Heap) Objects() iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		w := newWalker(h)
		for i := range h.segments {
			if !w.walk(&h.segments[i], h.segments[i].Objects, yield) {
				return
			}
		}
	}
}

// ObjectsIn iterates over the objects of a segment that start inside r, in
// address order.
func (h *Heap) ObjectsIn(s *Segment, r target.Range) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		newWalker(h).walk(s, r, yield)
	}
}

// A Visitor is one worker's part of a parallel walk. Its methods are called by
// one goroutine at a time.
type Visitor interface {
	// Object is called for each object of a segment, in address order.
	Object(s *Segment, o Object)
	// Corrupt is called where the walk could not go on.
	Corrupt(c *Corruption)
}

// Parallel walks the segments with several workers; each visits the objects of
// whole segments with its own Visitor. Which worker gets which segment is not
// fixed: results must not depend on it. done, if not nil, is told the bytes
// walked so far. Parallel returns the context's error if it was cancelled.
func (h *Heap) Parallel(ctx context.Context, segments []*Segment, jobs int, visitor func(worker int) Visitor, done func(bytes uint64)) error {
	// Big segments first, so that the last worker does not start one late.
	order := append([]*Segment(nil), segments...)
	sort.SliceStable(order, func(i, j int) bool { return order[i].Objects.Size() > order[j].Objects.Size() })
	jobs = max(1, min(jobs, len(order)))
	var next, bytes atomic.Int64
	var wg sync.WaitGroup
	for n := range jobs {
		v := visitor(n)
		wg.Go(func() {
			w := newWalker(h)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(order) {
					return
				}
				w.visit(ctx, order[i], v)
				if total := bytes.Add(int64(order[i].Objects.Size())); done != nil {
					done(uint64(total))
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// typeInfo is what the walk needs of a MethodTable, kept small and close: a
// heap has few types and many objects.
type typeInfo struct {
	addr target.Addr
	mt   *dac.MethodTable
	base uint64
	comp uint64
	free bool
}

const typeCacheSize = 1 << 12

// A walker walks segments for one goroutine.
type walker struct {
	h     *Heap
	win   *target.Window
	cache [typeCacheSize]typeInfo // direct-mapped; a collision costs a lookup
}

func newWalker(h *Heap) *walker { return &walker{h: h, win: target.NewWindow(h.mem)} }

// lookup returns the type at a.
func (w *walker) lookup(a target.Addr) (*typeInfo, error) {
	e := &w.cache[uint64(a>>3)*0x9e3779b97f4a7c15>>(64-12)]
	if e.addr == a && a != 0 {
		return e, nil
	}
	// The heap's own types: where a heap is in the dump so are their classes,
	// but a hole in them does not make the object corrupt.
	mt, err := w.h.rt.TrustedMethodTable(a)
	if err != nil {
		return nil, err
	}
	if mt.BaseSize < minBaseSize || mt.BaseSize > maxBaseSize {
		return nil, target.Corruptf("type %016x has a base size of %#x", uint64(a), mt.BaseSize)
	}
	*e = typeInfo{addr: a, mt: mt, base: uint64(mt.BaseSize), comp: uint64(mt.ComponentSize), free: a == w.h.free}
	return e, nil
}

// What the size of a type can be: at least header and MethodTable (a string
// has 22), and less than what the runtime's loader allows for fields.
const (
	minBaseSize   = 16
	maxBaseSize   = 1 << 27
	minObjectSize = 24
)

const cancelEvery = 1 << 16 // objects between two looks at the context

func (w *walker) visit(ctx context.Context, s *Segment, v Visitor) {
	n := 0
	w.walk(s, s.Objects, func(o Object, err error) bool {
		if n++; n%cancelEvery == 0 && ctx.Err() != nil {
			return false
		}
		if err != nil {
			v.Corrupt(err.(*Corruption))
			return true
		}
		v.Object(s, o)
		return true
	})
}

// walk calls yield for the objects of s that start inside r; it reports false
// when yield did. All objects from the segment's start are passed, because
// only they tell where the next one begins.
func (w *walker) walk(s *Segment, r target.Range, yield func(Object, error) bool) bool {
	h := w.h
	end := s.Objects.End
	ci := sort.Search(len(h.contexts), func(i int) bool { return h.contexts[i].Pointer >= s.Objects.Start })
	nextCtx := ^target.Addr(0)
	if ci < len(h.contexts) {
		nextCtx = h.contexts[ci].Pointer
	}
	for a := s.Objects.Start; a < end && a < r.End; {
		if a >= nextCtx {
			// The bytes between the pointer and the limit of an allocation
			// context hold nothing yet; behind the limit there is room for the
			// smallest object.
			if a == nextCtx {
				a = h.contexts[ci].Limit + minObjectSize
			}
			ci++
			nextCtx = ^target.Addr(0)
			if ci < len(h.contexts) {
				nextCtx = h.contexts[ci].Pointer
			}
			continue
		}
		o, size, err := w.object(a, end)
		if err == nil && size > uint64(end-a) {
			err = target.Corruptf("an object of %#x bytes ends behind the segment", size)
		}
		if err != nil {
			c := &Corruption{Addr: a, Segment: s, Err: err, Next: w.resync(a, end, err)}
			if c.Next > r.Start && !yield(Object{}, c) {
				return false
			}
			a = c.Next
			continue
		}
		if a >= r.Start && !yield(o, nil) {
			return false
		}
		a += target.Addr(size)
	}
	return true
}

// object reads the object at a: what it is, and the bytes to the next one.
func (w *walker) object(a, end target.Addr) (Object, uint64, error) {
	b, err := w.win.Bytes(a, 16)
	if err != nil {
		if end-a >= 16 {
			return Object{}, 0, err
		}
		return Object{}, 0, target.Corruptf("%d bytes are no object", end-a)
	}
	mt := target.Addr(binary.LittleEndian.Uint64(b)) &^ 7 // the GC's mark bits
	length := binary.LittleEndian.Uint32(b[8:])
	t, err := w.lookup(mt)
	if err != nil {
		return Object{}, 0, err
	}
	size := t.base
	if t.comp == 0 {
		length = 0
	} else {
		size += t.comp * uint64(length)
	}
	size = max(size, minObjectSize)
	return Object{Addr: a, Type: t.mt, Size: size, Length: length, Free: t.free}, (size + 7) &^ 7, nil
}

// plausibleRun is how many objects must follow each other for an address to
// count as the start of one.
const plausibleRun = 4

// resync finds where the walk can go on after a failure at a: behind the hole
// in the dump, behind the next allocation context, or at the next address from
// which objects follow each other.
func (w *walker) resync(a, end target.Addr, err error) target.Addr {
	h := w.h
	at := a + 8
	if errors.Is(err, target.ErrNotInDump) {
		var m *target.MemoryError
		if errors.As(err, &m) && m.Addr >= a && m.Addr < a+16 {
			next, ok := h.nextStored(m.Addr + 1)
			if !ok || next >= end {
				return end
			}
			at = max(at, (next+7)&^7)
		}
	}
	limit := end
	if i := sort.Search(len(h.contexts), func(i int) bool { return h.contexts[i].Pointer > a }); i < len(h.contexts) {
		limit = min(end, max(at, h.contexts[i].Pointer))
	}
	for ; at < limit; at += 8 {
		if w.plausible(at, end) {
			return at
		}
		if _, err := w.win.Bytes(at, 8); err != nil {
			next, ok := h.nextStored(at)
			if !ok || next >= limit {
				return limit
			}
			at = max(at, (next+7)&^7-8)
		}
	}
	return limit
}

// plausible reports whether a run of objects starts at a. Zeros never do.
func (w *walker) plausible(a, end target.Addr) bool {
	for n := range plausibleRun {
		if a == end {
			return n > 0
		}
		_, size, err := w.object(a, end)
		if err != nil || size > uint64(end-a) {
			return false
		}
		a += target.Addr(size)
		if w.isContext(a) {
			return true
		}
	}
	return true
}

func (w *walker) isContext(a target.Addr) bool {
	c := w.h.contexts
	i := sort.Search(len(c), func(i int) bool { return c[i].Pointer >= a })
	return i < len(c) && c[i].Pointer == a
}

// ObjectAt reads the object at a, checked by its type but not by a walk: a is
// the start of an object if it looks like one and lies in a segment.
func (h *Heap) ObjectAt(a target.Addr) (Object, error) {
	w := walker{h: h, win: target.NewWindow(h.mem)}
	end := ^target.Addr(0)
	if s := h.Segment(a); s != nil {
		end = s.Objects.End
	}
	o, _, err := w.object(a, end)
	return o, err
}
