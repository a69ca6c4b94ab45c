// Package utf16text converts UTF-16 to UTF-8, whole or piece by piece.
//
// UTF-8 has no encoding of a lone surrogate. This package encodes it as three bytes by the scheme
// of UTF-8 (ED A0 80 to ED BF BF, known as WTF-8), so that different UTF-16 stays different. Such
// text never contains both halves of a pair next to each other. Output shows a lone surrogate as an
// escape: \ud800.
package utf16text

import (
	"encoding/binary"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes little-endian code units. An odd last byte is ignored.
func String(b []byte) string { return string(Append(make([]byte, 0, len(b)), b)) }

// Append appends the result of String to dst.
func Append(dst, b []byte) []byte {
	dst, high := appendUnits(dst, b, 0)
	if high != 0 {
		dst = appendHalf(dst, high)
	}
	return dst
}

// WholeEnd returns b without a high surrogate at its end, for text that was cut.
func WholeEnd(b []byte) []byte {
	if n := len(b) &^ 1; n > 0 && b[n-1]&0xfc == 0xd8 {
		return b[:n-2]
	}
	return b
}

// appendUnits appends code units that follow the pending high surrogate, if it is not 0. It returns
// the surrogate that is pending at the end.
func appendUnits(dst, b []byte, high rune) ([]byte, rune) {
	for ; len(b) >= 2; b = b[2:] {
		c := rune(binary.LittleEndian.Uint16(b))
		if high != 0 {
			if isLow(c) {
				dst, high = utf8.AppendRune(dst, utf16.DecodeRune(high, c)), 0
				continue
			}
			dst, high = appendHalf(dst, high), 0
		}
		switch {
		case c < utf8.RuneSelf:
			dst = append(dst, byte(c))
		case !utf16.IsSurrogate(c):
			dst = utf8.AppendRune(dst, c)
		case isLow(c):
			dst = appendHalf(dst, c)
		default:
			high = c
		}
	}
	return dst, high
}

func isLow(r rune) bool { return r >= 0xdc00 && r < 0xe000 }

// appendHalf appends a surrogate.
func appendHalf(b []byte, r rune) []byte {
	return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f))
}

// AppendRune appends r, which may be a surrogate. A low surrogate forms a pair with a high one at
// the end of b.
func AppendRune(b []byte, r rune) []byte {
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r)
	}
	if n := len(b) - 3; isLow(r) && n >= 0 {
		if high, _ := DecodeRune(string(b[n:])); utf16.DecodeRune(high, r) != utf8.RuneError {
			return utf8.AppendRune(b[:n], utf16.DecodeRune(high, r))
		}
	}
	return appendHalf(b, r)
}

// DecodeRune is utf8.DecodeRuneInString, except that it also decodes surrogates.
func DecodeRune(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if size == 1 && s[0] == 0xed && len(s) >= 3 && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return r, size
}

// Runes iterates over the characters of s, including surrogates, and their offsets.
func Runes(s string) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		for i := 0; i < len(s); {
			r, n := DecodeRune(s[i:])
			if !yield(i, r) {
				return
			}
			i += n
		}
	}
}

// Units returns the code units of s.
func Units(s string) []uint16 {
	u := make([]uint16, 0, len(s))
	for _, r := range Runes(s) {
		if utf16.IsSurrogate(r) {
			u = append(u, uint16(r))
			continue
		}
		u = utf16.AppendRune(u, r)
	}
	return u
}

// FromUnits decodes code units.
func FromUnits(u []uint16) string {
	b := make([]byte, 0, len(u))
	for _, c := range u {
		b = AppendRune(b, rune(c))
	}
	return string(b)
}

// Concat returns a and b as one text. If the halves of a pair meet, they become a character.
func Concat(a, b string) string {
	if r, n := DecodeRune(b); isLow(r) {
		return string(AppendRune([]byte(a), r)) + b[n:]
	}
	return a + b
}

// Valid returns s as UTF-8: surrogates become escapes such as \ud800, other bytes that are not
// UTF-8 become U+FFFD.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b []byte
	for _, r := range Runes(s) {
		if utf16.IsSurrogate(r) {
			b = AppendEscape(b, r)
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// AppendEscape appends a surrogate as an escape.
func AppendEscape(b []byte, r rune) []byte {
	return strconv.AppendUint(append(b, '\\', 'u'), uint64(r), 16)
}

// A Decoder passes decoded text to Emit piece by piece. The slice is valid until Emit returns. An
// error of Emit ends decoding.
type Decoder struct {
	Emit func([]byte) error
	out  []byte
	high rune // pending high surrogate of the last piece
}

// Piece decodes the next little-endian code units.
func (d *Decoder) Piece(b []byte) error {
	d.out, d.high = appendUnits(d.out[:0], b, d.high)
	return d.Emit(d.out)
}

// Finish ends the text. If the text was cut, it drops a pending high surrogate.
func (d *Decoder) Finish(cut bool) error {
	if d.high == 0 || cut {
		return nil
	}
	return d.Emit(appendHalf(nil, d.high))
}
