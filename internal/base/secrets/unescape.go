package secrets

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// mostUnescapes is how often a text is unescaped to compare it with secrets: a JSON document in a JSON document in a URL.
const mostUnescapes = 3

// escapeChars are the characters that begin escapes.
const escapeChars = `\%&`

// An unescaped is a text without its escapes, and where each of its bytes was.
type unescaped struct {
	text string
	at   []int32 // of each byte, and of the end: the first byte of its escape in the escaped text
}

// unescape replaces the escapes of JSON, of C# and of sosgo (\n, \x1b, \u200b, \U000e0041), of URLs (%2b) and of XML (&amp;). It reports
// false if there are none. from is where the bytes of text were before; nil if they are there.
func unescape(text string, from []int32) (unescaped, bool) {
	i := strings.IndexAny(text, escapeChars)
	if i < 0 {
		return unescaped{}, false
	}
	var few [utf8.UTFMax]byte
	var out []byte
	var at []int32
	kept := 0
	keep := func(to int) {
		if out == nil {
			out, at = make([]byte, 0, len(text)), make([]int32, 0, len(text)+1)
		}
		out = append(out, text[kept:to]...)
		if from != nil {
			at = append(at, from[kept:to]...)
			return
		}
		for i := kept; i < to; i++ {
			at = append(at, int32(i))
		}
	}
	for i < len(text) {
		if c := text[i]; c != '\\' && c != '%' && c != '&' {
			i++
			continue
		}
		unit, n := escapeAt(few[:0], text[i:])
		if n == 0 {
			i++
			continue
		}
		keep(i)
		out = append(out, unit...)
		was := int32(i)
		if from != nil {
			was = from[i]
		}
		for range unit {
			at = append(at, was)
		}
		i += n
		kept = i
	}
	if kept == 0 {
		return unescaped{}, false
	}
	keep(len(text))
	end := int32(len(text))
	if from != nil {
		end = from[len(text)]
	}
	return unescaped{string(out), append(at, end)}, true
}

// place returns where a part of an unescaped text was. What ends within an escape ends behind it.
func (u *unescaped) place(from, to int) (start, end int) {
	for to < len(u.text) && u.at[to] == u.at[to-1] {
		to++
	}
	return int(u.at[from]), int(u.at[to])
}

// marks are what the forms of secrets have around names and values.
const marks = "=:\"'<>[]{}?&"

// escapesMarks reports whether a text has an escape of a mark, or of the beginning of another escape (%253D, &amp;lt;).
func escapesMarks(text string) bool {
	for i := 0; ; i++ {
		n := strings.IndexAny(text[i:], escapeChars)
		if n < 0 {
			return false
		}
		if i += n; i+2 >= len(text) {
			return false
		}
		var few [utf8.UTFMax]byte
		if unit, n := escapeAt(few[:0], text[i:]); n > 2 && len(unit) == 1 && (strings.IndexByte(marks, unit[0]) >= 0 || unit[0] == '%') {
			return true
		}
	}
}

// plain returns a text without its escapes.
func plain(text string) string {
	for range mostUnescapes {
		u, ok := unescape(text, nil)
		if !ok {
			break
		}
		text = u.text
	}
	return text
}

// escapeAt appends what the escape at the start of text means, and returns its length, or 0.
func escapeAt(b []byte, text string) ([]byte, int) {
	switch text[0] {
	case '%':
		if c, ok := hexAt(text, 1, 2); ok {
			return append(b, byte(c)), 3
		}
	case '&':
		return entityAt(b, text)
	case '\\':
		return backslashAt(b, text)
	}
	return b, 0
}

// simple returns the character of an escape of one letter.
func simple(letter byte) (c byte, ok bool) {
	const letters, chars = "nrtbfva0", "\n\r\t\b\f\v\a\x00"
	i := strings.IndexByte(letters, letter)
	if i < 0 {
		return 0, false
	}
	return chars[i], true
}

func backslashAt(b []byte, text string) ([]byte, int) {
	if len(text) < 2 {
		return b, 0
	}
	c := text[1]
	switch {
	case c == 'u':
		return unitsAt(b, text)
	case c == 'U':
		if r, ok := hexAt(text, 2, 8); ok && r <= utf8.MaxRune {
			return utf16text.AppendRune(b, rune(r)), 10
		}
		return b, 0
	case c == 'x':
		if r, ok := hexAt(text, 2, 2); ok {
			return append(b, byte(r)), 4
		}
		return b, 0
	case c < utf8.RuneSelf && c > ' ' && !isAlphanumeric(c):
		return append(b, c), 2
	}
	if r, ok := simple(c); ok {
		return append(b, r), 2
	}
	return b, 0
}

// unitsAt is backslashAt for a unit of UTF-16, or for the two of a pair.
func unitsAt(b []byte, text string) ([]byte, int) {
	const long = len(`\u0041`)
	r, ok := hexAt(text, 2, 4)
	if !ok {
		return b, 0
	}
	if r&0xfc00 == 0xd800 && strings.HasPrefix(text[long:], `\u`) {
		if low, ok := hexAt(text, long+2, 4); ok && low&0xfc00 == 0xdc00 {
			return utf8.AppendRune(b, rune(0x10000+(r&0x3ff)<<10+low&0x3ff)), 2 * long
		}
	}
	return utf16text.AppendRune(b, rune(r)), long
}

// entity returns a character by its name in XML and HTML, of those that writers use; 0 for other names.
func entity(name string) rune {
	switch name {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	case "apos":
		return '\''
	case "nbsp":
		return '\u00a0'
	}
	return 0
}

// longestEntity is &#x10ffff;.
const longestEntity = 10

func entityAt(b []byte, text string) ([]byte, int) {
	end := strings.IndexByte(text[:min(len(text), longestEntity)], ';')
	if end < 2 {
		return b, 0
	}
	name := text[1:end]
	if r := entity(name); r != 0 {
		return utf8.AppendRune(b, r), end + 1
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return b, 0
	}
	base := 10
	if digits != "" && lowered(digits[0]) == 'x' {
		digits, base = digits[1:], 16
	}
	r, err := strconv.ParseUint(digits, base, 32)
	if err != nil || r > utf8.MaxRune {
		return b, 0
	}
	return utf16text.AppendRune(b, rune(r)), end + 1
}

// hexAt returns the number of n hexadecimal digits of text at i.
func hexAt(text string, i, n int) (uint64, bool) {
	if len(text) < i+n {
		return 0, false
	}
	r := uint64(0)
	for _, c := range []byte(text[i : i+n]) {
		switch c = lowered(c); {
		case c >= '0' && c <= '9':
			r = r<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
