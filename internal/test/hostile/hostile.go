// Package hostile has the behaviours of hostile HTTP servers. The tests of each client run against all of them.
package hostile

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longest is how long a client may take to give up a server, given its shortest time limits.
const longest = 8 * time.Second

// answers are the behaviours. No client can get from any of them what it asks for.
var answers = map[string]http.HandlerFunc{
	// They hang.
	"says nothing":        func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"1xx without end":     repeat(func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }),
	"drips a header":      dripping("HTTP/1.1 200 OK\r\nX-A: ", "a"),
	"drips headers":       dripping("HTTP/1.1 200 OK\r\n", "X-A: a\r\n"),
	"drips a body":        repeat(func(w http.ResponseWriter) { _, _ = w.Write([]byte{'<'}) }),
	"drips chunks":        dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"),
	"no end of its parts": dripping("HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 0-9/10\r\n\r\n0123456789", ""),
	"switches protocols":  dripping("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", ""),
	// They end early, or never.
	"closes":             raw(""),
	"resets":             func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"half a header":      raw("HTTP/1.1 200 OK\r\nContent-Le"),
	"half a body":        raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort"),
	"half a part":        raw("HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 0-99/100\r\nContent-Length: 100\r\n\r\nshort"),
	"a body without end": func(w http.ResponseWriter, _ *http.Request) { endless(w) },
	"a header without end": hijacked(func(c io.Writer) {
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nX-A: "); err == nil {
			endless(c)
		}
	}),
	"a bomb": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		endless(gzip.NewWriter(w))
	},
	// They lie about sizes.
	"2^63-1 bytes":        raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx"),
	"2^64 bytes":          raw("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nx"),
	"-1 bytes":            raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx"),
	"a chunk of 2^64-1":   raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"),
	"a file of 2^63-1":    part("0-524287/9223372036854775807"),
	"a file of 2^62":      part("0-524287/4611686018427387904"),
	"a file of -5":        part("0-524287/-5"),
	"a part from 2^63-1":  part("9223372036854775807-9223372036854775807/9223372036854775807"),
	"a part of nothing":   part("*/0"),
	"no part":             raw("HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\n\r\nx"),
	"another encoding":    raw("HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 0-0/1\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx"),
	"a file that changes": func(w http.ResponseWriter, r *http.Request) { part("0-524287/1000000")(w, r) },
	// They answer with something else.
	"no HTTP":             raw("\x00\x01\x02 what is this\r\n\r\n"),
	"escapes in a status": raw("HTTP/1.1 500 \x1b[31mred\r\nContent-Length: 0\r\n\r\n"),
	"a login page":        raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\n\r\n<html><body></body></html>"),
	"nested XML":          raw("HTTP/1.1 200 OK\r\nContent-Length: 700000\r\n\r\n" + strings.Repeat("<a>", 100_000) + strings.Repeat("</a>", 100_000)),
	"entities":            raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><ListBucketResult>&b;</ListBucketResult>"),
	"another protocol":    raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
	"204":                 status(http.StatusNoContent),
	"304":                 status(http.StatusNotModified),
	"401":                 status(http.StatusUnauthorized),
	"404":                 status(http.StatusNotFound),
	"416":                 status(http.StatusRequestedRangeNotSatisfiable),
	"500":                 status(http.StatusInternalServerError),
	"999":                 raw("HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n"),
	"later":               raw("HTTP/1.1 503 x\r\nRetry-After: 999999999999\r\nContent-Length: 0\r\n\r\n"),
	"earlier":             raw("HTTP/1.1 429 x\r\nRetry-After: -999999999999\r\nContent-Length: 0\r\n\r\n"),
	// They redirect.
	"to itself":          func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	"to ever new places": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"a", http.StatusFound) },
	"nowhere":            status(http.StatusFound),
	"to a file":          redirect("file:///etc/passwd"),
	"to metadata":        redirect("http://169.254.169.254/latest/meta-data/"),
	"to another port":    redirect("//[::1]:1/"),
}

// Attack calls ask with the address of a server for each behaviour. What ask returns asks that server for something. Each
// time it must fail soon, with few requests and without a request to another server.
func Attack(t *testing.T, ask func(t *testing.T, url string) func() error) {
	t.Helper()
	var strangers atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	t.Cleanup(func() { // after the parallel tests
		other.Close()
		assert.Zero(t, strangers.Load(), "another server is asked")
	})
	all := map[string]http.HandlerFunc{"to another server": redirect(other.URL), "to another name": redirect(strings.Replace(other.URL, "127.0.0.1", "localhost", 1))}
	for name, answer := range answers {
		all[name] = answer
	}
	for name, answer := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				answer(w, r)
			}))
			defer s.Close()
			defer s.CloseClientConnections()
			again := ask(t, s.URL)
			for range 3 {
				began := time.Now()
				require.Error(t, again())
				assert.Less(t, time.Since(began), longest)
			}
			assert.Less(t, asked.Load(), int64(100))
		})
	}
}

// status answers with a status alone.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
}

// part answers with some bytes that are said to be a part of a file.
func part(of string) http.HandlerFunc {
	return raw(fmt.Sprintf("HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes %s\r\nContent-Length: 10\r\n\r\n0123456789", of))
}

// raw answers with bytes, and closes the connection.
func raw(answer string) http.HandlerFunc {
	return hijacked(func(c io.Writer) { _, _ = io.WriteString(c, answer) })
}

// dripping answers with begin, and goes on with next, slowly, until the client has closed the connection.
func dripping(begin, next string) http.HandlerFunc {
	return hijacked(func(c io.Writer) {
		_, err := io.WriteString(c, begin)
		for end := time.Now().Add(2 * longest); err == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			_, err = io.WriteString(c, next)
		}
	})
}

func hijacked(write func(c io.Writer)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		write(c)
	}
}

// repeat does something slowly until the client goes.
func repeat(do func(w http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			do(w)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// endless writes until the client goes.
func endless(w io.Writer) {
	b := make([]byte, 1<<20)
	for range 1 << 12 { // 4 GB, which no client of a test takes
		if _, err := w.Write(b); err != nil {
			return
		}
	}
}
