package symstore

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/modfiles"
)

// userFolders gives the test a home and a folder for temporary files of its own.
func userFolders(t *testing.T) (home, temp string) {
	home, temp = t.TempDir(), t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, home)
	}
	for _, v := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(v, temp)
	}
	return home, temp
}

// keep puts a file under the key of the tests' module into a cache.
func keep(t *testing.T, c Cache, content string) string {
	p := c.path(key)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
	return p
}

func TestDefaultCaches(t *testing.T) {
	home, temp := userFolders(t)
	inHome := Cache{filepath.Join(home, ".dotnet", "symbolcache")}
	inTemp := Cache{filepath.Join(temp, "SymbolCache")}
	require.Empty(t, DefaultCaches(), "a folder that is not there is none")
	require.NoError(t, os.MkdirAll(inHome.Dir, 0o755))
	require.NoError(t, os.WriteFile(inTemp.Dir, nil, 0o644))
	require.Equal(t, []Cache{inHome}, DefaultCaches(), "nor is a file")
	require.NoError(t, os.Remove(inTemp.Dir))
	require.NoError(t, os.MkdirAll(inTemp.Dir, 0o755))
	require.Equal(t, []Cache{inHome, inTemp}, DefaultCaches())
	require.Equal(t, inHome, DownloadCache())

	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, "")
	}
	require.Equal(t, []Cache{inTemp}, DefaultCaches())
	require.Equal(t, inTemp, DownloadCache(), "there is no home to keep downloads in")
}

// TestSourcesInOrder: what is installed, the caches, and then the servers in the
// user's order; without local, the servers alone.
func TestSourcesInOrder(t *testing.T) {
	home, temp := userFolders(t)
	inHome := Cache{filepath.Join(home, ".dotnet", "symbolcache")}
	inTemp := Cache{filepath.Join(temp, "SymbolCache")}
	keep(t, inHome, "in the home")
	keep(t, inTemp, "in the folder of temporary files")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	own := t.TempDir()
	all := Sources(true, []string{"https://a", "https://b"}, own, func() context.Context { return ctx }, nil)
	require.Len(t, all, 5)
	require.Equal(t, []modfiles.Source{&modfiles.Installed{}, inHome, inTemp}, all[:3])
	for i, url := range []string{"https://a", "https://b"} {
		s, ok := all[3+i].(*Server)
		require.True(t, ok)
		assert.Equal(t, url, s.URL)
		assert.Equal(t, Cache{own}, s.Cache)
		assert.Equal(t, ctx, s.context())
	}

	require.Empty(t, Sources(false, nil, "", nil, nil))
	servers := Sources(false, []string{"https://a"}, "", nil, nil)
	require.Len(t, servers, 1)
	assert.Equal(t, inHome, servers[0].(*Server).Cache, "downloads are kept with those of the .NET tools")
}

// TestCacheSparesTheServer: a finder that has a file from a cache asks no server.
func TestCacheSparesTheServer(t *testing.T) {
	home, _ := userFolders(t)
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		_, _ = w.Write(library)
	}))
	defer srv.Close()
	kept := keep(t, Cache{filepath.Join(home, ".dotnet", "symbolcache")}, "kept")
	own := t.TempDir()
	first := func(local bool) string {
		for _, s := range Sources(local, []string{srv.URL}, own, nil, nil) {
			for p := range s.Candidates(module, identity) {
				return p
			}
		}
		return ""
	}
	require.Equal(t, kept, first(true))
	require.Zero(t, asked)
	require.Equal(t, Cache{own}.path(key), first(false))
	require.Equal(t, 1, asked)
}

// TestNoKey: what can have no key is in no store, and no server is asked for it.
func TestNoKey(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server is asked") })
	_, err := s.PortablePDB(t.Context(), "/src/..", [16]byte{1})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = s.Cache.PortablePDB(t.Context(), "", [16]byte{1})
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, source := range []modfiles.Source{s, s.Cache} {
		for p := range source.Candidates(module, &image.Identity{}) {
			t.Errorf("%s is proposed", p)
		}
	}
}

// TestNoWayBackToHTTP: a server that was asked by https may not send the
// download elsewhere in the clear.
func TestNoWayBackToHTTP(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the plain server is asked") })
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	s := &Server{URL: secure.URL, Cache: Cache{t.TempDir()}}
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s.httpClient().Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	_, err := s.Get(t.Context(), key, anything)
	require.ErrorContains(t, err, "redirection from https to http")
}

// TestCacheThatCannotBeWritten: the download fails with the reason, and leaves
// nothing.
func TestCacheThatCannotBeWritten(t *testing.T) {
	serveLibrary := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(library) }
	s := serve(t, serveLibrary)
	s.Cache.Dir = filepath.Join(s.Cache.Dir, "file")
	require.NoError(t, os.WriteFile(s.Cache.Dir, []byte("a file"), 0o644))
	_, err := s.Get(t.Context(), key, anything)
	var path *os.PathError
	require.ErrorAs(t, err, &path)

	s = serve(t, serveLibrary)
	inTheWay := s.Cache.path(key)
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "folder"), 0o755))
	_, err = s.Get(t.Context(), key, anything)
	require.Error(t, err)
	left, err := os.ReadDir(filepath.Dir(inTheWay))
	require.NoError(t, err)
	require.Len(t, left, 1, "the folder in the way and no part of a download")
}
