package answer

import (
	"iter"
	"strings"
)

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
