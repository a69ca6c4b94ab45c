package text

import (
	"math"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// valueChars is the maximum length of a string shown with a value.
const valueChars = 64

// valueText returns the text in a column of values, and a note after it. at is the address of a struct's first field,
// or of the slot with its box; it stands for the struct.
func valueText(sos bool, s *answer.Stored, at target.Addr) (text, note string) {
	if s.Missing.Err != nil {
		return answer.Absent(s.Missing.Err), ""
	}
	v := s.Value
	switch {
	case sos:
		return sosValue(v, at), ""
	case v.Kind == answer.KindFloat:
		text = v.Shortest()
	default:
		text = sosValue(v, at)
	}
	return text, lineText(s)
}

// lineText returns the text of a value in addition to its number or address.
func lineText(s *answer.Stored) string {
	if s.Value.Kind == answer.KindBool {
		return s.Value.Plain()
	}
	return s.Text.Cut(valueChars)
}

// ElementNote returns the note after the address of an array's element: its text, or its value if it is not a
// reference.
func ElementNote(s *answer.Stored) string {
	note := lineText(s)
	if note == "" && s.Value.Kind != answer.KindReference {
		note = s.Value.Plain()
	}
	return note
}

// sosValue returns a value as SOS prints it.
func sosValue(v answer.Value, at target.Addr) string {
	switch v.Kind {
	case answer.KindInt:
		return strconv.FormatInt(v.Int(), 10)
	case answer.KindBool, answer.KindUint:
		return strconv.FormatUint(v.Bits, 10)
	case answer.KindChar:
		return strconv.FormatUint(v.Bits, 16)
	case answer.KindFloat:
		return SOSFloat(v.Float())
	case answer.KindStruct:
		return report.Hex16(at)
	}
	return report.Hex16(v.Bits)
}

// AppendStored appends a value for people: a string in quotes, an object's address with a note, a number, or the
// fields of a value type.
func AppendStored(b []byte, s *answer.Stored) []byte {
	if s.Missing.Err != nil {
		return append(b, answer.Absent(s.Missing.Err)...)
	}
	v, from := s.Value, len(b)
	if v.Kind == answer.KindReference && v.Bits != 0 && !s.Text.StartsQuoted() {
		b = append(report.AppendHex(b, v.Bits, 16), ' ')
		from = len(b)
	}
	if v.Kind == answer.KindBool {
		return v.AppendPlain(b)
	}
	b = report.EscapeFrom(s.Text.AppendCut(b, valueChars), from)
	switch {
	case len(b) > from:
		return b
	case v.Kind == answer.KindReference && v.Bits != 0:
		return b[:len(b)-1]
	}
	return v.AppendPlain(b)
}

// SOSFloat is f as SOS prints it, with C's %f: six decimals, and the sign of a NaN.
func SOSFloat(f float64) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}
