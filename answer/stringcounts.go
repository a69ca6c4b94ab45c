package answer

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A StringCount counts the strings of one content.
type StringCount struct {
	Count   uint64      `json:"count" doc:"strings of this content"`
	Size    uint64      `json:"size" doc:"their total size in bytes"`
	Address target.Addr `json:"address" doc:"the first of them"`
	Text    Text        `json:"text" doc:"the content, at most 1024 characters"`
}

// AppendJSON appends s as JSON: there may be millions of them.
func (s *StringCount) AppendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"count":`...), s.Count, 10)
	b = strconv.AppendUint(append(b, `,"size":`...), s.Size, 10)
	b = strconv.AppendUint(append(b, `,"address":"0x`...), uint64(s.Address), 16)
	b = append(b, `","text":`...)
	if s.Text.Err != nil {
		return append(b, `null}`...)
	}
	return append(appendJSONText(b, s.Text.S), '}')
}

// appendJSONText appends s as encoding/json does, which is asked only where something has to be escaped.
func appendJSONText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			text, _ := json.Marshal(s) // no string fails
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// StringCounts are strings counted by content, by their total size and then by the first of them. They are counted and read
// while the list is: once, in its order, and nothing is allocated for each.
type StringCounts struct{ source StringSource }

// A StringSource counts and reads the strings of a StringCounts.
type StringSource interface {
	// All is what StringCounts.All returns.
	All() iter.Seq2[StringCount, error]
	// Format is what StringCounts.Format does.
	Format(newRow func() AppendStringCount, emit func(rows []byte) error) error
}

// AppendStringCount appends a row to b. The StringCount is valid during the call.
type AppendStringCount func(b []byte, s *StringCount) []byte

// NewStringCounts returns the list of what source counts.
func NewStringCounts(source StringSource) *StringCounts { return &StringCounts{source} }

// All iterates over the contents.
func (l *StringCounts) All() iter.Seq2[StringCount, error] { return l.source.All() }

// Format formats the contents by several workers, as Objects.Format does objects. The error is emit's or the context's;
// why strings could not be counted is noted in the answer.
func (l *StringCounts) Format(newRow func() AppendStringCount, emit func(rows []byte) error) error {
	return l.source.Format(newRow, emit)
}

// StreamJSON calls emit with JSON rows, which are separated by a comma and a
// line feed.
func (l *StringCounts) StreamJSON(emit func(rows []byte) error) error {
	const separator = ",\n"
	row := func(b []byte, s *StringCount) []byte { return append(s.AppendJSON(b), separator...) }
	return l.Format(func() AppendStringCount { return row }, func(rows []byte) error {
		return emit(bytes.TrimSuffix(rows, []byte(separator)))
	})
}

// JSONType is the type that StreamJSON writes, for documentation.
func (StringCounts) JSONType() reflect.Type { return reflect.TypeFor[[]StringCount]() }
