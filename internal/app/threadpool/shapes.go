package threadpool

import "github.com/sosgo/sosgo/objects/shapes"

// Shapes of the pool's types. Versions differ by alternates; fields of some versions only are optional.
type (
	// portable is the pool of .NET 6 and later.
	portable struct {
		_        shapes.Type   `of:"System.Threading.PortableThreadPool"`
		Instance shapes.Static `static:"ThreadPoolInstance"`
	}
	portablePool struct {
		_         shapes.Type `of:"System.Threading.PortableThreadPool"`
		Counts    shapes.Int  `field:"_separated.counts._data"`
		Dequeued  shapes.Int  `field:"_separated.lastDequeueTime"`
		Requested shapes.Int  `field:"_separated.numRequestedWorkers,optional"`
		Min       shapes.Int  `field:"_minThreads"`
		Max       shapes.Int  `field:"_maxThreads"`
		CPU       shapes.Int  `field:"_cpuUtilization"`
		Blocked   shapes.Int  `field:"_numBlockedThreads"`
		Waits     shapes.Ref  `field:"_waitThreadsHead,optional"`
	}
	// windowsPool is the Windows pool, which a program may use instead of the portable one (.NET 8 and later).
	windowsPool struct {
		_       shapes.Type   `of:"System.Threading.WindowsThreadPool"`
		Threads shapes.Static `static:"s_threadCount"`
		Working shapes.Static `static:"s_workingThreadCounter"`
		Max     shapes.Static `static:"MaxThreadCount"`
	}
	waitNode struct {
		_      shapes.Type `of:"System.Threading.PortableThreadPool+WaitThreadNode"`
		Thread shapes.Ref  `field:"<Thread>"`
		Next   shapes.Ref  `field:"<Next>"`
	}
	waitThread struct {
		_     shapes.Type `of:"System.Threading.PortableThreadPool+WaitThread"`
		Count shapes.Int  `field:"_numUserWaits"`
	}

	hillClimber struct {
		_        shapes.Type   `of:"System.Threading.PortableThreadPool+HillClimbing"`
		Instance shapes.Static `static:"ThreadPoolHillClimber"`
		Log      shapes.Ref    `field:"_log"`
		Start    shapes.Int    `field:"_logStart"`
		Size     shapes.Int    `field:"_logSize"`
	}
	hillClimbingStep struct {
		Ticks      shapes.Int   `field:"tickCount"`
		Transition shapes.Int   `field:"stateOrTransition"`
		Threads    shapes.Int   `field:"newControlSetting"`
		Samples    shapes.Int   `field:"lastHistoryCount"`
		Throughput shapes.Value `field:"lastHistoryMean"`
	}

	poolQueue struct {
		_     shapes.Type   `of:"System.Threading.ThreadPool|System.Threading.ThreadPoolGlobals"`
		Queue shapes.Static `static:"s_workQueue|workQueue,optional"`
	}
	workQueue struct {
		_             shapes.Type `of:"System.Threading.ThreadPoolWorkQueue"`
		Global        shapes.Ref  `field:"workItems"`
		High          shapes.Ref  `field:"highPriorityWorkItems,optional"`
		Low           shapes.Ref  `field:"lowPriorityWorkItems,optional"`
		TimeSensitive shapes.Ref  `field:"timeSensitiveWorkQueue,optional"`
		Assignable    shapes.Ref  `field:"_assignableWorkItemQueues,optional"`
	}
	localQueues struct {
		_      shapes.Type   `of:"System.Threading.ThreadPoolWorkQueue+WorkStealingQueueList"`
		Queues shapes.Static `static:"s_queues|_queues"`
	}
	localQueue struct {
		_     shapes.Type `of:"System.Threading.ThreadPoolWorkQueue+WorkStealingQueue"`
		Items shapes.Ref  `field:"m_array"`
		Mask  shapes.Int  `field:"m_mask"`
		Head  shapes.Int  `field:"m_headIndex"`
		Tail  shapes.Int  `field:"m_tailIndex"`
	}
	threadLocals struct {
		_       shapes.Type         `of:"System.Threading.ThreadPoolWorkQueueThreadLocals"`
		Current shapes.ThreadStatic `threadstatic:"threadLocals"`
		Queue   shapes.Ref          `field:"workStealingQueue"`
	}

	concurrentQueue struct {
		_    shapes.Type `of:"System.Collections.Concurrent.ConcurrentQueue<>"`
		Head shapes.Ref  `field:"_head"`
	}
	segment struct {
		_     shapes.Type `of:"System.Collections.Concurrent.ConcurrentQueueSegment<>"`
		Slots shapes.Ref  `field:"_slots"`
		Mask  shapes.Int  `field:"_slotsMask"`
		Head  shapes.Int  `field:"_headAndTail.Head"`
		Next  shapes.Ref  `field:"_nextSegment"`
	}
	slot struct {
		Item     shapes.Ref `field:"Item"`
		Sequence shapes.Int `field:"SequenceNumber"`
	}

	// callbackItem is an item of QueueUserWorkItem.
	callbackItem struct {
		_        shapes.Type  `of:"System.Threading.QueueUserWorkItemCallback|System.Threading.QueueUserWorkItemCallback<>|System.Threading.QueueUserWorkItemCallbackDefaultContext|System.Threading.QueueUserWorkItemCallbackDefaultContext<>"`
		Callback shapes.Ref   `field:"_callback"`
		State    shapes.Value `field:"_state"`
	}
	task struct {
		_            shapes.Type `of:"System.Threading.Tasks.Task"`
		Action       shapes.Ref  `field:"m_action"`
		State        shapes.Ref  `field:"m_stateObject"`
		Flags        shapes.Int  `field:"m_stateFlags"`
		Continuation shapes.Ref  `field:"m_continuationObject"`
	}
	box struct {
		_       shapes.Type  `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>|System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
		Machine shapes.Value `field:"StateMachine"`
	}
	continueWith struct {
		_    shapes.Type `of:"System.Threading.Tasks.ContinueWithTaskContinuation|System.Threading.Tasks.StandardTaskContinuation"`
		Task shapes.Ref  `field:"m_task"`
	}

	timerQueues struct {
		_         shapes.Type   `of:"System.Threading.TimerQueue"`
		Instances shapes.Static `static:"<Instances>k__BackingField"`
	}
	timerQueue struct {
		_       shapes.Type `of:"System.Threading.TimerQueue"`
		Short   shapes.Ref  `field:"_shortTimers"`
		Long    shapes.Ref  `field:"_longTimers"`
		Started shapes.Int  `field:"_currentTimerStartTicks,optional"`
	}
	queuedTimer struct {
		_        shapes.Type `of:"System.Threading.TimerQueueTimer"`
		Next     shapes.Ref  `field:"_next"`
		Start    shapes.Int  `field:"_startTicks"`
		Due      shapes.Int  `field:"_dueTime"`
		Period   shapes.Int  `field:"_period"`
		Callback shapes.Ref  `field:"_timerCallback"`
		State    shapes.Ref  `field:"_state"`
		Running  shapes.Int  `field:"_callbacksRunning,optional"`
	}

	tokenSource struct {
		_             shapes.Type `of:"System.Threading.CancellationTokenSource"`
		State         shapes.Int  `field:"_state"`
		Registrations shapes.Ref  `field:"_registrations,optional"`
		Partitions    shapes.Ref  `field:"_callbackPartitions,optional"`
	}
	registrations struct {
		_         shapes.Type `of:"System.Threading.CancellationTokenSource+Registrations|System.Threading.CancellationTokenSource+CallbackPartition"`
		Callbacks shapes.Ref  `field:"Callbacks"`
	}
	callbackNode struct {
		_        shapes.Type `of:"System.Threading.CancellationTokenSource+CallbackNode"`
		Next     shapes.Ref  `field:"Next"`
		Callback shapes.Ref  `field:"Callback"`
		State    shapes.Ref  `field:"CallbackState"`
	}
	periodicState struct {
		_            shapes.Type `of:"System.Threading.PeriodicTimer+State"`
		Continuation shapes.Ref  `field:"_mrvtsc._continuationState,optional"`
	}
)
