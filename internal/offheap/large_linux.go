package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const largePage = 2 << 20

// large asks for large pages. A kernel without them says no, which changes nothing.
func (m *memory) large() {
	if m.size >= 4*largePage {
		_ = unix.Madvise(unsafe.Slice((*byte)(m.base), m.size), unix.MADV_HUGEPAGE)
	}
}
