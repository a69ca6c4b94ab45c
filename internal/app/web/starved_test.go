package web_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestThreadsOfRequests finds the threads that serve requests by the HttpContext in their frames, where nothing of a request flows: each of the 40 workers
// that block in the endpoint serves another request. What they wait for is one finding, in the endpoint, though the compiler has inlined the program's methods.
func TestThreadsOfRequests(t *testing.T) {
	const path = "../../../testdata/dumps/pool/net9-starved/net9-starved.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, _ := testdump.OverlaidFile(t, path, sosgo.Options{Offline: true})
	v, r, h := open(t, d)
	all, err := r.Requests(t.Context(), v.Process, h, web.RequestOptions{})
	require.NoError(t, err)
	threads := map[uint32]bool{}
	for i := range all.Requests {
		q := &all.Requests[i]
		if len(q.Threads) > 0 {
			assert.Len(t, q.Threads, 1)
			assert.Contains(t, q.Path.S, "/customer/")
			threads[q.Threads[0].OSID] = true
		}
	}
	assert.Len(t, threads, 40)
	w, err := v.Waits(t.Context(), sosgo.WaitOptions{})
	require.NoError(t, err)
	var blocked []answer.Verdict
	for _, x := range w.Verdicts {
		if x.Kind == answer.FindingBlocked {
			blocked = append(blocked, x)
		}
	}
	require.Len(t, blocked, 1)
	assert.Equal(t, 40, blocked[0].Count)
	assert.Contains(t, blocked[0].Text, "block in DynamicClass.lambda_method1, each until a task completes: Backoffice.CustomerClient.GetAsync awaits")
	assert.Contains(t, blocked[0].Text, "which in 37 of them waits for the callback of a Task.Delay that has elapsed")
	for _, s := range blocked[0].Sites {
		assert.True(t, threads[s.Thread], "it serves a request")
	}
}
