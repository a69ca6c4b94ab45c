// Package addrmap maps addresses of a target to data about them, for concurrent use.
package addrmap

import (
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/target"
)

// A Map maps addresses, for example of MethodTables, to data. Reading takes no lock and does not
// allocate, because a type is looked up once per object. Entries are never removed or changed. The
// zero Map is empty. A Map must not be copied.
type Map[T any] struct {
	mu  sync.Mutex // held by writers
	now atomic.Pointer[table[T]]
}

type table[T any] struct {
	slots []atomic.Pointer[entry[T]] // length a power of two, linear probing, at most half of them used
	n     int
}

type entry[T any] struct {
	addr  target.Addr
	value T
}

// minSlots is the size of the first table.
const minSlots = 512

// Get returns the value of a, or nil.
func (m *Map[T]) Get(a target.Addr) *T {
	t := m.now.Load()
	if t == nil {
		return nil
	}
	if _, e := t.find(a); e != nil {
		return &e.value
	}
	return nil
}

// Add maps a to value unless it has a value already, and returns the value of a.
func (m *Map[T]) Add(a target.Addr, value T) *T {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.now.Load()
	if t == nil || t.n >= len(t.slots)/2 {
		t = t.grow()
		m.now.Store(t)
	}
	s, e := t.find(a)
	if e != nil {
		return &e.value
	}
	e = &entry[T]{addr: a, value: value}
	s.Store(e)
	t.n++
	return &e.value
}

// find returns the entry of a and its slot. If a has no entry, it returns the slot for a new one.
// Writers may fill a slot at any time, so find loads it once.
func (t *table[T]) find(a target.Addr) (*atomic.Pointer[entry[T]], *entry[T]) {
	mask := uint64(len(t.slots) - 1)
	for i := uint64(a>>3) * 0x9e3779b97f4a7c15 >> 20 & mask; ; i = (i + 1) & mask {
		if e := t.slots[i].Load(); e == nil || e.addr == a {
			return &t.slots[i], e
		}
	}
}

// grow returns a larger table with the same entries. Readers may still use t.
func (t *table[T]) grow() *table[T] {
	if t == nil {
		return &table[T]{slots: make([]atomic.Pointer[entry[T]], minSlots)}
	}
	g := &table[T]{slots: make([]atomic.Pointer[entry[T]], 2*len(t.slots)), n: t.n}
	for i := range t.slots {
		if e := t.slots[i].Load(); e != nil {
			s, _ := g.find(e.addr)
			s.Store(e)
		}
	}
	return g
}
