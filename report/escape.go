package report

import (
	"unicode/utf8"
)

// Escape returns s in a form that is safe on one line of a terminal: control
// characters (C0, DEL, C1), line and paragraph separators, bidirectional
// overrides and bytes that are not UTF-8 become visible escapes such as \n,
// \x1b and \u202e. It returns s itself when nothing has to change.
func Escape(s string) string { return escape(s, false) }

// EscapeText is Escape for text of several lines: line feeds and tabs stay.
func EscapeText(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	i := firstUnsafe(s, lines)
	if i < 0 {
		return s
	}
	return string(appendEscaped(append(make([]byte, 0, len(s)+16), s[:i]...), s[i:], lines))
}

func firstUnsafe(s string, lines bool) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if unsafeASCII(c, lines) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || unsafeRune(r) {
			return i
		}
		i += n
	}
	return -1
}

func appendEscaped(b []byte, s string, lines bool) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = appendByteEscape(b, s[i])
		case r < utf8.RuneSelf && unsafeASCII(byte(r), lines):
			b = appendControl(b, byte(r))
		case unsafeRune(r):
			b = AppendHex(append(b, '\\', 'u'), uint64(r), 4)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return b
}

func appendControl(b []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case 0:
		return append(b, '\\', '0')
	}
	return appendByteEscape(b, c)
}

func appendByteEscape(b []byte, c byte) []byte {
	return AppendHex(append(b, '\\', 'x'), uint64(c), 2)
}

func unsafeASCII(c byte, lines bool) bool {
	if lines && (c == '\n' || c == '\t') {
		return false
	}
	return c < ' ' || c == 0x7f
}

// unsafeRune reports whether r moves the cursor, ends a line or reorders the
// text around it. C1 controls act as escape sequences on many terminals.
func unsafeRune(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f: // C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f: // bidi marks
		return true
	case r >= 0x2028 && r <= 0x202e: // separators, bidi embeddings and overrides
		return true
	case r >= 0x2066 && r <= 0x2069: // bidi isolates
		return true
	}
	return false
}
