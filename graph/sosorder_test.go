package graph_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/internal/sosorder"
)

// A naiveSearch does what ClrMD's GCRoot does, byte by byte: maps of addresses, and records of 32 bytes that start with
// their position.
type naiveSearch struct {
	target uint64
	refs   map[uint64][]uint64
	seen   map[uint64]bool
	found  map[uint64]*naiveLink
	stack  [][]byte
}

type naiveLink struct {
	object uint64
	next   *naiveLink
}

// put stores an address at an offset of a record. It returns the offset after it, or 0 if there is no room.
func put(record []byte, a uint64, offset int) int {
	if a == 0 {
		return offset
	}
	size, tag := 8, uint64(0)
	switch {
	case a < 1<<40:
		size, tag = 5, 2
	case a < 1<<48:
		size, tag = 6, 1
	}
	if len(record)-offset < size {
		return 0
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], a|tag)
	copy(record[offset:], b[:size])
	if offset += size; offset < len(record) {
		record[offset] = 3
	}
	return offset
}

// get reads the address at an offset. It returns the address, 0 at the end, and the offset after it.
func get(record []byte, offset int) (uint64, int) {
	if offset >= len(record) {
		return 0, offset
	}
	size := [...]int{8, 6, 5, 0}[record[offset]&3]
	if size == 0 || len(record)-offset < size {
		return 0, offset
	}
	var b [8]byte
	copy(b[:], record[offset:offset+size])
	return binary.LittleEndian.Uint64(b[:]) &^ 3, offset + size
}

func next(record []byte) uint64 {
	a, offset := get(record, int(record[0]))
	record[0] = byte(offset)
	return a
}

func objectOf(record []byte) uint64 {
	a, _ := get(record, 1)
	return a
}

func parentIn(record []byte) uint64 {
	_, offset := get(record, 1)
	a, _ := get(record, offset)
	return a
}

func (s *naiveSearch) walk(parent, a uint64) *naiveLink {
	if a == s.target {
		s.found[a] = &naiveLink{object: a}
		return s.found[a]
	}
	var record []byte
	offset := 0
	fresh := func() {
		record = make([]byte, 32)
		offset = put(record, parent, put(record, a, 1))
		record[0] = byte(offset)
	}
	push := func() {
		if record != nil {
			s.stack = append(s.stack, record)
		}
	}
	for _, r := range s.refs[a] {
		if l := s.found[r]; l != nil {
			s.found[a] = &naiveLink{a, l}
			push()
			return s.found[a]
		}
		if s.seen[r] {
			continue
		}
		s.seen[r] = true
		if record == nil {
			fresh()
		}
		if offset = put(record, r, offset); offset == 0 {
			push()
			fresh()
			offset = put(record, r, offset)
		}
	}
	push()
	return nil
}

func (s *naiveSearch) add(a uint64, l *naiveLink) *naiveLink {
	if s.found[a] == nil {
		s.found[a] = &naiveLink{a, l}
	}
	delete(s.seen, a)
	return s.found[a]
}

func (s *naiveSearch) drain() {
	for _, record := range s.stack {
		for a := next(record); a != 0; a = next(record) {
			delete(s.seen, a)
		}
	}
	s.stack = nil
}

func (s *naiveSearch) from(start uint64) *naiveLink {
	if l := s.found[start]; l != nil {
		return l
	}
	if start == s.target {
		return s.walk(0, start)
	}
	s.stack = nil
	if l := s.walk(0, start); l != nil {
		s.drain()
		return l
	}
	for len(s.stack) > 0 {
		record := s.stack[len(s.stack)-1]
		child := next(record)
		if child == 0 {
			s.stack = s.stack[:len(s.stack)-1]
			continue
		}
		l := s.walk(objectOf(record), child)
		if l == nil {
			continue
		}
		object, parent := objectOf(record), parentIn(record)
		l = s.add(object, l)
		slices.Reverse(s.stack)
		for _, other := range s.stack {
			if objectOf(other) == object {
				continue
			}
			if object = objectOf(other); object == parent {
				l, parent = s.add(object, l), parentIn(other)
			} else {
				delete(s.seen, object)
			}
		}
		s.drain()
		return l
	}
	return nil
}

// TestSOSSearch compares the search with one written like SOS's, on random graphs with objects at addresses of 5, 6 and
// 8 bytes, from several roots one after the other.
func TestSOSSearch(t *testing.T) {
	found := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 11))
		n := 2 + r.IntN(60)
		addresses := make([]uint64, n)
		narrow, middle := r.IntN(n+1), r.IntN(n+1)
		narrow, middle = min(narrow, middle), max(narrow, middle)
		for i := range addresses {
			addresses[i] = uint64(i+1) * 24
			if i >= narrow {
				addresses[i] += 1 << 40
			}
			if i >= middle {
				addresses[i] += 1 << 48
			}
		}
		rows, refs := make([][]graph.Node, n), map[uint64][]uint64{}
		for i := range rows {
			for range r.IntN(1 + r.IntN(12)) {
				to := graph.Node(r.IntN(n))
				rows[i] = append(rows[i], to)
				refs[addresses[i]] = append(refs[addresses[i]], addresses[to])
			}
		}
		to := graph.Node(r.IntN(n))
		s := sosorder.New(n, to, graph.Node(narrow), graph.Node(middle), func(n graph.Node) []graph.Node { return rows[n] })
		naive := &naiveSearch{target: addresses[to], refs: refs, seen: map[uint64]bool{}, found: map[uint64]*naiveLink{}}
		for range 8 {
			start := graph.Node(r.IntN(n))
			var got []graph.Node
			if r.IntN(2) == 0 || leads(rows, start, to) {
				var err error
				got, err = s.From(t.Context(), start)
				require.NoError(t, err)
			} else {
				require.NoError(t, s.Pass(t.Context(), start))
			}
			var want []graph.Node
			for l := naive.from(addresses[start]); l != nil; l = l.next {
				want = append(want, graph.Node(slices.Index(addresses, l.object)))
			}
			require.Equal(t, want, got, "seed %d", seed)
			if len(got) > 2 {
				found++
			}
		}
	}
	assert.Greater(t, found, 1000)
}

func leads(rows [][]graph.Node, from, to graph.Node) bool {
	met := map[graph.Node]bool{from: true}
	for queue := []graph.Node{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		for _, r := range rows[queue[0]] {
			if !met[r] {
				met[r] = true
				queue = append(queue, r)
			}
		}
	}
	return false
}
