package waste

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/waste/internal/marks"
	"github.com/sosgo/sosgo/target"
)

// A place stores references in objects of one type: a field, or the elements of an array.
type place struct {
	plan   uint32
	offset uint32 // of a field from the object's start; in an array, inside an element
	kind   kind   // kind of the referents
	repeat uint32 // index of a listed repeated string, plus 1; 0 for all strings of the kind
	root   uint32 // index of a static field, or of a local counted after them, plus 1; 0 for places in objects
}

// A holding is the waste behind the references of a place.
type holding struct{ references, wasted uint64 }

// A holderSearch finds references to wasteful objects in a run of objects.
type holderSearch struct {
	f       *finder
	planner planner
	edges   *heap.Edges
	marked  marks.Marker
	strings *heap.ContentHasher
	boxes   *heap.ContentHasher
	texts   []heap.Object // strings found and not looked up yet
	places  []place       // places that refer to them
	held    map[place]holding
	last    place // not yet in held: neighbours are often equal
	now     holding
	missing uint64
	err     error
	inTable bool // the object contains values of static fields
}

func newHolderSearch(f *finder) *holderSearch {
	return &holderSearch{f: f, planner: planner{plans: f.plans}, edges: f.h.Edges(heap.EdgeOptions{}), marked: f.marked.Marker(),
		strings: f.h.NewContentHasher(), boxes: f.h.NewContentHasher(), held: map[place]holding{}}
}

// Corrupt does nothing: the first scan has reported it.
func (s *holderSearch) Corrupt(*heap.Corruption) {}

// Reset discards everything.
func (s *holderSearch) Reset() {
	clear(s.held)
	s.texts, s.places = s.texts[:0], s.places[:0]
	s.last, s.now, s.missing, s.err = place{}, holding{}, 0, nil
}

// Objects examines a batch.
func (s *holderSearch) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		o := &batch[i]
		if o.Free || !o.Type.ContainsPointers() || s.f.o.Live != nil && !s.f.o.Live(o.Addr) {
			continue
		}
		p := s.planner.of(o)
		if p.class == classBeyond {
			continue
		}
		s.inTable = p.class == classReferences && s.f.tables[o.Addr]
		for ref, err := range s.edges.Of(o) {
			if err != nil {
				s.missing += max(ref.Missing, 1) // a type with unknown references counts as one
				s.err = cmp.Or(s.err, err)
			} else if s.marked.Has(ref.Target) {
				s.follow(o, p, &ref)
			}
		}
	}
	s.lookUp()
	s.flush()
}

// follow counts a reference if its referent wastes memory.
func (s *holderSearch) follow(o *heap.Object, p *plan, ref *heap.Reference) {
	at := place{plan: p.id, offset: uint32(ref.Slot - o.Addr)}
	if p.data != 0 {
		at.offset = uint32(uint64(ref.Slot-o.Addr-p.data) % max(p.size, 1))
	}
	if s.inTable {
		if n, ok := s.f.statics[ref.Slot]; ok {
			at = place{root: n}
		}
	}
	s.to(at, ref.Target)
}

// to counts a reference from a place to the object at a.
func (s *holderSearch) to(at place, a target.Addr) {
	to, err := s.f.h.ObjectAt(a)
	if err != nil {
		return
	}
	switch s.planner.of(&to).class {
	case classString:
		at.kind = strings
		s.texts, s.places = append(s.texts, to), append(s.places, at)
		if len(s.texts) == heap.LookupBatch {
			s.lookUp()
		}
	case classBox:
		at.kind = boxes
		if c, ok := s.f.boxes.OfValue(s.boxes, &to); ok {
			s.repeated(at, &c)
		}
	default:
		i, ok := slices.BinarySearchFunc(s.f.found, to.Addr, func(f finding, a target.Addr) int { return cmp.Compare(f.addr, a) })
		if ok {
			at.kind = s.f.found[i].kind()
			s.count(at, s.f.found[i].wasted())
		}
	}
}

// lookUp counts the references to the collected strings.
func (s *holderSearch) lookUp() {
	s.f.strings.OfStrings(s.strings, s.texts, func(i int, c heap.StringStats) { s.repeated(s.places[i], &c) })
	s.texts, s.places = s.texts[:0], s.places[:0]
}

// repeated counts a reference to a repeated value. Each of n copies wastes (n-1)/n of its size.
func (s *holderSearch) repeated(at place, c *heap.StringStats) {
	if c.Count < 2 {
		return
	}
	wasted := c.Size * (c.Count - 1) / c.Count
	s.count(at, wasted)
	if at.kind != strings || c.Size*(c.Count-1) < s.f.least {
		return
	}
	if n, ok := s.f.top[c.First]; ok {
		at.repeat = n + 1
		s.count(at, wasted)
	}
}

func (s *holderSearch) count(at place, wasted uint64) {
	if at != s.last {
		s.flush()
		s.last = at
	}
	s.now.references++
	s.now.wasted += wasted
}

// flush adds the counts of the last place to held.
func (s *holderSearch) flush() {
	if s.now.references > 0 {
		h := s.held[s.last]
		s.held[s.last] = holding{h.references + s.now.references, h.wasted + s.now.wasted}
	}
	s.now = holding{}
}
