package web_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// lookalikes opens a dump with classes that have the names and fields of library classes.
func lookalikes(t *testing.T) (*web.Reader, *heap.Heap) {
	t.Helper()
	p := lookalike(t)
	r, err := web.Of(p)
	require.NoError(t, err)
	h, err := p.Heap()
	require.NoError(t, err)
	return r, h
}

// lookalike is the process of lookalikes.
func lookalike(t *testing.T) *process.Process {
	t.Helper()
	d, _ := testdump.Libraries(t)
	p, err := d.Process("")
	require.NoError(t, err)
	return p
}

// TestGRPC finds two sent calls, one of them completed, and one call that the program answers.
func TestGRPC(t *testing.T) {
	r, h := lookalikes(t)
	out, err := r.GRPC(t.Context(), h, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Calls, 5)
	buy, watch, served := out.Calls[0], out.Calls[1], out.Calls[2]
	assert.Equal(t, "/shop.Orders/Buy", buy.Method.S)
	assert.Equal(t, "http://shop.example/shop.Orders/Buy", buy.URI.S)
	assert.Equal(t, "Unary", buy.Kind.S)
	require.NotNil(t, buy.Deadline)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), *buy.Deadline)
	assert.Equal(t, answer.Known(false), buy.Done)
	assert.Empty(t, buy.Status.S)
	assert.ErrorIs(t, buy.HTTPStatus.Err(), target.ErrUnsupported)

	assert.Equal(t, "ServerStreaming", watch.Kind.S)
	assert.Nil(t, watch.Deadline)
	assert.Equal(t, answer.Known(true), watch.Done)
	assert.Equal(t, "14", watch.Status.S)
	assert.Equal(t, "gone", watch.Detail.S)
	assert.Equal(t, answer.Known[int64](2), watch.Attempt)
	assert.Equal(t, answer.Known[int64](7), watch.Received)
	assert.Equal(t, answer.Known[int64](200), watch.HTTPStatus)

	assert.True(t, served.Server)
	assert.Equal(t, "ipv4:10.0.0.1:5000", served.Peer.S)
	require.NotNil(t, served.Deadline)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), *served.Deadline)
	assert.ErrorIs(t, served.Done.Err(), target.ErrUnsupported, "it has no request")

	left, ship := out.Calls[3], out.Calls[4]
	assert.Equal(t, answer.Known(true), left.Done, "its connection has another call")
	assert.Equal(t, answer.Known(false), ship.Done)
	assert.Equal(t, "/shop.Orders/Ship", ship.Method.S)
	assert.Equal(t, "[2001:db8::1]:5001", ship.Remote)
	assert.Equal(t, left.Context, ship.Context)
}

// TestQueueOfNet6 reads the requests that wait for a connection in .NET 6's Queue. The pool has no HTTP/2 queue.
func TestQueueOfNet6(t *testing.T) {
	r, h := lookalikes(t)
	out, err := r.Clients(t.Context(), h, web.ClientOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Pools, 2)
	p, old := out.Pools[0], out.Pools[1]
	if old.Host.S != "old.example" {
		p, old = old, p
	}
	assert.Len(t, old.Waiting, 3, "of .NET 5 the number is known")
	assert.Equal(t, answer.Known[int64](1), old.HTTP2)
	var streams []string
	for _, w := range old.Running {
		streams = append(streams, w.URI.S)
	}
	assert.Equal(t, []string{"http://old.example/0", "http://old.example/1"}, streams)
	assert.Equal(t, "shop.example", p.Host.S)
	assert.Equal(t, answer.Known[int64](1), p.Max)
	var uris []string
	for _, w := range p.Waiting {
		uris = append(uris, w.URI.S)
	}
	assert.Equal(t, []string{"http://shop.example/first", "http://shop.example/second"}, uris)
	require.Len(t, p.Running, 1)
	assert.Equal(t, "http://shop.example/running", p.Running[0].URI.S)
}

// TestServedWaiter checks that a queued request with a completed promise does not count as waiting.
func TestServedWaiter(t *testing.T) {
	d, over := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	r, err := web.Of(v.Process)
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	var items, outcome target.Addr
	for o, err := range h.Objects() {
		require.NoError(t, err)
		name, err := rt.TypeName(o.Type.Addr, dac.NameNative)
		require.NoError(t, err)
		switch {
		case strings.Contains(name, "QueueItem") && o.Length > 0:
			items = o.Addr
		case strings.HasPrefix(name, "System.Threading.Tasks.TaskCompletionSource") && strings.Contains(name, "Grpc.Core.Status"):
			outcome = o.Addr // the last call has ended
		}
	}
	require.NotZero(t, items)
	require.NotZero(t, outcome)
	over.Set(testdump.Words(items+24, uint64(outcome)))
	out, err := r.Clients(t.Context(), h, web.ClientOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	at := slices.IndexFunc(out.Pools, func(p answer.HTTPPool) bool { return p.Host.S == "shop.example" })
	require.Len(t, out.Pools[at].Waiting, 1)
	assert.Equal(t, "http://shop.example/second", out.Pools[at].Waiting[0].URI.S)
}
