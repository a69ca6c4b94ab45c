package answer

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// A Line is a value on one line, as a person wants to read it: a string in quotes, the name of an enum's value, the
// fields of a struct in braces. Its strings stand apart, so that each form can cut them where it likes. It is empty
// where the value says no more than its number or address does.
type Line []LinePiece

// A LinePiece is a part of a Line: text that stands there as it is, a string of the dump, or a number.
type LinePiece struct {
	Text   string
	Number Value  // if it is known, what its Plain says stands there, and Text is empty
	Quoted bool   // Text is a string, or its start: it is written quoted and escaped
	Chars  uint32 // UTF-16 code units of the whole string
	// Err is why something is missing here. Text then is the words that stand in its place, empty where the line says no more than without.
	Err error
}

// Missing returns a Line of nothing, for the reason given.
func Missing(err error) Line { return Line{{Err: err}} }

// Lacking returns a Line of the words that stand for what is missing for the reason given.
func Lacking(err error) Line { return Line{{Text: Absent(err), Err: err}} }

// Err returns why not all of the line is known, nil if it is.
func (l Line) Err() error {
	for i := range l {
		if l[i].Err != nil {
			return l[i].Err
		}
	}
	return nil
}

// Blank reports whether the line has nothing to show.
func (l Line) Blank() bool {
	for i := range l {
		if p := &l[i]; p.Quoted || p.Text != "" || !p.Number.IsZero() {
			return false
		}
	}
	return true
}

// Words returns a Line of text that stands there as it is.
func Words(s string) Line {
	if s == "" {
		return nil
	}
	return Line{{Text: s}}
}

// Quoted returns a Line of one string: text is what was read of chars UTF-16 code units.
func Quoted(text string, chars uint32) Line { return Line{{Text: text, Quoted: true, Chars: chars}} }

// String returns the line with all that was read of its strings.
func (l Line) String() string { return l.Cut(-1) }

// Cut returns the line with at most limit UTF-16 code units of each string, all that was read if limit is negative.
// Behind a string that is cut stands how long it is.
func (l Line) Cut(limit int) string {
	if len(l) == 1 && !l[0].Quoted && l[0].Number.IsZero() {
		return l[0].Text
	}
	return string(l.AppendCut(nil, limit))
}

// AppendCut appends what Cut returns.
func (l Line) AppendCut(b []byte, limit int) []byte {
	for i := range l {
		switch p := &l[i]; {
		case p.Quoted:
			b = p.appendQuoted(b, limit)
		case !p.Number.IsZero():
			b = p.Number.AppendPlain(b)
		default:
			b = append(b, p.Text...)
		}
	}
	return b
}

// StartsQuoted reports whether the line begins with a quotation mark: what it says is a string.
func (l Line) StartsQuoted() bool {
	for i := range l {
		if p := &l[i]; p.Quoted || p.Text != "" || !p.Number.IsZero() {
			return p.Quoted || p.Text != "" && p.Text[0] == '"'
		}
	}
	return false
}

// MarshalJSON returns the text, or null where something in it is missing: a program must not take words about it for it.
func (l Line) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON writes.
func (l Line) AppendJSON(b []byte) []byte {
	if l.Err() != nil {
		return append(b, "null"...)
	}
	from := len(b) + 1
	return jsonenc.EndString(l.AppendCut(append(b, '"'), -1), from)
}

// MarshalText is String, for forms that have nothing but text.
func (l Line) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

func (p *LinePiece) appendQuoted(b []byte, limit int) []byte {
	text, units := CutText(p.Text, limit)
	b = AppendQuote(b, text)
	if units < uint64(p.Chars) {
		b = append(b, "… ("...)
		b = append(strconv.AppendUint(b, uint64(p.Chars), 10), " characters)"...)
	}
	return b
}

// CutText returns the start of s with at most limit UTF-16 code units, all if limit is negative, and how many it has.
func CutText(s string, limit int) (start string, units uint64) {
	for i := range len(s) {
		n := uint64(1)
		switch c := s[i]; {
		case c&0xc0 == 0x80: // inside a character
			continue
		case c >= 0xf0:
			n = 2
		}
		if limit >= 0 && units+n > uint64(limit) {
			return s[:i], units
		}
		units += n
	}
	return s, units
}

// Quote is s in double quotes, with control characters, invisible ones, lone surrogates and quotes escaped.
func Quote(s string) string { return string(AppendQuote(make([]byte, 0, len(s)+2), s)) }

// AppendQuote appends what Quote returns.
func AppendQuote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf16text.DecodeRune(s[i:])
		i += n
		if utf16.IsSurrogate(r) {
			b = utf16text.AppendEscape(b, r)
			continue
		}
		if r == utf8.RuneError || strconv.IsPrint(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		q := strconv.QuoteRune(r)
		b = append(b, q[1:len(q)-1]...)
	}
	return append(b, '"')
}

// A LongText is text of any length, read while it is ranged over. JSON has it as a string. The zero value is empty.
type LongText struct {
	// Parts are the text in pieces that hold whole characters. An error is the end.
	Parts iter.Seq2[string, error]
}

// IsZero reports whether the text is known to be empty.
func (t LongText) IsZero() bool { return t.Parts == nil }

// StreamText calls emit with the parts, up to the first error, which it returns.
func (t LongText) StreamText(emit func(part string) error) error {
	if t.Parts == nil {
		return nil
	}
	for part, err := range t.Parts {
		if err == nil {
			err = emit(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MarshalText returns the whole text, for encoding/json.
func (t LongText) MarshalText() ([]byte, error) {
	var b strings.Builder
	err := t.StreamText(func(part string) error {
		b.WriteString(part)
		return nil
	})
	return []byte(b.String()), err
}
