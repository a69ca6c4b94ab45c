package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
)

// wrapped are the kinds of Wrappers.cs: the first finding, its severity, and a part of its text. The last ones are queues, and no locks.
var wrapped = []struct {
	kind     string
	finding  answer.FindingKind
	severity answer.Severity
	says     string
}{
	{"enter", answer.FindingDeadlock, answer.SeverityFatal, "20 more wait for Quay.M.a.gate"},
	{"nested", answer.FindingDeadlock, answer.SeverityFatal, "Quay.M.Vaults "},
	{"extension", answer.FindingDeadlock, answer.SeverityFatal, "has likely entered Quay.M.blue (SemaphoreSlim) and waits for Quay.M.red"},
	{"releaser", answer.FindingDeadlock, answer.SeverityFatal, "has likely entered Quay.M.second.permit (SemaphoreSlim) and waits for Quay.M.first.permit"},
	{"generic", answer.FindingDeadlock, answer.SeverityFatal, "has likely entered Quay.M.numbers.gate (SemaphoreSlim) and waits for Quay.M.names.gate"},
	{"guard", answer.FindingDeadlock, answer.SeverityFatal, "\"red first\", in Quay.M.Main.<lambda>, has likely entered Quay.M.red"},
	{"own", answer.FindingDeadlock, answer.SeverityFatal, "\"a first\", in Quay.M.Main.<lambda>, has likely entered"},
	{"again", answer.FindingDeadlock, answer.SeverityFatal, "\"saver\", in Quay.M.Nests, has likely entered"},
	{"held", answer.FindingPermits, answer.SeverityHigh, "likely entered it, and waits for a promise in Quay.M.never"},
	{"lost", answer.FindingPermits, answer.SeverityHigh, "11 suspended operations wait for Quay.M.b.gate (SemaphoreSlim), 0 may enter; nobody was found who can give a permit back"},
	{"saved", answer.FindingPermits, answer.SeverityHigh, "0 may enter; Quay.M.Stays "},
	{"turns", answer.FindingPermits, answer.SeverityWarning, "likely entered it, and waits for a Task.Delay of 5ms"},
	{"belt", "", "", ""},
	{"rest", "", "", ""},
}

// TestServicesWithWrappers checks that semaphores are seen through methods that enter and release them for their callers.
func TestServicesWithWrappers(t *testing.T) {
	p := newTrial(t, "Wrappers.cs")
	for _, c := range wrapped {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			assert.Empty(t, out.Unknown)
			if c.finding == "" {
				assert.Empty(t, out.Findings)
				return
			}
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, c.finding, out.Findings[0].Kind)
			assert.Equal(t, c.severity, out.Findings[0].Severity)
			assert.Equal(t, answer.StrengthLikely, out.Findings[0].Strength)
			assert.Contains(t, out.Findings[0].Text, c.says)
		})
	}
}
