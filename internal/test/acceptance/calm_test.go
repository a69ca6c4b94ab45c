package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
)

// calm are the kinds of Calm.cs. Those without a finding look ill and are healthy; the others are twins of one of them.
var calm = []struct {
	kind     string
	finding  answer.FindingKind
	severity answer.Severity
	says     string
}{
	{"polls", answer.NoFinding, "", ""},
	{"promise", answer.FindingPromises, answer.SeverityHigh, "40 suspended operations wait for a promise in Quay.M.news; no thread, suspended method or delegate that can still run leads to code that completes it"},
	{"canceled", answer.FindingPromises, answer.SeverityHigh, "40 suspended operations wait for a promise (TaskCompletionSource); no thread, suspended method or delegate that can still run"},
	{"consumers", answer.NoFinding, "", ""},
	{"paused", answer.NoFinding, "", ""},
	{"workers", answer.FindingPromises, answer.SeverityWarning, "20 suspended operations wait for one task, a promise in Quay.M.news"},
	{"producers", answer.FindingPromises, answer.SeverityWarning, "20 suspended operations wait for a promise in Quay.M.full.room"},
	{"five", answer.FindingPromises, answer.SeverityHigh, "20 suspended operations wait for a promise in Quay.M.jobs.takers"},
	{"straight", answer.NoFinding, "", ""},
	{"naps", answer.NoFinding, "", ""},
	{"watches", answer.FindingHeld, answer.SeverityHigh, "sleeps in Quay.M.Watches"},
	{"permits", answer.NoFinding, "", ""},
	{"permitloop", answer.FindingPermits, answer.SeverityWarning, "\"holder\" runs in Quay.M.Computes()"},
	{"passes", answer.NoFinding, "", ""},
	{"held", answer.FindingHeld, answer.SeverityWarning, "for which 3 threads wait"},
	{"endless", answer.FindingHeld, answer.SeverityWarning, "runs in Quay.M.NeverEnds"},
	{"batch", answer.NoFinding, "", ""},
	{"backoff", answer.NoFinding, "", ""},
	{"standby", answer.NoFinding, "", ""},
	{"timers", answer.NoFinding, "", ""},
	{"cache", answer.NoFinding, "", ""},
	{"leader", answer.NoFinding, "", ""},
	{"idleleader", answer.FindingWait, answer.SeverityWarning, "2 threads wait for the same System.Threading.Mutex"},
	{"transfers", answer.FindingDeadlock, answer.SeverityFatal, "8 suspended operations wait for 4 semaphores in Quay.M.accounts without permits; 4 methods may have entered one of them"},
	{"deposits", answer.FindingPermits, answer.SeverityWarning, "nobody was found who has entered it"},
	{"overlaps", answer.FindingPile, answer.SeverityWarning, "threads run Quay.M.Prints at once, the callback of one timer that is due every 50 ms"},
	{"ticks", answer.NoFinding, "", ""},
}

// TestServicesThatLookIll checks that a triage is silent of programs that look ill and are not, and speaks of their twins.
func TestServicesThatLookIll(t *testing.T) {
	p := newTrial(t, "Calm.cs")
	for _, c := range calm {
		t.Run(c.kind, func(t *testing.T) {
			v := p.open(t, "trial", c.kind)
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			if c.kind == "passes" || c.kind == "held" {
				waits, err := v.Waits(t.Context(), sosgo.WaitOptions{})
				require.NoError(t, err)
				for i := range waits.Threads {
					assert.Equal(t, c.kind == "passes", waits.Threads[i].Soon)
				}
			}
			if f := first(t, out, c.finding, c.says); f != nil {
				assert.Equal(t, c.severity, f.Severity)
			}
		})
	}
}

// TestFullByDesign checks that a full collection is no finding while a thread that takes from it again and again runs, unless it never comes back for more.
func TestFullByDesign(t *testing.T) {
	p := newTrial(t, "Belts.cs")
	out, err := triage.Triage(t.Context(), p.open(t, "trial", "crushes").Process, triage.Options{})
	require.NoError(t, err)
	assert.Empty(t, out.Findings)
	out, err = triage.Triage(t.Context(), p.open(t, "trial", "jams").Process, triage.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, out.Findings)
	assert.Equal(t, answer.FindingFull, out.Findings[0].Kind)
	assert.Contains(t, out.Findings[0].Text, `5 threads, the first 8 "loader 0", wait for room in BlockingCollection`)
	assert.Contains(t, out.Findings[0].Text, `"crusher" takes from it, and runs in Quarry.M.Grinds(`)
	assert.Equal(t, answer.SeverityHigh, out.Findings[0].Severity)
}
