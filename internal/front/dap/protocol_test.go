package dap_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestRefused checks that unsupported and invalid requests fail with a message.
func TestRefused(t *testing.T) {
	c := start(t)
	init := ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo"})
	assert.True(t, init.Body.SupportsExceptionInfoRequest && init.Body.SupportsDisassembleRequest && init.Body.SupportsCancelRequest)
	assert.False(t, init.Body.SupportsStepBack || init.Body.SupportsSetVariable)
	assert.Contains(t, c.refused("threads", nil), "no dump is open")
	assert.Contains(t, c.refused("launch", map[string]any{}), "no dump is named")
	assert.Contains(t, c.refused("launch", map[string]any{"dump": 5}), "can't be read")
	assert.Contains(t, c.refused("launch", map[string]any{"dump": "/nothing/here"}), "/nothing/here")
	d := testdump.Open(t, "net10-zoo").Plain()
	assert.Contains(t, c.refused("launch", map[string]any{"dump": d, "symbolServer": "https://example.com"}), "offline")
	assert.Contains(t, c.refused("attach", map[string]any{"dump": d, "program": "/another"}), "two dumps")
	ask[*dap.AttachResponse](c, "attach", map[string]any{"program": d, "modules": t.TempDir(), "sourceMap": map[string]string{"/src": t.TempDir()}})
	assert.Contains(t, c.refused("launch", map[string]any{"dump": d}), "is open")
	ask[*dap.ConfigurationDoneResponse](c, "configurationDone", nil)
	stop := event[*dap.StoppedEvent](c)
	assert.Equal(t, "pause", stop.Body.Reason)
	id := map[string]any{"threadId": stop.Body.ThreadId}
	for _, command := range []string{"continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "pause", "restart", "goto", "restartFrame"} {
		assert.Contains(t, c.refused(command, id), "can't run", command)
	}
	for _, command := range []string{"setVariable", "setExpression", "writeMemory"} {
		assert.Contains(t, c.refused(command, nil), "can't be changed", command)
	}
	bp := ask[*dap.SetBreakpointsResponse](c, "setBreakpoints", map[string]any{"source": map[string]any{"path": "/src/Zoo.cs"}, "breakpoints": []any{map[string]any{"line": 3}}})
	require.Len(t, bp.Body.Breakpoints, 1)
	assert.False(t, bp.Body.Breakpoints[0].Verified)
	assert.Contains(t, bp.Body.Breakpoints[0].Message, "does not run")
	ask[*dap.SetExceptionBreakpointsResponse](c, "setExceptionBreakpoints", map[string]any{"filters": []string{}})
	ask[*dap.SetFunctionBreakpointsResponse](c, "setFunctionBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"name": "x"}}})

	assert.Contains(t, c.refused("stackTrace", map[string]any{"threadId": 1 << 30}), "there is no thread")
	assert.Contains(t, c.refused("stackTrace", map[string]any{"threadId": stop.Body.ThreadId, "startFrame": -1}), "are none")
	assert.Contains(t, c.refused("scopes", map[string]any{"frameId": 99999}), "there is no frame")
	assert.Contains(t, c.refused("variables", map[string]any{"variablesReference": 99999}), "there is no variable")
	assert.Contains(t, c.refused("exceptionInfo", id), "has thrown nothing")
	assert.Contains(t, c.refused("readMemory", map[string]any{"memoryReference": "x", "count": 4}), "is no address")
	assert.Contains(t, c.refused("readMemory", map[string]any{"memoryReference": "0x10", "count": 1 << 30}), "at most")
	assert.Contains(t, c.refused("disassemble", map[string]any{"memoryReference": "0x10", "instructionCount": 4}), "10")
	assert.Contains(t, c.refused("disassemble", map[string]any{"memoryReference": "0x10", "instructionCount": 1 << 30}), "at most")
	assert.Contains(t, c.refused("evaluate", map[string]any{"expression": " "}), "no expression")
	assert.Contains(t, c.refused("evaluate", map[string]any{"expression": "1 +"}), "")
	assert.Contains(t, c.refused("nonsense", nil), `no request "nonsense"`)
	assert.Contains(t, c.refused("stackTrace", map[string]any{"threadId": "one"}), "can't be read")
	assert.Contains(t, c.refused("breakpointLocations", nil), "no question about a dump")
	ask[*dap.TerminateResponse](c, "terminate", nil)
	event[*dap.TerminatedEvent](c)
	ask[*dap.DisconnectResponse](c, "disconnect", nil)
	<-c.ended
}

// TestBadFrames checks that an invalid stream ends the session with a message, whatever length it claims.
func TestBadFrames(t *testing.T) {
	for text, want := range map[string]string{
		"Content-Length: 99999999999\r\n\r\n":                        "at most",
		"Content-Length: -1\r\n\r\n":                                 "no number",
		"Content-Length: x\r\n\r\n":                                  "no number",
		"Content-Type: x\r\n\r\n":                                    "no Content-Length",
		"hello\r\n\r\n":                                              "NAME: VALUE",
		strings.Repeat("A", 10_000):                                  "longer than",
		strings.Repeat("A: b\r\n", 10_000):                           "longer than",
		"Content-Length: 10\r\n\r\n{}":                               "",
		"Content-Length: 2\r\n\r\n{}":                                "is not one of the protocol",
		"Content-Length: 7\r\n\r\n[1,2,3]":                           "can't be read",
		"Content-Length: 3\r\n\r\n\xff\xfe\x00":                      "can't be read",
		"content-length:2\nX: y\n\n{}":                               "is not one of the protocol",
		"Content-Length: 24000\r\n\r\n" + strings.Repeat("[", 24000): "can't be read",
	} {
		c := start(t)
		go func() {
			_, _ = io.WriteString(c.in, text) // the session may end before
			c.in.Close()
		}()
		out, err := io.ReadAll(c.out)
		require.NoError(t, err)
		assert.Contains(t, string(out), want, "%.40q", text)
		<-c.ended
	}
}

// TestGarbage checks that requests with arbitrary arguments each get exactly one response.
func TestGarbage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c, stop := open(t, testdump.Open(t, "net10-crash-nested").Plain(), nil)
	values := []any{nil, 0, -1, 1, int64(1) << 31, int64(-1) << 62, "", "0x", "0xffffffffffffffff", "eval", []any{}, map[string]any{}, true, 1.5, stop.Body.ThreadId, strings.Repeat("x", 1000)}
	keys := []string{"threadId", "startFrame", "levels", "frameId", "variablesReference", "filter", "start", "count", "expression", "context", "memoryReference",
		"offset", "instructionOffset", "instructionCount", "text", "column", "line", "source", "sourceReference", "startModule", "moduleCount", "breakpoints", "requestId", "progressId"}
	commands := []string{"stackTrace", "scopes", "variables", "evaluate", "completions", "readMemory", "disassemble", "modules", "loadedSources", "source", "exceptionInfo",
		"threads", "setBreakpoints", "next", "cancel", "launch", "initialize", "configurationDone", "", "x"}
	for range testcase.Part(t, 3000, 10) {
		a := map[string]any{}
		for range r.IntN(5) {
			a[keys[r.IntN(len(keys))]] = values[r.IntN(len(values))]
		}
		m := c.response(c.send(commands[r.IntN(len(commands))], a))
		assert.NotContains(t, m.GetResponse().Message, "bug")
		c.events = nil
	}
}

// TestFlood checks that a burst of requests is answered or refused, and that its memory is bounded.
func TestFlood(t *testing.T) {
	c, stop := open(t, testdump.Open(t, "net10-zoo").Plain(), nil)
	flood := testcase.Part(t, 20_000, 4)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	first := c.seq + 1
	go func() {
		for i := range flood {
			a := fmt.Sprintf(`{"seq":%d,"type":"request","command":"stackTrace","arguments":{"threadId":%d}}`, first+i, stop.Body.ThreadId)
			if dap.WriteBaseMessage(c.in, []byte(a)) != nil {
				return
			}
		}
	}()
	seen := map[int]bool{}
	refused := 0
	for len(seen) < flood {
		m, ok := c.read().(dap.ResponseMessage)
		if !ok {
			continue
		}
		r := m.GetResponse()
		require.False(t, seen[r.RequestSeq], "%d is answered twice", r.RequestSeq)
		seen[r.RequestSeq] = true
		if !r.Success {
			refused++
			require.Contains(t, r.Message, "too many requests")
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Log(refused, "of", flood, "refused")
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(64<<20))
	c.seq = first + flood
	assert.NotEmpty(t, c.threads(), "it goes on")
}

// TestCancel checks that cancel ends a running or waiting request.
func TestCancel(t *testing.T) {
	c, _ := open(t, testdump.Open(t, "net10-zoo").Plain(), nil)
	for range 20 {
		seq := c.send("evaluate", map[string]any{"expression": "leaks", "context": "repl"})
		c.send("cancel", map[string]any{"requestId": seq})
		m := c.response(seq)
		if !m.GetResponse().Success {
			assert.Equal(t, "cancelled", m.GetResponse().Message)
			return
		}
	}
	t.Error("nothing was cancelled")
}

// TestDouble checks that a second request with the same number is refused.
func TestDouble(t *testing.T) {
	c, _ := open(t, testdump.Open(t, "net10-zoo").Plain(), nil)
	for range 100 {
		seq := c.send("evaluate", map[string]any{"expression": "triage", "context": "repl"})
		c.seq--
		c.send("threads", nil)
		if m := c.response(seq); !m.GetResponse().Success {
			assert.Contains(t, m.GetResponse().Message, "another request")
			return
		}
		c.response(seq)
	}
	t.Error("both were answered each time")
}

// TestToken checks that launch and attach over TCP require the token, and that a client without it is disconnected.
func TestToken(t *testing.T) {
	d := testdump.Open(t, "net10-zoo").Plain()
	address, token := listen(t, d)
	connect := func() *client {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		return &client{t: t, in: conn, out: bufio.NewReader(conn)}
	}
	for _, a := range []map[string]any{nil, {"token": ""}, {"token": token + "x"}, {"token": 5}} {
		c := connect()
		ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo"})
		assert.Contains(t, c.refused("launch", a), "token")
		_, err := c.out.ReadByte()
		assert.Error(t, err, "the connection is closed")
	}
	c := connect()
	assert.Contains(t, c.refused("threads", nil), "token")
	_, err := c.out.ReadByte()
	require.Error(t, err, "the connection is closed")
	large := connect()
	go func() { _, _ = io.WriteString(large.in, "Content-Length: 100000\r\n\r\n") }()
	out, _ := io.ReadAll(large.out)
	assert.Contains(t, string(out), "at most")
	for range 2 { // in sequence, over the same dump
		c := connect()
		ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo"})
		ask[*dap.AttachResponse](c, "attach", map[string]any{"token": token})
		ask[*dap.ConfigurationDoneResponse](c, "configurationDone", nil)
		assert.NotEmpty(t, c.threads())
		ask[*dap.DisconnectResponse](c, "disconnect", nil)
	}
	for _, bad := range []string{"0.0.0.0:0", "example.com:1", "[::]:0", "x"} {
		var errs strings.Builder
		assert.Equal(t, cli.ExitUsage, cli.Main(t.Context(), []string{"dap", "-listen", bad}, strings.NewReader(""), io.Discard, &errs, env()), bad)
		assert.Contains(t, errs.String(), "-listen")
	}
}
