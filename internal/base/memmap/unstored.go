package memmap

import (
	"bytes"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/target"
)

// Pages that a shrunk dump does not store have offsets that no file has: left-out memory from marksFrom on,
// zeros from zerosFrom on. The lowest bits are the address's.
const marksFrom, zerosFrom, runOffsets = 1 << 60, 1 << 61, 1 << 59

// An unstored is the file of a shrunk dump, continued by the pages that it does not store.
type unstored struct {
	target.Source

	marks, zeros []byte
}

func newUnstored(src target.Source, mark leftout.Mark) *unstored {
	return &unstored{src, bytes.Repeat(mark.Bytes(), searched/leftout.WordSize+1), make([]byte, searched)}
}

// Bytes implements target.Source. It lends at most a piece of what is not stored.
func (u *unstored) Bytes(off int64, n int) []byte {
	switch {
	case off < marksFrom:
		return u.Source.Bytes(off, n)
	case n > searched:
		return nil
	case off < zerosFrom:
		from := int(off % leftout.WordSize)
		return u.marks[from : from+n : from+n]
	}
	return u.zeros[:n:n]
}

// ReadAt implements io.ReaderAt.
func (u *unstored) ReadAt(p []byte, off int64) (int, error) {
	if off < marksFrom {
		return u.Source.ReadAt(p, off)
	}
	for done := 0; done < len(p); {
		done += copy(p[done:], u.Bytes(off+int64(done), min(searched, len(p)-done)))
	}
	return len(p), nil
}
