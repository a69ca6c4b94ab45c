package main

import (
	"sync"

	"github.com/sosgo/sosgo/target"
)

// pageSize is the default grain of a slice, and the page size of this system, but not necessarily
// the target's.
const pageSize = 4096

// A recorder records which units of the grain's size were read. It is safe for concurrent use.
type recorder struct {
	grain uint64
	mu    sync.Mutex
	pages map[uint64]bool // by address or offset, divided by the grain
}

func newRecorder(grain uint64) *recorder { return &recorder{grain: grain, pages: map[uint64]bool{}} }

func (r *recorder) note(at, n uint64) {
	if n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := at / r.grain; p <= (at+n-1)/r.grain; p++ {
		r.pages[p] = true
	}
}

func (r *recorder) read(at, n uint64) bool {
	for p := at / r.grain; n > 0 && p <= (at+n-1)/r.grain; p++ {
		if r.pages[p] {
			return true
		}
	}
	return false
}

// reads records reads of a page or more separately: code that reads whole pages of a native image
// searches it, and needs only the pages with a match.
type reads struct{ parts, pages *recorder }

func newReads(grain uint64) *reads { return &reads{newRecorder(grain), newRecorder(grain)} }

func (r *reads) note(at uint64, n int) {
	if n >= pageSize {
		r.pages.note(at, uint64(n))
		return
	}
	r.parts.note(at, uint64(n))
}

// A recordingFile records reads of a dump's file.
type recordingFile struct {
	target.Source
	seen    *reads
	watched int // parts that are larger are not recorded when lent
}

func (f recordingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.Source.ReadAt(p, off)
	f.seen.note(uint64(off), n)
	return n, err
}

// Bytes implements target.Source.
func (f recordingFile) Bytes(off int64, n int) []byte {
	b := f.Source.Bytes(off, n)
	if n <= f.watched {
		f.seen.note(uint64(off), n)
	}
	return b
}

// A recordingMemory records reads of a memory.
type recordingMemory struct {
	target.Memory
	note  func(at uint64, n int)
	large *touchedPages
}

// largeView is the size in bytes from which on a view is watched page by page.
const largeView = 8 * pageSize

func (m recordingMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := m.Memory.ReadMemory(p, a)
	m.note(uint64(a), n)
	return n, err
}

func (m recordingMemory) View(a target.Addr, n int) ([]byte, bool) {
	b, ok := m.Memory.View(a, n)
	if len(b) >= largeView {
		if lent, err := m.large.lend(uint64(a), b); err == nil {
			return lent, true
		}
	}
	m.note(uint64(a), len(b))
	return b, ok
}

// Span lends at most the rest of a page, so that what is lent is close to what is needed.
func (m recordingMemory) Span(a target.Addr) []byte {
	b := m.Memory.Span(a)
	b = b[:min(len(b), int(pageSize-uint64(a)%pageSize))]
	m.note(uint64(a), len(b))
	return b
}

// NextStored implements target.SparseMemory.
func (m recordingMemory) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(m.Memory, a)
}
