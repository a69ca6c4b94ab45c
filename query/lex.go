package query

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

type tokenKind uint8

const (
	tokenEnd      tokenKind = iota
	tokenName               // an identifier or a word of the language
	tokenValue              // a literal
	tokenOperator           // one of operators
	tokenVariable           // $_, $thread
	tokenRegister           // @rax
)

type token struct {
	kind     tokenKind
	pos, end int
	text     string // of a name, operator, variable, register
	value    Value  // of a literal
}

// operators lists all operators. An operator precedes those that are a prefix of it.
var operators = []string{"?.", "??", "?[", "==", "!=", "<>", "<=", ">=", "<<", "&&", "||", "=~", "+", "-", "*", "/", "%", "<", ">", "=", "!", "~",
	"&", "^", "|", "?", ":", ".", ",", "(", ")", "[", "]", ";"}

// A lexer splits a text into tokens.
type lexer struct {
	src string
	pos int
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{kind: tokenEnd, pos: start, end: start}, nil
	}
	switch c := l.src[start]; {
	case c >= '0' && c <= '9' || c == '.' && start+1 < len(l.src) && isDigit(l.src[start+1]):
		return l.number()
	case c == '"' || c == '\'' || c == '@' && strings.HasPrefix(l.src[start:], `@"`):
		return l.quotedText()
	case c == '$' || c == '@':
		l.pos++
		name := l.word()
		if name == "" {
			return token{}, errorAt(l.src, start, "a name is missing behind %c", c)
		}
		kind := tokenVariable
		if c == '@' {
			kind = tokenRegister
		}
		return token{kind: kind, pos: start, end: l.pos, text: l.src[start:l.pos]}, nil
	}
	if w := l.word(); w != "" {
		return token{kind: tokenName, pos: start, end: l.pos, text: w}, nil
	}
	for _, op := range operators {
		if strings.HasPrefix(l.src[start:], op) {
			// In x?.5:1 the first token after x is ?, not ?.
			if op == "?." && start+2 < len(l.src) && isDigit(l.src[start+2]) {
				op = "?"
			}
			l.pos += len(op)
			return token{kind: tokenOperator, pos: start, end: l.pos, text: op}, nil
		}
	}
	return token{}, errorAt(l.src, start, "this means nothing here")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) word() string {
	start := l.pos
	for l.pos < len(l.src) {
		c, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if !isIdentifier(c) {
			break
		}
		l.pos += n
	}
	return l.src[start:l.pos]
}

// number reads a number as in C#, a number with a unit of bytes (1kb, 10mb), or an address of at least eight
// hexadecimal digits without 0x.
func (l *lexer) number() (token, error) {
	start := l.pos
	word := l.word()
	if l.pos < len(l.src) && l.src[l.pos] == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]) && !isPrefixed(word) {
		l.pos++
		l.word()
	}
	// An exponent with a sign, as in 1e-5.
	if t := l.src[start:l.pos]; (strings.HasSuffix(t, "e") || strings.HasSuffix(t, "E")) && !isPrefixed(t) &&
		l.pos+1 < len(l.src) && (l.src[l.pos] == '-' || l.src[l.pos] == '+') && isDigit(l.src[l.pos+1]) {
		l.pos++
		l.word()
	}
	text := l.src[start:l.pos]
	v, ok := numberOf(strings.ToLower(strings.ReplaceAll(text, "_", "")))
	if !ok {
		return token{}, errorAt(l.src, start, "%q is no number", cut(text))
	}
	return token{kind: tokenValue, pos: start, end: l.pos, value: v}, nil
}

func cut(s string) string {
	if len(s) > nearBytes {
		return strings.ToValidUTF8(s[:nearBytes], "") + "…"
	}
	return s
}

func isPrefixed(s string) bool { return len(s) > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') }

// sizeUnits are the units of bytes. A single m is the suffix of a decimal.
var sizeUnits = []struct {
	suffix string
	shift  uint
}{{"kb", 10}, {"mb", 20}, {"gb", 30}, {"tb", 40}, {"k", 10}, {"g", 30}}

func numberOf(t string) (Value, bool) {
	if len(t) > limits.ExpressionDigits {
		return Value{}, false
	}
	if digits, ok := strings.CutPrefix(t, "0x"); ok {
		n, err := strconv.ParseUint(strings.TrimRight(digits, "ul"), 16, 64)
		return Value{kind: KindUint, bits: n, hex: true}, err == nil
	}
	if digits, ok := strings.CutPrefix(t, "0b"); ok {
		n, err := strconv.ParseUint(strings.TrimRight(digits, "ul"), 2, 64)
		return Uint(n), err == nil
	}
	for _, u := range sizeUnits {
		if digits, ok := strings.CutSuffix(t, u.suffix); ok {
			f, err := strconv.ParseFloat(digits, 64)
			f *= float64(uint64(1) << u.shift)
			return Uint(uint64(f)), err == nil && f < math.MaxInt64
		}
	}
	if n, err := strconv.ParseUint(strings.TrimRight(t, "ul"), 10, 64); err == nil {
		return Uint(n), true
	}
	if n, err := strconv.ParseUint(t, 16, 64); err == nil && len(t) >= 8 && !strings.Contains(t, "e") {
		return Value{kind: KindUint, bits: n, hex: true}, true
	}
	if digits, ok := strings.CutSuffix(t, "m"); ok {
		return parseDecimal(digits)
	}
	if digits, ok := strings.CutSuffix(t, "f"); ok {
		if f, err := strconv.ParseFloat(digits, 32); err == nil {
			return single(float32(f)), true
		}
	}
	if f, err := strconv.ParseFloat(strings.TrimSuffix(t, "d"), 64); err == nil {
		v := Float(f)
		if !strings.HasSuffix(t, "d") {
			v.note = noteLiteral
		}
		return v, true
	}
	n, err := strconv.ParseUint(t, 16, 64) // an address that contains e
	return Value{kind: KindUint, bits: n, hex: true}, err == nil && len(t) >= 8
}

// quotedText reads a string or char: "…" with C#'s escapes, @"…" without, and '…'. The last is a char if it has one
// character, and otherwise a string as in SQL.
func (l *lexer) quotedText() (token, error) {
	start := l.pos
	verbatim := l.src[l.pos] == '@'
	if verbatim {
		l.pos++
	}
	quote := l.src[l.pos]
	l.pos++
	var b []byte
	for {
		if l.pos >= len(l.src) {
			return token{}, errorAt(l.src, start, "this %c is not closed", quote)
		}
		c := l.src[l.pos]
		l.pos++
		switch {
		case c == quote && (verbatim || quote == '\'') && l.pos < len(l.src) && l.src[l.pos] == quote && !(quote == '\'' && l.pos == start+2):
			b = append(b, quote)
			l.pos++
		case c == quote:
			return l.literal(start, quote, string(b)), nil
		case c == '\\' && !verbatim:
			if err := l.escape(&b); err != nil {
				return token{}, err
			}
		default:
			b = append(b, c)
		}
	}
}

func (l *lexer) literal(start int, quote byte, text string) token {
	t := token{kind: tokenValue, pos: start, end: l.pos, value: Text(text)}
	if r, n := utf16text.DecodeRune(text); quote == '\'' && n > 0 && n == len(text) && r < 0x10000 && r != utf8.RuneError {
		t.value = Value{kind: KindChar, bits: uint64(r)}
	}
	return t
}

// escape reads the rest of an escape sequence after the backslash.
func (l *lexer) escape(b *[]byte) error {
	at := l.pos - 1
	if l.pos >= len(l.src) {
		return errorAt(l.src, at, "this string is not closed")
	}
	c := l.src[l.pos]
	l.pos++
	if i := strings.IndexByte(`0abfnrtv\"'`, c); i >= 0 {
		*b = append(*b, "\x00\a\b\f\n\r\t\v\\\"'"[i])
		return nil
	}
	digits := map[byte]int{'x': 4, 'u': 4, 'U': 8}[c]
	n := 0
	for n < digits && l.pos+n < len(l.src) && isHexDigit(l.src[l.pos+n]) {
		n++
	}
	if r, err := strconv.ParseUint(l.src[l.pos:l.pos+n], 16, 32); err == nil && (c == 'x' || n == digits) {
		*b = utf16text.AppendRune(*b, rune(r))
		l.pos += n
		return nil
	}
	return errorAt(l.src, at, "C# has no such escape; \\\\ is a back-slash")
}

func isHexDigit(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func itoa(n int) string { return strconv.Itoa(n) }
