package heap

import (
	"sort"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// Starts reports whether objects start at addresses. Only a walk from a known start can determine this, so each piece
// of the heap is walked once, when it is first needed. Pieces begin where the GC records an object start: segments, the
// generations of an ephemeral segment, and the ends of allocation contexts.
//
// Starts keeps one bit per 8 bytes of the walked pieces. It is safe for concurrent use.
type Starts struct {
	heap   *Heap
	pieces []startPiece // by address, disjoint
}

type startPiece struct {
	segment Segment // the piece as a segment
	once    sync.Once
	// bits has a bit for each 8 bytes at which an object may start, by address/startChunk. Holes have
	// no chunk, so a segment with a wrong size costs nothing.
	bits map[target.Addr]*startBits
	bad  []*Corruption // ranges that the walk could not read, by address
}

const startChunk = 64 << 10 // bytes of the heap that share a set of bits

type startBits [startChunk / 8 / 64]uint64

// NewStarts returns an index of a heap. It does not read the heap yet.
func NewStarts(h *Heap) *Starts {
	var cuts []target.Addr
	for _, c := range h.contexts {
		// After the limit there is room for the smallest object (see walk).
		cuts = append(cuts, c.Limit+minObjectSize)
	}
	segments := h.segments
	for i := range segments {
		if s := &segments[i]; s.Kind == KindEphemeral {
			cuts = append(cuts, s.Gen1.Start, s.Gen0.Start)
		}
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	x := &Starts{heap: h}
	for i := range segments {
		x.cut(segments[i], cuts)
	}
	return x
}

// cut adds the pieces of a segment.
func (x *Starts) cut(rest Segment, cuts []target.Addr) {
	k := sort.Search(len(cuts), func(i int) bool { return cuts[i] > rest.Objects.Start })
	for ; k < len(cuts) && cuts[k] < rest.Objects.End; k++ {
		if cuts[k] == rest.Objects.Start {
			continue // two cuts at one address
		}
		piece := rest
		piece.Objects.End = cuts[k]
		x.pieces = append(x.pieces, startPiece{segment: piece})
		rest.Objects.Start = cuts[k]
	}
	x.pieces = append(x.pieces, startPiece{segment: rest})
}

// IsStart reports whether an object or free block starts at a, by a walk. It is exact: an address inside an
// object that looks like an object is not a start. If the memory is not in the dump or corrupt, it returns the
// *Corruption.
func (x *Starts) IsStart(a target.Addr) (bool, error) {
	if a%8 != 0 {
		return false, nil
	}
	i := sort.Search(len(x.pieces), func(i int) bool { return x.pieces[i].segment.Objects.Start > a }) - 1
	if i < 0 || !x.pieces[i].segment.Objects.Contains(a) {
		return false, nil
	}
	p := &x.pieces[i]
	p.once.Do(func() { p.walk(x.heap) })
	if b := p.bits[a/startChunk]; b != nil {
		if n := a % startChunk / 8; b[n/64]&(1<<(n%64)) != 0 {
			return true, nil
		}
	}
	k := sort.Search(len(p.bad), func(i int) bool { return p.bad[i].Addr > a }) - 1
	if k >= 0 && a < p.bad[k].Next {
		return false, p.bad[k]
	}
	return false, nil
}

func (p *startPiece) walk(h *Heap) {
	p.bits = map[target.Addr]*startBits{}
	var chunk target.Addr
	var b *startBits
	for o, err := range h.ObjectsIn(&p.segment, p.segment.Objects) {
		if err != nil {
			p.bad = append(p.bad, err.(*Corruption))
			continue
		}
		if at := o.Addr / startChunk; b == nil || at != chunk {
			if b = p.bits[at]; b == nil {
				b = new(startBits)
				p.bits[at] = b
			}
			chunk = at
		}
		n := o.Addr % startChunk / 8
		b[n/64] |= 1 << (n % 64)
	}
}
