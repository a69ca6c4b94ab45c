package webclient_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/webclient"
)

// TestWithoutAddress asks a server that redirects to addresses with user, password and query, most of them malformed.
func TestWithoutAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	heads := make(chan string, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\n%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", <-heads)
			_ = conn.Close()
		}
	}()
	client := webclient.New(webclient.Options{Others: func(_, to *url.URL) error { return fmt.Errorf("it redirects to %s", to.Host) }})
	for _, to := range []string{
		"%?sig=SIGNED", ":?sig=SIGNED", "\x1b[31m?sig=SIGNED", "http://u:SIGNED@[::1/", "http://u:SIGNED@h:1:2/?sig=SIGNED", "//u:SIGNED@h/?sig=SIGNED", "ht tp://u:SIGNED@h/", "file://u:SIGNED@h/?sig=SIGNED",
	} {
		heads <- "Location: " + to
		resp, err := client.Get("http://" + l.Addr().String() + "/?sig=SIGNED")
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		require.Error(t, err, to)
		assert.Contains(t, err.Error(), "SIGNED", "net/http does not quote it: %s", to)
		short := webclient.WithoutAddress(err).Error()
		assert.NotContains(t, short, "SIGNED", to)
		assert.NotEmpty(t, short)
	}
	assert.Equal(t, http.ErrNoLocation, webclient.WithoutAddress(http.ErrNoLocation))
}
