package locks

import "github.com/sosgo/sosgo/shapes"

// The shapes of what threads wait for.
type (
	// primitive is any of them.
	primitive struct {
		_ shapes.Type `of:"System.Threading.Lock|System.Threading.SemaphoreSlim|System.Threading.ReaderWriterLockSlim|System.Threading.ManualResetEventSlim|System.Threading.CountdownEvent|System.Threading.Barrier"`
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
		Monitor shapes.Ref  `field:"m_lockObjAndDisposed|m_lockObj"`
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
	}
	event struct {
		_       shapes.Type `of:"System.Threading.ManualResetEventSlim"`
		State   shapes.Int  `field:"m_combinedState"`
		Monitor shapes.Ref  `field:"m_lock"`
	}
	// taskEvent is the event on which a thread waits for a task to complete.
	taskEvent struct {
		_ shapes.Type `of:"System.Threading.Tasks.Task+SetOnInvokeMres"`
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

// Bits of ManualResetEventSlim.m_combinedState: the top one says that the event is set, the lowest 19 count who waits. They
// are constants of the class in all versions.
const (
	eventSet     = 1 << 31
	eventWaiters = 1<<19 - 1
)
