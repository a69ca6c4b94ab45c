package digraph

import (
	"sync"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// An edgeStore groups edges by target number: part p holds, in no order, the edges into 65,536
// consecutive numbers. Each worker fills its own blocks for each part. An edge takes 6 bytes; free
// space in blocks is 1.5 KB per part and worker, or 0.02 bytes per number and worker.
type edgeStore struct {
	writers []edgeWriter
	numbers int // all edges lead into smaller numbers

	mu     sync.Mutex // guards the following fields
	blocks *offheap.Array[block]
	used   int
	failed error
}

// An edgeWriter holds the blocks of one worker.
type edgeWriter struct {
	heads []uint32 // by part: index of the last block + 1
	view  []block  // all blocks at the time of the writer's last request, including its own
}

const (
	partBits  = 16
	partSize  = 1 << partBits
	blockSize = 512
	growth    = 1 << 10 // blocks: 3 MB
)

type block struct {
	next uint32 // index + 1 of the previous block of the part, or 0
	n    uint32
	from [blockSize]uint32
	into [blockSize]uint16 // low bits
}

func newEdgeStore(budget *offheap.Budget, numbers, edges, workers int) (*edgeStore, error) {
	parts := numbers>>partBits + 1
	s := &edgeStore{writers: make([]edgeWriter, workers), numbers: numbers}
	for w := range s.writers {
		s.writers[w].heads = make([]uint32, parts)
	}
	var err error
	s.blocks, err = offheap.Reserve[block](budget, edges/blockSize+parts*workers+growth)
	return s, err
}

// Free releases the edges.
func (s *edgeStore) Free() {
	if s != nil {
		s.blocks.Free()
	}
}

// put stores an edge. Only worker w may call it. It sets failed if there is no memory.
func (s *edgeStore) put(w int, from, into uint32) {
	writer := &s.writers[w]
	head := writer.heads[into>>partBits]
	if head == 0 || writer.view[head-1].n == blockSize {
		next := head
		if head = s.add(writer); head == 0 {
			return
		}
		writer.heads[into>>partBits] = head
		writer.view[head-1].next = next
	}
	b := &writer.view[head-1]
	b.from[b.n] = from
	b.into[b.n] = uint16(into)
	b.n++
}

// add allocates a block and returns its index + 1, or 0 if there is no memory.
func (s *edgeStore) add(writer *edgeWriter) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == len(s.blocks.Slice()) {
		if err := s.blocks.Grow(min(s.blocks.Cap(), s.used+growth)); err != nil {
			s.failed = err
			return 0
		}
	}
	writer.view = s.blocks.Slice()
	s.used++
	return uint32(s.used)
}

// done ends storing. It trims the memory and returns the first failure.
func (s *edgeStore) done() error {
	s.blocks.Shrink(s.used)
	return s.failed
}

func (s *edgeStore) parts() int { return len(s.writers[0].heads) }

// length returns how many numbers a part covers.
func (s *edgeStore) length(part int) int { return min(partSize, s.numbers-part<<partBits) }

// all visits the blocks of a part.
func (s *edgeStore) all(part int, f func(*block)) {
	blocks := s.blocks.Slice()
	for w := range s.writers {
		for at := s.writers[w].heads[part]; at != 0; at = blocks[at-1].next {
			f(&blocks[at-1])
		}
	}
}

// sizes returns the number of edges of each part, and the largest.
func (s *edgeStore) sizes() (sizes []uint32, most int) {
	sizes = make([]uint32, s.parts())
	for p := range sizes {
		s.all(p, func(b *block) { sizes[p] += b.n })
		most = max(most, int(sizes[p]))
	}
	return sizes, most
}

// A partRows holds the edges of one part as rows: from[start[low]:start[low+1]] are the sources of
// the edges into number low.
type partRows struct {
	start [partSize + 1]uint32
	from  []uint32
}

// sort groups the edges of a part into rows. r.from must have room for them.
func (s *edgeStore) sort(part int, r *partRows) {
	start := r.start[:s.length(part)+1]
	clear(start)
	s.all(part, func(b *block) {
		for _, low := range b.into[:b.n] {
			r.start[low]++
		}
	})
	sum := uint32(0)
	for i, c := range start {
		sum += c
		start[i] = sum // the end of the row, from which filling counts down
	}
	s.all(part, func(b *block) {
		for i, low := range b.into[:b.n] {
			r.start[low]--
			r.from[r.start[low]] = b.from[i]
		}
	})
}

// replace stores values in place of a part's edges, at most as many as there were edges. values is
// by number low; 0 means no value.
func (s *edgeStore) replace(part int, values *[partSize]uint32) {
	low, end := 0, s.length(part)
	s.all(part, func(b *block) {
		room := b.n
		b.n = 0
		for ; low < end && b.n < room; low++ {
			if values[low] != 0 {
				b.from[b.n], b.into[b.n] = values[low]-1, uint16(low)
				b.n++
			}
		}
	})
}
