package target

import (
	"bytes"
	"encoding/binary"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// Bytes returns the n bytes at a: a view if the target lends one, otherwise a copy. The caller must
// not write to them.
func Bytes(m Memory, a Addr, n int) ([]byte, error) {
	if m == nil || n < 0 {
		return nil, errNoProcess
	}
	if b, ok := m.View(a, n); ok {
		return b, nil
	}
	b := make([]byte, n)
	if _, err := m.ReadMemory(b, a); err != nil {
		return nil, err
	}
	return b, nil
}

// Searching returns m for a search: what is found is read again, from m. A memory with a method Search, which records what is read,
// need not record the search.
func Searching(m Memory) Memory {
	if s, ok := m.(searched); ok {
		return searching{m, s}
	}
	return m
}

// A searched is a memory that need not record a search.
type searched interface {
	Search(p []byte, a Addr) (int, error)
}

// A searching is a memory that is searched. It lends nothing.
type searching struct {
	Memory
	in searched
}

// ReadMemory implements Memory.
func (s searching) ReadMemory(p []byte, a Addr) (int, error) { return s.in.Search(p, a) }

// View implements Memory.
func (s searching) View(Addr, int) ([]byte, bool) { return nil, false }

// Span implements Memory.
func (s searching) Span(Addr) []byte { return nil }

// NextStored implements SparseMemory.
func (s searching) NextStored(a Addr) (Addr, bool) { return NextStored(s.Memory, a) }

// UpTo returns the n bytes at a up to the first that is missing: a view if the target lends them, otherwise a copy. It is nil
// if the first is missing. The caller must not write to them.
func UpTo(m Memory, a Addr, n int) []byte {
	if m == nil || n <= 0 {
		return nil
	}
	if b := m.Span(a); len(b) >= n {
		return b[:n:n]
	}
	b := make([]byte, n)
	got, _ := m.ReadMemory(b, a) // what is missing is not returned
	if got == 0 {
		return nil
	}
	return b[:got:got]
}

// errNoProcess is the error of a nil Memory.
var errNoProcess = Argumentf("no process is open")

// Uint64 reads the little-endian quadword at a.
func Uint64(m Memory, a Addr) (uint64, error) {
	if m != nil {
		if b, ok := m.View(a, 8); ok {
			return binary.LittleEndian.Uint64(b), nil
		}
	}
	b, err := Bytes(m, a, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Uint32 reads the little-endian doubleword at a.
func Uint32(m Memory, a Addr) (uint32, error) {
	b, err := Bytes(m, a, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// Uint16 reads the little-endian word at a.
func Uint16(m Memory, a Addr) (uint16, error) {
	b, err := Bytes(m, a, 2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

// Uint8 reads the byte at a.
func Uint8(m Memory, a Addr) (uint8, error) {
	b, err := Bytes(m, a, 1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// Pointer reads the 64-bit pointer at a.
func Pointer(m Memory, a Addr) (Addr, error) {
	v, err := Uint64(m, a)
	return Addr(v), err
}

// Available reports whether all n bytes at a are in the dump. A memory with a method Holds answers that itself: one that
// records what is read need not record this question.
func Available(m Memory, a Addr, n int) bool {
	if h, ok := m.(interface{ Holds(a Addr, n int) bool }); ok {
		return h.Holds(a, n)
	}
	_, err := Bytes(m, a, n)
	return err == nil
}

// A SparseMemory can locate its holes. The memories of dumps implement it.
type SparseMemory interface {
	// NextStored returns the first stored address from a on, and whether there is one.
	NextStored(a Addr) (Addr, bool)
}

// NextStored returns the first address from a on that m may hold, and whether there is one. If m
// does not implement SparseMemory, it tries each word up to the end of the page, because a dump may
// hold a part of a page; if there is none, it returns the start of the next page.
func NextStored(m Memory, a Addr) (Addr, bool) {
	if s, ok := m.(SparseMemory); ok {
		return s.NextStored(a)
	}
	const page, word = 4096, 4
	end := (a + page) &^ (page - 1)
	for next := a; next-a < page && next != end; next = (next + word) &^ (word - 1) {
		if Available(m, next, 1) {
			return next, true
		}
	}
	return end, end > a
}

// CString reads the NUL-terminated bytes at a, at most limit of them.
func CString(m Memory, a Addr, limit int) (string, error) {
	var out []byte
	for len(out) < limit {
		chunk := make([]byte, min(256, limit-len(out)))
		n, err := m.ReadMemory(chunk, a+Addr(len(out)))
		if i := bytes.IndexByte(chunk[:n], 0); i >= 0 {
			return string(append(out, chunk[:i]...)), nil
		}
		if err != nil {
			return "", err
		}
		out = append(out, chunk...)
	}
	return "", Corruptf("string at %#x is longer than %d bytes", uint64(a), limit)
}

// UTF16String reads the NUL-terminated UTF-16 string at a, at most limit code units.
func UTF16String(m Memory, a Addr, limit int) (string, error) {
	var out []uint16
	for len(out) < limit {
		chunk := make([]byte, 2*min(128, limit-len(out)))
		n, err := m.ReadMemory(chunk, a+Addr(2*len(out)))
		for i := 0; i+1 < n; i += 2 {
			u := binary.LittleEndian.Uint16(chunk[i:])
			if u == 0 {
				return utf16text.FromUnits(out), nil
			}
			out = append(out, u)
		}
		if err != nil {
			return "", err
		}
	}
	return "", Corruptf("string at %#x is longer than %d characters", uint64(a), limit)
}
