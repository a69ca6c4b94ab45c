package malloc

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// An Allocator describes glibc's malloc in a process. It is immutable and safe for concurrent use.
type Allocator struct {
	Library string   // path of the C library
	Others  []string // paths of other allocators in the process, which are not read
	Arenas  []Arena  // the main arena first, then threads' arenas by address
	// Mapped holds malloc's own counters of chunks with their own mappings. It is nil if they are
	// not in the dump.
	Mapped *Mapped
	// Missing are the reasons for missing arenas or missing lists of free chunks.
	Missing []error

	t      target.Target
	mem    target.Memory
	l      *layout
	caches caches
}

// Mapped counts chunks with their own mappings.
type Mapped struct {
	Chunks uint64
	Bytes  uint64 // size of their mappings
}

// An Arena is a heap of malloc that threads share.
type Arena struct {
	Addr    target.Addr // of the malloc_state; 0 if it is not in the dump and only the chunks are known
	Main    bool
	Heaps   []Heap // by address
	Threads uint64 // threads that allocate from the arena, if Addr is not 0
	System  uint64 // bytes that the arena got from the operating system, if Addr is not 0

	state stateForm
	top   target.Addr
	flags uint32
}

// A Heap is a contiguous part of an arena.
type Heap struct {
	Range  target.Range
	Space  target.Range // the addresses that the heap may grow into, including Range
	Chunks target.Addr  // the first chunk
	Top    target.Addr  // the unused chunk after all others, or 0
}

// Open finds the arenas of glibc's malloc in a process. mem is its memory. The error is
// target.ErrUnsupported for a process without glibc, and target.ErrNotInDump if the dump holds no
// arena.
func Open(t target.Target, mem target.Memory) (*Allocator, error) {
	if t.Platform().Arch.PointerSize() != word {
		return nil, target.Unsupportedf("malloc of a process of 32 bits")
	}
	a := &Allocator{t: t, mem: mem, l: glibc()}
	library, err := a.findLibrary()
	if err != nil {
		return nil, err
	}
	a.Library = library.Path
	f := finder{Allocator: a, win: target.NewWindow(mem), search: target.Searching(mem), library: library}
	f.readRegions()
	f.find()
	if len(a.Arenas) == 0 {
		return nil, fmt.Errorf("arenas of %s: %w", target.BaseName(a.Library), target.ErrNotInDump)
	}
	return a, nil
}

// findLibrary finds glibc among the modules.
func (a *Allocator) findLibrary() (*target.Module, error) {
	var library *target.Module
	modules := a.t.Modules()
	for i := range modules {
		m := &modules[i]
		name := target.BaseName(m.Path)
		switch {
		case name == "libc.so.6" || strings.HasPrefix(name, "libc-2.") && strings.HasSuffix(name, ".so"):
			if library == nil {
				library = m
			}
		case strings.HasPrefix(name, "ld-musl") || strings.HasPrefix(name, "libc.musl"):
			return nil, target.Unsupportedf("the C library is %s, whose malloc is not read", name)
		case strings.HasPrefix(name, "libjemalloc") || strings.HasPrefix(name, "libtcmalloc") || strings.HasPrefix(name, "libmimalloc"):
			a.Others = append(a.Others, m.Path)
		}
	}
	if library == nil {
		return nil, target.Unsupportedf("no glibc among the modules of the process; other allocators, such as the heaps of Windows, are not read")
	}
	return library, nil
}

// A finder finds arenas.
type finder struct {
	*Allocator
	win     *target.Window
	search  target.Memory // for what may begin anywhere; what is found is read again
	probed  [headerSize]byte
	library *target.Module
	private []target.Range // writable memory without a file, by address, neighbors joined
	data    []target.Range // writable memory of the library
}

func (f *finder) readRegions() {
	for r := range f.t.Regions() {
		of := target.RangeAt(r.Start, r.Size)
		switch {
		case r.Prot&target.ProtWrite == 0 && r.Kind != target.RegionUnknown:
		case r.Path == "" && r.Kind != target.RegionImage && r.Kind != target.RegionFree:
			if n := len(f.private); n > 0 && f.private[n-1].End == of.Start {
				f.private[n-1].End = of.End
			} else {
				f.private = append(f.private, of)
			}
		case r.Path == f.library.Path:
			f.data = append(f.data, of)
		}
	}
}

// region returns the writable private range that contains a, or an empty range.
func (f *finder) region(a target.Addr) target.Range {
	i, found := slices.BinarySearchFunc(f.private, a, func(r target.Range, a target.Addr) int {
		switch {
		case r.End <= a:
			return -1
		case r.Start > a:
			return 1
		}
		return 0
	})
	if !found {
		return target.Range{}
	}
	return f.private[i]
}

func (f *finder) addMissing(format string, args ...any) {
	f.Missing = append(f.Missing, fmt.Errorf(format, args...))
}

// find reads the ring of arenas, starting at the main arena. If that is not in the dump, it
// searches the addresses where threads' heaps may be.
func (f *finder) find() {
	at, form, ok := f.mainArena()
	if !ok {
		f.scanHeaps()
		known := ""
		if f.breakHeap() {
			known = "; the arena is known by its chunks"
		}
		f.addMissing("variables of malloc in %s: %w%s", target.BaseName(f.Library), target.ErrNotInDump, known)
		return
	}
	seen := map[target.Addr]bool{}
	for next := at; ; {
		if seen[next] || len(seen) >= limits.MallocArenas {
			f.addMissing("malloc's list of arenas: %w", target.Corruptf("it does not come back to the main arena"))
			break
		}
		seen[next] = true
		arena, err := f.readArena(next, form, next == at)
		if err != nil {
			f.addMissing("malloc arena %v: %w", next, err)
		} else {
			f.Arenas = append(f.Arenas, *arena)
		}
		if next, err = target.Pointer(f.mem, next+form.Next); err != nil {
			f.addMissing("malloc's list of arenas: %w", err)
			break
		}
		if next == at {
			break
		}
	}
	f.sort()
}

func (f *finder) sort() {
	slices.SortStableFunc(f.Arenas, func(a, b Arena) int {
		switch {
		case a.Main != b.Main && a.Main, a.Main == b.Main && a.Addr < b.Addr:
			return -1
		case a.Main == b.Main && a.Addr == b.Addr:
			return 0
		}
		return 1
	})
}

// mainArena finds the main arena in the library's data. Installed libraries have no symbol for it.
// In several versions the distance from the bins to the link is equal, so bins alone don't prove a
// form: the ring of arenas must be closed.
func (f *finder) mainArena() (at target.Addr, form stateForm, ok bool) {
	best := 0
	for _, r := range f.data {
		for i := range f.l.States {
			s := &f.l.States[i]
			for a := r.Start; a+s.Bytes <= r.End; a += word {
				if !f.isArena(a, s) {
					continue
				}
				if proof := f.followRing(a, s); proof > best {
					at, form, best = a, *s, proof
				}
				if best == ringClosed {
					return at, form, true
				}
			}
		}
	}
	return at, form, best > 0
}

// How much of a ring of arenas is known.
const (
	ringUnread = 1 + iota
	ringBegun  // the next arena has the form, too
	ringClosed // the ring is closed
)

// followRing follows the ring of arenas from the main arena at a.
func (f *finder) followRing(a target.Addr, form *stateForm) int {
	proof := ringUnread
	at := a
	for range limits.MallocArenas {
		next, err := target.Pointer(f.mem, at+form.Next)
		switch {
		case err != nil:
			return proof
		case next == a:
			return ringClosed
		case !f.isArena(next, form):
			return proof
		}
		at, proof = next, ringBegun
	}
	return proof
}

// isArena reports whether the bins of a malloc_state are at a. At least one bin is empty, which
// means that it refers to itself. The first and last chunk of each other bin refer back to it.
func (f *finder) isArena(a target.Addr, form *stateForm) bool {
	empty := 0
	type link struct{ bin, first, last target.Addr }
	var full []link
	for i := range f.l.Bins { // the unsorted bin and its neighbor decide almost always
		links := a + form.Bins + target.Addr(2*word*i)
		b, err := f.win.Bytes(links, 2*word)
		if err != nil {
			return false
		}
		bin := links - headerSize // as if it were a chunk
		first, last := pointer(b), pointer(b[word:])
		switch {
		case first == bin && last == bin:
			empty++
		case first == bin || last == bin || first == 0 || last == 0 || (first|last)%alignment != 0:
			return false
		default:
			full = append(full, link{bin, first, last})
		}
	}
	if empty == 0 {
		return false
	}
	for _, l := range full {
		back, err := target.Pointer(f.mem, l.first+headerSize+word)
		forward, lastErr := target.Pointer(f.mem, l.last+headerSize)
		if err != nil || lastErr != nil || back != l.bin || forward != l.bin {
			return false
		}
	}
	return true
}

func pointer(b []byte) target.Addr { return target.Addr(binary.LittleEndian.Uint64(b)) }

// readArena reads the arena at a, which is in the ring of arenas.
func (f *finder) readArena(a target.Addr, form stateForm, isMain bool) (*Arena, error) {
	if !f.isArena(a, &form) {
		if !target.Available(f.mem, a, int(form.Bytes)) {
			return nil, target.ErrNotInDump
		}
		return nil, target.Corruptf("its bins are not those of an arena")
	}
	b, err := target.Bytes(f.mem, a, int(form.Bytes))
	if err != nil {
		return nil, err
	}
	arena := &Arena{Addr: a, Main: isMain, state: form, top: pointer(b[form.Top:]), flags: binary.LittleEndian.Uint32(b[form.Flags:]),
		Threads: binary.LittleEndian.Uint64(b[form.Threads:]), System: binary.LittleEndian.Uint64(b[form.SystemMemory:])}
	if isMain {
		return arena, f.mainHeaps(arena)
	}
	return arena, f.threadHeaps(arena)
}

// mainHeaps finds the memory of the main arena: from the initial program break to the end of the
// top chunk.
func (f *finder) mainHeaps(a *Arena) error {
	if a.top == a.Addr+a.state.Bins-headerSize {
		return nil // the unsorted bin: nothing was allocated yet
	}
	size, err := target.Uint64(f.mem, a.top+word)
	if err != nil {
		return fmt.Errorf("chunk at the top: %w", err)
	}
	end := a.top + target.Addr(size&^chunkFlags)
	region := f.region(a.top)
	if end <= a.top || end > region.End {
		return target.Corruptf("the chunk at the top has %d bytes at %v", size&^chunkFlags, a.top)
	}
	start, proved := f.parameters(a, end)
	if !proved {
		start = region.Start
	}
	r := target.Range{Start: start, End: end}
	a.Heaps = []Heap{{Range: r, Space: r, Chunks: alignUp(start), Top: a.top}}
	if got := uint64(end - start); got < a.System {
		f.addMissing("malloc's main arena has %d bytes outside of %v-%v: %w", a.System-got, start, end, target.Unsupportedf("its further mappings are not listed"))
	}
	return nil
}

// probe returns the two words at an address until it is called again. It reads no more: a dump that is shrunk keeps what is searched.
func (f *finder) probe(at target.Addr) ([]byte, error) {
	_, err := f.search.ReadMemory(f.probed[:], at)
	return f.probed[:], err
}

// parameters finds malloc's parameters in the library's data, which hold the initial program break.
// They are proved by the size of the main arena: it ends as many bytes after the break as it got
// from the system. This does not hold for an arena that is not contiguous.
func (f *finder) parameters(a *Arena, end target.Addr) (start target.Addr, ok bool) {
	if a.System > uint64(end) || a.flags&stateNotContiguous != 0 {
		return 0, false
	}
	base := end - target.Addr(a.System)
	try := func(at target.Addr, form *parameterForm) bool {
		b, err := f.probe(at + form.BreakBase - word)
		if err != nil || pointer(b[word:]) != base {
			return false
		}
		if b, err = f.win.Bytes(at, int(form.Bytes)); err != nil {
			return false
		}
		n, most := binary.LittleEndian.Uint32(b[form.Mappings:]), binary.LittleEndian.Uint32(b[form.MappingsMax:])
		bytes := binary.LittleEndian.Uint64(b[form.MappedMemory:])
		if n > most || bytes%pageSize != 0 || (n == 0) != (bytes == 0) || uint64(n)*pageSize > bytes {
			return false
		}
		f.Mapped = &Mapped{Chunks: uint64(n), Bytes: bytes}
		return true
	}
	for _, r := range f.data {
		for _, form := range f.l.Parameters {
			for at := r.Start; at+form.Bytes <= r.End; at += word {
				if try(at, &form) {
					return base, true
				}
			}
		}
	}
	return 0, false
}

// threadHeaps reads the heaps of a thread's arena, from the heap with its top back to the heap with
// the arena itself.
func (f *finder) threadHeaps(a *Arena) error {
	align := target.Addr(f.l.HeapAlignment)
	for _, form := range f.l.Heaps {
		first := a.Addr &^ (align - 1)
		if first+form.Bytes != a.Addr {
			continue // heap_info has another size in this version
		}
		for at := a.top &^ (align - 1); ; {
			if len(a.Heaps) >= limits.MallocHeaps {
				return target.Corruptf("list of its heaps has no end")
			}
			b, err := target.Bytes(f.mem, at, int(form.Bytes))
			if err != nil {
				return fmt.Errorf("heap %v: %w", at, err)
			}
			of, previous, size := pointer(b[form.Arena:]), pointer(b[form.Previous:]), binary.LittleEndian.Uint64(b[form.Size:])
			if of != a.Addr || size > f.l.HeapAlignment || size < uint64(form.Bytes) {
				return target.Corruptf("heap %v of arena %v has %d bytes", at, of, size)
			}
			h := Heap{Range: target.RangeAt(at, size), Chunks: alignUp(at + form.Bytes)}
			h.Space = target.RangeAt(at, uint64(align))
			if at == first {
				h.Chunks = alignUp(a.Addr + a.state.Bytes)
			}
			if h.Range.Contains(a.top) {
				h.Top = a.top
			}
			if slices.ContainsFunc(a.Heaps, func(o Heap) bool { return o.Range.Start == at }) {
				return target.Corruptf("list of its heaps leads back to %v", at)
			}
			a.Heaps = append(a.Heaps, h)
			if at == first {
				break
			}
			at = previous
		}
		if a.Heaps[0].Top == 0 {
			return target.Corruptf("the chunk at the top, %v, is in none of its heaps", a.top)
		}
		slices.SortStableFunc(a.Heaps, func(x, y Heap) int {
			if x.Range.Start < y.Range.Start {
				return -1
			}
			return 1
		})
		return nil
	}
	return target.Corruptf("it is not at the start of a heap")
}

// scanHeaps searches for threads' arenas where their first heaps may be.
func (f *finder) scanHeaps() {
	align := target.Addr(f.l.HeapAlignment)
	for _, r := range f.private {
		for at := (r.Start + align - 1) &^ (align - 1); at < r.End && at >= r.Start; at += align {
			if !target.Available(f.mem, at, pageSize) {
				// A file may list more memory than can be searched.
				next, ok := target.NextStored(f.mem, at+align)
				if up := (next + align - 1) &^ (align - 1); ok && up > at {
					at = up - align
					continue
				}
				break
			}
			for _, form := range f.l.Heaps {
				b, err := f.probe(at + form.Arena)
				if err != nil {
					continue
				}
				a := pointer(b)
				if a != at+form.Bytes || len(f.Arenas) >= limits.MallocArenas {
					continue
				}
				for _, state := range f.l.States {
					if arena, err := f.readArena(a, state, false); err == nil {
						f.Arenas = append(f.Arenas, *arena)
						break
					} else if f.isArena(a, &state) {
						f.addMissing("malloc arena %v: %w", a, err)
						break
					}
				}
			}
		}
	}
}

// breakHeap finds the memory of the main arena without its malloc_state. The first chunk is the
// cache of the first thread, and chunks fill exactly one such range. It reports whether it found
// the memory.
func (f *finder) breakHeap() bool {
	var found []Heap
	for _, r := range f.private {
		b, err := f.probe(r.Start)
		if err != nil {
			continue
		}
		size := binary.LittleEndian.Uint64(b[word:])
		if size&chunkFlags != flagPreviousInUse {
			continue
		}
		isCache := slices.ContainsFunc(f.l.Caches, func(c cacheForm) bool { return chunkOf(c.Bytes) == size&^chunkFlags })
		if !isCache {
			continue
		}
		h := Heap{Range: r, Space: r, Chunks: r.Start}
		if top, ok := f.endsExactly(&h); ok {
			h.Top = top
			found = append(found, h)
		}
	}
	if len(found) != 1 {
		return false
	}
	f.Arenas = append(f.Arenas, Arena{Main: true, Heaps: found, top: found[0].Top})
	f.sort()
	return true
}

// endsExactly reports whether the last chunk in a range ends at the end of the range, and returns
// this chunk.
func (f *finder) endsExactly(h *Heap) (last target.Addr, ok bool) {
	for at := h.Chunks; at < h.Range.End; {
		b, err := f.win.Bytes(at, headerSize)
		if err != nil {
			return 0, false
		}
		size := binary.LittleEndian.Uint64(b[word:])
		if size&(flagMapped|flagThreadArena) != 0 || size&^chunkFlags < alignment || size%alignment&^chunkFlags != 0 || size&^chunkFlags > uint64(h.Range.End-at) {
			return 0, false
		}
		last, at = at, at+target.Addr(size&^chunkFlags)
	}
	return last, last != h.Chunks
}
