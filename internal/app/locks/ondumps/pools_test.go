package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Pools.cs, run with "moves", with "stuck" and with "lost".
const (
	poolsMove  = "../../../../testdata/dumps/waits/net9-pools-moves/net9-pools-moves.dmp.zst"
	poolsStuck = "../../../../testdata/dumps/waits/net9-pools-stuck/net9-pools-stuck.dmp.zst"
	poolsLost  = "../../../../testdata/dumps/waits/net9-pools-lost/net9-pools-lost.dmp.zst"
)

// TestPoolsMove: nothing is wrong where pools with methods of their own, channels that are pools, and locks with queues and answers behind them pass on, nor where those who
// handle an item of a queue with a semaphore may add another.
func TestPoolsMove(t *testing.T) {
	assert.Empty(t, wholeWaits(t, poolsMove).Verdicts)
}

// TestPoolsStuck: the same code never goes on where each who has something of a pool waits for more of it, and where who could end a wait waits for the one that has to
// go on first: over a lock and a full collection, a semaphore and a full channel, a semaphore and a promise.
func TestPoolsStuck(t *testing.T) {
	w := wholeWaits(t, poolsStuck)
	for field, want := range map[string]string{
		"Pools.Program.Vans.free":    `^deadlock: Pools\.Program\.Trip [0-9a-f]{16} and 3 more have likely entered Pools\.Program\.Vans\.free \(SemaphoreSlim\) and wait for it once more`,
		"Pools.Program.Shelf.places": `^deadlock: Pools\.Program\.Sort [0-9a-f]{16} and 1 more have likely entered Pools\.Program\.Shelf\.places \(SemaphoreSlim\) and wait for it once more`,
		"Pools.Program.Rack.idle": `^deadlock: Pools\.Rack\.Load [0-9a-f]{16} and 2 more have taken from Pools\.Program\.Rack\.idle what they give back later, and wait for the next, in methods that they ` +
			`call; 9 suspended operations wait for an item in a channel \(Pools\.Program\.Rack\.idle\)$`,
		"Pools.Program.Stall.spare": `^deadlock: Pools\.Program\.Visit [0-9a-f]{16} and 1 more have taken from Pools\.Program\.Stall\.spare what they give back later`,
		"Pools.Program.Dock.ramp": `Pools\.Dock\.Follow [0-9a-f]{16} is to read the channel Pools\.Program\.Dock\.reports and waits for Pools\.Program\.Dock\.ramp \(SemaphoreSlim\)[,;].*` +
			`9 more wait for Pools\.Program\.Dock\.ramp`,
		"Pools.Program.Desk.line":  `Pools\.Desk\.Serve [0-9a-f]{16} alone would complete a promise \(TaskCompletionSource\) later and waits for Pools\.Program\.Desk\.line \(SemaphoreSlim\)`,
		"Pools.Program.Belt.boxes": `"loader 0" alone takes from [0-9a-f]{16} \(Pools\.Program\.Belt\.boxes\) and waits for System\.Object [0-9a-f]{16} \(Pools\.Program\.Belt\.list\)`,
	} {
		v := verdictAbout(t, w, field)
		assert.Equal(t, answer.FindingDeadlock, v.Kind, field)
		assert.Equal(t, answer.StrengthLikely, v.Strength, field)
		assert.Regexp(t, want, v.Text)
	}
	keys := verdictAbout(t, w, "Pools.Program.Keys.gate")
	assert.Equal(t, answer.FindingWait, keys.Kind)
	assert.Equal(t, answer.SeverityHigh, keys.Severity)
	assert.Regexp(t, `^5 threads, the first \d+ "driver 0", wait for a pulse of .*, and these threads do so only behind their own waits$`, keys.Text)
	require.Len(t, w.Verdicts, 8)
}

// TestPoolsLost: threads that wait for a promise that nobody completes, and threads without work that the entry point waits for.
func TestPoolsLost(t *testing.T) {
	w := wholeWaits(t, poolsLost)
	require.Len(t, w.Verdicts, 3, "and what the entry point does, which is usual")
	promise := verdictAbout(t, w, `"planner 0"`)
	assert.Equal(t, answer.FindingPromises, promise.Kind)
	assert.Equal(t, answer.SeverityHigh, promise.Severity)
	assert.Contains(t, promise.Text, "; no thread, suspended method or delegate that can still run leads to code that completes it")
	item := verdictAbout(t, w, "wait for an item in")
	assert.Equal(t, answer.FindingWait, item.Kind)
	assert.Equal(t, answer.SeverityHigh, item.Severity)
	assert.Contains(t, item.Text, "; no thread, suspended method or delegate that can still run leads to code that adds to it or completes it")
}
