package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
)

// wrapped are the kinds of Wrappers.cs: the first finding, its severity, and a part of its text. The last ones are healthy: methods that enter nothing, and queues.
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
	{"inherited", answer.FindingPermits, answer.SeverityHigh, "12 suspended operations wait for Quay.M.plain.Gate (SemaphoreSlim), 0 may enter; Quay.M.Stands "},
	{"overridden", answer.FindingPermits, answer.SeverityHigh, "11 suspended operations wait for Quay.M.open.Gate (SemaphoreSlim), 0 may enter; nobody was found who can give a permit back"},
	{"visits", "", "", ""},
	{"pulses", "", "", ""},
	{"belt", "", "", ""},
	{"rest", "", "", ""},
	{"turns", "", "", ""},
}

// TestServicesWithWrappers checks that semaphores are seen through methods that enter and release them for their callers.
func TestServicesWithWrappers(t *testing.T) {
	p := newTrial(t, "Wrappers.cs")
	for _, c := range wrapped {
		t.Run(c.kind, func(t *testing.T) {
			out := p.triage(t, c.kind)
			assert.Empty(t, out.Unknown)
			if f := first(t, out, c.finding, c.says); f != nil {
				assert.Equal(t, c.severity, f.Severity)
				assert.Equal(t, answer.StrengthLikely, f.Strength)
			}
		})
	}
}

// A graded is a kind of a program, with the first finding, its severity and strength, and a part of its text. A healthy kind has no finding.
type graded struct {
	kind     string
	finding  answer.FindingKind
	severity answer.Severity
	strength answer.Strength
	says     string
}

func (c *graded) check(t *testing.T, out *answer.Triage) {
	t.Helper()
	if f := first(t, out, c.finding, c.says); f != nil {
		assert.Equal(t, c.severity, f.Severity)
		assert.Equal(t, c.strength, f.Strength)
	}
}

// hatches are the kinds of Hatches.cs. The last ones are healthy.
var hatches = []graded{
	{"interface", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "has likely entered Sluice.M.b.permit (SemaphoreSlim) and waits for Sluice.M.a.permit"},
	{"explicit", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "has likely entered Sluice.M.d.permit (SemaphoreSlim) and waits for Sluice.M.c.permit"},
	{"abstract", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "has likely entered Sluice.M.lower.permit (SemaphoreSlim) and waits for Sluice.M.upper.permit"},
	{"delegates", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "has likely entered Sluice.M.a.permit (SemaphoreSlim) and waits for Sluice.M.own.permit"},
	{"lambdas", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "has likely entered Sluice.M.blue (SemaphoreSlim) and waits for Sluice.M.red"},
	{"chosen", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "has likely entered Sluice.M.a.permit (SemaphoreSlim) and waits for Sluice.M.own.permit"},
	{"fields", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "\"left first\", in Sluice.Pair.Left, has likely entered"},
	{"optimized", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "\"left first\", in Sluice.Fast.Left, has likely entered"},
	{"cancels", answer.FindingCircle, answer.SeverityHigh, answer.StrengthLikely, "; thread 8 \"right first\" can be canceled if its token can"},
	{"stays", answer.FindingPermits, answer.SeverityHigh, answer.StrengthLikely, "0 may enter; Sluice.M.Stays "},
	{"parameter", answer.FindingPermits, answer.SeverityHigh, answer.StrengthLikely, "0 may enter; Sluice.M.Given "},
	{"unknown", answer.FindingPermits, answer.SeverityHigh, answer.StrengthPossible, "nobody was found who has entered it, but 1 method may have: Sluice.M.Odd is past IGate.EnterAsync"},
	{"element", answer.FindingPermits, answer.SeverityHigh, answer.StrengthPossible, "nobody was found who has entered it, but 1 method may have: Sluice.M.Element is past SemaphoreSlim.WaitAsync"},
	{"logged", answer.FindingPermits, answer.SeverityHigh, answer.StrengthLikely, "nobody was found who can give a permit back"},
	{"polls", answer.FindingPermits, answer.SeverityWarning, answer.StrengthLikely, "Sluice.M.Polls "},
	{"below", answer.FindingPermits, answer.SeverityWarning, answer.StrengthLikely, "Sluice.M.PollsBelow "},
	{"thread", answer.FindingPermits, answer.SeverityWarning, answer.StrengthLikely, "thread 7 \"holder\" sleeps in Sluice.M.Main.<lambda>()"},
	{"threadbelow", answer.FindingPermits, answer.SeverityWarning, answer.StrengthLikely, "thread 7 \"holder\" sleeps in Sluice.M.Main.<lambda>()"},
	{"open", "", "", "", ""},
	{"turns", "", "", "", ""},
	{"steps", "", "", "", ""},
}

// TestServicesWithHatches checks that semaphores are seen through interfaces, abstract classes and delegates, and that nobody is said to be missing
// where the code does not show what it entered. Holders that take turns are no finding, and holders that poll are one.
func TestServicesWithHatches(t *testing.T) {
	p := newTrial(t, "Hatches.cs")
	files := t.TempDir() // a dump need not have the pages with the IL
	dll, err := os.ReadFile(p.dll)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(files, "Debuggee.dll"), dll, 0o600))
	for _, c := range hatches {
		t.Run(c.kind, func(t *testing.T) {
			d, err := sosgo.Open(p.dump(t, "trial", c.kind), sosgo.Options{Offline: true, Modules: []string{files}})
			require.NoError(t, err)
			defer func() { _ = d.Close() }()
			v, err := d.View("")
			require.NoError(t, err)
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			assert.Empty(t, out.Unknown)
			c.check(t, out)
		})
	}
}

// stalls are the kinds of Stalls.cs. Those without a finding end, go on, or may.
var stalls = []graded{
	{"mainruns", "", "", "", ""},
	{"mainparks", "", "", "", ""},
	{"callbackruns", "", "", "", ""},
	{"pending", "", "", "", ""},
	{"weakly", "", "", "", ""},
	{"finalized", "", "", "", ""},
	{"registered", "", "", "", ""},
	{"timed", "", "", "", ""},
	{"delayed", "", "", "", ""},
	{"dropped", "", "", "", ""},
	{"napper", "", "", "", ""},
	{"spins", "", "", "", ""},
	{"nap", "", "", "", ""},
	{"stopslater", "", "", "", ""},
	{"handler", answer.FindingBlocked, answer.SeverityWarning, answer.StrengthLikely, "thread 0 blocks in Pier.M.Handles"},
	{"sleeper", answer.FindingPermits, answer.SeverityHigh, answer.StrengthLikely, "thread 7 \"holder\" sleeps in Pier.M.Main.<lambda>()"},
	{"callback", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, "\"canceler\" runs a callback of a CancellationToken and waits for System.Object "},
	{"lasttick", answer.FindingDeadlock, answer.SeverityFatal, answer.StrengthLikely, " runs the callback of a Timer and waits for System.Object "},
	{"stops", answer.FindingPermits, answer.SeverityHigh, answer.StrengthProved, "1 suspended operation waits in Pier.Pump.Runs for Pier.Pump.wake (SemaphoreSlim), and no code that can still run reaches what would end the wait; Pier.Pump.DisposeAsync never ends"},
	{"forgotten", answer.FindingPromises, answer.SeverityHigh, answer.StrengthProved, "12 suspended operations wait in Pier.M.Waits for promises that nothing can complete"},
	{"flight", answer.FindingPromises, answer.SeverityHigh, answer.StrengthLikely, "which nothing has completed; Pier.M.Later "},
	{"behind", answer.FindingPromises, answer.SeverityHigh, answer.StrengthProved, "12 suspended operations wait in Pier.M.Waits for promises that nothing can complete"},
}

// TestServicesThatStall checks that waits without an end are findings, and that waits with an end are not.
func TestServicesThatStall(t *testing.T) {
	p := newTrial(t, "Stalls.cs")
	for _, c := range stalls {
		t.Run(c.kind, func(t *testing.T) {
			out := p.triage(t, c.kind)
			assert.Empty(t, out.Unknown)
			c.check(t, out)
		})
	}
}

// silences are the kinds of Silences.cs. Twins without a finding end, or go on.
var silences = []graded{
	{"finalized", "", "", "", ""},
	{"retrieved", "", "", "", ""},
	{"tried", "", "", "", ""},
	{"works", "", "", "", ""},
	{"firsts", answer.FindingTasks, answer.SeverityWarning, answer.StrengthRecorded, "12 tasks failed"}, // which is true
	{"finalizer", answer.FindingFinalizers, answer.SeverityHigh, answer.StrengthRecorded, "waits for an event (WaitHandle) in Ferry.Ramp.Finalize()"},
	{"retries", answer.FindingPermits, answer.SeverityHigh, answer.StrengthPossible, "12 suspended operations wait for Ferry.M.berths (SemaphoreSlim), 0 may enter"},
	{"tries", answer.FindingHeld, answer.SeverityHigh, answer.StrengthProved, "for which 6 threads wait"},
	{"turns", answer.FindingHeld, answer.SeverityHigh, answer.StrengthProved, "thread 7 \"owner\" runs in Ferry.M.Turns()"},
	{"first", answer.FindingPromises, answer.SeverityHigh, answer.StrengthProved, "12 suspended operations wait in Ferry.M.First for promises that nothing can complete"},
}

// TestServicesThatSeemQuiet checks waits that end in failures, are tried again, or run, and their healthy twins.
func TestServicesThatSeemQuiet(t *testing.T) {
	p := newTrial(t, "Silences.cs")
	for _, c := range silences {
		t.Run(c.kind, func(t *testing.T) {
			out := p.triage(t, c.kind)
			assert.Empty(t, out.Unknown)
			c.check(t, out)
			if c.kind == "firsts" {
				assert.Len(t, out.Findings, 1)
			}
		})
	}
}

// TestServicesThatPileUp checks the first finding of long chains of tasks, and of many waiters that no code awaits.
func TestServicesThatPileUp(t *testing.T) {
	for source, says := range map[string]string{
		"ContinueChain.cs": "20000 tasks stand one behind the other behind Watcher.M.First ",
		"LostWaiters.cs":   "20000 tasks of WaitAsync wait for Watch.Poller.Wake (SemaphoreSlim), 0 of 1 may enter, and no code awaits them",
	} {
		t.Run(source, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), newTrial(t, source).open(t, "trial", "x").Process, triage.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			assert.Contains(t, out.Findings[0].Text, says)
			assert.Equal(t, 20000, out.Findings[0].Count)
		})
	}
}
