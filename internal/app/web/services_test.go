package web_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

func libraries(t *testing.T) *sosgo.View {
	t.Helper()
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// TestSignalR compares a hub with its program: three clients of two users, one of them slow, two groups, and two Blazor
// circuits.
func TestSignalR(t *testing.T) {
	out, err := web.SignalR(t.Context(), libraries(t).Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Hubs, 1)
	h := out.Hubs[0]
	assert.Equal(t, "Fakes.ChatHub", h.Hub.S)
	require.Len(t, h.Connections, 3)
	byID := map[string]answer.SignalRConnection{}
	for _, c := range h.Connections {
		byID[c.ID.S] = c
	}
	assert.Equal(t, "alice", byID["id0"].User.S)
	assert.Equal(t, "bob", byID["id2"].User.S)
	assert.Equal(t, "Microsoft.AspNetCore.SignalR.JsonHubProtocol", byID["id0"].Protocol.S)
	assert.Equal(t, answer.Known(true), byID["id2"].Aborted)
	assert.Equal(t, answer.Known(false), byID["id0"].Aborted)
	assert.Equal(t, answer.Known[int64](0), byID["id0"].Waiting)
	assert.Equal(t, answer.Known[int64](4), byID["id1"].Waiting)
	groups := map[string]answer.Maybe[int64]{}
	for _, g := range h.Groups {
		groups[g.Name.S] = g.Connections
	}
	assert.Equal(t, map[string]answer.Maybe[int64]{"everybody": answer.Known[int64](3), "some": answer.Known[int64](1)}, groups)
	require.Len(t, out.Circuits, 2)
	assert.Equal(t, "circuit0", out.Circuits[0].ID.S)
	assert.Equal(t, "id0", out.Circuits[0].Connection.S)
	assert.Equal(t, []answer.Maybe[bool]{answer.Known(true), answer.Known(false)}, []answer.Maybe[bool]{out.Circuits[0].Connected, out.Circuits[1].Connected})
}

// TestRedis compares the connections of a multiplexer with its program: commands wait for a lost server, and another
// server has commands to answer.
func TestRedis(t *testing.T) {
	out, err := web.Redis(t.Context(), libraries(t).Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Multiplexers, 1)
	m := out.Multiplexers[0]
	assert.Equal(t, answer.Known[int64](4), m.SyncTimeouts)
	assert.Equal(t, answer.Known[int64](5), m.AsyncTimeouts)
	require.Len(t, m.Connections, 2)
	gone, cache := m.Connections[0], m.Connections[1]
	assert.Equal(t, "gone:6379/Interactive", gone.Name.S)
	assert.Equal(t, "Disconnected", gone.State.S)
	assert.Equal(t, answer.Known[int64](3), gone.Backlog.Count)
	assert.Equal(t, answer.Known[int64](0), gone.Sent.Count)
	assert.Equal(t, "HSET", gone.Backlog.Command.S)
	require.NotNil(t, gone.Backlog.Since)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), *gone.Backlog.Since)
	assert.Equal(t, "ConnectedEstablished", cache.State.S)
	assert.Equal(t, answer.Known[int64](2), cache.Sent.Count)
	assert.Equal(t, "GET", cache.Sent.Command.S)
	require.Len(t, out.Verdicts, 1, "commands that wait for an answer are no finding")
	assert.Equal(t, "3 commands wait to be sent to gone:6379/Interactive, which is Disconnected", out.Verdicts[0].Text)
	assert.Equal(t, answer.StrengthRecorded, out.Verdicts[0].Strength)
}

// TestObjectPools checks the number of objects that a pool keeps, and its maximum.
func TestObjectPools(t *testing.T) {
	out, err := web.ObjectPools(t.Context(), libraries(t).Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Pools, 1)
	assert.Equal(t, "Fakes.Order", out.Pools[0].Of.S)
	assert.Equal(t, answer.Known[int64](3), out.Pools[0].Retained)
	assert.Equal(t, answer.Known[int64](8), out.Pools[0].Max)

	d, over := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	o, err := r.Object(out.Pools[0].Address)
	require.NoError(t, err)
	over.Set(testdump.Words(o.Field("_firstItem").Location(), 0))
	out, err = web.ObjectPools(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Equal(t, answer.Known[int64](2), out.Pools[0].Retained, "one less")
	over.Set(testdump.Words(o.Field("_items").Location(), 0x7e0000001000))
	out, err = web.ObjectPools(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Error(t, out.Pools[0].Retained.Err(), "its objects can't be read")
	assert.NotEmpty(t, out.Noted())
}

// TestMissingServices repeats the queries, each time without one of the pieces of memory that the answers were read
// from.
func TestMissingServices(t *testing.T) {
	for name, ask := range map[string]func(v *sosgo.View) (any, []error, error){
		"SignalR": func(v *sosgo.View) (any, []error, error) { return testdump.Asked(web.SignalR(t.Context(), v.Process)) },
		"Redis":   func(v *sosgo.View) (any, []error, error) { return testdump.Asked(web.Redis(t.Context(), v.Process)) },
	} {
		t.Run(name, func(t *testing.T) { testdump.SweepLibraries(t, 300, false, ask) })
	}
}
