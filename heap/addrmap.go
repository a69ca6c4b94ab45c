package heap

import (
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/target"
)

// An addrMap maps the addresses of MethodTables to what is known of them.
// Reading takes no lock and allocates nothing: a type is looked up once per
// object. Entries are never removed or changed. The zero addrMap is empty.
type addrMap[T any] struct {
	mu    sync.Mutex // of writers
	table atomic.Pointer[addrTable[T]]
}

type addrTable[T any] struct {
	slots []atomic.Pointer[addrEntry[T]] // a power of two, linear probing, half of them empty
	n     int
}

type addrEntry[T any] struct {
	addr  target.Addr
	value T
}

// minAddrSlots is the size of the first table.
const minAddrSlots = 512

// get returns what a maps to, nil if there is nothing yet.
func (m *addrMap[T]) get(a target.Addr) *T {
	t := m.table.Load()
	if t == nil {
		return nil
	}
	if _, e := t.find(a); e != nil {
		return &e.value
	}
	return nil
}

// add maps a to value, unless somebody was faster, and returns what a maps to.
func (m *addrMap[T]) add(a target.Addr, value T) *T {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.table.Load()
	if t == nil || t.n >= len(t.slots)/2 {
		t = t.grown()
		m.table.Store(t)
	}
	s, e := t.find(a)
	if e != nil {
		return &e.value
	}
	e = &addrEntry[T]{a, value}
	s.Store(e)
	t.n++
	return &e.value
}

// find returns the entry of a and its slot; without an entry, the slot where a belongs. A
// slot that was empty may have another address by the time that it is looked at again: so
// it is loaded once.
func (t *addrTable[T]) find(a target.Addr) (*atomic.Pointer[addrEntry[T]], *addrEntry[T]) {
	mask := uint64(len(t.slots) - 1)
	for i := uint64(a>>3) * 0x9e3779b97f4a7c15 >> 20 & mask; ; i = (i + 1) & mask {
		if e := t.slots[i].Load(); e == nil || e.addr == a {
			return &t.slots[i], e
		}
	}
}

// grown is a larger table with the same entries. Readers may still use t.
func (t *addrTable[T]) grown() *addrTable[T] {
	if t == nil {
		return &addrTable[T]{slots: make([]atomic.Pointer[addrEntry[T]], minAddrSlots)}
	}
	g := &addrTable[T]{slots: make([]atomic.Pointer[addrEntry[T]], 2*len(t.slots)), n: t.n}
	for i := range t.slots {
		if e := t.slots[i].Load(); e != nil {
			s, _ := g.find(e.addr)
			s.Store(e)
		}
	}
	return g
}
