package graph

import (
	"fmt"

	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A SourceKind says what a node is that is no object.
type SourceKind uint8

// The kinds. Those up to SourceRuntime group others, and hang on the root of the
// graph. RootsOf makes no SourceRuntime: what the runtime holds for itself (exceptions for when no memory is left, the
// objects of threads and of LoaderAllocators) it holds by handles, of which roots.Reader.Holder says so.
const (
	SourceRoot          SourceKind = iota // the root of the graph, on which everything hangs that lives
	SourceStacks                          // of all threads
	SourceHandles                         // of one type: strong, pinned …
	SourceStatics                         // static fields
	SourceThreadStatics                   // those of all threads
	SourceFinalizer                       // the objects whose finalizers have yet to run
	SourceRuntime                         // what the runtime itself holds
	SourceThread                          // a thread, under SourceStacks or SourceThreadStatics
	SourceFrame                           // a frame of a thread
	SourceField                           // a static field, or a thread's value of one
)

var sourceNames = [...]string{"root", "stacks", "handles", "statics", "thread statics", "finalizer queue", "runtime", "thread",
	"frame", "static field"}

// String is the kind in words.
func (k SourceKind) String() string {
	if int(k) < len(sourceNames) {
		return sourceNames[k]
	}
	return fmt.Sprintf("SourceKind(%d)", uint8(k))
}

// What the Parent of a Source can be beside the index of another one.
const (
	UnderRoot = -1 // it hangs on the root of the graph
	// InTable is the parent of a static field that is kept by the object that its
	// slot is in, as those of collectible types are: by the LoaderAllocator's table.
	InTable = -2
)

// A Source is a node that is no object: something that keeps objects alive, or a
// group of such. One node stands for each frame and each static field. All handles
// of a type share one: a million of nodes with one edge each would tell no more
// than the edges of one node, each of which has its slot, the handle.
type Source struct {
	Kind   SourceKind
	Parent int // index of another Source before it, or UnderRoot or InTable
	// Name is what to call it, if that is known beforehand. Names.Source tells it of what follows.
	Name   string
	Handle heap.HandleType // of SourceHandles
	Thread *threads.Thread // of SourceThread, SourceFrame, and of the SourceField of a thread
	Frame  *roots.Frame    // of SourceFrame
	Static *roots.Static   // of SourceField
	// Slot is where the value of a SourceField is. Where that is in an object, an
	// object[] of the runtime's, the edge from that object is the field's.
	Slot target.Addr
}

// A RootEdge is a reference to an object from outside of the heap.
type RootEdge struct {
	Source int         // index of the Source that holds it
	Object target.Addr // the start of an object
	Slot   target.Addr // where it is: the handle, a word of the stack; 0 for a register
	Ref    uint32      // 1 + the index of the root in Roots.Kept, 0 for none
}

// A Dependent is a dependent handle: Secondary is kept alive as long as Primary is.
type Dependent struct {
	Handle             target.Addr
	Primary, Secondary target.Addr
}

// Roots are what keeps objects alive from outside of the heap.
type Roots struct {
	Sources    []Source // each behind its parent
	Edges      []RootEdge
	Dependents []Dependent
	// Kept are roots of which their edges don't tell all: those of stacks.
	Kept []roots.Root
	// Errors say what could not be read: there may be more roots.
	Errors []error
}

// Add adds a Source and returns its index.
func (r *Roots) Add(s Source) int {
	r.Sources = append(r.Sources, s)
	return len(r.Sources) - 1
}

// check refuses what Build can't make nodes of.
func (r *Roots) check() error {
	for i := range r.Sources {
		if p := r.Sources[i].Parent; p < InTable || p >= i {
			return fmt.Errorf("source %d of the graph has the parent %d", i, p)
		}
	}
	for i := range r.Edges {
		if s := r.Edges[i].Source; s < 0 || s >= len(r.Sources) {
			return fmt.Errorf("root %d of the graph is of source %d", i, s)
		}
	}
	return nil
}
