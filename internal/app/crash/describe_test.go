package crash_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDescribe checks that the dumps of the scenarios "crash …" show a crash by exception and all others a living
// process. Windows dumps written by the runtime have no record; the runtime's own structures show the crash.
func TestDescribe(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		x, err := crash.Describe(context.Background(), v.Process, crash.Options{})
		require.NoError(t, err)
		brief := crash.DescribeBriefly(v.Process, crash.Options{})
		for _, verdict := range x.Verdicts {
			assert.NotEmpty(t, verdict.Evidence, verdict.Text)
			assert.NotEmpty(t, verdict.Strength, verdict.Text)
			assert.NotContains(t, verdict.Text, "Main has returned", "each of these programs waits, or died, in Main")
		}
		switch d.Manifest.Scenario { // neither alive nor crashed: the signal was sent to get a dump
		case "single-file":
			assert.Contains(t, x.Reason, "SIGSEGV was sent by process")
			return
		case "pocket":
			assert.Contains(t, x.Reason, "or a process sent it (unknown)")
			return
		}
		if !strings.HasPrefix(d.Manifest.Scenario, "crash") && d.HasRuntime() {
			assert.True(t, x.Alive)
			checkHint(t, x, brief)
			assert.Empty(t, x.Exceptions)
			require.NotEmpty(t, x.Verdicts)
			assert.NotEqual(t, answer.StrengthProved, x.Verdicts[0].Strength, "that a process lived can't be proved")
			require.NotNil(t, x.Waiting)
			assert.NotEmpty(t, x.Waiting.Threads)
			return
		}
		assert.False(t, x.Alive)
		assert.NotZero(t, x.ThreadID)
		assert.NotEmpty(t, x.Likely)
		require.NotNil(t, brief)
		assert.Equal(t, x.Reason, brief.Reason)
		require.NotEmpty(t, x.Exceptions)
		require.NotEmpty(t, brief.Exceptions)
		assert.Equal(t, x.Exceptions[0].Address, brief.Exceptions[0].Address)
		if x.Record != nil {
			assert.Equal(t, "NativeAOT", x.Record.RuntimeType)
			assert.Equal(t, x.Exceptions[0].Address, x.Record.Exception.Address)
			return
		}
		assert.NotEmpty(t, x.Stack)
		assert.NotEmpty(t, x.Exceptions[0].Frames)
		assert.Equal(t, answer.StrengthProved, uncaught(t, x).Strength)
		assert.Equal(t, answer.CarriedUnhandled, x.Carried[0].State)
		require.NotEmpty(t, x.Contexts)
		for i, causes := range x.Causes {
			for _, n := range causes {
				assert.Greater(t, n, i)
			}
		}
		checkScenario(t, d.Manifest.Scenario, x)
	})
}

// uncaught returns the conclusion about the exception that was not caught.
func uncaught(t *testing.T, x *answer.Crash) *answer.Verdict {
	t.Helper()
	i := slices.IndexFunc(x.Verdicts, func(v answer.Verdict) bool { return strings.Contains(v.Text, "was not caught") })
	require.GreaterOrEqual(t, i, 0)
	return &x.Verdicts[i]
}

// checkHint checks that the brief description of a living process has only the monitors that threads wait for.
func checkHint(t *testing.T, x, brief *answer.Crash) {
	require.NotNil(t, x.Waiting)
	var waited []target.Addr
	for _, m := range x.Waiting.Monitors {
		if m.Waiters > 0 {
			waited = append(waited, m.Object)
		}
	}
	if brief == nil {
		assert.Empty(t, waited)
		return
	}
	assert.Empty(t, brief.Reason)
	assert.Empty(t, brief.Exceptions)
	require.NotNil(t, brief.Waiting)
	assert.Len(t, brief.Waiting.Monitors, len(waited))
	for _, m := range brief.Waiting.Monitors {
		assert.Contains(t, waited, m.Object)
	}
}

// checkScenario compares the answer with the source of the debuggee.
func checkScenario(t *testing.T, scenario string, x *answer.Crash) {
	switch scenario {
	case "crash nested":
		assert.Equal(t, [][]int{{1}, nil}, x.Causes)
		assert.Len(t, x.Carried, 2, "the one that was being handled, too")
	case "crash null":
		require.NotNil(t, x.Touched)
		assert.EqualValues(t, 8, x.Touched.Address, "String.Length")
		assert.Contains(t, uncaught(t, x).Evidence[1], "below 64 KB")
		if last := x.Verdicts[len(x.Verdicts)-1]; last.Strength == answer.StrengthLikely { // where the IL is available
			assert.Equal(t, "System.String.get_Length was called on a null reference", last.Text)
		}
		assert.Contains(t, x.Where+x.Contexts[len(x.Contexts)-1].Where+x.Contexts[0].Where, "Dereference")
	case "crash aggregate":
		if x.Exceptions[0].Message.Err != nil {
			// A partial dump does not have the list. The answer must state that there are more causes.
			require.Len(t, x.Omitted, 1)
			assert.Zero(t, x.Omitted[0].Exception)
			assert.ErrorIs(t, x.Omitted[0].Err, target.ErrNotInDump)
			return
		}
		require.Len(t, x.Causes[0], 2, "both tasks failed")
		assert.Len(t, x.Exceptions, 5)
		for k, n := range x.Causes[0] {
			assert.Equal(t, fmt.Sprintf("order %d failed", k+1), x.Exceptions[n].Message.String())
		}
	}
}
