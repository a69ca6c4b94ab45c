package heap

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/internal/offheap"
	"github.com/sosgo/sosgo/target"
)

const (
	stringParts = 256     // of a stringTable; a power of two
	stringLanes = 8       // of hashed strings: those of a lane belong into every eighth part
	stringChunk = 1 << 10 // entries that a part gets at once: it grows without being copied
	stringSlab  = 1 << 19 // entries, 16 MB, that the system is asked for at once
	ownSlots    = 1 << 12 // slots from which on they are outside Go's heap
)

// A stringTable counts strings by the hash of their content. It has parts, by bits of the hash, each of which one
// goroutine at a time fills. Its memory is outside Go's heap, and given back by sort or free.
type stringTable struct {
	parts [stringParts]stringPart
	most  int // entries of a part
	room  stringRoom
}

// A stringRoom has the entries of a table, for all its parts.
type stringRoom struct {
	mu    sync.Mutex
	slabs []*offheap.Array[stringEntry]
	left  []stringEntry // of the last one
}

// chunk is room for stringChunk entries.
func (r *stringRoom) chunk() ([]stringEntry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 {
		slab, err := offheap.Make[stringEntry](nil, stringSlab)
		if err != nil {
			return nil, err
		}
		r.slabs, r.left = append(r.slabs, slab), slab.Slice()
	}
	chunk := r.left[:stringChunk:stringChunk]
	r.left = r.left[stringChunk:]
	return chunk, nil
}

func (r *stringRoom) free() {
	for _, slab := range r.slabs {
		slab.Free()
	}
	r.slabs, r.left = nil, nil
}

// A stringPart is a hash table with linear probing.
type stringPart struct {
	// slots have the number of an entry, plus 1, below bits of its hash: mostly they tell whether an entry is the one.
	slots  []uint64
	own    *offheap.Array[uint64] // that the slots are, if there are many
	chunks [][]stringEntry
	n      int
	beyond uint64 // strings whose content had no room
	full   error  // the system's, which has no more memory
}

// stringNumber are the bits of a slot that number an entry.
const stringNumber = 1<<20 - 1

const _ = uint(stringNumber - limits.StringContents/stringParts) // there are enough of them

// A stringEntry is half of a cache line, for each string touches one at random. Half of the hash is not here: 44 bits of
// it are in the slot, and 8 are the number of the part, which makes 116 bits.
type stringEntry struct {
	b     uint64
	first target.Addr
	count uint64
	size  uint64 // of one, in bytes
}

func newStringTable() *stringTable { return &stringTable{most: limits.StringContents / stringParts} }

// addAll adds strings of one lane. First the slots of several are loaded, none of which waits for another: the table is
// larger than any cache, and one string after the other would wait for memory twice (this halves the time).
func (t *stringTable) addAll(list []hashedString) {
	var slots [32]uint64
	for len(list) > 0 {
		group := list[:min(len(list), len(slots))]
		for i := range group {
			s := &group[i]
			slots[i] = t.parts[s.a%stringParts].slot(s.b)
		}
		for i := range group {
			s := &group[i]
			if p := &t.parts[s.a%stringParts]; !p.again(s, slots[i]) {
				p.add(s, t)
			}
		}
		list = list[len(group):]
	}
}

// slot is the slot where the search for a hash begins.
func (p *stringPart) slot(b uint64) uint64 {
	if len(p.slots) == 0 {
		return 0
	}
	return p.slots[b&uint64(len(p.slots)-1)]
}

// again counts s if it is the entry of that slot. Numbers of entries stay when the slots grow.
func (p *stringPart) again(s *hashedString, slot uint64) bool {
	if slot == 0 || (slot^s.a)&^stringNumber != 0 {
		return false
	}
	e := p.entry(int(slot&stringNumber) - 1)
	if e.b != s.b {
		return false
	}
	e.count++
	return true
}

func (p *stringPart) add(s *hashedString, t *stringTable) {
	if 4*p.n >= 3*len(p.slots) && p.full == nil {
		p.full = p.grow()
	}
	if len(p.slots) == 0 {
		p.beyond++
		return
	}
	mask := uint64(len(p.slots) - 1)
	at := s.b & mask
	for ; p.slots[at] != 0; at = (at + 1) & mask {
		if p.again(s, p.slots[at]) {
			return
		}
	}
	if p.n/stringChunk == len(p.chunks) && p.n < t.most && p.full == nil {
		var chunk []stringEntry
		if chunk, p.full = t.room.chunk(); p.full == nil {
			p.chunks = append(p.chunks, chunk)
		}
	}
	if p.n == t.most || p.full != nil {
		p.beyond++
		return
	}
	*p.entry(p.n) = stringEntry{b: s.b, first: s.addr, count: 1, size: s.size}
	p.n++
	p.slots[at] = s.a&^stringNumber | uint64(p.n)
}

func (p *stringPart) entry(i int) *stringEntry { return &p.chunks[i/stringChunk][i%stringChunk] }

// grow doubles the slots. Where there is no memory for that they stay as they are.
func (p *stringPart) grow() error {
	old, before := p.slots, p.own
	if n := max(64, 2*len(old)); n < ownSlots {
		p.slots = make([]uint64, n)
	} else {
		own, err := offheap.Make[uint64](nil, n)
		if err != nil {
			return err
		}
		p.slots, p.own = own.Slice(), own
	}
	mask := uint64(len(p.slots) - 1)
	for _, v := range old {
		if v == 0 {
			continue
		}
		at := p.entry(int(v&stringNumber)-1).b & mask
		for ; p.slots[at] != 0; at = (at + 1) & mask {
		}
		p.slots[at] = v
	}
	before.Free()
	return nil
}

// free gives the memory of a part back, but for its entries.
func (p *stringPart) free() {
	p.own.Free()
	p.slots, p.own, p.chunks, p.n = nil, nil, nil, 0
}

// free gives all memory back.
func (t *stringTable) free() {
	for i := range t.parts {
		t.parts[i].free()
	}
	t.room.free()
}

// gap says how many strings the table had no room for.
func (t *stringTable) gap() error {
	var n uint64
	var full error
	for i := range t.parts {
		n += t.parts[i].beyond
		full = cmp.Or(full, t.parts[i].full)
	}
	switch {
	case n == 0:
		return nil
	case full != nil:
		return fmt.Errorf("%d strings are not counted: %w", n, full)
	}
	return target.Unsupportedf("more than %d different strings: %d strings are not counted", stringParts*t.most, n)
}

func compareStrings(a, b *StringStats) int {
	return cmp.Or(cmp.Compare(a.TotalSize(), b.TotalSize()), cmp.Compare(a.First, b.First))
}
