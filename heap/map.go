package heap

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// MapOptions say how to draw the heap. The zero value chooses the size of cells.
type MapOptions struct {
	CellSize uint64 // bytes, rounded up to a power of two of at least a page; 0 makes some MapCells cells
	// Live, if not nil, tells of an object whether something keeps it alive. Several goroutines call it. Frozen objects are
	// not asked for: code refers to them, and they stay.
	Live func(target.Addr) bool
	Scan ScanOptions
}

// MapCells is how many cells a map has at most where nobody chooses their size and no more than one is needed for each
// segment: 16 lines of 64, and those that are not full.
const MapCells = 1024

// Map measures how full the heap is, cell by cell: which bytes belong to objects, to free blocks, to neither. It scans the
// heap once. What can't be read is in the answer: cells that are Unread, segments that are Lost, and noted.
func (h *Heap) Map(ctx context.Context, o MapOptions) (*answer.HeapMap, error) {
	m := h.newMapper(o.CellSize)
	m.live = o.Live
	f := &Filter{}
	total := NewCounter(h, f)
	err := Scan(ctx, h, f, o.Scan, func() *mapCollector {
		return &mapCollector{Counter: NewCounter(h, f), m: m}
	}, func(c *mapCollector) error {
		total.Add(c.Counter)
		for i := range c.changes {
			m.add(&c.changes[i])
		}
		for _, e := range c.corrupt {
			if p := m.part(e.Addr); p >= 0 {
				m.parts[p].err = cmp.Or(m.parts[p].err, e.Err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a := m.answer()
	stats := total.Stats()
	stats.Count = a.Total.Objects // of free blocks nobody asks: objects are what can be read
	if err := noteCorrupt(&a.Gaps, &stats); err != nil {
		return nil, err
	}
	return a, nil
}

// A mapper fills the cells of a map.
type mapper struct {
	h     *Heap
	shift uint // of the cells' size
	parts []mapPart
	cells []answer.MapCell // of all parts
	live  func(target.Addr) bool
}

// A mapPart is what one generation has of a segment.
type mapPart struct {
	segment    *Segment
	generation Generation
	memory     target.Range // committed
	objects    target.Range
	reserved   uint64
	first      int // of its cells
	pinned     uint64
	err        error // of the first place that can't be read
}

// newMapper makes the parts of the heap, by address, with empty cells.
func (h *Heap) newMapper(cellSize uint64) *mapper {
	m := &mapper{h: h}
	for i := range h.segments {
		m.addSegment(&h.segments[i])
	}
	m.shift = m.cellShift(cellSize)
	n := 0
	for i := range m.parts {
		m.parts[i].first = n
		n += m.parts[i].count(m.shift)
	}
	m.cells = make([]answer.MapCell, n)
	for i := range m.parts {
		p := &m.parts[i]
		left := p.memory.Size()
		for k := p.first; left > 0; k++ {
			m.cells[k].Size = min(left, 1<<m.shift)
			left -= m.cells[k].Size
		}
	}
	return m
}

// addSegment adds a segment; one that generations share is cut where these meet.
func (m *mapper) addSegment(s *Segment) {
	at := s.Committed.Start
	for _, g := range [...]Generation{Generation2, Generation1, Generation0, GenerationLarge, GenerationPinned, GenerationFrozen} {
		r := s.GenerationRange(g)
		if s.Kind == KindEphemeral && g > Generation2 || s.Kind != KindEphemeral && s.Generation(s.Objects.Start) != g {
			continue
		}
		p := mapPart{segment: s, generation: g, objects: r, memory: target.Range{Start: min(at, r.Start), End: r.End}}
		if s.Kind != KindEphemeral || g == Generation0 { // the last one
			p.memory.End, p.reserved = s.Committed.End, s.Reserved.Size()
		}
		at = p.memory.End
		m.parts = append(m.parts, p)
	}
}

// cellShift is the logarithm of the cells' size: the one that is wanted, or the smallest with which a map is a few pages, or
// has a cell for each part. It is larger where there would be more than limits.MapCells.
func (m *mapper) cellShift(want uint64) uint {
	const pageShift = 12
	shift, most := uint(pageShift), MapCells
	if want > 1<<pageShift {
		shift = uint(bits.Len64(min(want, 1<<40) - 1))
	}
	if want > 0 {
		most = limits.MapCells
	}
	for ; ; shift++ {
		n, whole := 0, true
		for i := range m.parts {
			k := m.parts[i].count(shift)
			n, whole = n+k, whole && k <= 1
		}
		if n <= most || whole {
			return shift
		}
	}
}

// count is the number of the part's cells.
func (p *mapPart) count(shift uint) int { return int((p.memory.Size() + 1<<shift - 1) >> shift) }

// A mapChange is what a run of objects adds to a cell.
type mapChange struct {
	cell                        int
	objects, used, free, unread uint64
	dead                        uint64 // of used
}

func (m *mapper) add(c *mapChange) {
	cell := &m.cells[c.cell]
	cell.Objects += c.objects
	cell.Used += c.used
	cell.Dead += c.dead
	cell.Free += c.free
	cell.Unread += c.unread
}

// part is the part that a lies in, -1 for none.
func (m *mapper) part(a target.Addr) int {
	i := sort.Search(len(m.parts), func(i int) bool { return m.parts[i].memory.End > a })
	if i == len(m.parts) || !m.parts[i].memory.Contains(a) {
		return -1
	}
	return i
}

// A mapCollector measures a run of objects. Its Counter keeps the corruptions alone.
type mapCollector struct {
	*Counter
	m       *mapper
	changes []mapChange // by cell
}

// Objects measures a batch.
func (c *mapCollector) Objects(_ *Segment, batch []Object) {
	p := -1
	for i := range batch {
		o := &batch[i]
		if p < 0 || o.Addr >= c.m.parts[p].memory.End {
			if p = c.m.part(o.Addr); p < 0 {
				continue
			}
		}
		if o.Free {
			c.spread(p, o.Addr, o.Next(), func(e *mapChange, n uint64) { e.free += n })
			continue
		}
		if c.m.live != nil && c.m.parts[p].generation != GenerationFrozen && !c.m.live(o.Addr) {
			c.spread(p, o.Addr, o.Next(), func(e *mapChange, n uint64) { e.used, e.dead = e.used+n, e.dead+n })
		} else {
			c.spread(p, o.Addr, o.Next(), func(e *mapChange, n uint64) { e.used += n })
		}
		c.changes[c.at(p, o.Addr)].objects++
	}
}

// Corrupt measures what can't be read.
func (c *mapCollector) Corrupt(e *Corruption) {
	c.Counter.Corrupt(e)
	if p := c.m.part(e.Addr); p >= 0 {
		c.spread(p, e.Addr, min(e.Next, c.m.parts[p].objects.End), func(e *mapChange, n uint64) { e.unread += n })
	}
}

// spread gives each cell between two addresses of a part its bytes.
func (c *mapCollector) spread(part int, from, to target.Addr, give func(*mapChange, uint64)) {
	p := &c.m.parts[part]
	for to = min(to, p.memory.End); from < to; {
		n := p.first + int(uint64(from-p.memory.Start)>>c.m.shift)
		end := min(to, p.memory.Start+target.Addr(n-p.first+1)<<c.m.shift)
		if k := len(c.changes); k == 0 || c.changes[k-1].cell != n {
			c.changes = append(c.changes, mapChange{cell: n})
		}
		give(&c.changes[len(c.changes)-1], uint64(end-from))
		from = end
	}
}

// at is the place of the change of a's cell, which is among the last: that of an object that was just spread.
func (c *mapCollector) at(part int, a target.Addr) int {
	p := &c.m.parts[part]
	n := p.first + int(uint64(a-p.memory.Start)>>c.m.shift)
	return len(c.changes) - 1 - (c.changes[len(c.changes)-1].cell - n)
}

// Reset forgets everything.
func (c *mapCollector) Reset() {
	c.Counter.Reset()
	c.changes = c.changes[:0]
}

// answer sums the cells up.
func (m *mapper) answer() *answer.HeapMap {
	a := &answer.HeapMap{Server: m.h.server, Regions: m.h.regions, Reachable: m.live != nil, CellSize: 1 << m.shift, Parts: []answer.MapPart{}}
	noPins := m.countPins(a)
	order := make([]*mapPart, len(m.parts))
	for i := range m.parts {
		order[i] = &m.parts[i]
	}
	slices.SortStableFunc(order, func(p, q *mapPart) int {
		return cmp.Or(cmp.Compare(p.segment.SubHeap, q.segment.SubHeap), cmp.Compare(p.generation, q.generation))
	})
	var sums [GenerationUnknown]answer.MapGeneration
	for _, p := range order {
		part := m.partAnswer(p)
		part.Pinned = answer.Of(p.pinned, noPins)
		a.Parts = append(a.Parts, part)
		sums[p.generation].Parts++
		sums[p.generation].Add(&part.MapSizes)
		a.Total.Add(&part.MapSizes)
	}
	for _, g := range allGenerations {
		if s := &sums[g]; s.Parts > 0 {
			s.Generation = g.String()
			a.Generations = append(a.Generations, *s)
		}
	}
	a.Lost = m.h.lostAnswers()
	return a
}

func (m *mapper) partAnswer(p *mapPart) answer.MapPart {
	a := answer.MapPart{Heap: p.segment.SubHeap, Segment: p.segment.Addr, Generation: p.generation.String(), Memory: *rangeOf(p.memory),
		Cells: m.cells[p.first : p.first+p.count(m.shift)]}
	for i := range a.Cells {
		c := &a.Cells[i]
		a.Objects, a.Used, a.Free, a.Unread = a.Objects+c.Objects, a.Used+c.Used, a.Free+c.Free, a.Unread+c.Unread
		a.Dead += c.Dead
	}
	a.Err = p.err
	a.Allocated, a.Committed, a.Reserved = p.objects.Size(), p.memory.Size(), p.reserved
	return a
}

// countPins counts the handles that pin an object, part by part. The error says why none could be read.
func (m *mapper) countPins(a *answer.HeapMap) (failure error) {
	found := false
	for e, err := range m.h.Handles() {
		a.Note(err)
		failure, found = cmp.Or(failure, err), found || e.Object != 0
		if e.Type != HandlePinned && e.Type != HandleAsyncPinned || e.Object == 0 {
			continue
		}
		if i := m.part(e.Object); i >= 0 {
			m.parts[i].pinned++
		}
	}
	if a.PinsPartial = failure != nil && found; a.PinsPartial {
		return nil
	}
	return failure
}
