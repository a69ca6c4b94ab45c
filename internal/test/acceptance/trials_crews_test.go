package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// TestCrews checks that a pool of own threads is a deadlock if the jobs of all of them wait for jobs of the same pool, and not if another thread is free, the job runs
// inline, or the wait has a limit.
func TestCrews(t *testing.T) {
	p := newTrial(t, "Crews.cs")
	for kind, says := range map[string]string{
		"CrewTake": `^thread \d+ "crew \d" takes from \S+ \(Crews\.Pool\.jobs\), and only an item there would set .*, and waits for .*, thread \d+ "crew \d" takes from `,
		"CrewOne":  `^thread \d+ "lone 0" takes from \S+ \(Crews\.Pool\.jobs\), and only an item there would set \S+ (\S+), and waits for \S+ \S+$`,
	} {
		t.Run(kind, func(t *testing.T) {
			out := p.triage(t, kind)
			require.Len(t, out.Findings, 1)
			assert.Equal(t, answer.FindingDeadlock, out.Findings[0].Kind)
			assert.Equal(t, answer.StrengthLikely, out.Findings[0].Strength)
			assert.Regexp(t, says, out.Findings[0].Text)
		})
	}
	for _, kind := range []string{"FreeWell", "InlineWell", "LimitWell", "moves"} {
		t.Run(kind, func(t *testing.T) { assert.Empty(t, p.triage(t, kind).Findings) })
	}
}
