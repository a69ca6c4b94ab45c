package answer

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A Reachability is whether something keeps an object alive.
type Reachability string

// The verdicts of RootPaths and AssemblyContext.
const (
	Held     Reachability = "held"
	Garbage  Reachability = "garbage"
	NotKnown Reachability = "unknown"
)

// RootPaths lists what keeps an object alive.
type RootPaths struct {
	Gaps
	Object   PathObject   `json:"object" doc:"the object that was asked for"`
	Retained *uint64      `json:"retained,omitempty" doc:"bytes that would be free without it; with -retained"`
	Verdict  Reachability `json:"verdict" doc:"\"held\", \"garbage\" if nothing keeps it alive, or \"unknown\" if no path was found and not all roots or references can be read"`
	// Conclusion is set if there is no path.
	Conclusion *Verdict   `json:"conclusion,omitempty" doc:"if no path was found: what that means"`
	Paths      []RootPath `json:"paths" doc:"one from each root that was asked for, the shortest first"`
	Limited    bool       `json:"limited,omitempty" doc:"there may be more paths than were wanted"`
	Evidence   *NotHeld   `json:"evidence,omitempty" doc:"what was searched, where no path was found"`
	// Condemned is the generation that is assumed to be collected, or nil.
	Condemned *int `json:"condemnedGeneration,omitempty" doc:"the generation that is taken to be collected: what is older keeps alive what it refers to"`
	Older     bool `json:"older,omitempty" doc:"the object is older than that, and survives whatever refers to it"`
	// WithoutStacks reports that stacks were not used as roots.
	WithoutStacks bool `json:"withoutStacks,omitempty" doc:"stacks were not taken for roots"`
}

// NotHeld counts what was searched for a path to an object.
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

// A RootPath leads from a root to an object.
type RootPath struct {
	Root    GCRoot     `json:"root" doc:"what keeps the first object alive"`
	Method  Text       `json:"-"` // the method of a frame, as SOS names it
	Objects []PathStep `json:"objects" doc:"the objects from the root to the one that was asked for"`
}

// A PathStep is an object on a path, and how its predecessor refers to it.
type PathStep struct {
	PathObject
	Edge *PathEdge `json:"edge,omitempty" doc:"the reference to it of the object before; absent for the first"`
}

// An EdgeKind is how one object refers to another.
type EdgeKind string

// The kinds of a PathEdge.
const (
	EdgeField     EdgeKind = "field"            // a field or an element
	EdgeStatic    EdgeKind = "static field"     // from the array with the values of static fields
	EdgeDependent EdgeKind = "dependent handle" // an entry of a ConditionalWeakTable
	EdgeAllocator EdgeKind = "loader allocator" // the object's type, which can be unloaded
)

// A PathEdge is a reference from one object to another.
type PathEdge struct {
	Kind EdgeKind `json:"kind" doc:"\"field\", \"static field\", \"dependent handle\" or \"loader allocator\""`
	Name Text     `json:"name,omitzero" doc:"\"_items\", \"[3]\", \"_entries[5].value\", \"Contoso.Cache.s_items\""`
	More bool     `json:"more,omitempty" doc:"it refers to it more than once"`
}

// An ObjectPath leads from one object to another.
type ObjectPath struct {
	Gaps
	From    PathObject `json:"from" doc:"the object where the path starts"`
	To      PathObject `json:"to" doc:"the object where it ends"`
	Found   bool       `json:"found" doc:"there is a path"`
	Objects []PathStep `json:"objects" doc:"the objects from the one to the other"`
}

// A Closure is everything that some objects keep alive together.
type Closure struct {
	Object *PathObject `json:"object,omitempty" doc:"the object"`
	Of     *TypeCount  `json:"of,omitempty" doc:"the type whose objects were asked for, and these"`
	// Retained is the bytes that would be free without them.
	Retained *uint64 `json:"retained,omitempty" doc:"bytes of those that nothing else keeps alive; of one object, with -retained"`
	Listing
}

// A RootKind is the kind of place of a root.
type RootKind string

// The kinds of a GCRoot.
const (
	RootHandle        RootKind = "handle"
	RootFinalizer     RootKind = "finalizer" // an entry of the finalizer queue
	RootStack         RootKind = "stack"
	RootThreadStatics RootKind = "thread statics" // the array of a thread's thread statics
	RootStatic        RootKind = "static field"
	RootThreadStatic  RootKind = "thread static"    // one thread's value of a field
	RootOlder         RootKind = "older generation" // an object that the assumed collection leaves alone
)

// A GCRoot describes a root of the garbage collector.
type GCRoot struct {
	Kind         RootKind      `json:"kind" doc:"\"handle\", \"finalizer\", \"stack\" or \"thread statics\""`
	Name         string        `json:"name" doc:"the root in a few words"`
	Object       target.Addr   `json:"object" doc:"the object that it refers to, or into"`
	Address      target.Addr   `json:"address,omitempty" doc:"the handle, or where the reference is; absent for a register"`
	Strong       bool          `json:"strong" doc:"it keeps the object alive by itself"`
	Interior     bool          `json:"interior,omitempty" doc:"it may point into the object"`
	Pinned       bool          `json:"pinned,omitempty" doc:"it keeps the object where it is"`
	Conservative bool          `json:"conservative,omitempty" doc:"the word only looks like a reference, and the collector has to take it for one"`
	Handle       string        `json:"handle,omitempty" doc:"type of the handle, as gchandles has it"`
	Holder       string        `json:"holder,omitempty" doc:"what of the runtime holds the handle"`
	Critical     bool          `json:"critical,omitempty" doc:"it waits for a finalizer that runs after the others"`
	Thread       *GCRootThread `json:"thread,omitempty" doc:"thread that has the root"`
	Frame        *GCRootFrame  `json:"frame,omitempty" doc:"frame that holds the root"`
	Place        string        `json:"place,omitempty" doc:"the register, or register and offset, of the reference in the frame"`
	Variable     Text          `json:"variable,omitzero" doc:"argument or local that holds the reference"`
}

// Words names the root in a sentence about what keeps an object alive. For a stack it names the thread and the
// method.
func (r *GCRoot) Words() string {
	if r.Kind != RootStack {
		return r.Name
	}
	text := "the stack of a thread"
	if r.Thread != nil {
		text = "the stack of thread " + r.Thread.Words()
	}
	if r.Frame != nil && r.Frame.Method.Err == nil && r.Frame.Method.S != "" {
		text += ", in " + r.Frame.Method.S
	}
	return text
}

// Words returns the thread's number, its ids and its name.
func (t *GCRootThread) Words() string {
	number, ids := fmt.Sprint(t.Index), fmt.Sprintf("%#x", t.OSID)
	switch {
	case t.Index < 0 && t.OSID == 0:
		number, ids = "without OS thread", ""
	case t.Index < 0:
		number, ids = ids, ""
	}
	if t.ManagedID != 0 {
		if ids != "" {
			ids += ", "
		}
		ids += fmt.Sprintf("managed %d", t.ManagedID)
	}
	if ids != "" {
		number += " (" + ids + ")"
	}
	if t.Name.Err == nil && t.Name.S != "" {
		number += fmt.Sprintf(" %q", t.Name.S)
	}
	return number
}

// A GCRootThread is the thread that has a root.
type GCRootThread struct {
	Index     int    `json:"index" doc:"number of the thread (DBG), -1 where no OS thread runs it"`
	OSID      uint32 `json:"osThread,omitempty" doc:"id of the OS thread"`
	ManagedID uint32 `json:"managedThread,omitempty" doc:"managed id"`
	Name      Text   `json:"name,omitzero" doc:"name of the thread"`
}

// A GCRootFrame is the frame that holds a root.
type GCRootFrame struct {
	Index  int         `json:"index" doc:"place of the frame in the stack, 0 for the top; -1 for what stands beside the frames"`
	IP     target.Addr `json:"ip,omitempty" doc:"instruction pointer"`
	SP     target.Addr `json:"sp" doc:"stack pointer, or address of an explicit frame"`
	Method Text        `json:"method,omitzero" doc:"the method"`
	Class  string      `json:"class,omitempty" doc:"class of an explicit frame"`
}
