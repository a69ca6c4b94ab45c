package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	{"promise", answer.FindingPromises, answer.SeverityHigh, "40 suspended operations wait for one task, a promise in Quay.M.news"},
	{"canceled", answer.FindingPromises, answer.SeverityHigh, "40 suspended operations wait for one task, a promise (TaskCompletionSource"},
	{"consumers", answer.NoFinding, "", ""},
	{"paused", answer.NoFinding, "", ""},
	{"workers", answer.FindingPromises, answer.SeverityWarning, " suspended operations wait for one task, a promise in Quay.M.news"},
	{"producers", answer.FindingPromises, answer.SeverityWarning, "20 suspended operations wait for a promise in Quay.M.full.room"},
	{"five", answer.FindingPromises, answer.SeverityHigh, "20 suspended operations wait for a promise in Quay.M.jobs.takers"},
	{"straight", answer.NoFinding, "", ""},
	{"passes", answer.NoFinding, "", ""},
	{"held", answer.FindingHeld, answer.SeverityWarning, "for which 3 threads wait"},
	{"endless", answer.FindingHeld, answer.SeverityWarning, "runs in Quay.M.NeverEnds"},
	{"batch", answer.NoFinding, "", ""},
	{"backoff", answer.NoFinding, "", ""},
	{"standby", answer.NoFinding, "", ""},
	{"timers", answer.NoFinding, "", ""},
	{"cache", answer.NoFinding, "", ""},
}

// TestServicesThatLookIll checks that a triage is silent of programs that look ill and are not, and speaks of their twins.
func TestServicesThatLookIll(t *testing.T) {
	p := newTrial(t, "Calm.cs")
	for _, c := range calm {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			if c.finding == answer.NoFinding {
				assert.Empty(t, out.Findings)
				return
			}
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, c.finding, out.Findings[0].Kind)
			assert.Equal(t, c.severity, out.Findings[0].Severity)
			assert.Contains(t, out.Findings[0].Text, c.says)
		})
	}
}
