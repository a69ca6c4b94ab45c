package acceptance_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// wrong maps the scenarios of dumped programs to their problems, and to the subject of a triage
// that finds them. A program that is not listed is healthy.
var wrong = map[string]struct {
	kind    answer.FindingKind
	subject string
}{
	"crash":                      {answer.FindingCrash, "crash"},
	"stacks":                     {answer.FindingDeadlock, "locks and blocked threads"},
	"heap":                       {answer.FindingFinalizers, "finalizer thread"},
	"async":                      {answer.FindingStarved, "thread pool"},
	"web server, clients, pools": {answer.FindingStarved, "thread pool"},
	"loaders":                    {answer.FindingUnload, "load contexts"},
	"pocket":                     {answer.FindingCrash, "crash"}, // a signal ended it
	"single-file":                {answer.FindingCrash, "crash"},
}

// healthy are the scenarios of healthy programs.
var healthy = []string{"zoo", "two CLRs in one process"}

// TestTriageFindsTheCause: the first finding of a triage is the program's problem, or the triage
// reports that it could not check it. For a healthy program there is no finding.
func TestTriageFindsTheCause(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
		require.NoError(t, err)
		scenario := d.Case.Manifest.Scenario
		if strings.HasPrefix(scenario, "crash") {
			scenario = "crash"
		}
		for _, inst := range d.Runtimes() { // a triage judges all runtimes: what is quiet was looked at in each
			own, err := d.View(strconv.Itoa(inst.Index))
			require.NoError(t, err)
			its, err := triage.Triage(t.Context(), own.Process, triage.Options{})
			require.NoError(t, err)
			assert.ElementsMatch(t, out.Quiet, its.Quiet, inst.Title())
		}
		cause, sick := wrong[scenario]
		if !sick {
			require.Contains(t, healthy, scenario, "the table lacks this scenario")
			assert.Empty(t, out.Findings)
			return
		}
		if len(out.Findings) > 0 {
			assert.Equal(t, cause.kind, out.Findings[0].Kind, out.Findings[0].Text)
			assert.NotEmpty(t, out.Findings[0].Next)
			return
		}
		assert.NotContains(t, out.Quiet, cause.subject)
		assert.True(t, slices.ContainsFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == cause.subject }), "%v", out.Unknown)
	})
}
