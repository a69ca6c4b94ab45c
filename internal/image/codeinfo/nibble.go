package codeinfo

import (
	"io"

	"github.com/sosgo/sosgo/target"
)

// A nibbleReader reads the numbers in debug information (runtime: nibblestream.h). A number
// consists of nibbles with three bits each, the high ones first; the fourth bit is set if more
// follow. The low nibble of a byte comes first. Failures are sticky.
type nibbleReader struct {
	b   []byte
	pos int // in nibbles
	err error
}

// left returns the number of nibbles that are left.
func (r *nibbleReader) left() int { return 2*len(r.b) - r.pos }

// bytes returns the number of bytes that were read, including a partly read one.
func (r *nibbleReader) bytes() int { return (r.pos + 1) / 2 }

// uint reads an unsigned number.
func (r *nibbleReader) uint() uint32 {
	var v uint64
	for r.err == nil {
		if r.pos >= 2*len(r.b) {
			r.err = target.Corruptf("debug information ends within a number: %w", io.ErrUnexpectedEOF)
			break
		}
		n := r.b[r.pos/2] >> (4 * (r.pos & 1))
		r.pos++
		v = v<<3 | uint64(n&7)
		if v>>32 != 0 {
			r.err = target.Corruptf("debug information has a number of more than 32 bits")
			break
		}
		if n&8 == 0 {
			return uint32(v)
		}
	}
	return 0
}

// int reads a signed number. Its lowest bit is the sign.
func (r *nibbleReader) int() int32 {
	v := r.uint()
	if v&1 != 0 {
		return -int32(v >> 1)
	}
	return int32(v >> 1)
}
