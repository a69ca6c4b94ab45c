package tasks

import "github.com/sosgo/sosgo/objects/shapes"

// A taskShape is a Task or a derived class.
type taskShape struct {
	_            shapes.Type `of:"System.Threading.Tasks.Task"`
	Action       shapes.Ref  `field:"m_action"`
	Flags        shapes.Int  `field:"m_stateFlags"`
	Scheduler    shapes.Ref  `field:"m_taskScheduler"`
	Continuation shapes.Ref  `field:"m_continuationObject"`
}

// A taskDetail reads further fields of a Task.
type taskDetail struct {
	_          shapes.Type `of:"System.Threading.Tasks.Task"`
	Contingent shapes.Ref  `field:"m_contingentProperties"`
}

// sentinels holds the static fields of Task.
type sentinels struct {
	_         shapes.Type   `of:"System.Threading.Tasks.Task"`
	Completed shapes.Static `static:"s_taskCompletionSentinel"`
}

// A contingent holds the properties that few tasks need.
type contingent struct {
	_          shapes.Type `of:"System.Threading.Tasks.Task+ContingentProperties"`
	Exceptions shapes.Ref  `field:"m_exceptionsHolder"`
}

// A faultHolder holds the exceptions of a task. Handled is set once they have been observed.
type faultHolder struct {
	_       shapes.Type `of:"System.Threading.Tasks.TaskExceptionHolder"`
	Faults  shapes.Ref  `field:"m_faultExceptions"`
	Handled shapes.Int  `field:"m_isHandled"`
}

// A dispatchInfo is an exception with the stack at which it was caught.
type dispatchInfo struct {
	_         shapes.Type `of:"System.Runtime.ExceptionServices.ExceptionDispatchInfo"`
	Exception shapes.Ref  `field:"_exception"`
}

// An exceptionShape is an exception.
type exceptionShape struct {
	_       shapes.Type `of:"System.Exception"`
	Message shapes.Ref  `field:"_message"`
}

// A boxShape is the task of an async method: the box into which its state machine moves when it is first suspended. Since .NET 8 the
// ExecutionContext is in the task's m_stateObject and the delegate in its m_action; earlier versions have a field for each.
type boxShape struct {
	_       shapes.Type  `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>"`
	Machine shapes.Value `field:"StateMachine"`
}

// A pooledShape is the pooled box of an async method that returns a ValueTask. It is not a task.
type pooledShape struct {
	_       shapes.Type   `of:"System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
	Source  shapes.Struct `field:"_valueTaskSource"`
	Machine shapes.Value  `field:"StateMachine"`
}

// A valueTaskSource can back a ValueTask.
type valueTaskSource struct {
	_            shapes.Type `of:"System.Threading.Tasks.Sources.ManualResetValueTaskSourceCore<>"`
	Continuation shapes.Ref  `field:"_continuation"`
	State        shapes.Ref  `field:"_continuationState"`
	Completed    shapes.Int  `field:"_completed,optional"` // until .NET 10; since then, see Reader.sourceDone
	Error        shapes.Ref  `field:"_error"`
}

// sourceSentinels holds the delegate that replaces the continuation of a completed valueTaskSource.
type sourceSentinels struct {
	_         shapes.Type   `of:"System.Threading.Tasks.Sources.ManualResetValueTaskSourceCoreShared"`
	Completed shapes.Static `static:"s_sentinel"`
}

// A machineShape is the state machine of an async method, made by the compiler of C#, Visual Basic, F# or Mono.
type machineShape struct {
	State shapes.Int `field:"<>1__state|$State|ResumptionPoint,optional"`
	Mono  shapes.Int `field:"$PC,optional"` // Mono: 0 before the start, awaits count from 1
}

// A stateField is the part of a machineShape that must be present.
type stateField struct {
	State shapes.Int `field:"<>1__state|$State|ResumptionPoint|$PC"`
}

// A pooledMachine is the state machine in a pooled box. It is cleared while the box waits in its pool.
type pooledMachine struct {
	Box shapes.Ref `field:"<>t__builder.m_task"`
}

// A boxedMachine is the state machine that is an object of its own, and knows the box that runs it.
type boxedMachine struct {
	Box shapes.Ref `field:"<>t__builder.m_task|<>t__builder.m_builder.m_task|<>t__builder._methodBuilder.m_task|<>t__builder._methodBuilder.m_builder.m_task"`
}

// An iteratorShape is the state machine of an async iterator, which is the value task source of its next element.
type iteratorShape struct {
	Promise shapes.Struct `field:"<>v__promiseOfValueOrEnd"`
}

// Awaiters, with the field that holds what they wait for. Other awaiters belong to the program or to libraries.
type (
	taskAwaiter struct {
		_    shapes.Type `of:"System.Runtime.CompilerServices.TaskAwaiter|System.Runtime.CompilerServices.TaskAwaiter<>|System.Runtime.CompilerServices.ConfiguredTaskAwaitable+ConfiguredTaskAwaiter|System.Runtime.CompilerServices.ConfiguredTaskAwaitable<>+ConfiguredTaskAwaiter|System.Threading.SemaphoreSlim+ConfiguredNoThrowAwaiter<>"`
		Task shapes.Ref  `field:"m_task|_task"`
	}
	valueTaskAwaiter struct {
		_      shapes.Type `of:"System.Runtime.CompilerServices.ValueTaskAwaiter|System.Runtime.CompilerServices.ValueTaskAwaiter<>|System.Runtime.CompilerServices.ConfiguredValueTaskAwaitable+ConfiguredValueTaskAwaiter|System.Runtime.CompilerServices.ConfiguredValueTaskAwaitable<>+ConfiguredValueTaskAwaiter"`
		Object shapes.Ref  `field:"_value._obj"`
	}
	yieldAwaiter struct {
		_ shapes.Type `of:"System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter"`
	}
)

// Tasks that hold what they wait for in a field.
type (
	delayPromise struct {
		_     shapes.Type `of:"System.Threading.Tasks.Task+DelayPromise"`
		Timer shapes.Ref  `field:"_timer"`
	}
	queueTimer struct {
		_   shapes.Type `of:"System.Threading.TimerQueueTimer"`
		Due shapes.Int  `field:"_dueTime"`
	}
	promiseState struct {
		_     shapes.Type `of:"System.Threading.Tasks.Task"`
		State shapes.Ref  `field:"m_stateObject"`
	}
	whenAll struct { // since .NET 8 a WhenAll only counts its tasks
		_         shapes.Type `of:"System.Threading.Tasks.Task+WhenAllPromise|System.Threading.Tasks.Task+WhenAllPromise<>"`
		Remaining shapes.Int  `field:"_remainingToComplete|m_count"`
	}
	antecedent struct { // the task of a ContinueWith
		_    shapes.Type `of:"System.Threading.Tasks.ContinuationTaskFromTask|System.Threading.Tasks.ContinuationResultTaskFromTask<>|System.Threading.Tasks.ContinuationTaskFromResultTask<>|System.Threading.Tasks.ContinuationResultTaskFromResultTask<,>"`
		Task shapes.Ref  `field:"m_antecedent"`
	}
	sourceAsTask struct {
		_      shapes.Type `of:"System.Threading.Tasks.ValueTask+ValueTaskSourceAsTask|System.Threading.Tasks.ValueTask<>+ValueTaskSourceAsTask"`
		Source shapes.Ref  `field:"_source"`
	}
	cancellationPromise struct { // the task of a WaitAsync
		_    shapes.Type `of:"System.Threading.Tasks.Task+CancellationPromise<>"`
		Task shapes.Ref  `field:"_task"`
	}
)

// Objects other than boxes and tasks that occur in m_continuationObject. StandardTaskContinuation is the one of .NET Core 3.1.
type (
	delegate struct {
		_      shapes.Type `of:"System.MulticastDelegate"`
		Target shapes.Ref  `field:"_target"`
	}
	wrapper struct { // around an async method's continuation, for debuggers and EventSources
		_            shapes.Type `of:"System.Runtime.CompilerServices.AsyncMethodBuilderCore+ContinuationWrapper"`
		Continuation shapes.Ref  `field:"_continuation"`
		Inner        shapes.Ref  `field:"_innerTask"`
	}
	continueWith struct {
		_         shapes.Type `of:"System.Threading.Tasks.ContinueWithTaskContinuation|System.Threading.Tasks.StandardTaskContinuation"`
		Task      shapes.Ref  `field:"m_task"`
		Scheduler shapes.Ref  `field:"m_taskScheduler"`
	}
	awaitContinuation struct {
		_      shapes.Type `of:"System.Threading.Tasks.AwaitTaskContinuation"`
		Action shapes.Ref  `field:"m_action"`
	}
	objectList struct {
		_     shapes.Type `of:"System.Collections.Generic.List<>"`
		Items shapes.Ref  `field:"_items"`
		Size  shapes.Int  `field:"_size"`
	}
)
