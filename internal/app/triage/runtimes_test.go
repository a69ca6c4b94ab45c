package triage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// died returns the Answers of a process that died, with or without a known cause.
func died(cause string, strength answer.Strength) *Answers {
	q := healthy()
	why := words.ReasonAborted.Of()
	c := &answer.Crash{Why: why, Reason: why.Text, Verdicts: []answer.Verdict{answer.Conclude(answer.FindingCrash, why, answer.StrengthRecorded)}}
	if cause != "" {
		v := answer.Conclude(answer.FindingCrash, words.NotCaught.Of(words.Type(cause)), strength)
		c.Verdicts, c.Cause, c.Likely, c.Blames = append(c.Verdicts, v), v.Statement, v.Text, 2
	}
	q.Crash = Got(c, nil)
	return q
}

func judgeAll(t *testing.T, first, second *Answers) judged {
	t.Helper()
	out, err := judge(t.Context(), first, Options{})
	require.NoError(t, err)
	its, err := judge(t.Context(), second, Options{})
	require.NoError(t, err)
	out.add(&its, "#1 .NET Core 10.0.14", 1)
	return out
}

// TestRuntimes: what is wrong with any runtime of a process is found, and a subject is quiet if it is for all of them.
func TestRuntimes(t *testing.T) {
	out := judgeAll(t, healthy(), healthy())
	assert.Empty(t, out.Findings)
	assert.Contains(t, out.Quiet, "thread pool")
	assert.Empty(t, out.Unknown)

	second := healthy()
	second.TypeInits = Got(&answer.Initializers{}, target.ErrNotInDump)
	out = judgeAll(t, healthy(), second)
	assert.NotContains(t, out.Quiet, "type initializers")
	require.Len(t, out.Unknown, 1)
	assert.Equal(t, "type initializers (runtime #1)", out.Unknown[0].Subject)

	about := healthy()
	about.OutOfMemory = Got(&answer.OutOfMemory{Failures: []answer.FailedAllocation{{Reason: "budget", AllocationSize: 100}}}, nil)
	out = judgeAll(t, healthy(), about)
	require.Len(t, out.Findings, 1)
	assert.Contains(t, out.Findings[0].Text, " (runtime #1 .NET Core 10.0.14)")
	assert.Equal(t, "runtimes 1", out.Findings[0].Next[0])
	assert.NotContains(t, out.Quiet, "failed allocations")

	// Two runtimes may have one trouble each, in the same words.
	out = judgeAll(t, about, about)
	require.Len(t, out.Findings, 2)
	assert.Equal(t, out.Findings[0].Text+" (runtime #1 .NET Core 10.0.14)", out.Findings[1].Text)
}

// TestCrashOfRuntimes: a process dies once. The runtime that knows the cause explains it.
func TestCrashOfRuntimes(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"", "", "the process aborted itself (SIGABRT)"},
		{"", "B", "B was not caught (runtime #1 .NET Core 10.0.14)"},
		{"A", "", "A was not caught"},
		{"A", "B", "A was not caught"},
		{"a", "B", "B was not caught (runtime #1 .NET Core 10.0.14)"}, // a is likely only
	} {
		strength := answer.StrengthProved
		if c.first == "a" {
			strength = answer.StrengthLikely
		}
		out := judgeAll(t, died(c.first, strength), died(c.second, answer.StrengthProved))
		require.Len(t, out.Findings, 1, c)
		assert.Equal(t, c.want, out.Findings[0].Text)
		assert.NotContains(t, out.Quiet, "crash")
	}
}
