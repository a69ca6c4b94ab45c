package graph

import (
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A SourceKind is the kind of a node that is not an object.
type SourceKind uint8

// The kinds. Those up to SourceRuntime are groups and depend on the root of the graph. RootsOf does not use
// SourceRuntime: handles keep the runtime's own objects alive, and RootReader.Holder describes them.
const (
	SourceRoot          SourceKind = iota // the root of the graph, which reaches all live nodes
	SourceStacks                          // the stacks of all threads
	SourceHandles                         // handles of one type: strong, pinned …
	SourceStatics                         // static fields
	SourceThreadStatics                   // thread statics of all threads
	SourceFinalizer                       // objects awaiting finalization
	SourceRuntime                         // objects of the runtime itself
	SourceThread                          // a thread, under SourceStacks or SourceThreadStatics
	SourceFrame                           // a frame of a thread
	SourceField                           // a static field, or a thread's value of one
)

var sourceNames = [...]string{"root", "stacks", "handles", "statics", "thread statics", "finalizer queue", "runtime", "thread",
	"frame", "static field"}

// String returns the kind in words.
func (k SourceKind) String() string { return enum.Name(sourceNames[:], k, "SourceKind") }

// Values of Source.Parent that are not the index of another Source.
const (
	UnderRoot = -1 // the root of the graph
	// InTable is the parent of a static field that is kept alive by the object that contains its slot. An example
	// is a field of a collectible type, in the LoaderAllocator's table.
	InTable = -2
)

// A Source is a node that is not an object: something that keeps objects alive, or a group of these. Each frame and
// each static field has a node. All handles of a type share a node, and each handle is the slot of an edge.
type Source struct {
	Kind   SourceKind
	Parent int // index of an earlier Source, or UnderRoot or InTable
	// Name is the Source's name, if known in advance. Otherwise Names.Source derives it from the following fields.
	Name   string
	Handle heap.HandleType   // for SourceHandles
	Thread *stackwalk.Thread // for SourceThread, SourceFrame, and a thread's SourceField
	Frame  *RootFrame        // for SourceFrame
	Static *RootStatic       // for SourceField
	// Slot is the place of a SourceField's value. If it is in an object[] of the runtime, the edge of that object
	// belongs to the field.
	Slot target.Addr
}

// A RootEdge is a reference to an object from outside of the heap.
type RootEdge struct {
	Source int         // index of the Source with the reference
	Object target.Addr // start of an object
	Slot   target.Addr // place of the reference: the handle, a word of the stack; 0 for a register
	Ref    uint32      // 1 + the index of the root in Roots.Kept, or 0
}

// Roots are what keeps objects alive from outside of the heap.
type Roots struct {
	Sources    []Source // each after its parent
	Edges      []RootEdge
	Dependents []Dependent
	Kept       []Root  // roots that need more detail than an edge has: roots of stacks
	Errors     []error // unreadable parts, which may have more roots
}

// Add adds a Source and returns its index.
func (r *Roots) Add(s Source) int {
	r.Sources = append(r.Sources, s)
	return len(r.Sources) - 1
}

// check returns an error if Build can't make nodes of the roots.
func (r *Roots) check() error {
	for i := range r.Sources {
		if p := r.Sources[i].Parent; p < InTable || p >= i {
			return target.Argumentf("source %d of the graph has the parent %d", i, p)
		}
	}
	for i := range r.Edges {
		if s := r.Edges[i].Source; s < 0 || s >= len(r.Sources) {
			return target.Argumentf("root %d of the graph is of source %d", i, s)
		}
	}
	return nil
}
