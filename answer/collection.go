package answer

import (
	"iter"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// A Collection is the content of a collection of the class libraries.
type Collection struct {
	Gaps
	Address     target.Addr      `json:"address" doc:"address of the collection"`
	Type        Text             `json:"type" doc:"its type"`
	MethodTable target.Addr      `json:"methodTable" doc:"MethodTable of its type"`
	Count       Maybe[uint64]    `json:"count,omitzero" doc:"how many elements it says that it has; absent if it keeps no count"`
	Text        *string          `json:"text,omitempty" doc:"what a collection of characters or bits says: a StringBuilder, a BitArray, memory of characters"`
	Items       *CollectionItems `json:"items,omitempty" doc:"its elements, in the order in which the program would enumerate them"`

	HasKeys bool `json:"-"` // elements have keys
	// Found is the number of elements, before filters. It is known once all Items are read.
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
	// Referred describes the objects or values of Key and Value. It is nil unless requested.
	Referred *ReferredItem `json:"-"`
}

// A ReferredItem describes the objects or values of an element's key and value.
type ReferredItem struct{ Key, Value Referred }

// A Referred describes a value, or the object of a reference: enough to choose the command that shows it.
type Referred struct {
	MethodTable target.Addr // of a value type; of the object that a reference refers to
	At          target.Addr // where the fields of a value type are; the object
	String      string      // the text of a string, as much as was asked for
	IsString    bool
	IsArray     bool
	Boxed       Value // the content of a box if it is a number and no enum
}

// CollectionItems is the elements of a collection, which may be millions. They are read while they are listed.
type CollectionItems struct {
	gaps   *Gaps
	source CollectionSource
}

// A CollectionSource reads the elements of a CollectionItems. The errors of its methods say what kept them from reading
// all.
type CollectionSource interface {
	// Each calls yield with the elements until it returns false. An unreadable element is an error.
	Each(yield func(CollectionItem, error) bool) error
	// Format is what CollectionItems.Format does.
	Format(newRow func() AppendItem, emit func(rows []byte) error) error
}

// An AppendItem appends the row of an element to b. The element is valid only during the call.
type AppendItem = func(b []byte, i *CollectionItem) []byte

// NewCollectionItems returns a list that reads from source, for an answer with the gaps g; see NewObjects.
func NewCollectionItems(g *Gaps, source CollectionSource) *CollectionItems {
	return &CollectionItems{g, source}
}

// All iterates over the elements. An unreadable element yields an error. All ends with what kept the list from being
// whole. A nil list is empty.
func (l *CollectionItems) All() iter.Seq2[CollectionItem, error] {
	if l == nil || l.source == nil {
		return func(func(CollectionItem, error) bool) {}
	}
	return NewRows(l.gaps, l.source.Each)
}

// Format formats the elements with several workers. It calls emit on the caller's goroutine, with many rows at a
// time, in the order of the list. Each worker appends rows with its own function from newRow. Unreadable elements are
// noted in the answer. The error is emit's, or what kept the list from being whole. A nil list is empty.
func (l *CollectionItems) Format(newRow func() AppendItem, emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return formatted(l.gaps, emit, func(emit func([]byte) error) error { return l.source.Format(newRow, emit) })
}

// StreamJSON calls emit with JSON rows, separated by a comma and a line feed.
func (l *CollectionItems) StreamJSON(emit func(rows []byte) error) error {
	if l == nil || l.source == nil {
		return nil
	}
	return streamRows(l.Format, emit)
}

// MarshalJSON encodes the list, with the reason in place of a missing row.
func (l *CollectionItems) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(l) }

// JSONValue returns All, which MarshalJSON encodes.
func (l *CollectionItems) JSONValue() any { return l.All() }

// JSONType returns a pointer to the type of the JSON, for documentation.
func (CollectionItems) JSONType() any { return new([]CollectionItem) }
