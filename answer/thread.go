package answer

import (
	"slices"

	"iter"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// ThreadStates names the bits of a managed thread's state.
type ThreadStates struct {
	States []string `json:"states" doc:"what the bits say, from the lowest on"`
}

// A Thread identifies a thread by all of its numbers.
type Thread struct {
	Index     *int        `json:"index,omitempty" doc:"number among the threads of the OS; none for a thread that is dead or has not started"`
	OSID      uint32      `json:"osId,omitempty" doc:"OS thread id"`
	ManagedID uint32      `json:"managedId,omitempty" doc:"managed thread id"`
	Name      string      `json:"name,omitempty" doc:"name of the thread"`
	Finalizer bool        `json:"finalizer,omitempty" doc:"it is the runtime's finalizer thread"`
	Thread    target.Addr `json:"thread,omitempty" doc:"the runtime's Thread"`
}

// OSThreads lists the threads of the operating system.
type OSThreads struct {
	Gaps
	Threads []OSThread `json:"threads"`
}

// An OSThread is a thread of the operating system.
type OSThread struct {
	Thread
	Current bool               `json:"current,omitempty" doc:"the current thread"`
	IP      Maybe[target.Addr] `json:"ip,omitzero" doc:"instruction pointer"`
	SP      Maybe[target.Addr] `json:"sp,omitzero" doc:"stack pointer"`
	FP      Maybe[target.Addr] `json:"fp,omitzero" doc:"frame pointer"`
	TEB     target.Addr        `json:"teb,omitempty" doc:"thread environment block (Windows)"`
	Signal  int                `json:"signal,omitempty" doc:"signal that the thread took (Linux)"`
	User    Maybe[Seconds]     `json:"userTime,omitzero" doc:"processor time of its own code, in seconds"`
	Kernel  Maybe[Seconds]     `json:"kernelTime,omitzero" doc:"processor time of the system for it, in seconds"`
	NoTimes string             `json:"noTimes,omitempty" doc:"why it has no processor times, in a dump that has those of others"`
	Crashed string             `json:"crashed,omitempty" doc:"of the thread that the process died of: its signal or exception code"`
}

// Registers lists the registers of a thread, starting with the processor's CONTEXT, in its order.
type Registers struct {
	Gaps
	Source    string          `json:"source" doc:"exception (of the moment when the thread raised it) or thread (of the moment of the dump)"`
	Registers []Register      `json:"registers"`
	Float     *FloatRegisters `json:"float,omitempty" doc:"with -verbose: the floating-point and vector registers of x64"`
	Vectors   []WideRegister  `json:"vectors,omitempty" doc:"with -verbose: the vector registers of another processor, of 128 bits"`
	// Others reports that the thread also has the registers of the moment of the dump.
	Others bool `json:"-"`
}

// Only returns an answer with only the named register (case-insensitive), or nil if there is no such register.
func (r *Registers) Only(name string) *Registers {
	if r == nil {
		return nil
	}
	for _, reg := range r.Registers {
		if strings.EqualFold(reg.Name, name) {
			return &Registers{Gaps: r.Gaps, Registers: []Register{reg}}
		}
	}
	return nil
}

// The values of Registers.Source.
const (
	RegistersThread    = "thread"
	RegistersException = "exception"
)

// A Register is one register with its value.
type Register struct {
	Name  string     `json:"name" doc:"name of the register"`
	Value Maybe[Hex] `json:"value,omitzero" doc:"its value; absent if the dump lacks it"`
	// Size is the number of bytes that are shown.
	Size int `json:"-"`
	// InContext reports whether the register is part of the processor's CONTEXT.
	InContext bool `json:"-"`
}

// FloatRegisters holds the registers of an FXSAVE area.
type FloatRegisters struct {
	MXCSR Hex            `json:"mxcsr" doc:"control and status of the vector unit"`
	ST    []WideRegister `json:"st" doc:"the x87 registers, of 80 bits"`
	XMM   []WideRegister `json:"xmm" doc:"the vector registers, of 128 bits"`
}

// A WideRegister is a register of more than 64 bits.
type WideRegister struct {
	Name string `json:"name" doc:"name of the register"`
	High Hex    `json:"high" doc:"the bits above the lower 64"`
	Low  Hex    `json:"low" doc:"the lower 64 bits"`
}

// ManagedThreads lists the threads that a runtime knows, in its order.
type ManagedThreads struct {
	Gaps
	Counts  Maybe[ThreadCounts] `json:"counts" doc:"null where the runtime does not count"`
	Threads []ManagedThread     `json:"threads"`
	Special *SpecialThreads     `json:"special,omitempty" doc:"with -special: the runtime's own threads"`
}

// ThreadCounts holds the runtime's own counters.
type ThreadCounts struct {
	Threads    uint32 `json:"threads" doc:"managed threads"`
	Unstarted  uint32 `json:"unstarted" doc:"that have not started"`
	Background uint32 `json:"background" doc:"that do not keep the process alive"`
	Pending    uint32 `json:"pending" doc:"that are being created"`
	Dead       uint32 `json:"dead" doc:"that ended"`
}

// A ManagedThread is a thread that a runtime knows.
type ManagedThread struct {
	Thread
	State        Maybe[Hex]         `json:"state" doc:"the runtime's thread state bits, see threadstate"`
	GCMode       Text               `json:"gcMode" doc:"\"Preemptive\" or \"Cooperative\""`
	AllocPointer Maybe[target.Addr] `json:"allocPointer" doc:"where the thread allocates next"`
	AllocLimit   Maybe[target.Addr] `json:"allocLimit" doc:"end of its allocation context"`
	Domain       Maybe[target.Addr] `json:"domain" doc:"AppDomain"`
	LockCount    *uint32            `json:"lockCount,omitempty" doc:"locks held; absent where the runtime does not count"`
	Apartment    Text               `json:"apartment" doc:"COM apartment: \"STA\", \"MTA\", \"NTA\" or \"Ukn\""`
	Special      []string           `json:"special,omitempty" doc:"what the thread is for: \"Finalizer\", \"GC\", \"Threadpool Worker\", \"Threadpool Completion Port\""`
	Exception    *ThrownObject      `json:"exception,omitempty" doc:"the exception that the thread threw last"`
	Nested       bool               `json:"nestedExceptions,omitempty" doc:"other exceptions were being handled when it was thrown"`
	StackLow     *target.Addr       `json:"stackLow,omitempty" doc:"lowest address of the stack"`
	StackHigh    *target.Addr       `json:"stackHigh,omitempty" doc:"end of the stack"`
	Activity     *ThreadActivity    `json:"activity,omitempty" doc:"with -stacks: what the thread does"`
	User         Maybe[Seconds]     `json:"userTime,omitzero" doc:"processor time of its own code, in seconds"`
	Kernel       Maybe[Seconds]     `json:"kernelTime,omitzero" doc:"processor time of the system for it, in seconds"`
	NoTimes      string             `json:"noTimes,omitempty" doc:"why it has no processor times, in a dump that has those of others"`

	// ExceptionError is why the thread's exception is unknown.
	ExceptionError error `json:"-"`
}

// A ThrownObject is an exception that a thread threw.
type ThrownObject struct {
	Address target.Addr `json:"address,omitempty" doc:"the exception object"`
	Type    Text        `json:"type,omitzero" doc:"its type"`
}

// An ActivityKind is the kind of a ThreadActivity.
type ActivityKind string

// The kinds of activities.
const (
	ActivityUnknown    ActivityKind = "unknown"
	ActivityRunning    ActivityKind = "running"    // runs managed code
	ActivityNative     ActivityKind = "native"     // runs native code
	ActivityRuntime    ActivityKind = "runtime"    // runs code of the runtime
	ActivityCollecting ActivityKind = "collecting" // collects garbage
	ActivitySuspended  ActivityKind = "suspended"  // stopped by the runtime, mostly for a collection
	ActivityIdle       ActivityKind = "idle"       // waits for work: the runtime's own threads and pool workers
	ActivitySleep      ActivityKind = "sleep"      // waits for time to pass
	ActivityLock       ActivityKind = "lock"
	ActivityMonitor    ActivityKind = "monitor" // waits for a pulse (Monitor.Wait)
	ActivityEvent      ActivityKind = "event"   // waits for an event, a semaphore or a barrier
	ActivityTask       ActivityKind = "task"
	ActivityJoin       ActivityKind = "join" // waits for another thread to end
	ActivityStaticInit ActivityKind = "static constructor"
	ActivitySocket     ActivityKind = "socket"
	ActivityFile       ActivityKind = "file" // waits for files, pipes or changes of the file system
	ActivityConsole    ActivityKind = "console"
	ActivityProcess    ActivityKind = "process" // waits for another process to end
	ActivityQueue      ActivityKind = "queue"   // waits for items of a queue
	ActivityExit       ActivityKind = "exit"    // ends the process at its own request
)

// A ThreadActivity is what a thread does or waits for.
type ThreadActivity struct {
	Kind   ActivityKind `json:"kind" doc:"a word for the kind, such as \"running\", \"lock\", \"sleep\", \"idle\""`
	Text   string       `json:"text" doc:"what the thread does or waits for, concluded from the names of the methods on its stack"`
	Top    Text         `json:"topFrame,omitzero" doc:"the topmost managed method"`
	Caller Text         `json:"callerFrame,omitzero" doc:"the topmost method that is not the framework's"`
}

// waiting are the kinds of activities in which a thread waits for what another thread or operation does.
var waiting = []ActivityKind{ActivityLock, ActivityMonitor, ActivityEvent, ActivityTask, ActivityJoin, ActivityStaticInit, ActivityQueue}

// Waits reports whether the thread waits for what another thread or operation does. A thread that waits for input or output does not.
func (a *ThreadActivity) Waits() bool { return slices.Contains(waiting, a.Kind) }

// SpecialThreads lists the runtime's own threads.
type SpecialThreads struct {
	Named   bool            `json:"named" doc:"whether the system has thread names; else there is no list"`
	Threads []SpecialThread `json:"threads,omitempty"`
}

// A SpecialThread is a thread created by the runtime.
type SpecialThread struct {
	Index int    `json:"index" doc:"number among the threads of the OS"`
	OSID  uint32 `json:"osId" doc:"OS thread id"`
	Kind  string `json:"kind" doc:"what it is for"`
}

// SyncBlocks lists the entries of a runtime's table of sync blocks.
type SyncBlocks struct {
	Gaps
	// Blocks yields the index of an unreadable entry beside the error.
	Blocks iter.Seq2[SyncBlock, error] `json:"blocks"`
	// Total and Free count the entries of the table, including those not listed. They are known once Blocks are read.
	Total Maybe[int] `json:"total,omitzero" doc:"entries of the table"`
	Free  Maybe[int] `json:"free,omitzero" doc:"those of them that are of no object"`
}

// A SyncBlock is the state of a lock that a thread has waited for.
type SyncBlock struct {
	Index       uint32      `json:"index" doc:"index of the sync block"`
	Address     target.Addr `json:"address" doc:"the SyncBlock"`
	MonitorHeld uint32      `json:"monitorHeld" doc:"1 for the owner and 2 for each waiting thread"`
	Waiters     uint32      `json:"waiters" doc:"threads that wait"`
	Recursion   uint32      `json:"recursion" doc:"times that the owner entered"`
	Thread      target.Addr `json:"thread,omitempty" doc:"Thread that holds the lock"`
	OSID        uint32      `json:"osId,omitempty" doc:"its OS thread id"`
	Object      target.Addr `json:"object" doc:"the object that is locked; 0 for a free entry"`
	Type        Text        `json:"type,omitzero" doc:"its type"`

	Held       bool        `json:"-"` // the lock has an owner
	Recorded   target.Addr `json:"-"` // the owner recorded in the block, even if that Thread has ended
	OwnerIndex *int        `json:"-"` // the owner's number among the threads of the OS
}
