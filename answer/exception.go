package answer

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// An Exception is an exception object with its stack trace.
type Exception struct {
	Gaps
	Address    target.Addr  `json:"address,omitempty" doc:"the exception object; absent if a crash report has no address"`
	Type       Text         `json:"type" doc:"its type"`
	Message    *Text        `json:"message,omitempty" doc:"its message; absent if it has none of its own"`
	Inner      target.Addr  `json:"inner,omitempty" doc:"the exception that caused it"`
	InnerType  Text         `json:"innerType,omitzero" doc:"its type"`
	HResult    Hex          `json:"hresult,omitempty" doc:"HRESULT; absent if a crash report has none"`
	Frames     []TraceFrame `json:"frames,omitempty" doc:"stack trace, the innermost frame first"`
	StackTrace *Text        `json:"stackTraceString,omitempty" doc:"stack trace as text, if managed code asked for it"`

	MethodTable target.Addr `json:"-"`
	Definition  *Definition `json:"-"` // of Type, if it can't be read
	TraceError  error       `json:"-"` // why frames are missing, outwards from the last
	// Fault reports SOS's guess that the processor raised the exception. It is often wrong.
	Fault bool `json:"-"`
}

// A TraceFrame is a frame of an exception's stack trace.
type TraceFrame struct {
	SP       target.Addr `json:"sp,omitempty" doc:"stack pointer; absent where the program does not keep it"`
	IP       target.Addr `json:"ip" doc:"instruction pointer, inside the call"`
	Function Text        `json:"function" doc:"module and method"`
	Offset   *uint64     `json:"offset,omitempty" doc:"of the instruction in the method's code"`
	File     string      `json:"file,omitempty" doc:"source file"`
	Line     int         `json:"line,omitempty" doc:"line in it"`
	Foreign  bool        `json:"foreign,omitempty" doc:"the last frame before the exception was thrown again elsewhere"`

	Method     Text        `json:"-"` // Function without the module
	Definition *Definition `json:"-"` // of the method, if its name can't be read
}

// A Definition is a row in the metadata of a module's build. It replaces a name that is unreadable, because the row
// means the same in all dumps of that build.
type Definition struct {
	Module string // file name
	Build  string
	Token  uint32 // metadata token of a TypeDef or MethodDef
}

func (d *Definition) String() string {
	return fmt.Sprintf("%s (%s) %08x", d.Module, d.Build, d.Token)
}

// A ThrownException is an exception with those that its thread was handling when it was thrown.
type ThrownException struct {
	Gaps
	// Exception is nil if the thread threw none; Others and Ended are then set.
	Exception *Exception `json:",inline"`
	// Nested is nil if there are no nested exceptions or they were not requested. An unreadable one has its address
	// beside the error.
	Nested iter.Seq2[*Exception, error] `json:"nested,omitempty" doc:"with -nested: exceptions that were being handled when it was thrown"`
	// Others is set if the current thread has no exception, or one that the runtime set for a fatal error in place of another one.
	Others []CarriedException `json:"others,omitempty" doc:"if the current thread threw none: the exceptions of the other threads; if the runtime set its own for a fatal error: the thread's others"`
	// Ended is set if the current thread has no exception, or all were requested, and no thread's record names the
	// exception that ended the process.
	Ended *EndingException `json:"ended,omitempty" doc:"if no thread has the exception that ended the process: the one that did, as far as the heap and the stack show"`
	// All lists the exceptions of all threads, if requested.
	All iter.Seq2[*ThreadException, error] `json:"all,omitempty" doc:"with -all: the exceptions of all threads"`
	// HasNested reports whether there are nested exceptions.
	HasNested bool `json:"-"`
	// Unread is why it is not known whether the thread, or any thread with All, threw another one; nil if it is known.
	Unread error `json:"-"`
}

// An EndingException is the exception that ended the process, concluded from evidence other than the thread's record.
type EndingException struct {
	Thread Thread `json:"thread" doc:"the thread that threw it"`
	Exception
	Strength Strength    `json:"strength" doc:"how sure it is"`
	Evidence []string    `json:"evidence" doc:"what it is concluded from"`
	Facts    []Statement `json:"facts" doc:"evidence with its arguments, in the same order"`
}

// A ThreadException is a thread's exception with its stack trace.
type ThreadException struct {
	Carried CarriedException `json:"carried" doc:"the thread, and how it has it"`
	Exception
}

// A ThreadAnalysis describes what a thread ran and what it threw last.
type ThreadAnalysis struct {
	Gaps
	OSID  uint32 `json:"osId" doc:"OS id of the thread"`
	Index *int   `json:"thread,omitempty" doc:"its number; absent if no thread of the operating system runs it"`
	// Frames are read while they are ranged over.
	Frames iter.Seq2[*Frame, error] `json:"frames" doc:"the managed frames, the innermost first"`
	Thrown target.Addr              `json:"exception,omitempty" doc:"the exception that it threw last; absent if it has none, or it can't be read, which a warning says then"`
	ExceptionTree
	Nested []NestedTree `json:"nested,omitempty" doc:"the exceptions that it was handling when it threw that one"`

	Unread error `json:"-"` // why Thrown is not known
}

// A NestedTree is an exception that a thread was handling when it threw another.
type NestedTree struct {
	Address target.Addr `json:"address" doc:"the exception object"`
	ExceptionTree
}
