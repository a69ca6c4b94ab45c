//go:build !linux

package offheap

func (m *memory) large() {}
