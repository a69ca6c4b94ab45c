package mcpcmd_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// The tests of this file use the SDK's client, with every protocol version and both transports.

const resource = "sosgo://commands/all"

// everywhere runs a test for each transport and version.
func everywhere(t *testing.T, options *mcp.ClientOptions, test func(t *testing.T, c *mcp.ClientSession)) {
	for _, version := range mcp.SupportedProtocolVersions() {
		for name, connect := range map[string]func(*testing.T) mcp.Transport{"lines": overLines, "http": overHTTP} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), connect(t), &mcp.ClientSessionOptions{ProtocolVersion: version})
				require.NoError(t, err)
				assert.Equal(t, version, c.InitializeResult().ProtocolVersion)
				test(t, c)
				assert.NoError(t, c.Close())
			})
		}
	}
}

// overLines runs sosgo mcp until the client closes the transport.
func overLines(t *testing.T) mcp.Transport {
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan int, 1)
	dump := testdump.Open(t, "net10-zoo").Plain()
	go func() {
		ended <- cli.Main(context.Background(), []string{"-offline", "mcp", "-schemas", dump}, in, out, io.Discard, environment())
		out.Close()
	}()
	t.Cleanup(func() { assert.Zero(t, <-ended) })
	return &mcp.IOTransport{Reader: from, Writer: to}
}

// overHTTP starts a server, which ends with the test, and returns its transport.
func overHTTP(t *testing.T) mcp.Transport {
	address, token := listen(t)
	return &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// listen serves HTTP until the test ends.
func listen(t *testing.T) (address, token string) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	dump := testdump.Open(t, "net10-zoo").Plain()
	go func() {
		ended <- cli.Main(ctx, []string{"-offline", "mcp", "-schemas", "-listen", "127.0.0.1:0", dump}, strings.NewReader(""), io.Discard, w, environment())
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		assert.Zero(t, <-ended)
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, r) }()
	m := regexp.MustCompile(`MCP at (http://\S+/) .*Bearer (\w+)"`).FindStringSubmatch(line)
	require.NotNil(t, m, line)
	return m[1], m[2]
}

// TestLists checks that the SDK can read everything the server offers.
func TestLists(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, c *mcp.ClientSession) {
		ctx := t.Context()
		if info := c.InitializeResult(); info.ServerInfo.Name != "sosgo" || !strings.Contains(info.Instructions, "triage") || info.Capabilities.Tools == nil {
			t.Errorf("the server describes itself as %+v", info)
		}
		tools, err := c.ListTools(ctx, nil)
		if err != nil || len(tools.Tools) != 37 {
			t.Fatalf("tools: %v", err)
		}
		for _, tool := range tools.Tools {
			if !tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint || tool.InputSchema == nil || tool.OutputSchema == nil && tool.Name != "more" {
				t.Errorf("%+v", tool)
			}
		}
		resources, err := c.ListResources(ctx, nil)
		if err != nil || len(resources.Resources) < 100 {
			t.Fatalf("resources: %v", err)
		}
		read, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: resource})
		if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "crashinfo") {
			t.Errorf("%s: %v", resource, err)
		}
		if templates, err := c.ListResourceTemplates(ctx, nil); err != nil || len(templates.ResourceTemplates) != 0 {
			t.Errorf("templates: %v", err)
		}
		prompts, err := c.ListPrompts(ctx, nil)
		if err != nil || len(prompts.Prompts) != 3 {
			t.Fatalf("prompts: %v", err)
		}
		prompt, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: prompts.Prompts[0].Name})
		if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "investigate") {
			t.Errorf("%s: %v", prompts.Prompts[0].Name, err)
		}
		done, err := c.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: prompts.Prompts[0].Name},
			Argument: mcp.CompleteParamsArgument{Name: "dump", Value: "net10"}})
		if err != nil || len(done.Completion.Values) != 1 || done.Completion.Values[0] != filepath.Base(testdump.Open(t, "net10-zoo").Plain()) {
			t.Errorf("completion: %v", err)
		}
	})
}

// TestCalls validates answers against their schemas with the SDK's validator. A wrong argument gives an answer, not a
// protocol error.
func TestCalls(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, c *mcp.ClientSession) {
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		schemas := map[string]*jsonschema.Resolved{}
		for _, tool := range list.Tools {
			for name, schema := range map[string]any{tool.Name: tool.OutputSchema, "in " + tool.Name: tool.InputSchema} {
				if schema == nil {
					continue
				}
				if schemas[name], err = resolved(schema); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		for _, q := range []struct {
			tool      string
			arguments map[string]any
			failed    bool
		}{
			{"triage", nil, false}, {"crashinfo", nil, false}, {"threads", nil, false}, {"investigate", nil, false}, {"types", map[string]any{"top": 5}, false}, {"clrstack", map[string]any{"all": true}, false}, {"waits", nil, false},
			{"memory", nil, false}, {"leaks", map[string]any{"share": "5%"}, false}, {"doctor", nil, false}, {"gc", nil, false},
			{"dumpheap", map[string]any{"stat": true, "min": "100"}, false}, {"dumpobj", map[string]any{"address": "10"}, true}, {"eval", map[string]any{"expression": "-1"}, false},
			{"query", map[string]any{"question": "from threads | select index, name"}, false},
			{"command", map[string]any{"command": "modules", "arguments": []string{"-name=CoreLib"}}, false}, {"clrstack", map[string]any{"format": "text"}, false},
			{"eval", nil, true}, {"eval", map[string]any{"expression": "1", "nothing": 1}, true}, {"clrstack", map[string]any{"all": "yes"}, true},
		} {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: q.tool, Arguments: q.arguments})
			if err != nil {
				t.Errorf("%s: %v", q.tool, err)
				continue
			}
			if r.IsError != q.failed || len(r.Content) != 1 {
				t.Errorf("%s %v: %s", q.tool, q.arguments, r.Content[0].(*mcp.TextContent).Text)
			}
			if r.StructuredContent == nil {
				continue
			}
			if err := schemas[q.tool].Validate(r.StructuredContent); err != nil {
				t.Errorf("%s: %v", q.tool, err)
			}
			arguments := map[string]any{}
			raw, _ := json.Marshal(q.arguments)
			if err := json.Unmarshal(raw, &arguments); err == nil && q.arguments != nil {
				if err := schemas["in "+q.tool].Validate(arguments); err != nil {
					t.Errorf("arguments of %s: %v", q.tool, err)
				}
			}
		}
	})
}

func resolved(schema any) (*jsonschema.Resolved, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// TestErrors checks the error codes that the SDK sees.
func TestErrors(t *testing.T) {
	everywhere(t, nil, func(t *testing.T, c *mcp.ClientSession) {
		ctx := t.Context()
		for name, call := range map[string]struct {
			want int64
			call func() error
		}{
			"tool": {-32602, func() error { _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "rm"}); return err }},
			"resource": {-32602, func() error {
				_, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///etc/passwd"})
				return err
			}},
			"prompt": {-32602, func() error { _, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "none"}); return err }},
			"cursor": {-32602, func() error { _, err := c.ListTools(ctx, &mcp.ListToolsParams{Cursor: "?"}); return err }},
		} {
			var e *jsonrpc.Error
			if err := call.call(); !errors.As(err, &e) || e.Code != call.want {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// mostWaiting is how many calls TestProgressAndCancel has unanswered at most.
const mostWaiting = 300

// TestProgressAndCancel checks progress reports, and that canceled calls make room for others.
func TestProgressAndCancel(t *testing.T) {
	type counts struct{ reports, bad atomic.Int64 }
	var bySession sync.Map
	of := func(s *mcp.ClientSession) *counts {
		c, _ := bySession.LoadOrStore(s, &counts{})
		return c.(*counts)
	}
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		if token, _ := r.Params.ProgressToken.(string); !strings.HasPrefix(token, "call ") || r.Params.Progress <= 0 || r.Params.Message == "" {
			of(r.Session).bad.Add(1)
		}
		of(r.Session).reports.Add(1)
	}}
	everywhere(t, options, func(t *testing.T, c *mcp.ClientSession) {
		reports, bad := &of(c).reports, &of(c).bad
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var all sync.WaitGroup
		var answered, given atomic.Int64
		call := func(number int) func() {
			return func() {
				p := &mcp.CallToolParams{Name: "command", Arguments: map[string]any{"command": "dumpheap", "arguments": []string{"-strings"}}}
				p.SetProgressToken(fmt.Sprint("call ", number))
				switch _, err := c.CallTool(ctx, p); {
				case err == nil:
					answered.Add(1)
				case errors.Is(err, context.Canceled):
					given.Add(1)
				default:
					t.Error(err)
				}
			}
		}
		// Four calls run at a time. More are made until one has waited so long that it reports progress, however fast the machine is.
		for end, n := time.Now().Add(time.Minute), 0; reports.Load() == 0 && time.Now().Before(end); n++ {
			if int64(n) < answered.Load()+mostWaiting {
				all.Go(call(n))
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		all.Wait()
		if reports.Load() == 0 || bad.Load() > 0 || given.Load() == 0 {
			t.Errorf("%d reports, %d of them bad; %d calls were answered, %d given up", reports.Load(), bad.Load(), answered.Load(), given.Load())
		}
		begin := time.Now()
		if r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "eval", Arguments: map[string]any{"expression": "1+1"}}); err != nil || r.IsError {
			t.Errorf("a call after the others: %v", err)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("a call after those that were given up took %v", took)
		}
	})
}

// TestTwoClients checks over HTTP that the end of one client does not affect another's session.
func TestTwoClients(t *testing.T) {
	transport := overHTTP(t)
	for _, version := range []string{"2025-11-25", "2024-11-05"} {
		var clients []*mcp.ClientSession
		for range 2 {
			c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
		}
		if clients[0].ID() == "" || clients[0].ID() == clients[1].ID() {
			t.Errorf("the sessions are %q and %q", clients[0].ID(), clients[1].ID())
		}
		if err := clients[0].Close(); err != nil {
			t.Error(err)
		}
		if err := clients[1].Ping(t.Context(), nil); err != nil {
			t.Errorf("the other session: %v", err)
		}
		if err := clients[1].Close(); err != nil {
			t.Error(err)
		}
	}
}
