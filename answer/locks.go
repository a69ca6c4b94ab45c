package answer

import (
	"cmp"

	"github.com/sosgo/sosgo/target"
)

// Locks lists the locks of a process and other things that threads wait for.
type Locks struct {
	Gaps
	Locks []Lock `json:"locks" doc:"monitors first, then the others by address"`
	Free  int    `json:"free" doc:"how many others were found that nobody holds and nobody waits for; with -all they are listed too"`

	// Lost is why locks may be missing; nil if the list is complete.
	Lost error `json:"-"`
}

// Lose records why locks may be missing. Nil is ignored.
func (l *Locks) Lose(err error) {
	l.Note(err)
	if l.Lost == nil {
		l.Lost = err
	}
}

// A WaitKind is the kind of thing that threads and suspended code wait for: one of the constants below, or the name of
// another class.
type WaitKind string

// The kinds of locks.
const (
	LockMonitor      WaitKind = "monitor"
	LockThin         WaitKind = "thin monitor"
	LockLock         WaitKind = "Lock"
	LockSemaphore    WaitKind = "SemaphoreSlim"
	LockReaderWriter WaitKind = "ReaderWriterLockSlim"
	LockEvent        WaitKind = "ManualResetEventSlim"
	LockLazy         WaitKind = "Lazy"
	LockSpin         WaitKind = "SpinLock"
	LockCountdown    WaitKind = "CountdownEvent"
	LockBarrier      WaitKind = "Barrier"
	LockConstructor  WaitKind = "static constructor" // a running one: other threads wait until it ends
)

// A Lock is something that threads wait for.
type Lock struct {
	Address   target.Addr   `json:"address" doc:"the object; of a monitor the object that is locked, of a static constructor the MethodTable"`
	Name      string        `json:"name,omitempty" doc:"the field that holds the object; absent if there is none"`
	Kind      WaitKind      `json:"kind" doc:"monitor (with a sync block), thin monitor (in the object's header), static constructor (that runs), or the class"`
	Type      Text          `json:"type" doc:"type of the object; of a static constructor its class"`
	Held      bool          `json:"held" doc:"somebody holds it"`
	OwnerID   uint32        `json:"ownerId,omitempty" doc:"the id by which the lock knows the thread that holds it: of a Lock before .NET 11 that of the OS, of others the managed one"`
	Owner     *Thread       `json:"owner,omitempty" doc:"that thread; absent if it is gone"`
	Readers   []Thread      `json:"readers,omitempty" doc:"of a ReaderWriterLockSlim: the threads that hold it as readers, as far as they are known"`
	Recursion uint32        `json:"recursion,omitempty" doc:"times that the owner entered again"`
	State     string        `json:"state,omitempty" doc:"of what is no lock: its counts in words"`
	Counts    Statement     `json:"counts,omitzero" doc:"state with its arguments"`
	Waiters   Maybe[int64]  `json:"waiters,omitzero" doc:"threads that wait, by its own count"`
	Age       Maybe[int64]  `json:"ageMs,omitzero" doc:"of a monitor or a Lock that threads wait for: for how long none of them has got it, at least; absent where nothing notes it" text:"for at least %"`
	Waiting   []LockWaiter  `json:"waiting,omitempty" doc:"the threads that were found to wait"`
	Async     []AsyncWaiter `json:"asyncWaiters,omitempty" doc:"tasks of WaitAsync that wait, the next one first"`
}

// An AsyncWaiter is a waiting task of SemaphoreSlim.WaitAsync.
type AsyncWaiter struct {
	Task target.Addr `json:"task" doc:"the task"`
	// Stack lists the async methods that continue when the task completes.
	Stack []string `json:"stack,omitempty" doc:"who goes on when it completes, the innermost async method first; absent where nobody does, or that is not known"`
	// Blocked reports that a thread is blocked until the task completes. SemaphoreSlim.Wait does this while others
	// wait asynchronously.
	Blocked bool `json:"blocked,omitempty" doc:"a thread blocks until it completes"`
	// Abandoned reports that nothing continues when the task completes. The program may have kept the task, to await it later.
	Abandoned bool `json:"abandoned,omitempty" doc:"no code awaits it: a permit that it gets is lost unless the program has kept the task"`
}

// The ways in which it is known what a thread waits for.
const (
	HowRecorded = "recorded" // the runtime records it while the thread waits
	HowInferred = "inferred" // from objects that the waiting frames refer to
)

// A LockWaiter is a thread that waits.
type LockWaiter struct {
	Thread  Thread `json:"thread" doc:"the thread"`
	Pulse   bool   `json:"pulse,omitempty" doc:"it has released the monitor and waits for a pulse (Monitor.Wait)"`
	Timeout *int32 `json:"timeoutMs,omitempty" doc:"how long it waits at most; absent for ever"`
	How     string `json:"how" doc:"recorded (the runtime notes it), inferred (from the frames that wait)"`
}

// Waits describes what the threads and suspended async methods of a process wait for, and the resulting chains.
type Waits struct {
	Gaps
	Verdicts   []Verdict       `json:"verdicts" doc:"circles, and chains of waits, each in a sentence; deadlocks first, the strongest first"`
	Threads    []ThreadWait    `json:"threads" doc:"the threads that wait for something that is known"`
	Operations []OperationWait `json:"operations,omitempty" doc:"the suspended async methods that wait, equal ones counted, the most first"`
	Idle       []IdleWaits     `json:"idle,omitempty" doc:"suspended methods and threads whose wait is normal, by reason"`

	// Lost is why waits may be missing; nil if all were read.
	Lost error `json:"-"`
	// Looked counts the threads with a readable stack.
	Looked int `json:"-"`
}

// A ThreadWait is a thread and what it waits for.
type ThreadWait struct {
	Thread Thread `json:"thread" doc:"the thread"`
	Statement
	Kind   WaitKind    `json:"kind" doc:"what it waits for: a kind of lock, task, static constructor, thread, finalizer (the finalizer thread), wait handle, connection (to a server: to be free or opened), server (its answer), process (the end or the output of a child), stream (data of a named pipe, or room in it)"`
	Object target.Addr `json:"object,omitempty" doc:"the lock, the task, the Thread, the WaitHandle, the Process, the stream, or the MethodTable of the class"`
	Type   Text        `json:"type,omitzero" doc:"its type"`
	Note   string      `json:"note,omitempty" doc:"why the owner of a Mutex is not known, or the counts of a CountdownEvent or Barrier"`
	Name   string      `json:"name,omitempty" doc:"the field that holds the object, if one was found"`
	Owner  *Thread     `json:"owner,omitempty" doc:"the thread that it waits for: the owner of the lock or its first reader, who runs the task or the constructor, whose end is waited for"`
	How    string      `json:"how" doc:"recorded (the runtime notes it), inferred (from the frames that wait)"`
	Method Text        `json:"method,omitzero" doc:"method of the program that waits"`
	File   string      `json:"file,omitempty" doc:"source file of that call"`
	Line   int         `json:"line,omitempty" doc:"line in it"`
	Chain  []string    `json:"chain,omitempty" doc:"of a task: the async methods from the one that it is to the one that waits"`
	Ends   string      `json:"ends,omitempty" doc:"how the wait can end by itself: after a time, by a cancellation, by any of several tasks; absent if nothing says that it can"`
	Soon   bool        `json:"soon,omitempty" doc:"it gets the lock in a moment: nobody holds it, or its holders are about to release it"`
	Until  string      `json:"until,omitempty" doc:"of a task: what that one waits for"`
}

// The kinds of waits for what is no lock.
const (
	WaitChannel   WaitKind = "channel"
	WaitBlock     WaitKind = "dataflow block" // room in a block of System.Threading.Tasks.Dataflow
	WaitLimiter   WaitKind = "rate limiter"
	WaitPromise   WaitKind = "promise" // a TaskCompletionSource
	WaitStream    WaitKind = "stream"  // a socket or a pipe
	WaitTimer     WaitKind = "timer"
	WaitPool      WaitKind = "thread pool"
	WaitTask      WaitKind = "task"
	WaitThread    WaitKind = "thread"    // for its end
	WaitFinalizer WaitKind = "finalizer" // the finalizer thread
	WaitCallback  WaitKind = "callback"  // the end of a callback, such as of a timer or a cancellation token
	WaitHandle    WaitKind = "wait handle"
	WaitOther     WaitKind = "other"

	WaitConnection WaitKind = "connection" // to a server: a free or newly opened one
	WaitServer     WaitKind = "server"     // a server's answer
	WaitProcess    WaitKind = "process"    // the end or the output of a child process
)

// An OperationWait is suspended async code that waits at one place for one thing. Equal ones are counted together.
type OperationWait struct {
	Count   int         `json:"count" doc:"how many wait alike"`
	Method  Text        `json:"method" doc:"the innermost async method of the program, or of a library if the program has none there"`
	File    string      `json:"file,omitempty" doc:"source file of the await"`
	Line    int         `json:"line,omitempty" doc:"line in it"`
	From    string      `json:"from,omitempty" doc:"the outermost async method that awaits it, if it is another"`
	Request string      `json:"request,omitempty" doc:"the HTTP request that it serves, by its method and route, where the chain of awaits leads to it"`
	Kind    WaitKind    `json:"kind" doc:"what it waits for: a kind of lock, channel, rate limiter, promise (TaskCompletionSource), connection (to a server: to be free or opened), server (its answer), process (the end or the output of a child), stream, timer, thread pool, task, other"`
	Object  target.Addr `json:"object,omitempty" doc:"the object that it waits for; of several promises what holds them"`
	Type    Text        `json:"type,omitzero" doc:"its type"`
	Name    string      `json:"name,omitempty" doc:"the field that holds the object, if one was found: behind its class for a static field, behind the type or the static field of its object for another"`
	Class   string      `json:"class,omitempty" doc:"the class with the field of name"`
	State   string      `json:"state,omitempty" doc:"counts of the object, in words"`
	Counts  Statement   `json:"counts,omitzero" doc:"state with its arguments"`
	Statement
	Holders []OperationHolder `json:"holders,omitempty" doc:"who has to go on first, as far as that is known"`
	First   []target.Addr     `json:"first" doc:"tasks or boxes of the first of them"`
}

// Caller returns the request that the operations serve, or the outermost method that awaits them.
func (w *OperationWait) Caller() string { return cmp.Or(w.Request, w.From) }

// An OperationHolder is a suspended async method that holds, or may hold, what others wait for, or that completes the promise that they wait for.
type OperationHolder struct {
	Object   target.Addr `json:"object,omitzero" doc:"its task or box; absent for a thread"`
	Thread   *Thread     `json:"thread,omitempty" doc:"the thread, if it is no suspended method"`
	Method   Text        `json:"method" doc:"the method"`
	File     string      `json:"file,omitempty" doc:"source file of the await or call at which it stands"`
	Line     int         `json:"line,omitempty" doc:"line in it"`
	Strength Strength    `json:"strength" doc:"likely (it is past its own wait for the object, or completes the promise behind its present await), possible (a release of the object lies between, or its code is not in the dump)"`
	Waits    string      `json:"waits,omitempty" doc:"what it waits for itself, in words"`
	Thing    Statement   `json:"thing,omitzero" doc:"waits with its arguments"`
}

// IdleWaits counts waits that are normal.
type IdleWaits struct {
	Count  int         `json:"count" doc:"how many there are"`
	Reason string      `json:"reason" doc:"why it is normal"`
	Method Text        `json:"method,omitzero" doc:"method of the first of them"`
	First  target.Addr `json:"first,omitempty" doc:"task or box of the first of them"`
}
