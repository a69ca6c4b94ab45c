package ondumps_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Limits.cs, run with "moves" and with "stuck".
const (
	limitsMoves = "../../../../testdata/dumps/waits/net9-limits-moves/net9-limits-moves.dmp.zst"
	limitsStuck = "../../../../testdata/dumps/waits/net9-limits-stuck/net9-limits-stuck.dmp.zst"
)

// TestLimitsMove: nothing is wrong where those who have the leases of a rate limiter stand in short delays, and where a timer or a thread gives it new permits so soon that all
// who wait have their turns.
func TestLimitsMove(t *testing.T) {
	w := wholeWaits(t, limitsMoves)
	for i := range w.Verdicts {
		assert.Equal(t, answer.NoFinding, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	assert.Empty(t, w.Noted())
	waiting, holders := map[string]int{}, map[string]int{}
	for i := range w.Operations {
		if o := &w.Operations[i]; o.Kind == answer.WaitLimiter {
			waiting[o.Name] += o.Count
			holders[o.Name] = max(holders[o.Name], len(o.Holders))
			for _, h := range o.Holders {
				assert.Contains(t, []string{"Harbor.Quay.Load", "Harbor.Slips.Mend"}, h.Method.S)
			}
		}
	}
	assert.Equal(t, 4, holders["Harbor.Limits.quay.berths"], "the field of a primary constructor's parameter has its name")
	assert.Equal(t, 3, holders["Harbor.Slips.Free"], "a lease in an object that a method has returned")
	for _, name := range []string{"Harbor.Limits.quay.berths", "Harbor.Slips.Free", "Harbor.Tides.Quick", "Harbor.Tides.ByThread",
		"Harbor.Tides.ByHarbor._limiters"} {
		assert.GreaterOrEqual(t, waiting[name], 3, name)
	}
}

// TestLimitsStuck: leases that were dropped, leases with owners that wait for another one of the same limiter, permits that come each hour, and such that no code gives any more.
func TestLimitsStuck(t *testing.T) {
	w := wholeWaits(t, limitsStuck)
	for _, want := range []struct {
		kind     answer.FindingKind
		severity answer.Severity
		strength answer.Strength
		text     string
	}{
		{answer.FindingDeadlock, "", answer.StrengthLikely, `^deadlock: Harbor\.Cranes\.Lift [0-9a-f]{16} and 1 more have leases of the rate limiter Harbor\.Cranes\.Two and wait for it once more; ` +
			`7 suspended operations wait for the rate limiter Harbor\.Cranes\.Two, 2 of 2 permits leased, 7 of 1000 queued$`},
		{answer.FindingPermits, "", answer.StrengthLikely, `^12 suspended operations wait for the rate limiter Harbor\.Limits\.quay\.berths, 4 of 4 permits leased, 12 of 1000 queued; ` +
			`no code that can still run leads to the leases of 4 permits: they were dropped without Dispose$`},
		{answer.FindingPermits, "", answer.StrengthLikely, `^8 suspended operations wait for the rate limiter Harbor\.Tides\.ByNobody, .*; no thread, suspended method or delegate that can still run leads to code that replenishes it$`},
		{answer.FindingPermits, answer.SeverityWarning, answer.StrengthRecorded, `^13 suspended operations wait for the rate limiter Harbor\.Tides\.Slow, 13 permits queued; ` +
			`it gives 1 permit each 1 h, so that the last in the queue has its turn after 13 h$`},
	} {
		found := 0
		for i := range w.Verdicts {
			v := &w.Verdicts[i]
			if regexp.MustCompile(want.text).MatchString(v.Text) {
				found++
				assert.Equal(t, want.kind, v.Kind, v.Text)
				assert.Equal(t, want.severity, v.Severity, v.Text)
				assert.Equal(t, want.strength, v.Strength, v.Text)
			}
		}
		require.Equal(t, 1, found, want.text)
	}
	assert.Len(t, w.Verdicts, 4)
}
