package heap

import (
	"slices"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// brickSize is how far apart the known starts of a segment lie at least, in
// bytes: what a lookup walks, and what 8 bytes of index stand for.
const brickSize = 4 << 10

// A brickTable remembers where objects of a segment start, one in brickSize
// bytes, as the GC's own brick table does (gcpriv.h, brick_table): only a walk
// from a known start can tell. It grows with the lookups, as far as the highest
// address that was asked for, by at most 1/512 of the memory that the dump has of
// the segment. It is safe for concurrent use.
type brickTable struct {
	mu     sync.Mutex
	starts []target.Addr // of objects, ascending
	done   target.Addr   // the walk has come so far; 0 before the first
}

// brickTables are those of a heap's segments, by the address of the first
// object. Segments that begin at one address are one and an empty one.
type brickTables struct {
	mu      sync.Mutex
	byStart map[target.Addr]*brickTable
	walkers sync.Pool // a walker has a cache that costs more than a lookup
}

func (t *brickTables) of(s *Segment) *brickTable {
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

// walkAround passes the objects of s to out, from one that starts before a, if
// there is any, until out wants no more.
func (h *Heap) walkAround(s *Segment, a target.Addr, out sink) {
	w, ok := h.bricks.walkers.Get().(*walker)
	if !ok {
		w = newWalker(h)
	}
	defer h.bricks.walkers.Put(w)
	from := h.bricks.of(s).before(w, s, a)
	w.walk(s, from, s.Objects.End, out)
}

// before is the last known start before a, else the segment's.
func (b *brickTable) before(w *walker, s *Segment, a target.Addr) target.Addr {
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

// objects makes the brickTable the sink of its walk.
func (b *brickTable) objects(_ *Segment, batch []Object) bool {
	for i := range batch {
		if a := batch[i].Addr; len(b.starts) == 0 || a-b.starts[len(b.starts)-1] >= brickSize {
			b.starts = append(b.starts, a)
		}
	}
	return true
}

func (b *brickTable) corrupt(*Corruption) bool { return true }
