package scrub

import (
	"context"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// chunkSize is the number of bytes of the file processed at a time. Each chunk is a frame if the file is
// compressed.
const chunkSize = 4 << 20

// A writer writes a dump's file piece by piece, on several goroutines and in order.
type writer struct {
	src   target.Source
	size  int64
	job   *job
	fill  func(b []byte, off int64) error // produces the bytes at off
	level zstd.EncoderLevel               // 0 does not compress
	jobs  int
	done  func(done, total uint64)
}

// A chunk is a piece of the file.
type chunk struct {
	off           int64
	b             []byte
	packed        []byte
	ready, folded chan struct{}
	err           error
}

// write writes the file. It uses the memory of a few chunks for each goroutine.
func (w *writer) write(ctx context.Context, out io.Writer) (written int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var group workers.Group
	defer group.Wait()
	defer cancel()
	queue, order := make(chan *chunk, w.jobs), make(chan *chunk, w.jobs)
	fold, result := make(chan *chunk, w.jobs), make(chan *chunk, w.jobs)
	spare := sync.Pool{New: func() any { return new([chunkSize]byte) }}
	send := func(to chan<- *chunk, c *chunk) bool {
		select {
		case to <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	group.Go(func() {
		defer close(queue)
		defer close(order)
		for off := int64(0); off < w.size; off += chunkSize {
			c := &chunk{off: off, ready: make(chan struct{}), folded: make(chan struct{})}
			if !send(order, c) || !send(queue, c) {
				return
			}
		}
	})
	for range w.jobs {
		group.Go(func() {
			for c := range queue {
				c.b = spare.Get().(*[chunkSize]byte)[:min(chunkSize, w.size-c.off)]
				c.err = w.fill(c.b, c.off)
				w.job.counts.Secrets.Add(w.job.secrets.overwrite(c.b))
				close(c.ready)
			}
		})
	}
	group.Go(func() {
		defer close(fold)
		defer close(result)
		var last *chunk
		pass := func() bool { return last == nil || send(fold, last) && send(result, last) }
		for c := range order {
			select {
			case <-c.ready:
			case <-ctx.Done():
				return
			}
			if last != nil {
				w.seam(last.b, c.b)
			}
			if !pass() {
				return
			}
			last = c
		}
		if ctx.Err() == nil {
			pass()
		}
	})
	for range w.jobs {
		group.Go(func() {
			enc, err := w.encoder()
			for c := range fold {
				if c.err == nil {
					c.err = err
				}
				if c.packed = c.b; enc != nil && c.err == nil {
					c.packed = enc.EncodeAll(c.b, nil)
				}
				close(c.folded)
			}
		})
	}
	var table []byte
	for c := range result {
		select {
		case <-c.folded:
		case <-ctx.Done():
			return written, ctx.Err()
		}
		if c.err != nil {
			return written, c.err
		}
		n, err := out.Write(c.packed)
		written += int64(n)
		if err != nil {
			return written, err
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(len(c.packed)))
		table = binary.LittleEndian.AppendUint32(table, uint32(len(c.b)))
		if w.done != nil {
			w.done(uint64(c.off)+uint64(len(c.b)), uint64(w.size))
		}
		spare.Put((*[chunkSize]byte)(c.b[:chunkSize]))
	}
	if err := ctx.Err(); err != nil || w.level == 0 {
		return written, err
	}
	n, err := out.Write(seekTable(table))
	return written + int64(n), err
}

func (w *writer) encoder() (*zstd.Encoder, error) {
	if w.level == 0 {
		return nil, nil
	}
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(w.level), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(chunkSize), zstd.WithLowerEncoderMem(true))
}

// seam replaces the secrets that extend over two chunks.
func (w *writer) seam(a, b []byte) {
	if w.job.secrets == nil || w.job.secrets.longest < 2 {
		return
	}
	n := w.job.secrets.longest - 1
	tail, head := a[max(len(a)-n, 0):], b[:min(n, len(b))]
	both := append(append(make([]byte, 0, len(tail)+len(head)), tail...), head...)
	if n := w.job.secrets.overwrite(both); n > 0 {
		w.job.counts.Secrets.Add(n)
		copy(tail, both)
		copy(head, both[len(tail):])
	}
}

// The seek table of zstd's seekable format (contrib/seekable_format in zstd's sources) is a frame that decoders
// skip.
const skippableFrame, seekMagic = 0x184d2a5e, 0x8f92eab1

// seekTable returns the frame with the sizes of the frames, packed and unpacked.
func seekTable(sizes []byte) []byte {
	const foot = 9
	out := binary.LittleEndian.AppendUint32(nil, skippableFrame)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(sizes)+foot))
	out = append(out, sizes...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(sizes)/8))
	out = append(out, 0)
	return binary.LittleEndian.AppendUint32(out, seekMagic)
}
