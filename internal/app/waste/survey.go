package waste

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/waste/internal/marks"
	"github.com/sosgo/sosgo/target"
)

// A finding is an object that wastes memory.
type finding struct {
	addr target.Addr
	what uint64 // packs the kind, the number of the type's plan and the wasted bytes, from the highest bits on
}

const (
	planBits = 20 // limits.WasteTypes
	sizeBits = 40 // limits.ObjectBytes
)

func newFinding(a target.Addr, k kind, p *plan, wasted uint64) finding {
	return finding{a, uint64(k)<<(planBits+sizeBits) | uint64(p.id)<<sizeBits | min(wasted, 1<<sizeBits-1)}
}

func (f *finding) kind() kind     { return kind(f.what >> (planBits + sizeBits)) }
func (f *finding) plan() uint32   { return uint32(f.what >> sizeBits & (1<<planBits - 1)) }
func (f *finding) wasted() uint64 { return f.what & (1<<sizeBits - 1) }

// A tally sums up the objects of one type: boxes and collections.
type tally struct{ objects, size, elements, capacity uint64 }

// A freeTally counts the free blocks and objects of a generation.
type freeTally struct{ objects, free, blocks, largest uint64 }

// counts are the sums of a survey.
type counts struct {
	objects, size        uint64
	strings, stringsSize uint64
	tallies              []tally // by the number of the plan
	free                 [heap.GenerationUnknown]freeTally
	unread, unreadTypes  uint64
	firstUnread          error
}

func (c *counts) tally(p *plan) *tally {
	for int(p.id) >= len(c.tallies) {
		c.tallies = append(c.tallies, tally{})
	}
	return &c.tallies[p.id]
}

func (c *counts) add(b *counts) {
	c.objects += b.objects
	c.size += b.size
	c.strings += b.strings
	c.stringsSize += b.stringsSize
	for id := range b.tallies {
		t := c.tally(&plan{id: uint32(id)})
		t.objects += b.tallies[id].objects
		t.size += b.tallies[id].size
		t.elements += b.tallies[id].elements
		t.capacity += b.tallies[id].capacity
	}
	for g := range c.free {
		c.free[g].objects += b.free[g].objects
		c.free[g].free += b.free[g].free
		c.free[g].blocks += b.free[g].blocks
		c.free[g].largest = max(c.free[g].largest, b.free[g].largest)
	}
	c.unread += b.unread
	c.unreadTypes += b.unreadTypes
	c.firstUnread = cmp.Or(c.firstUnread, b.firstUnread)
}

// A survey examines a run of objects.
type survey struct {
	*heap.Counter // for corruptions only
	f             *finder
	planner       planner
	win           *target.Window
	marked        marks.Marker // possibly wasteful objects with holders to find
	owned         marks.Marker // arrays of collections
	freeEnds      marks.Marker // where free blocks end
	strings       *heap.ContentHasher
	boxes         *heap.ContentHasher
	found         []finding // by address
	counts
}

func newSurvey(f *finder) *survey {
	return &survey{Counter: heap.NewCounter(f.h, nil), f: f, planner: planner{plans: f.plans}, win: target.NewWindow(f.h.Runtime().Memory()),
		marked: f.marked.Marker(), owned: f.owned.Marker(), freeEnds: f.freeEnds.Marker(), strings: f.h.NewContentHasher(), boxes: f.h.NewContentHasher()}
}

// Reset discards everything except marks, which only select objects for a second look.
func (s *survey) Reset() {
	s.Counter.Reset()
	s.strings.Reset()
	s.boxes.Reset()
	s.found = s.found[:0]
	tallies := s.tallies
	clear(tallies)
	s.counts = counts{tallies: tallies}
}

// Objects examines a batch.
func (s *survey) Objects(seg *heap.Segment, batch []heap.Object) {
	for i := range batch {
		o := &batch[i]
		g := seg.Generation(o.Addr)
		if g >= heap.GenerationUnknown {
			continue
		}
		t := &s.free[g]
		if o.Free {
			t.blocks, t.free, t.largest = t.blocks+1, t.free+o.Size, max(t.largest, o.Size)
			s.freeEnds.Set(o.Next())
			continue
		}
		t.objects += o.Size
		if s.f.o.Live != nil && !s.f.o.Live(o.Addr) {
			continue
		}
		s.objects++
		s.size += o.Size
		if err := s.look(o, s.planner.of(o)); err != nil {
			s.unread++
			s.firstUnread = cmp.Or(s.firstUnread, err)
		}
	}
}

func (s *survey) look(o *heap.Object, p *plan) error {
	switch p.class {
	case classString:
		s.counts.strings++
		s.stringsSize += o.Size
		if !s.f.want[strings] {
			return nil
		}
		s.marked.Set(o.Addr)
		return s.strings.String(o)
	case classReferences, classValues:
		return s.array(o, p)
	case classBox:
		if !s.f.want[boxes] {
			return nil
		}
		t := s.tally(p)
		t.objects, t.size = t.objects+1, t.size+o.Size
		s.marked.Set(o.Addr)
		return s.boxes.Value(o)
	case classCollection:
		return s.collection(o, p)
	case classUnknown:
		s.tally(p).objects++
	case classPlain:
		return s.plain(o, p)
	case classBeyond:
		s.unreadTypes++
	}
	return nil
}

// find records that an object wastes memory.
func (s *survey) find(o *heap.Object, k kind, p *plan, wasted uint64) {
	if s.f.want[k] {
		s.found = append(s.found, newFinding(o.Addr, k, p, wasted))
		s.marked.Set(o.Addr)
	}
}

// plain checks whether all fields of an object are zero.
func (s *survey) plain(o *heap.Object, p *plan) error {
	const first = 8 // the MethodTable precedes the fields; the next object's header follows them
	for at := uint64(first); at < o.Size-8; {
		n := min(o.Size-8-at, piece)
		b, err := s.win.Bytes(o.Addr+target.Addr(at), int(n))
		if err != nil {
			return err
		}
		if !allZero(b) {
			return nil
		}
		at += n
	}
	if s.f.plans.hasFields(p) {
		s.find(o, zeroObjects, p, o.Size)
	}
	return nil
}

// piece is the number of bytes of an object that are examined at once.
const piece = 64 << 10

var zeroPiece [piece]byte

func allZero(b []byte) bool {
	if len(b) >= 8 && binary.LittleEndian.Uint64(b) != 0 { // decides most objects
		return false
	}
	return bytes.Equal(b, zeroPiece[:len(b)])
}

// array checks an array for nulls, zeros and equal elements.
func (s *survey) array(o *heap.Object, p *plan) error {
	switch {
	case o.Length == 0:
		s.find(o, emptyArrays, p, o.Size)
		return nil
	case p.size == 0:
		return nil
	case p.class == classReferences:
		return s.references(o, p)
	}
	zero, err := s.zeroTail(o, p)
	total := uint64(o.Length) * p.size
	switch {
	case err != nil:
		return err
	case zero == total && total >= SameBytes:
		s.find(o, zeros, p, total)
		return nil
	case zero >= TailBytes && zero*TailShare >= total && zero < total:
		s.find(o, tails, p, zero)
		return nil
	case zero > 0 || total < SameBytes || o.Length < 2 || p.refs || !s.f.want[constant]:
		return nil
	}
	same, err := s.same(o, p)
	if same {
		s.find(o, constant, p, total-p.size)
	}
	return err
}

// references counts the nulls of an array of references.
func (s *survey) references(o *heap.Object, p *plan) error {
	if !s.f.want[sparse] {
		return nil
	}
	nulls := uint64(0)
	for at, end := uint64(0), 8*uint64(o.Length); at < end; {
		n := min(end-at, piece)
		b, err := s.win.Bytes(o.Addr+p.data+target.Addr(at), int(n))
		if err != nil {
			return err
		}
		for ; len(b) >= 8; b = b[8:] {
			if binary.LittleEndian.Uint64(b) == 0 {
				nulls++
			}
		}
		at += n
	}
	if nulls*SparseShare >= uint64(o.Length) {
		s.find(o, sparse, p, 8*nulls)
	}
	return nil
}

// zeroTail returns the number of zero bytes at the end of an array, in whole elements.
func (s *survey) zeroTail(o *heap.Object, p *plan) (uint64, error) {
	total := uint64(o.Length) * p.size
	zero := uint64(0)
	for step := uint64(8); zero < total; step = min(8*step, piece) { // most arrays end at the first step
		n := min(total-zero, step)
		b, err := s.win.Bytes(o.Addr+p.data+target.Addr(total-zero-n), int(n))
		if err != nil {
			return 0, err
		}
		if bytes.Equal(b, zeroPiece[:n]) {
			zero += n
			continue
		}
		zero += n - uint64(len(bytes.TrimRight(b, "\x00")))
		break
	}
	return zero - zero%p.size, nil
}

// same reports whether all elements of an array are equal.
func (s *survey) same(o *heap.Object, p *plan) (bool, error) {
	total := uint64(o.Length) * p.size
	// Each element is compared with the previous one, so pieces overlap by one element.
	for at, step := uint64(0), 8*p.size; at+p.size < total; step = min(8*step, max(piece, 2*p.size)) {
		n := min(total-at, step/p.size*p.size)
		b, err := s.win.Bytes(o.Addr+p.data+target.Addr(at), int(n))
		if err != nil || !bytes.Equal(b[p.size:], b[:n-p.size]) {
			return false, err
		}
		at += n - p.size
	}
	return true, nil
}

// collection measures how full a collection is.
func (s *survey) collection(o *heap.Object, p *plan) error {
	count, err := s.win.Uint32(o.Addr + p.coll.Count)
	if err != nil {
		return err
	}
	if p.coll.Unused != 0 {
		n, err := s.win.Uint32(o.Addr + p.coll.Unused)
		if err != nil {
			return err
		}
		count -= n
	}
	room, unused, arrays := uint64(0), uint64(0), uint64(0)
	for i, off := range p.coll.Arrays {
		a, err := s.backing(o, off)
		if err != nil {
			return err
		}
		if a == nil || a.Length == 0 {
			continue // not allocated yet, or shared by all empty collections
		}
		if i == 0 {
			room = uint64(a.Length)
		}
		s.owned.Set(a.Addr)
		arrays += a.Size
		unused += uint64(a.Type.ComponentSize) * (uint64(a.Length) - min(uint64(count), uint64(a.Length)))
	}
	if len(p.coll.Arrays) > 0 && uint64(count) > room || int32(count) < 0 {
		return target.CorruptHeapf("collection %#x: %d elements and room for %d", uint64(o.Addr), int32(count), room)
	}
	t := s.tally(p)
	t.objects, t.elements, t.capacity = t.objects+1, t.elements+uint64(count), t.capacity+room
	switch {
	case count == 0:
		s.find(o, emptyCollections, p, o.Size+arrays)
	case uint64(count)*FillShare <= room:
		s.find(o, underfilled, p, unused)
	}
	return nil
}

// backing returns the array that a field refers to, or nil.
func (s *survey) backing(o *heap.Object, off target.Addr) (*heap.Object, error) {
	at, err := s.win.Uint64(o.Addr + off)
	if err != nil || at == 0 {
		return nil, err
	}
	a, err := s.f.h.ObjectAt(target.Addr(at))
	if err != nil {
		return nil, err
	}
	if !a.Type.IsArray() || s.f.h.Segment(a.Addr) == nil {
		return nil, target.CorruptHeapf("collection %#x: %#x is not an array of the heap", uint64(o.Addr), at)
	}
	return &a, nil
}
