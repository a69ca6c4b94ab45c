//go:build !linux && !darwin && !windows

package offheap

import "unsafe"

const divisible = false

func pages(bytes int) int { return bytes }

// reserve takes the memory from Go, which leaves it untouched, too, and releases it when the collector finds it unused.
func reserve(bytes int) (memory, error) {
	words := make([]uint64, (bytes+7)/8)
	return memory{unsafe.Pointer(unsafe.SliceData(words)), bytes}, nil
}

func (m *memory) commit(from, to int) error { return nil }

func (m *memory) shrink(bytes int) {}

func (m *memory) free() { *m = memory{} }
