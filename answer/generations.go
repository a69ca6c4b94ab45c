package answer

import "github.com/sosgo/sosgo/target"

// OldReferences lists references from older generations to younger ones. The collector uses them as roots.
type OldReferences struct {
	Gaps
	Groups  []OldReferenceGroup `json:"groups" doc:"by generations, in the order of their first objects"`
	Objects uint64              `json:"objects" doc:"rows of all groups"`
	Young   uint64              `json:"young" doc:"different objects that they refer to"`
	Size    uint64              `json:"youngSize" doc:"their size in bytes"`
	// Incomplete reports that there may be more.
	Incomplete bool `json:"incomplete,omitempty" doc:"not all of the heap can be read, as the warnings say: there may be more"`
}

// An OldReferenceGroup lists the objects of one generation that refer to another one.
type OldReferenceGroup struct {
	From    string      `json:"from" doc:"generation of the objects: \"1\", \"2\", \"large\" or \"pinned\""`
	To      string      `json:"to" doc:"generation to which they refer: \"0\" or \"1\""`
	Objects []OldObject `json:"objects" doc:"in address order"`
}

// An OldObject is an object that refers to younger ones.
type OldObject struct {
	Address     target.Addr `json:"address" doc:"the object"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Type        Text        `json:"type" doc:"name of the type"`
	Size        uint64      `json:"size" doc:"its size in bytes"`
	Count       uint64      `json:"references" doc:"references to objects of the younger generation"`
	Referenced  uint64      `json:"referencedSize" doc:"size of these objects in bytes, each as often as it is referred to"`
}

// LargeReferences lists references between young objects and large ones.
type LargeReferences struct {
	Gaps
	ToLarge   []ObjectPair   `json:"toLarge" doc:"young objects and the large ones to which they refer"`
	FromLarge []ObjectPair   `json:"fromLarge" doc:"large objects and the young ones to which they refer"`
	Through   []ObjectTriple `json:"through" doc:"young objects that refer through a large one to young ones"`
	// Incomplete reports that there may be more.
	Incomplete bool `json:"incomplete,omitempty" doc:"not all of the heap can be read, as the warnings say: there may be more"`
}

// An ObjectPair is an object and an object that it refers to.
type ObjectPair struct {
	From ObjectName `json:"from" doc:"the object"`
	To   ObjectName `json:"to" doc:"the object to which it refers"`
}

// An ObjectTriple is a path of three objects.
type ObjectTriple struct {
	From  ObjectName `json:"from" doc:"the first object"`
	Large ObjectName `json:"large" doc:"the large object"`
	To    ObjectName `json:"to" doc:"the last object"`
}

// An ObjectName is an object with its type.
type ObjectName struct {
	Address     target.Addr `json:"address" doc:"the object"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Type        Text        `json:"type" doc:"name of the type"`
}

// Unreachable lists the words of a range that refer to unreachable objects.
type Unreachable struct {
	Words  uint64    `json:"words" doc:"words of the range"`
	Others []BadWord `json:"notObjects,omitempty" doc:"words that are no addresses of objects"`
	Listing
}

// A BadWord is a word that refers to no object.
type BadWord struct {
	Slot  target.Addr `json:"slot" doc:"where the word is"`
	Value target.Addr `json:"value" doc:"the word"`
	After int         `json:"-"` // number of listed objects that words before it refer to
}
