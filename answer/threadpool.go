package answer

import (
	"cmp"

	"github.com/sosgo/sosgo/target"
)

// A ThreadPool describes the thread pool of a runtime.
type ThreadPool struct {
	Gaps
	Kind         PoolKind           `json:"kind" doc:"portable (the class library's, .NET 6 and later), native (the runtime's own, before), windows (that of the system, .NET 8 and later), none (not used yet), unknown (not in the dump)"`
	CPU          Maybe[int64]       `json:"cpu,omitzero" doc:"percent of the processors in use, as the pool measured it last"`
	Total        Maybe[int64]       `json:"workers,omitzero" doc:"worker threads"`
	Running      Maybe[int64]       `json:"running,omitzero" doc:"workers that work, or look for work"`
	Goal         Maybe[int64]       `json:"goal,omitzero" doc:"workers that the pool wants to run"`
	Min          Maybe[int64]       `json:"min,omitzero" doc:"workers that it makes without waiting"`
	Max          Maybe[int64]       `json:"max,omitzero" doc:"workers at most"`
	Blocked      Maybe[int64]       `json:"blocked,omitzero" doc:"workers that reported to the pool that they block (in Task.Wait)"`
	Requested    Maybe[int64]       `json:"requested,omitzero" doc:"requests for a worker that nobody has taken up"`
	Dequeued     Maybe[int64]       `json:"lastDequeueMs,omitzero" doc:"when a worker last took an item, in milliseconds of the machine's clock"`
	Clock        Maybe[int64]       `json:"clockMs,omitzero" doc:"the newest time of that clock that the process noted: the dump is of then or later"`
	Ports        *CompletionPorts   `json:"ports,omitempty" doc:"threads of the runtime's completion ports (before .NET 7)"`
	Queued       Maybe[uint64]      `json:"queued,omitzero" doc:"items in all queues"`
	Workers      []PoolWorker       `json:"workerThreads,omitempty" doc:"the worker threads with what they do"`
	WaitThreads  []PoolWaitThread   `json:"waitThreads,omitempty" doc:"threads that wait for registered handles"`
	Verdicts     []Verdict          `json:"verdicts,omitempty" doc:"whether the pool keeps up, with the evidence"`
	HillClimbing []HillClimbingStep `json:"hillClimbing,omitempty" doc:"with -ti: why the pool changed the number of its workers, the oldest step first"`
	Queues       *WorkQueues        `json:"queues,omitempty" doc:"with -wi or -stat: what is queued"`
}

// A PoolKind is the implementation of a ThreadPool.
type PoolKind string

// The kinds of thread pools.
const (
	PoolPortable PoolKind = "portable"
	PoolNative   PoolKind = "native"
	PoolWindows  PoolKind = "windows"
	PoolNone     PoolKind = "none"
	PoolUnknown  PoolKind = "unknown"
)

// CompletionPorts describes the threads of the runtime's completion ports.
type CompletionPorts struct {
	Total   int64 `json:"total" doc:"threads"`
	Free    int64 `json:"free" doc:"that wait"`
	MaxFree int64 `json:"maxFree" doc:"that may wait"`
	Current int64 `json:"current" doc:"threads that may run now"`
	Min     int64 `json:"min" doc:"threads that are made without waiting"`
	Max     int64 `json:"max" doc:"threads at most"`
}

// A PoolWorker is a worker thread of a pool.
type PoolWorker struct {
	Thread   Thread         `json:"thread" doc:"the thread"`
	Activity ThreadActivity `json:"activity" doc:"what it does"`
	Waits    bool           `json:"waits" doc:"it waits for something, and not for work"`
	Idle     bool           `json:"idle" doc:"it waits for work"`
}

// A PoolWaitThread is a thread that waits for handles on behalf of RegisterWaitForSingleObject.
type PoolWaitThread struct {
	Address target.Addr  `json:"address" doc:"the PortableThreadPool.WaitThread"`
	Waits   Maybe[int64] `json:"waits,omitzero" doc:"handles that it waits for"`
}

// A HillClimbingStep is an entry of the pool's log of changes to its number of workers.
type HillClimbingStep struct {
	Ms         int64   `json:"ms" doc:"milliseconds of the machine's clock"`
	Transition string  `json:"transition" doc:"why"`
	Threads    int64   `json:"threads" doc:"workers that it wanted from then on"`
	Samples    int64   `json:"samples" doc:"measurements that this is concluded from"`
	Throughput float64 `json:"throughput" doc:"items a millisecond"`
}

// WorkQueues lists the queues of a pool.
type WorkQueues struct {
	Gaps
	Queues []WorkQueue `json:"queues" doc:"in the order in which a worker looks at them, the local ones last"`

	// Lost is why queues or items are missing; nil if the list is complete.
	Lost error `json:"-"`
}

// Lose records why queues or items are missing. Nil is ignored.
func (q *WorkQueues) Lose(err error) {
	q.Note(err)
	q.Lost = cmp.Or(q.Lost, err)
}

// A QueueKind is the kind of a WorkQueue.
type QueueKind string

// The kinds of queues.
const (
	QueueGlobal        QueueKind = "global"
	QueueHighPriority  QueueKind = "high priority"
	QueueLowPriority   QueueKind = "low priority"
	QueueTimeSensitive QueueKind = "time sensitive"
	QueueAssignable    QueueKind = "assignable"
	QueueLocal         QueueKind = "local"
)

// A WorkQueue is a queue of a pool.
type WorkQueue struct {
	Kind    QueueKind   `json:"kind" doc:"global, high priority, low priority, time sensitive (.NET 6), assignable (of a group of workers), local (of one worker)"`
	Number  int         `json:"number" doc:"number among those of its kind"`
	Address target.Addr `json:"address" doc:"the queue"`
	Owner   *Thread     `json:"owner,omitempty" doc:"of a local queue the worker whose it is"`
	Count   uint64      `json:"count" doc:"items"`
	Items   []WorkItem  `json:"items" doc:"the items, the next one first; of a local queue the one that its owner takes next is the last"`

	// OwnerErr is why the owner of a local queue is unknown, or nil.
	OwnerErr error `json:"-"`
}

// An ItemKind is the kind of a WorkItem.
type ItemKind string

// The kinds of items.
const (
	ItemTask     ItemKind = "task"
	ItemCallback ItemKind = "callback"
	ItemAsync    ItemKind = "async method"
	ItemTimer    ItemKind = "timer"
	ItemOther    ItemKind = "item"
)

// A WorkItem is an item of a queue.
type WorkItem struct {
	Address      target.Addr `json:"address" doc:"the item"`
	MethodTable  target.Addr `json:"methodTable,omitempty" doc:"MethodTable of its type"`
	Size         uint64      `json:"size,omitempty" doc:"bytes of it"`
	Type         Text        `json:"type" doc:"its type"`
	Kind         ItemKind    `json:"kind" doc:"task, callback (of QueueUserWorkItem), async method (the rest of one), timer (whose time has come), item (anything else)"`
	Method       Text        `json:"method,omitzero" doc:"what it will run: the method of a delegate, the async method"`
	Status       TaskStatus  `json:"status,omitempty" doc:"of a task: Task.Status"`
	State        Line        `json:"state,omitempty" doc:"what the method will get: a value, a string; of another object its simple fields"`
	StateObject  target.Addr `json:"stateObject,omitempty" doc:"the object that it will get"`
	StateType    Text        `json:"stateType,omitzero" doc:"its type"`
	Continuation Text        `json:"continuation,omitzero" doc:"of a task: what runs when it has completed"`

	// Slot is the item's place in the array that holds it.
	Slot int `json:"-"`
	// Plain reports that SOS looks into items of this type. For other items it prints only the type.
	Plain bool `json:"-"`
}

// Timers lists the timers of a process.
type Timers struct {
	Gaps
	Clock  Maybe[int64] `json:"clockMs,omitzero" doc:"the newest time of the machine's clock that the process noted: the dump is of then or later"`
	Timers []Timer      `json:"timers" doc:"by when they are due, the next one first"`

	// Lost is why timers are missing; nil if the list is complete.
	Lost error `json:"-"`
}

// Lose records why timers are missing. Nil is ignored.
func (t *Timers) Lose(err error) {
	t.Note(err)
	t.Lost = cmp.Or(t.Lost, err)
}

// A TimerKind is the class or method that a Timer was made by.
type TimerKind string

// The kinds of timers.
const (
	TimerPlain        TimerKind = "Timer" // of System.Threading, for no purpose that is known
	TimerComponent    TimerKind = "System.Timers.Timer"
	TimerPeriodic     TimerKind = "PeriodicTimer"
	TimerDelay        TimerKind = "Task.Delay"
	TimerWaitAsync    TimerKind = "Task.WaitAsync"
	TimerCancellation TimerKind = "CancellationTokenSource"
)

// A Timer is a timer that is scheduled.
type Timer struct {
	Address   target.Addr  `json:"address" doc:"the TimerQueueTimer"`
	Kind      TimerKind    `json:"kind" doc:"what it is the timer of: Timer, Task.Delay, CancellationTokenSource, PeriodicTimer, System.Timers.Timer, task timeout (WaitAsync); empty where that is not known"`
	Queue     int          `json:"queue" doc:"number of the timer queue"`
	Short     bool         `json:"short" doc:"it is in the list of those that are due within a third of a second"`
	Due       uint32       `json:"dueMs" doc:"milliseconds from start to when it is due"`
	Period    *uint32      `json:"periodMs,omitempty" doc:"milliseconds from then to then; absent for a timer that fires once"`
	Start     int64        `json:"startMs" doc:"when it was started, on the machine's clock"`
	DueIn     Maybe[int64] `json:"dueInMs,omitzero" doc:"milliseconds from the newest known time to when it is due, at most; negative for one that is late"`
	Running   int64        `json:"running,omitempty" doc:"how many threads run its callback"`
	Callback  target.Addr  `json:"callback,omitempty" doc:"the delegate that it calls"`
	Method    Text         `json:"method,omitzero" doc:"the method of it"`
	State     target.Addr  `json:"state,omitempty" doc:"the object that the method gets"`
	StateType Text         `json:"stateType,omitzero" doc:"its type"`
	StateLine Line         `json:"stateText,omitempty" doc:"its value, of a string"`
	Owner     target.Addr  `json:"owner,omitempty" doc:"the object whose timer it is: the task, the CancellationTokenSource"`
	Awaits    Text         `json:"awaitedBy,omitzero" doc:"the async method that waits for it"`
	Cancels   *TokenSource `json:"cancels,omitempty" doc:"the CancellationTokenSource that it cancels"`

	// OnTarget is the method with the type of the delegate's target, as SOS prints it. It is empty for a static
	// method.
	OnTarget string `json:"-"`
	// Place is the timer's position in the queues.
	Place int `json:"-"`
}

// A TokenState is how far the cancellation of a TokenSource has come. An unknown state has its number: "state 7".
type TokenState string

// The states of a TokenSource.
const (
	TokenNotCanceled TokenState = "not canceled"
	TokenCanceling   TokenState = "canceling" // callbacks run
	TokenCanceled    TokenState = "canceled"
)

// A TokenSource is a CancellationTokenSource.
type TokenSource struct {
	Address   target.Addr          `json:"address" doc:"the source"`
	Type      Text                 `json:"type" doc:"its type"`
	State     TokenState           `json:"state" doc:"not canceled, canceling (callbacks run), canceled"`
	Callbacks []CancellationTarget `json:"callbacks,omitempty" doc:"what is registered to be called, the newest first"`
	Total     uint64               `json:"total" doc:"how many are registered, also beyond those that are listed"`
}

// A CancellationTarget is a callback of a cancellation.
type CancellationTarget struct {
	Node   target.Addr `json:"node" doc:"the CallbackNode"`
	Method Text        `json:"method,omitzero" doc:"the method"`
	State  target.Addr `json:"state,omitempty" doc:"the object that it gets"`
	Type   Text        `json:"stateType,omitzero" doc:"its type"`
	Text   Line        `json:"stateText,omitempty" doc:"its value, of a string"`
}
