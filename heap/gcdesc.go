package heap

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A GCDesc says where the instances of a type hold references: it stands
// before the MethodTable and is what the GC itself follows (gcdesc.h). The zero
// GCDesc has none.
type GCDesc struct {
	series []gcSeries
	// Of an array of structs: the pattern that repeats from first to the end.
	repeat []gcRepeat
	first  uint64 // bytes from the object's start
}

// A gcSeries is a run of references.
type gcSeries struct {
	offset uint64 // bytes from the object's start
	size   int64  // bytes, less the size of the object: negative for most
}

// A gcRepeat is a part of one array element: references and what follows them.
type gcRepeat struct {
	pointers uint32
	skip     uint32 // bytes
}

// maxSeries bounds the runs of references of one type: a type has at most so
// many fields.
const maxSeries = 1 << 16

// ReadGCDesc reads the GCDesc of mt. Its errors are *GCDescErrors. Who wants the
// references themselves has Edges.
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
	// The series lie downwards from the count.
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
	slices.SortFunc(d.series, func(a, b gcSeries) int { return cmp.Compare(a.offset, b.offset) })
	return d, nil
}

// readRepeat reads the pattern of an array of structs: its start offset, and
// below it one word for each run: the number of references and the bytes to
// skip behind them.
func readRepeat(mem target.Memory, mt target.Addr, n int) (*GCDesc, error) {
	b, err := target.Bytes(mem, mt-16-target.Addr(8*n), 8*n+8)
	if err != nil {
		return nil, err
	}
	stride := uint64(0)
	d := &GCDesc{first: binary.LittleEndian.Uint64(b[8*n:]), repeat: make([]gcRepeat, n)}
	if d.first < 8 || d.first%8 != 0 || d.first > maxBaseSize {
		return nil, target.Corruptf("pattern at offset %#x", d.first)
	}
	for i := range d.repeat {
		w := b[8*(n-1-i):]
		r := gcRepeat{pointers: binary.LittleEndian.Uint32(w), skip: binary.LittleEndian.Uint32(w[4:])}
		if r.skip%8 != 0 {
			return nil, target.Corruptf("pattern that skips %d bytes", r.skip)
		}
		d.repeat[i] = r
		stride += 8*uint64(r.pointers) + uint64(r.skip)
	}
	if stride == 0 {
		return nil, target.Corruptf("empty pattern")
	}
	return d, nil
}

// Empty reports whether no instance holds references.
func (d *GCDesc) Empty() bool { return len(d.series) == 0 && len(d.repeat) == 0 }

// Slots calls yield with the offset, from the object's start in bytes, of each
// reference in an object of size bytes, in the order of memory. It stops when
// yield returns false, and allocates nothing.
func (d *GCDesc) Slots(size uint64, yield func(offset uint64) bool) {
	size = (size + 7) &^ 7
	for i := range d.series {
		s := &d.series[i]
		n := s.size + int64(size)
		if n <= 0 || s.offset >= size {
			continue
		}
		// The last word of the size is the header of the next object.
		for off, end := s.offset, min(s.offset+uint64(n), size-8); off < end; off += 8 {
			if !yield(off) {
				return
			}
		}
	}
	if len(d.repeat) == 0 {
		return
	}
	for off := d.first; off+8 < size; {
		for _, r := range d.repeat {
			for range r.pointers {
				if off+8 >= size || !yield(off) {
					return
				}
				off += 8
			}
			off += uint64(r.skip)
		}
	}
}
