package roots

import (
	"fmt"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image/codeinfo"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A Kind says where a root is.
type Kind uint8

// The kinds, in the order of All.
const (
	KindHandle        Kind = iota // a GC handle
	KindFinalizer                 // the finalizer queue: its finalizer has yet to run
	KindStack                     // a frame, or a register, of a thread
	KindThreadStatics             // the table of a thread's thread statics
)

var kindNames = [...]string{"handle", "finalizer", "stack", "thread statics"}

// String is the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Root keeps an object alive, or, as some handles, only knows it: see Strong.
type Root struct {
	Kind Kind
	// Object is the object that the root refers to, or into: the start of an
	// object of the heap, not null.
	Object target.Addr
	// Address is where the reference is: the handle, the slot of the finalizer
	// queue, the word of a stack, the member of the thread's data; 0 for a register.
	Address target.Addr
	// Value is what stands there: another address than Object if the root is
	// Interior, or points just behind the object's start.
	Value target.Addr

	Interior bool // it may point into an object
	Pinned   bool // the object can't be moved
	// Conservative: nobody says that the word is a reference; the collector would
	// have to take it for one. It is Interior and Pinned as well.
	Conservative bool

	// Handle is the type of a KindHandle, Extra its second word and Table the table that it is in (heap.Handle).
	Handle heap.HandleType
	Extra  uint64
	Table  int

	// Critical is of a KindFinalizer: the finalizer is one of those that run last
	// (CriticalFinalizerObject).
	Critical bool

	// Thread is the thread of KindStack and KindThreadStatics, nil for others.
	Thread *threads.Thread
	// Frame is the frame of a KindStack, shared by its roots; Slot where in it the
	// reference is, if Frame.Explicit is empty.
	Frame *Frame
	Slot  codeinfo.Slot
}

// Strong reports whether the root keeps its object alive by itself: all do but
// weak and dependent handles.
func (r *Root) Strong() bool { return r.Kind != KindHandle || r.Handle.Strong() }

// A Frame is the frame that holds a root.
type Frame struct {
	// Index is the frame's place in the stack: that of stackwalk.Walker.Walk,
	// which counts from 0, the leaf; -1 for what stands beside the frames.
	Index  int
	IP, SP target.Addr
	Method *code.MethodDesc // nil if unknown or none
	// Explicit is the class of an explicit frame, or of what the runtime's own code
	// protects references with ("GCFrame"); empty for an activation.
	Explicit string
}

// A Dependent is a dependent handle, the entry of a ConditionalWeakTable: Secondary
// lives as long as Primary does.
type Dependent struct {
	Handle             target.Addr
	Primary, Secondary target.Addr // not null
}
