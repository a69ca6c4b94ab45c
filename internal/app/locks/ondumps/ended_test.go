package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Ended.cs, run with "ended" and with "living".
const (
	endedWaits  = "../../../../testdata/dumps/waits/net10-ended/net10-ended.dmp.zst"
	livingWaits = "../../../../testdata/dumps/waits/net10-living/net10-living.dmp.zst"
)

// TestEnded: what would have ended these waits has ended itself, was there before, or was collected. Items of one queue are one finding.
func TestEnded(t *testing.T) {
	w := wholeWaits(t, endedWaits)
	const (
		nobody = "; no thread, suspended method or delegate that can still run leads to code that "
		orphan = "; no code has it but these threads, so that nothing ends the wait"
	)
	for _, says := range []string{
		` "clerk 0", wait for one System.Threading.ManualResetEvent each (Depot.Message.Done)` + nobody + "sets it",
		` "buyer 0", wait for one promise (TaskCompletionSource) each (Depot.Ticket.Done)` + nobody + "completes it",
		` "sorter 0", wait for a turn in the task scheduler Depot.Lane` + nobody + "runs its tasks",
		" (Depot.PulseGone.warm.sync)" + nobody + "gives one",
		" (Depot.MissedPulse.bell.sync)" + nobody + "gives one",
		" (Depot.SemGone.slots)" + nobody + "releases it",
		" (Depot.EwhGone.ready)" + nobody + "sets it",
		" (Depot.TokenGone+<Make>c__AnonStorey0.h)" + orphan,
		" (System.Threading.CancellationTokenSource._kernelEvent)" + orphan,
	} {
		v := verdictAbout(t, w, says)
		assert.Contains(t, v.Text, "4 threads, the first ", says)
		kind := answer.FindingWait
		if strings.Contains(says, "promise") {
			kind = answer.FindingPromises
		}
		assert.Equal(t, kind, v.Kind, says)
		assert.Equal(t, answer.SeverityHigh, v.Severity, says)
		assert.Equal(t, answer.StrengthLikely, v.Strength, says)
		assert.Equal(t, 4, v.Count, says)
	}
	v := verdictAbout(t, w, "4 suspended operations wait for one promise (TaskCompletionSource) each (Depot.Ticket.Done)"+nobody+"completes it")
	assert.Equal(t, answer.FindingPromises, v.Kind)
	assert.Len(t, w.Verdicts, 10, "each is said once")
}

// TestLiving: nothing is wrong where a timer, a watchdog that begins the loop anew, a loop that works, a dictionary of delegates, the callback of a token,
// a weak reference, a finalizer that calls a delegate, a registered wait or the end of the process ends such waits, or workers wait for work.
func TestLiving(t *testing.T) {
	w := wholeWaits(t, livingWaits)
	assert.Empty(t, w.Verdicts)
	waiting := map[string]int{}
	for i := range w.Threads {
		waiting[w.Threads[i].Thread.Name]++
	}
	assert.Equal(t, 3, waiting["clerk 3"], "they wait")
	assert.Equal(t, 7, waiting["hearer 3"])
	assert.Equal(t, 2, waiting["lister 3"])
}
