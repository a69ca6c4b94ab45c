package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
)

// Dumps of Selves.cs, run with "stuck" and with "moves".
const (
	selvesStuck = "../../../../testdata/dumps/waits/net9-selves-stuck/net9-selves-stuck.dmp.zst"
	selvesMove  = "../../../../testdata/dumps/waits/net9-selves-moves/net9-selves-moves.dmp.zst"
)

// TestTimersOwnEnd: a callback of a timer that waits until its timer has ended never returns, whether the timer sets an event or completes a task. Four loops that await their
// own ends are one finding.
func TestTimersOwnEnd(t *testing.T) {
	w := wholeWaits(t, selvesStuck)
	for _, waits := range []string{"waits for a System.Threading.ManualResetEvent", "waits for a task to complete"} {
		found := 0
		for i := range w.Verdicts {
			v := &w.Verdicts[i]
			if v.Kind == answer.FindingDeadlock && len(v.Evidence) == 1 && strings.Contains(v.Evidence[0], waits) && strings.Contains(v.Evidence[0], "Harbor.Tide.Stop") {
				assert.Regexp(t, `^deadlock: thread [0-9]+ "\.NET TP Worker" runs the callback of a Timer and waits for its completion$`, v.Text)
				found++
			}
		}
		assert.Equal(t, 1, found, waits)
	}
	a, err := triage.Triage(t.Context(), view(t, openCanned(t, selvesStuck)).Process, triage.Options{NoHeap: true})
	require.NoError(t, err)
	require.Len(t, a.Findings, 3)
	assert.Regexp(t, `^Harbor\.Courier\.Loop [0-9a-f]{16} awaits Harbor\.Courier\.DisposeAsync [0-9a-f]{16}, which awaits the first; 3 more are alike$`, a.Findings[1].Text)
	assert.Equal(t, 4, a.Findings[1].Count)
}

// TestTimersEndOfOthers: threads that wait for timers are in no circle if other threads run the callbacks.
func TestTimersEndOfOthers(t *testing.T) {
	w := wholeWaits(t, selvesMove)
	require.Len(t, w.Threads, 2)
	for i := range w.Verdicts {
		assert.Equal(t, answer.FindingBlocked, w.Verdicts[i].Kind, w.Verdicts[i].Text)
		assert.Contains(t, w.Verdicts[i].Text, ` runs the callback of a Timer; thread `)
	}
}
