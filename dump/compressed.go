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

	"github.com/sosgo/sosgo/dump/elfcore"
	"github.com/sosgo/sosgo/dump/machocore"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// maxWindow is the largest zstd window that is unpacked ("zstd --long=27"). It bounds the memory that unpacking takes.
const maxWindow = 128 << 20

// A compression is a way in which dumps are compressed.
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

// openDump opens the dump in src, which is compressed in this way: one that is unpacked
// in the cache already, or a temporary file that vanishes when it is closed.
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

// unpack streams the dump in src into a file of the cache or, if there is none, into one without a name.
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
	// The content is identified before a terabyte is written.
	if head = head[:n]; !elfcore.Sniff(head) && !machocore.Sniff(head) && !minidump.Sniff(head) && !isTar(head) {
		return nil, notADump(head, int64(n))
	}
	create := temporary
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

// temporary creates a file in dir, or in the system's folder for such files, that vanishes when it is closed. Its error
// is no other one's: that this folder is missing, as in an image of nothing but sosgo, does not mean that the dump is.
func temporary(dir string) (*os.File, error) {
	f, err := createTemp(dir)
	if err != nil {
		//nolint:errorlint // a missing folder in the chain would mean that the dump is missing
		return nil, fmt.Errorf("no temporary file for the unpacked dump can be made (TMPDIR names a folder for it): %v", err)
	}
	return f, nil
}

// copyLimited copies r to w, which fails beyond the ceiling.
func copyLimited(w io.Writer, r io.Reader, c ceiling) error {
	from := &sourceReader{r: r}
	// The buffer is that large for few system calls; wrapping the writer makes io.CopyBuffer use it.
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

// A sourceReader remembers why reading failed, to distinguish it from failed writing.
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

// unpackError returns a typed error for a stream that can't be unpacked.
func unpackError(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded): // of what is in one segment, the size is the window
		return target.Unsupportedf("the zstd window is larger than %d MB (zstd --long=27): compress the dump with a smaller one", maxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return target.Corruptf("the compressed file ends early: it was not copied completely")
	}
	return target.Corruptf("can't unpack: %w", err)
}

// A progressReader reports how much of a stream has been read, and ends it with the context.
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
