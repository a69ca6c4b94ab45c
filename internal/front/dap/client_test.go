package dap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcli"
)

// A client is an editor that talks to sosgo dap.
type client struct {
	t      testing.TB
	in     io.WriteCloser
	out    *bufio.Reader
	seq    int
	events []dap.Message
	ended  chan struct{}
	errs   strings.Builder
}

func env() cli.Env {
	return cli.Env{Commands: commands.All(), Open: commands.Open, Names: commands.Names, Threads: commands.Threads, Limits: commands.Limits()}
}

// start runs sosgo dap offline.
func start(t testing.TB, args ...string) *client {
	t.Helper()
	return run(t, append([]string{"-offline", "dap"}, args...)...)
}

// run runs sosgo and stops it at the end of the test.
func run(t testing.TB, args ...string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		cli.Main(ctx, args, inR, outW, &c.errs, env())
		outW.Close()
		inR.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		cancel()
		<-c.ended
		assert.NotContains(t, c.errs.String(), "goroutine ", "a panic")
	})
	return c
}

func (c *client) send(command string, arguments any) (seq int) {
	c.t.Helper()
	c.seq++
	b, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": arguments})
	require.NoError(c.t, err)
	require.NoError(c.t, dap.WriteBaseMessage(c.in, b))
	return c.seq
}

func (c *client) read() dap.Message {
	c.t.Helper()
	m, err := dap.ReadProtocolMessage(c.out)
	require.NoError(c.t, err)
	return m
}

// response reads up to the response to a request.
func (c *client) response(seq int) dap.ResponseMessage {
	c.t.Helper()
	for {
		switch m := c.read().(type) {
		case dap.ResponseMessage:
			if m.GetResponse().RequestSeq == seq {
				return m
			}
		default:
			c.events = append(c.events, m)
		}
	}
}

// event returns the next event of a kind. It also finds events that response has read.
func event[T dap.Message](c *client) T {
	c.t.Helper()
	for {
		for i, e := range c.events {
			if e, ok := e.(T); ok {
				c.events = c.events[i+1:]
				return e
			}
		}
		m := c.read()
		if _, ok := m.(dap.ResponseMessage); !ok {
			c.events = append(c.events, m)
		}
	}
}

// ask sends a request that must succeed.
func ask[T dap.ResponseMessage](c *client, command string, arguments any) T {
	c.t.Helper()
	m := c.response(c.send(command, arguments))
	out, ok := m.(T)
	if !ok {
		e, _ := m.(*dap.ErrorResponse)
		require.True(c.t, ok, "%s %v: %v", command, arguments, e)
	}
	return out
}

// refused sends a request that must fail and returns the error message.
func (c *client) refused(command string, arguments any) string {
	c.t.Helper()
	m := c.response(c.send(command, arguments))
	e, ok := m.(*dap.ErrorResponse)
	require.True(c.t, ok, "%s %v: %T", command, arguments, m)
	require.NotNil(c.t, e.Body.Error)
	assert.NotEmpty(c.t, e.Message)
	assert.NotContains(c.t, e.Message, "bug")
	return e.Message
}

// open starts a client that launches a dump.
func open(t testing.TB, dump string, more map[string]any) (*client, *dap.StoppedEvent) {
	t.Helper()
	c := start(t)
	return c, c.launch(dump, more)
}

// launch launches a dump and reads up to the stopped event.
func (c *client) launch(dump string, more map[string]any) *dap.StoppedEvent {
	c.t.Helper()
	ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo", "linesStartAt1": true})
	arguments := map[string]any{"dump": dump}
	for k, v := range more {
		arguments[k] = v
	}
	ask[*dap.LaunchResponse](c, "launch", arguments)
	event[*dap.InitializedEvent](c)
	ask[*dap.ConfigurationDoneResponse](c, "configurationDone", nil)
	return event[*dap.StoppedEvent](c)
}

func (c *client) threads() []dap.Thread {
	c.t.Helper()
	return ask[*dap.ThreadsResponse](c, "threads", nil).Body.Threads
}

func (c *client) stack(thread, start, levels int) []dap.StackFrame {
	c.t.Helper()
	return ask[*dap.StackTraceResponse](c, "stackTrace", map[string]any{"threadId": thread, "startFrame": start, "levels": levels}).Body.StackFrames
}

func (c *client) variables(ref int) []dap.Variable {
	c.t.Helper()
	return ask[*dap.VariablesResponse](c, "variables", map[string]any{"variablesReference": ref}).Body.Variables
}

// scope returns the variables of a frame's scope, or nil if the frame has no such scope.
func (c *client) scope(frame int, name string) []dap.Variable {
	c.t.Helper()
	for _, s := range ask[*dap.ScopesResponse](c, "scopes", map[string]any{"frameId": frame}).Body.Scopes {
		if s.Name == name {
			return c.variables(s.VariablesReference)
		}
	}
	return nil
}

func (c *client) evaluate(expression, context string, frame int) dap.EvaluateResponseBody {
	c.t.Helper()
	return ask[*dap.EvaluateResponse](c, "evaluate", map[string]any{"expression": expression, "context": context, "frameId": frame}).Body
}

// kept is the dump of the last document. It is open until the test ends.
var kept testcli.Kept

// document returns the JSON output of a command, or nil if the command fails.
func document(t testing.TB, dump string, words ...string) map[string]any {
	t.Helper()
	var out strings.Builder
	if dump != kept.Path {
		require.NoError(t, kept.Close())
		kept.Path = dump
		t.Cleanup(func() {
			assert.NoError(t, kept.Close())
			kept.Path = ""
		})
	}
	env := env()
	env.Open, env.KeepOpen = kept.Env().Open, true
	cli.Main(t.Context(), append([]string{"-offline", "-d", dump, "--json"}, words...), strings.NewReader(""), &out, io.Discard, env)
	var d struct{ Result map[string]any }
	from := json.NewDecoder(strings.NewReader(out.String()))
	from.UseNumber()
	require.NoError(t, from.Decode(&d), out.String())
	return d.Result
}

// number returns v as an integer.
func number(v any) (int, bool) {
	n, ok := v.(json.Number)
	i, err := n.Int64()
	return int(i), ok && err == nil
}

// rows returns the list with that name in a document.
func rows(d map[string]any, name string) []map[string]any {
	var out []map[string]any
	list, _ := d[name].([]any)
	for _, r := range list {
		row, _ := r.(map[string]any)
		out = append(out, row)
	}
	return out
}
