// Package memmap is the address space of a dump: a sorted table from target
// addresses to bytes of the dump's file. Both container formats use it.
package memmap

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/sosgo/sosgo/target"
)

// A Source is the file behind the map.
type Source interface {
	io.ReaderAt
	// Bytes lends n bytes at off, or nil when the source is not in memory.
	// The range always lies inside the source.
	Bytes(off int64, n int) []byte
	Size() int64
}

// A Range says that Size bytes at Addr are stored at Offset of the source.
type Range struct {
	Addr   target.Addr
	Size   uint64
	Offset int64
}

func (r *Range) end() target.Addr { return r.Addr + target.Addr(r.Size) }

// A Map is an immutable address space. It is safe for concurrent use.
type Map struct {
	src    Source
	ranges []Range // sorted, disjoint, merged where neighbours in file and address
	starts []target.Addr
}

var _ target.Memory = (*Map)(nil)

// New builds the address space of ranges. The rules for ranges that disagree:
//
//   - a range, or its tail, that lies past the end of the source, or wraps
//     around the address space, is left out;
//   - where two ranges cover an address, the one that comes first in the dump
//     keeps it (createdump writes the stacks and the runtime's structures
//     before the module pages), and the other keeps only the rest.
//
// Each is told in a warning. New takes ownership of ranges.
func New(src Source, ranges []Range) (*Map, []error) {
	var warnings []error
	size := src.Size()
	kept := ranges[:0]
	cut := 0
	for _, r := range ranges {
		if r.Size == 0 {
			continue
		}
		if r.Offset < 0 || r.Offset >= size || r.Addr+target.Addr(r.Size-1) < r.Addr {
			cut++
			continue
		}
		if r.Size > uint64(size-r.Offset) {
			r.Size = uint64(size - r.Offset)
			cut++
		}
		kept = append(kept, r)
	}
	if cut > 0 {
		warnings = append(warnings, target.Corruptf("%d memory ranges lie past the end of the file (%d bytes): the dump is truncated", cut, size))
	}

	// A stable sort keeps the dump's order among equal addresses.
	order := make([]int, len(kept))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return kept[order[i]].Addr < kept[order[j]].Addr })
	sorted := make([]Range, 0, len(kept))
	overlaps := 0
	prevIdx := -1
	for _, k := range order {
		r := kept[k]
		for {
			if len(sorted) == 0 || r.Addr >= sorted[len(sorted)-1].end() {
				sorted = append(sorted, r)
				prevIdx = k
				break
			}
			overlaps++
			last := &sorted[len(sorted)-1]
			if prevIdx < k || r.Addr == last.Addr && prevIdx < k {
				// The earlier range of the dump keeps its bytes.
				if r.end() <= last.end() {
					break
				}
				d := uint64(last.end() - r.Addr)
				r.Addr, r.Offset, r.Size = last.end(), r.Offset+int64(d), r.Size-d
				continue
			}
			// r comes first in the dump: last keeps what lies before and after it.
			tail := Range{}
			if last.end() > r.end() {
				d := uint64(r.end() - last.Addr)
				tail = Range{Addr: r.end(), Offset: last.Offset + int64(d), Size: last.Size - d}
			}
			tailIdx := prevIdx
			last.Size = uint64(r.Addr - last.Addr)
			if last.Size == 0 {
				sorted = sorted[:len(sorted)-1]
			}
			sorted = append(sorted, r)
			prevIdx = k
			if tail.Size > 0 {
				sorted = append(sorted, tail)
				prevIdx = tailIdx
			}
			break
		}
	}
	if overlaps > 0 {
		warnings = append(warnings, target.Corruptf("%d memory ranges overlap: the first in the dump counts", overlaps))
	}

	// Neighbours in both spaces become one range, so that views can cross them.
	merged := sorted[:0]
	for _, r := range sorted {
		if n := len(merged); n > 0 {
			p := &merged[n-1]
			if p.end() == r.Addr && p.Offset+int64(p.Size) == r.Offset {
				p.Size += r.Size
				continue
			}
		}
		merged = append(merged, r)
	}
	m := &Map{src: src, ranges: merged, starts: make([]target.Addr, len(merged))}
	for i, r := range merged {
		m.starts[i] = r.Addr
	}
	return m, warnings
}

// Ranges returns the map's ranges, sorted and disjoint. Don't change them.
func (m *Map) Ranges() []Range { return m.ranges }

// find returns the index of the range that holds a, or -1.
func (m *Map) find(a target.Addr) int {
	// Hand-written: sort.Search's closure costs a third of a lookup.
	lo, hi := 0, len(m.starts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.starts[mid] <= a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || uint64(a-m.starts[lo-1]) >= m.ranges[lo-1].Size {
		return -1
	}
	return lo - 1
}

// Stored is the number of bytes from a on that the dump holds without a gap.
func (m *Map) Stored(a target.Addr) uint64 {
	var n uint64
	for i := m.find(a); i >= 0 && i < len(m.ranges) && m.ranges[i].Addr <= a && a < m.ranges[i].end(); i++ {
		d := uint64(m.ranges[i].end() - a)
		n, a = n+d, a+target.Addr(d)
	}
	return n
}

// ReadMemory implements target.Memory.
func (m *Map) ReadMemory(p []byte, a target.Addr) (int, error) {
	done := 0
	for i := m.find(a); done < len(p); i++ {
		at := a + target.Addr(done)
		if i < 0 || i >= len(m.ranges) || at < m.ranges[i].Addr || at >= m.ranges[i].end() {
			return done, &target.MemoryError{Addr: at, Size: len(p) - done, Err: target.ErrNotInDump}
		}
		r := &m.ranges[i]
		off := r.Offset + int64(at-r.Addr)
		n := int(min(uint64(len(p)-done), uint64(r.end()-at)))
		if b := m.src.Bytes(off, n); b != nil {
			copy(p[done:], b)
		} else if got, err := m.src.ReadAt(p[done:done+n], off); got < n {
			if err == nil || errors.Is(err, io.EOF) {
				err = fmt.Errorf("dump file ends at offset %#x: %w", off+int64(got), io.ErrUnexpectedEOF)
			}
			return done + got, &target.MemoryError{Addr: at + target.Addr(got), Size: len(p) - done - got, Err: err}
		}
		done += n
	}
	return done, nil
}

// View implements target.Memory.
func (m *Map) View(a target.Addr, n int) ([]byte, bool) {
	i := m.find(a)
	if i < 0 || n < 0 {
		return nil, false
	}
	r := &m.ranges[i]
	d := uint64(a - r.Addr)
	if uint64(n) > r.Size-d {
		return nil, false
	}
	b := m.src.Bytes(r.Offset+int64(d), n)
	return b, b != nil
}

// Span implements target.Memory.
func (m *Map) Span(a target.Addr) []byte {
	i := m.find(a)
	if i < 0 {
		return nil
	}
	r := &m.ranges[i]
	d := uint64(a - r.Addr)
	return m.src.Bytes(r.Offset+int64(d), int(r.Size-d))
}
