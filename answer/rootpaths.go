package answer

import "github.com/sosgo/sosgo/target"

// The verdicts of RootPaths.
const (
	Held     = "held"
	Garbage  = "garbage"
	NotKnown = "unknown"
)

// RootPaths say what keeps an object alive.
type RootPaths struct {
	Gaps
	Object   PathObject `json:"object" doc:"the object that was asked for"`
	Retained *uint64    `json:"retained,omitempty" doc:"bytes that would be free without it; with -retained"`
	Verdict  string     `json:"verdict" doc:"\"held\", \"garbage\" if nothing keeps it alive, or \"unknown\" if no path was found and not all roots or references can be read"`
	Paths    []RootPath `json:"paths" doc:"one from each root that was asked for, the shortest first"`
	Limited  bool       `json:"limited,omitempty" doc:"there may be more paths than were wanted"`
	Evidence *NotHeld   `json:"evidence,omitempty" doc:"what was searched, where no path was found"`
	// Condemned is the generation that is supposed to be collected, if one is.
	Condemned *int `json:"condemnedGeneration,omitempty" doc:"the generation that is taken to be collected: what is older keeps alive what it refers to"`
	Older     bool `json:"older,omitempty" doc:"the object is older than that, and survives whatever refers to it"`
	// WithoutStacks: stacks were left out.
	WithoutStacks bool `json:"withoutStacks,omitempty" doc:"stacks were not taken for roots"`
}

// NotHeld is what was searched for a path to an object.
type NotHeld struct {
	Roots     uint64       `json:"roots" doc:"references from outside of the heap"`
	Live      uint64       `json:"live" doc:"objects that these keep alive"`
	Objects   uint64       `json:"objects" doc:"objects of the heap"`
	Referrers uint64       `json:"referrers" doc:"unreachable objects that refer to it"`
	First     []PathObject `json:"firstReferrers,omitempty" doc:"the first of them"`
	Unread    int          `json:"unread,omitempty" doc:"kinds of roots or references that can't be read: the warnings say which"`
}

// A PathObject is an object on a path.
type PathObject struct {
	Address     target.Addr `json:"address" doc:"the object"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Type        Text        `json:"type" doc:"name of the type"`
	Size        uint64      `json:"size" doc:"its own size in bytes"`
	Generation  string      `json:"generation" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\" or \"frozen\""`
}

// A RootPath leads from what keeps an object alive to the object.
type RootPath struct {
	Root    GCRoot     `json:"root" doc:"what keeps the first object alive"`
	Method  Text       `json:"-"` // of a frame, as SOS names it
	Objects []PathStep `json:"objects" doc:"the objects from the root to the one that was asked for"`
}

// A PathStep is an object on a path and how the one before refers to it.
type PathStep struct {
	PathObject
	Edge *PathEdge `json:"edge,omitempty" doc:"the reference to it of the object before; absent for the first"`
}

// A PathEdge is a reference of an object to another.
type PathEdge struct {
	Kind string `json:"kind" doc:"\"field\", \"static field\", \"dependent handle\" or \"loader allocator\""`
	Name Text   `json:"name,omitzero" doc:"\"_items\", \"[3]\", \"_entries[5].value\", \"Contoso.Cache.s_items\""`
	More bool   `json:"more,omitempty" doc:"it refers to it more than once"`
}

// An ObjectPath leads from an object to another.
type ObjectPath struct {
	Gaps
	From    PathObject `json:"from" doc:"the object where the path starts"`
	To      PathObject `json:"to" doc:"the object where it ends"`
	Found   bool       `json:"found" doc:"there is a path"`
	Objects []PathStep `json:"objects" doc:"the objects from the one to the other"`
}

// A Closure is what objects keep alive together.
type Closure struct {
	Object *PathObject `json:"object,omitempty" doc:"the object"`
	Of     *TypeCount  `json:"of,omitempty" doc:"the type whose objects were asked for, and these"`
	// Retained is what would be free without them.
	Retained *uint64 `json:"retained,omitempty" doc:"bytes of those that nothing else keeps alive; of one object, with -retained"`
	Listing
}
