package heap

import (
	"cmp"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

const (
	stringParts = 256     // of a stringTable; a power of two
	stringLanes = 8       // of hashed strings: those of a lane belong into every eighth part
	stringChunk = 1 << 10 // entries that are allocated at once: a part grows without being copied
)

// A stringTable counts strings by the hash of their content. It has parts, by bits of the hash, each of which one
// goroutine at a time fills.
type stringTable struct {
	parts [stringParts]stringPart
	most  int // entries of a part
}

// A stringPart is a hash table with linear probing.
type stringPart struct {
	// slots have the number of an entry, plus 1, below bits of its hash: mostly they tell whether an entry is the one.
	slots  []uint64
	chunks [][]stringEntry
	n      int
	beyond uint64 // strings whose content had no room
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
				p.add(s, t.most)
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

func (p *stringPart) add(s *hashedString, most int) {
	if 4*p.n >= 3*len(p.slots) {
		p.grow()
	}
	mask := uint64(len(p.slots) - 1)
	at := s.b & mask
	for ; p.slots[at] != 0; at = (at + 1) & mask {
		if p.again(s, p.slots[at]) {
			return
		}
	}
	if p.n == most {
		p.beyond++
		return
	}
	if p.n%stringChunk == 0 {
		p.chunks = append(p.chunks, make([]stringEntry, stringChunk))
	}
	*p.entry(p.n) = stringEntry{b: s.b, first: s.addr, count: 1, size: s.size}
	p.n++
	p.slots[at] = s.a&^stringNumber | uint64(p.n)
}

func (p *stringPart) entry(i int) *stringEntry { return &p.chunks[i/stringChunk][i%stringChunk] }

// grow doubles the slots.
func (p *stringPart) grow() {
	old := p.slots
	p.slots = make([]uint64, max(64, 2*len(old)))
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
}

// gap says how many strings the table had no room for.
func (t *stringTable) gap() error {
	var n uint64
	for i := range t.parts {
		n += t.parts[i].beyond
	}
	if n == 0 {
		return nil
	}
	return target.Unsupportedf("more than %d different strings: %d strings are not counted", stringParts*t.most, n)
}

func compareStrings(a, b *StringStats) int {
	return cmp.Or(cmp.Compare(a.TotalSize(), b.TotalSize()), cmp.Compare(a.First, b.First))
}
