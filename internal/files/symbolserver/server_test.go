package symbolserver

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/internal/files/symstore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

var (
	module   = &target.Module{Path: "/app/libcoreclr.so"}
	identity = &image.Identity{BuildID: []byte{1, 2}}
)

const key = "libcoreclr.so/elf-buildid-0102/libcoreclr.so"

func candidates(s *Server) (out []string) {
	for p := range (symstore.Remote{Server: s}).Candidates(module, identity) {
		out = append(out, p)
	}
	return out
}

// cached returns the path of key in the server's cache.
func cached(s *Server) string { return symstore.Cache{Dir: s.Cache}.Path(key) }

func serve(t *testing.T, h http.HandlerFunc) *Server {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &Server{URL: srv.URL + "/symbols/", Cache: t.TempDir(), stall: 200 * time.Millisecond}
}

// TestQuery asks a server with a query in its address, such as a SAS, for a key before the query, and shows the query to nobody.
func TestQuery(t *testing.T) {
	const signature = "sv=2024-11-04&sig=SYMSIGkX3%2Bq"
	for _, end := range []string{"?" + signature, "/?" + signature, "?" + signature + "#here"} {
		status := http.StatusOK
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			require.Equal(t, "/symbols/"+key, r.URL.Path)
			require.Equal(t, signature, r.URL.RawQuery)
			w.WriteHeader(status)
			_, _ = w.Write(library)
		})
		s.URL = strings.TrimRight(s.URL, "/") + end
		require.Len(t, candidates(s), 1)
		require.NotContains(t, s.String(), "SYMSIG")

		for _, status = range []int{http.StatusForbidden, http.StatusInternalServerError} {
			failing := &Server{URL: s.URL, Cache: t.TempDir()}
			require.Empty(t, candidates(failing))
			require.ErrorContains(t, failing.Problem(), fmt.Sprint(status))
			require.NotContains(t, failing.Problem().Error(), "SYMSIG")
		}
		for _, address := range []string{"http://127.0.0.1:1/symbols" + end, "ftp://h/symbols" + end, "http://h\x7f/symbols" + end} {
			unreachable := &Server{URL: address, Cache: t.TempDir()}
			require.Empty(t, candidates(unreachable))
			require.Error(t, unreachable.Problem())
			require.NotContains(t, unreachable.Problem().Error(), "SYMSIG")
		}
	}
}

func TestDownload(t *testing.T) {
	asked := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		require.Equal(t, "/symbols/"+key, r.URL.Path)
		_, _ = w.Write(library)
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
		require.Equal(t, library, b)
	}
	require.Equal(t, 1, asked, "the second one comes from the cache")
	require.EqualValues(t, len(library), seen)
}

// TestServerHangs: a server that hangs costs the time of one file, not of each.
func TestServerHangs(t *testing.T) {
	for name, hangs := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"1xx": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusEarlyHints)
				time.Sleep(10 * time.Millisecond)
			}
		},
		"drips": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte{1})
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
		"late": func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(150 * time.Millisecond)
			http.NotFound(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			most := map[string]int64{"late": 5}[name]
			var asked atomic.Int64
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				hangs(w, r)
			})
			began := time.Now()
			for i := range 20 {
				_, err := s.Get(t.Context(), fmt.Sprintf("f%d/1/f", i), func(string) error { return nil })
				require.Error(t, err)
			}
			require.Less(t, time.Since(began), 30*time.Second)
			require.LessOrEqual(t, asked.Load(), max(most, 1))
			require.Error(t, s.Problem())
		})
	}
}

// TestContextEndsADownload: the download ends at once, and the file may be requested again.
func TestContextEndsADownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 1 {
			_, _ = w.Write(library)
			return
		}
		cancel()
		<-r.Context().Done()
	})
	s.stall = time.Minute
	start := time.Now()
	for p := range (symstore.Remote{Server: s}).In(ctx).Candidates(module, identity) {
		t.Errorf("%s is proposed", p)
	}
	require.Less(t, time.Since(start), 30*time.Second)
	require.Len(t, candidates(s), 1)
}

// TestBadServers uses servers that fail in every way: nothing reaches the cache, nothing hangs, and
// a file is requested once.
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
			<-r.Context().Done()
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
			require.Less(t, time.Since(start), 30*time.Second)
			require.Len(t, s.failed, 1)
			_, err := os.Stat(cached(s))
			require.ErrorIs(t, err, os.ErrNotExist)
			left, err := filepath.Glob(filepath.Join(filepath.Dir(cached(s)), ".*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestNotAnAddress(t *testing.T) {
	s := &Server{URL: "file:///etc", Cache: t.TempDir()}
	_, err := s.Get(context.Background(), key, anything)
	require.ErrorContains(t, err, "not an http or https address")
}

// anything accepts every file.
func anything(string) error { return nil }

// library is a library with the build id of the tests' module.
var library = synth.ELFLibrary(1, 2)

// TestGarbageIsRefused: only the requested content enters the cache. A rejection is reported.
func TestGarbageIsRefused(t *testing.T) {
	other := slices.Clone(library)
	other[0x110] = 9
	for name, sent := range map[string][]byte{"garbage": []byte(strings.Repeat("garbage", 1000)), "another build": other} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(sent) })
		f := &modfiles.Finder{More: []modfiles.Source{symstore.Remote{Server: s}}}
		_, _, tried, err := f.Find(t.Context(), module, identity, func(*image.Image) (modfiles.Proof, error) { return "", nil })
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, "is refused", name)
		require.Len(t, tried, 1)
		require.ErrorContains(t, s.Problem(), "is refused")
		left, err := os.ReadDir(filepath.Dir(cached(s)))
		require.NoError(t, err)
		require.Empty(t, left, "nothing of it is in the cache")
	}
}

// TestWrongFileInTheCache: a wrong file is replaced by the right one.
func TestWrongFileInTheCache(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(library) })
	p := keep(t, symstore.Cache{Dir: s.Cache}, "garbage of an earlier version")
	require.Equal(t, []string{p}, candidates(s))
	b, err := os.ReadFile(p)
	require.NoError(t, err)
	require.Equal(t, library, b)
}

// TestDrip: a server that sends single bytes slowly does not block the caller.
func TestDrip(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	start := time.Now()
	require.Empty(t, candidates(s))
	require.Less(t, time.Since(start), 30*time.Second)
	require.ErrorContains(t, s.Problem(), "fewer than 65536 bytes came in 200ms")
}

// TestBudget limits the unpacked size of a file, and the size of all files.
func TestBudget(t *testing.T) {
	packed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		for range 1000 {
			if _, err := z.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}
	s := serve(t, packed)
	s.Budget = &Budget{File: 1 << 20}
	require.Empty(t, candidates(s))
	require.ErrorContains(t, s.Problem(), "more than 1048576 bytes")

	s = serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(library) })
	s.Budget = &Budget{Total: int64(len(library)) + 1}
	require.Len(t, candidates(s), 1)
	other := &target.Module{Path: "/app/libother.so"}
	for p := range (symstore.Remote{Server: s}).Candidates(other, identity) {
		t.Errorf("%s is over the budget", p)
	}
	require.ErrorContains(t, s.Problem(), "in all")
}

// TestUnreachable: an unreachable server is contacted once and reported.
func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s := &Server{URL: gone.URL, Cache: t.TempDir()}
	require.NoError(t, s.Problem(), "nobody asked it yet")
	require.Empty(t, candidates(s))
	require.ErrorContains(t, s.Problem(), "connect")
	s.URL = "http://127.0.0.1:1/elsewhere"
	require.Empty(t, candidates(s))
	_, err := s.Get(t.Context(), "another.so/elf-buildid-0102/another.so", anything)
	require.ErrorContains(t, err, "connect", "every other file would wait as long")
	require.Error(t, (&Server{URL: "ftp://x"}).Problem())
	require.Error(t, (&Server{URL: "nonsense"}).Problem())
}

func TestPortablePDB(t *testing.T) {
	guid := [16]byte{1, 2, 3, 4}
	pdb := append([]byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00\x0c\x00\x00\x00PDB v1.0\x00\x00\x00\x00\x00\x00\x01\x00"+
		"\x30\x00\x00\x00\x20\x00\x00\x00#Pdb\x00\x00\x00\x00"), append(guid[:], 0, 0, 0, 0)...)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/symbols/app.pdb/04030201000000000000000000000000ffffffff/app.pdb" {
			_, _ = w.Write(pdb)
			return
		}
		_, _ = w.Write([]byte("BSJB"))
	})
	remote, cache := symstore.Remote{Server: s}, symstore.Cache{Dir: s.Cache}
	file, err := remote.PortablePDB(t.Context(), "/src/App.pdb", guid)
	require.NoError(t, err)
	kept, err := cache.PortablePDB(t.Context(), "/src/App.pdb", guid)
	require.NoError(t, err)
	require.Equal(t, file, kept)
	_, err = cache.PortablePDB(t.Context(), "/src/Other.pdb", guid)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = remote.PortablePDB(t.Context(), "/src/App.pdb", [16]byte{9})
	require.ErrorContains(t, err, "is refused")
	_, err = remote.PortablePDB(t.Context(), "", guid)
	require.ErrorIs(t, err, os.ErrNotExist, "what has no name can't be asked for")

	// A valid PDB of another build is rejected, too.
	wrong := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(pdb) })
	_, err = symstore.Remote{Server: wrong}.PortablePDB(t.Context(), "/src/App.pdb", [16]byte{9})
	require.ErrorIs(t, err, image.ErrMismatch)
}
