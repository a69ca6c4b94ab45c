package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

// TestTakesTime checks that a limit counts as the program's only if the method that it called takes a time.
func TestTakesTime(t *testing.T) {
	for method, want := range map[string]bool{
		"System.Threading.Barrier.SignalAndWait()":                                    false,
		"System.Threading.SemaphoreSlim.Wait(System.Threading.CancellationToken)":     false,
		"System.Threading.Monitor.TryEnter(System.Object, Int32)":                     true,
		"System.Threading.Monitor.Wait(System.Object, System.TimeSpan)":               true,
		"System.Threading.Tasks.Task.Wait(Int32, System.Threading.CancellationToken)": true,
		"System.Threading.Int32Source.Wait()":                                         false,
	} {
		assert.Equal(t, want, takesTime(method), method)
	}
	w := wait{how: answer.HowRecorded, timeout: -1, steps: true}
	assert.Equal(t, "may wait for a limited time, which is unknown", endsByItself(&w, "System.Threading.Barrier.SignalAndWait(Int32, X)").Text)
	assert.True(t, endsByItself(&w, "System.Threading.Barrier.SignalAndWait()").IsZero())
}

// TestRings checks that a ring of async methods is found once, even if several stacks lead to it. A ring through
// another object may end.
func TestRings(t *testing.T) {
	state, done := int32(1), int32(-2)
	frame := func(at target.Addr, state *int32) answer.AsyncFrame {
		return answer.AsyncFrame{Object: at, State: state, Kind: answer.AsyncMethod, AsyncName: answer.AsyncName{Name: answer.Text{S: "Shop.A"}}}
	}
	for _, c := range []struct {
		name  string
		stack answer.AsyncStack
		want  string
	}{
		{"two", answer.AsyncStack{Ring: 1, Frames: []answer.AsyncFrame{frame(1, &state)}, Waits: []answer.AsyncFrame{frame(2, &state)}},
			"deadlock: Shop.A 0000000000000001 awaits Shop.A 0000000000000002, which awaits the first"},
		{"itself", answer.AsyncStack{Ring: 1, Frames: []answer.AsyncFrame{frame(1, &state)}}, "deadlock: Shop.A 0000000000000001 awaits itself"},
		{"behind others", answer.AsyncStack{Ring: 2, Frames: []answer.AsyncFrame{frame(1, &state)}, Waits: []answer.AsyncFrame{frame(2, &state)}}, "deadlock: Shop.A 0000000000000002 awaits itself"},
		{"through a task", answer.AsyncStack{Ring: 1, Frames: []answer.AsyncFrame{frame(1, &state)}, Waits: []answer.AsyncFrame{frame(2, nil)}}, ""},
		{"completed", answer.AsyncStack{Ring: 1, Frames: []answer.AsyncFrame{frame(1, &state)}, Waits: []answer.AsyncFrame{frame(2, &done)}}, ""},
		{"none", answer.AsyncStack{Frames: []answer.AsyncFrame{frame(1, &state)}}, ""},
	} {
		s := &survey{gaps: &answer.Gaps{}}
		s.ring(&c.stack)
		s.ring(&c.stack)
		out := (&grapher{s: s}).rings()
		if c.want == "" {
			assert.Empty(t, out, c.name)
			continue
		}
		require.Len(t, out, 1, c.name)
		assert.Equal(t, c.want, out[0].Text, c.name)
		assert.Equal(t, answer.FindingDeadlock, out[0].Kind)
		assert.Equal(t, answer.StrengthProved, out[0].Strength)
	}
}

// TestActivitiesThatWait checks that running threads, in managed or native code, do not count as waiting.
func TestActivitiesThatWait(t *testing.T) {
	for a, want := range map[threads.Activity]bool{threads.ActivitySleep: true, threads.ActivityEvent: true, threads.ActivitySocket: true, threads.ActivityRunning: false,
		threads.ActivityNative: false, threads.ActivityUnknown: false, threads.ActivityRuntime: false, threads.ActivitySuspended: false} {
		assert.Equal(t, want, waitsAlone(a), a.String())
		assert.Equal(t, a == threads.ActivityRunning || a == threads.ActivitySuspended, a.Runs(), a.String())
	}
}
