package web_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/web"
)

// TestServersOfNet6 reads a request of HTTP.sys with its .NET 6 activity, and a request of IIS. Middleware set their
// users.
func TestServersOfNet6(t *testing.T) {
	p := lookalike(t)
	out, err := web.Requests(t.Context(), p, web.RequestOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Requests, 4)
	kestrel, sys, iis := out.Requests[0], out.Requests[1], out.Requests[2] // TestThrown checks the other Kestrel request
	assert.Equal(t, []string{"Kestrel", "HTTP/2", "POST", "/shop.Orders/Ship"}, []string{kestrel.Server, kestrel.Protocol.S, kestrel.Method.S, kestrel.Path.S})
	assert.Equal(t, []string{"[2001:db8::1]:5001", "127.0.0.1:443"}, []string{kestrel.Remote, kestrel.Local})
	assert.True(t, kestrel.Begun, "the response has started")
	assert.Equal(t, "HTTP.sys", sys.Server)
	assert.Equal(t, []string{"PUT", "/stock/7", "?by=1", "alice"}, []string{sys.Method.S, sys.Path.S, sys.Query.S, sys.User.S})
	require.NotNil(t, sys.Started)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC), *sys.Started)
	assert.Equal(t, "4d28e36bc9f44a20dfa5fc821f1d8f9a", sys.Trace.Trace.S)
	assert.Equal(t, "IIS", iis.Server)
	assert.Equal(t, []string{"GET", "/me", "bob"}, []string{iis.Method.S, iis.Path.S, iis.User.S})
	assert.Nil(t, iis.Trace)

	of, err := web.Requests(t.Context(), p, web.RequestOptions{RequestFilter: web.RequestFilter{User: "ALI"}})
	require.NoError(t, err)
	require.Len(t, of.Requests, 1)
	assert.Equal(t, sys.Context, of.Requests[0].Context)
}
