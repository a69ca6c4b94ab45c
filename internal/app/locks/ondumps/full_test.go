package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestStuck checks the conclusions from waits that never end: a finalizer needs a lock of a thread that waits for the
// finalizers; a thread blocks on code that must go on in this thread; a method enters a semaphore twice; three threads
// wait for a semaphore that another holds; two producers wait for room in a BlockingCollection of three; twelve calls
// await one promise. Five workers wait for work, which is normal.
func TestStuck(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	got := map[answer.FindingKind][]answer.Verdict{}
	var kinds []answer.FindingKind
	for _, x := range w.Verdicts {
		if strings.Contains(x.Text, "rate limiter") {
			continue
		}
		kinds = append(kinds, x.Kind)
		got[x.Kind] = append(got[x.Kind], x)
	}
	assert.Equal(t, []answer.FindingKind{answer.FindingDeadlock, answer.FindingDeadlock, answer.FindingDeadlock, answer.FindingPromises, answer.FindingPermits, answer.FindingFull}, kinds, "deadlocks come first, then by strength")
	dead := got[answer.FindingDeadlock]
	require.Len(t, dead, 3)
	for i, parts := range [][]string{
		{`thread 5 (finalizer) runs finalizers and waits for System.Object `, `(Stuck.Res.Sync), thread 11 "holder" holds System.Object `, ` and waits for the finalizer thread`},
		{`thread 12 "ui" blocks in Stuck.M.Show.<lambda> until a task completes: Stuck.M.Load, which can go on: what it awaits has completed; it likely has to go on in this thread, whose SynchronizationContext is a Stuck.Pump`},
		{`Stuck.M.Outer `, ` has likely entered Stuck.M.once (SemaphoreSlim) and waits for it once more, in a method that it awaits; 3 suspended operations wait for Stuck.M.once (SemaphoreSlim), 0 of 1 may enter`},
	} {
		assert.Equal(t, answer.StrengthLikely, dead[i].Strength)
		for _, part := range parts {
			assert.Contains(t, dead[i].Text, part)
		}
	}
	full := append(got[answer.FindingFull], got[answer.FindingPermits]...)
	require.Len(t, full, 2)
	assert.Contains(t, full[0].Text, `2 threads, the first 18 "producer 0", wait for room in BlockingCollection `)
	assert.Contains(t, full[0].Text, `, which has all of its 3 items; the dump does not record who takes from it`)
	assert.Contains(t, full[1].Text, `3 threads, the first 15 "seat 1", wait for Stuck.M.seats (SemaphoreSlim), 0 of 1 may enter; it does not record who has entered; `+
		`thread 14 "seat 0", in Stuck.M.Seat, likely entered it; thread 14 "seat 0" sleeps in Stuck.M.Seat()`)
	assert.Equal(t, []int{2, 3}, []int{full[0].Count, full[1].Count})
	assert.Equal(t, []answer.Severity{answer.SeverityWarning, ""}, []answer.Severity{full[0].Severity, full[1].Severity}, "who takes is not known, and a holder that sleeps for an hour does not go on soon")
	assert.Contains(t, got[answer.FindingPromises][0].Text, "12 suspended operations wait for one task, a promise in Stuck.Reply.tcs, which nothing has completed")
	workers := 0
	for _, x := range w.Threads {
		if strings.HasPrefix(x.Thread.Name, "worker ") {
			workers++
		}
		if x.Thread.Name == "holder" {
			assert.Equal(t, answer.WaitFinalizer, x.Kind)
			assert.Equal(t, "waits for the finalizer thread", x.Text)
		}
	}
	assert.Equal(t, 5, workers, "they are listed, and no finding")
}

// TestEmptyCollection: a thread that waits for an item of an empty BlockingCollection waits for no permit that another thread holds.
func TestEmptyCollection(t *testing.T) {
	w := wholeWaits(t, "../../../../testdata/dumps/waits/net9-feed/net9-feed.dmp.zst")
	require.Len(t, w.Verdicts, 1)
	assert.Equal(t, answer.FindingHeld, w.Verdicts[0].Kind)
	assert.Regexp(t, ` itself waits for a SemaphoreSlim [0-9a-f]{16}, the number of items in BlockingCollection [0-9a-f]{16}, which has none to take; no thread that waits for it has got it for at least 1\.5 s$`, w.Verdicts[0].Text)
}

// TestRunningStateMachine: an async method that runs reads a full channel, or is inside a semaphore, by the struct that its state machine is: on the stack,
// or in its box. What stands behind the finally block that releases the semaphore has left it.
func TestRunningStateMachine(t *testing.T) {
	for name, waiting := range map[string]int{"net9-flow": 1, "net9-asynclock": 18} {
		w := waitsOf(t, "../../../../testdata/dumps/waits/"+name+"/"+name+".dmp.zst")
		assert.Empty(t, w.Verdicts, name)
		n := 0
		for i := range w.Operations {
			if kind := w.Operations[i].Kind; kind == answer.WaitChannel || kind == answer.WaitKind(answer.LockSemaphore) {
				n += w.Operations[i].Count
			}
		}
		assert.Equal(t, waiting, n, name)
	}
}
