// Package utf16text turns UTF-16 into UTF-8, whole or piece by piece.
package utf16text

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes little-endian code units. Surrogates that stand alone become U+FFFD, and an odd last byte is ignored.
func String(b []byte) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}

// A Decoder passes decoded text to Emit piece by piece. The slice is valid until Emit returns. Emit's error ends it.
type Decoder struct {
	Emit func([]byte) error
	out  []byte
	high rune // pending high surrogate of the last piece
}

// Piece decodes the next code units, little-endian ones. Surrogates that stand alone become U+FFFD.
func (d *Decoder) Piece(b []byte) error {
	d.out = d.out[:0]
	for ; len(b) >= 2; b = b[2:] {
		c := rune(binary.LittleEndian.Uint16(b))
		if d.high != 0 {
			r := utf16.DecodeRune(d.high, c)
			d.high = 0
			d.out = utf8.AppendRune(d.out, r)
			if r != utf8.RuneError {
				continue
			}
		}
		if c >= 0xd800 && c < 0xdc00 {
			d.high = c
			continue
		}
		d.out = utf8.AppendRune(d.out, c) // a lone low surrogate becomes U+FFFD
	}
	return d.Emit(d.out)
}

// Finish ends the text. A pending high surrogate is dropped if the text was cut there, else it becomes U+FFFD.
func (d *Decoder) Finish(cut bool) error {
	if d.high == 0 || cut {
		return nil
	}
	return d.Emit(utf8.AppendRune(nil, utf8.RuneError))
}
