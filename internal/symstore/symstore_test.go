package symstore

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/modfiles"
	"github.com/sosgo/sosgo/target"
)

func TestKeys(t *testing.T) {
	elf := &image.Identity{BuildID: []byte{0xde, 0xad, 0xbe, 0xef}}
	pe := &image.Identity{TimeDateStamp: 0x6adaee, SizeOfImage: 0x47a000}
	for _, c := range []struct {
		path string
		id   *image.Identity
		want string
	}{
		{"/usr/share/dotnet/libcoreclr.so", elf, "libcoreclr.so/elf-buildid-deadbeef/libcoreclr.so"},
		{`C:\app\CoreCLR.dll`, pe, "coreclr.dll/006adaee47a000/coreclr.dll"},
		{"/app/x.dll", &image.Identity{}, ""},
		{"", elf, ""},
		{"/app/..", elf, ""},
		{`/app/a"b`, elf, ""},
	} {
		require.Equal(t, c.want, FileKey(c.path, c.id), c.path)
	}
	guid := [16]byte{0x78, 0x56, 0x34, 0x12, 0x34, 0x12, 0x78, 0x56, 0x9a, 0xbc, 0xde, 0xf0, 1, 2, 3, 4}
	require.Equal(t, "foo.pdb/12345678123456789abcdef001020304ffffffff/foo.pdb", PortablePDBKey(`/src/Foo.pdb`, guid))
}

var (
	module   = &target.Module{Path: "/app/libcoreclr.so"}
	identity = &image.Identity{BuildID: []byte{1, 2}}
)

const key = "libcoreclr.so/elf-buildid-0102/libcoreclr.so"

func candidates(s modfiles.Source) (out []string) {
	for p := range s.Candidates(module, identity) {
		out = append(out, p)
	}
	return out
}

func TestCache(t *testing.T) {
	c := Cache{t.TempDir()}
	require.Empty(t, candidates(c))
	p := c.path(key)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte("x"), 0o644))
	require.Equal(t, []string{p}, candidates(c))
}

func serve(t *testing.T, h http.HandlerFunc) *Server {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &Server{URL: srv.URL + "/symbols/", Cache: Cache{t.TempDir()}, stall: 200 * time.Millisecond}
}

func TestDownload(t *testing.T) {
	asked := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		require.Equal(t, "/symbols/"+key, r.URL.Path)
		fmt.Fprint(w, "library")
	})
	var seen int64
	s.Progress = func(name string, done, total int64) {
		require.Equal(t, "libcoreclr.so", name)
		seen = done
	}
	for range 2 {
		got := candidates(s)
		require.Len(t, got, 1)
		b, err := os.ReadFile(got[0])
		require.NoError(t, err)
		require.Equal(t, "library", string(b))
	}
	require.Equal(t, 1, asked, "the second one comes from the cache")
	require.EqualValues(t, 7, seen)
}

// TestContextEndsADownload: within a moment, and the file may be asked for again.
func TestContextEndsADownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 1 {
			fmt.Fprint(w, "library")
			return
		}
		cancel()
		<-r.Context().Done()
	})
	s.stall = time.Minute
	s.Context = func() context.Context { return ctx }
	start := time.Now()
	require.Empty(t, candidates(s))
	require.Less(t, time.Since(start), time.Second)
	s.Context = nil
	require.Len(t, candidates(s), 1)
}

// TestBadServers asks servers that fail in every way: nothing may reach the
// cache, nothing may hang, and a file is asked for once.
func TestBadServers(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"does not have it": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"fails":            func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"lies about the size": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "short")
		},
		"names a huge size": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1099511627776")
			fmt.Fprint(w, "x")
		},
		"stalls": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "begin")
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		},
		"redirects in a circle": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { asked++; h(w, r) })
			start := time.Now()
			require.Empty(t, candidates(s))
			before := asked
			require.Empty(t, candidates(s))
			require.Equal(t, before, asked)
			require.Less(t, time.Since(start), 4*time.Second)
			require.Len(t, s.Errors(), 1)
			_, err := os.Stat(s.Cache.path(key))
			require.ErrorIs(t, err, os.ErrNotExist)
			left, err := filepath.Glob(filepath.Join(filepath.Dir(s.Cache.path(key)), ".download-*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestNotAnAddress(t *testing.T) {
	s := &Server{URL: "file:///etc", Cache: Cache{t.TempDir()}}
	_, err := s.Get(context.Background(), key)
	require.ErrorContains(t, err, "not an http")
}

// TestGarbageIsRefused gives the finder a file that is no library: the content
// decides.
func TestGarbageIsRefused(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("garbage", 1000)) })
	f := &modfiles.Finder{More: []modfiles.Source{s}}
	_, tried, err := f.Find(module, *identity)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Len(t, tried, 1)
	require.Error(t, tried[0].Err)
}

func TestPortablePDB(t *testing.T) {
	guid := [16]byte{1, 2, 3, 4}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/symbols/app.pdb/04030201000000000000000000000000ffffffff/app.pdb", r.URL.Path)
		fmt.Fprint(w, "BSJB")
	})
	file, ok := s.PortablePDB("/src/App.pdb", guid)
	require.True(t, ok)
	cached, ok := s.Cache.PortablePDB("/src/App.pdb", guid)
	require.True(t, ok)
	require.Equal(t, file, cached)
	_, ok = s.Cache.PortablePDB("/src/Other.pdb", guid)
	require.False(t, ok)
}
