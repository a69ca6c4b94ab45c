// Package strangers connects many clients to a server, to see that they lock nobody out.
package strangers

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Come connects 300 clients to an address. Every other client sends says, and then all are idle until the test ends.
// The returned function requires that the server closes connections until at most so many are open.
func Come(t testing.TB, address, says string) (atMost func(open int)) {
	t.Helper()
	const clients = 300
	closed := make(chan struct{}, clients)
	for i := range clients {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		if i%2 == 0 && says != "" {
			_, err = io.WriteString(c, says)
			require.NoError(t, err)
		}
		go func() {
			_, _ = io.Copy(io.Discard, c)
			closed <- struct{}{}
		}()
	}
	return func(open int) {
		t.Helper()
		for range clients - open {
			select {
			case <-closed:
			case <-time.After(10 * time.Second):
				t.Fatal("too many connections stay open")
			}
		}
	}
}
