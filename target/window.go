package target

import "encoding/binary"

// windowChunk is the number of bytes that a Window copies at once if the target does not lend
// memory: enough for sequential walks, and few enough for random reads.
const windowChunk = 64 << 10

// A Window reads a target through a cached view, so that nearby reads need neither a lookup nor an
// allocation. It is for one goroutine.
type Window struct {
	mem  Memory
	base Addr
	b    []byte
	buf  []byte // used if mem lends nothing, or a range is split
}

// NewWindow returns a Window over mem.
func NewWindow(mem Memory) *Window { return &Window{mem: mem} }

// Bytes returns the n bytes at a. The slice is valid until the next call.
func (w *Window) Bytes(a Addr, n int) ([]byte, error) {
	if off := uint64(a - w.base); off < uint64(len(w.b)) && n <= len(w.b)-int(off) {
		return w.b[off:][:n:n], nil
	}
	return w.refill(a, n)
}

func (w *Window) refill(a Addr, n int) ([]byte, error) {
	if w.mem == nil {
		return nil, errNoProcess
	}
	if s := w.mem.Span(a); len(s) >= n && n > 0 {
		w.base, w.b = a, s
		return s[:n:n], nil
	}
	if s, ok := w.mem.View(a, n); ok && n > 0 { // a memory may lend the requested bytes and no more
		w.base, w.b = a, s
		return s, nil
	}
	if n > len(w.buf) {
		w.buf = make([]byte, max(n, windowChunk))
	}
	w.base, w.b = 0, nil
	got, err := w.mem.ReadMemory(w.buf, a)
	if got < n {
		return nil, &MemoryError{Addr: a + Addr(got), Size: n - got, Err: unwrapMemory(err)}
	}
	w.base, w.b = a, w.buf[:got]
	return w.b[:n:n], nil
}

func unwrapMemory(err error) error {
	if e, ok := err.(*MemoryError); ok {
		return e.Err
	}
	return err
}

// Uint64 reads the little-endian quadword at a.
func (w *Window) Uint64(a Addr) (uint64, error) {
	b, err := w.Bytes(a, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Uint32 reads the little-endian doubleword at a.
func (w *Window) Uint32(a Addr) (uint32, error) {
	b, err := w.Bytes(a, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}
