package graph

import (
	"errors"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// The walk only counts the references of objects of at least deferSize bytes. Large objects are one run, and their
// references would need memory twice. Once their place is known all workers read them again, pieceSize bytes at a time.
const (
	deferSize = 64 << 10
	pieceSize = 1 << 20
)

// A collector gathers the objects of a run and their references, as granule numbers. The object that starts at a
// granule is known only after the walk.
type collector struct {
	b     *builder
	edges *heap.Edges

	bits     []wordBits
	sizes    []uint32 // by object
	types    []uint32 // by object: the heap's numbers
	ends     []uint32 // by object: the end of its references, including deferred pieces
	n        uint64   // references
	refs     []uint32 // granules, without those of deferred pieces
	high     []uint8  // bits 32 to 39 of them
	deferred []deferral
	huge     []hugeObject

	chunk, first uint64 // start of the last object's chunk, and the number of the chunk's first granule
	scratch      []target.Addr
	pending      []target.Addr // references of the last objects, not yet numbered by settle; ends includes them
	settled      int           // objects before these
	at           int           // the next point; -1 if unknown

	corrupt []*heap.Corruption
	blind   []blindType
	stats   Stats
}

// wordBits are starts of objects: a word of the index.
type wordBits struct{ index, bits uint64 }

// A deferral is a piece of an object whose references are read later.
type deferral struct {
	object   heap.Object
	from, to uint64 // offsets in the object
	behind   int    // number of collector.refs before it; after merging, the place of its references in targets
	n        uint64
}

type hugeObject struct {
	ordinal int
	size    uint64
}

type blindType struct {
	mt     *dac.MethodTable
	err    error
	keeper bool // the unknown part is what keeps the type alive
}

func newCollector(b *builder) *collector {
	return &collector{b: b, edges: b.h.Edges(heap.EdgeOptions{LoaderAllocators: true}), at: -1}
}

// Objects adds objects.
func (c *collector) Objects(_ *heap.Segment, batch []heap.Object) {
	if c.at < 0 {
		c.at = search(c.b.points, batch[0].Addr)
	}
	for i := range batch {
		o := &batch[i]
		if o.Free {
			c.stats.Free++
			c.stats.FreeBytes += o.Size
			continue
		}
		c.add(o)
	}
	c.settle()
}

// Corrupt records where the walk could not go on.
func (c *collector) Corrupt(e *heap.Corruption) { c.corrupt = append(c.corrupt, e) }

// Reset discards everything.
func (c *collector) Reset() {
	*c = collector{b: c.b, edges: c.edges, at: -1, bits: c.bits[:0], sizes: c.sizes[:0], types: c.types[:0], ends: c.ends[:0],
		refs: c.refs[:0], high: c.high[:0], deferred: c.deferred[:0], huge: c.huge[:0], scratch: c.scratch, pending: c.pending[:0], blind: c.blind[:0]}
}

func (c *collector) add(o *heap.Object) {
	if chunk := uint64(o.Addr) >> chunkShift; chunk != c.chunk {
		first, ok := c.b.x.granule(chunk << chunkShift)
		if !ok {
			return // objects start in stored memory
		}
		c.chunk, c.first = chunk, first
	}
	g := c.first + uint64(o.Addr)%chunkSize>>granuleShift
	if n := len(c.bits); n > 0 && c.bits[n-1].index == g>>6 {
		c.bits[n-1].bits |= 1 << (g & 63)
	} else {
		c.bits = append(c.bits, wordBits{g >> 6, 1 << (g & 63)})
	}
	c.stats.Bytes += o.Size
	if o.Size >= hugeSize {
		c.huge = append(c.huge, hugeObject{len(c.sizes), o.Size})
	}
	c.sizes = append(c.sizes, uint32(min(o.Size, hugeSize)))
	c.types = append(c.types, o.TypeNumber())
	for c.at < len(c.b.points) && c.b.points[c.at].at < o.Addr {
		c.at++ // not in an object
	}
	special := c.at < len(c.b.points) && c.b.points[c.at].at < o.Next()
	if !special && o.Size < c.b.tuned.DeferFrom {
		if refs, ok := c.edges.Whole(c.pending, o); ok {
			c.pending = refs
			c.ends = append(c.ends, uint32(c.n)+uint32(len(refs)))
			return
		}
	}
	c.settle()
	if special {
		c.special(o)
	} else {
		c.stored(o, 0, o.Size+7)
	}
	c.keeper(o)
	c.ends = append(c.ends, uint32(c.n))
	c.settled = len(c.ends)
}

// settle numbers the pending references, those of many objects in one loop.
func (c *collector) settle() {
	// This is index.granule without a call for each reference, which saves a tenth of the time of the pass.
	x, refs := c.b.x, slices.Grow(c.refs, len(c.pending))
	top, minTop := x.top, x.minTop
	if c.b.wide {
		top = nil
	}
	for _, a := range c.pending {
		if t := uint64(a)>>pageShift - minTop; t < uint64(len(top)) && top[t] >= 0 {
			if n := x.pages[top[t]][uint64(a)>>chunkShift%pageEntries]; n != 0 && a%8 == 0 {
				refs = append(refs, (n-1)*chunkGranules+uint32(a)%chunkSize>>granuleShift)
				continue
			}
		}
		c.settleEach()
		return
	}
	c.refs = refs
	c.n += uint64(len(c.pending))
	c.pending, c.settled = c.pending[:0], len(c.ends)
}

// settleEach is settle for invalid references or wide numbers.
func (c *collector) settleEach() {
	first, at := uint32(c.n), uint32(0)
	for i := c.settled; i < len(c.ends); i++ {
		for end := c.ends[i] - first; at < end; at++ {
			c.reference(uint64(c.pending[at]))
		}
		c.ends[i] = uint32(c.n)
	}
	c.pending, c.settled = c.pending[:0], len(c.ends)
}

// stored adds the references in o at offsets from up to to.
func (c *collector) stored(o *heap.Object, from, to uint64) {
	if o.Size >= c.b.tuned.DeferFrom {
		c.large(o, from, to)
		return
	}
	refs, missing, err := c.edges.Append(c.scratch[:0], o, from, to)
	c.scratch = refs
	if missing != 0 || err != nil {
		c.lacks(o, missing, err)
	}
	for _, a := range refs {
		c.reference(uint64(a))
	}
}

// reference adds a reference to the row of the object.
func (c *collector) reference(a uint64) {
	g, ok := c.b.x.granule(a)
	if !ok {
		c.stats.Faults[c.b.fault(a)]++
		return
	}
	c.granule(g)
}

func (c *collector) granule(g uint64) {
	c.refs = append(c.refs, uint32(g))
	if c.b.wide {
		c.high = append(c.high, uint8(g>>32))
	}
	c.n++
}

// fault returns why a reference to an address without a granule is invalid.
func (b *builder) fault(a uint64) Fault {
	if b.h.Segment(target.Addr(a)) != nil {
		if a%8 != 0 {
			return FaultInside
		}
		return FaultAbsent
	}
	if target.Available(b.h.Memory(), target.Addr(a), 1) {
		return FaultNowhere
	}
	if errors.Is(b.claims.Missing(target.Addr(a)), target.ErrNotInDump) {
		return FaultAbsent
	}
	return FaultNowhere
}

// lacks records that some references of an object can't be read.
func (c *collector) lacks(o *heap.Object, missing uint64, err error) {
	c.stats.MissingSlots += missing
	if err != nil {
		c.stats.BlindObjects++
		c.blindness(o.Type, err, false)
	}
}

// blindness records an error about a type, once for a run of its objects.
func (c *collector) blindness(mt *dac.MethodTable, err error, keeper bool) {
	if n := len(c.blind); n == 0 || c.blind[n-1].mt != mt {
		c.blind = append(c.blind, blindType{mt, err, keeper})
	}
}

// keeper adds the edge to the LoaderAllocator that keeps the type of an object alive.
func (c *collector) keeper(o *heap.Object) {
	a, err := c.edges.LoaderAllocator(o)
	if err != nil {
		c.blindness(o.Type, err, true)
	}
	if a != 0 {
		c.reference(uint64(a))
	}
}

// large counts the references of a large object.
func (c *collector) large(o *heap.Object, from, to uint64) {
	for ; from < to && c.b.ctx.Err() == nil; from += c.b.tuned.Piece {
		d := deferral{object: *o, from: from, to: min(from+c.b.tuned.Piece, to), behind: len(c.refs)}
		refs, missing, err := c.edges.Append(c.scratch[:0], o, d.from, d.to)
		c.scratch = refs
		if missing != 0 || err != nil {
			c.lacks(o, missing, err)
		}
		for _, a := range refs {
			if _, ok := c.b.x.granule(uint64(a)); ok {
				d.n++
			} else {
				c.stats.Faults[c.b.fault(uint64(a))]++
			}
		}
		if d.n > 0 {
			c.deferred = append(c.deferred, d)
			c.n += d.n
		}
		if err != nil {
			return
		}
	}
}

// special adds the references of a table of static fields, or of the primary object of dependent handles. A table's
// edges belong to its static fields.
func (c *collector) special(o *heap.Object) {
	b, from, first := c.b, uint64(0), c.at
	for ; c.at < len(b.points) && b.points[c.at].at < o.Next(); c.at++ {
		p := &b.points[c.at]
		off := uint64(p.at - o.Addr)
		if p.source < 0 || off < from {
			continue // off < from: two fields in one place
		}
		c.stored(o, from, off)
		if k := b.field[p.source]; k >= 0 {
			c.granule(b.granules + uint64(k))
		}
		from = off + 8
	}
	c.stored(o, from, o.Size+7)
	for _, p := range b.points[first:c.at] {
		if p.source < 0 && p.at == o.Addr {
			c.reference(uint64(p.secondary))
		}
	}
}
