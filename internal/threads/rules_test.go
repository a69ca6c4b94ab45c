package threads_test

import (
	"testing"

	"github.com/sosgo/sosgo/stackwalk"
	"github.com/stretchr/testify/assert"
)

func TestWaitRules(t *testing.T) {
	for _, c := range []struct {
		class, method string
		want          stackwalk.Activity
	}{
		{"System.Threading.Thread", "Sleep", stackwalk.ActivitySleep},
		{"System.Environment", "Exit", stackwalk.ActivityExit},
		{"System.Threading.Thread", "Join", stackwalk.ActivityJoin},
		{"System.Threading.Monitor", "Wait", stackwalk.ActivityMonitorWait},
		{"System.Threading.Monitor", "Enter_Slowpath", stackwalk.ActivityLock},
		{"System.Threading.Tasks.Task", "InternalWaitCore", stackwalk.ActivityTask},
		{"System.Threading.Tasks.Task`1", "GetResultCore", stackwalk.ActivityTask},
		{"System.Net.Sockets.SocketPal", "Accept", stackwalk.ActivitySocket},
		{"System.Net.Sockets.SocketAsyncEngine", "EventLoop", stackwalk.ActivityIdle},
		{"System.Diagnostics.ProcessWaitState", "WaitForExit", stackwalk.ActivityProcess},
		{"System.ConsolePal+UnixConsoleStream", "Read", stackwalk.ActivityConsole},
		{"System.Console", "ReadLine", stackwalk.ActivityConsole},
		{"System.IO.FileStream", "Read", stackwalk.ActivityFile},
	} {
		got, text, ok := stackwalk.WaitsFor(c.class, c.method)
		assert.True(t, ok, "%s.%s", c.class, c.method)
		assert.Equal(t, c.want, got, "%s.%s", c.class, c.method)
		assert.NotEmpty(t, text)
	}
	for class, method := range map[string]string{"System.String": "Concat", "App.Thread": "Sleep", "": ""} {
		got, text, ok := stackwalk.WaitsFor(class, method)
		assert.False(t, ok, "%s.%s: %v, %s", class, method, got, text)
	}
}
