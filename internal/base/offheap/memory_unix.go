//go:build linux || darwin

package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// divisible: parts of memory can be freed, and neighbours together.
const divisible = true

// reserve maps memory that the system has not promised yet: it is taken page by page, when a page is touched.
func reserve(bytes int) (memory, error) {
	size := pages(bytes)
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags)
	return memory{base, size}, err
}

func (m *memory) commit(_, _ int) error { return nil }

func (m *memory) shrink(bytes int) {
	if keep := pages(bytes); keep < m.size {
		// The range is one of our own mappings: it can't fail but for lack of mappings, and then the memory is given back with the rest.
		if unix.MunmapPtr(unsafe.Add(m.base, keep), uintptr(m.size-keep)) == nil {
			m.size = keep
		}
	}
}

func (m *memory) free() {
	if m.base != nil {
		_ = unix.MunmapPtr(m.base, uintptr(m.size)) // as in shrink
	}
	*m = memory{}
}
