package minidump

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/sosgo/sosgo/internal/base/memmap"
)

// Sizes of MINIDUMP_MEMORY_DESCRIPTOR and MINIDUMP_MEMORY_DESCRIPTOR64.
const (
	memoryDescriptorSize   = 16
	memoryDescriptor64Size = 16
)

// loadRanges reads the memory lists in the dump's order. It ignores the stacks in the thread list:
// the memory lists contain them, and createdump sets their offsets to zero.
func (f *File) loadRanges(n *notes) []memmap.Range {
	var ranges []memmap.Range
	var done32, done64 bool
	for _, s := range f.streams {
		switch {
		case s.Type == MemoryListStream && !done32:
			ranges, done32 = f.memoryList(ranges, n), true
		case s.Type == Memory64ListStream && !done64:
			ranges, done64 = f.memory64List(ranges, n), true
		}
	}
	return f.dropImpossible(ranges, n)
}

// memoryList reads MINIDUMP_MEMORY_LIST.
func (f *File) memoryList(ranges []memmap.Range, n *notes) []memmap.Range {
	s, ok := f.section(MemoryListStream, n)
	if !ok {
		return ranges
	}
	t := s.list(memoryDescriptorSize, f.mostRanges(), n)
	ranges = slices.Grow(ranges, t.len())
	for i := range t.len() {
		d := t.at(i)
		at := locationAt(d[8:])
		ranges = append(ranges, memmap.Range{Addr: f.addr(le.Uint64(d)), Size: uint64(at.size), Offset: int64(at.rva)})
	}
	return ranges
}

// memory64List reads MINIDUMP_MEMORY64_LIST. Its ranges are consecutive in the file from a 64-bit
// offset on.
func (f *File) memory64List(ranges []memmap.Range, n *notes) []memmap.Range {
	s, ok := f.section(Memory64ListStream, n)
	if !ok {
		return ranges
	}
	c := s.cursor()
	count, offset := c.Uint64(), c.Uint64()
	if c.Err() != nil {
		n.add(s.errorf(0, c.Err(), "no list header"))
		return ranges
	}
	t := s.table(c.Offset(), count, memoryDescriptor64Size, f.mostRanges(), n)
	ranges = slices.Grow(ranges, t.len())
	for i := range t.len() {
		d := t.at(i)
		size := le.Uint64(d[8:])
		if offset > math.MaxInt64 || size > math.MaxInt64-offset {
			n.add(s.errorf(16+i*memoryDescriptor64Size, io.ErrUnexpectedEOF,
				"range %d has %#x bytes at file offset %#x: it and the ranges behind it are left out", i, size, offset))
			break
		}
		ranges = append(ranges, memmap.Range{Addr: f.addr(le.Uint64(d)), Size: size, Offset: int64(offset)})
		offset += size
	}
	return ranges
}

// dropImpossible removes ranges that overlap the header of the dump, and ranges that reach the end
// of the address space, where no process has memory.
func (f *File) dropImpossible(ranges []memmap.Range, n *notes) []memmap.Range {
	kept := ranges[:0]
	for _, r := range ranges {
		if r.Size > 0 && (r.Offset < headerSize || r.Size > math.MaxUint64-uint64(r.Addr)) {
			n.add(&FormatError{Stream: "memory list", Off: r.Offset,
				Msg: fmt.Sprintf("impossible range of %#x bytes at address %#x left out", r.Size, uint64(r.Addr))})
			continue
		}
		kept = append(kept, r)
	}
	return kept
}
