package heap

import (
	"slices"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// brickSize is the minimum distance in bytes between the known starts of a segment: the length of a
// lookup's walk, and the memory that 8 bytes of index cover.
const brickSize = 4 << 10

// A brickTable records where objects of a segment start, one start for each brickSize bytes, like the GC's own brick
// table (gcpriv.h, brick_table). Starts come from walks that begin at a known start. The table grows with the lookups
// up to the highest requested address, by at most 1/512 of the segment's stored memory. It is safe for concurrent use.
type brickTable struct {
	mu     sync.Mutex
	starts []target.Addr // object starts, ascending
	done   target.Addr   // how far the walk has come; 0 before the first lookup
}

// brickTables holds the tables of a heap's segments by the address of the first object. If several segments
// start at one address, all but one are empty.
type brickTables struct {
	mu      sync.Mutex
	byStart map[target.Addr]*brickTable
	walkers sync.Pool // a walker's cache costs more than a lookup
}

func (t *brickTables) table(s *Segment) *brickTable {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.byStart[s.Objects.Start]
	if b == nil {
		if t.byStart == nil {
			t.byStart = map[target.Addr]*brickTable{}
		}
		b = &brickTable{}
		t.byStart[s.Objects.Start] = b
	}
	return b
}

// walkAround passes objects of s to out, beginning with one that starts before a if any, until out returns false.
func (h *Heap) walkAround(s *Segment, a target.Addr, out sink) {
	w, ok := h.bricks.walkers.Get().(*walker)
	if !ok {
		w = newWalker(h)
	}
	defer h.bricks.walkers.Put(w)
	from := h.bricks.table(s).startBefore(w, s, a)
	w.walk(s, from, s.Objects.End, out)
}

// startBefore returns the last known start before a, or the segment's start.
func (b *brickTable) startBefore(w *walker, s *Segment, a target.Addr) target.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == 0 {
		b.done = s.Objects.Start
	}
	if b.done < a {
		b.done, _ = w.walk(s, b.done, min(a, s.Objects.End), b)
	}
	i, _ := slices.BinarySearch(b.starts, a)
	if i == 0 {
		return s.Objects.Start
	}
	return b.starts[i-1]
}

// objects makes the brickTable the sink of its own walk.
func (b *brickTable) objects(_ *Segment, batch []Object) bool {
	for i := range batch {
		if a := batch[i].Addr; len(b.starts) == 0 || a-b.starts[len(b.starts)-1] >= brickSize {
			b.starts = append(b.starts, a)
		}
	}
	return true
}

func (b *brickTable) corrupt(*Corruption) bool { return true }
