package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestLent checks semaphores that an extension method enters for its caller (Lent.cs beside the dump): its first argument says which one, so that who has
// entered one is not said to have entered the other.
func TestLent(t *testing.T) {
	d, err := sosgo.Open("../../../../testdata/dumps/waits/net10-lent/net10-lent.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	v, err := d.View("")
	require.NoError(t, err)
	w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	var says []string
	for i := range w.Verdicts {
		x := &w.Verdicts[i]
		assert.Equal(t, answer.FindingPermits, x.Kind)
		assert.Equal(t, answer.StrengthLikely, x.Strength)
		require.Len(t, x.Evidence, 2)
		says = append(says, x.Text, x.Evidence[1])
	}
	assert.Equal(t, []string{
		"5 suspended operations wait for Lent.Desk.turn (SemaphoreSlim), 0 of 1 may enter; Lent.Desk.Serve 00007f5fa1804b10 likely entered it, and waits for a promise in Lent.Desk.gone",
		"Lent.Desk.Serve 00007f5fa1804b10 is past its wait for Lent.Desk.turn (SemaphoreSlim) [inferred]",
		"4 suspended operations wait for Lent.Port.send (SemaphoreSlim), 0 of 1 may enter; Lent.Port.Send 00007f5fa18042f0 likely entered it, and waits for a promise in Lent.Port.gone",
		"Lent.Port.Send 00007f5fa18042f0 is past its wait for Lent.Port.send (SemaphoreSlim) [inferred]",
	}, says)
}
