//go:build linux || darwin

package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// divisible is set because parts of a mapping, and neighboring mappings together, can be unmapped.
const divisible = true

// reserve maps memory without a commitment: the system provides a page when it is touched.
func reserve(bytes int) (memory, error) {
	size := pages(bytes)
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags)
	return memory{base, size}, err
}

func (m *memory) commit(_, _ int) error { return nil }

func (m *memory) shrink(bytes int) {
	if keep := pages(bytes); keep < m.size {
		// The range is part of our own mapping. Unmapping it fails only if the process has too many
		// mappings; the memory is then released with the rest.
		if unix.MunmapPtr(unsafe.Add(m.base, keep), uintptr(m.size-keep)) == nil {
			m.size = keep
		}
	}
}

func (m *memory) free() {
	if m.base != nil {
		_ = unix.MunmapPtr(m.base, uintptr(m.size)) // see shrink
	}
	*m = memory{}
}
