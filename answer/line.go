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

// A Line is a value on one line for people: a quoted string, the name of an enum's value, or a struct's fields in
// braces. Its strings are separate pieces, so that each format can shorten them. It is empty if a value has nothing
// to show beyond its number or address.
type Line []LinePiece

// A LinePiece is a piece of a Line: literal text, a string of the dump, or a number.
type LinePiece struct {
	Text   string
	Number Value  // if known, its Plain is the piece, and Text is empty
	Quoted bool   // Text is a string or its start; it is written quoted and escaped
	Chars  uint32 // UTF-16 code units of the whole string
	// Err is why something is missing here. Text then has the words for it; it is empty if the line is complete
	// without them.
	Err error
}

// Err returns why the line is incomplete, or nil.
func (l Line) Err() error {
	for i := range l {
		if l[i].Err != nil {
			return l[i].Err
		}
	}
	return nil
}

// Blank reports whether the line shows nothing.
func (l Line) Blank() bool {
	for i := range l {
		if p := &l[i]; p.Quoted || p.Text != "" || !p.Number.IsZero() {
			return false
		}
	}
	return true
}

// Words returns a Line of literal text.
func Words(s string) Line {
	if s == "" {
		return nil
	}
	return Line{{Text: s}}
}

// Quoted returns a Line of one string of chars UTF-16 code units; text is the part that was read.
func Quoted(text string, chars uint32) Line { return Line{{Text: text, Quoted: true, Chars: chars}} }

// String returns the line with all text that was read.
func (l Line) String() string { return l.Cut(-1) }

// Cut returns the line with each string limited to limit UTF-16 code units; a negative limit means no limit. A string
// that is cut is followed by its length.
func (l Line) Cut(limit int) string {
	if len(l) == 1 && !l[0].Quoted && l[0].Number.IsZero() {
		return l[0].Text
	}
	return string(l.AppendCut(nil, limit))
}

// AppendCut appends the result of Cut.
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

// StartsQuoted reports whether the line starts with a quotation mark: the value is a string.
func (l Line) StartsQuoted() bool {
	for i := range l {
		if p := &l[i]; p.Quoted || p.Text != "" || !p.Number.IsZero() {
			return p.Quoted || p.Text != "" && p.Text[0] == '"'
		}
	}
	return false
}

// MarshalJSON returns the text, or null if a part is missing, so that programs can't mistake an explanation for the
// text.
func (l Line) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil), nil }

// AppendJSON appends the result of MarshalJSON.
func (l Line) AppendJSON(b []byte) []byte {
	if l.Err() != nil {
		return append(b, "null"...)
	}
	from := len(b) + 1
	return jsonenc.EndString(l.AppendCut(append(b, '"'), -1), from)
}

// MarshalText returns String, for formats that have only text.
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

// CutText returns the start of s with at most limit UTF-16 code units, or all of s if limit is negative, and s's
// length.
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

// Quote returns s in double quotes. It escapes quotes, control characters, invisible characters and lone surrogates.
func Quote(s string) string { return string(AppendQuote(make([]byte, 0, len(s)+2), s)) }

// AppendQuote appends the result of Quote.
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
		if (r == utf8.RuneError || strconv.IsPrint(r)) && !jsonenc.Hidden(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b = append(b, q[1:len(q)-1]...)
	}
	return append(b, '"')
}

// A LongText is text of any length, read while it is ranged over. In JSON it is a string. The zero value is empty.
type LongText struct {
	// Parts yields pieces of whole characters. An error is the last element.
	Parts iter.Seq2[string, error]
}

// IsZero reports whether the text is known to be empty.
func (t LongText) IsZero() bool { return t.Parts == nil }

// StreamText calls emit with each part. It returns the first error.
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

// MarshalText returns the whole text.
func (t LongText) MarshalText() ([]byte, error) {
	var b strings.Builder
	err := t.StreamText(func(part string) error {
		b.WriteString(part)
		return nil
	})
	return []byte(b.String()), err
}
