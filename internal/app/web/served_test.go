package web_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestServedBy checks that waits name the requests of suspended code, and that Requests, which searches the heap for
// contexts, agrees.
func TestServedBy(t *testing.T) {
	v, err := testdump.OpenWeb(t, "web-net10").View("")
	require.NoError(t, err)
	waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	got := map[string]string{}
	boxes := map[target.Addr]string{}
	for _, op := range waits.Operations {
		if op.Request != "" {
			got[op.Request] = op.Method.S
			boxes[op.First[0]] = op.Request
			assert.Equal(t, op.Request, op.Caller())
		} else {
			assert.Equal(t, op.From, op.Caller())
		}
	}
	assert.Equal(t, map[string]string{
		"GET /reports/monthly": "WebDebuggee.ReportStore.FetchPageAsync", "GET /audit/login": "WebDebuggee.AuditMiddleware.WriteAuditRecord",
		"GET /feed": "WebDebuggee.Handlers.Feed", "POST /upload": "WebDebuggee.Handlers.CopyBody", "GET /chat": "WebDebuggee.Handlers.Chat",
	}, got)

	requests, err := web.Requests(t.Context(), v.Process, web.RequestOptions{})
	require.NoError(t, err)
	found := 0
	for i := range requests.Requests {
		r := &requests.Requests[i]
		if r.Stack == nil {
			continue
		}
		n := slices.IndexFunc(r.Stack.Frames, func(f answer.AsyncFrame) bool { return boxes[f.Object] != "" })
		if n < 0 {
			continue
		}
		found++
		assert.Equal(t, r.Method.S+" "+r.Path.S, boxes[r.Stack.Frames[n].Object])
	}
	assert.Equal(t, len(boxes), found)
}
