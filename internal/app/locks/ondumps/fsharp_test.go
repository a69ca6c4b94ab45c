package ondumps_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestRunSynchronously follows a thread in F#'s Async.RunSynchronously to the async that it waits for, and to what that
// async waits for. The program is Orders.fs beside the dump.
func TestRunSynchronously(t *testing.T) {
	const folder = "../../../../testdata/dumps/fsharp/net31-fsharp/"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(folder+"net31-fsharp.dmp.zst", sosgo.Options{Offline: true, Modules: []string{folder + "modules"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	got, err := reader(t, d).Waits(context.Background(), locks.Options{})
	require.NoError(t, err)
	var row *answer.ThreadWait
	for i := range got.Threads {
		if got.Threads[i].Thread.Name == "runs sync" {
			row = &got.Threads[i]
		}
	}
	require.NotNil(t, row)
	assert.Equal(t, "waits for an async of F# to complete", row.Text)
	assert.Contains(t, row.Method.S, "th3@", "the method of the program, and none of FSharp.Core")
	assert.Contains(t, strings.Join(row.Chain, " "), "Shop.Orders.loadOrder")
	assert.Contains(t, row.Until, "a SemaphoreSlim")
	found := false
	for _, v := range got.Verdicts {
		if v.Kind == answer.FindingBlocked && strings.Contains(v.Text, `"runs sync" blocks`) {
			found = true
			assert.Equal(t, answer.StrengthLikely, v.Strength)
			assert.Regexp(t, `until an async of F# completes: Shop\.Orders\.pipeline .*awaits Shop\.Orders\.loadOrder .*, which waits for a SemaphoreSlim`, v.Text)
		}
	}
	assert.True(t, found, "a finding")
}
