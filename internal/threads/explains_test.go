package threads

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCallsExplain: what a thread waits for is said by the methods that call its wait, and not by others further out.
func TestCallsExplain(t *testing.T) {
	const queue, engine = "System.Collections.Concurrent.BlockingCollection`1", "System.Net.Sockets.SocketAsyncEngine"
	const monitor, semaphore = "System.Threading.Monitor", "System.Threading.SemaphoreSlim"
	for name, c := range map[string]struct {
		calls [][2]string // leaf first
		want  Activity
		text  string
	}{
		"starts a worker": {[][2]string{{"System.Threading.Thread", "StartCore"}, {"System.Threading.PortableThreadPool+WorkerThread", "MaybeAddWorkingWorker"},
			{engine, "System.Threading.IThreadPoolWorkItem.Execute"}, {"System.Threading.ThreadPoolWorkQueue", "Dispatch"}, {"System.Threading.PortableThreadPool+WorkerThread", "WorkerThreadStart"}},
			ActivityRuntime, "starts a thread"},
		"a lock of the socket": {[][2]string{{monitor, "Enter"}, {"System.Net.Sockets.SocketAsyncContext", "HandleEvents"}, {engine, "System.Threading.IThreadPoolWorkItem.Execute"}},
			ActivityLock, "waits for a lock (Monitor.Enter)"},
		"events of sockets": {[][2]string{{"System.Net.Sockets.SocketPal", "TryCompleteReceive"}, {engine, "System.Threading.IThreadPoolWorkItem.Execute"}}, ActivityNative, "handles events of sockets"},
		"a new worker":      {[][2]string{{monitor, "ReliableEnter"}, {"System.Threading.PortableThreadPool+WorkerThread", "WorkerThreadStart"}}, ActivityLock, "waits for a lock (Monitor.Enter)"},
		"an idle worker": {[][2]string{{"System.Threading.LowLevelMonitor", "Wait"}, {"System.Threading.LowLevelLifoSemaphore", "Wait"},
			{"System.Threading.PortableThreadPool+WorkerThread", "WorkerThreadStart"}}, ActivityIdle, "idle (worker of the thread pool)"},
		"a socket's answer": {[][2]string{{monitor, "Wait"}, {"System.Threading.ManualResetEventSlim", "Wait"}, {"System.Net.Sockets.SocketAsyncContext", "PerformSyncOperation"}},
			ActivitySocket, "waits for the network (socket)"},
		"adds":             {[][2]string{{"System.Threading.CancellationTokenSource", "CreateLinkedTokenSource"}, {queue, "TryAddWithNoTimeValidation"}, {queue, "Add"}}, ActivityUnknown, ""},
		"waits for room":   {[][2]string{{monitor, "Wait"}, {semaphore, "Wait"}, {queue, "TryAddWithNoTimeValidation"}, {queue, "Add"}}, ActivityQueue, "waits for room in a queue"},
		"waits for items":  {[][2]string{{monitor, "Wait"}, {semaphore, "Wait"}, {queue, "TryTakeWithNoTimeValidation"}, {queue, "Take"}}, ActivityQueue, "waits for items of a queue"},
		"a queue's lock":   {[][2]string{{monitor, "Enter"}, {"System.Collections.Concurrent.ConcurrentQueue`1", "Enqueue"}, {queue, "Add"}}, ActivityLock, "waits for a lock (Monitor.Enter)"},
		"prepares to wait": {[][2]string{{"System.Threading.Tasks.Task", "AddCompletionAction"}, {"System.Threading.Tasks.Task", "InternalWaitCore"}}, ActivityUnknown, ""},
		"waits for a task": {[][2]string{{monitor, "ObjWait"}, {monitor, "Wait"}, {"System.Threading.ManualResetEventSlim", "Wait"}, {"System.Threading.Tasks.Task", "SpinThenBlockingWait"}},
			ActivityTask, "waits for a task"},
	} {
		a := &activityFinder{framework: true}
		for _, call := range c.calls {
			if a.framework {
				a.call(call[0], call[1], nil)
			}
		}
		assert.Equal(t, c.want.String(), a.out.Activity.String(), name)
		assert.Equal(t, c.text, a.out.Text, name)
	}
}
