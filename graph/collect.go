package graph

import (
	"errors"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// The walk only counts the references of objects of at least deferSize bytes. A large object is one run, and its
// references would need memory twice. Once their place is known, all workers read them again, pieceSize bytes at a
// time.
const (
	deferSize = 64 << 10
	pieceSize = 1 << 20
)

// A collector collects the objects of a run and their references, as granule numbers. Which object starts at a granule
// is known only after the walk.
type collector struct {
	b     *builder
	edges *heap.Edges

	bits     []wordBits
	sizes    []uint32 // by object
	types    []uint32 // by object: type numbers of the heap
	ends     []uint32 // by object: the end of its references, including deferred pieces
	n        uint64   // number of references
	refs     []uint32 // granules of references, except in deferred pieces
	high     []uint8  // bits 32 to 39 of refs
	deferred []deferral
	huge     []hugeObject

	chunk, first uint64 // the last object's chunk, and the number of its first granule
	scratch      []target.Addr
	pending      []target.Addr // references of the last objects, not numbered by settle yet; ends includes them
	settled      int           // number of objects with numbered references
	at           int           // index of the next point, or -1 if unknown

	corrupt []*heap.Corruption
	blind   []blindType
	stats   Stats
}

// A wordBits is a word of the index with starts of objects.
type wordBits struct{ index, bits uint64 }

// A deferral is a piece of an object with references that are read later.
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
	keeper bool // what is unknown is what keeps the type alive
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

// Corrupt records a place where the walk could not continue.
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
			return // not reached: objects start in stored memory
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
		c.at++ // the point is not in an object
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
		c.addSpecial(o)
	} else {
		c.addStored(o, 0, o.Size+7)
	}
	c.addKeeper(o)
	c.ends = append(c.ends, uint32(c.n))
	c.settled = len(c.ends)
}

// settle numbers the pending references of many objects in one loop.
func (c *collector) settle() {
	// This is index.granule inlined, which saves a tenth of the time of the pass.
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

// settleEach is settle for invalid references and wide numbers.
func (c *collector) settleEach() {
	first, at := uint32(c.n), uint32(0)
	for i := c.settled; i < len(c.ends); i++ {
		for end := c.ends[i] - first; at < end; at++ {
			c.addReference(uint64(c.pending[at]))
		}
		c.ends[i] = uint32(c.n)
	}
	c.pending, c.settled = c.pending[:0], len(c.ends)
}

// addStored adds the references in o at offsets from up to to.
func (c *collector) addStored(o *heap.Object, from, to uint64) {
	if o.Size >= c.b.tuned.DeferFrom {
		c.deferLarge(o, from, to)
		return
	}
	refs, missing, err := c.edges.Append(c.scratch[:0], o, from, to)
	c.scratch = refs
	if missing != 0 || err != nil {
		c.noteMissing(o, missing, err)
	}
	for _, a := range refs {
		c.addReference(uint64(a))
	}
}

// addReference adds a reference to the row of the object.
func (c *collector) addReference(a uint64) {
	g, ok := c.b.x.granule(a)
	if !ok {
		c.stats.Faults[c.b.fault(a)]++
		return
	}
	c.addGranule(g)
}

func (c *collector) addGranule(g uint64) {
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

// noteMissing records that some references of an object are unreadable.
func (c *collector) noteMissing(o *heap.Object, missing uint64, err error) {
	c.stats.MissingSlots += missing
	if err != nil {
		c.stats.BlindObjects++
		c.noteBlind(o.Type, err, false)
	}
}

// noteBlind records an error about a type, once for a run of its objects.
func (c *collector) noteBlind(mt *dac.MethodTable, err error, keeper bool) {
	if n := len(c.blind); n == 0 || c.blind[n-1].mt != mt {
		c.blind = append(c.blind, blindType{mt, err, keeper})
	}
}

// addKeeper adds the edge to the LoaderAllocator that keeps the type of an object alive.
func (c *collector) addKeeper(o *heap.Object) {
	a, err := c.edges.LoaderAllocator(o)
	if err != nil {
		c.noteBlind(o.Type, err, true)
	}
	if a != 0 {
		c.addReference(uint64(a))
	}
}

// deferLarge counts the references of a large object.
func (c *collector) deferLarge(o *heap.Object, from, to uint64) {
	for ; from < to && c.b.ctx.Err() == nil; from += c.b.tuned.Piece {
		d := deferral{object: *o, from: from, to: min(from+c.b.tuned.Piece, to), behind: len(c.refs)}
		refs, missing, err := c.edges.Append(c.scratch[:0], o, d.from, d.to)
		c.scratch = refs
		if missing != 0 || err != nil {
			c.noteMissing(o, missing, err)
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

// addSpecial adds the references of a table of static fields, or of the primary object of dependent handles. A table's
// edges belong to its static fields.
func (c *collector) addSpecial(o *heap.Object) {
	b, from, first := c.b, uint64(0), c.at
	for ; c.at < len(b.points) && b.points[c.at].at < o.Next(); c.at++ {
		p := &b.points[c.at]
		off := uint64(p.at - o.Addr)
		if p.source < 0 || off < from {
			continue // off < from: two fields at one place
		}
		c.addStored(o, from, off)
		if k := b.field[p.source]; k >= 0 {
			c.addGranule(b.granules + uint64(k))
		}
		from = off + 8
	}
	c.addStored(o, from, o.Size+7)
	for _, p := range b.points[first:c.at] {
		if p.source < 0 && p.at == o.Addr {
			c.addReference(uint64(p.secondary))
		}
	}
}
