package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

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
		var err error
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

// unpack unpacks the dump in src into a file of the cache or, without a cache, into a temporary
// file.
func (c *compression) unpack(src target.Source, o Options, cached *cache) (*os.File, error) {
	in := &progressReader{ctx: o.context(), r: io.NewSectionReader(src, 0, src.Size()), total: src.Size(), report: o.Progress}
	r, err := c.open(in)
	if err != nil {
		return nil, unpackError(err)
	}
	defer r.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, unpackError(err)
	}
	// Identify the content before writing a terabyte of it.
	if head = head[:n]; !elfcore.Sniff(head) && !machocore.Sniff(head) && !minidump.Sniff(head) && !isTar(head) {
		return nil, notADump(head, int64(n))
	}
	create := createTemporary
	if cached != nil {
		create = cached.create
	}
	tmp, err := create(o.TempDir)
	if err != nil {
		return nil, err
	}
	if err := copyLimited(tmp, io.MultiReader(bytes.NewReader(head), r), o.ceiling(src.Size(), tmp)); err != nil {
		tmp.Close()
		if cached != nil {
			os.Remove(tmp.Name())
		}
		return nil, err
	}
	return tmp, nil
}

// createTemporary creates a file in dir, or in the system's folder for temporary files, that
// vanishes when it is closed. Its error does not wrap fs.ErrNotExist: a missing folder, as in a
// container image that holds only sosgo, does not mean that the dump is missing.
func createTemporary(dir string) (*os.File, error) {
	f, err := createTemp(dir)
	if err != nil {
		//nolint:errorlint // a missing folder in the chain would mean that the dump is missing
		return nil, fmt.Errorf("no temporary file for the unpacked dump can be made (TMPDIR names a folder for it): %v", err)
	}
	return f, nil
}

// copyLimited copies r to w and fails above the ceiling.
func copyLimited(w io.Writer, r io.Reader, c ceiling) error {
	from := &sourceReader{r: r}
	// A large buffer saves system calls; io.CopyBuffer uses it because the writer is wrapped.
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(from, c.bytes), make([]byte, 1<<20))
	if err == nil && n == c.bytes {
		if extra, _ := io.ReadFull(from, make([]byte, 1)); extra > 0 {
			return c.err()
		}
	}
	if from.err != nil {
		return unpackError(from.err)
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

// unpackError converts an error of unpacking to a typed error.
func unpackError(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
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
