package codeinfo

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/sosgo/sosgo/target"
)

// maxRead is the maximum number of bits of one read: an eight-byte load without up to seven bits of
// its first byte.
const maxRead = 57

// A bitReader reads bits, low bits of a byte first. Failures are sticky: every later read returns
// zero. Copies read independently.
type bitReader struct {
	b   []byte
	pos uint64 // in bits
	bad readFailure
}

// A readFailure is the reason why a bitReader failed.
type readFailure uint8

const (
	readOK        readFailure = iota
	readShort                 // not enough bits are left
	readMalformed             // an invalid number
)

// err returns the reader's failure as an error, or nil.
func (r *bitReader) err() error {
	switch r.bad {
	case readShort:
		return target.Corruptf("GC info ends within its data: %w", io.ErrUnexpectedEOF)
	case readMalformed:
		return target.Corruptf("GC info has a number of more than 32 bits near bit %d", r.pos)
	}
	return nil
}

func (r *bitReader) size() uint64 { return uint64(len(r.b)) * 8 }

// left returns the number of bits that are left.
func (r *bitReader) left() uint64 { return r.size() - r.pos }

// fail sets the reader's failure, unless one is set.
func (r *bitReader) fail(f readFailure) {
	if r.bad == readOK {
		r.bad = f
	}
}

func (r *bitReader) seek(pos uint64) {
	if pos > r.size() {
		r.fail(readShort)
		return
	}
	r.pos = pos
}

// skip skips count items of width bits each.
func (r *bitReader) skip(count, width uint64) {
	hi, n := bits.Mul64(count, width)
	if hi != 0 || n > r.left() {
		r.fail(readShort)
		return
	}
	r.pos += n
}

// align continues at the next multiple of eight bits.
func (r *bitReader) align() { r.seek((r.pos + 7) &^ 7) }

// peek returns the next n bits without skipping them; n is at most maxRead and at most left.
func (r *bitReader) peek(n uint64) uint64 {
	i := int(r.pos >> 3)
	var v uint64
	if len(r.b)-i >= 8 {
		v = binary.LittleEndian.Uint64(r.b[i:])
	} else {
		for k := len(r.b) - 1; k >= i; k-- {
			v = v<<8 | uint64(r.b[k])
		}
	}
	return v >> (r.pos & 7) & (1<<n - 1)
}

// read returns the next n bits; n is at most maxRead.
func (r *bitReader) read(n uint64) uint64 {
	if r.bad != readOK {
		return 0
	}
	if n > r.left() {
		r.bad = readShort
		return 0
	}
	v := r.peek(n)
	r.pos += n
	return v
}

func (r *bitReader) bit() bool { return r.read(1) != 0 }

// uvarint reads a number in groups of base bits, low group first. A bit after each group is set if
// another follows.
func (r *bitReader) uvarint(base uint64) uint32 {
	more := uint64(1) << base
	chunk := r.read(base + 1)
	v := chunk &^ more
	for shift := base; chunk&more != 0; shift += base {
		if shift >= 32 {
			r.fail(readMalformed)
			return 0
		}
		chunk = r.read(base + 1)
		v |= (chunk &^ more) << shift
	}
	if v > math.MaxUint32 {
		r.fail(readMalformed)
		return 0
	}
	return uint32(v)
}

// varint is uvarint for signed numbers. The highest bit of the last group is the sign.
func (r *bitReader) varint(base uint64) int32 {
	more := uint64(1) << base
	var v, width uint64
	for {
		if width >= 32 {
			r.fail(readMalformed)
			return 0
		}
		chunk := r.read(base + 1)
		v |= (chunk &^ more) << width
		width += base
		if chunk&more == 0 {
			break
		}
	}
	s := int64(v<<(64-width)) >> (64 - width)
	if s != int64(int32(s)) {
		r.fail(readMalformed)
		return 0
	}
	return int32(s)
}

// ceilLog2 returns the number of bits for numbers below x.
func ceilLog2(x uint32) uint64 {
	if x == 0 {
		return 0
	}
	return uint64(bits.Len32(x - 1))
}
