package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Feeds.cs, run with "moves" and with "stuck".
const (
	feedsMove  = "../../../../testdata/dumps/waits/net9-feeds-moves/net9-feeds-moves.dmp.zst"
	feedsStuck = "../../../../testdata/dumps/waits/net9-feeds-stuck/net9-feeds-stuck.dmp.zst"
)

// TestFeedsMove: nothing is wrong with a full channel if its consumer goes on, by whatever iterators it goes through the items.
func TestFeedsMove(t *testing.T) {
	w := waitsOf(t, feedsMove)
	for i := range w.Verdicts {
		assert.Equal(t, answer.FindingEntryPoint, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	full := map[string]int{}
	for i := range w.Operations {
		if op := &w.Operations[i]; strings.HasSuffix(op.Method.S, "Shop.Fill") {
			full[op.Name] += op.Count
		}
	}
	assert.Equal(t, map[string]int{"Feeds.Shop.Direct": 1, "Feeds.Shop.Batches": 1, "Feeds.Shop.Left": 1, "Feeds.Shop.Right": 1, "Feeds.Shop.Each": 1}, full, "they wait for room")
}

// TestFeedsStuck: a consumer that polls, or waits for what nobody completes, is a finding. So is an event that a thread would have set which has ended, and a barrier
// that one has left: Main, which has started them and joins the others, does nothing for them, whatever variables it still has.
func TestFeedsStuck(t *testing.T) {
	w := wholeWaits(t, feedsStuck)
	var says []string
	for i := range w.Verdicts {
		v := &w.Verdicts[i]
		assert.Equal(t, answer.StrengthLikely, v.Strength, v.Text)
		assert.NotEqual(t, answer.FindingDeadlock, v.Kind, v.Text)
		says = append(says, string(v.Kind)+": "+v.Text)
	}
	for _, want := range [][]string{
		{string(answer.FindingFull) + ": 1 suspended operation waits for room in a channel (Feeds.Shop.Direct)", "Feeds.Shop.TakeDirect ", "waits for a Task.Delay of 20 ms"},
		{string(answer.FindingFull) + ": 1 suspended operation waits for room in a channel (Feeds.Shop.Batches)", "Feeds.Shop.TakeBatches ", "waits for a promise in Feeds.Shop.Never"},
		{string(answer.FindingFull) + ": 1 suspended operation waits for room in a channel (Feeds.Shop.Left)", "Feeds.Shop.TakeMerged ", "waits for a promise in Feeds.Shop.Never"},
		{string(answer.FindingFull) + ": 1 suspended operation waits for room in a channel (Feeds.Shop.Right)", "Feeds.Shop.TakeMerged ", "waits for a promise in Feeds.Shop.Never"},
		{string(answer.FindingFull) + ": 1 suspended operation waits for room in a channel (Feeds.Shop.Each)", "Feeds.Shop.Work ", "waits for a promise in Feeds.Shop.Never"},
		{string(answer.FindingWait) + `: 6 threads, the first 10 "loaded 0", wait for a ManualResetEventSlim `, "(Feeds.Config.Loaded); no thread, suspended method or delegate that can still run"},
		{string(answer.FindingWait) + `: 6 threads, the first 16 "opened 0", wait for System.Threading.ManualResetEvent `, "(Feeds.Config.Opened); no thread, suspended method or delegate that can still run"},
		{string(answer.FindingWait) + `: 3 threads, the first 22 "part 0", wait for a Barrier `, "(3 of 4 participants have arrived); no other thread"},
	} {
		found := false
		for _, text := range says {
			all := strings.HasPrefix(text, want[0])
			for _, part := range want {
				all = all && strings.Contains(text, part)
			}
			found = found || all
		}
		assert.True(t, found, "%s\nin %s", want[0], strings.Join(says, "\n"))
	}
	require.Len(t, says, 8)
}
