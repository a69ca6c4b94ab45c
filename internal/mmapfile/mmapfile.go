// Package mmapfile gives read-only access to a file as a target.Source:
// mapped into memory where that is possible and wanted, through io.ReaderAt
// elsewhere.
//
// # Files that change
//
// A mapping shows the file as it is now, not as it was when it was opened. On
// Unix a file that another process truncates while it is mapped has no pages
// any more behind its old end, and touching one of them raises SIGBUS, which
// ends the program. Windows refuses to truncate a mapped file. Someone who
// reads a dump while it may still be written or cut asks for no mapping: a
// read past the end is then an error.
package mmapfile

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/sosgo/sosgo/target"
)

// maxMapping is the largest file that is mapped. On a 32-bit host it is a
// quarter of the address space that a process has at most: a larger mapping
// may find no room, and would leave too little of it.
const maxMapping = 1 << (29 + 17*(strconv.IntSize/64))

// A File is a file opened for reading. It implements target.Source and is
// safe for concurrent use, except for Close.
type File struct {
	f    *os.File
	size int64
	data []byte // the mapping; nil where the file is read through f
}

// Open opens the regular file of that name. It is not mapped if noMmap is
// set, if it is too large for the host's address space, or if the operating
// system can't map it; Mapped tells.
func Open(name string, noMmap bool) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	m, err := FromFile(f, noMmap)
	if err != nil {
		f.Close()
		return nil, err
	}
	return m, nil
}

// FromFile is Open for a file that is open already. It takes ownership of f
// unless it fails.
func FromFile(f *os.File, noMmap bool) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, target.Unsupportedf("%s is %s, not a regular file", f.Name(), kindOf(info.Mode()))
	}
	m := &File{f: f, size: info.Size()}
	if !noMmap && m.size > 0 && m.size <= maxMapping {
		// Reading is the answer to every failure: file systems without mmap,
		// address space limits, container policies.
		m.data, _ = mapFile(f, int(m.size))
	}
	return m, nil
}

func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// Mapped reports whether the file is in memory, that is, whether Bytes lends.
func (m *File) Mapped() bool { return m.data != nil }

// Size is the size in bytes that the file had when it was opened.
func (m *File) Size() int64 { return m.size }

// Bytes lends n bytes at off, or returns nil if the file is not mapped. The
// bytes are read-only and valid until Close: to touch them later ends the
// program.
func (m *File) Bytes(off int64, n int) []byte {
	if m.data == nil {
		return nil
	}
	return m.data[off : off+int64(n) : off+int64(n)]
}

// ReadAt implements io.ReaderAt. It sees the file up to Size.
func (m *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s: negative offset %d", m.f.Name(), off)
	}
	if m.data == nil {
		return m.f.ReadAt(p, off)
	}
	if off >= m.size {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close ends the mapping and closes the file. No slice that Bytes lent may be
// used afterwards.
func (m *File) Close() error {
	var err error
	if m.data != nil {
		err = unmapFile(m.data)
		m.data = nil
	}
	if cerr := m.f.Close(); err == nil {
		err = cerr
	}
	return err
}
