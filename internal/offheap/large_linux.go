package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// largeFrom is how large memory is of which large pages are wanted: a page of 2 MB is filled with zeros as a whole, and
// of an array that has room for more than it will have the last one is not needed.
const largeFrom = 16 << 20

// large asks for large pages. A kernel without them says no, which changes nothing.
func (m *memory) large() { m.advise(unix.MADV_HUGEPAGE) }

// small takes that back.
func (m *memory) small() { m.advise(unix.MADV_NOHUGEPAGE) }

func (m *memory) advise(advice int) {
	if m.size >= largeFrom {
		_ = unix.Madvise(unsafe.Slice((*byte)(m.base), m.size), advice)
	}
}
