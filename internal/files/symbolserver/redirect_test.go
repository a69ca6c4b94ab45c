package symbolserver

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/sosgo/sosgo/internal/base/webclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRedirects: a server may redirect to itself, but not to another server, even on the same
// machine.
func TestRedirects(t *testing.T) {
	victim := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		victim++
		_, _ = w.Write(library)
	}))
	defer other.Close()
	for _, to := range []string{other.URL + "/latest/meta-data/", strings.Replace(other.URL, "127.0.0.1", "localhost", 1),
		"http://169.254.169.254/", "file:///etc/passwd", "//[::1]:1/"} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		s.Redirects = []string{"127.0.0.1", "localhost", "169.254.169.254"} // allowed only by https
		assert.Empty(t, candidates(s), to)
		assert.ErrorContains(t, s.Problem(), "redirection to another server", to)
	}
	assert.Zero(t, victim, "the other server is not asked")

	referer := ""
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/moved/") {
			http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusFound)
			return
		}
		referer = r.Header.Get("Referer")
		_, _ = w.Write(library)
	})
	s.URL += "?secret="
	got := candidates(s)
	require.Len(t, got, 1)
	assert.FileExists(t, got[0])
	assert.Empty(t, referer, "nobody learns where the file was asked for before")
}

// TestAllowedRedirects: a redirect by https is allowed to hosts that the user names, and from
// Microsoft's server to its storage.
func TestAllowedRedirects(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  []string
		want     bool
	}{
		{"https://a.example/s", "https://a.example/t", nil, true},
		{"https://a.example/s", "https://A.example:443/t", nil, true},
		{"http://a.example/s", "https://a.example/s", nil, true},
		{"http://a.example:80/s", "http://a.example:8080/s", nil, false},
		{"https://a.example/s", "http://a.example/s", nil, false},
		{"https://a.example/s", "https://b.example/s", nil, false},
		{"https://a.example/s", "https://b.example/s", []string{"B.example"}, true},
		{"http://a.example/s", "http://b.example/s", []string{"b.example"}, false},
		{"https://a.example/s", "https://x.b.example/s", []string{"*.b.example"}, true},
		{"https://a.example/s", "https://b.example/s", []string{"*.b.example"}, false},
		{"https://a.example/s", "https://evilb.example/s", []string{"*.b.example"}, false},
		{"https://a.example/s", "https://evil.example/s", []string{"*"}, false},
		{"https://msdl.microsoft.com/download/symbols", "https://vsblobprod7.blob.core.windows.net/x", nil, true},
		{"http://msdl.microsoft.com/download/symbols", "http://vsblobprod7.blob.core.windows.net/x", nil, false},
		{"https://a.example/s", "https://vsblobprod7.blob.core.windows.net/x", nil, false},
		{"https://msdl.microsoft.com/download/symbols", "https://blob.core.windows.net.evil.example/x", nil, false},
	} {
		from, err := url.Parse(c.from)
		require.NoError(t, err)
		to, err := url.Parse(c.to)
		require.NoError(t, err)
		s := &Server{Redirects: c.allowed}
		r := &http.Request{URL: to, Header: http.Header{"Referer": {c.from}}}
		err = s.httpClient().CheckRedirect(r, []*http.Request{{URL: from}})
		assert.Equal(t, c.want, err == nil, "%s to %s with %v: %v", c.from, c.to, c.allowed, err)
		assert.Empty(t, r.Header)
	}
}

// TestCredentialsStay: the user and the password in a server's address are sent to it alone, and not to a host that it may redirect to.
func TestCredentialsStay(t *testing.T) {
	var first, others []http.Header
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		others = append(others, r.Header)
		_, _ = w.Write(library)
	}))
	defer other.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first = append(first, r.Header)
		w.Header().Set("Set-Cookie", "a=b")
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer secure.Close()
	s := &Server{URL: strings.Replace(secure.URL, "https://", "https://bob:Tulip99@", 1), Cache: t.TempDir(), Redirects: []string{"127.0.0.1"}}
	s.httpClient().Transport.(*webclient.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	require.Len(t, candidates(s), 1)
	require.NotEmpty(t, first)
	require.NotEmpty(t, others)
	assert.NotEmpty(t, first[0].Get("Authorization"))
	for _, h := range others {
		for _, name := range []string{"Authorization", "Cookie", "Referer"} {
			assert.Empty(t, h.Get(name), name)
		}
	}
}

// TestNothingIsKeptOfARedirect: a rejected redirect is a failure and stores nothing.
func TestNothingIsKeptOfARedirect(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://other.invalid/", http.StatusMovedPermanently)
	})
	assert.Empty(t, candidates(s))
	assert.NotErrorIs(t, s.Problem(), os.ErrNotExist, "it is not as if the server had said that there is no such file")
	assert.NoFileExists(t, cached(s))
}
