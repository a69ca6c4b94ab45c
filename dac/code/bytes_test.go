package code

import (
	"github.com/sosgo/sosgo/target"
)

// bytesMemory lets tests read a slice; address 0 is its start.
type bytesMemory []byte

func (m bytesMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := 0
	if a <= target.Addr(len(m)) {
		n = copy(p, m[a:])
	}
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrCorrupt}
	}
	return n, nil
}

func (m bytesMemory) View(a target.Addr, n int) ([]byte, bool) {
	if uint64(a) > uint64(len(m)) || n > len(m)-int(a) {
		return nil, false
	}
	return m[a:][:n:n], true
}

func (m bytesMemory) Span(a target.Addr) []byte {
	if uint64(a) >= uint64(len(m)) {
		return nil
	}
	return m[a:]
}
