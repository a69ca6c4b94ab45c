package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestFullQueues checks the waits for room in blocks of dataflow networks and in pipes, and a loop that nothing ends. Full.cs beside the dump says
// what is true of each.
func TestFullQueues(t *testing.T) {
	d, err := sosgo.Open("../../../../testdata/dumps/waits/net9-full/net9-full.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		kind     answer.FindingKind
		strength answer.Strength
		says     string
	}{
		{answer.FindingFull, answer.StrengthRecorded, "20 suspended operations wait for room in a BufferBlock<Full.Order> (Full.Feed.buffer), 5 of 5 items; it is linked to no target, and no suspended method was found that receives from it"},
		{answer.FindingFull, answer.StrengthRecorded, "12 suspended operations wait for room in a pipe (Full.Upload.pipe); no suspended method was found that reads it"},
		{answer.FindingFull, answer.StrengthLikely, "15 suspended operations wait for room in a TransformBlock<Full.Order, Full.Order> (Full.Chain.enrich), 4 of 4 items; it is linked to ActionBlock<Full.Order>"},
		{answer.FindingFull, answer.StrengthLikely, "which is full, too (4 of 4 items); Full.Chain.Sink"},
		{answer.FindingFull, answer.StrengthLikely, "and waits for a promise in Full.Chain.release"},
		{answer.FindingWait, answer.StrengthProved, "1 suspended operation waits in Full.Pump.Run for an item in a channel (Full.Pump.orders), and no code that can still run reaches what would end the wait; Pump.DisposeAsync never ends"},
	} {
		got := verdictAbout(t, w, c.says)
		assert.Equal(t, c.kind, got.Kind, c.says)
		assert.Equal(t, c.strength, got.Strength, c.says)
		assert.NotEqual(t, answer.SeverityWarning, got.Severity, c.says)
	}
	assert.Len(t, w.Verdicts, 5) // these and the entry point
}
