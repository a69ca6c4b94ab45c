package codeinfo

import (
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// gcWindow is how many bytes are read at first where the target can't lend its memory. Few methods have more GC info.
const gcWindow = 4096

// A source is the memory that GC info is read from. GC info doesn't record how long it is, so the decoder takes what
// the target lends and asks for more when that does not suffice.
type source struct {
	mem  target.Memory
	addr target.Addr
	buf  []byte // own memory, reused
}

// ResetAt is Reset for GC info at an address of the target. It fails with target.ErrNotInDump if bytes that it needs
// are not in the dump; so can every later call.
func (d *GCDecoder) ResetAt(mem target.Memory, addr target.Addr, version int) error {
	d.source = source{mem: mem, addr: addr, buf: d.source.buf}
	mem = absent.Memory(mem)
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
	return d.missing(err)
}

// grow replaces the decoder's bytes with more of the same after it ran out of them, if there are more.
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

// missing turns an error about bytes that end early into one about the dump's memory, if the bytes came from there.
func (d *GCDecoder) missing(err error) error {
	if err == nil || d.source.mem == nil || !errors.Is(err, io.ErrUnexpectedEOF) || len(d.r.b) >= limits.GCInfoBytes {
		return err
	}
	a := d.source.addr + target.Addr(len(d.r.b))
	return fmt.Errorf("GC info at %s: %w", d.source.addr, &target.MemoryError{Addr: a, Size: 1, Err: target.ErrNotInDump})
}
