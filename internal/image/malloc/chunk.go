package malloc

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A ChunkState is the use of a chunk.
type ChunkState uint8

// The states. A cached chunk is free and reserved for a thread or a size.
const (
	ChunkInUse ChunkState = iota
	ChunkFree
	ChunkCached
	ChunkTop
)

var chunkStates = [...]string{"in use", "free", "cached", "top"}

func (s ChunkState) String() string { return enum.Name(chunkStates[:], s, "ChunkState") }

// A Chunk is a piece of a heap.
type Chunk struct {
	Addr  target.Addr // of the header, which has 16 bytes
	Size  uint64      // bytes, including the header
	State ChunkState
}

// Data returns the address that malloc returned for the chunk.
func (c *Chunk) Data() target.Addr { return c.Addr + headerSize }

// Chunks yields the chunks of an arena by heap and address. An error, target.ErrNotInDump or
// target.ErrCorrupt with the address, ends its heap; the next heap follows. The error of ctx ends
// the sequence.
func (a *Allocator) Chunks(ctx context.Context, arena *Arena) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		cached, err := a.caches.get(ctx, a)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		a.walk(ctx, arena, cached, yield)
	}
}

// ChunkAt returns the chunk that contains an address. It reports false if no readable chunk does.
func (a *Allocator) ChunkAt(ctx context.Context, at target.Addr) (Chunk, bool) {
	for i := range a.Arenas {
		for _, h := range a.Arenas[i].Heaps {
			if !h.Range.Contains(at) {
				continue
			}
			for c, err := range a.Chunks(ctx, &Arena{Heaps: []Heap{h}}) {
				if err == nil && at >= c.Addr && uint64(at-c.Addr) < c.Size {
					return c, true
				}
			}
		}
	}
	return Chunk{}, false
}

// walk yields the chunks of an arena.
func (a *Allocator) walk(ctx context.Context, arena *Arena, cached []target.Addr, yield func(Chunk, error) bool) {
	w := walker{ctx: ctx, cached: cached, win: target.NewWindow(a.mem)}
	for i := range arena.Heaps {
		if !w.heap(&arena.Heaps[i], yield) {
			return
		}
	}
}

// A walker walks the chunks of heaps.
type walker struct {
	ctx    context.Context
	cached []target.Addr // by address
	win    *target.Window
	steps  int
}

// interrupted is the number of chunks between checks of the context.
const interrupted = 4096

// heap yields the chunks of a heap. It reports whether to continue.
func (w *walker) heap(h *Heap, yield func(Chunk, error) bool) bool {
	for at := h.Chunks; at < h.Range.End; {
		if w.steps++; w.steps%interrupted == 0 && w.ctx.Err() != nil {
			yield(Chunk{}, w.ctx.Err())
			return false
		}
		c, end, err := w.chunk(h, at)
		if err != nil {
			return yield(Chunk{}, fmt.Errorf("malloc heap %v: %w", h.Range.Start, err))
		}
		if end {
			return true
		}
		if !yield(c, nil) {
			return false
		}
		at += target.Addr(c.Size)
	}
	return true
}

// chunk reads the chunk at an address. end is set if no chunk follows in the heap.
func (w *walker) chunk(h *Heap, at target.Addr) (c Chunk, end bool, err error) {
	b, err := w.win.Bytes(at, headerSize)
	if err != nil {
		return c, false, err
	}
	header := binary.LittleEndian.Uint64(b[word:])
	size, left := header&^chunkFlags, uint64(h.Range.End-at)
	c = Chunk{Addr: at, Size: size}
	switch {
	case at == h.Top:
		c.State = ChunkTop
		if size != left {
			return c, false, corrupt(at, header, "at the top, %d bytes before the end", left)
		}
		return c, false, nil
	case h.Top == 0 && left <= 2*leastChunk && size <= headerSize:
		return c, true, nil // the fence at the end of a full heap
	case size < leastChunk, size%alignment != 0, header&flagMapped != 0:
		return c, false, corrupt(at, header, "impossible")
	case size > left || size == left && h.Top == 0 || h.Top > at && size > uint64(h.Top-at):
		return c, false, corrupt(at, header, "longer than the %d bytes that are left", left)
	}
	next, err := w.win.Bytes(at+target.Addr(size), headerSize)
	if err != nil {
		return c, false, err
	}
	if binary.LittleEndian.Uint64(next[word:])&flagPreviousInUse != 0 {
		if _, cached := slices.BinarySearch(w.cached, at); cached {
			c.State = ChunkCached
		}
		return c, false, nil
	}
	c.State = ChunkFree
	if before := binary.LittleEndian.Uint64(next); before != size {
		return c, false, corrupt(at, header, "free, and %d bytes by the next chunk", before)
	}
	return c, false, nil
}

func corrupt(at target.Addr, header uint64, format string, args ...any) error {
	return target.Corruptf("chunk %v with the size %#x is %s", at, header, fmt.Sprintf(format, args...))
}

// MappedChunks returns the chunks with their own mappings at the starts of pages in some ranges. It
// recognizes them by their headers: compare the sums with a.Mapped.
func (a *Allocator) MappedChunks(ranges []target.Range) []Chunk {
	var out []Chunk
	search := target.Searching(a.mem)
	for _, r := range ranges {
		for at := (r.Start + pageSize - 1) &^ (pageSize - 1); at < r.End && r.End-at >= pageSize; {
			size := mappedSize(search, at)
			if size == 0 || size > uint64(r.End-at) || len(out) >= limits.MallocMapped {
				next, ok := target.NextStored(a.mem, at+pageSize)
				if !ok {
					break
				}
				at = max(at+pageSize, next&^(pageSize-1))
				continue
			}
			_ = mappedSize(a.mem, at) // not only searched
			out = append(out, Chunk{Addr: at, Size: size, State: ChunkInUse})
			at += target.Addr(size)
		}
	}
	return out
}

// mappedSize returns the size of the mapped chunk at an address, or 0. It is at the start of its
// mapping and fills it.
func mappedSize(mem target.Memory, at target.Addr) uint64 {
	var b [headerSize]byte
	if _, err := mem.ReadMemory(b[:], at); err != nil {
		return 0
	}
	before, header := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[word:])
	if before != 0 || header&chunkFlags != flagMapped || header&^chunkFlags%pageSize != 0 {
		return 0
	}
	return header &^ chunkFlags
}

// caches are free chunks with the header of a chunk in use: in threads' caches and in fast bins.
// They are read on first use.
type caches struct {
	mu   sync.Mutex
	read bool
	list []target.Addr // by address
}

func (c *caches) get(ctx context.Context, a *Allocator) ([]target.Addr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read {
		return c.list, nil
	}
	r := cacheReader{Allocator: a}
	if err := r.find(ctx); err != nil {
		return nil, err
	}
	slices.Sort(r.list)
	c.list, c.read = slices.Compact(r.list), true
	return c.list, nil
}

// A cacheReader collects free chunks with the header of a chunk in use.
type cacheReader struct {
	*Allocator
	list []target.Addr
}

// find examines the chunks with the size of a thread's cache, and the fast bins.
func (f *cacheReader) find(ctx context.Context) (err error) {
	protected := true
	for i := range f.Arenas {
		f.walk(ctx, &f.Arenas[i], nil, func(c Chunk, cerr error) bool {
			if err = ctx.Err(); err != nil {
				return false
			}
			if cerr != nil || c.State != ChunkInUse {
				return true // the caller's own walk reports the error
			}
			for j := range f.l.Caches {
				form := &f.l.Caches[j]
				if c.Size != chunkOf(form.Bytes) {
					continue
				}
				if list, ok := f.cache(c.Data(), form); ok {
					f.add(list)
					protected = form.Protected
					break
				}
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	for i := range f.Arenas {
		f.fastBins(&f.Arenas[i], protected)
	}
	return nil
}

// add adds free chunks up to the limit. Further ones count as in use.
func (f *cacheReader) add(list []target.Addr) {
	f.list = append(f.list, list[:min(len(list), max(0, limits.MallocCached-len(f.list)))]...)
}

// cache returns the chunks in the cache of a thread. It reports false if there is no cache at a:
// each list must have as many chunks as the cache counts, of the size of the list.
func (f *cacheReader) cache(a target.Addr, form *cacheForm) (list []target.Addr, ok bool) {
	b, err := target.Bytes(f.mem, a, int(form.Bytes))
	if err != nil {
		return nil, false
	}
	for i := range form.Bins {
		count := uint64(b[i*form.CountBytes])
		if form.CountBytes == 2 {
			count = uint64(binary.LittleEndian.Uint16(b[2*i:]))
		}
		data := pointer(b[form.Entries+target.Addr(word*i):])
		n := uint64(0)
		for data != 0 {
			size, err := target.Uint64(f.mem, data-word)
			fits := size&^chunkFlags == leastChunk+alignment*uint64(i)
			if i >= form.SmallBins {
				fits = size&^chunkFlags >= leastChunk+alignment*uint64(form.SmallBins)
			}
			if err != nil || data%alignment != 0 || !fits || n >= limits.MallocCacheList || !form.Remaining && n >= count {
				return nil, false
			}
			list, n = append(list, data-headerSize), n+1
			if data, err = f.link(data, form.Protected); err != nil {
				return nil, false
			}
		}
		if !form.Remaining && n != count {
			return nil, false
		}
	}
	return list, true
}

// link reads the link at a.
func (f *cacheReader) link(a target.Addr, protected bool) (target.Addr, error) {
	next, err := target.Pointer(f.mem, a)
	if protected {
		next ^= a >> 12 // PROTECT_PTR, since 2.32
	}
	return next, err
}

// fastBins reads the fast bins of an arena. It ignores a list with anything but chunks of its size;
// these chunks count as in use.
func (f *cacheReader) fastBins(a *Arena, protected bool) {
	if a.Addr == 0 {
		return
	}
	for i := range f.l.FastBins {
		var list []target.Addr
		at, err := target.Pointer(f.mem, a.Addr+a.state.FastBins+target.Addr(word*i))
		for err == nil && at != 0 {
			var size uint64
			size, err = target.Uint64(f.mem, at+word)
			switch {
			case err != nil:
			case at%alignment != 0 || size&^chunkFlags != leastChunk+alignment*uint64(i) || len(list) >= limits.MallocCached:
				err = target.Corruptf("%v is no chunk of it", at)
			default:
				list = append(list, at)
				at, err = f.link(at+headerSize, protected)
			}
		}
		if err == nil {
			f.add(list)
		}
	}
}
