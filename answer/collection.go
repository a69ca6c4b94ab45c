package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A Collection is what a collection of the class libraries holds.
type Collection struct {
	Gaps
	Address     target.Addr                      `json:"address" doc:"address of the collection"`
	Type        Text                             `json:"type" doc:"its type"`
	MethodTable target.Addr                      `json:"methodTable" doc:"MethodTable of its type"`
	Count       Maybe[uint64]                    `json:"count,omitzero" doc:"how many elements it says that it has; absent if it keeps no count"`
	Text        *string                          `json:"text,omitempty" doc:"what a collection of characters or bits says: a StringBuilder, a BitArray, memory of characters"`
	Items       iter.Seq2[CollectionItem, error] `json:"items,omitempty" doc:"its elements, in the order in which the program would enumerate them"`

	HasKeys bool `json:"-"` // elements have keys
	// Found is how many elements were found, whichever were chosen of them; known when Items were read.
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

	HasKey   bool     `json:"-"`
	HasValue bool     `json:"-"`
	SOS      *SOSItem `json:"-"` // for commands of SOS
}

// A SOSItem is what SOS's commands tell of an element's key and value.
type SOSItem struct{ Key, Value Referred }

// A Referred is what has to be known of an element beside its value, for commands that name the command that shows it.
type Referred struct {
	MethodTable target.Addr // of a value type; of the object that a reference refers to
	At          target.Addr // where the fields of a value type are; the object
	String      string      // the text of a string, as much as was asked for
	IsString    bool
	IsArray     bool
	Boxed       Value // what is in a box, if it is a plain number, and no enum
}
