package graph

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A RootKind is the kind of place of a root. The roots are the ones of the collector's mark phase (gcenv.ee.cpp,
// GCScanRoots; gc.cpp, mark_phase).
//
// Static fields are not roots. Handles keep the object[]s with their values alive; KindThreadStatics or handles do so
// for thread statics. Static.Table is such an object[], so that a path can show the field instead. A sync block refers
// to its object weakly and is not a root. Objects of frozen segments are never collected.
//
// Roots of stacks are exact, as the compiler recorded them. Explicit frames hold references for the runtime's own code,
// and the arguments of calls that a stub has not passed on yet. If the GC info of a frame is unreadable, All yields an
// error, and the frame's words that look like references are roots with Conservative set. So are the words of all
// stacks if the process's environment makes its collector conservative.
//
// Two kinds of edges are in no object and are not roots. The pairs of Dependents count once their primary object is
// reached. heap.EdgeOptions adds the edges from objects of collectible types to their LoaderAllocators.
type RootKind uint8

// The kinds, in the order of All.
const (
	RootHandle        RootKind = iota // a handle that keeps its object alive; others with Options.Weak
	RootFinalizer                     // an entry of the finalizer queue with a finalizer to run
	RootStack                         // a frame, or a register, of a thread
	RootThreadStatics                 // the object[] of a thread's thread statics (.NET 9 and later)
)

var kindNames = [...]answer.RootKind{answer.RootHandle, answer.RootFinalizer, answer.RootStack, answer.RootThreadStatics}

// String returns the kind in words.
func (k RootKind) String() string { return enum.Name(kindNames[:], k, "Kind") }

// A Root is a reference to an object. Most roots keep it alive: see Strong.
type Root struct {
	Kind   RootKind
	Object target.Addr // start of the object that the root refers to, or into; never null
	// Address is the place of the reference: the handle, the slot of the finalizer queue, the word of a stack, the
	// field of the thread's data; 0 for a register.
	Address target.Addr
	// Value is the stored address. It differs from Object if the root is Interior or points past the object's start.
	Value target.Addr

	Interior bool // may point into an object
	Pinned   bool // the object can't be moved
	// Conservative is set if nothing proves that the word is a reference, but a collector would have to treat it as
	// one. It is Interior and Pinned too.
	Conservative bool

	// Handle is the type of a KindHandle, Extra its second word and Table its table (heap.Handle).
	Handle heap.HandleType
	Extra  uint64
	Table  int

	// Critical is set for a KindFinalizer with a finalizer that runs last (CriticalFinalizerObject).
	Critical bool

	Thread *stackwalk.Thread // thread of KindStack and KindThreadStatics, nil for others
	// Frame is the frame of a KindStack. Roots share it. Slot is the place in the frame if Frame.Explicit is empty.
	Frame *RootFrame
	Slot  dac.GCSlot
}

// Strong reports whether the root keeps its object alive by itself. All roots except weak and dependent handles do.
func (r *Root) Strong() bool { return r.Kind != RootHandle || r.Handle.Strong() }

// A RootFrame is the frame that holds a root.
type RootFrame struct {
	// Index is the frame's place in the stack, as in stackwalk.Walker.Walk: 0 is the leaf, -1 is outside of frames.
	Index  int
	IP, SP target.Addr
	Method *dac.MethodDesc // nil if unknown, or if the frame has no method
	// Explicit is the class of an explicit frame, or of the structure with which the runtime's own code protects
	// references ("GCFrame"). It is empty for an activation.
	Explicit string
}

// A Dependent is a dependent handle, the entry of a ConditionalWeakTable. Secondary is alive as long as Primary is.
type Dependent struct {
	Handle             target.Addr
	Primary, Secondary target.Addr // not null
}
