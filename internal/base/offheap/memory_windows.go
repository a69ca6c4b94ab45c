package offheap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// divisible is not set: Windows releases a reservation only as a whole.
const divisible = false

// reserve reserves addresses. Windows guarantees memory when it is committed, and provides a page
// when it is touched.
func reserve(bytes int) (memory, error) {
	size := pages(bytes)
	base, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return memory{}, err
	}
	// The address belongs to the system, not to a Go object. Reading it as a pointer in place
	// satisfies vet's rule about uintptr conversions.
	return memory{*(*unsafe.Pointer)(unsafe.Pointer(&base)), size}, nil
}

func (m *memory) commit(from, to int) error {
	page := os.Getpagesize()
	from &^= page - 1
	at, size := uintptr(m.base)+uintptr(from), uintptr(pages(to)-from)
	_, err := windows.VirtualAlloc(at, size, windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// shrink decommits memory and keeps the addresses, because Windows releases a reservation only as a
// whole.
func (m *memory) shrink(bytes int) {
	if keep := pages(bytes); keep < m.size {
		_ = windows.VirtualFree(uintptr(m.base)+uintptr(keep), uintptr(m.size-keep), windows.MEM_DECOMMIT)
	}
}

func (m *memory) free() {
	if m.base != nil {
		_ = windows.VirtualFree(uintptr(m.base), 0, windows.MEM_RELEASE)
	}
	*m = memory{}
}
