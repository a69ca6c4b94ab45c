package dap_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	godap "github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/dap"
	"github.com/sosgo/sosgo/internal/test/strangers"
)

// dumpless is a host without a dump.
type dumpless struct{}

func (dumpless) Open(context.Context, dap.Open, func(done, total uint64)) (*dap.Opened, error) {
	return nil, errors.New("the dump is elsewhere")
}

// TestStrangers: clients that do not show the token lock no editor out, and are disconnected after a while; an editor
// that has shown it is not.
func TestStrangers(t *testing.T) {
	defer dap.SetTokenTime(2 * time.Second)()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- dap.Listen(ctx, l, dumpless{}, dap.Options{Token: "right"}, nil) }()
	atMost := strangers.Come(t, l.Addr().String(), "Content-Length: 50\r\n\r\n{")
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	c := &client{t: t, in: conn, out: bufio.NewReader(conn)}
	ask[*godap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo"})
	assert.Contains(t, c.refused("attach", map[string]any{"token": "right"}), "the dump is elsewhere")
	atMost(0)
	assert.Contains(t, c.refused("attach", map[string]any{"token": "right"}), "the dump is elsewhere", "the editor is still there")
	cancel()
	assert.NoError(t, <-ended)
}

// TestUnread checks that a client without the token that reads no answer takes little memory: its requests wait where
// they come from.
func TestUnread(t *testing.T) {
	in, client := io.Pipe()
	_, out := io.Pipe() // nobody reads it
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- dap.Serve(ctx, in, out, dumpless{}, dap.Options{Token: "right"}) }()
	var sent atomic.Int64
	go func() {
		long := strings.Repeat("x", 60_000)
		for i := range 1000 {
			body := fmt.Appendf(nil, `{"seq":%d,"type":"request","command":"initialize","arguments":{"adapterID":"%s"}}`, i+1, long)
			if godap.WriteBaseMessage(client, body) != nil {
				return
			}
			sent.Add(int64(len(body)))
		}
	}()
	for before := int64(-1); before != sent.Load(); time.Sleep(200 * time.Millisecond) {
		before = sent.Load()
	}
	assert.Less(t, sent.Load(), int64(1<<20))
	assert.NotZero(t, sent.Load())
	cancel()
	assert.NoError(t, errors.Join(in.Close(), out.Close()))
	<-ended
}
