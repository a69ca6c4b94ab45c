package ondumps_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestLedger: who holds a lock writes to a pipe, and many wait for it. The runtime notes when one of them last got it: that decides whether it passes on.
func TestLedger(t *testing.T) {
	const folder = "../../../../testdata/dumps/waits/"
	jammed := wholeWaits(t, folder+"net9-ledger-jammed/net9-ledger-jammed.dmp.zst")
	require.Len(t, jammed.Verdicts, 1)
	v := jammed.Verdicts[0]
	assert.Equal(t, answer.FindingHeld, v.Kind)
	assert.Empty(t, v.Severity)
	assert.Equal(t, 9, v.Count)
	assert.Regexp(t, ` "clerk 0" holds .* 9 threads wait: .* reads or writes a file that is a pipe or a device .* in Office\.Ledger\.Print\(Byte\[\]\); no thread that waits for it has got it for at least 8\.9 s$`, v.Text)
	prints := wholeWaits(t, folder+"net9-ledger-prints/net9-ledger-prints.dmp.zst")
	for i := range prints.Verdicts {
		assert.Equal(t, answer.NoFinding, prints.Verdicts[i].Kind, prints.Verdicts[i].Text)
	}
	assert.Len(t, prints.Threads, 23)
	assert.InDelta(t, 8900, contendedFor(t, folder+"net9-ledger-jammed/net9-ledger-jammed.dmp.zst"), 100)
	assert.Less(t, contendedFor(t, folder+"net9-ledger-prints/net9-ledger-prints.dmp.zst"), int64(200))
}

// contendedFor returns the age in milliseconds of the only monitor of a dump for which several threads wait.
func contendedFor(t *testing.T, path string) int64 {
	t.Helper()
	list, err := locks.Locks(t.Context(), view(t, openCanned(t, path)).Process, locks.Options{})
	require.NoError(t, err)
	list.Locks = slices.DeleteFunc(list.Locks, func(l answer.Lock) bool { return l.Kind != answer.LockMonitor || len(l.Waiting) < 2 })
	require.Len(t, list.Locks, 1)
	require.NoError(t, list.Locks[0].Age.Err())
	return list.Locks[0].Age.Value
}
