package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestOnward checks waits with chains of who waits for whom. Onward.cs beside the dump says what is true of each: what ends in something that goes on is
// no finding, and each twin that is stuck is one.
func TestOnward(t *testing.T) {
	d, err := sosgo.Open("../../../../testdata/dumps/waits/net10-onward/net10-onward.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		kind answer.FindingKind
		says string
	}{
		{answer.FindingFull, "waits for room in a channel (Onward.LaneDead.first)"},
		{answer.FindingFull, "waits for room in a channel (Onward.LaneDead.second)"},
		{answer.FindingDeadlock, "is to read the channel Onward.LaneRing.left and waits for room in a channel (Onward.LaneRing.right)"},
		{answer.FindingFull, `4 threads, the first 19 "dead source 0", wait for room in BlockingCollection`},
		{answer.FindingFull, `3 threads, the first 23 "dead stage 0", wait for room in BlockingCollection`},
		{answer.FindingPermits, "16 suspended operations wait for Onward.NestStuck.outer"},
		{answer.FindingPermits, "2 suspended operations wait for Onward.NestStuck.inner"},
		{answer.FindingWait, `thread 30 "stuck middle" waits for the end of thread 29 "stuck bottom" in`},
		{answer.FindingWait, `thread 31 "stuck top" waits for the end of thread 30 "stuck middle" in`},
		{answer.FindingWait, "Onward.KernelLeak.leases"},
		{answer.FindingWait, "Onward.KernelStuck.slots"},
	} {
		found := 0
		for i := range w.Verdicts {
			if v := &w.Verdicts[i]; strings.Contains(v.Text, c.says) && v.Kind == c.kind {
				found++
			}
		}
		assert.Positive(t, found, c.says)
	}
	assert.Len(t, w.Verdicts, 11)
	var waiting []string // those that go on do wait
	for i := range w.Operations {
		waiting = append(waiting, w.Operations[i].Statement.Text)
	}
	for i := range w.Threads {
		waiting = append(waiting, w.Threads[i].Thread.Name+" "+w.Threads[i].Name)
	}
	all := strings.Join(waiting, "\n")
	for _, name := range []string{"LaneWell.first", "LaneWell.second", "NestWell.outer", "NestWell.inner", "KernelWell.turns", "belt source", "belt stage", "well top", "well middle"} {
		assert.Contains(t, all, name)
	}
}
