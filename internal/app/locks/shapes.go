package locks

import "github.com/sosgo/sosgo/objects"

// Shapes of what threads wait for.
type (
	// A mutex does not record its owner itself. The operating system, the runtime or the class library's wait handles
	// do.
	mutex struct {
		_ objects.Shape `of:"System.Threading.Mutex"`
	}
	kernelSemaphore struct {
		_ objects.Shape `of:"System.Threading.Semaphore"`
	}
	// waitable is the state of a wait handle that the class library implements, as NativeAOT's does on Unix. The
	// handle's value is a GC handle to it.
	waitable struct {
		_         objects.Shape    `of:"System.Threading.WaitSubsystem+WaitableObject"`
		Ownership objects.RefField `field:"_ownershipInfo"` // set for a Mutex
	}
	ownership struct {
		_     objects.Shape    `of:"System.Threading.WaitSubsystem+WaitableObject+OwnershipInfo"`
		Owner objects.RefField `field:"_thread"`
	}
	safeHandle struct {
		_      objects.Shape      `of:"System.Runtime.InteropServices.SafeHandle"`
		Handle objects.ValueField `field:"handle"`
	}
	// primitive is any lock of the class library, or an object with locks of its own.
	primitive struct {
		_ objects.Shape `of:"System.Threading.Lock|System.Threading.SemaphoreSlim|System.Threading.ReaderWriterLockSlim|System.Threading.ManualResetEventSlim|System.Threading.CountdownEvent|System.Threading.Barrier|System.Lazy<>|System.Threading.WaitHandle|System.Collections.Concurrent.BlockingCollection<>"`
	}
	// managedLock is read by package dac, because it may be the monitor of an object.
	managedLock struct {
		_ objects.Shape `of:"System.Threading.Lock"`
	}
	// lockID is the id by which a Lock identifies a thread in .NET 9 and 10.
	lockID struct {
		_       objects.Shape             `of:"System.Threading.Lock+ThreadId"`
		Current objects.ThreadStaticField `threadstatic:"t_threadId"`
	}
	semaphore struct {
		_       objects.Shape    `of:"System.Threading.SemaphoreSlim"`
		Count   objects.IntField `field:"m_currentCount"`
		Max     objects.IntField `field:"m_maxCount"`
		Waiters objects.IntField `field:"m_waitCount"`
		Monitor objects.RefField `field:"m_lockObjAndDisposed"`
		Async   objects.RefField `field:"m_asyncHead"`
	}
	waitNode struct {
		_    objects.Shape    `of:"System.Threading.SemaphoreSlim+TaskNode"`
		Next objects.RefField `field:"Next"`
	}
	readerWriter struct {
		_            objects.Shape    `of:"System.Threading.ReaderWriterLockSlim"`
		Writer       objects.IntField `field:"_writeLockOwnerId"`
		Upgrader     objects.IntField `field:"_upgradeLockOwnerId"`
		WriteWaiters objects.IntField `field:"_numWriteWaiters"`
		ReadWaiters  objects.IntField `field:"_numReadWaiters"`
		UpgradeWait  objects.IntField `field:"_numUpgradeWaiters"`
		WriteUpgrade objects.IntField `field:"_numWriteUpgradeWaiters"`
		Owners       objects.IntField `field:"_owners"`
		ID           objects.IntField `field:"_lockID"`

		Counts objects.ThreadStaticField `threadstatic:"t_rwc"`
	}
	// readerCount is how often a thread has entered a ReaderWriterLockSlim. Each thread has a list of these.
	readerCount struct {
		_       objects.Shape    `of:"System.Threading.ReaderWriterCount"`
		Lock    objects.IntField `field:"lockID"`
		Readers objects.IntField `field:"readercount"`
		Next    objects.RefField `field:"next"`
	}
	// lazyValue keeps its LazyHelper until the value exists. The thread that creates the value holds the helper's
	// monitor.
	lazyValue struct {
		_      objects.Shape    `of:"System.Lazy<>"`
		Helper objects.RefField `field:"_state"`
	}
	spinLock struct {
		_     objects.Shape    `of:"System.Threading.SpinLock"`
		Owner objects.IntField `field:"_owner"`
	}
	threadObject struct {
		_       objects.Shape    `of:"System.Threading.Thread"`
		ID      objects.IntField `field:"_managedThreadId"`
		Context objects.RefField `field:"_synchronizationContext,optional"`
	}
	// waitHandle is a handle of the operating system or of the runtime's emulation of one.
	waitHandle struct {
		_    objects.Shape    `of:"System.Threading.WaitHandle"`
		Safe objects.RefField `field:"_waitHandle"`
	}
	event struct {
		_       objects.Shape    `of:"System.Threading.ManualResetEventSlim"`
		State   objects.IntField `field:"m_combinedState"`
		Monitor objects.RefField `field:"m_lock"`
	}
	// taskEvent is the event on which a thread waits for one or several tasks.
	taskEvent struct {
		_ objects.Shape `of:"System.Threading.Tasks.Task+SetOnInvokeMres|System.Threading.Tasks.Task+SetOnCountdownMres"`
	}
	countdown struct {
		_       objects.Shape    `of:"System.Threading.CountdownEvent"`
		Count   objects.IntField `field:"_currentCount"`
		Initial objects.IntField `field:"_initialCount"`
		Event   objects.RefField `field:"_event"`
	}
	barrier struct {
		_     objects.Shape    `of:"System.Threading.Barrier"`
		Phase objects.IntField `field:"_currentPhase"`
		Total objects.IntField `field:"_currentTotalCount,optional"`
		Odd   objects.RefField `field:"_oddEvent"`
		Even  objects.RefField `field:"_evenEvent"`
	}
	task struct {
		_            objects.Shape             `of:"System.Threading.Tasks.Task"`
		Continuation objects.RefField          `field:"m_continuationObject"`
		Current      objects.ThreadStaticField `threadstatic:"t_currentTask,optional"`
	}
	// dispatcher is a struct on the stack of a thread that resumes methods which the runtime suspended
	// (AsyncHelpers.CoreCLR.cs, .NET 11). Dispatchers can be nested.
	dispatcher struct {
		_       objects.Shape             `of:"System.Runtime.CompilerServices.AsyncDispatcherInfo"`
		First   objects.ThreadStaticField `threadstatic:"t_current"`
		Next    objects.IntField          `field:"Next"`
		Current objects.RefField          `field:"CurrentTask"`
	}
	// box is the task of an async method, with its state machine.
	box struct {
		_ objects.Shape `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>|System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
	}
	list struct {
		_     objects.Shape    `of:"System.Collections.Generic.List<>"`
		Items objects.RefField `field:"_items"`
	}
	// blockingInfo is the record that the class library keeps on a thread's stack while it waits (.NET 9 and later).
	blockingInfo struct {
		_       objects.Shape             `of:"System.Threading.ThreadBlockingInfo"`
		First   objects.ThreadStaticField `threadstatic:"t_first"`
		Object  objects.IntField          `field:"_objectPtr"`
		Kind    objects.IntField          `field:"_objectKind"`
		Timeout objects.IntField          `field:"_timeoutMs"`
		Next    objects.IntField          `field:"_next"`
	}
)

// The values of ThreadBlockingInfo.ObjectKind.
const (
	kindMonitorLock = iota
	kindMonitorWait
	kindLock
	kindCondition
)

// Bits of SpinLock._owner, the same in all versions. If the top bit is set, the lock does not record its owner, and the
// lowest bit is set while it is held. Otherwise the value is the owner's managed thread id, or 0.
const (
	spinAnonymous = 1 << 31
	spinHeld      = 1
)

// Bits of ManualResetEventSlim.m_combinedState, the same in all versions. The top bit is set while the event is set;
// the lowest 19 count the waiters.
const (
	eventSet     = 1 << 31
	eventWaiters = 1<<19 - 1
)

// Shapes of what async methods wait for.
type (
	// channel is a channel of System.Threading.Channels. Since .NET 10 its lists of waiters are rings. Before, blocked
	// operations are in a Deque and waiting ones in a ring (BoundedChannel.cs, UnboundedChannel.cs,
	// SingleConsumerUnboundedChannel.cs).
	channel struct {
		_              objects.Shape    `of:"System.Threading.Channels.UnboundedChannel<>|System.Threading.Channels.BoundedChannel<>|System.Threading.Channels.SingleConsumerUnboundedChannel<>|System.Threading.Channels.UnboundedPrioritizedChannel<>|System.Threading.Channels.RendezvousChannel<>"`
		Items          objects.RefField `field:"_items,optional"`
		Capacity       objects.IntField `field:"_bufferedCapacity,optional"`
		BlockedReaders objects.RefField `field:"_blockedReadersHead|_blockedReaders|_blockedReader,optional"`
		WaitingReaders objects.RefField `field:"_waitingReadersHead|_waitingReadersTail|_waitingReader,optional"`
		BlockedWriters objects.RefField `field:"_blockedWritersHead|_blockedWriters,optional"`
		WaitingWriters objects.RefField `field:"_waitingWritersHead|_waitingWritersTail,optional"`
	}
	channelOperation struct {
		_    objects.Shape    `of:"System.Threading.Channels.AsyncOperation<>"`
		Next objects.RefField `field:"<Next>,optional"`
	}
	channelReader struct {
		_      objects.Shape    `of:"System.Threading.Channels.ChannelReader<>" fields:"derived"`
		Parent objects.RefField `field:"_parent,optional"`
	}
	// deque is the class library's queue, which keeps its elements in a ring buffer.
	deque struct {
		_     objects.Shape    `of:"System.Collections.Generic.Deque<>"`
		Array objects.RefField `field:"_array"`
		Size  objects.IntField `field:"_size"`
	}
	// completionSource is a promise: the program completes its task.
	completionSource struct {
		_    objects.Shape    `of:"System.Threading.Tasks.TaskCompletionSource|System.Threading.Tasks.TaskCompletionSource<>"`
		Task objects.RefField `field:"_task"`
	}
	taskState struct {
		_     objects.Shape    `of:"System.Threading.Tasks.Task"`
		State objects.RefField `field:"m_stateObject"`
	}
	// limiter is a rate limiter, which is the state object of the promises in its queue (ConcurrencyLimiter.cs,
	// FixedWindowRateLimiter.cs, SlidingWindowRateLimiter.cs; System.Threading.RateLimiting 8 and later).
	limiter struct {
		_       objects.Shape    `of:"System.Threading.RateLimiting.ConcurrencyLimiter|System.Threading.RateLimiting.FixedWindowRateLimiter|System.Threading.RateLimiting.SlidingWindowRateLimiter"`
		Permits objects.IntField `field:"_permitCount"`
		Queued  objects.IntField `field:"_queueCount"`
		Options objects.RefField `field:"_options"`
	}
	limiterOptions struct {
		_     objects.Shape    `of:"System.Threading.RateLimiting.ConcurrencyLimiterOptions|System.Threading.RateLimiting.FixedWindowRateLimiterOptions|System.Threading.RateLimiting.SlidingWindowRateLimiterOptions"`
		Limit objects.IntField `field:"<PermitLimit>"`
		Queue objects.IntField `field:"<QueueLimit>"`
	}
	// bucket is a rate limiter with a fractional number of permits (TokenBucketRateLimiter.cs).
	bucket struct {
		_       objects.Shape    `of:"System.Threading.RateLimiting.TokenBucketRateLimiter"`
		Queued  objects.IntField `field:"_queueCount"`
		Options objects.RefField `field:"_options"`
	}
	// refillOptions say how a rate limiter gets new permits in the course of time.
	refillOptions struct {
		_       objects.Shape    `of:"System.Threading.RateLimiting.TokenBucketRateLimiterOptions|System.Threading.RateLimiting.FixedWindowRateLimiterOptions|System.Threading.RateLimiting.SlidingWindowRateLimiterOptions"`
		Permits objects.IntField `field:"<TokensPerPeriod>|<PermitLimit>"`
		Ticks   objects.IntField `field:"<ReplenishmentPeriod>._ticks|<Window>._ticks"`
		Itself  objects.IntField `field:"<AutoReplenishment>"`
	}
	// lease is what a ConcurrencyLimiter gives: its permits are free again when it is disposed of.
	lease struct {
		_        objects.Shape    `of:"System.Threading.RateLimiting.ConcurrencyLimiter+ConcurrencyLease"`
		Limiter  objects.RefField `field:"_limiter"`
		Permits  objects.IntField `field:"_count"`
		Disposed objects.IntField `field:"_disposed"`
	}
)
