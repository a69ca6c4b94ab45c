package ondumps_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// Dumps of a program with async methods that wait for each other, and of the same program without work (AsyncWaits.cs).
const (
	asyncWaits = "../../../../testdata/dumps/waits/net10-asyncwaits/net10-asyncwaits.dmp.zst"
	idleWaits  = "../../../../testdata/dumps/waits/net10-idle/net10-idle.dmp.zst"
)

// openCanned opens a canned dump.
func openCanned(t *testing.T, path string) *sosgo.Dump {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

func waitsOf(t *testing.T, path string) *answer.Waits {
	t.Helper()
	out, err := reader(t, openCanned(t, path)).Waits(t.Context(), locks.Options{})
	require.NoError(t, err)
	return out
}

// wholeWaits returns the waits of a whole process: it is known that all of the heap is there.
func wholeWaits(t *testing.T, path string) *answer.Waits {
	t.Helper()
	out, err := locks.Waits(t.Context(), view(t, openCanned(t, path)).Process, locks.Options{})
	require.NoError(t, err)
	return out
}

// verdictAbout returns the only verdict with part in its text.
func verdictAbout(t *testing.T, w *answer.Waits, part string) *answer.Verdict {
	t.Helper()
	var out []*answer.Verdict
	for i := range w.Verdicts {
		if strings.Contains(w.Verdicts[i].Text, part) {
			out = append(out, &w.Verdicts[i])
		}
	}
	require.Len(t, out, 1, part)
	return out[0]
}

// TestAsyncWaits compares the waits of suspended async methods with the source of the program.
func TestAsyncWaits(t *testing.T) {
	got := waitsOf(t, asyncWaits)
	assert.Empty(t, got.Threads, "no thread waits")
	type row struct {
		count        int
		from, method string
		kind         answer.WaitKind
		name, text   string
		holders      int
	}
	var rows []row
	for i := range got.Operations {
		o := &got.Operations[i]
		assert.Len(t, o.First, min(o.Count, 5))
		assert.NotZero(t, o.First[0])
		rows = append(rows, row{o.Count, o.From, o.Method.S, o.Kind, o.Name, o.State, len(o.Holders)})
	}
	semaphore := answer.LockSemaphore
	assert.Equal(t, []row{
		{60, "", "Shop.Program.Request", semaphore, "Shop.Database.Connections.gate", "0 of 10 may enter", 0},
		{49, "Shop.Program.Ship", "Shop.BoundedQueue.WriteAsync", answer.WaitPromise, "Shop.BoundedQueue.Orders.room", "", 0},
		{16, "", "Shop.Program.Transfer", semaphore, "Shop.Accounts.A.gate", "0 of 1 may enter", 1},
		{3, "Shop.Program.Count", "Shop.AsyncLock.EnterAsync", semaphore, "Shop.AsyncLock.Stock.semaphore", "0 of 1 may enter", 1},
		{1, "", "Shop.Program.Transfer", semaphore, "Shop.Accounts.B.gate", "0 of 1 may enter", 1},
		{1, "", "Shop.Program.Count", answer.WaitPromise, "", "", 0},
		{1, "", "Shop.Program.Consume", semaphore, "Shop.Program.signal", "0 may enter", 0},
	}, rows)
}

// TestAsyncDeadlock checks that two methods, each past its wait for the semaphore that the other waits for, are the
// first verdict, a likely deadlock. The verdict counts the other waiters.
func TestAsyncDeadlock(t *testing.T) {
	got := waitsOf(t, asyncWaits)
	v := &got.Verdicts[0]
	assert.Equal(t, answer.FindingDeadlock, v.Kind)
	assert.Equal(t, answer.StrengthLikely, v.Strength, "a semaphore does not record who has entered")
	assert.Regexp(t, `^deadlock: Shop\.Program\.Transfer [0-9a-f]{16} has likely entered Shop\.Accounts\.A\.gate \(SemaphoreSlim\) and waits for Shop\.Accounts\.B\.gate `+
		`\(SemaphoreSlim\), Shop\.Program\.Transfer [0-9a-f]{16} has likely entered Shop\.Accounts\.B\.gate \(SemaphoreSlim\) and waits for Shop\.Accounts\.A\.gate `+
		`\(SemaphoreSlim\); 15 more wait for Shop\.Accounts\.A\.gate`, v.Text)
	assert.Len(t, v.Evidence, 4)
	assert.Len(t, v.Show, 2)
	for _, line := range v.Show {
		assert.Regexp(t, `^dumpasync -address [0-9a-f]{16}$`, line)
	}
	for i := range got.Verdicts[1:] {
		assert.NotContains(t, got.Verdicts[1+i].Text, "Accounts", "said once")
	}
}

// TestLostPermits checks that a semaphore without permits and without a holder is reported as likely.
func TestLostPermits(t *testing.T) {
	v := verdictAbout(t, waitsOf(t, asyncWaits), "Shop.Database.Connections.gate")
	assert.Equal(t, answer.FindingPermits, v.Kind)
	assert.Equal(t, answer.StrengthLikely, v.Strength)
	assert.Contains(t, v.Text, "60 suspended operations wait for Shop.Database.Connections.gate (SemaphoreSlim), 0 of 10 may enter; nobody was found who can give a permit back")
}

// TestAsyncLock finds a method that entered a lock through the lock's own method, and what it waits for.
func TestAsyncLock(t *testing.T) {
	v := verdictAbout(t, waitsOf(t, asyncWaits), "Shop.AsyncLock.Stock.semaphore")
	assert.Equal(t, answer.StrengthLikely, v.Strength)
	assert.Regexp(t, `^3 suspended operations wait for .*; Shop\.Program\.Count [0-9a-f]{16} likely entered it, and waits for a promise`, v.Text)
}

// TestSignal checks that waiting for a semaphore without releasing it is no finding, and that promises in a queue are.
func TestSignal(t *testing.T) {
	got := waitsOf(t, asyncWaits)
	for _, v := range got.Verdicts {
		assert.NotContains(t, v.Text, "Shop.Program.signal")
	}
	v := verdictAbout(t, got, "Shop.BoundedQueue.Orders.room")
	assert.Equal(t, answer.StrengthRecorded, v.Strength)
	assert.Contains(t, v.Text, "the dump does not record who completes them")
	at := slices.IndexFunc(got.Verdicts, func(v answer.Verdict) bool {
		return v.Strength == answer.StrengthLikely && v.Kind != answer.FindingDeadlock
	})
	assert.Greater(t, at, slices.IndexFunc(got.Verdicts, func(x answer.Verdict) bool { return x.Text == v.Text }), "the strongest first")
}

// TestIdleProgram checks that a program without work has no verdicts and no rows.
func TestIdleProgram(t *testing.T) {
	got := waitsOf(t, idleWaits)
	assert.Empty(t, got.Verdicts)
	assert.Empty(t, got.Threads)
	assert.Empty(t, got.Operations)
	require.Len(t, got.Idle, 1)
	assert.Equal(t, "the program's entry point waits", got.Idle[0].Reason)
	assert.Empty(t, got.Noted())
}
