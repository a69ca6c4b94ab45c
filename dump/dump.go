// Package dump opens a dump of a process in any container. It identifies the container by the
// content of the file, never by its name, unpacks a compressed file, and leaves the rest to
// packages elfcore, machocore, minidump and crashreport. Start reading at Open.
//
// Stability: stable.
package dump

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/pagecache"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/dump/machocore"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// The formats of a File. A minidump that a crash reporter wrote on a system other than Windows has
// another format, which names the system: "minidump of a Linux process (Breakpad)".
const (
	FormatELFCore   = "ELF core"
	FormatMachOCore = "Mach-O core"
	FormatMinidump  = "Windows minidump"
	FormatReport    = "crash report of .NET"
)

// Options describes how to open a dump. The zero value suits most callers.
type Options struct {
	// NoMmap reads the file with ReadAt instead of mapping it. Reading is slower, but safe for a
	// file that may be truncated while it is open; see internal/base/mmapfile.
	NoMmap bool
	// MaxDecompressed is the maximum size of an unpacked dump in bytes; 0 means
	// limits.DecompressedSize (1 TB).
	MaxDecompressed int64
	// MaxRatio is the maximum number of unpacked bytes for each byte of the file, for dumps of more
	// than 1 GB; 0 means limits.DecompressedRatio (1000).
	MaxRatio int64
	Limits   target.Limits // bound the memory that the dump can make its reader allocate
	// Cache is a folder for unpacked copies of large compressed dumps, for this user alone;
	// DefaultCache is the usual one. If it is empty, and on systems other than Unix, no copies are
	// kept.
	Cache string
	// CacheSize is the maximum number of bytes in the cache; 0 means limits.CacheSize (64 GB).
	// CacheLeast is the minimum size of a compressed file to be cached; 0 means limits.CacheLeast
	// (4 MB).
	CacheSize, CacheLeast int64
	TempDir               string // the folder for unpacked dumps; empty means os.TempDir
	// OpenContext, if not nil, returns a context. When it ends, unpacking stops and Open returns its
	// error.
	OpenContext func() context.Context
	// Progress, if not nil, is called during unpacking with the number of compressed bytes that are
	// done, and the total.
	Progress func(done, total int64)
}

// A File is an open dump. All methods, including Close, are safe for concurrent use.
type File struct {
	target.Target

	Path       string // empty if the dump was opened from an io.ReaderAt
	Format     string // FormatELFCore, FormatMachOCore, FormatMinidump, or the kind of a foreign minidump
	Compressed string // "gzip" or "zstd"; empty if the dump is not compressed
	Size       int64  // of the unpacked dump in bytes

	close   sync.Once
	closers []io.Closer
	packed  []PackedFile
	src     target.Source
	limits  target.Limits // of Options
}

// Environment lists the environment variables of a Linux process as NAME=VALUE. It is empty if the
// dump does not have them. They may hold secrets.
func (f *File) Environment() []string {
	if t, ok := f.Target.(interface{ Environment() []string }); ok {
		return t.Environment()
	}
	return nil
}

// An AuxEntry is an entry of the auxiliary vector that the kernel passed to the process
// (linux/auxvec.h).
type AuxEntry struct{ Tag, Value uint64 }

// Auxv returns the auxiliary vector of a Linux or BSD process without its terminator. It is empty
// if the dump does not have it.
func (f *File) Auxv() []AuxEntry {
	var out []AuxEntry
	switch t := f.Target.(type) {
	case interface{ Auxv() []elfcore.AuxEntry }:
		for _, e := range t.Auxv() {
			out = append(out, AuxEntry(e))
		}
	case interface{ Auxv() []minidump.AuxEntry }:
		for _, e := range t.Auxv() {
			out = append(out, AuxEntry(e))
		}
	}
	return out
}

// UnloadedModules lists the images that were unloaded before the dump was written, if the dump has
// such a list.
func (f *File) UnloadedModules() []minidump.UnloadedModule {
	if m, ok := f.Target.(*minidump.File); ok {
		return m.UnloadedModules()
	}
	return nil
}

// Claims returns the memory that the process had, stored or not.
func (f *File) Claims() *target.Claims { return target.ClaimsOf(f.Target) }

// Holds reports whether all n bytes at a are in the dump; see target.Available.
func (f *File) Holds(a target.Addr, n int) bool { return target.Available(f.Target, a, n) }

// Search reads memory that is only searched; see target.Searching.
func (f *File) Search(p []byte, a target.Addr) (int, error) {
	return target.Searching(f.Target).ReadMemory(p, a)
}

// NextStored implements target.SparseMemory.
func (f *File) NextStored(a target.Addr) (target.Addr, bool) { return target.NextStored(f.Target, a) }

// Contents counts what the dump holds besides memory, modules and threads. It is nil if the
// container has nothing else.
func (f *File) Contents() []target.Content {
	if c, ok := f.Target.(interface{ Contents() []target.Content }); ok {
		return c.Contents()
	}
	return nil
}

// LeftOut reports whether sosgo shrink wrote the dump. Reads of memory that was left out fail with
// target.ErrLeftOut.
func (f *File) LeftOut() bool {
	s, ok := f.Target.(interface{ LeftOut() bool })
	return ok && s.LeftOut()
}

// LeftOutBytes returns the number of bytes that sosgo shrink left out. It reads all memory of such a dump.
func (f *File) LeftOutBytes() uint64 {
	s, ok := f.Target.(interface{ LeftOutBytes() uint64 })
	if !ok {
		return 0
	}
	return s.LeftOutBytes()
}

// InFileBytes returns the number of bytes that sosgo shrink left out because module files have them. Reads of
// them fail with target.ErrInModuleFile.
func (f *File) InFileBytes() uint64 {
	s, ok := f.Target.(interface{ InFileBytes() uint64 })
	if !ok {
		return 0
	}
	return s.InFileBytes()
}

// PageSum returns the checksum of the page at a, if sosgo shrink left it out because the module's file has it.
// Only a page with the same sum is the process's.
func (f *File) PageSum(a target.Addr) (sum uint64, ok bool) {
	s, ok := f.Target.(interface {
		PageSum(a target.Addr) (uint64, bool)
	})
	if !ok {
		return 0, false
	}
	return s.PageSum(a)
}

// Truncated returns an error that wraps target.ErrCorrupt if the file is shorter than the dump's
// headers state, and otherwise nil. Reads of the missing memory fail with target.ErrNotInDump.
func (f *File) Truncated() error {
	c, ok := f.Target.(interface{ Cut() uint64 })
	if !ok || c.Cut() == 0 {
		return nil
	}
	return target.Corruptf("the dump is cut: %d bytes that it lists lie past the end of the file (%d bytes)", c.Cut(), f.Size)
}

// Limited returns an error that wraps target.ErrLimit if one of the limits of Options left out a part of the dump's lists, and otherwise nil.
// What depends on that part is as if the dump did not have it.
func (f *File) Limited() error {
	if f.limits == (target.Limits{}) {
		return nil // the defaults are beyond all that a process can have
	}
	for _, w := range f.Warnings() {
		if errors.Is(w, target.ErrLimit) {
			return w
		}
	}
	return nil
}

// Lost returns an error if the dump's file could no longer be read as it was when it was opened: it became shorter, its
// disk or its server failed. What was computed since then may be wrong without an error of its own, because missing memory
// is usual in dumps: ask Lost before you keep it. Such an error is of this machine, and no damage of the dump. A compressed
// dump that is open no longer needs its file. After Close, Lost returns what it did before.
func (f *File) Lost() error { return machine.Lost(f.src) }

// Content returns the unpacked dump as an io.ReaderAt of Size bytes. It is nil for a caller's
// target.
func (f *File) Content() io.ReaderAt {
	if f.src == nil {
		return nil
	}
	return f.src
}

// Fingerprint identifies the content of the unpacked dump. It is computed from the dump's size and
// a few hundred pages of it; a change elsewhere goes unnoticed.
func (f *File) Fingerprint() ([]byte, error) {
	if f.src == nil {
		return nil, target.Unsupportedf("a target that is no dump's has no fingerprint")
	}
	samples, err := hashSamples(f.src, f.Size)
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s", f.Size, samples))
	return h[:], nil
}

// Close releases the dump. After that every read fails with target.ErrUnsupported. Memory that View
// and Span lent stays readable as long as the File is reachable. Closing again does nothing.
func (f *File) Close() error {
	var errs []error
	f.close.Do(func() {
		for _, c := range f.closers {
			errs = append(errs, c.Close())
		}
	})
	return errors.Join(errs...)
}

// Open opens the dump in the named file. The error is target.ErrCorrupt for a damaged dump, and
// target.ErrUnsupported for another file; it names the apparent format.
func Open(path string, o Options) (*File, error) {
	src, err := mmapfile.Open(path, o.NoMmap)
	if err != nil {
		return nil, fmt.Errorf("open dump: %w", err)
	}
	f, err := open(src, o)
	if err != nil {
		err = cmp.Or(src.Lost(), err)
		src.Close()
		return nil, fmt.Errorf("open dump %s: %w", path, err)
	}
	f.Path = path
	f.closers = append(f.closers, src)
	return f, nil
}

// OpenReaderAt opens the dump of size bytes in r. r must serve concurrent reads as long as the File
// is in use; Close does not close it.
func OpenReaderAt(r io.ReaderAt, size int64, o Options) (*File, error) {
	if size < 0 {
		return nil, target.Argumentf("open dump: negative size %d", size)
	}
	var in target.Source
	if s, ok := r.(target.Source); ok && s.Size() == size {
		in = s
	} else {
		in = pagecache.Source(r, size)
	}
	src := &closingSource{Source: in}
	f, err := open(src, o)
	if err != nil {
		return nil, fmt.Errorf("open dump: %w", err)
	}
	f.closers = append(f.closers, src)
	return f, nil
}

// FormatTarget is the format of a File over a caller's target.
const FormatTarget = "target"

// A holder is a target with an answer of its own to target.Available, because it records reads.
type holder interface {
	Holds(a target.Addr, n int) bool
}

// OfTarget returns a File over a caller's target. A memory that lends nothing is read in blocks,
// which are cached, unless it has a method Holds (see target.Available). Close does not close the target.
func OfTarget(t target.Target) (*File, error) {
	var stored []target.Range
	for r := range t.Regions() {
		if r.Stored == 0 {
			continue
		}
		if end := r.Start + target.Addr(r.Stored); len(stored) > 0 && stored[len(stored)-1].End == r.Start {
			stored[len(stored)-1].End = end
		} else {
			stored = append(stored, target.Range{Start: r.Start, End: end})
		}
	}
	if _, exact := t.(holder); !exact && len(stored) > 0 && t.Span(stored[0].Start) == nil {
		t = &cachedTarget{Target: t, memory: pagecache.Memory(t, stored)}
	}
	return &File{Target: t, Format: FormatTarget}, nil
}

// A cachedTarget is a target whose memory is read in cached blocks.
type cachedTarget struct {
	target.Target

	memory target.Memory
}

// ReadMemory implements target.Memory.
func (t *cachedTarget) ReadMemory(p []byte, a target.Addr) (int, error) {
	return t.memory.ReadMemory(p, a)
}

// View implements target.Memory. It lends nothing.
func (t *cachedTarget) View(target.Addr, int) ([]byte, bool) { return nil, false }

// Span implements target.Memory. It lends nothing.
func (t *cachedTarget) Span(target.Addr) []byte { return nil }

// NextStored implements target.SparseMemory.
func (t *cachedTarget) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(t.memory, a)
}

// A closingSource fails after it is closed.
type closingSource struct {
	target.Source

	closed atomic.Bool
}

// Bytes lends bytes of the source, or returns nil after Close.
func (s *closingSource) Bytes(off int64, n int) []byte {
	if s.closed.Load() {
		return nil
	}
	return s.Source.Bytes(off, n)
}

// ReadAt reads from the source and fails after Close.
func (s *closingSource) ReadAt(p []byte, off int64) (int, error) {
	if s.closed.Load() {
		return 0, target.Closedf("the dump is closed")
	}
	return s.Source.ReadAt(p, off)
}

// Lost implements File.Lost.
func (s *closingSource) Lost() error { return machine.Lost(s.Source) }

// Close ends reading. The underlying reader belongs to the caller and stays open.
func (s *closingSource) Close() error {
	s.closed.Store(true)
	return nil
}

// OpenStream opens the dump read from r, such as a pipe. It copies r to a temporary file that
// vanishes on Close.
func OpenStream(r io.Reader, o Options) (*File, error) {
	tmp, err := createTemporary(o.TempDir)
	if err != nil {
		return nil, fmt.Errorf("open dump: %w", err)
	}
	// The compressed size is unknown, so it does not bound the unpacked size.
	limit := o.ceiling(math.MaxInt64, tmp)
	in := &progressReader{ctx: o.context(), r: r, report: o.Progress}
	if err := copyLimited(tmp, in, limit, streamError); err != nil {
		tmp.Close()
		return nil, fmt.Errorf("open dump: %w", err)
	}
	src, err := mmapfile.FromFile(tmp, o.NoMmap)
	if err != nil {
		tmp.Close()
		return nil, fmt.Errorf("open dump: %w", err)
	}
	f, err := open(src, o)
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("open dump: %w", err)
	}
	f.closers = append(f.closers, src)
	return f, nil
}

// streamError returns the error of a stream that can't be read.
func streamError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &machine.Error{Err: fmt.Errorf("the stream can't be read: %w", err)}
}

// open opens the dump in src and unpacks it if needed.
func open(src target.Source, o Options) (*File, error) {
	head, err := readHead(src)
	if err != nil {
		return nil, err
	}
	c := compressionOf(head)
	if c == nil {
		return openPlain(src, head, &o)
	}
	f, err := c.openDump(src, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	f.Compressed = c.name
	return f, nil
}

// openUnpacked opens the dump in a temporary file and takes ownership of it.
func openUnpacked(tmp *os.File, o Options) (*File, error) {
	src, err := mmapfile.FromFile(tmp, o.NoMmap)
	if err != nil {
		tmp.Close()
		return nil, err
	}
	head, err := readHead(src)
	if err == nil {
		var f *File
		if f, err = openPlain(src, head, &o); err == nil {
			f.closers = append(f.closers, src)
			return f, nil
		}
	}
	src.Close()
	return nil, err
}

// openPlain opens an uncompressed dump or pack that begins with head.
func openPlain(src target.Source, head []byte, o *Options) (*File, error) {
	if isTar(head) {
		return openPack(src, o)
	}
	return openContainer(src, head, o)
}

func openContainer(src target.Source, head []byte, o *Options) (*File, error) {
	f := &File{Size: src.Size(), src: src, limits: o.Limits}
	switch {
	case elfcore.Sniff(head):
		t, err := elfcore.OpenLimited(src, o.Limits)
		if err != nil {
			return nil, err
		}
		f.Target, f.Format = t, FormatELFCore
	case machocore.Sniff(head):
		t, err := machocore.OpenLimited(src, o.Limits)
		if err != nil {
			return nil, err
		}
		f.Target, f.Format = t, FormatMachOCore
	case minidump.Sniff(head):
		t, err := minidump.OpenLimited(src, o.Limits)
		if err != nil {
			return nil, err
		}
		f.Target, f.Format = t, t.Container()
	case crashreport.Sniff(head):
		t, err := crashreport.Open(src, o.Limits)
		if err != nil {
			return nil, err
		}
		f.Target, f.Format = t, FormatReport
	default:
		return nil, notADump(head, src.Size())
	}
	return f, nil
}

// headSize is the number of bytes to identify a file by: up to the mark of a tar archive, and
// enough to tell text from data.
const headSize = 512

func readHead(r interface {
	io.ReaderAt
	Size() int64
}) ([]byte, error) {
	head := make([]byte, min(headSize, r.Size()))
	n, err := r.ReadAt(head, 0)
	if n < len(head) && err != nil {
		return nil, fmt.Errorf("read the first %d bytes: %w", len(head), err)
	}
	return head[:n], nil
}

// context returns the context that ends unpacking.
func (o *Options) context() context.Context {
	if o.OpenContext == nil {
		return context.Background()
	}
	return o.OpenContext()
}
