package target

import "io"

// A Source is a file of a dump or an image. It can lend parts of its content. It is safe for
// concurrent use.
type Source interface {
	io.ReaderAt
	// Bytes lends n bytes at off, or returns nil if the source is not in memory. The range must be
	// inside the source.
	Bytes(off int64, n int) []byte
	// Size returns the number of bytes.
	Size() int64
}

// BytesSource returns a Source over b.
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

// ReaderAtSource returns a Source over r, which holds size bytes. It returns r itself if it is a
// Source of this size.
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

// Limits bound the memory that a dump can make its readers allocate. A zero field means the
// default, which is far above the values of real processes.
type Limits struct {
	Ranges  int64 // memory ranges in a container's list
	Threads int64
	Notes   int64 // in an ELF core
}

// Or returns l with the zero fields taken from defaults.
func (l Limits) Or(defaults Limits) Limits {
	for _, f := range []struct{ to, from *int64 }{{&l.Ranges, &defaults.Ranges}, {&l.Threads, &defaults.Threads}, {&l.Notes, &defaults.Notes}} {
		if *f.to <= 0 {
			*f.to = *f.from
		}
	}
	return l
}
