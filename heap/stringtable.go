package heap

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

const (
	stringParts = 256     // parts of a stringTable; a power of two
	stringLanes = 8       // lanes of hashed strings: a lane serves every eighth part
	stringChunk = 1 << 10 // entries that a part gets at once, so that it grows without copying
	stringSlab  = 1 << 19 // entries (16 MB) requested from the system at once
	ownSlots    = 1 << 12 // minimum slots that are outside Go's heap
)

// A stringTable counts strings by the hash of their content. Bits of the hash select a part, which one
// goroutine at a time fills. Its memory is outside Go's heap and released by sort or free.
type stringTable struct {
	parts  [stringParts]stringPart
	most   int // maximum entries of a part
	budget *offheap.Budget
	room   stringRoom
	unread unreadStrings
}

// A stringRoom holds the entries of all parts of a table.
type stringRoom struct {
	mu     sync.Mutex
	budget *offheap.Budget
	slabs  []*offheap.Array[stringEntry]
	left   []stringEntry // rest of the last slab
}

// chunk returns room for stringChunk entries.
func (r *stringRoom) chunk() ([]stringEntry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 {
		slab, err := offheap.Make[stringEntry](r.budget, stringSlab)
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
	// slots hold an entry's number plus 1 below bits of its hash, which usually decide whether the entry matches.
	slots  []uint64
	own    *offheap.Array[uint64] // backs slots if there are many
	chunks [][]stringEntry
	n      int
	beyond uint64 // number of strings with content that did not fit
	full   error  // the system's error when memory ran out
}

// stringNumber masks the bits of a slot that hold an entry's number.
const stringNumber = 1<<20 - 1

const _ = uint(stringNumber - limits.StringContents/stringParts) // the bits suffice

// A stringEntry is half a cache line, since each string touches a random one. It lacks half of the
// hash: 44 bits are in the slot and 8 are the number of the part, 116 bits in all.
type stringEntry struct {
	b     uint64
	first target.Addr
	count uint64
	size  uint64 // bytes of one string
}

func newStringTable(budget *offheap.Budget) *stringTable {
	return &stringTable{most: limits.StringContents / stringParts, budget: budget, room: stringRoom{budget: budget}}
}

// addAll adds strings of one lane. It first loads the slots of several strings at once: the table
// exceeds any cache, and one string after another would wait for memory twice. (This halves the time.)
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

// slot returns the slot at which the search for a hash begins.
func (p *stringPart) slot(b uint64) uint64 {
	if len(p.slots) == 0 {
		return 0
	}
	return p.slots[b&uint64(len(p.slots)-1)]
}

// again counts s if it is the entry of a slot. Entry numbers are unchanged when the slots grow.
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
		p.full = p.grow(t.budget)
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

// grow doubles the slots. Without memory for that they stay as they are.
func (p *stringPart) grow(budget *offheap.Budget) error {
	old, before := p.slots, p.own
	if n := max(64, 2*len(old)); n < ownSlots {
		p.slots = make([]uint64, n)
	} else {
		own, err := offheap.Make[uint64](budget, n)
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

// free releases the memory of a part except for its entries.
func (p *stringPart) free() {
	p.own.Free()
	p.slots, p.own, p.chunks, p.n = nil, nil, nil, 0
}

// free releases all memory.
func (t *stringTable) free() {
	for i := range t.parts {
		t.parts[i].free()
	}
	t.room.free()
}

// gap reports how many strings did not fit into the table, or else how many could not be read.
func (t *stringTable) gap() error {
	var n uint64
	var full error
	for i := range t.parts {
		n += t.parts[i].beyond
		full = cmp.Or(full, t.parts[i].full)
	}
	switch {
	case n == 0:
		return t.unread.err()
	case full != nil:
		return fmt.Errorf("%d strings are not counted: %w", n, full)
	}
	return target.Unsupportedf("more than %d different strings: %d strings are not counted", stringParts*t.most, n)
}
