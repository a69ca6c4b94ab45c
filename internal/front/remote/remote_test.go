package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/process"
)

// content is what servers of the tests have.
func content(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// serve serves data with an ETag. before may answer a request itself, and reports whether it did.
func serve(data []byte, before func(n int64, w http.ResponseWriter, r *http.Request) bool) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if before != nil && before(n.Add(1), w, r) {
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}

func quick() Options {
	return Options{wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func open(t *testing.T, h http.Handler, o Options) *File {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	f, err := Open(s.URL+"/dump", o)
	require.NoError(t, err)
	return f
}

// TestReads compares reads with the server's data, in any order, by several readers and with few cached pages.
func TestReads(t *testing.T) {
	data := content(40<<20 + 12345)
	f := open(t, serve(data, nil), Options{Memory: 1})
	assert.EqualValues(t, len(data), f.Size())
	var all sync.WaitGroup
	for seed := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), 3))
			for range 60 {
				off, n := r.IntN(len(data)), 1+r.IntN(1<<(1+r.IntN(23)))
				b := make([]byte, n)
				got, err := f.ReadAt(b, int64(off))
				want := data[off:min(off+n, len(data))]
				if len(want) < n {
					assert.Equal(t, io.EOF, err)
				} else {
					assert.NoError(t, err)
				}
				assert.True(t, bytes.Equal(want, b[:got]), "%d bytes at %d", n, off)
			}
		})
	}
	all.Wait()
	whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, whole))
	_, err = f.ReadAt(make([]byte, 1), -1)
	assert.Error(t, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	assert.LessOrEqual(t, len(f.pages), f.most)
	assert.Equal(t, len(f.pages), f.used.Len())
}

// TestReadAhead checks that a sequential read requests large parts concurrently, and that single reads request
// little.
func TestReadAhead(t *testing.T) {
	data := content(64 << 20)
	var now, most atomic.Int64
	h := serve(data, func(_ int64, _ http.ResponseWriter, _ *http.Request) bool {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return false
	})
	f := open(t, h, Options{})
	b := make([]byte, 64<<10)
	for off := int64(0); off < f.Size(); off += int64(len(b)) {
		_, err := f.ReadAt(b, off)
		require.NoError(t, err)
	}
	s := f.Stats()
	assert.Less(t, s.Requests, int64(40))
	assert.EqualValues(t, len(data), s.Bytes)
	assert.Greater(t, most.Load(), int64(1))

	f = open(t, h, Options{})
	for i := range 10 {
		_, err := f.ReadAt(b[:8], int64(i)*(6<<20)+1000)
		require.NoError(t, err)
	}
	assert.Less(t, f.Stats().Bytes, int64(6<<20))
}

// TestFaultsThatPass: what goes wrong for a moment is tried again, and the bytes are right.
func TestFaultsThatPass(t *testing.T) {
	data := content(4 << 20)
	part := func(w http.ResponseWriter, r *http.Request, change func(from, to int) (head string, body []byte)) {
		var from, to int
		_, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		assert.NoError(t, err)
		to = min(to, len(data)-1)
		head, body := change(from, to)
		w.Header().Set("Content-Range", head)
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(body)
	}
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request){
		"503": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) },
		"429": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"short": func(w http.ResponseWriter, r *http.Request) {
			part(w, r, func(from, to int) (string, []byte) {
				w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
				return fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)), data[from : from+10]
			})
		},
		"short and silent about it": func(w http.ResponseWriter, r *http.Request) {
			part(w, r, func(from, to int) (string, []byte) {
				return fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)), data[from : from+10]
			})
		},
		"too long": func(w http.ResponseWriter, r *http.Request) {
			part(w, r, func(from, to int) (string, []byte) {
				return fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)), append(bytes.Clone(data[from:to+1]), 1)
			})
		},
		"another part": func(w http.ResponseWriter, r *http.Request) {
			part(w, r, func(from, to int) (string, []byte) {
				return fmt.Sprintf("bytes %d-%d/%d", from+1, to+1, len(data)), data[from : to+1]
			})
		},
		"a smaller part": func(w http.ResponseWriter, r *http.Request) {
			part(w, r, func(from, to int) (string, []byte) {
				return fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(data)), data[from:to]
			})
		},
		"no part": func(w http.ResponseWriter, r *http.Request) {
			part(w, r, func(from, to int) (string, []byte) { return "multipart", data[from : to+1] })
		},
	} {
		f := open(t, serve(data, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n%3 == 0 {
				return false
			}
			fault(w, r)
			return true
		}), quick())
		whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err, name)
		assert.True(t, bytes.Equal(data, whole), name)
	}
}

// TestServerHangs checks that a server that sends nothing, informational answers without end, a byte at a time, or a
// part without an end costs one bounded time, and that later reads fail at once.
func TestServerHangs(t *testing.T) {
	for name, hang := range map[string]func(w http.ResponseWriter, r *http.Request){
		"nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"1xx": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusEarlyHints)
				time.Sleep(10 * time.Millisecond)
			}
		},
		"drips": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 524288-1048575/2000000")
			w.WriteHeader(http.StatusPartialContent)
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte{1})
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
		"an end": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", strings.Replace(r.Header.Get("Range"), "=", " ", 1)+"/2000000")
			w.WriteHeader(http.StatusPartialContent)
			var from, to int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			_, _ = w.Write(make([]byte, to-from+1))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			o := quick()
			o.patience = time.Second
			f := open(t, serve(content(2_000_000), func(n int64, w http.ResponseWriter, r *http.Request) bool {
				if asked.Store(n); n > 1 {
					hang(w, r)
				}
				return n > 1
			}), o)
			began := time.Now()
			_, err := f.ReadAt(make([]byte, 100), 1_000_000)
			require.Error(t, err)
			_, err = f.ReadAt(make([]byte, 100), 1_900_000)
			require.Error(t, err)
			assert.Less(t, time.Since(began), 20*time.Second)
			assert.Less(t, asked.Load(), int64(1+tries+1))
		})
	}
}

// TestFaultsThatStay checks that a lasting error is reported after a bounded number of tries, and that no request
// follows it.
func TestFaultsThatStay(t *testing.T) {
	data := content(4 << 20)
	for name, c := range map[string]struct {
		fault func(w http.ResponseWriter, r *http.Request)
		want  string
		tries int64
		is    error
	}{
		"down":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "503 Service Unavailable (tried 5 times)", tries, nil},
		"reset": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "(tried 5 times)", tries, nil},
		"gone":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "404 Not Found", 1, nil},
		"changed": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"two"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}, "has changed", 1, ErrChanged},
		"changed, and not heeded": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"two"`)
			r.Header.Del("If-Match")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}, "has changed", 1, ErrChanged},
		"shorter": {func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data[:1<<20]))
		}, "has changed", 1, ErrChanged},
		"expired": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>ExpiredToken</Code></Error>")
		}, "403 Forbidden (ExpiredToken): SOSGO_TOKEN", 1, nil},
		"whole": {func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}, "does not serve parts", 1, nil},
		"packed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 2097152-4194303/%d", len(data)))
			w.WriteHeader(http.StatusPartialContent)
		}, "another encoding", 1, nil},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusFound)
		}, "redirects to another host", 1, nil},
	} {
		var failing atomic.Bool
		var asked atomic.Int64
		var failed error
		o := quick()
		o.Failed = func(err error) { failed = err }
		f := open(t, serve(data, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			if !failing.Load() {
				return false
			}
			asked.Add(1)
			c.fault(w, r)
			return true
		}), o)
		failing.Store(true)
		require.NoError(t, f.Lost(), name)
		b := make([]byte, 100)
		_, err := f.ReadAt(b, 2<<20)
		var typed *Error
		require.ErrorAs(t, err, &typed, name)
		assert.ErrorContains(t, err, c.want, name)
		assert.Equal(t, err, failed, name)
		assert.Equal(t, err, f.Lost(), name)
		assert.InDelta(t, c.tries, asked.Load(), 1, name) // net/http asks once more where a connection that was used before breaks
		if c.is != nil {
			assert.ErrorIs(t, err, c.is, name)
		}
		failing.Store(false)
		before := f.Stats().Requests
		_, again := f.ReadAt(b, 3<<20)
		assert.Equal(t, err, again, name)
		assert.Equal(t, before, f.Stats().Requests, name)
		_, err = f.ReadAt(b, 0)
		assert.NoError(t, err, "what is there is right still")
	}
}

// TestOpenErrors: what can't be read so is refused when it is opened, in words without what may be secret.
func TestOpenErrors(t *testing.T) {
	data := content(1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tagged" {
			w.Header().Set("ETag", `W/"x"`)
		}
		has := data
		if r.URL.Path == "/empty" {
			has = nil
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(has))
	}))
	defer s.Close()
	f, err := Open(s.URL+"/tagged", quick())
	require.NoError(t, err)
	assert.EqualValues(t, 1000, f.Size())
	for address, want := range map[string]string{
		s.URL + "/x?sig=SECRET":                       "/x?…: the server sends neither an ETag nor",
		s.URL + "/empty":                              "", // net/http answers an empty file as a whole
		"http://user:SECRET@127.0.0.1:1/x?sig=SECRET": "http://127.0.0.1:1/x?…: ",
		"https:///x":                                  "no host",
		"s3://bucket":                                 "not s3://BUCKET/KEY",
		"s3://b_!/x":                                  "not s3://BUCKET/KEY",
		"http://%zz/":                                 "http://…: this is no address",
	} {
		_, err := Open(address, quick())
		assert.ErrorContains(t, err, want, address)
		assert.NotContains(t, err.Error(), "SECRET")
	}
	env := map[string]string{"SOSGO_TOKEN": "SECRET"}
	o := quick()
	o.Env = func(name string) (string, bool) { return env[name], env[name] != "" }
	_, err = Open("http://example.com/x", o)
	assert.ErrorContains(t, err, "over https alone")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	o = quick()
	o.Context = func() context.Context { return ended }
	_, err = Open(s.URL+"/tagged", o)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestTLS checks that a server of a named private authority is trusted and gets the token, and that no other host
// gets it.
func TestTLS(t *testing.T) {
	data := content(1 << 20)
	got := ""
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		serve(data, nil).ServeHTTP(w, r)
	}))
	defer other.Close()
	tokens := ""
	s := httptest.NewTLSServer(serve(data, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		tokens = r.Header.Get("Authorization")
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/dump", http.StatusFound)
		case "/there":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/ring":
			http.Redirect(w, r, "/ring", http.StatusFound)
		default:
			return false
		}
		return true
	}))
	defer s.Close()
	s.Config.ErrorLog = nil
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	o := quick()
	_, err := Open(s.URL+"/dump", o)
	var unknown *tls.CertificateVerificationError
	assert.ErrorAs(t, err, &unknown)
	o.CA = ca
	o.Env = func(name string) (string, bool) {
		return map[string]string{"SOSGO_TOKEN": "tok"}[name], name == "SOSGO_TOKEN"
	}
	_, err = Open(s.URL+"/here", o)
	require.NoError(t, err)
	assert.Equal(t, "Bearer tok", tokens)
	o.Redirects = true
	_, err = Open(s.URL+"/there", o)
	assert.ErrorContains(t, err, "from https to http")
	assert.Empty(t, got)
	_, err = Open(s.URL+"/ring", o)
	assert.ErrorContains(t, err, "more than 5 redirections")
	endless := filepath.Join(t.TempDir(), "endless")
	require.NoError(t, os.WriteFile(endless, nil, 0o600))
	require.NoError(t, os.Truncate(endless, 1<<40))
	_, err = Open(s.URL, Options{CA: endless})
	require.ErrorContains(t, err, "more than")
	_, err = Open(s.URL, Options{CA: filepath.Join(t.TempDir(), "none")})
	assert.ErrorIs(t, err, os.ErrNotExist)

	plain := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer plain.Close()
	o = quick()
	o.Env = func(name string) (string, bool) { return "tok", name == "SOSGO_TOKEN" }
	o.Redirects = true
	_, err = Open(plain.URL, o)
	require.NoError(t, err)
	assert.Empty(t, got, "another host gets no token")
}

// TestSign compares the signature with the example in Amazon's documentation (GET Object).
func TestSign(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", http.NoBody)
	require.NoError(t, err)
	r.Header.Set("Range", "bytes=0-9")
	k := keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "", "us-east-1"}
	k.sign(r, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	assert.True(t, strings.HasSuffix(r.Header.Get("Authorization"), "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"), r.Header.Get("Authorization"))
}

// TestS3: objects are reached in the forms of stores, with the signature of the moment.
func TestS3(t *testing.T) {
	data := content(3 << 20)
	env := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session", "AWS_REGION": "eu-west-3"}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := httptest.NewServer(serve(data, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		given := r.Header.Get("Authorization")
		again := r.Clone(r.Context())
		again.URL.Host = r.Host
		(&keys{"id", "secret", "session", "eu-west-3"}).sign(again, at)
		if given != again.Header.Get("Authorization") || r.URL.EscapedPath() != "/bucket/a%20b/core%2B1" || r.Header.Get("X-Amz-Security-Token") != "session" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}))
	defer s.Close()
	env["AWS_ENDPOINT_URL"] = s.URL
	o := quick()
	o.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	o.now = func() time.Time { return at }
	f, err := Open("s3://bucket/a b/core+1", o)
	require.NoError(t, err)
	at = at.Add(24 * time.Hour)
	whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, whole))
	env["AWS_SECRET_ACCESS_KEY"] = "another"
	_, err = Open("s3://bucket/a b/core+1", o)
	assert.ErrorContains(t, err, "s3://bucket/a b/core+1: the server answers 403 Forbidden: SOSGO_TOKEN")
	delete(env, "AWS_ENDPOINT_URL")
	for address, want := range map[string]string{"s3://my-bucket/x/y": "https://my-bucket.s3.eu-west-3.amazonaws.com/x/y", "s3://my.bucket/x": "https://s3.eu-west-3.amazonaws.com/my.bucket/x"} {
		f := &File{o: o}
		require.NoError(t, f.reach(address))
		r, err := f.request()
		require.NoError(t, err)
		assert.Equal(t, want, r.URL.String())
	}
}

// TestDisk checks that pages are cached on disk for this version of the file only, that damaged ones are reread, and
// that the folder is bounded.
func TestDisk(t *testing.T) {
	data := content(8 << 20)
	s := httptest.NewServer(serve(data, nil))
	defer s.Close()
	o := Options{Disk: t.TempDir()}
	read := func(o Options) Stats {
		f, err := Open(s.URL+"/dump", o)
		require.NoError(t, err)
		whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, whole))
		return f.Stats()
	}
	assert.Greater(t, read(o).Bytes, int64(7<<20))
	assert.EqualValues(t, 1, read(o).Requests)
	list, err := filepath.Glob(filepath.Join(o.Disk, "*", "*"))
	require.NoError(t, err)
	require.Len(t, list, 8<<20/pageSize-firstPages)
	b, err := os.ReadFile(list[3])
	require.NoError(t, err)
	b[100] ^= 1
	require.NoError(t, os.WriteFile(list[3], b, 0o600))
	require.NoError(t, os.Truncate(list[5], 10))
	assert.InDelta(t, 2.5, read(o).Requests, 0.5)

	o.DiskSize = 1 << 20
	old, err := filepath.Glob(filepath.Join(o.Disk, "*"))
	require.NoError(t, err)
	require.Len(t, old, 1)
	other := httptest.NewServer(serve(data, nil))
	defer other.Close()
	f, err := Open(other.URL, o)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, io.NewSectionReader(f, 0, f.Size()))
	require.NoError(t, err)
	assert.NoDirExists(t, old[0])
	size := int64(0)
	list, _ = filepath.Glob(filepath.Join(o.Disk, "*", "*"))
	for _, p := range list {
		st, err := os.Stat(p)
		require.NoError(t, err)
		size += st.Size()
	}
	assert.LessOrEqual(t, size, int64(1<<20))
	assert.NotZero(t, size)
	_, err = Open(s.URL+"/dump", Options{Disk: filepath.Join(list[0], "x")})
	assert.Error(t, err)
}

// TestDiskKnowsFiles reads two files at addresses that differ only in their query, with the same ETag, size and time. No
// page of one may be read for the other; a new signature of an address is no other file.
func TestDiskKnowsFiles(t *testing.T) {
	one := content(2 << 20)
	two := bytes.Clone(one)
	two[1<<20] ^= 1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		has := one
		if q := r.URL.Query(); q.Get("id") == "2" || q.Get("x") == "2" || q.Get("X-Amz-Part") == "2" || q.Get("policy") == "2" {
			has = two
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(has))
	}))
	defer s.Close()
	o := Options{Disk: t.TempDir()}
	for _, c := range []struct {
		query string
		want  []byte
		again bool // the pages are cached
	}{
		{"?id=1", one, false}, {"?id=2", two, false}, {"?id=1", one, true}, {"?id=2&X-Amz-Signature=a&X-Amz-Date=b", two, true},
		{"?id=2&sig=a&se=b", two, true}, {"?id=2&Expires=1&Signature=a&Key-Pair-Id=k", two, true}, {"?id=1&se=b", one, false},
		{"?x=1", one, false}, {"?x=2", two, false}, {"?X-Amz-Part=1", one, false}, {"?X-Amz-Part=2", two, false}, {"?policy=1", one, false}, {"?policy=2", two, false},
	} {
		f, err := Open(s.URL+"/dump"+c.query, o)
		require.NoError(t, err)
		whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(c.want, whole), c.query)
		assert.Equal(t, c.again, f.Stats().Requests == 1, c.query)
	}
}

// TestDiskIsPrivate checks that the cache removes no folder but its own, no file in them but pages, and takes no folder in which others may write.
func TestDiskIsPrivate(t *testing.T) {
	data := content(4 << 20)
	s := httptest.NewServer(serve(data, nil))
	defer s.Close()
	dir := t.TempDir()
	own := filepath.Join(dir, "pages-"+strings.Repeat("0", 32))
	keep := []string{filepath.Join(dir, "pages-photos", "a.jpg"), filepath.Join(own, "notes.txt")}
	gone := filepath.Join(own, "17")
	for _, path := range append(keep, gone) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, data[:3<<20], 0o600))
	}
	f, err := Open(s.URL+"/dump", Options{Disk: dir, DiskSize: 1 << 20})
	require.NoError(t, err)
	assert.Equal(t, data[:1], func() []byte { b := make([]byte, 1); _, _ = f.ReadAt(b, 0); return b }())
	for _, path := range keep {
		assert.FileExists(t, path)
	}
	assert.NoFileExists(t, gone)
	if runtime.GOOS == "windows" {
		return // access control lists decide there
	}
	require.NoError(t, os.Chmod(dir, 0o777)) //nolint:gosec // a folder that everybody may write in is what is refused
	_, err = Open(s.URL+"/dump", Options{Disk: dir})
	assert.ErrorIs(t, err, fs.ErrPermission)
}

// TestDiskIsNotExchanged checks that a folder that is checked is the folder that is read: somebody else may exchange what
// its path leads to.
func TestDiskIsNotExchanged(t *testing.T) {
	data := content(4 << 20)
	s := httptest.NewServer(serve(data, nil))
	defer s.Close()
	own, forged, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	if os.Symlink(own, link) != nil {
		t.Skip("this system has no links")
	}
	read := func(f *File) []byte {
		whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err)
		return whole
	}
	f, err := Open(s.URL+"/dump", Options{Disk: link})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, read(f)))
	require.NoError(t, os.CopyFS(forged, os.DirFS(own)))
	list, err := filepath.Glob(filepath.Join(forged, "*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, name := range list {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		b[100] ^= 1
		binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
		require.NoError(t, os.WriteFile(name, b, 0o600))
	}
	f, err = Open(s.URL+"/dump", Options{Disk: link})
	require.NoError(t, err)
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(forged, link))
	assert.True(t, bytes.Equal(data, read(f)))
	assert.EqualValues(t, 1, f.Stats().Requests, "the pages are cached")
}

// TestIs: addresses are no files.
func TestIs(t *testing.T) {
	for _, a := range []string{"http://x/y", "HTTPS://x", "s3://b/k"} {
		assert.True(t, Is(a), a)
	}
	for _, a := range []string{"core", "/http://", "file:///x", "-", ""} {
		assert.False(t, Is(a), a)
	}
	assert.True(t, errors.Is(&Error{"x", ErrChanged}, ErrChanged))
}

// TestLyingSize checks that a file of more bytes than there can be is refused.
func TestLyingSize(t *testing.T) {
	for _, size := range []string{"9223372036854775807", "72057594037927937", "-5"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"one"`)
			w.Header().Set("Content-Range", strings.Replace(r.Header.Get("Range"), "=", " ", 1)+"/"+size)
			var from, to int
			_, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			assert.NoError(t, err)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(make([]byte, to+1-from)) // all else is right
		}))
		f, err := Open(s.URL, quick())
		if err == nil {
			_, err = f.ReadAt(make([]byte, 1), f.Size()-1)
		}
		s.Close()
		var typed *Error
		require.ErrorAs(t, err, &typed, size)
	}
}

// TestNoPart: a file is called empty only if the server says so.
func TestNoPart(t *testing.T) {
	for size, words := range map[string]string{"bytes */0": "the file is empty", "bytes */5": "416", "": "may be empty"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", size)
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}))
		_, err := Open(s.URL, quick())
		s.Close()
		require.ErrorContains(t, err, words, size)
		assert.Equal(t, size == "bytes */0", strings.Contains(err.Error(), "is empty"), err)
	}
}

// TestRedirectedStore: another host gets neither the signature nor the session's token of a store that redirects to it.
func TestRedirectedStore(t *testing.T) {
	var mu sync.Mutex
	asked, leaked := 0, []string{}
	other := httptest.NewServer(serve(content(1<<20), func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		asked++
		leaked = append(leaked, r.Header.Values("Authorization")...)
		leaked = append(leaked, r.Header.Values("X-Amz-Security-Token")...)
		leaked = append(leaked, r.Header.Values("Referer")...)
		return false
	}))
	defer other.Close()
	store := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer store.Close()
	env := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session", "AWS_ENDPOINT_URL": store.URL}
	o := quick()
	o.Redirects = true
	o.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	_, err := Open("s3://bucket/core", o)
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	assert.NotZero(t, asked)
	assert.Empty(t, leaked)
}

// TestShown checks that what others see of an address has neither its password nor its query, which may be a signature.
func TestShown(t *testing.T) {
	const address = "https://me:hidden@h.example/crashes/a.dmp?X-Amz-Signature=hidden&b=c/d#hidden"
	for path, want := range map[string]struct{ shown, base string }{
		address:                         {"https://h.example/crashes/a.dmp?…", "a.dmp"},
		"s3://crashes/shop/a.dmp":       {"s3://crashes/shop/a.dmp", "a.dmp"},
		"/dumps/a.dmp?b=c":              {"/dumps/a.dmp?b=c", "a.dmp?b=c"},
		"HTTP://h/%zz?signature=hidden": {"HTTP://…", "…"},
	} {
		assert.Equal(t, want.shown, Shown(path))
		assert.Equal(t, want.base, Base(path))
	}
}

// TestDiskIsFiles checks that what is no page in the place of a page is not read: a named pipe, a folder, a link, and a file
// that is far too long.
func TestDiskIsFiles(t *testing.T) {
	data := content(4 << 20)
	s := httptest.NewServer(serve(data, nil))
	defer s.Close()
	for name, put := range map[string]func(page string) error{
		"a pipe":     func(page string) error { return exec.CommandContext(t.Context(), "mkfifo", page).Run() },
		"a folder":   func(page string) error { return os.Mkdir(page, 0o700) },
		"a device":   func(page string) error { return os.Symlink("/dev/zero", page) },
		"a link":     func(page string) error { return os.Symlink("0", page) },
		"terabytes":  func(page string) error { return errors.Join(os.WriteFile(page, nil, 0o600), os.Truncate(page, 1<<42)) },
		"other text": func(page string) error { return os.WriteFile(page, []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, err := Open(s.URL+"/dump", Options{Disk: dir})
			require.NoError(t, err)
			pages, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
			require.NoError(t, err)
			require.Len(t, pages, 1)
			if err := put(filepath.Join(pages[0], "5")); err != nil {
				t.Skip("this system has none:", err)
			}
			read := make(chan []byte, 1)
			go func() {
				whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
				assert.NoError(t, err)
				read <- whole
			}()
			select {
			case whole := <-read:
				assert.True(t, bytes.Equal(data, whole))
			case <-time.After(30 * time.Second):
				t.Fatal("it waits")
			}
		})
	}
}

// A counter counts the bytes of answers.
type counter struct {
	http.ResponseWriter

	n *atomic.Int64
}

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// TestCompressedOnce checks that a compressed dump larger than the page cache is downloaded once, also if unpacked dumps are cached.
func TestCompressedOnce(t *testing.T) {
	const size = 60 << 20
	core := &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x10000, Data: content(size), Flags: 6}}}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	require.NoError(t, err)
	packed := e.EncodeAll(core.Bytes(), nil)
	require.Greater(t, len(packed), size)
	var sent atomic.Int64
	h := serve(packed, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(counter{w, &sent}, r) }))
	defer s.Close()
	o := quick()
	o.Memory = 1
	d, err := OpenDump(s.URL+"/dump", o, process.Options{Offline: true, Cache: filepath.Join(t.TempDir(), "cache")})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	assert.Less(t, sent.Load(), int64(len(packed))*5/4)
}
