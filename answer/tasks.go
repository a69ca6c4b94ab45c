package answer

import (
	"iter"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A TaskStatus is what Task.Status says, or StatusPooled.
type TaskStatus string

// The statuses of tasks.
const (
	StatusCreated                      TaskStatus = "Created"
	StatusWaitingForActivation         TaskStatus = "WaitingForActivation"
	StatusWaitingToRun                 TaskStatus = "WaitingToRun"
	StatusRunning                      TaskStatus = "Running"
	StatusWaitingForChildrenToComplete TaskStatus = "WaitingForChildrenToComplete"
	StatusRanToCompletion              TaskStatus = "RanToCompletion"
	StatusCanceled                     TaskStatus = "Canceled"
	StatusFaulted                      TaskStatus = "Faulted"
	StatusPooled                       TaskStatus = "Pooled" // no task: the box of a pooled async method
)

// A TaskState is the state of a task, from its flags.
type TaskState struct {
	Gaps
	Task   target.Addr `json:"task,omitzero" doc:"the task, if one was asked about"`
	Type   Text        `json:"type,omitzero" doc:"its type"`
	Flags  Hex         `json:"flags" doc:"m_stateFlags; 0 of a pooled async method, which has none"`
	Status TaskStatus  `json:"status" doc:"what Task.Status says: \"Created\", \"WaitingForActivation\", \"WaitingToRun\", \"Running\", \"WaitingForChildrenToComplete\", \"RanToCompletion\", \"Canceled\" or \"Faulted\"; of the box of a pooled async method \"Pooled\""`
	Names  []string    `json:"names" doc:"the flags by their names in the framework, the lowest bit first: options of the task, then what happened to it"`

	ID     Maybe[uint64] `json:"id,omitzero" doc:"Task.Id, 0 for a task that nobody has asked for its id"`
	Result string        `json:"result,omitempty" doc:"what a task that ran to completion gave, as text; absent for one without a result"`
	// Exceptions lists a failed task's exceptions if they were never observed.
	Exceptions         []TaskException `json:"exceptions,omitempty" doc:"why it failed, as long as nobody has looked at that"`
	Observed           bool            `json:"observed,omitempty" doc:"it failed, and somebody has looked at its exceptions"`
	CancellationSource target.Addr     `json:"cancellationSource,omitempty" doc:"the CancellationTokenSource of the token that it was made with"`

	Name      Text         `json:"name,omitzero" doc:"of a task that was asked about: its async method, or its type with the method that it runs"`
	At        *AsyncPlace  `json:"at,omitempty" doc:"of an async method that is suspended: where"`
	Suspended []AsyncPlace `json:"suspended,omitempty" doc:"of methods that the runtime itself suspends: where they stand, the innermost first"`
	WaitsOn   *TaskLink    `json:"waitsOn,omitempty" doc:"the task or the other object that it waits for"`
	WaitsFor  Text         `json:"waitsFor,omitzero" doc:"what it waits for, in words, if that is no object"`
	Why       Statement    `json:"why,omitzero" doc:"waitsFor with its arguments"`
	Then      []TaskLink   `json:"then,omitempty" doc:"who waits for it: what goes on when it completes"`
}

// A TaskLink is an object that a task waits for or that waits for the task.
type TaskLink struct {
	Object  target.Addr `json:"object" doc:"the task, the box or the other object"`
	Name    Text        `json:"name" doc:"its async method, or its type with the method that it runs"`
	Status  TaskStatus  `json:"status,omitempty" doc:"of a task: what Task.Status says"`
	Meaning string      `json:"meaning,omitempty" doc:"of what is no task: what it does"`
	Element bool        `json:"element,omitempty" doc:"it waits for the next element of an async iterator, not for its end"`
}

// Async describes suspended async methods and the tasks between them. The question determines which parts are set.
type Async struct {
	Gaps
	// Stacks are read while they are ranged over.
	Stacks iter.Seq2[*AsyncStack, error] `json:"stacks,omitempty"`
	// Merged combines stacks with equal frames.
	Merged []AsyncGroup `json:"merged,omitzero"`
	// Types counts the frames by name.
	Types []AsyncCount `json:"types,omitzero"`
	// Never reports that the runtime has not loaded the class Task.
	Never bool `json:"neverUsed,omitempty" doc:"there never was a task: the runtime has not loaded their class"`
}

// An AsyncStack is everything that continues, in order, when one thing completes. No object of the heap completes
// that thing.
type AsyncStack struct {
	Gaps
	// Part reports that another stack has the same frames. SOS does not know pooled boxes and starts a stack here.
	Part bool `json:"part,omitempty" doc:"another stack has these frames, too, behind a pooled async method"`
	// Awaiter is the awaiter of the first frame if that is an async method.
	Awaiter *AsyncAwaiter `json:"awaiter,omitempty" doc:"of a first frame that is an async method: the field of its state machine that it waits with"`
	// Waits lists what the first frame awaits, what that awaits, and so on.
	Waits []AsyncFrame `json:"waits,omitempty" doc:"what the first frame awaits, what that awaits, and so on"`
	// Reason describes what the whole stack waits for.
	Reason Text      `json:"reason,omitzero" doc:"what all of it waits for, in words"`
	Why    Statement `json:"why,omitzero" doc:"reason with its arguments"`
	// Remote is WaitConnection or WaitServer if a client library waits for a server, and WaitProcess, WaitConnection or WaitStream if the code waits
	// for a child process or for the server of a named pipe.
	Remote WaitKind `json:"remote,omitempty" doc:"of code that waits for another process. By way of a client library of databases, HTTP or Redis, or for a named pipe: connection (for one to be free or opened). For a server: server (for its answer), stream (for data of a named pipe). For a child: process (for its end or its output)"`
	// Outside is the file of the child process, or the name of the pipe, that the code waits for; "" for other waits.
	Outside string `json:"-"`
	// Frames is depth first: what continues when a frame completes follows it, one level deeper.
	Frames []AsyncFrame `json:"frames" doc:"the frames, depth first: what continues when a frame completes follows it with a depth of one more"`
	// Ring is the object at which the chain of awaits closes a cycle; 0 if there is no cycle.
	Ring target.Addr `json:"-"`
	// Roots is what keeps the stack alive; nil if not requested.
	Roots *RootPaths `json:"roots,omitempty" doc:"with -roots: what keeps the first frame alive"`
	More  bool       `json:"more,omitempty" doc:"there are more frames than an answer has"`
}

// Explain records what the whole stack waits for.
func (s *AsyncStack) Explain(why Statement) { s.Reason.S, s.Why = why.Text, why }

// Awaited returns the frames from an object's down to the first frame: each awaits the next. It returns nil if the
// object has no frame.
func (s *AsyncStack) Awaited(object target.Addr) []*AsyncFrame {
	at := slices.IndexFunc(s.Frames, func(f AsyncFrame) bool { return f.Object == object })
	if at < 0 {
		return nil
	}
	out := []*AsyncFrame{&s.Frames[at]}
	for i := at - 1; i >= 0; i-- {
		if s.Frames[i].Depth < out[len(out)-1].Depth {
			out = append(out, &s.Frames[i])
		}
	}
	return out
}

// An AsyncAwaiter is the field of a state machine with the awaiter that the method waits for.
type AsyncAwaiter struct {
	Address     target.Addr `json:"address" doc:"the awaiter: an object, or a value type in place"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Type        Text        `json:"type" doc:"name of the type"`
	Field       string      `json:"field" doc:"the field"`
	// Guessed reports that the state does not identify the awaiter and the code is not in the dump, or that there is
	// no state.
	Guessed bool `json:"guessed,omitempty" doc:"the method's code is not in the dump, or its state machine was written by hand: it is the awaiter that is not empty"`
}

// An AsyncKind is the kind of an AsyncFrame.
type AsyncKind string

// The kinds of an AsyncFrame.
const (
	AsyncMethod AsyncKind = "async method"        // a task that is the box of a state machine
	AsyncPooled AsyncKind = "pooled async method" // a box from a pool
	AsyncTask   AsyncKind = "task"                // any other task
	// AsyncComputation is a closure of an F# async expression.
	AsyncComputation AsyncKind = "async computation"
	AsyncOther       AsyncKind = "other" // no task: an object of the program, or a waiting thread
)

// An AsyncFrame is a task, the box of an async method, or anything else that continues after such an operation.
type AsyncFrame struct {
	Depth       int         `json:"depth" doc:"how many frames have to complete before"`
	Object      target.Addr `json:"object" doc:"the task or the box"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Kind        AsyncKind   `json:"kind" doc:"\"async method\", \"pooled async method\", \"async computation\" (of F#), \"task\" or \"other\""`
	AsyncName
	State  *int32     `json:"state,omitempty" doc:"of an async method: the number of the await at which it is suspended, from 0; -1 before the first one and while it runs, -2 at its end; of iterators numbers below -2 are yields. Absent if its state machine was written by hand, without the field of a compiler"`
	Flags  Hex        `json:"flags,omitempty" doc:"m_stateFlags of a task"`
	Status TaskStatus `json:"status,omitempty" doc:"what Task.Status says"`
	// Meaning describes an object that is not a task.
	Meaning string `json:"meaning,omitempty" doc:"of what is no task: what it does when the frame before it completes"`
	// Words holds the flags as SOS prints them.
	Words string `json:"-"`
	AsyncPlace
	Variables []AsyncVariable `json:"variables,omitempty" doc:"with -locals: this, the parameters and the locals of an async method that outlive an await"`
	Fields    []AsyncField    `json:"fields,omitempty" doc:"with -fields: the fields of the state machine, or of the task"`
	// Again reports that the frame and what follows it are shown above. Loop reports that the frame follows itself.
	Suspended []AsyncPlace `json:"suspended,omitempty" doc:"of the task of methods that the runtime itself suspends (runtime async): where they stand, the innermost first"`
	// Saved lists the variables of the methods in Suspended, a list for each.
	Saved [][]AsyncVariable `json:"saved,omitempty" doc:"with -locals: the arguments and locals that the methods of suspended keep over the await, a list for each"`
	Again bool              `json:"again,omitempty" doc:"the same object stands above in this stack, with the frames that follow it"`
	// Value reports that it continues through a value task source, which SOS does not follow.
	Value bool `json:"-"`
	// Left reports that the frame has completed and completed frames were not requested. What follows it is omitted.
	Left bool `json:"-"`
}

// An AsyncName is the name shown for the objects of a type.
type AsyncName struct {
	Type Text `json:"type,omitzero" doc:"its type"`
	Name Text `json:"name,omitzero" doc:"the state machine in the box, or the type with the method that a task runs, as C# writes them"`
	// SOS is SOS's name, which differs in the method.
	SOS Text `json:"-"`
}

// An AsyncPlace is the position of an async method.
type AsyncPlace struct {
	Method Text `json:"method,omitzero" doc:"the async method, without its parameters"`
	// Await is what the method is suspended at.
	Await   Text   `json:"await,omitzero" doc:"the method whose result is awaited, as the code calls it"`
	File    string `json:"file,omitempty" doc:"source file of the await"`
	Line    int    `json:"line,omitempty" doc:"line in it"`
	Missing Reason `json:"placeMissing,omitzero" doc:"why the await, or its line, is not known"`
}

// An AsyncVariableKind is the kind of an AsyncVariable.
type AsyncVariableKind string

// The kinds of an AsyncVariable.
const (
	AsyncThis      AsyncVariableKind = "this"
	AsyncParameter AsyncVariableKind = "parameter"
	AsyncLocal     AsyncVariableKind = "local"
)

// An AsyncVariable is a variable of an async method, stored in a field of its state machine.
type AsyncVariable struct {
	Name  string            `json:"name" doc:"its name"`
	Kind  AsyncVariableKind `json:"kind" doc:"\"this\", \"parameter\" or \"local\""`
	Type  Text              `json:"type" doc:"its declared type"`
	Value string            `json:"value" doc:"the value as text"`
}

// An AsyncField is a field of a state machine or of a task.
type AsyncField struct {
	Name        Text               `json:"name" doc:"its name"`
	Type        Text               `json:"type" doc:"its declared type"`
	MethodTable Maybe[target.Addr] `json:"methodTable,omitzero" doc:"MethodTable of that, 0x0 if it is not loaded"`
	Address     target.Addr        `json:"address" doc:"where it is stored"`
	Stored
	// Array describes the array that the field refers to.
	Array *AsyncArray `json:"array,omitempty" doc:"the array that it refers to"`
}

// An AsyncArray describes an array in a field.
type AsyncArray struct {
	Element Text   `json:"elementType" doc:"type of the elements"`
	Length  uint32 `json:"length" doc:"their number"`
}

// An AsyncGroup is frames with equal names and equal continuations.
type AsyncGroup struct {
	Depth       int         `json:"depth" doc:"how many frames have to complete before"`
	Count       uint64      `json:"count" doc:"frames in the group"`
	Kind        AsyncKind   `json:"kind" doc:"what they are, as for a frame"`
	MethodTable target.Addr `json:"methodTable" doc:"type of the first of them"`
	Name        Text        `json:"name" doc:"what they are called"`
	SOS         Text        `json:"-"` // SOS's name
	State       *int32      `json:"state,omitempty" doc:"state of their state machines"`
	AsyncPlace
	Suspended []AsyncPlace `json:"suspended,omitempty" doc:"of tasks of methods that the runtime itself suspends (runtime async): where those stand, the innermost first"`

	Object target.Addr `json:"object" doc:"the first of them"`
	// Members lists frames of the group with their variables.
	Members     []AsyncMember `json:"members,omitempty" doc:"with -locals: async methods of the group with their variables, the first 100 of them"`
	MoreMembers int           `json:"moreMembers,omitempty" doc:"with -locals: those that are not listed"`
	Value       bool          `json:"-"` // as AsyncFrame.Value
	Part        bool          `json:"part,omitempty" doc:"other groups have these frames, too, behind a pooled async method or an iterator"`
}

// An AsyncMember is a frame of a group with its variables.
type AsyncMember struct {
	Object    target.Addr       `json:"object" doc:"the box, or the task of methods that the runtime suspends"`
	Variables []AsyncVariable   `json:"variables,omitempty" doc:"this, the parameters and the locals that outlive an await"`
	Saved     [][]AsyncVariable `json:"saved,omitempty" doc:"of the group's suspended: the arguments and locals that its methods keep over the await, a list for each"`
}

// An AsyncCount counts frames by name.
type AsyncCount struct {
	MethodTable target.Addr `json:"methodTable" doc:"type of the first of them"`
	Count       uint64      `json:"count" doc:"tasks and boxes of that name"`
	Name        Text        `json:"name" doc:"the state machine in the box, or the type with the method that a task runs"`
	SOS         Text        `json:"-"` // SOS's name
}

// AsyncCalls is the stacks of async methods, merged from the methods that nothing awaits.
type AsyncCalls struct {
	Gaps
	Stacks uint64      `json:"stacks" doc:"outermost async methods and tasks: those that nothing awaits"`
	Calls  []AsyncCall `json:"calls" doc:"depth first: what a call awaits follows it, one deeper"`
	More   bool        `json:"more,omitempty" doc:"there are more calls than an answer has"`
}

// An AsyncCall combines async methods or tasks with the same name, the same await and the same awaiters.
type AsyncCall struct {
	Depth  int         `json:"depth" doc:"calls around it"`
	Count  uint64      `json:"count" doc:"how many there are"`
	Kind   AsyncKind   `json:"kind" doc:"\"async method\", \"pooled async method\" or \"task\""`
	Name   Text        `json:"name" doc:"the state machine, or the type with the method that a task runs"`
	State  *int32      `json:"state,omitempty" doc:"state of their state machines"`
	Object target.Addr `json:"object" doc:"the first of them"`
	AsyncPlace
	Suspended []AsyncPlace `json:"suspended,omitempty" doc:"of tasks of methods that the runtime itself suspends (runtime async): where those stand, the innermost first"`

	Blocked   uint64            `json:"blocked,omitempty" doc:"threads that are blocked until these complete (Task.Wait, Result)"`
	Variables []AsyncVariable   `json:"variables,omitempty" doc:"with -locals: of the first of them, this, the parameters and the locals that outlive an await"`
	Saved     [][]AsyncVariable `json:"saved,omitempty" doc:"with -locals: of the first of them, the arguments and locals that the methods of suspended keep over the await, a list for each"`
	// Ends lists what the calls wait for that await no other call.
	Ends []AsyncEnd `json:"ends,omitempty" doc:"what those of them wait for that await no other call"`
}

// An AsyncEnd is the final thing that calls wait for.
type AsyncEnd struct {
	Count  uint64    `json:"count" doc:"how many wait for it"`
	Reason string    `json:"reason" doc:"what it is, in words"`
	Why    Statement `json:"why,omitzero" doc:"reason with its arguments"`
}

// Tasks counts the tasks of a heap and lists those that failed.
type Tasks struct {
	Gaps
	Count  uint64        `json:"count" doc:"tasks, and boxes of pooled async methods that are in use"`
	Counts []TaskCount   `json:"counts" doc:"by state and name, the most first"`
	Faults []FaultedTask `json:"faults,omitzero" doc:"with -faulted: tasks that failed and whose exceptions nobody has looked at"`
	// Seen counts the failed tasks with observed exceptions.
	Seen uint64 `json:"seen,omitempty" doc:"with -faulted: tasks that failed and whose exceptions somebody has looked at: they are not listed"`
	More uint64 `json:"more,omitempty" doc:"with -faulted: tasks that are not listed"`
	// Services lists failed hosted services. The host has observed their exceptions.
	Services []HostedService `json:"services,omitempty" doc:"with -faulted: hosted services that failed; the host has observed their exceptions, so their tasks are not listed"`
}

// A TaskCount counts the tasks of one state and name.
type TaskCount struct {
	Status      TaskStatus  `json:"status" doc:"what Task.Status says; of a pooled async method \"Pooled\""`
	Count       uint64      `json:"count" doc:"how many there are"`
	MethodTable target.Addr `json:"methodTable" doc:"type of the first of them"`
	Name        Text        `json:"name" doc:"the async method, or the type with the method that a task runs"`
	First       target.Addr `json:"first" doc:"the first of them"`
}

// A FaultedTask is a task that failed.
type FaultedTask struct {
	Task       target.Addr     `json:"task" doc:"the task"`
	Name       Text            `json:"name" doc:"the async method, or the type with the method that it ran"`
	Exceptions []TaskException `json:"exceptions" doc:"what it failed with"`
	// Awaited is for a task that failed a moment ago: what waits for it has not gone on yet.
	Awaited bool `json:"awaited,omitempty" doc:"whether a thread or an async method that waits for it is about to get the exceptions"`
}

// A TaskException is an exception that a task failed with.
type TaskException struct {
	Object  target.Addr `json:"object" doc:"the exception" text:"="`
	Type    Text        `json:"type" doc:"its type"`
	Message Text        `json:"message" doc:"its message, empty for none" text:"+: %"`
	Thrown  Text        `json:"thrownIn,omitzero" doc:"the innermost method of the program in its stack trace; absent if there is none" text:"+, in %"`
	Began   Text        `json:"began,omitzero" doc:"the outermost method of the program in its stack trace; absent if there is none" text:"-"`
	Cause   Text        `json:"cause,omitzero" doc:"the type and message of the innermost of its inner exceptions; absent if there is none" text:"+, caused by %"`
}
