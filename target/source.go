package target

import "io"

// A Source is a file that can lend parts of its content: a dump's, or an image's. It is safe for concurrent use.
type Source interface {
	io.ReaderAt
	// Bytes lends n bytes at off, or nil when the source is not in memory. The range always lies inside the source.
	Bytes(off int64, n int) []byte
	// Size is the number of bytes.
	Size() int64
}

// BytesSource returns a Source that is in memory as a whole.
func BytesSource(b []byte) Source { return byteSource(b) }

type byteSource []byte

func (s byteSource) Bytes(off int64, n int) []byte { return s[off : off+int64(n) : off+int64(n)] }
func (s byteSource) Size() int64                   { return int64(len(s)) }
func (s byteSource) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(s)) {
		return 0, io.EOF
	}
	n := copy(p, s[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ReaderAtSource returns a Source over r, which holds size bytes and is only read, unless it is a Source itself.
func ReaderAtSource(r io.ReaderAt, size int64) Source {
	if s, ok := r.(Source); ok && s.Size() == size {
		return s
	}
	return readerSource{r, size}
}

type readerSource struct {
	io.ReaderAt
	size int64
}

func (readerSource) Bytes(int64, int) []byte { return nil }
func (s readerSource) Size() int64           { return s.size }

// Limits bound what a dump can make its readers hold in memory, whatever its file claims. A zero field stands for the
// default, which is far above what processes have.
type Limits struct {
	Ranges  int64 // of memory that a container lists
	Threads int64
	Notes   int64 // of an ELF core
}

// Or returns l with the fields of defaults if it has none.
func (l Limits) Or(defaults Limits) Limits {
	for _, f := range []struct{ to, from *int64 }{{&l.Ranges, &defaults.Ranges}, {&l.Threads, &defaults.Threads}, {&l.Notes, &defaults.Notes}} {
		if *f.to <= 0 {
			*f.to = *f.from
		}
	}
	return l
}
