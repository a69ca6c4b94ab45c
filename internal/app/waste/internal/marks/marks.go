// Package marks has sets of objects that many goroutines can fill. Start with New.
package marks

import (
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/target"
)

// A Set is a set of objects. It has a bit for each eight bytes, in chunks that are allocated on first use, and takes at
// most a sixty-fourth of the heap.
type Set struct {
	mu     sync.RWMutex
	chunks map[uint64]*chunk
}

const (
	chunkShift = 22 // bytes of the heap for a chunk
	chunkWords = 1 << (chunkShift - 3 - 6)
)

type chunk [chunkWords]uint64

// New returns an empty set.
func New() *Set { return &Set{chunks: map[uint64]*chunk{}} }

// Marker returns a marker for one goroutine.
func (m *Set) Marker() Marker { return Marker{m: m} }

// A Marker sets or reads marks in one goroutine. Readers must start after all marks are set. It caches the last chunks.
type Marker struct {
	m    *Set
	last [16]struct {
		key uint64 // 0 for none
		c   *chunk // nil if missing
	}
}

// Set adds an object.
func (m *Marker) Set(a target.Addr) {
	atomic.OrUint64(&m.chunk(a, true)[uint64(a)>>9%chunkWords], 1<<(uint64(a)>>3%64))
}

// Has reports whether an object is in the set.
func (m *Marker) Has(a target.Addr) bool {
	c := m.chunk(a, false)
	return c != nil && c[uint64(a)>>9%chunkWords]&(1<<(uint64(a)>>3%64)) != 0
}

func (m *Marker) chunk(a target.Addr, create bool) *chunk {
	key := uint64(a)>>chunkShift + 1
	e := &m.last[key%uint64(len(m.last))]
	if e.key != key || e.c == nil && create {
		e.key, e.c = key, m.m.chunk(key, create)
	}
	return e.c
}

func (m *Set) chunk(key uint64, create bool) *chunk {
	m.mu.RLock()
	c := m.chunks[key]
	m.mu.RUnlock()
	if c != nil || !create {
		return c
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c = m.chunks[key]; c == nil {
		c = &chunk{}
		m.chunks[key] = c
	}
	return c
}
