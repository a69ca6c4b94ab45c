package offheap

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"
)

// Recycle makes the budget keep the memory of freed arrays for new arrays, until release is called.
// Clearing memory is faster than getting it from the system. Kept memory and used memory together
// never exceed Peak. Calls nest. On Windows, and if arrays are in Go's heap, nothing is kept.
func (b *Budget) Recycle() (release func()) {
	if b == nil || !divisible {
		return func() {}
	}
	b.spare.open(1)
	return sync.OnceFunc(func() { b.spare.open(-1) })
}

// spares are ranges of memory for new arrays. They are safe for concurrent use.
type spares struct {
	mu    sync.Mutex
	depth int      // calls of Recycle that are not released
	list  []memory // by address, with gaps between them
	bytes int64    // of list
}

func (s *spares) open(change int) {
	s.mu.Lock()
	s.depth += change
	last := s.depth == 0
	s.mu.Unlock()
	if last {
		s.trim(0)
	}
}

// put keeps the first used bytes of memory that an array no longer needs, and frees the rest.
func (s *spares) put(m memory, used int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.depth == 0 || used == 0 {
		m.free()
		return
	}
	m.shrink(used)
	s.bytes += int64(m.size)
	i, _ := slices.BinarySearchFunc(s.list, m, func(a, b memory) int { return cmp.Compare(uintptr(a.base), uintptr(b.base)) })
	if i < len(s.list) && m.end() == s.list[i].base {
		m.size += s.list[i].size
		s.list = slices.Delete(s.list, i, i+1)
	}
	if i > 0 && s.list[i-1].end() == m.base {
		s.list[i-1].size += m.size
		return
	}
	s.list = slices.Insert(s.list, i, m)
}

// get returns memory of at least so many bytes, not cleared, from the smallest range with enough.
func (s *spares) get(bytes int) (memory, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i := range s.list {
		if size := s.list[i].size; size >= bytes && (best < 0 || size < s.list[best].size) {
			best = i
		}
	}
	if best < 0 {
		return memory{}, false
	}
	from := &s.list[best]
	m := memory{from.base, pages(bytes)}
	*from = memory{m.end(), from.size - m.size}
	if from.size == 0 {
		s.list = slices.Delete(s.list, best, best+1)
	}
	s.bytes -= int64(m.size)
	return m, true
}

// trim frees memory until at most so many bytes are left.
func (s *spares) trim(most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes > most {
		last := &s.list[len(s.list)-1]
		s.bytes -= int64(last.size)
		last.free()
		s.list = s.list[:len(s.list)-1]
	}
}

func (m memory) end() unsafe.Pointer { return unsafe.Add(m.base, m.size) }
