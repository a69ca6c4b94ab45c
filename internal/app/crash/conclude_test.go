package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestReceived checks that a signal from another process, or one for the process and no thread of it, is no failure of the thread that took it.
func TestReceived(t *testing.T) {
	sent := func(code int32, pid uint32) *target.Exception {
		return &target.Exception{Signal: &target.Signal{Number: target.SIGABRT, Known: true, Code: code, PID: pid}}
	}
	assert.True(t, received(sent(target.SIUser, 7), 42))
	assert.True(t, received(sent(target.SITkill, 7), 42))
	assert.False(t, received(sent(target.SITkill, 42), 42), "raise")
	assert.True(t, received(sent(target.SIUser, 42), 42), "kill")
	assert.True(t, received(sent(target.SIQueue, 42), 42), "sigqueue")
	assert.True(t, received(sent(target.SITkill, 42), 0), "without the number of the process")
	assert.False(t, received(&target.Exception{Signal: &target.Signal{Number: target.SIGABRT}}, 42), "the number alone")
	assert.False(t, received(&target.Exception{Code: codeCLR}, 42), "no signal")
}

// TestRecursion checks that a method which calls itself in several places is not said to call itself through itself.
func TestRecursion(t *testing.T) {
	const node, comparer = "Fleet.Node.GetHashCode()", "Fleet.NodeComparer.GetHashCode(Fleet.Node)"
	for want, names := range map[string][]string{
		node + " called itself":                                      {node, node},
		node + " called itself through " + comparer:                  {node, comparer},
		node + " called itself through System.HashCode.ToHashCode()": {node, "System.HashCode.ToHashCode()", node, "System.HashCode.ToHashCode()"},
		node + " called itself through 2 other calls":                {node, comparer, "System.HashCode.Add(System.Object)"},
		node + " called itself through System.Object.GetHashCode()":  {"System.Object.GetHashCode()", node},
		"System.Object.Equals(System.Object) called itself":          {"System.Object.Equals(System.Object)"},
	} {
		round := make([]answer.CrashFrame, len(names))
		for i := range names {
			round[i].Method.S = names[i]
		}
		round[0].Cycle = len(names)
		assert.Equal(t, ": "+want, recursion(&round[0], round).Text)
	}
}

// TestSendsSignals checks which native methods are known to send signals.
func TestSendsSignals(t *testing.T) {
	for method, want := range map[string]bool{"Fleet.H.kill": true, "Interop+Sys.Kill": true, "Fleet.H.sigqueue": true, "kill": true, "Fleet.H.Skill": false, "Fleet.H.getpid": false} {
		assert.Equal(t, want, sendsSignals(method), method)
	}
}

// TestConcludeFailFast checks that a missing message is reported as missing, and an unreadable one not as empty.
func TestConcludeFailFast(t *testing.T) {
	stack := []answer.CrashFrame{
		{Method: answer.Text{S: "System.Environment.FailFast(System.String)"}},
		{Method: answer.Text{S: "Shop.Orders.Ship(Int32)"}, File: "orders.cs", Line: 12},
	}
	for want, message := range map[string]answer.Text{
		"the program called Environment.FailFast: no stock, in Shop.Orders.Ship(Int32) [orders.cs @ 12]":                  {S: "no stock"},
		"the program called Environment.FailFast; its message is empty, in Shop.Orders.Ship(Int32) [orders.cs @ 12]":      {},
		"the program called Environment.FailFast; its message was not found, in Shop.Orders.Ship(Int32) [orders.cs @ 12]": {Err: target.ErrNotInDump},
		"the program called Environment.FailFast, in Shop.Orders.Ship(Int32) [orders.cs @ 12]":                            {Err: target.ErrCorrupt},
	} {
		d := &describer{died: &Crash{}, out: &answer.Crash{FailFast: &answer.FailFast{Message: message, Strength: answer.StrengthProved}, Stack: stack}}
		d.concludeFailFast()
		assert.Equal(t, want, d.out.Likely)
	}
	d := &describer{died: &Crash{}, out: &answer.Crash{FailFast: &answer.FailFast{Message: answer.Text{S: "no stock"}, Strength: answer.StrengthLikely}, Stack: stack}}
	d.concludeFailFast()
	assert.Equal(t, "the program called Environment.FailFast, likely with the message: no stock, in Shop.Orders.Ship(Int32) [orders.cs @ 12]", d.out.Likely)
}

// TestConcludeOverflow checks that the calls that used most of the stack are named.
func TestConcludeOverflow(t *testing.T) {
	out := &answer.Crash{ExceptionTree: answer.ExceptionTree{Exceptions: []answer.Exception{{HResult: resultStackOverflow}}}, Stack: []answer.CrashFrame{
		{Method: answer.Text{S: "A.Small()"}, Cycle: 1, Repeat: 3},
		{Method: answer.Text{S: "A.Walk()"}, Cycle: 2, Repeat: 5000, File: "walk.cs", Line: 7},
		{Method: answer.Text{S: "A.Step()"}},
		{Method: answer.Text{S: "A.Main()"}},
	}}
	d := &describer{died: &Crash{Thread: &stackwalk.Thread{}}, out: out}
	assert.True(t, d.overflowed())
	d.concludeOverflow()
	assert.Equal(t, "the stack overflowed: A.Walk() called itself through A.Step() [walk.cs @ 7]", out.Likely)
	none := &describer{died: &Crash{Thread: &stackwalk.Thread{}}, out: &answer.Crash{}}
	assert.False(t, none.overflowed())
	none.concludeOverflow()
	assert.Equal(t, "the stack overflowed", none.out.Likely)
}

// TestFinalizing checks that the finalizer thread's work is reported, and its idleness is not.
func TestFinalizing(t *testing.T) {
	list := []stackwalk.Thread{{OS: &target.Thread{ID: 6}, Managed: &dac.Thread{}}, {OS: &target.Thread{ID: 7}, Managed: &dac.Thread{Finalizer: true}}}
	row := func(id uint32, kind answer.ActivityKind, text, top string) (w answer.WaitingThread) {
		w.OSID, w.Kind, w.Text, w.Top.S = id, kind, text, top
		return w
	}
	conclude := func(rows ...answer.WaitingThread) []answer.Verdict {
		d := &describer{out: &answer.Crash{}}
		d.finalizing(list, &answer.Waiting{Threads: rows})
		return d.out.Verdicts
	}
	got := conclude(row(6, answer.ActivitySleep, "sleeps", "A()"), row(7, answer.ActivitySleep, "sleeps", "B.Finalize()"))
	require.Len(t, got, 1)
	assert.Equal(t, "the finalizer thread sleeps in B.Finalize()", got[0].Text)
	assert.Equal(t, answer.FindingFinalizers, got[0].Kind)
	assert.Empty(t, got[0].Severity)
	assert.Empty(t, conclude(row(6, answer.ActivitySleep, "sleeps", "A()"), row(7, answer.ActivityIdle, "idle (finalizer)", "")))
	got = conclude(row(7, answer.ActivityRuntime, "runs the runtime's code", "System.GC.GetGCMemoryInfo(System.GCKind)"))
	require.Len(t, got, 1)
	assert.Equal(t, answer.NoFinding, got[0].Kind, "the class library's finalizers run after each full collection")
	for _, of := range []string{"System.GC.RunFinalizers()", "System.Reflection.LoaderAllocatorScout.Finalize()"} {
		got = conclude(row(7, answer.ActivityNative, "runs unmanaged code", of))
		require.Len(t, got, 1)
		assert.Equal(t, answer.NoFinding, got[0].Kind, "%s calls the runtime", of)
	}
	for _, own := range []answer.WaitingThread{row(7, answer.ActivityRunning, "runs", "B.Finalize()"), row(7, answer.ActivityNative, "runs native code", "System.Net.Sockets.SafeSocketHandle.ReleaseHandle()")} {
		got = conclude(own)
		require.Len(t, got, 1)
		assert.Equal(t, answer.FindingFinalizers, got[0].Kind)
		assert.Equal(t, answer.SeverityWarning, got[0].Severity, "what runs may end in a moment")
	}
}

// TestRethrown: an exception that a handler threw again is listed once, though a thread has two states of it. Another thread has its own.
func TestRethrown(t *testing.T) {
	one, two := &stackwalk.Thread{Managed: &dac.Thread{ManagedID: 1}}, &stackwalk.Thread{Managed: &dac.Thread{ManagedID: 2}}
	again := carried{thread: one, thrown: 0x10, state: answer.CarriedHandling, in: &dac.ExceptionState{Addr: 0x100}}
	first := carried{thread: one, thrown: 0x10, state: answer.CarriedUnhandled, in: &dac.ExceptionState{Addr: 0x200}}
	outer := carried{thread: one, thrown: 0x20, state: answer.CarriedHandling, in: &dac.ExceptionState{Addr: 0x300}}
	other := carried{thread: two, thrown: 0x10, state: answer.CarriedLast}
	got := once([]carried{again, first, outer, other})
	require.Len(t, got, 3)
	assert.Equal(t, []target.Addr{0x10, 0x20, 0x10}, []target.Addr{got[0].thrown, got[1].thrown, got[2].thrown})
	assert.Equal(t, []answer.CarriedState{answer.CarriedUnhandled, answer.CarriedHandling, answer.CarriedLast}, []answer.CarriedState{got[0].state, got[1].state, got[2].state})
}
