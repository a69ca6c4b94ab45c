package heap

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A Corruption is a place of the heap where the walk had to skip memory. The walk continues at Next.
type Corruption struct {
	Addr    target.Addr // where an object was expected
	Segment *Segment
	Next    target.Addr // the next known good address, or the segment's end
	Err     error       // target.ErrCorrupt, or target.ErrNotInDump for a hole in the dump
}

func (e *Corruption) Error() string {
	if errors.Is(e.Err, target.ErrNotInDump) {
		return fmt.Sprintf("heap from %#x to %#x is not in the dump", uint64(e.Addr), uint64(e.Next))
	}
	return fmt.Sprintf("heap corruption at %#x (%v), continuing at %#x", uint64(e.Addr), e.Err, uint64(e.Next))
}

func (e *Corruption) Unwrap() error { return e.Err }

const (
	plausibleRun = 4       // consecutive objects that prove a place to continue
	badCacheSize = 1 << 12 // entries
	cancelEvery  = 1 << 20 // bytes that resync examines between checks of the context
)

// resync finds where the walk can continue after a failure at a: after the next allocation context, at the
// first address where a run of objects starts, or at the segment's end. It examines each word once, so its time
// is proportional to the skipped memory.
//
// Dumps without the heap contain single pages of it that other memory refers to. These are not used: they are
// not a sample of the heap.
func (w *walker) resync(s *Segment, a target.Addr, err error) target.Addr {
	end := s.Objects.End
	if s.sparse() && errors.Is(err, target.ErrNotInDump) {
		return end
	}
	limit := end
	if gaps := w.h.gapsFrom(a + 1); len(gaps) > 0 {
		limit = min(end, gaps[0].Start)
	}
	return w.find(min(a+8, limit), limit, end)
}

// unused reports whether the memory from an object's end to next may belong to an allocation context, or to an
// object before one that is being made: the allocator moves the context's pointer first, and then writes the
// MethodTable (jitinterface.cpp, JIT_New). It is in generation 0, zero up to the next object's header, and large
// enough for the smallest object.
func (w *walker) unused(s *Segment, a, next target.Addr) bool {
	const header = 8
	if s.Generation(a) != Generation0 || next-a < minObjectSize {
		return false
	}
	end := next
	if next < s.Objects.End {
		end -= header
	}
	for a < end {
		b, err := w.bytes(a, max(end, a+headSize))
		if err != nil || w.ctx != nil && w.ctx.Err() != nil {
			return false
		}
		b = b[:min(uint64(len(b)), uint64(end-a), cancelEvery)]
		for _, c := range b {
			if c != 0 {
				return false
			}
		}
		a += target.Addr(len(b))
	}
	return true
}

// find returns the first address in [at, limit) where a run of objects starts, or limit. It skips holes.
func (w *walker) find(at, limit, end target.Addr) target.Addr {
	for at < limit {
		b, err := w.bytes(at, end)
		if err != nil {
			next, ok := target.NextStored(w.h.mem, at+1)
			if !ok || next >= limit {
				return limit
			}
			at = (next + 7) &^ 7
			continue
		}
		n := min(uint64(len(b)-headSize)&^7+8, uint64(limit-at), cancelEvery)
		if w.ctx != nil && w.ctx.Err() != nil {
			return limit
		}
		for off := uint64(0); off < n; off += 8 {
			if w.startsRun(at+target.Addr(off), end, b[off:]) {
				return at + target.Addr(off)
			}
		}
		at += target.Addr(n)
	}
	return limit
}

// startsRun reports whether a run of objects starts at a, with b as the memory at a. Their MethodTables must be
// proved, so that pointers in garbage do not pass.
func (w *walker) startsRun(a, end target.Addr, b []byte) bool {
	for range plausibleRun {
		info := w.proven(methodTableOf(b))
		if info == nil {
			return false
		}
		o := info.object(a, b)
		size := (o.Size + 7) &^ 7
		if size > uint64(end-a) {
			return false
		}
		a += target.Addr(size)
		if a == end || w.h.isGap(a) {
			return true
		}
		if size <= uint64(len(b)) && uint64(len(b))-size >= headSize {
			b = b[size:]
		} else if b = w.peek(a); b == nil {
			return false
		}
	}
	return true
}

// peek reads the head of the object at a without moving buf.
func (w *walker) peek(a target.Addr) []byte {
	if b := w.h.mem.Span(a); len(b) >= headSize {
		return b
	}
	if _, err := w.h.mem.ReadMemory(w.head[:], a); err != nil {
		return nil
	}
	return w.head[:]
}

// proven returns the type at a if it is proved. The result must not depend on earlier calls, which differ with
// the number of workers and determine what is cached.
func (w *walker) proven(a target.Addr) *typeInfo {
	if a == 0 {
		return nil
	}
	slot := typeSlot(a)
	if info := &w.cache[slot]; info.addr == a {
		if info.proven && w.h.mayHoldType(a) {
			return info
		}
		return nil
	}
	if w.bad == nil {
		w.bad = make([]target.Addr, badCacheSize)
	}
	if w.bad[slot] == a {
		return nil
	}
	if w.h.mayHoldType(a) {
		if info, err := w.loadType(a); err == nil && info.proven {
			return info
		}
	}
	w.bad[slot] = a
	return nil
}

// mayHoldType reports whether a may hold a type. It is cheap: most words of garbage point to objects or nowhere.
func (h *Heap) mayHoldType(a target.Addr) bool {
	if h.Segment(a) != nil {
		return false
	}
	if _, ok := h.mem.(target.SparseMemory); !ok {
		return true
	}
	next, ok := target.NextStored(h.mem, a)
	return ok && next == a
}

func (h *Heap) isGap(a target.Addr) bool {
	g := h.gapsFrom(a)
	return len(g) > 0 && g[0].Start == a
}
