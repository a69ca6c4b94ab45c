package locks

import "github.com/sosgo/sosgo/objects/shapes"

// Shapes of what threads wait for.
type (
	// A mutex does not record its owner itself. The operating system, the runtime or the class library's wait handles
	// do.
	mutex struct {
		_ shapes.Type `of:"System.Threading.Mutex"`
	}
	kernelSemaphore struct {
		_ shapes.Type `of:"System.Threading.Semaphore"`
	}
	// waitable is the state of a wait handle that the class library implements, as NativeAOT's does on Unix. The
	// handle's value is a GC handle to it.
	waitable struct {
		_         shapes.Type `of:"System.Threading.WaitSubsystem+WaitableObject"`
		Ownership shapes.Ref  `field:"_ownershipInfo"` // set for a Mutex
	}
	ownership struct {
		_     shapes.Type `of:"System.Threading.WaitSubsystem+WaitableObject+OwnershipInfo"`
		Owner shapes.Ref  `field:"_thread"`
	}
	safeHandle struct {
		_      shapes.Type  `of:"System.Runtime.InteropServices.SafeHandle"`
		Handle shapes.Value `field:"handle"`
	}
	// primitive is any lock of the class library.
	primitive struct {
		_ shapes.Type `of:"System.Threading.Lock|System.Threading.SemaphoreSlim|System.Threading.ReaderWriterLockSlim|System.Threading.ManualResetEventSlim|System.Threading.CountdownEvent|System.Threading.Barrier|System.Lazy<>|System.Threading.WaitHandle"`
	}
	// managedLock is read by package dac, because it may be the monitor of an object.
	managedLock struct {
		_ shapes.Type `of:"System.Threading.Lock"`
	}
	// lockID is the id by which a Lock identifies a thread in .NET 9 and 10.
	lockID struct {
		_       shapes.Type         `of:"System.Threading.Lock+ThreadId"`
		Current shapes.ThreadStatic `threadstatic:"t_threadId"`
	}
	semaphore struct {
		_       shapes.Type `of:"System.Threading.SemaphoreSlim"`
		Count   shapes.Int  `field:"m_currentCount"`
		Max     shapes.Int  `field:"m_maxCount"`
		Waiters shapes.Int  `field:"m_waitCount"`
		Monitor shapes.Ref  `field:"m_lockObjAndDisposed"`
		Async   shapes.Ref  `field:"m_asyncHead"`
	}
	waitNode struct {
		_    shapes.Type `of:"System.Threading.SemaphoreSlim+TaskNode"`
		Next shapes.Ref  `field:"Next"`
	}
	readerWriter struct {
		_            shapes.Type `of:"System.Threading.ReaderWriterLockSlim"`
		Writer       shapes.Int  `field:"_writeLockOwnerId"`
		Upgrader     shapes.Int  `field:"_upgradeLockOwnerId"`
		WriteWaiters shapes.Int  `field:"_numWriteWaiters"`
		ReadWaiters  shapes.Int  `field:"_numReadWaiters"`
		UpgradeWait  shapes.Int  `field:"_numUpgradeWaiters"`
		WriteUpgrade shapes.Int  `field:"_numWriteUpgradeWaiters"`
		Owners       shapes.Int  `field:"_owners"`
		ID           shapes.Int  `field:"_lockID"`

		Counts shapes.ThreadStatic `threadstatic:"t_rwc"`
	}
	// readerCount is how often a thread has entered a ReaderWriterLockSlim. Each thread has a list of these.
	readerCount struct {
		_       shapes.Type `of:"System.Threading.ReaderWriterCount"`
		Lock    shapes.Int  `field:"lockID"`
		Readers shapes.Int  `field:"readercount"`
		Next    shapes.Ref  `field:"next"`
	}
	// lazyValue keeps its LazyHelper until the value exists. The thread that creates the value holds the helper's
	// monitor.
	lazyValue struct {
		_      shapes.Type `of:"System.Lazy<>"`
		Helper shapes.Ref  `field:"_state"`
	}
	spinLock struct {
		_     shapes.Type `of:"System.Threading.SpinLock"`
		Owner shapes.Int  `field:"_owner"`
	}
	threadObject struct {
		_       shapes.Type `of:"System.Threading.Thread"`
		ID      shapes.Int  `field:"_managedThreadId"`
		Context shapes.Ref  `field:"_synchronizationContext,optional"`
	}
	// waitHandle is a handle of the operating system or of the runtime's emulation of one.
	waitHandle struct {
		_    shapes.Type `of:"System.Threading.WaitHandle"`
		Safe shapes.Ref  `field:"_waitHandle"`
	}
	event struct {
		_       shapes.Type `of:"System.Threading.ManualResetEventSlim"`
		State   shapes.Int  `field:"m_combinedState"`
		Monitor shapes.Ref  `field:"m_lock"`
	}
	// taskEvent is the event on which a thread waits for one or several tasks.
	taskEvent struct {
		_ shapes.Type `of:"System.Threading.Tasks.Task+SetOnInvokeMres|System.Threading.Tasks.Task+SetOnCountdownMres"`
	}
	countdown struct {
		_       shapes.Type `of:"System.Threading.CountdownEvent"`
		Count   shapes.Int  `field:"_currentCount"`
		Initial shapes.Int  `field:"_initialCount"`
		Event   shapes.Ref  `field:"_event"`
	}
	barrier struct {
		_     shapes.Type `of:"System.Threading.Barrier"`
		Phase shapes.Int  `field:"_currentPhase"`
		Odd   shapes.Ref  `field:"_oddEvent"`
		Even  shapes.Ref  `field:"_evenEvent"`
	}
	task struct {
		_            shapes.Type         `of:"System.Threading.Tasks.Task"`
		Continuation shapes.Ref          `field:"m_continuationObject"`
		Current      shapes.ThreadStatic `threadstatic:"t_currentTask,optional"`
	}
	// dispatcher is a struct on the stack of a thread that resumes methods which the runtime suspended
	// (AsyncHelpers.CoreCLR.cs, .NET 11). Dispatchers can be nested.
	dispatcher struct {
		_       shapes.Type         `of:"System.Runtime.CompilerServices.AsyncDispatcherInfo"`
		First   shapes.ThreadStatic `threadstatic:"t_current"`
		Next    shapes.Int          `field:"Next"`
		Current shapes.Ref          `field:"CurrentTask"`
	}
	// box is the task of an async method, with its state machine.
	box struct {
		_ shapes.Type `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>|System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
	}
	list struct {
		_     shapes.Type `of:"System.Collections.Generic.List<>"`
		Items shapes.Ref  `field:"_items"`
	}
	// blockingInfo is the record that the class library keeps on a thread's stack while it waits (.NET 9 and later).
	blockingInfo struct {
		_       shapes.Type         `of:"System.Threading.ThreadBlockingInfo"`
		First   shapes.ThreadStatic `threadstatic:"t_first"`
		Object  shapes.Int          `field:"_objectPtr"`
		Kind    shapes.Int          `field:"_objectKind"`
		Timeout shapes.Int          `field:"_timeoutMs"`
		Next    shapes.Int          `field:"_next"`
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
		_              shapes.Type `of:"System.Threading.Channels.UnboundedChannel<>|System.Threading.Channels.BoundedChannel<>|System.Threading.Channels.SingleConsumerUnboundedChannel<>|System.Threading.Channels.UnboundedPrioritizedChannel<>|System.Threading.Channels.RendezvousChannel<>"`
		Items          shapes.Ref  `field:"_items,optional"`
		Capacity       shapes.Int  `field:"_bufferedCapacity,optional"`
		BlockedReaders shapes.Ref  `field:"_blockedReadersHead|_blockedReaders|_blockedReader,optional"`
		WaitingReaders shapes.Ref  `field:"_waitingReadersHead|_waitingReadersTail|_waitingReader,optional"`
		BlockedWriters shapes.Ref  `field:"_blockedWritersHead|_blockedWriters,optional"`
		WaitingWriters shapes.Ref  `field:"_waitingWritersHead|_waitingWritersTail,optional"`
	}
	channelOperation struct {
		_    shapes.Type `of:"System.Threading.Channels.AsyncOperation<>"`
		Next shapes.Ref  `field:"<Next>,optional"`
	}
	channelReader struct {
		_      shapes.Type `of:"System.Threading.Channels.ChannelReader<>" fields:"derived"`
		Parent shapes.Ref  `field:"_parent,optional"`
	}
	// deque is the class library's queue, which keeps its elements in a ring buffer.
	deque struct {
		_     shapes.Type `of:"System.Collections.Generic.Deque<>"`
		Array shapes.Ref  `field:"_array"`
		Size  shapes.Int  `field:"_size"`
	}
	// completionSource is a promise: the program completes its task.
	completionSource struct {
		_    shapes.Type `of:"System.Threading.Tasks.TaskCompletionSource|System.Threading.Tasks.TaskCompletionSource<>"`
		Task shapes.Ref  `field:"_task"`
	}
	taskState struct {
		_     shapes.Type `of:"System.Threading.Tasks.Task"`
		State shapes.Ref  `field:"m_stateObject"`
	}
	// limiter is a rate limiter, which is the state object of the promises in its queue (ConcurrencyLimiter.cs,
	// FixedWindowRateLimiter.cs, SlidingWindowRateLimiter.cs; System.Threading.RateLimiting 8 and later).
	limiter struct {
		_       shapes.Type `of:"System.Threading.RateLimiting.ConcurrencyLimiter|System.Threading.RateLimiting.FixedWindowRateLimiter|System.Threading.RateLimiting.SlidingWindowRateLimiter"`
		Permits shapes.Int  `field:"_permitCount"`
		Queued  shapes.Int  `field:"_queueCount"`
		Options shapes.Ref  `field:"_options"`
	}
	limiterOptions struct {
		_     shapes.Type `of:"System.Threading.RateLimiting.ConcurrencyLimiterOptions|System.Threading.RateLimiting.FixedWindowRateLimiterOptions|System.Threading.RateLimiting.SlidingWindowRateLimiterOptions"`
		Limit shapes.Int  `field:"<PermitLimit>"`
		Queue shapes.Int  `field:"<QueueLimit>"`
	}
	// bucket is a rate limiter with a fractional number of permits (TokenBucketRateLimiter.cs).
	bucket struct {
		_      shapes.Type `of:"System.Threading.RateLimiting.TokenBucketRateLimiter"`
		Queued shapes.Int  `field:"_queueCount"`
	}
)
