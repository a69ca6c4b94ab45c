package locks

import "github.com/sosgo/sosgo/objects/shapes"

// The shapes of what threads wait for.
type (
	// A mutex is one of the system or of the runtime's native part, which keep who owns it.
	mutex struct {
		_ shapes.Type `of:"System.Threading.Mutex"`
	}
	// primitive is any of them.
	primitive struct {
		_ shapes.Type `of:"System.Threading.Lock|System.Threading.SemaphoreSlim|System.Threading.ReaderWriterLockSlim|System.Threading.ManualResetEventSlim|System.Threading.CountdownEvent|System.Threading.Barrier|System.Lazy<>|System.Threading.WaitHandle"`
	}
	managedLock struct {
		_         shapes.Type `of:"System.Threading.Lock"`
		Owner     shapes.Int  `field:"_owningThreadId"`
		Recursion shapes.Int  `field:"_recursionCount"`
	}
	// lockID is by what a Lock knows a thread.
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
	// lazyValue keeps its LazyHelper until the value is there. Who makes the value holds the helper's monitor.
	lazyValue struct {
		_      shapes.Type `of:"System.Lazy<>"`
		Helper shapes.Ref  `field:"_state"`
	}
	spinLock struct {
		_     shapes.Type `of:"System.Threading.SpinLock"`
		Owner shapes.Int  `field:"_owner"`
	}
	threadObject struct {
		_  shapes.Type `of:"System.Threading.Thread"`
		ID shapes.Int  `field:"_managedThreadId"`
	}
	// waitHandle is what the operating system, or the runtime's emulation of it, lets threads wait for.
	waitHandle struct {
		_    shapes.Type `of:"System.Threading.WaitHandle"`
		Safe shapes.Ref  `field:"_waitHandle"`
	}
	event struct {
		_       shapes.Type `of:"System.Threading.ManualResetEventSlim"`
		State   shapes.Int  `field:"m_combinedState"`
		Monitor shapes.Ref  `field:"m_lock"`
	}
	// taskEvent is the event on which a thread waits for a task to complete, or for several.
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
	// box is the task of an async method, with its state machine.
	box struct {
		_ shapes.Type `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>|System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
	}
	list struct {
		_     shapes.Type `of:"System.Collections.Generic.List<>"`
		Items shapes.Ref  `field:"_items"`
	}
	// blockingInfo is what the class library notes while a thread waits (.NET 9 and later), in a struct on its stack.
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

// Bits of SpinLock._owner: the top one says that the lock does not keep its owner, and the lowest then that it is held. Else it is the
// managed id of the owner, 0 for none. They are constants of the class in all versions.
const (
	spinAnonymous = 1 << 31
	spinHeld      = 1
)

// Bits of ManualResetEventSlim.m_combinedState: the top one says that the event is set, the lowest 19 count who waits. They
// are constants of the class in all versions.
const (
	eventSet     = 1 << 31
	eventWaiters = 1<<19 - 1
)
