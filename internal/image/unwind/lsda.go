package unwind

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

// The pointer encodings that compilers use in call frame information (Linux Standard Base, "DWARF
// Extensions", DW_EH_PE).
const (
	ehAbsolute   = 0x00
	ehRelative32 = 0x1b // signed 32 bits, relative to the pointer's own address
)

// Offsets of the augmentation in a CIE (after length, id and version) and of the code's address in
// an FDE (after length and link).
const (
	cieAugmentation = 9
	fdeCode         = 8
)

// lsda returns the address of the function's language specific data. entry is the FDE at an address
// and cie its CIE, both with their length words.
func lsda(cie, entry []byte, at target.Addr) (target.Addr, bool) {
	code, data, ok := augmentation(cie)
	if !ok {
		return 0, false
	}
	c := cursor.New(entry, 0)
	c.Seek(fdeCode)
	c.Skip(2 * pointerSize(code)) // begin and size
	if n := leb128(c); c.Err() != nil || n < uint64(pointerSize(data)) {
		return 0, false
	}
	here := at + target.Addr(c.Offset())
	if data == ehAbsolute {
		a := target.Addr(c.Uint64())
		return a, c.Err() == nil && a != 0
	}
	v := int32(c.Uint32())
	return here + target.Addr(v), c.Err() == nil && v != 0
}

// augmentation decodes from a CIE the encodings of code addresses and of language specific data in
// its FDEs. It reports false if they have no such data, or use other encodings.
func augmentation(cie []byte) (code, data byte, ok bool) {
	c := cursor.New(cie, 0)
	c.Seek(cieAugmentation)
	var letters []byte
	for b := c.Uint8(); b != 0 && c.Err() == nil; b = c.Uint8() {
		letters = append(letters, b)
	}
	for range 3 { // alignments of code and data, return address
		leb128(c)
	}
	if len(letters) == 0 || letters[0] != 'z' {
		return 0, 0, false
	}
	leb128(c)
	for _, l := range letters[1:] {
		switch l {
		case 'R':
			code = c.Uint8()
		case 'L':
			data, ok = c.Uint8(), true
		case 'P':
			c.Skip(pointerSize(c.Uint8() &^ 0x80)) // may be an indirect address
		case 'S', 'B', 'G':
		default:
			return 0, 0, false
		}
	}
	return code, data, ok && c.Err() == nil && isKnownEncoding(code) && isKnownEncoding(data)
}

func isKnownEncoding(encoding byte) bool { return encoding == ehAbsolute || encoding == ehRelative32 }

// pointerSize returns the number of bytes of a pointer in a known encoding.
func pointerSize(encoding byte) int {
	if encoding == ehAbsolute {
		return 8
	}
	return binary.Size(int32(0))
}

// leb128 reads an unsigned LEB128 number.
func leb128(c *cursor.Cursor) uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := c.Uint8()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			break
		}
	}
	return v
}
