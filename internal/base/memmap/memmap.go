// Package memmap implements the address space of a dump for all container formats: a sorted table
// from target addresses to bytes of the dump's file. Start reading at Map and New.
package memmap

import (
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/target"
)

// A Range records that Size bytes at Addr are stored at Offset of the source.
type Range struct {
	Addr   target.Addr
	Size   uint64
	Offset int64
}

// end returns the address after r. It is zero for a range that ends with the address space: compare
// distances or last.
func (r *Range) end() target.Addr { return r.Addr + target.Addr(r.Size) }

// last returns the address of the last byte of r, which must not be empty.
func (r *Range) last() target.Addr { return r.Addr + target.Addr(r.Size-1) }

func (r *Range) contains(a target.Addr) bool { return uint64(a-r.Addr) < r.Size }

// A Map is an immutable address space. It is safe for concurrent use.
type Map struct {
	src    target.Source
	ranges []Range // sorted, disjoint; neighbors in both file and address space are merged
	starts []target.Addr
	cut    uint64
	mark   []byte        // of words that were left out, or nil
	inFile []leftout.Run // pages that module files have, by address
}

var _ target.Memory = (*Map)(nil)

// New builds the address space of ranges. Ranges that disagree are handled as follows:
//
//   - A range, or its tail, that lies past the end of the source, or wraps around the address
//     space, is dropped.
//   - If two ranges cover an address, the first in the dump wins, and the other keeps only the
//     rest. createdump writes the stacks and the runtime's structures before the module pages.
//
// A warning reports each case. New takes ownership of ranges.
func New(src target.Source, ranges []Range) (*Map, []error) {
	return newMap(src, ranges, nil)
}

// NewShrunk is New for a dump that sosgo shrink wrote. The runs of its note count before ranges.
func NewShrunk(src target.Source, ranges []Range, note *leftout.Note) (*Map, []error) {
	runs := make([]Range, len(note.Runs))
	for i, r := range note.Runs {
		base := int64(marksFrom)
		if r.Kind == leftout.Zeros {
			base = zerosFrom
		}
		runs[i] = Range{Addr: r.Addr, Size: r.Size, Offset: base + int64(uint64(r.Addr)&(runOffsets-1))}
	}
	m, warnings := newMap(src, ranges, runs)
	if len(runs) > 0 {
		m.src = newUnstored(src, note.Mark)
	}
	m.mark = note.Mark.Bytes()
	for _, r := range note.Runs {
		if r.Kind == leftout.InFile {
			m.inFile = append(m.inFile, r)
		}
	}
	return m, warnings
}

func newMap(src target.Source, ranges, first []Range) (*Map, []error) {
	var warnings []error
	kept, cut, past, wrapped := usable(ranges, src.Size())
	if past > 0 {
		warnings = append(warnings, target.Corruptf("%d memory ranges lie past the end of the file (%d bytes): the dump is truncated", past, src.Size()))
	}
	if wrapped > 0 {
		warnings = append(warnings, target.Corruptf("%d memory ranges wrap around the address space", wrapped))
	}
	disjoint, overlaps := resolve(append(first, kept...))
	if overlaps > 0 {
		warnings = append(warnings, target.Corruptf("%d memory ranges overlap others: the first in the dump counts", overlaps))
	}
	m := &Map{src: src, ranges: merge(disjoint), cut: cut}
	m.starts = make([]target.Addr, len(m.ranges))
	for i := range m.ranges {
		m.starts[i] = m.ranges[i].Addr
	}
	return m, warnings
}

// Cut returns the number of bytes of the ranges that lie past the end of the source.
func (m *Map) Cut() uint64 {
	if m == nil {
		return 0
	}
	return m.cut
}

// usable returns the parts of ranges that are not empty, lie in a source of the given size, and do
// not wrap. It reuses the memory of ranges. cut counts the bytes past the end of the source.
func usable(ranges []Range, size int64) (kept []Range, cut uint64, past, wrapped int) {
	lacks := func(n uint64) {
		cut += min(n, math.MaxUint64-cut)
		past++
	}
	kept = ranges[:0]
	for _, r := range ranges {
		switch {
		case r.Size == 0:
			continue
		case r.last() < r.Addr:
			wrapped++
			continue
		case r.Offset < 0 || r.Offset >= size:
			lacks(r.Size)
			continue
		case r.Size > uint64(size-r.Offset):
			lacks(r.Size - uint64(size-r.Offset))
			r.Size = uint64(size - r.Offset)
		}
		kept = append(kept, r)
	}
	return kept, cut, past, wrapped
}

// resolve sorts ranges and makes them disjoint. overlaps is the number of ranges that lost bytes to
// an earlier one. It takes O(n log n) for any overlaps.
func resolve(ranges []Range) (disjoint []Range, overlaps int) {
	order := make([]int, len(ranges))
	for i := range order {
		order[i] = i
	}
	// The order of ranges with equal addresses does not matter: the sweep opens them together.
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ranges[i].Addr, ranges[j].Addr) })
	if isDisjoint(ranges, order) {
		disjoint = make([]Range, len(ranges))
		for i, k := range order {
			disjoint[i] = ranges[k]
		}
		return disjoint, 0
	}
	s := sweep{ranges: ranges, order: order}
	return s.run()
}

func isDisjoint(ranges []Range, order []int) bool {
	for i := 1; i < len(order); i++ {
		if ranges[order[i]].Addr <= ranges[order[i-1]].last() {
			return false
		}
	}
	return true
}

// A sweep visits the address space once. Each byte belongs to the range that is first in the dump
// among those that cover it. The sweep moves from one start or end of a range to the next, at most
// two steps per range.
type sweep struct {
	ranges []Range
	order  []int // ranges by address; those before next have begun
	next   int
	open   indexHeap // ranges that have begun and may not have ended
	out    []Range
	owned  []uint64 // bytes owned by each range
}

func (s *sweep) run() (disjoint []Range, overlaps int) {
	s.owned = make([]uint64, len(s.ranges))
	for at, ok := s.begin(0, false); ok; at, ok = s.step(at) {
	}
	for i := range s.ranges {
		if s.owned[i] < s.ranges[i].Size {
			overlaps++
		}
	}
	return s.out, overlaps
}

// begin opens the ranges that start at the address at. If no range is open, it moves to the next
// start. It returns false if no range is left.
func (s *sweep) begin(at target.Addr, covered bool) (target.Addr, bool) {
	if !covered {
		if s.next == len(s.order) {
			return 0, false
		}
		at = s.ranges[s.order[s.next]].Addr
	}
	for s.next < len(s.order) && s.ranges[s.order[s.next]].Addr <= at {
		heap.Push(&s.open, s.order[s.next])
		s.next++
	}
	return at, true
}

// step assigns the bytes from at to the next change to their owner.
func (s *sweep) step(at target.Addr) (target.Addr, bool) {
	owner := s.open[0]
	r := s.ranges[owner]
	last := r.last()
	if s.next < len(s.order) {
		last = min(last, s.ranges[s.order[s.next]].Addr-1)
	}
	skip := uint64(at - r.Addr)
	size := uint64(last-at) + 1
	s.out = append(s.out, Range{Addr: at, Size: size, Offset: r.Offset + int64(skip)})
	s.owned[owner] += size
	// Nothing can begin after the last address.
	if last == ^target.Addr(0) {
		return 0, false
	}
	at = last + 1
	for len(s.open) > 0 && s.ranges[s.open[0]].last() < at {
		heap.Pop(&s.open)
	}
	return s.begin(at, len(s.open) > 0)
}

// An indexHeap has the range that is first in the dump on top.
type indexHeap []int

func (h indexHeap) Len() int           { return len(h) }
func (h indexHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h indexHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *indexHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// merge joins, in place, ranges that are adjacent in both the address space and the file, so that
// views can cross them.
func merge(ranges []Range) []Range {
	merged := ranges[:0]
	for _, r := range ranges {
		if n := len(merged); n > 0 {
			p := &merged[n-1]
			if p.end() == r.Addr && p.Offset+int64(p.Size) == r.Offset {
				p.Size += r.Size
				continue
			}
		}
		merged = append(merged, r)
	}
	return merged
}

// Ranges returns the map's ranges, sorted and disjoint. Don't change them.
func (m *Map) Ranges() []Range {
	if m == nil {
		return nil
	}
	return m.ranges
}

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

// Stored returns the number of bytes, at most limit, that the dump stores from a on without a gap. It
// takes time proportional to the ranges passed.
func (m *Map) Stored(a target.Addr, limit uint64) uint64 {
	var n uint64
	for i := m.find(a); n < limit && i >= 0 && i < len(m.ranges) && m.ranges[i].contains(a); i++ {
		d := m.ranges[i].Size - uint64(a-m.ranges[i].Addr)
		n, a = n+d, a+target.Addr(d)
	}
	return min(n, limit)
}

// LeftOut reports whether something was left out of the dump.
func (m *Map) LeftOut() bool { return m != nil && m.mark != nil }

// LeftOutBytes returns the number of bytes that were left out, without what InFileBytes counts. It reads all memory
// of such a dump.
func (m *Map) LeftOutBytes() uint64 {
	if !m.LeftOut() {
		return 0
	}
	n := m.markedBytes()
	return n - min(n, m.InFileBytes())
}

// markedBytes counts the words with the mark.
func (m *Map) markedBytes() (n uint64) {
	for i := range m.ranges {
		r := &m.ranges[i]
		if r.Offset >= marksFrom {
			if r.Offset < zerosFrom {
				n += r.Size
			}
			continue
		}
		for a := r.Addr; r.contains(a); {
			size := int(min(searched, r.Size-uint64(a-r.Addr)))
			b := m.src.Bytes(r.Offset+int64(a-r.Addr), size)
			if b == nil {
				b = make([]byte, size)
				if got, _ := m.src.ReadAt(b, r.Offset+int64(a-r.Addr)); got < size {
					return n
				}
			}
			for at := int(-a % leftout.WordSize); at+leftout.WordSize <= len(b); at += leftout.WordSize {
				if bytes.Equal(b[at:at+leftout.WordSize], m.mark) {
					n += leftout.WordSize
				}
			}
			// Begin the next piece with the word that may straddle the border.
			if a += target.Addr(size); r.contains(a) {
				a &^= leftout.WordSize - 1
			}
		}
	}
	return n
}

// runInFile returns the run of pages in a module's file that contains a, or nil.
func (m *Map) runInFile(a target.Addr) *leftout.Run {
	if m == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(m.inFile, a, func(r leftout.Run, a target.Addr) int {
		switch {
		case r.Addr > a:
			return 1
		case uint64(a-r.Addr) >= r.Size:
			return -1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &m.inFile[i]
}

// PageSum returns the sum of the page at a, if it was left out because the module's file has it.
func (m *Map) PageSum(a target.Addr) (sum uint64, ok bool) {
	r := m.runInFile(a)
	if r == nil {
		return 0, false
	}
	return r.Sums[(a-r.Addr)/leftout.Page], true
}

// InFileBytes returns the number of bytes that were left out because module files have them.
func (m *Map) InFileBytes() (n uint64) {
	if m == nil {
		return 0
	}
	for i := range m.inFile {
		n += m.inFile[i].Size
	}
	return n
}

// whyLeftOut returns the error for a byte that was left out.
func (m *Map) whyLeftOut(a target.Addr) error {
	if m.runInFile(a) != nil {
		return target.ErrInModuleFile
	}
	return target.ErrLeftOut
}

// isLeftOut reports whether the aligned word at a was left out. A word that is not stored
// completely was not.
func (m *Map) isLeftOut(r *Range, a target.Addr) bool {
	skip := uint64(a - r.Addr)
	if a < r.Addr || r.Size < leftout.WordSize || skip > r.Size-leftout.WordSize {
		return false
	}
	var own [leftout.WordSize]byte
	word := m.src.Bytes(r.Offset+int64(skip), len(own))
	if word == nil {
		word = own[:]
		if n, _ := m.src.ReadAt(word, r.Offset+int64(skip)); n < len(word) {
			return false // reading it fails, too
		}
	}
	return bytes.Equal(word, m.mark)
}

// present returns how many of the bytes b, stored by r at a, come before a word that was left out.
func (m *Map) present(r *Range, a target.Addr, b []byte) int {
	if m.mark == nil || len(b) == 0 {
		return len(b)
	}
	const last = leftout.WordSize - 1
	if a&last != 0 && m.isLeftOut(r, a&^last) {
		return 0
	}
	if i := leftout.Index(b, a, m.mark); i >= 0 {
		return i
	}
	if end := a + target.Addr(len(b)); end&last != 0 && end&^last >= a && m.isLeftOut(r, end&^last) {
		return int(end&^last - a)
	}
	return len(b)
}

// ReadMemory implements target.Memory.
func (m *Map) ReadMemory(p []byte, a target.Addr) (int, error) {
	done := 0
	for i := m.find(a); done < len(p); i++ {
		at := a + target.Addr(done)
		if i < 0 || i >= len(m.ranges) || !m.ranges[i].contains(at) {
			return done, &target.MemoryError{Addr: at, Size: len(p) - done, Err: target.ErrNotInDump}
		}
		r := &m.ranges[i]
		skip := uint64(at - r.Addr)
		off := r.Offset + int64(skip)
		n := int(min(uint64(len(p)-done), r.Size-skip))
		var here int // bytes up to those that were left out
		if b := m.src.Bytes(off, n); b != nil {
			here = m.present(r, at, b)
			copy(p[done:], b[:here])
			runtime.KeepAlive(m) // b is valid as long as the source is reachable
		} else if got, err := m.src.ReadAt(p[done:done+n], off); got < n {
			if err == nil || errors.Is(err, io.EOF) {
				err = fmt.Errorf("dump file ends at offset %#x: %w", off+int64(got), io.ErrUnexpectedEOF)
			}
			here = m.present(r, at, p[done:done+got])
			if here == got {
				return done + got, &target.MemoryError{Addr: at + target.Addr(got), Size: len(p) - done - got, Err: err}
			}
		} else {
			here = m.present(r, at, p[done:done+n])
		}
		if done += here; here < n {
			at := a + target.Addr(done)
			return done, &target.MemoryError{Addr: at, Size: len(p) - done, Err: m.whyLeftOut(at)}
		}
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
	if m.present(r, a, b) < n {
		return nil, false
	}
	return b, b != nil
}

// searched is how many bytes Span searches for words that were left out. It lends no more than it
// has searched.
const searched = 64 << 10

// Span implements target.Memory. In a dump with words left out it lends at most 64 KB.
func (m *Map) Span(a target.Addr) []byte {
	i := m.find(a)
	if i < 0 {
		return nil
	}
	r := &m.ranges[i]
	d := uint64(a - r.Addr)
	n := r.Size - d
	if m.mark != nil {
		n = min(n, searched)
	}
	b := m.src.Bytes(r.Offset+int64(d), int(n))
	switch n := m.present(r, a, b); n {
	case len(b):
		return b
	case 0:
		return nil
	default:
		return b[:n:n]
	}
}

// NextStored implements target.SparseMemory.
func (m *Map) NextStored(a target.Addr) (target.Addr, bool) {
	i := m.find(a)
	if i < 0 {
		i, _ = slices.BinarySearch(m.starts, a)
	}
	for ; i < len(m.ranges); i++ {
		r := &m.ranges[i]
		a = max(a, r.Addr)
		if r.Offset >= marksFrom && r.Offset < zerosFrom {
			continue
		}
		for m.mark != nil && r.contains(a) && m.isLeftOut(r, a&^(leftout.WordSize-1)) {
			a = a&^(leftout.WordSize-1) + leftout.WordSize
		}
		if r.contains(a) {
			return a, true
		}
	}
	return 0, false
}
