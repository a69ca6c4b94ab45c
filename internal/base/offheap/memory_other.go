//go:build !linux && !darwin && !windows

package offheap

import "unsafe"

const divisible = false

func pages(bytes int) int { return bytes }

// reserve allocates the memory in Go's heap, which the system does not provide before it is touched
// either. The collector releases it.
func reserve(bytes int) (memory, error) {
	words := make([]uint64, (bytes+7)/8)
	return memory{unsafe.Pointer(unsafe.SliceData(words)), bytes}, nil
}

func (m *memory) commit(from, to int) error { return nil }

func (m *memory) shrink(bytes int) {}

func (m *memory) free() { *m = memory{} }
