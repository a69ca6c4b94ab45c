package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Paced.cs, run with "moves" and with "stuck".
const (
	pacedMoves = "../../../../testdata/dumps/waits/net10-paced-moves/net10-paced-moves.dmp.zst"
	pacedStuck = "../../../../testdata/dumps/waits/net10-paced-stuck/net10-paced-stuck.dmp.zst"
)

// TestPacedMoves: a queue is full by design if what takes from it waits for an event, a pulse, a promise or a ticket that something gives which goes on.
func TestPacedMoves(t *testing.T) {
	w := wholeWaits(t, pacedMoves)
	for i := range w.Verdicts {
		assert.Fail(t, "a finding", w.Verdicts[i].Text)
	}
	var waiting []string // they do wait
	for i := range w.Operations {
		waiting = append(waiting, w.Operations[i].Statement.Text)
	}
	for i := range w.Threads {
		waiting = append(waiting, w.Threads[i].Thread.Name)
	}
	all := strings.Join(waiting, "\n")
	for _, name := range []string{"AckWell.first", "TimerAckWell.first", "WindowWell.first", "BatchWell.first",
		"hand source", "tick source", "beat source", "gate source", "pulse source", "static source", "box source"} {
		assert.Contains(t, all, name)
	}
}

// TestPacedStuck: the queue is a finding if what would give it has ended, waits itself for room in the queue or for what nobody gives, or polls.
func TestPacedStuck(t *testing.T) {
	w := wholeWaits(t, pacedStuck)
	says := map[string]answer.Severity{}
	for i := range w.Verdicts {
		if v := &w.Verdicts[i]; v.Kind == answer.FindingFull {
			says[v.Text] = v.Severity
		}
	}
	require.Len(t, says, 15)
	for _, queue := range []string{"AckDead.first", "AckRing.first", "TimerAckDead.first", "WindowDead.first", "WindowRing.first", "BatchStuck.first",
		"HandDead.belt", "HandRing.belt", "HandStuck.belt", "TickDead.belt", "BeatDead.belt", "GateDead.belt", "PulseDead.belt", "PollDead.belt", "BoxRing.belt"} {
		found := 0
		for text, severity := range says {
			if strings.Contains(text, "Paced."+queue+")") {
				found++
				assert.Empty(t, severity, text)
			}
		}
		assert.Equal(t, 1, found, queue)
	}
}
