package answer

import (
	"iter"
	"reflect"

	"github.com/sosgo/sosgo/internal/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// A StringCount counts the strings of one content.
type StringCount struct {
	Count   uint64      `json:"count" doc:"strings of this content"`
	Size    uint64      `json:"size" doc:"their total size in bytes"`
	Address target.Addr `json:"address" doc:"the first of them"`
	Text    Text        `json:"text" doc:"the content, at most 1024 characters"`
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
type AppendStringCount = func(b []byte, s *StringCount) []byte

// NewStringCounts returns the list of what source counts.
func NewStringCounts(source StringSource) *StringCounts { return &StringCounts{source} }

// All iterates over the contents.
func (l *StringCounts) All() iter.Seq2[StringCount, error] {
	if l.source == nil {
		return func(func(StringCount, error) bool) {}
	}
	return l.source.All()
}

// Format formats the contents by several workers, as Objects.Format does objects. The error is emit's or the context's;
// why strings could not be counted is noted in the answer.
func (l *StringCounts) Format(newRow func() AppendStringCount, emit func(rows []byte) error) error {
	if l.source == nil {
		return nil
	}
	return l.source.Format(newRow, emit)
}

// StreamJSON calls emit with JSON rows, which are separated by a comma and a line feed.
func (l *StringCounts) StreamJSON(emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return streamRows(l.Format, emit)
}

// MarshalJSON encodes the list.
func (l *StringCounts) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(l) }

// JSONType returns the type that StreamJSON writes, for documentation.
func (StringCounts) JSONType() reflect.Type { return reflect.TypeFor[[]StringCount]() }
