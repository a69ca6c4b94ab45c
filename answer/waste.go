package answer

import "github.com/sosgo/sosgo/target"

// Waste lists heap memory with redundant or unused content.
type Waste struct {
	Gaps
	Objects uint64      `json:"objects" doc:"number of objects of the heap, whether reachable or not; with -live of those that live"`
	Live    bool        `json:"live,omitempty" doc:"only what lives was looked at"`
	Size    uint64      `json:"size" doc:"their size in bytes"`
	Wasted  uint64      `json:"wasted" doc:"sum of what the kinds below waste; no byte counts for two of them"`
	Share   float64     `json:"share" doc:"that in percent of the size"`
	Kinds   []WasteKind `json:"kinds" doc:"what was looked for, the most wasteful first"`
	Free    []FreeSpace `json:"free,omitempty" doc:"free blocks between the objects, by generation; no part of the sum"`
	// Unknown lists collection types with fields that match no known version.
	Unknown []UnknownCollection `json:"unknownLayouts,omitempty" doc:"types of collections whose fields are not as in any version that is known: their contents were not looked at"`
	Unread  uint64              `json:"unread,omitempty" doc:"objects that could not be looked at, because the dump lacks a part of them or they are damaged"`
}

// A WasteForm is a way in which the heap wastes memory.
type WasteForm string

// The kinds of waste.
const (
	WasteStrings          WasteForm = "strings"           // strings with the same content
	WasteSparse           WasteForm = "sparse"            // arrays of references with many nulls
	WasteZeros            WasteForm = "zeros"             // arrays of values, all zero
	WasteConstant         WasteForm = "constant"          // arrays of values, all equal
	WasteTails            WasteForm = "tails"             // arrays of values that end in zeros
	WasteEmptyArrays      WasteForm = "empty-arrays"      // arrays without elements
	WasteEmptyCollections WasteForm = "empty-collections" // collections without elements
	WasteUnderfilled      WasteForm = "underfilled"       // collections with far more capacity than elements
	WasteBoxes            WasteForm = "boxes"             // boxed values
	WasteZeroObjects      WasteForm = "zero-objects"      // objects with only null and zero fields
)

// A WasteKind is one kind of waste.
type WasteKind struct {
	Kind    WasteForm `json:"kind" doc:"\"strings\", \"sparse\", \"zeros\", \"constant\", \"tails\", \"empty-arrays\", \"empty-collections\", \"underfilled\", \"boxes\" or \"zero-objects\""`
	Objects uint64    `json:"objects" doc:"objects that waste memory in this way; of strings and boxes those that repeat another's value"`
	Wasted  uint64    `json:"wasted" doc:"bytes that could be saved"`
	Share   float64   `json:"share" doc:"that in percent of the size of all objects"`
	// All counts all objects of the kind, including those that waste nothing.
	All         uint64           `json:"all,omitempty" doc:"all strings, or all boxes"`
	AllSize     uint64           `json:"allSize,omitempty" doc:"their size in bytes"`
	Types       []WasteType      `json:"types,omitempty" doc:"types of the objects, the most wasteful first"`
	MoreTypes   int              `json:"moreTypes,omitempty" doc:"types that are not listed"`
	Strings     []RepeatedString `json:"strings,omitempty" doc:"contents that most is wasted on"`
	MoreStrings uint64           `json:"moreStrings,omitempty" doc:"repeated contents that are not listed"`
	Holders     []WasteHolder    `json:"holders,omitempty" doc:"fields and arrays of the heap that refer to the objects, those to the most wasteful first"`
	MoreHolders int              `json:"moreHolders,omitempty" doc:"holders that are not listed"`
}

// A WasteType is the waste of objects of one type.
type WasteType struct {
	MethodTable target.Addr `json:"methodTable" doc:"the type"`
	Type        Text        `json:"type" doc:"its name"`
	Objects     uint64      `json:"objects" doc:"objects of the type that waste memory in this way"`
	Wasted      uint64      `json:"wasted" doc:"bytes that could be saved"`
	All         uint64      `json:"all,omitempty" doc:"of boxes and collections: all objects of the type"`
	AllSize     uint64      `json:"allSize,omitempty" doc:"of boxes: their size in bytes"`
	Elements    uint64      `json:"elements,omitempty" doc:"of collections: elements of all of them"`
	Capacity    uint64      `json:"capacity,omitempty" doc:"of collections: elements for which all of them have room"`
	Example     target.Addr `json:"example,omitempty" doc:"the most wasteful object"`
}

// A RepeatedString is a content that several strings share.
type RepeatedString struct {
	Text    Text          `json:"text" doc:"the content, at most 1024 characters"`
	Count   uint64        `json:"count" doc:"strings of this content"`
	Wasted  uint64        `json:"wasted" doc:"bytes of all of them but one"`
	Address target.Addr   `json:"address" doc:"the first of them"`
	Holders []WasteHolder `json:"holders,omitempty" doc:"fields and arrays that refer to them"`
}

// A WasteHolder is a field, the elements of arrays of a type, or a local.
type WasteHolder struct {
	Holder     Text   `json:"holder" doc:"Type.field, Type[] for the elements of arrays, \"static Type.field\", \"thread 1f2: Type.Method() variable\" for a local"`
	References uint64 `json:"references" doc:"references of such fields to objects that waste memory in this way"`
	Wasted     uint64 `json:"wasted" doc:"bytes that these waste; what several fields refer to counts for each"`
}

// FreeSpace describes the free blocks of a generation.
type FreeSpace struct {
	Generation string    `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
	Objects    uint64    `json:"objects" doc:"bytes of objects"`
	Free       uint64    `json:"free" doc:"bytes of free blocks"`
	Share      float64   `json:"share" doc:"percent of both that are free"`
	Blocks     uint64    `json:"blocks" doc:"number of free blocks"`
	Largest    uint64    `json:"largest" doc:"bytes of the largest one"`
	Pins       []FreePin `json:"pins,omitempty" doc:"objects that handles pin directly before or behind free blocks, those with the most bytes first"`
	MorePins   int       `json:"morePins,omitempty" doc:"rows of pins that are not listed"`
}

// Fragmentation is the free space between the objects of the heap.
type Fragmentation struct {
	Gaps
	Generations []FreeSpace `json:"generations" doc:"generations with free space between objects"`
}

// A FreePin is a type of objects next to free blocks, pinned by handles.
type FreePin struct {
	Handle  string      `json:"handle" doc:"type of the handles, \"Pinned\" or \"AsyncPinned\""`
	Type    Text        `json:"type" doc:"type of the objects"`
	Handles uint64      `json:"handles" doc:"number of handles"`
	Objects uint64      `json:"objects" doc:"number of objects"`
	Size    uint64      `json:"size" doc:"bytes of the objects"`
	Example target.Addr `json:"example" doc:"one of the objects"`
}

// An UnknownCollection is a type with a collection's name and unknown fields.
type UnknownCollection struct {
	Type    Text   `json:"type" doc:"the type"`
	Objects uint64 `json:"objects" doc:"objects of the type"`
	Reason  string `json:"reason" doc:"what is missing"`
}
