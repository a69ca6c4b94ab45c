package webclient_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/webclient"
)

// TestWithoutAddress asks a server that redirects to addresses with user, password and query, most of them malformed.
func TestWithoutAddress(t *testing.T) {
	var head string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack() // net/http would mend the head
		if assert.NoError(t, err) {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\n%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", head)
			_ = conn.Close()
		}
	}))
	defer server.Close()
	client := webclient.New(webclient.Options{Others: func(_, to *url.URL) error { return fmt.Errorf("it redirects to %s", to.Host) }})
	for _, to := range []string{
		"%?sig=SIGNED", ":?sig=SIGNED", "\x1b[31m?sig=SIGNED", "http://u:SIGNED@[::1/", "http://u:SIGNED@h:1:2/?sig=SIGNED", "//u:SIGNED@h/?sig=SIGNED", "ht tp://u:SIGNED@h/", "file://u:SIGNED@h/?sig=SIGNED",
	} {
		head = "Location: " + to
		resp, err := client.Get(server.URL + "/?sig=SIGNED")
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
