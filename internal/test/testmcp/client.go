// Package testmcp is a client of the Model Context Protocol over lines, for tests. It does not
// validate what it sends.
package testmcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
)

// A Client is connected to a server.
type Client struct {
	// Noted is called for notifications of the server, in order.
	Noted func(method string, params json.RawMessage)

	out   io.WriteCloser
	ended chan struct{} // closed when the server has closed its output

	writing sync.Mutex
	mu      sync.Mutex
	last    int
	waiting map[int]chan answer
}

type answer struct {
	Result json.RawMessage
	Error  *Error
}

// An Error is an error response of the server.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// A Result is the result of a tool.
type Result struct {
	Text       string
	Structured json.RawMessage
	Failed     bool
}

// Connect runs a server, begins a session and returns the client. When the client is closed, the
// server's input ends and the server must return.
func Connect(t *testing.T, serve func(in io.Reader, out io.Writer)) *Client {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &Client{Noted: func(string, json.RawMessage) {}, out: toServer, ended: make(chan struct{}), waiting: map[int]chan answer{}}
	go func() {
		serve(in, out)
		out.Close()
		in.Close()
	}()
	go func() {
		defer close(c.ended)
		defer fromServer.Close()
		lines := bufio.NewReader(fromServer)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			c.received(line)
		}
	}()
	if _, err := c.Request(t.Context(), "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "test", "version": "1"}}); err != nil {
		t.Fatal(err)
	}
	c.Notify("notifications/initialized", nil)
	return c
}

// Close ends the session and waits until the server has closed its output.
func (c *Client) Close() {
	c.out.Close()
	<-c.ended
}

func (c *Client) received(line []byte) {
	var m struct {
		answer

		ID     *int
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		c.Noted(m.Method, m.Params)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if to := c.waiting[*m.ID]; to != nil {
		to <- m.answer
		delete(c.waiting, *m.ID)
	}
}

func (c *Client) send(m map[string]any) error {
	m["jsonrpc"] = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err = c.out.Write(append(raw, '\n'))
	return err
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	m := map[string]any{"method": method}
	if params != nil {
		m["params"] = params
	}
	_ = c.send(m)
}

// Request sends a request and waits for the answer. The end of ctx cancels it.
func (c *Client) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	to := make(chan answer, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = to
	c.mu.Unlock()
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if err := c.send(m); err != nil {
		return nil, err
	}
	select {
	case a := <-to:
		if a.Error != nil {
			return nil, a.Error
		}
		return a.Result, nil
	case <-c.ended:
		return nil, errors.New("the server has gone")
	case <-ctx.Done():
		c.Notify("notifications/cancelled", map[string]any{"requestId": id})
		return nil, ctx.Err()
	}
}

// Call calls a tool. A nil token requests no progress.
func (c *Client) Call(ctx context.Context, tool string, arguments, token any) (*Result, error) {
	params := map[string]any{"name": tool}
	if arguments != nil {
		params["arguments"] = arguments
	}
	if token != nil {
		params["_meta"] = map[string]any{"progressToken": token}
	}
	raw, err := c.Request(ctx, "tools/call", params)
	if err != nil {
		return nil, err
	}
	var r struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		return nil, fmt.Errorf("the answer has not one text: %s", raw)
	}
	return &Result{r.Content[0].Text, r.StructuredContent, r.IsError}, nil
}
