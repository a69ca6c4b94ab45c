package answer

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// A Line is a value on one line, as a person wants to read it: a string in
// quotes, the name of an enum's value, the fields of a struct in braces. Its
// strings stand apart, so that each form can cut them where it likes. It is
// empty where the value says no more than its number or address does.
type Line []LinePiece

// A LinePiece is a part of a Line: text that stands there as it is, or a string
// of the dump.
type LinePiece struct {
	Text   string
	Quoted bool   // Text is a string, or its start: it is written quoted and escaped
	Chars  uint32 // UTF-16 code units of the whole string
	// Err is why something is missing here. Text then is the words that stand in its place, empty where the line
	// says no more than without.
	Err error
}

// Missing is a Line of nothing, for the reason given.
func Missing(err error) Line { return Line{{Err: err}} }

// Lacking is a Line of the words that stand for what is missing for the reason given.
func Lacking(err error) Line { return Line{{Text: Absent(err), Err: err}} }

// Err is why not all of the line is known, nil if it is.
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
		if l[i].Quoted || l[i].Text != "" {
			return false
		}
	}
	return true
}

// Words is a Line of text that stands there as it is.
func Words(s string) Line {
	if s == "" {
		return nil
	}
	return Line{{Text: s}}
}

// Quoted is a Line of one string: text is what was read of chars UTF-16 code
// units.
func Quoted(text string, chars uint32) Line {
	return Line{{Text: text, Quoted: true, Chars: chars}}
}

// String is the line with all that was read of its strings.
func (l Line) String() string { return l.Cut(-1) }

// Cut is the line with at most limit UTF-16 code units of each string, all that
// was read if limit is negative. Behind a string that is cut stands how long it
// is.
func (l Line) Cut(limit int) string {
	if len(l) == 1 && !l[0].Quoted {
		return l[0].Text
	}
	var b strings.Builder
	for i := range l {
		if p := &l[i]; p.Quoted {
			p.quote(&b, limit)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// MarshalJSON is the text, or null where something in it is missing: a program must not take words about it for it.
func (l Line) MarshalJSON() ([]byte, error) {
	if l.Err() != nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as report.JSONEncoder: names of types have angle brackets
	err := enc.Encode(l.String())
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// MarshalText is String, for forms that have nothing but text.
func (l Line) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

func (p *LinePiece) quote(b *strings.Builder, limit int) {
	text, units := CutText(p.Text, limit)
	b.WriteString(Quote(text))
	if units < uint64(p.Chars) {
		b.WriteString("… (" + strconv.FormatUint(uint64(p.Chars), 10) + " characters)")
	}
}

// CutText is the start of s that has at most limit UTF-16 code units, all of s
// if limit is negative, and how many it has.
func CutText(s string, limit int) (start string, units uint64) {
	for i, r := range s {
		n := uint64(1)
		if r >= 0x10000 {
			n = 2
		}
		if limit >= 0 && units+n > uint64(limit) {
			return s[:i], units
		}
		units += n
	}
	return s, units
}
