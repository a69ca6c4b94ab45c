package threads

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWaitRules(t *testing.T) {
	for _, c := range []struct {
		class, method string
		want          Activity
	}{
		{"System.Threading.Thread", "Sleep", ActivitySleep},
		{"System.Threading.Thread", "Join", ActivityJoin},
		{"System.Threading.Monitor", "Wait", ActivityMonitorWait},
		{"System.Threading.Monitor", "Enter_Slowpath", ActivityLock},
		{"System.Threading.Tasks.Task", "InternalWaitCore", ActivityTask},
		{"System.Threading.Tasks.Task`1", "GetResultCore", ActivityTask},
		{"System.Net.Sockets.SocketPal", "Accept", ActivitySocket},
		{"System.Net.Sockets.SocketAsyncEngine", "EventLoop", ActivityIdle},
		{"System.Diagnostics.ProcessWaitState", "WaitForExit", ActivityProcess},
		{"System.ConsolePal+UnixConsoleStream", "Read", ActivityConsole},
		{"System.Console", "ReadLine", ActivityConsole},
		{"System.IO.FileStream", "Read", ActivityFile},
	} {
		r := findRule(waitRules, c.class, c.method)
		require.NotNil(t, r, "%s.%s", c.class, c.method)
		assert.Equal(t, c.want, r.activity, "%s.%s", c.class, c.method)
	}
	assert.Nil(t, findRule(waitRules, "System.String", "Concat"))
	assert.Nil(t, findRule(waitRules, "App.Thread", "Sleep"))
	assert.NotNil(t, findRule(waitEnds, "System.Threading.ThreadPoolWorkQueue", "Dispatch"))
	for _, r := range waitRules {
		assert.True(t, isFramework(r.class), r.class)
		assert.NotEmpty(t, r.text)
	}
}
