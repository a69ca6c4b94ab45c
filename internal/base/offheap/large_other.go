//go:build !linux

package offheap

func (m *memory) large() {}

func (m *memory) small() {}
