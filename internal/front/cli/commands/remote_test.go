package commands_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// served serves a dump. From request number broken on, if that is not 0, it calls fault.
type served struct {
	raw    []byte
	asked  atomic.Int64
	broken int64
	fault  http.HandlerFunc
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	if s.broken != 0 && n >= s.broken {
		s.fault(w, r)
		return
	}
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.raw))
}

func sosgoAt(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), append([]string{"-offline"}, args...), strings.NewReader(stdin), &out, &errs,
		cli.Env{Commands: commands.All(), Open: commands.Open, Threads: commands.Threads, Limits: commands.Limits(), Recover: true})
	return out.String(), errs.String(), code
}

// TestAddress checks that a dump on a server gives the same answers as its file, for a small part of its bytes.
func TestAddress(t *testing.T) {
	raw, err := testdump.Open(t, "net10-crash-nested").Raw()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "core")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	s := &served{raw: raw}
	server := httptest.NewServer(s)
	defer server.Close()
	lines := []string{"-c", "crashinfo", "-c", "clrstack -all", "-c", "clrthreads"}
	want, _, code := sosgoAt(t, "", append([]string{"-d", file}, lines...)...)
	require.Zero(t, code)
	got, errs, code := sosgoAt(t, "", append([]string{"-d", server.URL + "/core"}, lines...)...)
	assert.Zero(t, code, errs)
	assert.Equal(t, want, got)
	assert.LessOrEqual(t, s.asked.Load(), int64(60))
	want, _, _ = sosgoAt(t, "", "dumpheap", "-stat", "-d", file)
	got, _, code = sosgoAt(t, "", "dumpheap", server.URL+"/core", "-stat")
	assert.Zero(t, code)
	assert.Equal(t, want, got)
	for _, args := range [][]string{{"--sandbox"}, {"--graph-dir", t.TempDir()}} {
		_, errs, code = sosgoAt(t, "", append(args, "-d", server.URL, "crashinfo")...)
		assert.Equal(t, cli.ExitOpen, code, errs)
		assert.Contains(t, errs, "copy the dump to this machine, or leave out "+args[0])
	}
}

// TestAddressIsLost checks a server that fails or changes its file at any request. The command must give the same
// answer as over the file, or fail with an error that its document contains.
func TestAddressIsLost(t *testing.T) {
	raw, err := testdump.Open(t, "net10-crash-nested").Raw()
	require.NoError(t, err)
	run := func(s *served, args ...string) (string, string, int) {
		server := httptest.NewServer(s)
		defer server.Close()
		return sosgoAt(t, "", append([]string{"-d", server.URL + "/core"}, args...)...)
	}
	whole := &served{raw: raw}
	want, _, code := run(whole, "clrthreads", "--json")
	require.Zero(t, code)
	all := whole.asked.Load()
	require.Greater(t, all, int64(5))
	another := bytes.Repeat([]byte{0x55}, len(raw))
	requests := make([]int64, all)
	for i := range requests {
		requests[i] = int64(i + 1)
	}
	requests = testcase.Sample(t, requests, 5)
	for name, fault := range map[string]http.HandlerFunc{
		"gone": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
		"changed": func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Match")
			w.Header().Set("ETag", `"two"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(another))
		},
		"lies, and is believed by nobody": func(w http.ResponseWriter, r *http.Request) {
			var from, to int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			w.Header().Set("ETag", `"one"`)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", to-from, len(raw)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(another[:to-from+1])
		},
	} {
		from := requests
		if strings.HasPrefix(name, "lies") {
			from = []int64{2} // a failed request is tried five times, with pauses
		}
		for _, broken := range from {
			got, errs, code := run(&served{raw: raw, broken: broken, fault: fault}, "clrthreads", "--json")
			if code == 0 {
				assert.Equal(t, want, got, "%s from request %d on", name, broken)
				continue
			}
			assert.Equal(t, cli.ExitOpen, code, "%s from request %d on: %s", name, broken, errs)
			assert.Contains(t, got, `"error":`)
			for _, kind := range []string{"not in dump", "corrupt", "unsupported"} {
				assert.NotContains(t, got, `"kind":"`+kind+`"`, "%s from request %d on: the dump has no fault", name, broken)
			}
			assert.NotContains(t, errs, "panic")
		}
	}
}

// TestNoAnswerOfLostServer: a server fails at any request after the first. What a command concluded from the rest is not shown: the process of the dump died of
// an exception that was not caught, which the signal alone does not say.
func TestNoAnswerOfLostServer(t *testing.T) {
	raw, err := testdump.Open(t, "net10-crash-nested").Raw()
	require.NoError(t, err)
	for broken := int64(1); broken <= 6; broken++ {
		for _, command := range []string{"crashinfo", "triage", "syncblk"} {
			server := httptest.NewServer(&served{raw: raw, broken: broken, fault: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }})
			out, errs, code := sosgoAt(t, "", "-d", server.URL+"/core", command)
			server.Close()
			assert.Equal(t, cli.ExitOpen, code, "%s from request %d on: %s", command, broken, errs)
			assert.Empty(t, out, "%s from request %d on", command, broken)
			assert.NotContains(t, errs, "not in the dump", "%s from request %d on", command, broken)
			assert.Contains(t, errs, "the server answers 410 Gone")
		}
	}
}

// TestReopened checks that a session reopens a lost dump for the next line.
func TestReopened(t *testing.T) {
	raw, err := testdump.Open(t, "net10-crash-nested").Raw()
	require.NoError(t, err)
	s := &served{raw: raw, broken: 2}
	s.fault = func(w http.ResponseWriter, _ *http.Request) {
		s.broken = 0
		w.WriteHeader(http.StatusGone)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	out, errs, code := sosgoAt(t, "", "-d", server.URL, "--jobs", "1", "-c", "eeversion", "-c", "eeversion")
	assert.Equal(t, cli.ExitOpen, code)
	assert.Contains(t, errs, "410 Gone")
	assert.Contains(t, out, "10.0.14")
}

// TestSymbolServerOption asks hostile symbol servers by the option. The dump is read without them; the server is blamed, no other one is asked, nothing stays in
// the cache, and no credentials are shown.
func TestSymbolServerOption(t *testing.T) {
	const dump = "../../../../testdata/dumps/win-net10-zoo-triage/win-net10-zoo-triage.dmp.zst"
	if _, err := os.Stat(dump); err != nil {
		t.Skip("no canned dump")
	}
	var strangers atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	defer other.Close()
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a file":         {redirect("file:///etc/passwd"), "redirection to another server"},
		"another server": {redirect(other.URL), "redirection to another server"},
		"for ever":       {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"a", http.StatusFound) }, "more than 5 redirections"},
		"an error":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "500 Internal Server Error"},
		"2^63-1 bytes": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "9223372036854775807") },
			"has 9223372036854775807 bytes, more than 1073741824"},
		"garbage": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("MZ and no more")) }, "is refused"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			cache := t.TempDir()
			var out bytes.Buffer
			code := cli.Main(t.Context(), []string{"-symbol-server", strings.Replace(server.URL, "//", "//bob:Tulip99@", 1), "-symbol-cache", cache, "-d", dump, "doctor", "-files"},
				strings.NewReader(""), &out, &out, cli.Env{Commands: commands.All(), Threads: commands.Threads, Open: commands.Open})
			assert.Zero(t, code, out.String())
			assert.Contains(t, out.String(), "symbol server "+server.URL+": ")
			assert.Contains(t, out.String(), c.says)
			assert.NotContains(t, out.String(), "Tulip99")
			_ = filepath.WalkDir(cache, func(path string, d fs.DirEntry, _ error) error {
				assert.True(t, d.IsDir(), path)
				return nil
			})
		})
	}
	assert.Zero(t, strangers.Load())
}

// TestAddressesAreShown checks that no output has the password or the query of an address: of a symbol server that does not answer,
// of a dump, and of one that is none.
func TestAddressesAreShown(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	if _, err := os.Stat(dump); err != nil {
		t.Skip("no canned dump")
	}
	const address = "http://bob:Tulip99@127.0.0.1:1/x.dmp?sig=Rose88"
	var lines [][]string
	for _, command := range []string{"modules", "doctor", "doctor -files", "runtimes", "clrstack -all", "setsymbolserver"} {
		lines = append(lines, []string{"-symbol-server", address, "-d", dump, "-c", command})
	}
	lines = append(lines, []string{"-d", address, "threads"}, []string{"-d", dump, "diff", address}, []string{"summarize", address}, []string{"-d", dump, "-c", "setsymbolserver " + address},
		[]string{"-symbol-server", "ftp://bob:Tulip99@h/?sig=Rose88", "-d", dump, "threads"}, []string{"-symbol-server", "https://bob:Tulip99 x@h/?sig=Rose88", "-d", dump, "threads"},
		[]string{"-d", "https://bob:Tulip99 x@h/?sig=Rose88", "threads"}, []string{"-d", "s3://bob:Tulip99@h/?sig=Rose88", "threads"},
		[]string{"-d", dump, "triage", address}, []string{"-d", " " + address, "threads"}, []string{"-d", strings.Replace(address, "//", "/", 1), "threads"}, []string{"-d", dump, "web", "-with", address},
		[]string{"-d", dump, "triage", "-rules", address}, []string{"-d", dump, "-modules", address, "threads"}, []string{"-symbol-server", "bob:Tulip99@h/?sig=Rose88", "-d", dump, "threads"})
	for _, line := range lines {
		for _, form := range [][]string{nil, {"-json"}} {
			var out bytes.Buffer
			cli.Main(t.Context(), append(slices.Clone(form), line...), strings.NewReader(""), &out, &out, cli.Env{Commands: commands.All(), Threads: commands.Threads, Open: commands.Open})
			assert.NotEmpty(t, out.String(), line)
			assert.NotRegexp(t, "Tulip99|Rose88|bob:", out.String(), "%v %v", line, form)
		}
	}
}
