package answer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// Handles are the GC handles of a process.
type Handles struct {
	Gaps
	// Handles are listed table by table, and by type within a table.
	Handles iter.Seq2[Handle, error] `json:"handles,omitempty"`
	// The following is known once Handles are read.
	Types  []TypeCount   `json:"statistics,omitempty"`
	Counts []HandleCount `json:"counts,omitempty"`
	Count  Maybe[uint64] `json:"count,omitzero" doc:"number of handles"`

	// Hold is set instead of Handles with -retained: what the handles retain.
	Hold *HandlesHold `json:"hold,omitempty"`

	Heaps int  `json:"-"` // number of the GC's heaps; there may be more tables
	All   bool `json:"-"` // handles of all types were asked for
	// The system domain has no handles; the application domain has all.
	SystemDomain Maybe[target.Addr] `json:"-"`
	AppDomain    Maybe[target.Addr] `json:"-"`
}

// A Handle is a GC handle.
type Handle struct {
	Address     target.Addr `json:"address" doc:"the handle"`
	Type        string      `json:"type" doc:"Strong, Pinned, WeakShort, WeakLong, Dependent, ..."`
	Object      target.Addr `json:"object" doc:"the object"`
	Size        uint64      `json:"size" doc:"its size in bytes; 0 if it can't be read"`
	ObjectType  Text        `json:"objectType" doc:"its type"`
	Dependent   target.Addr `json:"dependent,omitempty" doc:"what a Dependent handle keeps alive as long as the object lives"`
	Extra       target.Addr `json:"extra,omitempty" doc:"second word of a handle of another type that has one"`
	Table       int         `json:"table" doc:"index of the table that the handle is in, 0 for a workstation GC"`
	MethodTable target.Addr `json:"-"` // of the object, 0 if it can't be read
}

// A HandleCount counts the handles of one type.
type HandleCount struct {
	Type  string `json:"type" doc:"type of handle"`
	Count uint64 `json:"count" doc:"number of handles"`
}

// A HandleTally counts handles by type, and the objects that they refer to. The zero value is ready to use.
type HandleTally struct {
	Count  uint64
	byType map[string]uint64
	types  map[target.Addr]*TypeCount
}

// Add counts h.
func (t *HandleTally) Add(h *Handle) {
	if h == nil {
		return
	}
	if t.byType == nil {
		t.byType, t.types = map[string]uint64{}, map[target.Addr]*TypeCount{}
	}
	t.Count++
	t.byType[h.Type]++
	if h.MethodTable == 0 {
		return
	}
	c := t.types[h.MethodTable]
	if c == nil {
		c = &TypeCount{MethodTable: h.MethodTable, Type: h.ObjectType}
		t.types[h.MethodTable] = c
	}
	c.Count++
	c.Size += h.Size
}

// Of returns the number of handles of a type.
func (t *HandleTally) Of(handleType string) uint64 { return t.byType[handleType] }

// Types returns the counts of the objects by type, in increasing order of their bytes.
func (t *HandleTally) Types() []TypeCount {
	list := make([]TypeCount, 0, len(t.types))
	for _, c := range t.types {
		list = append(list, *c)
	}
	slices.SortStableFunc(list, func(a, b TypeCount) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(b.MethodTable, a.MethodTable))
	})
	return list
}

// HandlesHold lists the GC handles that retain most, with sums.
type HandlesHold struct {
	Gaps
	Live       HeapPart      `json:"live" doc:"what lives"`
	Garbage    HeapPart      `json:"garbage" doc:"what nothing keeps alive"`
	Frozen     HeapPart      `json:"frozen" doc:"what is in frozen segments without a root, and never collected"`
	Incomplete bool          `json:"incomplete,omitempty" doc:"not all could be read, as the warnings say"`
	Rows       []HandleHolds `json:"handles" doc:"handles, those without which most would be free first"`
	More       int           `json:"more,omitempty" doc:"how many more handles there are"`
	Kinds      []HandleSum   `json:"kinds,omitempty" doc:"what would be free without all handles of a type"`
	Types      []HandleSum   `json:"types,omitempty" doc:"by the type of the objects: at least what would be free without the handles"`
	MoreTypes  int           `json:"moreTypes,omitempty" doc:"how many more types there are"`
}

// HandleHolds is what one GC handle retains.
type HandleHolds struct {
	Handle   target.Addr `json:"handle" doc:"the handle"`
	Type     string      `json:"type" doc:"its type, as gchandles has it"`
	Holder   string      `json:"holder,omitempty" doc:"what of the runtime holds the handle"`
	Object   PathObject  `json:"object" doc:"the object that it refers to; of a Dependent handle the one that it keeps alive"`
	Primary  target.Addr `json:"primary,omitempty" doc:"of a Dependent handle: the object as long as which the other lives"`
	Live     bool        `json:"live" doc:"the object lives"`
	Freed    uint64      `json:"freed" doc:"bytes that would be free without the handle"`
	Share    float64     `json:"share" doc:"their share of what lives, in percent"`
	Retained uint64      `json:"retained" doc:"bytes that would be free without the object"`
	Same     int         `json:"same,omitempty" doc:"how many more handles of the type refer to the object; of a Dependent handle, references of the primary object"`
	Statics  int         `json:"statics,omitempty" doc:"how many static fields the object has the values of: these are roots of their own here"`
	Types    []TypeCount `json:"types,omitempty" doc:"with -holds: what would be free, by type, the largest size first"`
	Else     *RootPath   `json:"else,omitempty" doc:"with -path: what else keeps the object alive"`
}

// A HandleSum is what several GC handles retain together.
type HandleSum struct {
	Name        Text        `json:"name" doc:"type of the handles, or of their objects"`
	MethodTable target.Addr `json:"methodTable,omitempty" doc:"type of the objects"`
	Count       uint64      `json:"count" doc:"number of handles"`
	Freed       uint64      `json:"freed" doc:"bytes that would be free without them"`
	Share       float64     `json:"share" doc:"their share of what lives, in percent"`
	AtLeast     bool        `json:"atLeast,omitempty" doc:"it may be more"`
}
