package codeinfo

import (
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// gcWindow is the number of bytes to read first if the target does not lend memory. Few methods
// have more GC info.
const gcWindow = 4096

// A source is the memory that GC info is read from. GC info does not record its length, so the
// decoder starts with the bytes that the target lends and reads more if they do not suffice.
type source struct {
	mem  target.Memory
	addr target.Addr
	buf  []byte // reused
}

// ResetAt is Reset for GC info at an address of the target. If required bytes are not in the dump,
// it fails with target.ErrNotInDump, and so can every later call.
func (d *GCDecoder) ResetAt(mem target.Memory, addr target.Addr, version int) error {
	d.source = source{mem: mem, addr: addr, buf: d.source.buf}
	b := mem.Span(addr)
	if b == nil {
		if _, err := target.Uint8(mem, addr); err != nil {
			return fmt.Errorf("GC info: %w", err)
		}
	}
	err := d.reset(b, version)
	for err != nil && d.grow() {
		err = d.reset(d.r.b, version)
	}
	return d.missingError(err)
}

// grow reads more bytes after the decoder ran out of them. It reports false if there are no more.
func (d *GCDecoder) grow() bool {
	have := len(d.r.b)
	if d.r.bad != readShort || d.source.mem == nil || have >= limits.GCInfoBytes {
		return false
	}
	want := min(max(2*have, gcWindow), limits.GCInfoBytes)
	if cap(d.source.buf) < want {
		d.source.buf = make([]byte, want)
	}
	n, _ := d.source.mem.ReadMemory(d.source.buf[:want], d.source.addr)
	if n <= have {
		return false
	}
	d.r.b, d.r.bad = d.source.buf[:n], readOK
	return true
}

// missingError converts an error about truncated data to one about missing memory, if the data came
// from memory.
func (d *GCDecoder) missingError(err error) error {
	if err == nil || d.source.mem == nil || !errors.Is(err, io.ErrUnexpectedEOF) || len(d.r.b) >= limits.GCInfoBytes {
		return err
	}
	a := d.source.addr + target.Addr(len(d.r.b))
	return fmt.Errorf("GC info at %s: %w", d.source.addr, &target.MemoryError{Addr: a, Size: 1, Err: target.ErrNotInDump})
}
