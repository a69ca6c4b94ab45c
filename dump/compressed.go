package dump

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/dump/machocore"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// maxWindow is the size of the largest zstd window that is supported ("zstd --long=27"). It bounds
// the memory for unpacking.
const maxWindow = 128 << 20

// A compression is a compression format of dumps.
type compression struct {
	name  string
	magic string
	open  func(io.Reader) (io.ReadCloser, error)
}

// compressionOf returns the compression of a file that begins with head, or nil.
func compressionOf(head []byte) *compression {
	for _, c := range []compression{{"gzip", "\x1f\x8b", openGzip}, {"zstd", "\x28\xb5\x2f\xfd", openZstd}} {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return &c
		}
	}
	return nil
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// openDump opens the compressed dump in src: from the cache, or unpacked into a temporary file that
// vanishes when it is closed.
func (c *compression) openDump(src target.Source, o Options) (*File, error) {
	cached := o.cache(src.Size())
	var key string
	if cached != nil {
		silent := o
		silent.Progress = nil
		in, err := c.begin(src, silent) // before the whole file is read
		if err != nil {
			return nil, err
		}
		in.Close()
		if key, err = cached.key(o.context(), src); err != nil {
			return nil, err
		}
		if file := cached.open(key); file != nil {
			f, err := openUnpacked(file, o)
			if err == nil {
				return f, nil
			}
			cached.remove(key)
		}
	}
	tmp, err := c.unpack(src, o, cached)
	if cached != nil && err != nil && machine.Failed(err) { // no room or no rights there: the temporary file may be elsewhere
		cached = nil
		tmp, err = c.unpack(src, o, nil)
	}
	if err != nil {
		return nil, err
	}
	name := tmp.Name()
	f, err := openUnpacked(tmp, o)
	switch {
	case cached != nil && err != nil:
		os.Remove(name)
	case cached != nil:
		cached.keep(key, tmp)
	}
	return f, err
}

// An unpacking is a compressed dump while it is unpacked.
type unpacking struct {
	io.ReadCloser        // what is unpacked, after head
	in            *input // what it is unpacked from
	head          []byte
	o             *Options
}

// begin unpacks the first bytes of the dump in src, and identifies it by them, before a terabyte of it is read or written.
func (c *compression) begin(src target.Source, o Options) (*unpacking, error) {
	u := &unpacking{o: &o, in: &input{progressReader: progressReader{ctx: o.context(), r: io.NewSectionReader(src, 0, src.Size()), total: src.Size(), report: o.Progress}}}
	var err error
	if u.ReadCloser, err = c.open(u.in); err != nil {
		return nil, u.in.unpackError(err)
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(u, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || u.in.failed() != nil {
		return nil, errors.Join(u.in.unpackError(err), u.Close())
	}
	if u.head = head[:n]; !elfcore.Sniff(u.head) && !machocore.Sniff(u.head) && !minidump.Sniff(u.head) && !isTar(u.head) {
		return nil, errors.Join(notADump(u.head, int64(n)), u.Close())
	}
	return u, nil
}

// Read reads what is unpacked. The size of the file may be a lie of a server, or a sparse file's, so what was read of it is a bound,
// too. It is higher, because an honest dump may begin with much empty memory.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	out := u.in.unpacked.Add(int64(n))
	if out > u.o.ratioCeiling(u.in.taken.Load(), limits.DecompressedAhead) {
		return 0, u.o.ratioError()
	}
	return n, err
}

// unpack unpacks the dump in src into a file of the cache or, without a cache, into a temporary file.
func (c *compression) unpack(src target.Source, o Options, cached *cache) (*os.File, error) {
	u, err := c.begin(src, o)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	create := createTemporary
	if cached != nil {
		create = cached.create
	}
	tmp, err := create(o.TempDir)
	if err != nil {
		return nil, err
	}
	err = copyLimited(tmp, io.MultiReader(bytes.NewReader(u.head), u), o.ceiling(src.Size(), tmp), u.in.unpackError)
	if err = cmp.Or(machine.Lost(src), err); err != nil {
		tmp.Close()
		if cached != nil {
			os.Remove(tmp.Name())
		}
		return nil, err
	}
	return tmp, nil
}

// createTemporary creates a file in dir, or in the system's folder for temporary files, that
// vanishes when it is closed. Its error is a fault of the machine and does not wrap fs.ErrNotExist: a missing folder, as in
// a container image that holds only sosgo, does not mean that the dump is missing.
func createTemporary(dir string) (*os.File, error) {
	f, err := createTemp(dir)
	if err != nil {
		//nolint:errorlint // a missing folder in the chain would mean that the dump is missing
		return nil, &machine.Error{Err: fmt.Errorf("no temporary file for the unpacked dump can be made (TMPDIR names a folder for it): %v", err)}
	}
	return f, nil
}

// copyLimited copies r to w and fails above the ceiling. failed returns the error of a read that failed.
func copyLimited(w io.Writer, r io.Reader, c ceiling, failed func(error) error) error {
	from := &sourceReader{r: r}
	// A large buffer saves system calls; io.CopyBuffer uses it because the writer is wrapped.
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(from, c.bytes), make([]byte, 1<<20))
	if err == nil && n == c.bytes {
		if extra, _ := io.ReadFull(from, make([]byte, 1)); extra > 0 {
			return c.err()
		}
	}
	if from.err != nil {
		return failed(from.err)
	}
	if err != nil {
		return fmt.Errorf("write the unpacked dump to a temporary file (after %d bytes): %w", n, err)
	}
	return nil
}

// A sourceReader records errors of reading, to distinguish them from errors of writing.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// An input is a compressed file that is unpacked. It may have no end: a server sends what it likes, and blocks of both formats
// may be empty. So it fails once much more was read than has come out.
type input struct {
	progressReader

	taken    atomic.Int64 // bytes that were read
	unpacked atomic.Int64 // bytes
	mu       sync.Mutex   // zstd reads in a goroutine of its own
	err      error        // why reading failed
}

func (in *input) Read(b []byte) (int, error) {
	n, err := in.progressReader.Read(b)
	in.taken.Store(in.done)
	out := in.unpacked.Load()
	switch {
	case err != nil && !errors.Is(err, io.EOF) && in.ctx.Err() == nil:
		err = &machine.Error{Err: fmt.Errorf("the compressed file can't be read: %w", err)}
	case in.done > limits.CompressedIdle && in.done-limits.CompressedIdle > out+out/limits.CompressedExtra:
		n, err = 0, target.Corruptf("%d bytes of the compressed file unpack to %d bytes, and no dump does that", in.done, out)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		in.mu.Lock()
		in.err = cmp.Or(in.err, err)
		in.mu.Unlock()
	}
	return n, err
}

// failed returns why the compressed file can't be read, or nil.
func (in *input) failed() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

// unpackError converts an error of unpacking to a typed error. If the file can't be read, that is no damage of it.
func (in *input) unpackError(err error) error {
	if failed := in.failed(); failed != nil {
		return failed
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, target.ErrLimit):
		return err
	// In a single segment, the size is the window.
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return target.Unsupportedf("the zstd window is larger than %d MB (zstd --long=27): compress the dump with a smaller one", maxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return target.Corruptf("the compressed file ends early: it was not copied completely")
	}
	return target.Corruptf("can't unpack: %w", err)
}

// A progressReader reports how much of a stream was read, and fails when its context ends.
type progressReader struct {
	ctx         context.Context
	r           io.Reader
	done, total int64
	report      func(done, total int64)
}

func (p *progressReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	p.done += int64(n)
	if p.report != nil && n > 0 {
		p.report(p.done, p.total)
	}
	return n, err
}
