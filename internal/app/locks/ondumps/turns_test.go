package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Turns.cs, run with "moves" and with "stuck".
const (
	turnsMoves = "../../../../testdata/dumps/waits/net10-turns-moves/net10-turns-moves.dmp.zst"
	turnsStuck = "../../../../testdata/dumps/waits/net10-turns-stuck/net10-turns-stuck.dmp.zst"
)

// TestTurnsMove: nothing is wrong where many wait for what soon comes: a lock around a write to a file, a lock around a token that one of them renews, and
// promises that the callback of a timer, a suspended method or a thread is about to complete.
func TestTurnsMove(t *testing.T) {
	w := waitsOf(t, turnsMoves)
	assert.Empty(t, w.Verdicts)
	counts := map[string]int{}
	for i := range w.Operations {
		counts[w.Operations[i].Name] += w.Operations[i].Count
	}
	assert.Equal(t, []int{19, 19, 20}, []int{counts["Turns.Log.gate"], counts["Turns.Tokens.gate"], counts["Turns.Group.batch"]}, "they wait")
}

// TestTurnsStuck: the same code is stuck where the file is a pipe without a writer, where nothing refers to the timer, where a method waits for ever or polls
// for what nobody sets before it completes the promise or leaves the lock, and where the thread waits for an event.
func TestTurnsStuck(t *testing.T) {
	w := waitsOf(t, turnsStuck)
	require.Len(t, w.Verdicts, 6)
	log := verdictAbout(t, w, "Turns.Log.gate")
	assert.Equal(t, answer.FindingPermits, log.Kind)
	assert.Equal(t, answer.SeverityWarning, log.Severity, "a pipe may be written to in a moment")
	assert.Regexp(t, `; Turns\.Log\.Run [0-9a-f]{16} likely entered it, and waits for an asynchronous read of a pipe or a device, which a thread of the pool does; the dump does not record since when$`, log.Text)
	for _, field := range []string{"Turns.Group.batch", "Turns.Flusher.done", "Turns.Coalescer.next"} {
		v := verdictAbout(t, w, field)
		assert.Equal(t, answer.FindingPromises, v.Kind)
		assert.Contains(t, v.Text, "which nothing has completed; the dump does not record who should", field)
	}
	batch := verdictAbout(t, w, "; the dump does not record who completes them")
	assert.Contains(t, batch.Text, "wait for a promise in System.Threading.Tasks.TaskCompletionSource<System.Int32>[]", "the array of the method that completes them, and no dead list")
	tokens := verdictAbout(t, w, "Turns.Tokens.gate")
	assert.Equal(t, answer.SeverityWarning, tokens.Severity)
	assert.Regexp(t, `; Turns\.Tokens\.Get [0-9a-f]{16} likely entered it, and waits for a Task\.Delay of 120 ms$`, tokens.Text)
}
