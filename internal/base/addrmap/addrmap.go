// Package addrmap maps addresses of a target to data about them, for concurrent use.
package addrmap

import (
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/target"
)

// A Map maps addresses, such as those of MethodTables, to data. Reading takes no lock and does not allocate, as a type
// is looked up once per object. Entries are never removed or changed. The zero Map is empty. A Map must not be copied.
// It has functions in place of methods, for the reason that package atomicptr has.
type Map[T any] struct {
	mu  sync.Mutex // held by writers
	now atomic.Pointer[table[T]]
}

type table[T any] struct {
	slots []atomic.Pointer[entry[T]] // a power of two, linear probing, half of them empty
	n     int
}

type entry[T any] struct {
	_     [0]func() // it can't be compared
	addr  target.Addr
	value T
}

// minSlots is the size of the first table.
const minSlots = 512

// Get returns the value of a, or nil.
func Get[T any](m *Map[T], a target.Addr) *T {
	t := m.now.Load()
	if t == nil {
		return nil
	}
	if _, e := find(t, a); e != nil {
		return &e.value
	}
	return nil
}

// Add maps a to value unless it has a value already, and returns the value of a.
func Add[T any](m *Map[T], a target.Addr, value T) *T {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.now.Load()
	if t == nil || t.n >= len(t.slots)/2 {
		t = grown(t)
		m.now.Store(t)
	}
	s, e := find(t, a)
	if e != nil {
		return &e.value
	}
	e = &entry[T]{addr: a, value: value}
	s.Store(e)
	t.n++
	return &e.value
}

// find returns the entry of a and its slot; without an entry, the slot where a belongs. A slot may be
// filled at any time, so it is loaded once.
func find[T any](t *table[T], a target.Addr) (*atomic.Pointer[entry[T]], *entry[T]) {
	mask := uint64(len(t.slots) - 1)
	for i := uint64(a>>3) * 0x9e3779b97f4a7c15 >> 20 & mask; ; i = (i + 1) & mask {
		if e := t.slots[i].Load(); e == nil || e.addr == a {
			return &t.slots[i], e
		}
	}
}

// grown returns a larger table with the same entries. Readers may still use t.
func grown[T any](t *table[T]) *table[T] {
	if t == nil {
		return &table[T]{slots: make([]atomic.Pointer[entry[T]], minSlots)}
	}
	g := &table[T]{slots: make([]atomic.Pointer[entry[T]], 2*len(t.slots)), n: t.n}
	for i := range t.slots {
		if e := t.slots[i].Load(); e != nil {
			s, _ := find(g, e.addr)
			s.Store(e)
		}
	}
	return g
}
