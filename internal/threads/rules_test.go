package threads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/threads"
)

func TestWaitRules(t *testing.T) {
	for _, c := range []struct {
		class, method string
		want          threads.Activity
	}{
		{"System.Threading.Thread", "Sleep", threads.ActivitySleep},
		{"System.Threading.SemaphoreSlim", "WaitCore", threads.ActivityEvent},
		{"System.Environment", "Exit", threads.ActivityExit},
		{"System.Threading.Thread", "Join", threads.ActivityJoin},
		{"System.Threading.Thread", "StartCore", threads.ActivityRuntime},
		{"System.Threading.LowLevelLifoSemaphore", "ReleaseCore", threads.ActivityRuntime},
		{"System.Threading.LowLevelLifoSemaphore", "WaitNative", threads.ActivityEvent},
		{"System.Threading.ReaderWriterLockSlim", "ExitWriteLock", threads.ActivityRuntime},
		{"System.Threading.ReaderWriterLockSlim", "EnterWriteLock", threads.ActivityLock},
		{"System.Threading.Monitor", "Wait", threads.ActivityMonitorWait},
		{"System.Threading.Monitor", "ObjPulse", threads.ActivityRuntime},
		{"System.Threading.Monitor", "Enter_Slowpath", threads.ActivityLock},
		{"System.Threading.Tasks.Task", "InternalWaitCore", threads.ActivityTask},
		{"System.Threading.Tasks.Task`1", "GetResultCore", threads.ActivityTask},
		{"System.Net.Sockets.SocketPal", "Accept", threads.ActivitySocket},
		{"System.Net.Sockets.SocketAsyncEngine", "EventLoop", threads.ActivityIdle},
		{"System.Diagnostics.ProcessWaitState", "WaitForExit", threads.ActivityProcess},
		{"System.ConsolePal+UnixConsoleStream", "Read", threads.ActivityConsole},
		{"System.Console", "ReadLine", threads.ActivityConsole},
		{"System.IO.FileStream", "Read", threads.ActivityFile},
	} {
		got, text, ok := threads.WaitsFor(c.class, c.method)
		assert.True(t, ok, "%s.%s", c.class, c.method)
		assert.Equal(t, c.want, got, "%s.%s", c.class, c.method)
		assert.NotEmpty(t, text)
	}
	for class, method := range map[string]string{"System.String": "Concat", "System.Threading.SemaphoreSlim": "WaitAsyncCore", "App.Thread": "Sleep", "System.Threading.Thread": "StartCallback", "": ""} {
		got, text, ok := threads.WaitsFor(class, method)
		assert.False(t, ok, "%s.%s: %v, %s", class, method, got, text)
	}
}
