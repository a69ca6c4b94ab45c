package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Rounds.cs, run with "stuck" and with "moves".
const (
	roundsStuck = "../../../../testdata/dumps/waits/net10-rounds-stuck/net10-rounds-stuck.dmp.zst"
	roundsMoves = "../../../../testdata/dumps/waits/net10-rounds-moves/net10-rounds-moves.dmp.zst"
)

// TestRoundsStuck: the edges of circles are an event that each object makes for itself, an item of a queue that would set an event or complete a promise, what
// a thread has in a variable, and a task that waits for itself.
func TestRoundsStuck(t *testing.T) {
	w := wholeWaits(t, roundsStuck)
	require.Len(t, w.Verdicts, 4)
	for i, want := range []struct {
		strength answer.Strength
		text     string
	}{
		{answer.StrengthProved, `^deadlock: thread \d+ .* runs task (\S+) and waits for its completion$`},
		{answer.StrengthLikely, `^deadlock: thread 7 "pump" holds .*, thread 8 "closer" alone would set System\.Threading\.ManualResetEventSlim .* later and waits for System\.Object`},
		{answer.StrengthLikely, `^deadlock: thread 9 "ui" takes from \S+ \(Shop\.Loop\.q\), and only an item there would set System\.Threading\.ManualResetEvent \S+, and waits for task \S+, thread \d+ .* runs task \S+ and waits for`},
		{answer.StrengthLikely, `^deadlock: thread 13 "agent a" takes from \S+ \(Shop\.Agent\.box\), and only an item there would complete task \S+, and waits for task \S+, thread 14 "agent b" alone has what would complete task`},
	} {
		v := &w.Verdicts[i]
		assert.Equal(t, answer.FindingDeadlock, v.Kind)
		assert.Equal(t, want.strength, v.Strength, v.Text)
		assert.Regexp(t, want.text, v.Text)
	}
}

// TestRoundsMove: the same code is no deadlock where a time ends a wait, where a timer gives new objects the event that others wait for, where the delegate or the
// promise is kept elsewhere, too, and where another thread takes from the queue.
func TestRoundsMove(t *testing.T) {
	w := wholeWaits(t, roundsMoves)
	require.Len(t, w.Verdicts, 6)
	for i := range w.Verdicts {
		assert.NotEqual(t, answer.FindingDeadlock, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	assert.Equal(t, answer.FindingCircle, w.Verdicts[0].Kind, "for at most an hour")
}
