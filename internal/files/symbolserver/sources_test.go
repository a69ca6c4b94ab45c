package symbolserver

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/webclient"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/internal/files/symstore"
)

// keep puts a file under the key of the tests' module into a cache.
func keep(t *testing.T, c symstore.Cache, content string) string {
	p := c.Path(key)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
	return p
}

// TestDefaultCacheIsTheToolsOwn: downloads go to the cache of the .NET tools.
func TestDefaultCacheIsTheToolsOwn(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, home)
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(library) })
	s.Cache = ""
	require.Equal(t, []string{symstore.Cache{Dir: filepath.Join(home, ".dotnet", "symbolcache")}.Path(key)}, candidates(s))
}

// TestNoKey: a file without a key is in no store, and no server is contacted.
func TestNoKey(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server is asked") })
	remote, cache := symstore.Remote{Server: s}, symstore.Cache{Dir: s.Cache}
	_, err := remote.PortablePDB(t.Context(), "/src/..", [16]byte{1})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = cache.PortablePDB(t.Context(), "", [16]byte{1})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = s.Get(t.Context(), "../outside", anything)
	require.ErrorContains(t, err, "no key", "nothing leaves the cache")
	for _, source := range []modfiles.Source{remote, cache} {
		for p := range source.Candidates(module, &image.Identity{}) {
			t.Errorf("%s is proposed", p)
		}
	}
}

// TestNoWayBackToHTTP: a server contacted by https may not redirect to http.
func TestNoWayBackToHTTP(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the plain server is asked") })
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	s := &Server{URL: secure.URL, Cache: t.TempDir()}
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s.httpClient().Transport.(*webclient.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	_, err := s.Get(t.Context(), key, anything)
	require.ErrorContains(t, err, "redirection from https to http")
}

// TestCacheThatCannotBeWritten: the download fails with the reason and stores nothing.
func TestCacheThatCannotBeWritten(t *testing.T) {
	serveLibrary := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(library) }
	s := serve(t, serveLibrary)
	s.Cache = filepath.Join(s.Cache, "file")
	require.NoError(t, os.WriteFile(s.Cache, []byte("a file"), 0o644))
	_, err := s.Get(t.Context(), key, anything)
	var path *os.PathError
	require.ErrorAs(t, err, &path)

	s = serve(t, serveLibrary)
	inTheWay := cached(s)
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "folder"), 0o755))
	_, err = s.Get(t.Context(), key, anything)
	require.Error(t, err)
	left, err := os.ReadDir(filepath.Dir(inTheWay))
	require.NoError(t, err)
	require.Len(t, left, 1, "the folder in the way and no part of a download")
}
