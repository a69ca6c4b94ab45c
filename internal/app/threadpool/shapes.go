package threadpool

import "github.com/sosgo/sosgo/objects"

// Shapes of the pool's types. Versions differ by alternates; fields of some versions only are optional.
type (
	// portable is the pool of .NET 6 and later.
	portable struct {
		_        objects.Shape       `of:"System.Threading.PortableThreadPool"`
		Instance objects.StaticField `static:"ThreadPoolInstance"`
	}
	portablePool struct {
		_         objects.Shape    `of:"System.Threading.PortableThreadPool"`
		Counts    objects.IntField `field:"_separated.counts._data"`
		Dequeued  objects.IntField `field:"_separated.lastDequeueTime"`
		Requested objects.IntField `field:"_separated.numRequestedWorkers,optional"`
		Min       objects.IntField `field:"_minThreads"`
		Max       objects.IntField `field:"_maxThreads"`
		CPU       objects.IntField `field:"_cpuUtilization"`
		Blocked   objects.IntField `field:"_numBlockedThreads"`
		Waits     objects.RefField `field:"_waitThreadsHead,optional"`
	}
	// windowsPool is the Windows pool, which a program may use instead of the portable one (.NET 8 and later).
	windowsPool struct {
		_       objects.Shape       `of:"System.Threading.WindowsThreadPool"`
		Threads objects.StaticField `static:"s_threadCount"`
		Working objects.StaticField `static:"s_workingThreadCounter"`
		Max     objects.StaticField `static:"MaxThreadCount"`
	}
	waitNode struct {
		_      objects.Shape    `of:"System.Threading.PortableThreadPool+WaitThreadNode"`
		Thread objects.RefField `field:"<Thread>"`
		Next   objects.RefField `field:"<Next>"`
	}
	waitThread struct {
		_     objects.Shape    `of:"System.Threading.PortableThreadPool+WaitThread"`
		Count objects.IntField `field:"_numUserWaits"`
	}

	hillClimber struct {
		_        objects.Shape       `of:"System.Threading.PortableThreadPool+HillClimbing"`
		Instance objects.StaticField `static:"ThreadPoolHillClimber"`
		Log      objects.RefField    `field:"_log"`
		Start    objects.IntField    `field:"_logStart"`
		Size     objects.IntField    `field:"_logSize"`
	}
	hillClimbingStep struct {
		Ticks      objects.IntField   `field:"tickCount"`
		Transition objects.IntField   `field:"stateOrTransition"`
		Threads    objects.IntField   `field:"newControlSetting"`
		Samples    objects.IntField   `field:"lastHistoryCount"`
		Throughput objects.ValueField `field:"lastHistoryMean"`
	}

	poolQueue struct {
		_     objects.Shape       `of:"System.Threading.ThreadPool|System.Threading.ThreadPoolGlobals"`
		Queue objects.StaticField `static:"s_workQueue|workQueue,optional"`
	}
	workQueue struct {
		_             objects.Shape    `of:"System.Threading.ThreadPoolWorkQueue"`
		Global        objects.RefField `field:"workItems"`
		High          objects.RefField `field:"highPriorityWorkItems,optional"`
		Low           objects.RefField `field:"lowPriorityWorkItems,optional"`
		TimeSensitive objects.RefField `field:"timeSensitiveWorkQueue,optional"`
		Assignable    objects.RefField `field:"_assignableWorkItemQueues,optional"`
	}
	localQueues struct {
		_      objects.Shape       `of:"System.Threading.ThreadPoolWorkQueue+WorkStealingQueueList"`
		Queues objects.StaticField `static:"s_queues|_queues"`
	}
	localQueue struct {
		_     objects.Shape    `of:"System.Threading.ThreadPoolWorkQueue+WorkStealingQueue"`
		Items objects.RefField `field:"m_array"`
		Mask  objects.IntField `field:"m_mask"`
		Head  objects.IntField `field:"m_headIndex"`
		Tail  objects.IntField `field:"m_tailIndex"`
	}
	threadLocals struct {
		_       objects.Shape             `of:"System.Threading.ThreadPoolWorkQueueThreadLocals"`
		Current objects.ThreadStaticField `threadstatic:"threadLocals"`
		Queue   objects.RefField          `field:"workStealingQueue"`
	}

	concurrentQueue struct {
		_    objects.Shape    `of:"System.Collections.Concurrent.ConcurrentQueue<>"`
		Head objects.RefField `field:"_head"`
	}
	segment struct {
		_     objects.Shape    `of:"System.Collections.Concurrent.ConcurrentQueueSegment<>"`
		Slots objects.RefField `field:"_slots"`
		Mask  objects.IntField `field:"_slotsMask"`
		Head  objects.IntField `field:"_headAndTail.Head"`
		Next  objects.RefField `field:"_nextSegment"`
	}
	slot struct {
		Item     objects.RefField `field:"Item"`
		Sequence objects.IntField `field:"SequenceNumber"`
	}

	// callbackItem is an item of QueueUserWorkItem.
	callbackItem struct {
		_        objects.Shape      `of:"System.Threading.QueueUserWorkItemCallback|System.Threading.QueueUserWorkItemCallback<>|System.Threading.QueueUserWorkItemCallbackDefaultContext|System.Threading.QueueUserWorkItemCallbackDefaultContext<>"`
		Callback objects.RefField   `field:"_callback"`
		State    objects.ValueField `field:"_state"`
	}
	task struct {
		_            objects.Shape    `of:"System.Threading.Tasks.Task"`
		Action       objects.RefField `field:"m_action"`
		State        objects.RefField `field:"m_stateObject"`
		Flags        objects.IntField `field:"m_stateFlags"`
		Continuation objects.RefField `field:"m_continuationObject"`
	}
	box struct {
		_       objects.Shape      `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>|System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
		Machine objects.ValueField `field:"StateMachine"`
	}
	continueWith struct {
		_    objects.Shape    `of:"System.Threading.Tasks.ContinueWithTaskContinuation|System.Threading.Tasks.StandardTaskContinuation"`
		Task objects.RefField `field:"m_task"`
	}

	timerQueues struct {
		_         objects.Shape       `of:"System.Threading.TimerQueue"`
		Instances objects.StaticField `static:"<Instances>k__BackingField"`
	}
	timerQueue struct {
		_       objects.Shape    `of:"System.Threading.TimerQueue"`
		Short   objects.RefField `field:"_shortTimers"`
		Long    objects.RefField `field:"_longTimers"`
		Started objects.IntField `field:"_currentTimerStartTicks,optional"`
	}
	// timerDoubles is what a queue repeats about its timers, and what guards it. A dump with some of the metadata may lack the names of these fields.
	timerDoubles struct {
		_         objects.Shape    `of:"System.Threading.TimerQueue"`
		Threshold objects.IntField `field:"_currentAbsoluteThreshold,optional"`
		Active    objects.IntField `field:"<ActiveCount>k__BackingField,optional"`
		Lock      objects.RefField `field:"<SharedLock>k__BackingField,optional"`
	}
	queuedTimer struct {
		_        objects.Shape    `of:"System.Threading.TimerQueueTimer"`
		Next     objects.RefField `field:"_next"`
		Previous objects.RefField `field:"_prev,optional"`
		Short    objects.IntField `field:"_short,optional"`
		Start    objects.IntField `field:"_startTicks"`
		Due      objects.IntField `field:"_dueTime"`
		Period   objects.IntField `field:"_period"`
		Callback objects.RefField `field:"_timerCallback"`
		State    objects.RefField `field:"_state"`
		Running  objects.IntField `field:"_callbacksRunning,optional"`
	}

	tokenSource struct {
		_             objects.Shape    `of:"System.Threading.CancellationTokenSource"`
		State         objects.IntField `field:"_state"`
		Registrations objects.RefField `field:"_registrations,optional"`
		Partitions    objects.RefField `field:"_callbackPartitions,optional"`
	}
	registrations struct {
		_         objects.Shape    `of:"System.Threading.CancellationTokenSource+Registrations|System.Threading.CancellationTokenSource+CallbackPartition"`
		Callbacks objects.RefField `field:"Callbacks"`
	}
	callbackNode struct {
		_        objects.Shape    `of:"System.Threading.CancellationTokenSource+CallbackNode"`
		Next     objects.RefField `field:"Next"`
		Callback objects.RefField `field:"Callback"`
		State    objects.RefField `field:"CallbackState"`
	}
	periodicState struct {
		_            objects.Shape    `of:"System.Threading.PeriodicTimer+State"`
		Continuation objects.RefField `field:"_mrvtsc._continuationState,optional"`
	}
)
