// Package cursor decodes little-endian values from a byte slice. Its error is sticky, so that a
// decoder checks once per structure.
package cursor

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
)

// A Cursor reads fixed-size values from a slice. After the first failure every read returns zero and
// Err reports it. A Cursor must not be copied.
type Cursor struct {
	b    []byte
	off  int
	base int64 // file offset of b[0], for errors
	err  error
}

// New returns a Cursor at the start of b. base is the offset of b in its file, for errors.
func New(b []byte, base int64) *Cursor { return &Cursor{b: b, base: base} }

// Err returns the first failure, or nil. It wraps io.ErrUnexpectedEOF.
func (c *Cursor) Err() error { return c.err }

// Fail sets the error of the cursor, unless one is set.
func (c *Cursor) Fail(err error) { c.err = cmp.Or(c.err, err) }

// Offset returns the position in the slice.
func (c *Cursor) Offset() int { return c.off }

// Len returns the number of bytes left.
func (c *Cursor) Len() int { return len(c.b) - c.off }

// Seek sets the position in the slice.
func (c *Cursor) Seek(off int) {
	if c.err == nil && (off < 0 || off > len(c.b)) {
		c.err = fmt.Errorf("offset %#x: %w", c.base+int64(off), io.ErrUnexpectedEOF)
	}
	if c.err == nil {
		c.off = off
	}
}

// Take returns the next n bytes without copying them, or nil after a failure.
func (c *Cursor) Take(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > len(c.b)-c.off {
		c.err = fmt.Errorf("%d bytes at offset %#x: %w", n, c.base+int64(c.off), io.ErrUnexpectedEOF)
		return nil
	}
	p := c.b[c.off : c.off+n : c.off+n]
	c.off += n
	return p
}

// Skip passes over n bytes.
func (c *Cursor) Skip(n int) { c.Take(n) }

// Uint8 reads a byte.
func (c *Cursor) Uint8() uint8 {
	if p := c.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// Uint16 reads a word.
func (c *Cursor) Uint16() uint16 {
	if p := c.Take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

// Uint32 reads a doubleword.
func (c *Cursor) Uint32() uint32 {
	if p := c.Take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// Uint64 reads a quadword.
func (c *Cursor) Uint64() uint64 {
	if p := c.Take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// Count reads a uint32 element count. It fails unless that many elements of size bytes fit in the
// remaining data, so that a wrong count can't cause a large allocation.
func (c *Cursor) Count(size int) int {
	n := c.Uint32()
	if c.err == nil && uint64(n) > uint64(c.Len()/size) {
		c.err = fmt.Errorf("count %d of %d-byte elements at offset %#x: %w", n, size, c.base+int64(c.off-4), io.ErrUnexpectedEOF)
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// Uint returns the little-endian number in b, which has 1, 2, 4 or 8 bytes.
func Uint(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}
