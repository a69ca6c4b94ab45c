package answer

import (
	"bytes"
	"iter"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// A HeapObject is an object of the heap, or a free block.
type HeapObject struct {
	Address     target.Addr `json:"address" doc:"the object"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Size        uint64      `json:"size" doc:"bytes"`
	Free        bool        `json:"free,omitempty" doc:"a free block and no object"`
	// String is the start of a string's text, if requested. It is nil for other objects.
	String *Excerpt `json:"-"`
}

// An Excerpt is the beginning of a text.
type Excerpt struct {
	Text  Text
	Whole bool // Text is complete
}

// Objects is a long list of objects. They are read while the list is: once, in order, without allocations.
type Objects struct {
	gaps   *Gaps
	source ObjectSource
}

// An ObjectSource reads the objects of an Objects. The errors of its methods say what kept them from reading all.
type ObjectSource interface {
	// Each calls yield with the objects, without the text of strings, until it returns false.
	Each(yield func(HeapObject, error) bool) error
	// Format is what Objects.Format does.
	Format(chars int, newRow func() AppendObject, emit func(rows []byte) error) error
}

// AppendObject appends the row of an object to b. The object is valid during the call.
type AppendObject = func(b []byte, o *HeapObject) []byte

// NewObjects returns the list of what source reads, for an answer with the gaps g. As in NewRows, the error of source
// becomes the failure of g, and the list ends with the failure of g.
func NewObjects(g *Gaps, source ObjectSource) *Objects { return &Objects{g, source} }

// All iterates over the objects, without the text of strings. It ends with what kept the list from being whole. A nil
// list is empty.
func (l *Objects) All() iter.Seq2[HeapObject, error] {
	if l == nil || l.source == nil {
		return func(func(HeapObject, error) bool) {}
	}
	return NewRows(l.gaps, l.source.Each)
}

// Format formats the objects with several workers. It calls emit on the caller's goroutine, with many rows at a time,
// in the order of the list. Each worker appends rows with its own function from newRow. chars bounds the characters of
// a string that the rows receive; 0 means none. The error is emit's, or what kept the list from being whole.
func (l *Objects) Format(chars int, newRow func() AppendObject, emit func(rows []byte) error) error {
	if l.source == nil {
		return nil
	}
	return formatted(l.gaps, emit, func(emit func([]byte) error) error { return l.source.Format(chars, newRow, emit) })
}

// StreamJSON calls emit with JSON rows, which are separated by a comma and a line feed.
func (l *Objects) StreamJSON(emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return streamRows(func(newRow func() AppendObject, emit func([]byte) error) error { return l.Format(0, newRow, emit) }, emit)
}

// MarshalJSON encodes the list, with the reason in place of a missing row.
func (l *Objects) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(l) }

// JSONValue returns All, which MarshalJSON encodes.
func (l *Objects) JSONValue() any { return l.All() }

// JSONType returns a pointer to the type of the JSON, for documentation.
func (Objects) JSONType() any { return new([]HeapObject) }

// streamRows passes on the JSON rows of format without the last separator.
func streamRows[T any](format func(newRow func() func(b []byte, row *T) []byte, emit func([]byte) error) error, emit func([]byte) error) error {
	return format(jsonenc.Row[T], func(rows []byte) error { return emit(bytes.TrimSuffix(rows, []byte(",\n"))) })
}

// A StringCount counts the strings with the same content.
type StringCount struct {
	Count   uint64      `json:"count" doc:"strings of this content"`
	Size    uint64      `json:"size" doc:"their total size in bytes"`
	Address target.Addr `json:"address" doc:"the first of them"`
	Text    Text        `json:"text" doc:"the content, at most 1024 characters"`
}

// StringCounts lists strings counted by content, ordered by total size and then by their first object. They are
// counted and read while the list is: once, in order, without an allocation per row.
type StringCounts struct {
	gaps   *Gaps
	source StringSource
}

// A StringSource counts and reads the strings of a StringCounts. The errors of its methods say what kept them from
// reading all.
type StringSource interface {
	// Each calls yield with the contents until it returns false.
	Each(yield func(StringCount, error) bool) error
	// Format is what StringCounts.Format does.
	Format(newRow func() AppendStringCount, emit func(rows []byte) error) error
}

// AppendStringCount appends a row to b. The StringCount is valid during the call.
type AppendStringCount = func(b []byte, s *StringCount) []byte

// NewStringCounts returns a list that reads from source, for an answer with the gaps g; see NewObjects.
func NewStringCounts(g *Gaps, source StringSource) *StringCounts { return &StringCounts{g, source} }

// All iterates over the contents. It ends with what kept the list from being whole. A nil list is empty.
func (l *StringCounts) All() iter.Seq2[StringCount, error] {
	if l == nil || l.source == nil {
		return func(func(StringCount, error) bool) {}
	}
	return NewRows(l.gaps, l.source.Each)
}

// Format formats the contents with several workers; see Objects.Format.
func (l *StringCounts) Format(newRow func() AppendStringCount, emit func(rows []byte) error) error {
	if l.source == nil {
		return nil
	}
	return formatted(l.gaps, emit, func(emit func([]byte) error) error { return l.source.Format(newRow, emit) })
}

// StreamJSON calls emit with JSON rows, which are separated by a comma and a line feed.
func (l *StringCounts) StreamJSON(emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return streamRows(l.Format, emit)
}

// MarshalJSON encodes the list, with the reason in place of a missing row.
func (l *StringCounts) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(l) }

// JSONValue returns All, which MarshalJSON encodes.
func (l *StringCounts) JSONValue() any { return l.All() }

// JSONType returns a pointer to the type of the JSON, for documentation.
func (StringCounts) JSONType() any { return new([]StringCount) }
