package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

// TestReadsInLoop checks that a loop that reads and compares is a wait, and one that stores, computes or allocates is
// work.
func TestReadsInLoop(t *testing.T) {
	const nop, ret, ldsfld, stsfld, brfalse, br, add, newobj, conv = 0x00, 0x2A, 0x7E, 0x80, 0x2C, 0x2B, 0x58, 0x73, 0xFE
	const ldfld, ldloc0, stloc0, stloc1, ldlocS, stlocS = 0x7B, 0x06, 0x0A, 0x0B, 0x11, 0x13
	back := func(n int) byte { return byte(-n) }
	for name, c := range map[string]struct {
		il             []byte
		loops, follows bool
	}{
		"node = node.next":  {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brfalse, back(9), ret}, true, true},
		"n5 = n5.next.next": {[]byte{ldlocS, 5, ldfld, 1, 0, 0, 4, ldfld, 1, 0, 0, 4, stlocS, 5, br, back(16)}, true, true},
		"other = node.next": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc1, ldloc0, brfalse, back(9), ret}, true, false},
		"n6 = n5.next":      {[]byte{ldlocS, 5, ldfld, 1, 0, 0, 4, stlocS, 6, br, back(11)}, true, false},
		"n = s.next":        {[]byte{ldsfld, 1, 0, 0, 4, ldfld, 1, 0, 0, 4, stloc0, br, back(12)}, true, false},
		"n.next, no loop":   {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ret}, false, false},
		"while (!stop)":     {[]byte{nop, ldsfld, 1, 0, 0, 4, brfalse, back(7), ret}, true, false},
		"no loop":           {[]byte{ldsfld, 1, 0, 0, 4, brfalse, 0, ret}, false, false},
		"forever":           {[]byte{br, back(2)}, true, false},
		"stores":            {[]byte{ldsfld, 1, 0, 0, 4, stsfld, 2, 0, 0, 4, br, back(12)}, false, false},
		"computes":          {[]byte{ldsfld, 1, 0, 0, 4, ldsfld, 1, 0, 0, 4, add, brfalse, back(13), ret}, false, false},
		"makes objects":     {[]byte{newobj, 1, 0, 0, 6, brfalse, back(7), ret}, false, false},
		"work after loop":   {[]byte{ldsfld, 1, 0, 0, 4, brfalse, back(7), newobj, 1, 0, 0, 6, ret}, false, false},
	} {
		got, follows, err := readsInLoop(c.il)
		require.NoError(t, err, name)
		assert.Equal(t, c.loops, got, name)
		assert.Equal(t, c.follows, follows, name)
	}
	for _, il := range [][]byte{{ldsfld, 1}, {conv}, {br}} { // cut off
		loops, _, err := readsInLoop(il)
		require.Error(t, err)
		assert.False(t, loops)
	}
}

// FuzzReadsInLoop checks that damaged IL gives an error or an answer.
func FuzzReadsInLoop(f *testing.F) {
	f.Add([]byte{0x00, 0x2B, 0xFD})
	f.Add([]byte{0x45, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, il []byte) {
		if loops, _, err := readsInLoop(il); loops && err != nil {
			t.Fatal("an answer with an error")
		}
	})
}

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
	}
}
