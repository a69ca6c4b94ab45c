package mcpguard_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/mcpguard"
)

// tools are the tools of the test servers. "wait" ends with a value from its channel or when it is canceled.
// "stubborn" ends only with a value.
type tools struct {
	wait    chan string
	running atomic.Int64
	stopped atomic.Int64
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// runs waits until n calls run.
func (w *tools) runs(t *testing.T, n int64) {
	t.Helper()
	require.Eventually(t, func() bool { return w.running.Load() == n }, patience, time.Millisecond)
}

func (w *tools) server() *mcp.Server { return w.limited(0) }

// limited is a server with a number of items on each page of a list.
func (w *tools) limited(pageSize int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{PageSize: pageSize,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	add := func(name string, call mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, call)
	}
	add("wait", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.running.Add(1)
		defer w.running.Add(-1)
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "begun"})
		}
		select {
		case text := <-w.wait:
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		case <-ctx.Done():
			w.stopped.Add(1)
			return nil, ctx.Err()
		}
	})
	add("stubborn", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.running.Add(1)
		defer w.running.Add(-1)
		<-w.wait
		return &mcp.CallToolResult{}, nil
	})
	add("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}
		if r.Params.Arguments != nil {
			out.StructuredContent = r.Params.Arguments
		}
		return out, nil
	})
	return s
}

// A lines is a client that sends and reads lines.
type lines struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	ended chan error
}

func serve(t *testing.T, s *mcp.Server) *lines {
	in, to := io.Pipe()
	from, out := io.Pipe()
	l := &lines{t, to, bufio.NewReader(from), make(chan error, 1)}
	go func() {
		l.ended <- mcpguard.Serve(context.Background(), s, in, out)
		out.Close()
	}()
	t.Cleanup(func() {
		to.Close()
		from.Close()
	})
	return l
}

func (l *lines) send(messages ...string) {
	l.t.Helper()
	for _, m := range messages {
		_, err := io.WriteString(l.in, m+"\n")
		require.NoError(l.t, err)
	}
}

func (l *lines) expect(want string) {
	l.t.Helper()
	got, err := l.out.ReadString('\n')
	require.NoError(l.t, err)
	assert.JSONEq(l.t, want, got)
}

func (l *lines) initialize(version string) {
	l.t.Helper()
	l.send(begin(version))
	l.expect(`{"jsonrpc":"2.0","id":"begin","result":{"protocolVersion":"` + version + `","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"1"}}}`)
}

func begin(version string) string {
	return `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
}

func callOf(id, tool, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q%s}}`, id, tool, more)
}

func cancelOf(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

const ping, pong = `{"jsonrpc":"2.0","id":"p","method":"ping"}`, `{"jsonrpc":"2.0","id":"p","result":{}}`

// TestConcurrent checks that requests run concurrently. A canceled one stops without an answer, and its id can be
// reused.
func TestConcurrent(t *testing.T) {
	w := &tools{wait: make(chan string)}
	l := serve(t, w.server())
	l.initialize("2025-11-25")
	l.send(callOf("1", "wait", ""), callOf(`"1"`, "wait", ""), ping)
	l.expect(pong)
	w.runs(t, 2)
	l.send(callOf("1", "echo", ""))
	l.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with the id 1 runs already"}}`)
	l.send(cancelOf("7"), cancelOf("null"), cancelOf("1"))
	require.Eventually(t, func() bool { return w.stopped.Load() == 1 }, patience, time.Millisecond)
	w.wait <- "done"
	l.expect(`{"jsonrpc":"2.0","id":"1","result":{"content":[{"type":"text","text":"done"}]}}`)
	l.send(callOf("1", "echo", `,"arguments":{"a":1}`))
	l.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}}`)
	l.in.Close()
	assert.NoError(t, <-l.ended)
}

// TestStubborn checks that the id of a canceled call can be reused while the call still runs, and that its late
// answer is dropped.
func TestStubborn(t *testing.T) {
	w := &tools{wait: make(chan string)}
	l := serve(t, w.server())
	l.initialize("2025-11-25")
	for i := range 3 {
		l.send(callOf("1", "stubborn", ""))
		w.runs(t, int64(i+1))
		l.send(cancelOf("1"), callOf("1", "echo", `,"arguments":{}`))
		l.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`)
	}
	for range 3 {
		w.wait <- "done"
	}
	w.runs(t, 0)
	l.send(ping)
	l.expect(pong)
}

// TestProgressTokens: a text and an integer are tokens, which reports repeat before the answer.
func TestProgressTokens(t *testing.T) {
	w := &tools{wait: make(chan string, 10)}
	l := serve(t, w.server())
	l.initialize("2025-11-25")
	for _, token := range []string{`"mine"`, `12345678901234567890`, "-1", `""`} {
		w.wait <- "x"
		l.send(callOf("1", "wait", `,"_meta":{"progressToken":`+token+`}`))
		l.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1,"message":"begun"}}`)
		l.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}`)
	}
}

// TestBatch checks that a batch is answered by one batch, in order, when all calls are done, with errors in the place
// of invalid messages.
func TestBatch(t *testing.T) {
	w := &tools{wait: make(chan string, 1)}
	l := serve(t, w.server())
	l.initialize("2025-03-26")
	l.send(`[` + callOf("1", "wait", "") + `,` + ping + `,7,` + cancelOf("9") + `,` + begin("2025-03-26") + `,` + callOf("2", "wait", "") + `]`)
	w.runs(t, 2)
	l.send(strings.ReplaceAll(ping, `"p"`, `"q"`)) // the batch's ping may still run
	l.expect(strings.ReplaceAll(pong, `"p"`, `"q"`))
	l.send(cancelOf("2"))
	w.runs(t, 1)
	w.wait <- "done"
	l.expect(`[{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}},` + pong + `,{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is an object"}},
		{"jsonrpc":"2.0","id":"begin","error":{"code":-32600,"message":"initialize is not part of a batch"}}]`)
	l.send(`[`+cancelOf("9")+`,{"jsonrpc":"2.0","id":4,"result":{}}]`, ping)
	l.expect(pong) // notifications and answers have none
	l.send(`[` + strings.Repeat(ping+",", 100) + ping + `]`)
	l.expect(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch has 1 to 100 messages, not 101"}}`)
}

// TestBounds: what is too long, too deep or no UTF-8 is an error, and the next message is read.
func TestBounds(t *testing.T) {
	l := serve(t, (&tools{}).server())
	l.initialize("2025-11-25")
	fail := func(message, want string) {
		t.Helper()
		l.send(message)
		got, err := l.out.ReadString('\n')
		require.NoError(t, err)
		assert.Contains(t, got, `"id":null`)
		assert.Contains(t, got, want)
		l.send(ping)
		l.expect(pong)
	}
	full := ping + strings.Repeat(" ", mcpguard.MaxMessage-len(ping))
	l.send(full)
	l.expect(pong)
	fail(strings.Repeat("x", mcpguard.MaxMessage+1), "more than 1048576 bytes")
	fail(strings.Repeat("x", 5*mcpguard.MaxMessage), "more than 1048576 bytes")
	fail(strings.Repeat("[", 101), "nests more than 100")
	fail(strings.Repeat(`{"x":`, 200_000), "nests more than 100")
	fail("\"\xff\"", "not in UTF-8")
	fail(`{"jsonrpc":"2.0","id":123456789012345678901,"method":"ping"}`, "text or an integer")
	fail(`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "text or an integer")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"\u0001"}}`) // the SDK's error repeats it, and is no JSON
	got, err := l.out.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, got, `"code":-32603`)
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + strings.Repeat("A", 1025) + `"}}`)
	l.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the cursor has more than 1024 bytes"}}`)
	l.send("", "  \t\r", callOf("1", "echo", `,"arguments":{"a":"[[[[{{\"}}"}`)) // empty lines are no messages, brackets in texts no depth
	l.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":\"[[[[{{\\\"}}\"}"}],"structuredContent":{"a":"[[[[{{\"}}"}}}`)
}

// TestSilentReader checks that a client that never reads keeps a bounded number of requests waiting, and that its end
// cancels all of them.
func TestSilentReader(t *testing.T) {
	before := runtime.NumGoroutine()
	in, to := io.Pipe()
	from, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mcpguard.Serve(ctx, (&tools{}).server(), in, out) }()
	sent := make(chan int, 1)
	go func() {
		n := 0
		for _, err := io.WriteString(to, begin("2025-11-25")+"\n"); err == nil; _, err = io.WriteString(to, callOf(fmt.Sprint(n), "echo", "")+"\n") {
			n++
		}
		sent <- n
	}()
	require.Eventually(t, func() bool {
		n := runtime.NumGoroutine()
		time.Sleep(20 * time.Millisecond)
		return n > 500 && n == runtime.NumGoroutine()
	}, patience, time.Millisecond, "as many wait as may")
	assert.Less(t, runtime.NumGoroutine(), before+600)
	cancel()
	assert.NoError(t, <-ended)
	in.Close()
	from.Close()
	assert.Less(t, <-sent, 2000)
	gone(t, before)
}

// gone waits until no more goroutines run than before.
func gone(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestEnds checks that a session ends with its client, its context or its stream, that running calls stop, and that
// no goroutine remains.
func TestEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	w := &tools{wait: make(chan string)}
	l := serve(t, w.server())
	l.initialize("2025-11-25")
	l.send(callOf("1", "wait", ""), callOf("2", "echo", ""))
	l.in.Close()
	l.expect(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":""}]}}`)
	assert.NoError(t, <-l.ended)
	assert.EqualValues(t, 1, w.stopped.Load())

	var out bytes.Buffer
	assert.NoError(t, mcpguard.Serve(context.Background(), w.server(), strings.NewReader(ping), &out), "the last line has no end")
	assert.JSONEq(t, pong, out.String())

	broken := errors.New("broken")
	assert.ErrorIs(t, mcpguard.Serve(context.Background(), w.server(), io.MultiReader(strings.NewReader(ping+"\n"), failing{broken}), io.Discard), broken)
	in, to := io.Pipe()
	go func() { _, _ = io.WriteString(to, ping+"\n") }()
	assert.ErrorIs(t, mcpguard.Serve(context.Background(), w.server(), in, failing{broken}), broken)
	in.Close()
	gone(t, before)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestListPages: cursors lead through a list, each item once.
func TestListPages(t *testing.T) {
	l := serve(t, (&tools{}).limited(1))
	l.initialize("2025-11-25")
	var names []string
	cursor := ""
	for {
		l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + cursor + `"}}`)
		raw, err := l.out.ReadBytes('\n')
		require.NoError(t, err)
		var got struct {
			Result struct {
				NextCursor *string
				Tools      []struct{ Name string }
			}
		}
		require.NoError(t, json.Unmarshal(raw, &got))
		for _, tool := range got.Result.Tools {
			names = append(names, tool.Name)
		}
		if got.Result.NextCursor == nil {
			break
		}
		cursor = *got.Result.NextCursor
		require.NotEmpty(t, cursor)
	}
	assert.Equal(t, []string{"echo", "stubborn", "wait"}, names)
}

// FuzzServe checks that no input makes the server panic, hang or send an invalid message, and that every request is
// answered.
func FuzzServe(f *testing.F) {
	raw, err := os.ReadFile("../mcpserver/testdata/exchanges.txt")
	require.NoError(f, err)
	for line := range strings.Lines(string(raw)) {
		if message, ok := strings.CutPrefix(line, "> "); ok {
			f.Add([]byte(message))
		}
	}
	f.Add([]byte(strings.Repeat("[", 200)))
	f.Add([]byte(ping + "\n" + "[" + ping + "]\n\n" + begin("2025-06-18") + "\n[" + ping + "]"))
	s := (&tools{wait: make(chan string)}).server()
	s.RemoveTools("stubborn", "wait")
	f.Fuzz(func(t *testing.T, sent []byte) {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := mcpguard.Serve(ctx, s, bytes.NewReader(sent), &out); err != nil || ctx.Err() != nil {
			t.Fatalf("%v %v", err, ctx.Err())
		}
		asked, answered := 0, 0
		for line := range bytes.Lines(sent) {
			if len(bytes.TrimSpace(line)) > 0 {
				asked++
			}
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) || line[len(line)-1] != '\n' {
				t.Fatalf("%q", line)
			}
			if !bytes.Contains(line, []byte(`"method":"notifications/`)) {
				answered++
			}
		}
		if answered > asked {
			t.Errorf("%d answers to %d lines", answered, asked)
		}
	})
}
