package jsonenc

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// AppendString appends s as a JSON string. It escapes hidden characters and lone surrogates (see
// utf16text); other bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte { return append(appendContent(append(b, '"'), s), '"') }

// EndString completes a JSON string: the text in b from an index on, which follows a quotation
// mark, is escaped and closed.
func EndString(b []byte, from int) []byte {
	end := len(b)
	for _, c := range b[from:] {
		if c >= utf8.RuneSelf || !plain[c] {
			b = appendContent(b, b[from:end])
			b = b[:from+copy(b[from:], b[end:])]
			break
		}
	}
	return append(b, '"')
}

// appendContent appends s without the quotation marks.
func appendContent[S string | []byte](b []byte, s S) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if plain[c] {
				i++
				continue
			}
			b = appendASCIIEscape(append(b, s[done:i]...), c)
			i++
			done = i
			continue
		}
		r, n := utf16text.DecodeRune(string(s[i:min(i+utf8.UTFMax, len(s))]))
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[done:i]...), `\ufffd`...)
			done = i + n
		case Hidden(r):
			b = appendEscape(append(b, s[done:i]...), r)
			done = i + n
		}
		i += n
	}
	return append(b, s[done:]...)
}

// plain reports which ASCII characters need no escape in a string.
var plain = func() (p [utf8.RuneSelf]bool) {
	for c := range p {
		p[c] = c >= ' ' && c != '"' && c != '\\' && c != 0x7f
	}
	return p
}()

func appendASCIIEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return appendEscape(b, rune(c))
}

// appendEscape appends r as one or two \u escapes.
func appendEscape(b []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return appendUnit(appendUnit(b, high), low)
	}
	return appendUnit(b, r)
}

func appendUnit(b []byte, unit rune) []byte {
	b = append(b, '\\', 'u')
	for shift := 12; shift >= 0; shift -= 4 {
		b = append(b, digits[unit>>shift&0xf])
	}
	return b
}

const digits = "0123456789abcdef"

// appendHex appends n as a JSON string such as "0x1f".
func appendHex(b []byte, n uint64) []byte { return appendDigits(append(b, '"', '0', 'x'), n) }

// appendDigits appends n in hexadecimal and a closing quotation mark.
func appendDigits(b []byte, n uint64) []byte {
	var text [17]byte
	text[16] = '"'
	i := 15
	for ; n > 0xf; i-- {
		text[i&15] = digits[n&0xf]
		n >>= 4
	}
	text[i&15] = digits[n&0xf]
	return append(b, text[i&15:]...)
}

// Hidden reports whether r moves the cursor, ends a line, reorders the text around it, is
// invisible, or is half a character (a surrogate). Many terminals act on C1 controls as on escape
// sequences. It reports false for ASCII.
func Hidden(r rune) bool {
	const fillerHangul, fillerHalfwidth, blankBraille = 0x3164, 0xffa0, 0x2800
	switch {
	case r < 0x80:
		return false
	case r <= 0x9f: // C1
		return true
	case r < 0x300:
		return r == 0xad // soft hyphen
	case r >= 0x3000 && r < 0xd800: // most East Asian scripts
		return r == fillerHangul
	case r >= 0xd800 && r < 0xe000:
		return true
	case r == 0x2028 || r == 0x2029 || r == blankBraille || r == fillerHalfwidth:
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags, selectors and the block reserved for them
		return true
	}
	// Marks that precede numbers are in Cf but visible.
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
