package roots

import (
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image/codeinfo"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A Kind is the kind of place of a root.
type Kind uint8

// The kinds, in the order of All.
const (
	KindHandle        Kind = iota // a GC handle
	KindFinalizer                 // the finalizer queue: the finalizer has yet to run
	KindStack                     // a frame, or a register, of a thread
	KindThreadStatics             // the table of a thread's thread statics
)

var kindNames = [...]string{"handle", "finalizer", "stack", "thread statics"}

// String returns the kind in words.
func (k Kind) String() string { return enum.Name(kindNames[:], k, "Kind") }

// A Root refers to an object. Most keep it alive: see Strong.
type Root struct {
	Kind   Kind
	Object target.Addr // the start of the object that the root refers to, or into; never null
	// Address is the place of the reference: the handle, the slot of the finalizer queue, the word of a stack, the
	// field of the thread's data; 0 for a register.
	Address target.Addr
	// Value is the stored address. It differs from Object if the root is Interior or points past the object's start.
	Value target.Addr

	Interior bool // may point into an object
	Pinned   bool // the object can't be moved
	// Conservative reports that nothing proves the word to be a reference, but the collector would have to treat it as
	// one. It is Interior and Pinned too.
	Conservative bool

	// Handle is the type of a KindHandle, Extra its second word and Table its table (heap.Handle).
	Handle heap.HandleType
	Extra  uint64
	Table  int

	// Critical is for a KindFinalizer: the finalizer is one of those that run last (CriticalFinalizerObject).
	Critical bool

	Thread *threads.Thread // the thread of KindStack and KindThreadStatics, nil for others
	// Frame is the frame of a KindStack, which its roots share. Slot is the place in it if Frame.Explicit is empty.
	Frame *Frame
	Slot  codeinfo.Slot
}

// Strong reports whether the root keeps its object alive by itself. All do except weak and dependent handles.
func (r *Root) Strong() bool { return r.Kind != KindHandle || r.Handle.Strong() }

// A Frame is the frame that holds a root.
type Frame struct {
	// Index is the frame's place in the stack, as in stackwalk.Walker.Walk: 0 is the leaf, and -1 is outside of frames.
	Index  int
	IP, SP target.Addr
	Method *code.MethodDesc // nil if unknown or none
	// Explicit is the class of an explicit frame, or of the structure with which the runtime's own code protects
	// references ("GCFrame"); empty for an activation.
	Explicit string
}

// A Dependent is a dependent handle, the entry of a ConditionalWeakTable. Secondary is alive as long as Primary is.
type Dependent struct {
	Handle             target.Addr
	Primary, Secondary target.Addr // not null
}
