package answer

import (
	"iter"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// A Collection is what a collection of the class libraries holds.
type Collection struct {
	Gaps
	Address     target.Addr      `json:"address" doc:"address of the collection"`
	Type        Text             `json:"type" doc:"its type"`
	MethodTable target.Addr      `json:"methodTable" doc:"MethodTable of its type"`
	Count       Maybe[uint64]    `json:"count,omitzero" doc:"how many elements it says that it has; absent if it keeps no count"`
	Text        *string          `json:"text,omitempty" doc:"what a collection of characters or bits says: a StringBuilder, a BitArray, memory of characters"`
	Items       *CollectionItems `json:"items,omitempty" doc:"its elements, in the order in which the program would enumerate them"`

	HasKeys bool `json:"-"` // elements have keys
	// Found is how many elements were found, whichever were chosen of them; known when all Items were read.
	Found Maybe[uint64] `json:"-"`
}

// A CollectionSummary is the start of a collection.
type CollectionSummary struct {
	Count Maybe[uint64]    `json:"count,omitzero" doc:"how many elements it says that it has; absent if it keeps no count"`
	Text  *string          `json:"text,omitempty" doc:"the start of what a collection of characters or bits says"`
	First []CollectionItem `json:"first,omitempty" doc:"its first elements: items lists all"`

	More bool `json:"-"` // there are more elements
}

// A CollectionItem is one element of a collection.
type CollectionItem struct {
	Index uint64 `json:"index" doc:"in the order of enumeration, from 0"`
	Key   Stored `json:"key,omitzero" doc:"of a dictionary: its key; of a priority queue: its priority"`
	Item  Stored `json:"value,omitzero" doc:"the element; absent with -keys"`

	HasKey   bool `json:"-"`
	HasValue bool `json:"-"`
	// Referred describes what the key and the value are or refer to. It is nil unless it was asked for.
	Referred *ReferredItem `json:"-"`
}

// A ReferredItem describes what an element's key and value are or refer to.
type ReferredItem struct{ Key, Value Referred }

// A Referred describes a value, or the object that a reference refers to. It is enough to choose the command that shows it.
type Referred struct {
	MethodTable target.Addr // of a value type; of the object that a reference refers to
	At          target.Addr // where the fields of a value type are; the object
	String      string      // the text of a string, as much as was asked for
	IsString    bool
	IsArray     bool
	Boxed       Value // what is in a box, if it is a plain number, and no enum
}

// CollectionItems are the elements of a collection. They are read while they are listed, and a large collection has millions.
type CollectionItems struct{ source CollectionSource }

// A CollectionSource reads the elements of a CollectionItems.
type CollectionSource interface {
	// All is what CollectionItems.All returns.
	All() iter.Seq2[CollectionItem, error]
	// Format is what CollectionItems.Format does.
	Format(newRow func() AppendItem, emit func(rows []byte) error) error
}

// AppendItem appends the row of an element to b. The element is valid during the call.
type AppendItem = func(b []byte, i *CollectionItem) []byte

// NewCollectionItems returns the list of what source reads.
func NewCollectionItems(source CollectionSource) *CollectionItems { return &CollectionItems{source} }

// All iterates over the elements; what can't be read is an error between them. A nil list is empty.
func (l *CollectionItems) All() iter.Seq2[CollectionItem, error] {
	if l == nil || l.source == nil {
		return func(func(CollectionItem, error) bool) {}
	}
	return l.source.All()
}

// Format formats the elements by several workers, and calls emit with their rows, many at a time, in the order of the list, by
// the caller's goroutine. Each worker appends rows with a function of its own that newRow makes. What can't be read is noted
// in the answer. The error is emit's or the context's. A nil list is empty.
func (l *CollectionItems) Format(newRow func() AppendItem, emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return l.source.Format(newRow, emit)
}

// StreamJSON calls emit with JSON rows, which are separated by a comma and a line feed.
func (l *CollectionItems) StreamJSON(emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return streamRows(l.Format, emit)
}

// MarshalJSON encodes the list.
func (l *CollectionItems) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(l) }

// JSONType returns a pointer to the type that StreamJSON writes, for documentation.
func (CollectionItems) JSONType() any { return new([]CollectionItem) }
