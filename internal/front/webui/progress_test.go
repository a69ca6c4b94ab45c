package webui_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/front/webui"
)

// TestProgress: the page asks how far a question is, by the name that it gave it, while that runs.
func TestProgress(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	a := asker{ask: func(ctx context.Context, words []string, _ report.Window, w io.Writer) {
		runs := true
		webui.WatchOf(ctx).Begin(webui.Work{Name: "counting", At: func() (uint64, uint64, bool) { return 3, 10, true }})
		webui.WatchOf(ctx).Begin(webui.Work{Name: "over", At: func() (uint64, uint64, bool) { return 5, 5, !runs }})
		close(began)
		<-end
		_, _ = io.WriteString(w, "{}")
	}}
	withToken, origin := serve(t, a, webui.Subject{}, "")
	bearer := "Bearer " + token(t, withToken)
	ask := func(path string) (int, string) {
		r, body := get(t, http.MethodGet, origin+path, "Authorization", bearer)
		return r.StatusCode, body
	}
	status, _ := ask("/progress?watch=q1")
	assert.Equal(t, http.StatusNoContent, status)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		ask("/api/leaks?watch=q1")
	}()
	<-began
	status, body := ask("/progress?watch=q1")
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, `{"work":"counting","done":3,"total":10}`, body)
	status, _ = ask("/progress?watch=q2")
	assert.Equal(t, http.StatusNoContent, status)
	close(end)
	<-answered
	status, _ = ask("/progress?watch=q1")
	assert.Equal(t, http.StatusNoContent, status)
	webui.WatchOf(t.Context()).Begin(webui.Work{}) // nobody watches
}

// TestComplete: words complete a line.
func TestComplete(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{}, "")
	_, body := get(t, http.MethodGet, origin+"/complete?line=dump", "Authorization", "Bearer "+token(t, withToken))
	assert.JSONEq(t, `{"found":["dump-one ","dump-two "],"length":4}`, body)
}
