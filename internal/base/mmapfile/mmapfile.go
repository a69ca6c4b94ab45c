// Package mmapfile gives read-only access to a file as a target.Source. It maps the file if
// possible, and otherwise reads it through io.ReaderAt.
//
// # Files that change
//
// A mapping shows the current content of the file. On Unix, if another process truncates a mapped
// file, touching lent bytes past the new end raises SIGBUS, which ends the program unless it catches
// faults (runtime/debug.SetPanicOnFault); the rest of the last page reads as zeros. Windows refuses
// to truncate a mapped file. ReadAt fails past the new end with and without a mapping. Lost reports
// whether a file became shorter: what was computed from it since then must not be kept.
package mmapfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/pagecache"
	"github.com/sosgo/sosgo/target"
)

// keepsHandle is set where a mapped file stays open: Windows deletes a temporary file when its last
// handle is closed, which fails while the file is mapped.
const keepsHandle = runtime.GOOS == "windows"

// maxMapping is the size of the largest file that is mapped. On a 32-bit host it is a quarter of
// the 2 GB address space of a process: a larger mapping may find no room, and would leave too
// little.
const maxMapping = 1 << (29 + 17*(strconv.IntSize/64))

// A File is a file opened for reading. It implements target.Source. All methods, including Close,
// are safe for concurrent use.
type File struct {
	f      *os.File
	size   int64
	data   []byte      // the mapping, or nil
	reads  io.ReaderAt // f, or a cache of f; used without a mapping
	closed atomic.Bool
	lost   atomic.Pointer[error] // the first error of reading
}

// Open opens the named regular file. It does not map the file if noMmap is set, if the file is too
// large for the host's address space, or if the operating system can't map it; see Mapped.
func Open(name string, noMmap bool) (*File, error) {
	f, err := OpenRegular(name)
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

// CheckRegular returns an error if the named file exists and is not a regular file. Others must not be opened: a named
// pipe without a partner blocks, and a device may act.
func CheckRegular(name string) error {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() {
		return nil //nolint:nilerr // opening it has the error
	}
	return target.Unsupportedf("%s is %s, not a regular file", name, kindOf(info.Mode()))
}

// OpenRegular opens the named regular file for reading. What takes its place meanwhile is refused, too, without waiting for it.
func OpenRegular(name string) (*os.File, error) {
	if err := CheckRegular(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	return regular(f, err)
}

// OpenOwn opens a regular file of a folder of sosgo's own, such as a cache, for reading. A symbolic link is refused.
func OpenOwn(dir *os.Root, name string) (*os.File, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, target.Unsupportedf("%s is %s, not a regular file", name, kindOf(before.Mode()))
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if f, err = regular(f, err); err != nil {
		return nil, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errors.Join(err, f.Close(), target.Unsupportedf("%s was exchanged while it was opened", name))
	}
	return f, nil
}

// ReadOwn reads a file that OpenOwn opens. A file of more than most bytes is refused.
func ReadOwn(dir *os.Root, name string, most int64) ([]byte, error) {
	f, err := OpenOwn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = target.Limitf("%s has more than %d bytes", name, most)
	}
	return b, err
}

// regular returns an open file, unless it is not regular.
func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = target.Unsupportedf("%s is %s, not a regular file", f.Name(), kindOf(info.Mode()))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// FromFile is Open for an open file. It takes ownership of f unless it fails.
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
		// Every failure to map falls back to reading: file systems without mmap, address space
		// limits, container policies.
		m.data, err = mapFile(f, int(m.size))
		if errors.Is(err, errors.ErrUnsupported) { // in a browser each read is a JavaScript call
			m.reads = pagecache.Source(direct(f), m.size)
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

// A mapping outlives Close, because bytes that were lent may still be in use.
type mapping struct {
	data []byte
	f    *os.File
}

func release(m mapping) {
	_ = unmapFile(m.data)
	_ = m.f.Close() // fails if Close closed it
}

// Mapped reports whether the file is mapped, and so whether Bytes lends.
func (m *File) Mapped() bool { return m.data != nil && !m.closed.Load() }

// Size returns the size of the file in bytes when it was opened.
func (m *File) Size() int64 { return m.size }

// Bytes lends n bytes at off, or returns nil if the file is not mapped or was closed. The bytes are
// read-only. They stay valid until the File is closed and unreachable: code that keeps them must
// keep the File.
func (m *File) Bytes(off int64, n int) []byte {
	if m.data == nil || m.closed.Load() {
		return nil
	}
	return m.data[off : off+int64(n) : off+int64(n)]
}

// ReadAt implements io.ReaderAt. It reads the file up to Size. If the file ends before, or can't be read, the error is a
// machine.Error, which Lost returns from then on.
func (m *File) ReadAt(p []byte, off int64) (int, error) {
	if m.closed.Load() {
		return 0, m.closedError()
	}
	if off < 0 {
		return 0, fmt.Errorf("read %s: negative offset %d", m.f.Name(), off)
	}
	if off >= m.size {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), m.size-off)]
	var n int
	var err error
	if m.data != nil {
		n, err = m.copyMapped(want, off)
	} else {
		n, err = m.reads.ReadAt(want, off)
	}
	switch {
	case n == len(want) && n == len(p):
		return n, nil
	case n == len(want):
		return n, io.EOF
	case m.closed.Load() && errors.Is(err, os.ErrClosed):
		return n, m.closedError()
	case errors.Is(err, io.EOF), errors.Is(err, errFault):
		return n, m.fail(m.shrunk())
	}
	return n, m.fail(fmt.Errorf("read %s: %w", m.f.Name(), err))
}

// errFault is the error of a page of a mapping that can't be read.
var errFault = errors.New("a page of the file can't be read")

// copyMapped reads from the mapping.
func (m *File) copyMapped(p []byte, off int64) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			if _, fault := v.(interface{ Addr() uintptr }); !fault {
				panic(v)
			}
			n, err = 0, errFault
		}
	}()
	n = copy(p, m.data[off:])
	runtime.KeepAlive(m) // Close and the cleanup may run during the copy
	return n, nil
}

// shrunk returns the error for a file that does not have all bytes up to Size.
func (m *File) shrunk() error {
	if info, err := m.f.Stat(); err == nil && info.Size() < m.size {
		return fmt.Errorf("%s became shorter while it was read: %d of %d bytes are left", m.f.Name(), info.Size(), m.size)
	}
	return fmt.Errorf("%s became shorter while it was read, or its disk failed", m.f.Name())
}

// fail keeps the first error of reading and returns it.
func (m *File) fail(err error) error {
	err = &machine.Error{Err: err, Next: "repeat the command when the file is whole and nothing writes to it"}
	m.lost.CompareAndSwap(nil, &err)
	return *m.lost.Load()
}

// Lost returns a machine.Error if the file could not be read, or is shorter than Size. Otherwise it returns nil. After
// Close it returns what it did before.
func (m *File) Lost() error {
	if err := m.lost.Load(); err != nil {
		return *err
	}
	if info, err := m.f.Stat(); !m.closed.Load() && err == nil && info.Size() < m.size {
		return m.fail(m.shrunk())
	}
	return nil
}

func (m *File) closedError() error { return target.Closedf("%s is closed", m.f.Name()) }

// Close ends reading: Bytes lends nothing more and ReadAt fails. Bytes that were lent stay readable
// until the File is unreachable and the garbage collector unmaps the file. Closing again does
// nothing.
func (m *File) Close() error {
	_ = m.Lost() // which keeps it
	if m.closed.Swap(true) {
		return nil
	}
	if m.data != nil {
		// The cleanup is added here and not in Open: a File that is never closed stays mapped until
		// the process ends, and code that reads its bytes need not keep it reachable.
		runtime.AddCleanup(m, release, mapping{m.data, m.f})
		if keepsHandle {
			return nil
		}
	}
	return m.f.Close()
}

// CloseNow is Close for an owner that knows that lent bytes are no longer in use. It unmaps the
// file at once. Touching lent bytes afterwards ends the program.
func (m *File) CloseNow() error {
	_ = m.Lost() // which keeps it
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
