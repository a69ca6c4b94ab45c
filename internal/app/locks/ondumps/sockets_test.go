package ondumps_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
)

// TestPeersOfThreads checks that what waits for the network names the peer. The program (Sockets.cs) printed "bank 37637 rates 45297"; its thread that
// reads what a client sends has no peer that it asks.
func TestPeersOfThreads(t *testing.T) {
	d, err := sosgo.Open("../../../../testdata/dumps/waits/net9-sockets/net9-sockets.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	w, err := reader(t, d).Waits(t.Context(), locks.Options{})
	require.NoError(t, err)
	assert.Contains(t, verdictAbout(t, w, "holds the monitor").Text, `thread 9 "poster" waits for the network (127.0.0.1:37637) in Quay.Desk.Ask`)
	v, err := d.View("")
	require.NoError(t, err)
	p, err := locks.ThreadPool(t.Context(), v.Process, threadpool.Options{})
	require.NoError(t, err)
	var does []string
	for i := range p.Workers {
		if p.Workers[i].Activity.Kind == answer.ActivitySocket {
			does = append(does, p.Workers[i].Activity.Text)
		}
	}
	assert.Len(t, does, 5)
	assert.Equal(t, []string{"waits for the network (127.0.0.1:45297)"}, slices.Compact(does))
}
