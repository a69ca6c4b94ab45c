package tasks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
)

// web is a dump of a web server that is its own client, and has a TDS server for its SqlClient.
const web = "../../../testdata/dumps/web/web-net10/web-net10.dmp.zst"

// TestPeers checks that code that waits for data on a connection that the process has opened names the other end: the web server (5080), the TDS
// server (14330) or PostgreSQL (5433), as the manifest has them. Connections that a server has accepted have no such name.
func TestPeers(t *testing.T) {
	if _, err := os.Stat(web); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(web, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	peers, accepted := map[string]int{}, 0
	for _, s := range stacks(t, collect(t, d), tasks.StackOptions{}) {
		if f := &s.Frames[0]; strings.Contains(f.Method.S, "Transport.Sockets.Internal.SocketConnection.DoReceive") {
			assert.Equal(t, "an operation of a socket", s.Reason.S, "the client of an accepted connection sends when it likes")
			accepted++
		}
		_, peer, ok := strings.Cut(s.Reason.S, " from ")
		if !ok {
			continue
		}
		peer, _, _ = strings.Cut(peer, " ")
		peers[peer]++
		assert.Equal(t, s.Remote == "", s.Reason.S == "data from "+peer)
		assert.Contains(t, []answer.WaitKind{"", answer.WaitServer}, s.Remote)
	}
	assert.Equal(t, map[string]int{"127.0.0.1:5080": 6, "127.0.0.1:14330": 3, "127.0.0.1:5433": 2}, peers)
	assert.NotZero(t, accepted)
}
