package mcpguard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/mcpguard"
)

// A web is a server over HTTP.
type web struct {
	t       *testing.T
	url     string
	handler *mcpguard.Handler
}

func overHTTP(t *testing.T, s *mcp.Server, idle time.Duration) *web {
	h := mcpguard.NewHandler(s, idle)
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		server.Close()
	})
	return &web{t, server.URL, h}
}

// do sends a request; headers are pairs of a name and a value.
func (w *web) do(ctx context.Context, method, body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return http.DefaultClient.Do(r)
}

// ask sends a request and reads all of the answer.
func (w *web) ask(method, body string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	resp, err := w.do(w.t.Context(), method, body, headers...)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return resp, string(got)
}

func (w *web) begin(version string) (session string) {
	w.t.Helper()
	resp, body := w.ask("POST", begin(version))
	require.Equal(w.t, http.StatusOK, resp.StatusCode)
	require.Equal(w.t, "text/event-stream", resp.Header.Get("Content-Type"))
	require.Contains(w.t, body, `"protocolVersion":"`+version+`"`)
	session = resp.Header.Get("Mcp-Session-Id")
	require.NotEmpty(w.t, session)
	resp, body = w.ask("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	require.Equal(w.t, http.StatusAccepted, resp.StatusCode)
	require.Empty(w.t, body)
	return session
}

// TestHTTPRequests: what is refused over HTTP, with which status and why.
func TestHTTPRequests(t *testing.T) {
	w := overHTTP(t, (&tools{}).server(), time.Hour)
	session := w.begin("2025-06-18")
	old := w.begin("2025-03-26")
	const id = "Mcp-Session-Id"
	for _, q := range []struct {
		method, body string
		headers      []string
		status       int
		want         string
	}{
		{"POST", ping, []string{id, session}, 200, pong},
		{"POST", ping, nil, 200, pong},
		{"POST", ping, []string{"Accept", "*/*"}, 200, pong},
		{"POST", ping, []string{"Accept", "text/*;q=1, application/json"}, 200, pong},
		{"POST", ping, []string{"Content-Type", "application/json; charset=utf-8"}, 200, pong},
		{"POST", ping, []string{"Mcp-Protocol-Version", "2024-11-05"}, 200, pong},
		{"POST", callOf("1", "echo", ""), []string{id, session}, 200, `"result"`},
		{"POST", callOf("1", "none", ""), []string{id, session}, 200, `"code":-32602`},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"none"}`, []string{id, session}, 400, `"none" unsupported`},
		{"POST", begin("2025-06-18"), []string{id, session}, 200, `duplicate \"initialize\"`},
		{"POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{id, session}, 202, ""},
		{"POST", cancelOf("1"), []string{id, session}, 202, ""},
		{"POST", "[" + ping + "," + cancelOf("1") + "]", []string{id, old}, 200, pong},
		{"POST", "[" + cancelOf("1") + "]", []string{id, old}, 202, ""},
		{"POST", "[" + ping + "]", []string{id, session, "Mcp-Protocol-Version", "2025-06-18"}, 400, "batching is not supported"},
		{"POST", "[" + begin("2025-03-26") + "]", nil, 400, "not part of a batch"},
		{"POST", callOf("1", "echo", ""), nil, 200, "invalid during session initialization"},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, nil, 400, `missing required "params"`},
		{"POST", "x", []string{id, session}, 400, `"code":-32700`},
		{"POST", "", []string{id, session}, 400, `"code":-32700`},
		{"POST", "{}", []string{id, session}, 400, `"code":-32600`},
		{"POST", ping, []string{"Mcp-Protocol-Version", "2020-01-01"}, 400, "Unsupported protocol version"},
		{"POST", ping, []string{id, "none"}, 404, "session not found"},
		{"POST", ping, []string{"Accept", "application/json"}, 400, "text/event-stream"},
		{"POST", ping, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		{"POST", strings.Repeat(" ", mcpguard.MaxMessage+1), nil, 413, "more than 1048576 bytes"},
		{"POST", ping, []string{"Host", "evil.example"}, 403, "not this machine"},
		{"POST", ping, []string{"Host", "127.0.0.1.evil.example:80"}, 403, "not this machine"},
		{"POST", ping, []string{"Host", "localhost:80"}, 200, pong},
		{"POST", ping, []string{"Host", "[::1]:80"}, 200, pong},
		{"GET", "", []string{id, session}, 405, "POST"},
		{"PUT", "", nil, 405, "POST"},
		{"DELETE", "", nil, 400, "requires an Mcp-Session-Id"},
		{"DELETE", "", []string{id, "none"}, 404, "session not found"},
		{"DELETE", "", []string{id, session}, 204, ""},
		{"DELETE", "", []string{id, session}, 404, "session not found"},
		{"POST", ping, []string{id, session}, 404, "session not found"},
		{"POST", ping, []string{id, old}, 200, pong},
	} {
		resp, body := w.ask(q.method, q.body, q.headers...)
		assert.Equal(t, q.status, resp.StatusCode, "%s %.100s %v: %s", q.method, q.body, q.headers, body)
		assert.Contains(t, body, q.want, "%s %.100s %v", q.method, q.body, q.headers)
		if q.status == http.StatusMethodNotAllowed {
			assert.Equal(t, "POST, DELETE", resp.Header.Get("Allow"))
		}
	}
	assert.Equal(t, 1, w.handler.Sessions())
}

// TestHTTPStream: a report before the answer, or an answer that takes long, makes a stream, which ends with the answer.
func TestHTTPStream(t *testing.T) {
	tools := &tools{wait: make(chan string)}
	w := overHTTP(t, tools.server(), time.Hour)
	session := w.begin("2025-11-25")
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"done","type":"text"}]}}`
	for _, token := range []bool{true, false} {
		more := ""
		if token {
			more = `,"_meta":{"progressToken":5}`
		} else {
			defer mcpguard.SetStreamAfter(time.Millisecond)()
		}
		resp, err := w.do(t.Context(), "POST", callOf("1", "wait", more), "Mcp-Session-Id", session)
		require.NoError(t, err)
		assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
		events := bufio.NewReader(resp.Body)
		next := func(want string) {
			t.Helper()
			for _, line := range []string{"event: message\n", "data: ", "\n"} {
				got, err := events.ReadString('\n')
				require.NoError(t, err)
				if line != "data: " {
					assert.Equal(t, line, got)
					continue
				}
				data, ok := strings.CutPrefix(got, line)
				assert.True(t, ok)
				assert.JSONEq(t, want, data)
			}
		}
		if token {
			next(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1,"message":"begun"}}`)
		}
		tools.wait <- "done"
		next(answer)
		_, err = events.ReadByte()
		assert.ErrorIs(t, err, io.EOF)
		resp.Body.Close()
	}
}

// TestHTTPLateError: an error is an event of the stream if the stream has begun.
func TestHTTPLateError(t *testing.T) {
	r := httptest.NewRecorder()
	http.Error(mcpguard.BeginEarly(r), `{"jsonrpc":"2.0"}`, http.StatusBadRequest)
	assert.Equal(t, http.StatusOK, r.Code)
	assert.Equal(t, "text/event-stream", r.Header().Get("Content-Type"))
	assert.Contains(t, r.Body.String(), "event: message\ndata: {\"jsonrpc\":\"2.0\"}\n")
}

// TestHTTPCancel checks that a call stops when the client cancels it, disconnects or ends its session, and when the
// server ends.
func TestHTTPCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	tools := &tools{wait: make(chan string)}
	h := mcpguard.NewHandler(tools.server(), time.Hour)
	server := httptest.NewServer(h)
	w := &web{t, server.URL, h}
	session := w.begin("2025-11-25")
	for i, end := range []func(leave func()){
		func(func()) { w.ask("POST", cancelOf("1"), "Mcp-Session-Id", session) },
		func(leave func()) { leave() },
		func(func()) { w.ask("DELETE", "", "Mcp-Session-Id", session) },
		func(func()) { h.Close() },
	} {
		if i == 3 {
			session = w.begin("2025-11-25")
		}
		ctx, leave := context.WithCancel(t.Context())
		status := make(chan int, 1)
		go func() {
			resp, err := w.do(ctx, "POST", callOf(strconv.Itoa(i+1), "wait", ""), "Mcp-Session-Id", session) // the last id may still be taken
			if err != nil {
				status <- 0
				return
			}
			resp.Body.Close()
			status <- resp.StatusCode
		}()
		tools.runs(t, 1)
		end(leave)
		assert.Equal(t, []int{http.StatusOK, 0, http.StatusOK, http.StatusOK}[i], <-status)
		tools.runs(t, 0)
		assert.EqualValues(t, i+1, tools.stopped.Load())
		leave()
	}
	resp, _ := w.ask("POST", begin("2025-11-25"))
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode, "the handler is closed")
	server.Close()
	http.DefaultClient.CloseIdleConnections()
	gone(t, before)
}

// TestHTTPIdle checks that the session of an idle client ends, except while a request runs, and that the number of
// sessions is bounded.
func TestHTTPIdle(t *testing.T) {
	tools := &tools{wait: make(chan string)}
	const idle = 2 * time.Second // a slow machine needs some of it between two requests
	w := overHTTP(t, tools.server(), idle)
	session := w.begin("2025-11-25")
	answered := make(chan string)
	go func() {
		_, body := w.ask("POST", callOf("1", "wait", ""), "Mcp-Session-Id", session)
		answered <- body
	}()
	tools.runs(t, 1)
	time.Sleep(idle * 3 / 2)
	assert.Equal(t, 1, w.handler.Sessions())
	tools.wait <- "done"
	assert.Contains(t, <-answered, "done")
	require.Eventually(t, func() bool { return w.handler.Sessions() == 0 }, patience, time.Millisecond)

	w = overHTTP(t, tools.server(), time.Hour)
	for range 1000 {
		resp, _ := w.ask("POST", begin("2025-11-25"))
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	resp, body := w.ask("POST", begin("2025-11-25"))
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.Contains(t, body, "1000 sessions")
	resp, _ = w.ask("POST", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "it needs no session")
}

// TestHTTPStateless: requests of 2026-07-28 need no session; headers repeat their version, method and name.
func TestHTTPStateless(t *testing.T) {
	w := overHTTP(t, (&tools{}).server(), time.Hour)
	message := func(method, version, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`, method, params, version)
	}
	const version, v = "Mcp-Protocol-Version", "2026-07-28"
	echo := message("tools/call", v, `"name":"echo",`)
	for _, q := range []struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		{message("server/discover", v, ""), []string{version, v, "Mcp-Method", "server/discover"}, 200, `"supportedVersions":["2026-07-28",`},
		{echo, []string{version, v, "Mcp-Method", "tools/call", "Mcp-Name", "echo"}, 200, `"resultType":"complete"`},
		{echo, []string{version, v, "Mcp-Method", "tools/call", "Mcp-Name", "wait"}, 400, `"code":-32020,"message":"header mismatch: Mcp-Name`},
		{echo, []string{version, v, "Mcp-Method", "tools/call"}, 400, `missing required Mcp-Name header`},
		{echo, []string{version, v, "Mcp-Method", "tools/list", "Mcp-Name", "echo"}, 400, `"code":-32020`},
		{echo, []string{version, v}, 400, `missing required Mcp-Method header`},
		{echo, nil, 400, `Mcp-Protocol-Version header is required`},
		{echo, []string{version, "2025-11-25"}, 400, `"code":-32020`},
		{ping, []string{version, v}, 400, `_meta field \"io.modelcontextprotocol/protocolVersion\"`},
		{message("tools/list", "2027-01-01", ""), []string{version, "2027-01-01", "Mcp-Method", "tools/list"}, 400, `"code":-32022`},
		{message("none", v, ""), []string{version, v, "Mcp-Method", "none"}, 404, `"code":-32601`},
		{message("ping", v, ""), []string{version, v, "Mcp-Method", "ping"}, 404, `"code":-32601`},
		{message("tools/call", v, `"name":"none",`), []string{version, v, "Mcp-Method", "tools/call", "Mcp-Name", "none"}, 400, `"code":-32602`},
		{message("subscriptions/listen", v, `"notifications":{"toolsListChanged":true},`), []string{version, v, "Mcp-Method", "subscriptions/listen"}, 200,
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\""},
		{cancelOf("1"), []string{version, v, "Mcp-Method", "notifications/cancelled"}, 202, ""},
	} {
		resp, body := w.ask("POST", q.body, q.headers...)
		assert.Equal(t, q.status, resp.StatusCode, "%s %v: %s", q.body, q.headers, body)
		assert.Contains(t, body, q.want, "%s %v", q.body, q.headers)
		assert.Empty(t, resp.Header.Get("Mcp-Session-Id"))
	}
	assert.Zero(t, w.handler.Sessions())
}
