package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestUnshared checks that only enough pools for one server show that HttpClients are not shared.
func TestUnshared(t *testing.T) {
	const least = 10
	list := func(pools, clients int, factory bool) *answer.HTTPClients {
		out := &answer.HTTPClients{Handlers: pools, Clients: clients}
		for range pools {
			out.Pools = append(out.Pools, answer.HTTPPool{Kind: answer.Text{S: "Https"}, Host: answer.Text{S: "api.example"}, Port: answer.Known[int64](443)})
		}
		for range clients {
			out.List = append(out.List, answer.HTTPClient{Factory: factory, Disposed: answer.Known(false)})
		}
		return out
	}
	assert.Empty(t, web.Unshared(list(least-1, least-1, false)))
	got := web.Unshared(list(least, least, false))
	require.Len(t, got, 1)
	assert.Equal(t, "10 pools of connections lead to api.example:443: HttpClients are made for each use, and not shared", got[0].Text)
	assert.Equal(t, answer.StrengthLikely, got[0].Strength)
	assert.Equal(t, answer.StrengthPossible, web.Unshared(list(least, least, true))[0].Strength, "of a factory")
	made := list(least, least, true)
	made.FactoryHandlers = least - 1
	assert.Empty(t, web.Unshared(made), "a factory has made them, and disposes of them")
	spread := list(least, least, false)
	for i := range spread.Pools {
		spread.Pools[i].Host.S = fmt.Sprint("host", i)
	}
	assert.Empty(t, web.Unshared(spread), "a server each")
	unread := list(least, least, false)
	for i := range unread.Pools {
		unread.Pools[i].Port = answer.Missing[int64](target.ErrNotInDump)
	}
	assert.Empty(t, web.Unshared(unread))
}

// TestUnusedQueues: the type of a queue that was never used is not loaded, whichever queue it is, and the layout of another one serves for it.
func TestUnusedQueues(t *testing.T) {
	_, r, h := open(t, testdump.OpenWeb(t, "web-net10").Dump)
	n := 0
	for o, err := range h.Objects() {
		require.NoError(t, err)
		x, err := r.ObjectOf(o)
		if err != nil || x.Type == nil {
			continue
		}
		if name, err := x.Type.ManagedName(); err != nil || name != "System.Net.Http.HttpConnectionPool" {
			continue
		}
		used, unused := x.Field("_http11RequestQueue"), x.Field("_http2RequestQueue")
		if _, err := unused.Struct(); err == nil {
			continue
		}
		n++
		waiting, noted := r.WaitingIn([]objects.Value{used, unused})
		assert.Empty(t, noted)
		turned, noted := r.WaitingIn([]objects.Value{unused, used})
		assert.Empty(t, noted)
		assert.Equal(t, waiting, turned)
		_, noted = r.WaitingIn([]objects.Value{unused})
		assert.NotEmpty(t, noted, "without the layout of any")
	}
	assert.Positive(t, n)
}
