package ondumps_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestNobodyTakes reads four full collections. The thread that took from one has ended; from the others code still takes that has an enumerator, a thread
// behind its wait, and a delegate in a static field.
func TestNobodyTakes(t *testing.T) {
	const path = "../../../../testdata/dumps/waits/net10-room/net10-room.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	v, err := d.View("")
	require.NoError(t, err)
	w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	says := map[string]string{}
	for i := range w.Verdicts {
		if x := &w.Verdicts[i]; x.Kind == answer.FindingFull {
			require.NotEmpty(t, x.Sites)
			says[x.Sites[0].Method.S] = x.Text
			assert.Equal(t, 3, x.Count)
		}
	}
	const unknown = "; the dump does not record who takes from it"
	require.Len(t, says, 4, says)
	assert.Contains(t, says["Shop.Room.AddGone"], "; no thread, suspended method or delegate that can still run takes from it")
	for _, name := range []string{"Passed", "Ahead", "Stored"} {
		assert.Contains(t, says["Shop.Room.Add"+name], unknown, name)
	}
}
