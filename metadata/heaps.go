package metadata

import (
	"bytes"
	"encoding/binary"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// StringBytes returns a #Strings entry without its NUL (ECMA-335 II.24.2.3). The result shares the metadata's
// memory. It should be UTF-8, which is not checked. Index 0 is the empty string.
func (md *Metadata) StringBytes(i StringIndex) ([]byte, error) {
	if i == 0 {
		return nil, nil
	}
	h := md.strings
	if uint64(i) >= uint64(h.size) {
		return nil, corruptf(h.off, "string %#x passes the heap of %#x bytes", uint32(i), h.size)
	}
	start := h.off + int(i)
	rest := md.b[start : start+min(h.size-int(i), limits.IdentifierBytes+1)]
	n := bytes.IndexByte(rest, 0)
	if md.available != nil {
		if err := md.needString(start, n, len(rest)); err != nil {
			return nil, err
		}
	}
	if n < 0 {
		return nil, corruptf(start, "string without end")
	}
	return rest[:n:n], nil
}

// needString fails if a byte of a string is missing. nul is the offset of its NUL in the size bytes at off, or
// -1. A NUL counts only if all bytes before it are in the dump: a hole reads as zeros.
func (md *Metadata) needString(off, nul, size int) error {
	if nul >= 0 {
		size = nul + 1
	}
	return md.need(off, size)
}

// String returns a #Strings entry. Index 0 is the empty string.
func (md *Metadata) String(i StringIndex) (string, error) {
	b, err := md.StringBytes(i)
	return string(b), err
}

// Blob returns a #Blob entry without its length (ECMA-335 II.24.2.4). The result shares the metadata's memory.
// Index 0 is the empty blob.
func (md *Metadata) Blob(i BlobIndex) ([]byte, error) {
	if i == 0 {
		return nil, nil
	}
	return md.lengthPrefixed(md.blobs, uint32(i), "blob")
}

// lengthPrefixed returns the entry at offset i of a heap of entries that start with a compressed length.
func (md *Metadata) lengthPrefixed(h heap, i uint32, what string) ([]byte, error) {
	if uint64(i) >= uint64(h.size) {
		return nil, corruptf(h.off, "%s %#x passes the heap of %#x bytes", what, i, h.size)
	}
	start := h.off + int(i)
	rest := md.b[start : h.off+h.size]
	if err := md.need(start, 1); err != nil {
		return nil, err
	}
	if err := md.need(start, min(compressedSize(rest[0]), len(rest))); err != nil {
		return nil, err
	}
	size, n := uncompress(rest)
	if n == 0 || uint64(size) > uint64(len(rest)-n) {
		return nil, corruptf(start, "%s of %d bytes, %d are left in the heap", what, size, len(rest))
	}
	if err := md.need(start+n, int(size)); err != nil {
		return nil, err
	}
	return rest[n : n+int(size) : n+int(size)], nil
}

// GUID returns an entry of the #GUID heap. Index 0 is the zero GUID.
func (md *Metadata) GUID(i GUIDIndex) (GUID, error) {
	h := md.guids
	if i == 0 {
		return GUID{}, nil
	}
	if uint64(i) > uint64(h.size)/16 {
		return GUID{}, corruptf(h.off, "GUID %d passes the heap of %#x bytes", i, h.size)
	}
	off := h.off + int(i-1)*16
	if err := md.need(off, 16); err != nil {
		return GUID{}, err
	}
	return GUID(md.b[off : off+16]), nil
}

// UserString returns the literal of an ldstr token, which has 0x70 in the high byte (ECMA-335 II.24.2.4). Lone
// surrogates are kept as in the strings of objects.
func (md *Metadata) UserString(t Token) (string, error) {
	if t.Table() != UserStringHeap {
		return "", corruptf(0, "token %s is no user string", t)
	}
	b, err := md.lengthPrefixed(md.user, t.Row(), "user string")
	if err != nil {
		return "", err
	}
	return utf16text.String(b), nil
}

// UserStrings iterates over the literals of the #US heap in UTF-16. It ends at the first unreadable one. The
// bytes share the metadata's memory.
func (md *Metadata) UserStrings() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := uint64(1); i < uint64(md.user.size); {
			b, err := md.lengthPrefixed(md.user, uint32(i), "user string")
			if err != nil {
				return
			}
			i += uint64(compressedSize(md.b[md.user.off+int(i)])) + uint64(len(b))
			if len(b)&1 == 1 && !yield(b[:len(b)-1]) { // the last byte is a flag
				return
			}
		}
	}
}

// UserStringHeap returns the range of the #US heap in the bytes given to Parse.
func (md *Metadata) UserStringHeap() (off, size int) { return md.user.off, md.user.size }

// compressedSize returns the size in bytes of a compressed unsigned integer that starts with b, or 1 if b
// cannot start one (ECMA-335 II.23.2).
func compressedSize(b byte) int {
	switch {
	case b&0xC0 == 0x80:
		return 2
	case b&0xE0 == 0xC0:
		return 4
	}
	return 1
}

// uncompress reads a compressed unsigned integer. n is its size in bytes, or 0 if b does not hold one.
func uncompress(b []byte) (v uint32, n int) {
	if len(b) == 0 || len(b) < compressedSize(b[0]) {
		return 0, 0
	}
	switch {
	case b[0]&0x80 == 0:
		return uint32(b[0]), 1
	case b[0]&0xC0 == 0x80:
		return uint32(b[0]&0x3F)<<8 | uint32(b[1]), 2
	case b[0]&0xE0 == 0xC0:
		return binary.BigEndian.Uint32(b) & 0x1FFFFFFF, 4
	}
	return 0, 0
}

// uncompressSigned reads a compressed signed integer. It is rotated left by one bit within its width, so that
// the lowest bit is the sign.
func uncompressSigned(b []byte) (v int32, n int) {
	u, n := uncompress(b)
	v = int32(u >> 1)
	if u&1 != 0 {
		v -= [...]int32{0, 1 << 6, 1 << 13, 0, 1 << 28}[n]
	}
	return v, n
}
