package answer

import "github.com/sosgo/sosgo/target"

// HeapPart counts live objects, or garbage.
type HeapPart struct {
	Objects uint64 `json:"objects" doc:"number of objects"`
	Size    uint64 `json:"size" doc:"their size in bytes"`
}

// Retained lists what would be free without the objects of a type, assembly, namespace or generation, or without
// single objects.
type Retained struct {
	Gaps
	Live       HeapPart `json:"live" doc:"objects that something keeps alive"`
	Garbage    HeapPart `json:"garbage" doc:"objects that nothing keeps alive that could be read"`
	Frozen     HeapPart `json:"frozen,omitzero" doc:"objects of frozen segments to which no root leads; they are never collected"`
	Incomplete bool     `json:"incomplete,omitempty" doc:"not all roots, objects or references can be read, as the warnings say: sizes are those of what can, and garbage may live"`
	By         string   `json:"by,omitempty" doc:"what the rows are: \"type\", \"assembly\", \"namespace\" or \"generation\""`
	// OfGarbage reports that the rows are of garbage.
	OfGarbage bool             `json:"ofGarbage,omitempty" doc:"the rows are of what nothing keeps alive: what one dead object of the class alone refers to"`
	Rows      []RetainedRow    `json:"rows,omitempty" doc:"the one that retains most first"`
	More      int              `json:"more,omitempty" doc:"rows that are not listed"`
	Objects   []RetainedObject `json:"objects,omitempty" doc:"the objects that were asked for"`
}

// A RetainedRow is what the objects of one class retain together.
type RetainedRow struct {
	Name        Text        `json:"name" doc:"the type, assembly, namespace or generation"`
	MethodTable target.Addr `json:"methodTable,omitempty" doc:"the type"`
	Count       uint64      `json:"count" doc:"number of objects"`
	Size        uint64      `json:"size" doc:"their own size in bytes"`
	Retained    uint64      `json:"retained" doc:"bytes that would be free without each of them that no other of them retains, itself included"`
	Share       float64     `json:"share" doc:"that in percent of the size of all that lives, or of all garbage"`
	// Garbage counts the unreachable objects of the class, if the row is of live objects.
	Garbage HeapPart `json:"garbage,omitzero" doc:"objects of the class that nothing keeps alive"`
}

// A RetainedObject is the retained size of one object.
type RetainedObject struct {
	Object   PathObject  `json:"object" doc:"the object"`
	Live     bool        `json:"live" doc:"something keeps it alive"`
	Dead     *Verdict    `json:"dead,omitempty" doc:"of an object that is not live: what that means"`
	Count    uint64      `json:"count" doc:"objects that would be free without it, itself included"`
	Retained uint64      `json:"retained" doc:"their size in bytes"`
	Share    float64     `json:"share" doc:"that in percent of the size of all that lives, or of all garbage if it does not"`
	Types    []TypeCount `json:"types" doc:"what it retains, by type, itself included: the largest first"`
	More     int         `json:"moreTypes,omitempty" doc:"types that are not listed"`
}

// Dominators describes ownership: an object's owner is the object without which it would be free.
type Dominators struct {
	Gaps
	Live       HeapPart `json:"live" doc:"objects that something keeps alive"`
	Garbage    HeapPart `json:"garbage" doc:"objects that nothing keeps alive that could be read"`
	Frozen     HeapPart `json:"frozen,omitzero" doc:"objects of frozen segments to which no root leads; they are never collected"`
	Incomplete bool     `json:"incomplete,omitempty" doc:"not all roots, objects or references can be read, as the warnings say: sizes are those of what can, and garbage may live"`
	Object     *Owned   `json:"object,omitempty" doc:"the object that was asked for"`
	// Tree is in preorder: the children of a row follow it, one level deeper, up to the next row that is not deeper.
	Tree []DominatorRow `json:"tree,omitempty" doc:"in preorder, the largest child first: children stand behind their parent, one deeper"`
	// Children lists the children of one node of the tree: Object, or the root.
	Children []DominatorRow `json:"children,omitempty" doc:"the objects that the object owns at first hand, or without one those that no other object owns: the largest first"`
	From     int            `json:"from,omitempty" doc:"children that are left out in front"`
	More     int            `json:"more,omitempty" doc:"children that are left out behind"`
	Least    uint64         `json:"least,omitempty" doc:"bytes that a row of the tree retains at least"`
	Depth    int            `json:"depth,omitempty" doc:"how deep the tree is shown"`
}

// Owned is an object with its owners and what it owns.
type Owned struct {
	Object   PathObject     `json:"object" doc:"the object"`
	Live     bool           `json:"live" doc:"something keeps it alive"`
	Dead     *Verdict       `json:"dead,omitempty" doc:"of an object that is not live: what that means"`
	Retained uint64         `json:"retained" doc:"bytes that would be free without it"`
	Chain    []DominatorRow `json:"chain" doc:"what it would not live without: from the root to the object; of garbage only dead objects"`
	// Shared reports that no single object owns it.
	Shared  bool           `json:"shared,omitempty" doc:"no other object owns it: it is held in several ways, or by a root itself"`
	Holders []RootPath     `json:"holders,omitempty" doc:"of an object that no other one owns: paths to it that have nothing in common"`
	Owns    []DominatorRow `json:"owns" doc:"what it owns at first hand, the largest first"`
	Others  []DominatorRow `json:"others,omitempty" doc:"the rest of it, by type"`
}

// A DominatorRow is a node of the dominator tree, or several nodes of one type.
type DominatorRow struct {
	Depth    int         `json:"depth" doc:"0 for children of the root"`
	Object   *PathObject `json:"object,omitempty" doc:"the object"`
	Root     Text        `json:"root,omitzero" doc:"what keeps objects alive from outside of the heap: \"statics\", a thread, a frame, a field"`
	Folded   Text        `json:"folded,omitzero" doc:"the type of several objects that are not listed; \"\" for those of several types"`
	Count    uint64      `json:"count" doc:"objects that the row stands for: 1, or those that were folded; 0 of a root"`
	Types    int         `json:"types,omitempty" doc:"of objects of several types, how many these are"`
	Retained uint64      `json:"retained" doc:"bytes that would be free without it"`
	Share    float64     `json:"share" doc:"that in percent of the size of all that lives, or of all garbage"`
	Owns     int         `json:"owns,omitempty" doc:"of children: how many objects it owns at first hand"`
	Deeper   int         `json:"deeper,omitempty" doc:"children that are not shown for their depth"`
}

// Links lists what refers to an object, or what it refers to.
type Links struct {
	Gaps
	Object    PathObject `json:"object" doc:"the object that was asked for"`
	Referrers bool       `json:"referrers" doc:"the list is what refers to the object, and not what it refers to"`
	List      []Link     `json:"list,omitempty" doc:"in the order of addresses, roots last; what an object refers to in the order of its fields"`
	More      uint64     `json:"more,omitempty" doc:"neighbours that are not listed"`
	Types     []LinkType `json:"types,omitempty" doc:"all neighbours by type, the most frequent first"`
}

// A LinkStrength is how firmly a reference holds its object. All of them keep it alive.
type LinkStrength string

// The strengths of links.
const (
	LinkStrong   LinkStrength = "strong"
	LinkCached   LinkStrength = "cached"   // an entry of a cache, which evicts it by its own rules
	LinkAttached LinkStrength = "attached" // by a dependent handle
)

// A Link is an object, or a root, at one end of a reference.
type Link struct {
	Object   *PathObject   `json:"object,omitempty" doc:"the object"`
	Root     *GCRoot       `json:"root,omitempty" doc:"the root: what refers to the object from outside of the heap"`
	Edge     *PathEdge     `json:"edge,omitempty" doc:"the first reference of the one to the other"`
	Count    int           `json:"count" doc:"how many references there are"`
	Strength LinkStrength  `json:"strength" doc:"\"strong\", \"cached\" (an entry of a cache) or \"attached\" (by a dependent handle)"`
	Live     bool          `json:"live" doc:"something keeps it alive"`
	Retained Maybe[uint64] `json:"retained,omitzero" doc:"bytes that would be free without it; of objects"`
}

// A LinkType counts the neighbours of one type.
type LinkType struct {
	MethodTable target.Addr `json:"methodTable,omitempty" doc:"the type; absent for roots"`
	Type        Text        `json:"type" doc:"its name, or the kind of the roots"`
	Count       uint64      `json:"count" doc:"neighbours of the type"`
	References  uint64      `json:"references" doc:"references of or to them"`
	Size        uint64      `json:"size" doc:"their own size in bytes"`
	Live        uint64      `json:"live" doc:"those that something keeps alive"`
}
