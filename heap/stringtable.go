package heap

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/internal/workers"
	"github.com/sosgo/sosgo/target"
)

const (
	stringParts = 256     // of a stringTable; a power of two
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

type stringEntry struct {
	a, b  uint64
	first target.Addr
	count uint64
	size  uint64 // of one, in bytes
}

func newStringTable() *stringTable { return &stringTable{most: limits.StringContents / stringParts} }

// addAll adds those of list that are in every n-th part from first on.
func (t *stringTable) addAll(list []hashedString, first, n int) {
	for i := range list {
		s := &list[i]
		if part := int(s.a % stringParts); part%n == first {
			t.parts[part].add(s, t.most)
		}
	}
}

func (p *stringPart) add(s *hashedString, most int) {
	if 4*p.n >= 3*len(p.slots) {
		p.grow()
	}
	const number = 1<<32 - 1
	mask := uint64(len(p.slots) - 1)
	at := s.b & mask
	for ; p.slots[at] != 0; at = (at + 1) & mask {
		if (p.slots[at]^s.a)&^number != 0 {
			continue
		}
		if e := p.entry(int(p.slots[at]&number) - 1); e.a == s.a && e.b == s.b {
			e.count++
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
	*p.entry(p.n) = stringEntry{a: s.a, b: s.b, first: s.addr, count: 1, size: s.size}
	p.n++
	p.slots[at] = s.a&^number | uint64(p.n)
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
		at := p.entry(int(uint32(v))-1).b & mask
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

func (e *stringEntry) stats() StringStats {
	return StringStats{First: e.first, Count: e.count, Size: e.size}
}

// sorted yields the contents by total size, then by the first of their strings. Parts are sorted by several goroutines,
// and merged while they are ranged over.
func (t *stringTable) sorted(jobs int) iter.Seq[StringStats] {
	return func(yield func(StringStats) bool) {
		var group workers.Group
		jobs = min(jobs, stringParts)
		lists := make([][]uint32, stringParts)
		for j := range jobs {
			group.Go(func() {
				for i := j; i < stringParts; i += jobs {
					lists[i] = t.parts[i].sorted()
				}
			})
		}
		group.Wait()
		var m stringMerge
		for i, list := range lists {
			if len(list) > 0 {
				m.tops = append(m.tops, stringTop{stats: t.parts[i].entry(int(list[0])).stats(), part: &t.parts[i], rest: list[1:]})
			}
		}
		heap.Init(&m)
		for len(m.tops) > 0 {
			top := &m.tops[0]
			if !yield(top.stats) {
				return
			}
			if len(top.rest) == 0 {
				heap.Pop(&m)
				continue
			}
			top.stats, top.rest = top.part.entry(int(top.rest[0])).stats(), top.rest[1:]
			heap.Fix(&m, 0)
		}
	}
}

// sorted returns the numbers of the entries in order, and frees the slots.
func (p *stringPart) sorted() []uint32 {
	p.slots = nil
	list := make([]uint32, p.n)
	for i := range list {
		list[i] = uint32(i)
	}
	slices.SortFunc(list, func(i, j uint32) int {
		a, b := p.entry(int(i)).stats(), p.entry(int(j)).stats()
		return compareStrings(&a, &b)
	})
	return list
}

func compareStrings(a, b *StringStats) int {
	return cmp.Or(cmp.Compare(a.TotalSize(), b.TotalSize()), cmp.Compare(a.First, b.First))
}

// A stringMerge has the smallest of the parts' entries on top.
type stringMerge struct{ tops []stringTop }

type stringTop struct {
	stats StringStats
	part  *stringPart
	rest  []uint32
}

func (m *stringMerge) Len() int { return len(m.tops) }
func (m *stringMerge) Less(i, j int) bool {
	return compareStrings(&m.tops[i].stats, &m.tops[j].stats) < 0
}
func (m *stringMerge) Swap(i, j int) { m.tops[i], m.tops[j] = m.tops[j], m.tops[i] }
func (m *stringMerge) Push(any)      {}
func (m *stringMerge) Pop() any {
	m.tops = m.tops[:len(m.tops)-1]
	return nil
}
