package image

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// errNoFileBytes reports an RVA without bytes in the file: memory there starts as zeros, so only a
// dump holds its content.
var errNoFileBytes = fmt.Errorf("the file has no bytes there: %w", target.ErrNotInDump)

// pageSize is the size of a page in dumps and of loaders' mappings, on the architectures that are
// interpreted completely.
const pageSize = 4096

// readChunk limits what readBytes allocates for a wrong size beyond the bytes that exist.
const readChunk = 1 << 20

// readBytes is target.Bytes for a size from the image itself: it allocates at most one chunk more
// than the bytes that can be read.
func readBytes(mem target.Memory, a target.Addr, n int) ([]byte, error) {
	if n < 0 {
		return nil, target.Corruptf("%d bytes at %#x", n, uint64(a))
	}
	if b, ok := mem.View(a, n); ok {
		return b, nil
	}
	var out []byte
	for len(out) < n {
		k := min(n-len(out), readChunk)
		out = slices.Grow(out, k)
		got, err := mem.ReadMemory(out[len(out):len(out)+k], a+target.Addr(len(out)))
		if got < k {
			return nil, err
		}
		out = out[:len(out)+k]
	}
	return out, nil
}

// An area is a window of a Memory, with addresses from 0.
type area struct {
	mem  target.Memory
	base target.Addr
	size uint64
}

func (s area) ReadMemory(p []byte, a target.Addr) (int, error) {
	if s.mem == nil && len(p) > 0 {
		return 0, s.outside(a, len(p))
	}
	if uint64(a) >= s.size && len(p) > 0 {
		return 0, s.outside(a, len(p))
	}
	n := int(min(uint64(len(p)), s.size-uint64(a)))
	got, err := s.mem.ReadMemory(p[:n], s.base+a)
	if got == n && n < len(p) {
		err = s.outside(a+target.Addr(n), len(p)-n)
	}
	return got, err
}

// Search reads memory that is only searched; see target.Searching.
func (s area) Search(p []byte, a target.Addr) (int, error) {
	s.mem = target.Searching(s.mem)
	return s.ReadMemory(p, a)
}

func (s area) outside(a target.Addr, n int) error {
	return &target.MemoryError{Addr: s.base + a, Size: n, Err: target.Corruptf("outside the image of %d bytes", s.size)}
}

func (s area) View(a target.Addr, n int) ([]byte, bool) {
	if s.mem == nil || n < 0 || uint64(a) > s.size || uint64(n) > s.size-uint64(a) {
		return nil, false
	}
	return s.mem.View(s.base+a, n)
}

func (s area) Span(a target.Addr) []byte {
	if uint64(a) >= s.size {
		return nil
	}
	b := s.mem.Span(s.base + a)
	return b[:min(uint64(len(b)), s.size-uint64(a))]
}

// NextStored implements target.SparseMemory.
func (s area) NextStored(a target.Addr) (target.Addr, bool) {
	if uint64(a) >= s.size {
		return 0, false
	}
	next, ok := target.NextStored(s.mem, s.base+a)
	return next - s.base, ok && next >= s.base && uint64(next-s.base) < s.size
}

func (s area) bytes(off uint64, n int) ([]byte, error) { return readBytes(s, target.Addr(off), n) }

func fileArea(src target.Source) area { return area{fileMemory{src}, 0, uint64(src.Size())} }

// fileMemory is a Memory with file offsets as addresses. Its area keeps offsets inside the file.
type fileMemory struct{ src target.Source }

func (f fileMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := f.src.ReadAt(p, int64(a))
	if n == len(p) {
		return n, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = target.Corruptf("the file ends there")
	}
	return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: err}
}

func (f fileMemory) View(a target.Addr, n int) ([]byte, bool) {
	b := f.src.Bytes(int64(a), n)
	return b, b != nil
}

// NextStored implements target.SparseMemory. A file has no holes.
func (f fileMemory) NextStored(a target.Addr) (target.Addr, bool) {
	return a, uint64(a) < uint64(f.src.Size())
}

func (f fileMemory) Span(a target.Addr) []byte {
	n := f.src.Size() - int64(a)
	return f.src.Bytes(int64(a), int(min(n, 1<<30)))
}

// An extent maps n bytes at an RVA to an offset in the file.
type extent struct {
	rva, off, n uint64
	writable    bool
}

// sortExtents sorts extents by RVA and cuts an extent that overlaps an earlier one; extents of
// valid images don't overlap.
func sortExtents(list []extent) []extent {
	slices.SortStableFunc(list, func(a, b extent) int { return cmp.Compare(a.rva, b.rva) })
	out := list[:0]
	var end uint64
	for _, e := range list {
		if e.rva < end {
			d := min(end-e.rva, e.n)
			e.rva, e.off, e.n = e.rva+d, e.off+d, e.n-d
		}
		if e.n == 0 || e.rva+e.n < e.rva || e.off+e.n < e.off {
			continue
		}
		out, end = append(out, e), e.rva+e.n
	}
	return out
}

func findExtent(list []extent, rva uint64) (int, bool) {
	i, ok := slices.BinarySearchFunc(list, rva, func(e extent, v uint64) int {
		switch {
		case v < e.rva:
			return 1
		case v-e.rva >= e.n:
			return -1
		}
		return 0
	})
	return i, ok
}

// flatArea is a Memory of a flat image with RVAs as addresses.
type flatArea struct {
	raw     area
	extents []extent
}

func (f flatArea) ReadMemory(p []byte, a target.Addr) (int, error) {
	done := 0
	for done < len(p) {
		rva := uint64(a) + uint64(done)
		i, ok := findExtent(f.extents, rva)
		if !ok {
			return done, &target.MemoryError{Addr: target.Addr(rva), Size: len(p) - done, Err: errNoFileBytes}
		}
		e := &f.extents[i]
		n := int(min(uint64(len(p)-done), e.n-(rva-e.rva)))
		got, err := f.raw.ReadMemory(p[done:done+n], target.Addr(e.off+rva-e.rva))
		if done += got; got < n {
			return done, err
		}
	}
	return done, nil
}

// NextStored implements target.SparseMemory. The parts of extents inside the file are stored.
func (f flatArea) NextStored(a target.Addr) (target.Addr, bool) {
	for _, e := range f.extents {
		at := max(uint64(a), e.rva)
		if at-e.rva < e.n && e.off < f.raw.size && at-e.rva < f.raw.size-e.off {
			return target.Addr(at), true
		}
	}
	return 0, false
}

func (f flatArea) View(a target.Addr, n int) ([]byte, bool) {
	i, ok := findExtent(f.extents, uint64(a))
	if !ok || n < 0 {
		return nil, false
	}
	e := &f.extents[i]
	d := uint64(a) - e.rva
	if uint64(n) > e.n-d {
		return nil, false
	}
	return f.raw.View(target.Addr(e.off+d), n)
}

func (f flatArea) Span(a target.Addr) []byte {
	i, ok := findExtent(f.extents, uint64(a))
	if !ok {
		return nil
	}
	e := &f.extents[i]
	d := uint64(a) - e.rva
	b := f.raw.Span(target.Addr(e.off + d))
	return b[:min(uint64(len(b)), e.n-d)]
}
