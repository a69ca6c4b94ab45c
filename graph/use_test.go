package graph_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestCloseWaits: Close of a graph in use cancels the user's context and keeps the memory until the user is done. Later
// users are refused, and earlier results have no objects.
func TestCloseWaits(t *testing.T) {
	g, _ := built(t, testdump.Open(t, "net10-zoo"), graph.Options{})
	live, err := g.Live(t.Context())
	require.NoError(t, err)
	reach, err := g.Reach(t.Context())
	require.NoError(t, err)
	doms, err := g.Dominators(t.Context())
	require.NoError(t, err)
	_, err = doms.Children(t.Context(), g.Root())
	require.NoError(t, err)
	referrers, err := g.Referrers(t.Context())
	require.NoError(t, err)
	starts, err := g.LiveStarts(t.Context())
	require.NoError(t, err)
	first := g.Address(0)
	require.Equal(t, live.Live(0), starts(first))
	ctx, done, err := g.Use(t.Context())
	require.NoError(t, err)
	var closed atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { g.Close(); closed.Store(true) })
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), target.ErrClosed, "not that the caller wants no more")
	require.NoError(t, t.Context().Err())
	sum := uint64(0)
	for n := range graph.Node(g.Objects()) {
		if live.Live(n) {
			sum += g.Size(n)
		}
	}
	_, want := live.Count()
	require.Equal(t, want, sum)
	_, refused, err := g.Use(t.Context())
	require.ErrorIs(t, err, target.ErrClosed)
	refused()
	_, err = g.CountTypes(t.Context())
	require.ErrorIs(t, err, target.ErrClosed)
	require.False(t, closed.Load())
	done()
	wg.Wait()
	g.Close()
	assert.Zero(t, g.Objects())
	_, found := g.Node(1)
	assert.False(t, found)
	assert.Nil(t, g.Type(0))
	assert.Zero(t, g.Size(0))
	assert.Empty(t, g.Referents(1))
	assert.False(t, live.Live(0))
	assert.False(t, starts(first))
	assert.Equal(t, graph.NoNode, reach.Parent(0))
	assert.Nil(t, reach.Path(0))
	assert.Zero(t, doms.Retained(0))
	assert.Equal(t, graph.NoNode, doms.Idom(0))
	assert.Empty(t, referrers.Of(0))
	_, err = doms.Children(t.Context(), 0)
	assert.ErrorIs(t, err, target.ErrClosed)
	_, err = g.Reach(t.Context())
	assert.ErrorIs(t, err, target.ErrClosed)
	_, err = g.CountTypes(t.Context())
	assert.ErrorIs(t, err, target.ErrClosed)
}

// TestUseEnds: a call under Use ends with its own context, and returns that context's error.
func TestUseEnds(t *testing.T) {
	g, _ := built(t, testdump.Open(t, "net10-zoo"), graph.Options{})
	outer, cancel := context.WithCancel(t.Context())
	ctx, done, err := g.Use(outer)
	require.NoError(t, err)
	defer done()
	require.NoError(t, ctx.Err())
	cancel()
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}
