// Package mmapfile gives read-only access to a file as a target.Source: mapped into memory where that is possible and
// wanted, through io.ReaderAt elsewhere.
//
// # Files that change
//
// A mapping shows the file as it is now, not as it was when it was opened. On Unix a file that another process truncates while it is mapped
// has no pages any more behind its old end, and touching one of them raises SIGBUS, which ends the program. Windows refuses to truncate a
// mapped file. Someone who reads a dump while it may still be written or cut asks for no mapping: a read past the end is then an error.
package mmapfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/pagecache"
	"github.com/sosgo/sosgo/target"
)

// keepsHandle is set where a file stays open as long as it is mapped: Windows
// deletes a temporary file with its last handle, and can't while it is mapped.
const keepsHandle = runtime.GOOS == "windows"

// maxMapping is the largest file that is mapped. On a 32-bit host it is a quarter of the address space that a process
// has at most: a larger mapping may find no room, and would leave too little of it.
const maxMapping = 1 << (29 + 17*(strconv.IntSize/64))

// A File is a file opened for reading. It implements target.Source and is safe for concurrent use, Close included.
type File struct {
	f      *os.File
	size   int64
	data   []byte      // the mapping; nil where the file is read through reads
	reads  io.ReaderAt // f, or what buffers it
	closed atomic.Bool
}

// Open opens the regular file of that name. It is not mapped if noMmap is set, if it is too large for the host's
// address space, or if the operating system can't map it; see Mapped.
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

// FromFile is Open for a file that is open already. It takes ownership of f unless it fails.
func FromFile(f *os.File, noMmap bool) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, target.Unsupportedf("%s is %s, not a regular file", f.Name(), kindOf(info.Mode()))
	}
	m := &File{f: f, size: info.Size(), reads: f}
	if !noMmap && m.size > 0 && m.size <= maxMapping {
		// Reading is the answer to every failure: file systems without mmap, address space limits, container policies.
		m.data, err = mapFile(f, int(m.size))
		if errors.Is(err, errors.ErrUnsupported) { // in a browser each read is a call of JavaScript
			m.reads = pagecache.Source(f, m.size)
		}
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

// A mapping outlives Close, since others may still read what Bytes lent.
type mapping struct {
	data []byte
	f    *os.File
}

func release(m mapping) {
	_ = unmapFile(m.data)
	_ = m.f.Close() // an error if Close did it
}

// Mapped reports whether the file is in memory, that is, whether Bytes lends.
func (m *File) Mapped() bool { return m.data != nil && !m.closed.Load() }

// Size returns the size in bytes that the file had when it was opened.
func (m *File) Size() int64 { return m.size }

// Bytes lends n bytes at off, or returns nil if the file is not mapped or was closed. The bytes are read-only. They
// stay valid until the File is closed and unreachable: whoever keeps them keeps the File too.
func (m *File) Bytes(off int64, n int) []byte {
	if m.data == nil || m.closed.Load() {
		return nil
	}
	return m.data[off : off+int64(n) : off+int64(n)]
}

// ReadAt implements io.ReaderAt. It sees the file up to Size.
func (m *File) ReadAt(p []byte, off int64) (int, error) {
	if m.closed.Load() {
		return 0, m.closedError()
	}
	if off < 0 {
		return 0, fmt.Errorf("read %s: negative offset %d", m.f.Name(), off)
	}
	if m.data == nil {
		n, err := m.reads.ReadAt(p, off)
		if m.closed.Load() && errors.Is(err, os.ErrClosed) {
			err = m.closedError()
		}
		return n, err
	}
	if off >= m.size {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	runtime.KeepAlive(m) // Close may run during the copy, and its cleanup behind it
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *File) closedError() error { return target.Unsupportedf("%s is closed", m.f.Name()) }

// Close ends reading: from now on Bytes lends nothing and ReadAt fails. What Bytes lent stays readable until the File
// is unreachable, when the garbage collector ends the mapping. Closing again does nothing.
func (m *File) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	if m.data != nil {
		// A File that is never closed stays mapped until the process ends: code that reads lent
		// bytes need not keep the File reachable then.
		runtime.AddCleanup(m, release, mapping{m.data, m.f})
		if keepsHandle {
			return nil
		}
	}
	return m.f.Close()
}

// CloseNow is Close for an owner that knows that nobody uses what Bytes lent:
// it ends the mapping at once. To touch lent bytes afterwards ends the program.
func (m *File) CloseNow() error {
	if m.closed.Swap(true) {
		return nil
	}
	if m.data == nil {
		return m.f.Close()
	}
	err := unmapFile(m.data)
	m.data = nil
	if cerr := m.f.Close(); err == nil {
		err = cerr
	}
	return err
}
