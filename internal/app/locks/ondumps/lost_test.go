package ondumps_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// Dumps of Lost.cs, run with "lost" and with "kept".
const (
	lostWaits = "../../../../testdata/dumps/waits/net10-lost/net10-lost.dmp.zst"
	keptWaits = "../../../../testdata/dumps/waits/net10-kept/net10-kept.dmp.zst"
)

// TestLost: nobody living can end these waits. What would have ended them was collected, has failed, has ended, or stands behind such a wait itself.
func TestLost(t *testing.T) {
	w := wholeWaits(t, lostWaits)
	const nobody = "; no thread, suspended method or delegate that can still run leads to code that "
	for _, c := range []struct {
		kind     answer.FindingKind
		severity answer.Severity
		says     string
	}{
		{answer.FindingPermits, answer.SeverityHigh, "12 suspended operations wait for Shop.Throttle.Permits (SemaphoreSlim), 0 may enter" + nobody + "releases it"},
		{answer.FindingPermits, answer.SeverityHigh, " wait for Shop.Limiter.Permits (SemaphoreSlim), 0 may enter" + nobody + "releases it"},
		{answer.FindingPermits, answer.SeverityWarning, ` "batch" waits for Shop.Picking.picked (SemaphoreSlim), 0 may enter` + nobody + "releases it"},
		{answer.FindingWait, answer.SeverityHigh, " (Shop.Startup.ready)" + nobody + "sets it"},
		{answer.FindingWait, answer.SeverityHigh, " (Shop.Startup.warm)" + nobody + "sets it"},
		{answer.FindingPromises, answer.SeverityWarning, "4 suspended operations wait for a promise in Shop.Startup.loaded" + nobody + "completes it"},
		{answer.FindingWait, answer.SeverityHigh, " (Shop.Ring.table); no other thread, suspended method or delegate that can still run leads to code that gives one"},
		{answer.FindingWait, answer.SeverityWarning, " wait for a turn in the task scheduler Shop.OneThread" + nobody + "runs its tasks"},
	} {
		v := verdictAbout(t, w, c.says)
		assert.Equal(t, c.kind, v.Kind, c.says)
		assert.Equal(t, c.severity, v.Severity, c.says)
		assert.Equal(t, answer.StrengthLikely, v.Strength, c.says)
	}
	assert.Len(t, w.Verdicts, 8)
}

// TestKept: nothing is wrong where code ends such waits later, wherever it is until then: a timer, a registered wait, a finalizer, an interface, a thread that
// computes, the rest of Main, an event's subscriber, a callback of native code, suspended code, a token, the end of the process, a method that a library finds by
// its attribute. Nor is it where code takes one item after the other, or where what ends the wait was never begun.
func TestKept(t *testing.T) {
	w := wholeWaits(t, keptWaits)
	assert.Empty(t, w.Verdicts)
	waiting := 0
	for i := range w.Operations {
		waiting += w.Operations[i].Count
	}
	assert.GreaterOrEqual(t, waiting, 12*4, "they wait")
	assert.GreaterOrEqual(t, len(w.Threads), 5*3)
}

// TestKeptInHoles leaves out a page at a time of what shows who ends the waits: the root or the object through which code gets at it may be there, so it is
// never said that nobody does.
func TestKeptInHoles(t *testing.T) {
	d, err := sosgo.Open(keptWaits, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	sound := &testdump.Altered{Target: d.Target()}
	whole := sound.Open(t, sosgo.Options{Offline: true})
	pages := map[target.Addr]bool{}
	for _, r := range sound.Reads(func() {
		v, err := whole.View("")
		require.NoError(t, err)
		_, err = v.Process.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
	}) {
		pages[r.Start&^0xfff] = true
	}
	list := slices.Sorted(maps.Keys(pages))
	require.NotEmpty(t, list)
	for i := 0; i < len(list); i += max(1, len(list)/testcase.Part(t, 60, 12)) {
		hole := target.RangeAt(list[i], 0x1000)
		v, err := (&testdump.Altered{Target: d.Target(), Holes: []target.Range{hole}}).Open(t, sosgo.Options{Offline: true}).View("")
		if err != nil {
			continue
		}
		w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
		if err != nil {
			continue
		}
		for i := range w.Verdicts {
			assert.False(t, strings.Contains(w.Verdicts[i].Text, "leads to code that"), "without %v: %s", hole, w.Verdicts[i].Text)
		}
	}
}
