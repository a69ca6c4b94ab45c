package heap

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A GCDesc locates the references in the instances of a type. It precedes the MethodTable, and the GC itself
// follows it (gcdesc.h). The zero GCDesc describes no references.
type GCDesc struct {
	series []gcSeries
	repeat []gcRepeat // For an array of structs: the pattern that repeats from first to the end
	first  uint64     // bytes from the object's start
	stride uint64     // bytes per element
}

// A gcSeries is a run of references.
type gcSeries struct {
	offset uint64 // bytes from the object's start
	size   int64  // bytes minus the object's size: mostly negative
}

// A gcRepeat is a part of an array element: references and the bytes that follow them.
type gcRepeat struct {
	pointers uint32
	skip     uint32 // bytes
}

// maxSeries bounds the runs of references of one type, by the maximum number of fields.
const maxSeries = 1 << 16

// ReadGCDesc reads the GCDesc of mt. Its errors are *GCDescErrors. To follow references use Edges.
func ReadGCDesc(mem target.Memory, mt *dac.MethodTable) (*GCDesc, error) {
	if !mt.ContainsPointers() {
		return &GCDesc{}, nil
	}
	d, err := readGCDesc(mem, mt.Addr)
	if err != nil {
		return nil, &GCDescError{MethodTable: mt.Addr, Err: err}
	}
	return d, nil
}

func readGCDesc(mem target.Memory, mt target.Addr) (*GCDesc, error) {
	v, err := target.Uint64(mem, mt-8)
	if err != nil {
		return nil, err
	}
	n := int64(v)
	if n == 0 || n > maxSeries || n < -maxSeries {
		return nil, target.Corruptf("%d series", n)
	}
	if n < 0 {
		return readRepeat(mem, mt, int(-n))
	}
	// The series precede the count.
	b, err := target.Bytes(mem, mt-8-target.Addr(16*n), int(16*n))
	if err != nil {
		return nil, err
	}
	d := &GCDesc{series: make([]gcSeries, n)}
	for i := range d.series {
		d.series[i] = gcSeries{
			size:   int64(binary.LittleEndian.Uint64(b[16*i:])),
			offset: binary.LittleEndian.Uint64(b[16*i+8:]),
		}
		if s := d.series[i]; s.offset < 8 || s.offset%8 != 0 || s.offset > maxBaseSize || s.size%8 != 0 || s.size > maxBaseSize {
			return nil, target.Corruptf("series of %d bytes at offset %#x", s.size, s.offset)
		}
	}
	// Of series with equal starts the largest contains the others.
	slices.SortFunc(d.series, func(a, b gcSeries) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(b.size, a.size)) })
	d.series = slices.CompactFunc(d.series, func(a, b gcSeries) bool { return a.offset == b.offset })
	return d, nil
}

// readRepeat reads the pattern of an array of structs: its start offset, and below it a word for each
// run with the number of references and of the bytes to skip after them.
func readRepeat(mem target.Memory, mt target.Addr, n int) (*GCDesc, error) {
	b, err := target.Bytes(mem, mt-16-target.Addr(8*n), 8*n+8)
	if err != nil {
		return nil, err
	}
	pointers := uint64(0)
	d := &GCDesc{first: binary.LittleEndian.Uint64(b[8*n:])}
	if d.first < 8 || d.first%8 != 0 || d.first > maxBaseSize {
		return nil, target.Corruptf("pattern at offset %#x", d.first)
	}
	for i := range n {
		w := b[8*(n-1-i):]
		r := gcRepeat{pointers: binary.LittleEndian.Uint32(w), skip: binary.LittleEndian.Uint32(w[4:])}
		if r.skip%8 != 0 {
			return nil, target.Corruptf("pattern that skips %d bytes", r.skip)
		}
		if r == (gcRepeat{}) {
			continue // each run makes progress
		}
		d.repeat = append(d.repeat, r)
		pointers += uint64(r.pointers)
		d.stride += 8*uint64(r.pointers) + uint64(r.skip)
	}
	// Without references a walk over the slots would not end.
	if pointers == 0 {
		return nil, target.Corruptf("pattern without references")
	}
	return d, nil
}

// Empty reports whether no instance holds references.
func (d *GCDesc) Empty() bool { return len(d.series) == 0 && len(d.repeat) == 0 }

// Slots calls yield with the offset in bytes, from the object's start, of each reference in an object
// of size bytes, in memory order. It stops when yield returns false and does not allocate.
func (d *GCDesc) Slots(size uint64, yield func(offset uint64) bool) { d.slotsFrom(size, 0, yield) }

// slotsFrom is Slots for offsets of at least from.
func (d *GCDesc) slotsFrom(size, from uint64, yield func(offset uint64) bool) {
	next := from
	for i := range d.series {
		off, end, more := d.series[i].within(size)
		if !more {
			break
		}
		for off = max(off, next); off < end; off += 8 {
			if !yield(off) {
				return
			}
		}
		next = max(next, end)
	}
	if len(d.repeat) == 0 {
		return
	}
	size = (size + 7) &^ 7
	for off := d.elementAt(from); off+8 < size; {
		for _, r := range d.repeat {
			for range r.pointers {
				if off+8 >= size || off >= from && !yield(off) {
					return
				}
				off += 8
			}
			off += uint64(r.skip)
		}
	}
}

// within returns the part of an object of size bytes that the series covers. The last word of the size is the
// header of the next object. It returns more=false once this and all later series start past the object. Series
// with wrong sizes may overlap; callers skip offsets that they have already visited.
func (s *gcSeries) within(size uint64) (start, end uint64, more bool) {
	size = (size + 7) &^ 7
	if s.offset >= size {
		return 0, 0, false
	}
	n := s.size + int64(size)
	if n <= 0 {
		return 0, 0, true
	}
	return s.offset, min(s.offset+uint64(n), size-8), true
}

// append appends to dst the non-null references of an object of size bytes from offset from on. b has its first bytes.
func (d *GCDesc) append(dst []target.Addr, b []byte, size, from uint64) []target.Addr {
	next := from
	for i := range d.series {
		off, end, more := d.series[i].within(size)
		if !more {
			break
		}
		off, end = max(off, next), min(end, uint64(len(b)))
		if off >= end {
			continue
		}
		next = end
		for w := b[off:end]; len(w) >= 8; w = w[8:] {
			if v := binary.LittleEndian.Uint64(w); v != 0 {
				dst = append(dst, target.Addr(v))
			}
		}
	}
	if len(d.repeat) == 0 {
		return dst
	}
	off, end := d.elementAt(from), min((size+7)&^7-1, uint64(len(b))) // the last word of the size is the header of the next object
	for off+8 <= end {
		for _, r := range d.repeat {
			for k := r.pointers; k > 0 && off+8 <= end; k-- {
				if v := binary.LittleEndian.Uint64(b[off:]); v != 0 && off >= from {
					dst = append(dst, target.Addr(v))
				}
				off += 8
			}
			off += uint64(r.skip)
		}
	}
	return dst
}

// elementAt returns the start of the array element that contains offset from, or of the first element.
func (d *GCDesc) elementAt(from uint64) uint64 {
	if from <= d.first {
		return d.first
	}
	return d.first + (from-d.first)/d.stride*d.stride
}

// count returns the number of slots at offsets from up to to. from must be the offset of a slot.
func (d *GCDesc) count(size, from, to uint64) (n uint64) {
	next := from
	for i := range d.series {
		off, end, more := d.series[i].within(size)
		if !more {
			break
		}
		if off, end = max(off, next), min(end, to); off < end {
			n += (end - off + 7) / 8
			next = end
		}
	}
	if len(d.repeat) > 0 {
		from, to = max(from, d.first), min(to, (size+7)&^7-8)
	}
	if len(d.repeat) > 0 && to > from {
		if whole := (to - from) / d.stride; whole > 0 {
			for _, r := range d.repeat {
				n += whole * uint64(r.pointers)
			}
			from += whole * d.stride
		}
		d.slotsFrom(size, from, func(off uint64) bool {
			if off >= to {
				return false
			}
			n++
			return true
		})
	}
	return n
}
