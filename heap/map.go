package heap

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// MapOptions describes how to draw the heap. The zero value selects the cell size automatically.
type MapOptions struct {
	// CellSize is rounded up to a power of two of at least a page. If it is 0, the map has about MapCells cells.
	CellSize uint64 `opt:"cell" kind:"size" help:"bytes that a sign stands for; by default so many that the picture is a page or two"`
	// Live, if not nil, reports whether something keeps an object alive. Several goroutines call it.
	// It is not called for frozen objects, which stay because code refers to them.
	Live func(target.Addr) bool
	Scan ScanOptions
}

// MapCells is the maximum number of cells with automatic cell size, unless the segments need more: 16 lines of
// 64, plus partial lines.
const MapCells = 1024

// Map measures how full the heap is, cell by cell: the bytes of objects, of free blocks and of neither. It scans the
// heap once. Unreadable parts are in the answer as Unread cells, Lost segments and records.
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
	stats.Count = a.Total.Objects // free blocks alone do not count: only objects show that the heap is readable
	if err := noteCorrupt(&a.Gaps, &stats); err != nil {
		return nil, err
	}
	return a, nil
}

// A mapper fills the cells of a map.
type mapper struct {
	h     *Heap
	shift uint // log2 of the cell size
	parts []mapPart
	cells []answer.MapCell // cells of all parts
	live  func(target.Addr) bool
}

// A mapPart is one generation's part of a segment.
type mapPart struct {
	segment    *Segment
	generation Generation
	memory     target.Range // committed
	objects    target.Range
	reserved   uint64
	first      int // index of its first cell
	pinned     uint64
	err        error // about the first unreadable place
}

// newMapper creates the parts of the heap, by address, with empty cells.
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

// addSegment adds a segment. A segment shared by generations is divided.
func (m *mapper) addSegment(s *Segment) {
	at := s.Committed.Start
	for _, g := range [...]Generation{Generation2, Generation1, Generation0, GenerationLarge, GenerationPinned, GenerationFrozen} {
		r := s.generationRange(g)
		if s.Kind == KindEphemeral && g > Generation2 || s.Kind != KindEphemeral && s.Generation(s.Objects.Start) != g {
			continue
		}
		p := mapPart{segment: s, generation: g, objects: r, memory: target.Range{Start: min(at, r.Start), End: r.End}}
		if s.Kind != KindEphemeral || g == Generation0 { // the last part
			p.memory.End, p.reserved = s.Committed.End, s.Reserved.Size()
		}
		at = p.memory.End
		m.parts = append(m.parts, p)
	}
}

// cellShift returns log2 of the cell size: the requested one, or the smallest of at least a few pages
// that gives about MapCells cells. It is larger if there would be more than limits.MapCells.
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

// count returns the number of the part's cells.
func (p *mapPart) count(shift uint) int { return int((p.memory.Size() + 1<<shift - 1) >> shift) }

// A mapChange is the contribution of a run of objects to a cell.
type mapChange struct {
	cell                        int
	objects, used, free, unread uint64
	dead                        uint64 // included in used
}

func (m *mapper) add(c *mapChange) {
	cell := &m.cells[c.cell]
	cell.Objects += c.objects
	cell.Used += c.used
	cell.Dead += c.dead
	cell.Free += c.free
	cell.Unread += c.unread
}

// part returns the index of the part that contains a, or -1.
func (m *mapper) part(a target.Addr) int {
	i := sort.Search(len(m.parts), func(i int) bool { return m.parts[i].memory.End > a })
	if i == len(m.parts) || !m.parts[i].memory.Contains(a) {
		return -1
	}
	return i
}

// A mapCollector measures a run of objects. Its Counter keeps only the corruptions.
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

// Corrupt measures an unreadable place.
func (c *mapCollector) Corrupt(e *Corruption) {
	c.Counter.Corrupt(e)
	if p := c.m.part(e.Addr); p >= 0 {
		c.spread(p, e.Addr, min(e.Next, c.m.parts[p].objects.End), func(e *mapChange, n uint64) { e.unread += n })
	}
}

// spread distributes a range of a part over its cells.
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

// at returns the index of the change for a's cell. It is among the last ones.
func (c *mapCollector) at(part int, a target.Addr) int {
	p := &c.m.parts[part]
	n := p.first + int(uint64(a-p.memory.Start)>>c.m.shift)
	return len(c.changes) - 1 - (c.changes[len(c.changes)-1].cell - n)
}

// Reset drops everything.
func (c *mapCollector) Reset() {
	c.Counter.Reset()
	c.changes = c.changes[:0]
}

// answer adds up the cells.
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
	a.Total.Pinned = answer.Known[uint64](0)
	for i := range sums {
		sums[i].Pinned = answer.Known[uint64](0)
	}
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

// countPins counts the handles that pin an object, part by part. It returns an error if no handle is readable.
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
