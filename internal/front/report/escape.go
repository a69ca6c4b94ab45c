package report

import (
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// Escape returns s escaped for one line of a terminal, so that different texts look different. Control characters
// (C0, DEL, C1), line and paragraph separators, lone surrogates, invalid UTF-8 and invisible characters become
// escapes such as \n, \x1b, \u202e and \U000e0041. Invisible characters are direction marks, joiners, zero-width
// spaces, tags, fillers and variation selectors. They could make different names look the same or hide text. Escape
// returns s itself if nothing changes.
func Escape(s string) string { return escape(s, false) }

// EscapeText is like Escape for several lines: it keeps line feeds and tabs.
func EscapeText(s string) string { return escape(s, true) }

// EscapeLines is EscapeText for a text behind a label of a page. Its further lines are indented by a number of columns,
// more than any line of the page, so that no text looks like a line of sosgo.
func EscapeLines(s string, indent int) string {
	return strings.ReplaceAll(EscapeText(s), "\n", "\n"+strings.Repeat(" ", indent))
}

// EscapeFrom escapes b from an index on, like Escape.
func EscapeFrom(b []byte, from int) []byte {
	for i := from; i < len(b); i++ {
		if c := b[i]; c >= utf8.RuneSelf || unsafeASCII(c, false) {
			return appendEscaped(b[:i], string(b[i:]), false)
		}
	}
	return b
}

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
		r, n := utf16text.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 || jsonenc.Hidden(r) {
			return i
		}
		i += n
	}
	return -1
}

func appendEscaped(b []byte, s string, lines bool) []byte {
	for i := 0; i < len(s); {
		r, n := utf16text.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = appendByteEscape(b, s[i])
		case r < utf8.RuneSelf && unsafeASCII(byte(r), lines):
			b = appendControl(b, byte(r))
		case r > 0xffff && jsonenc.Hidden(r):
			b = AppendHex(append(b, '\\', 'U'), uint64(r), 8)
		case jsonenc.Hidden(r):
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

func appendByteEscape(b []byte, c byte) []byte { return AppendHex(append(b, '\\', 'x'), uint64(c), 2) }

func unsafeASCII(c byte, lines bool) bool {
	if lines && (c == '\n' || c == '\t') {
		return false
	}
	return c < ' ' || c == 0x7f
}
