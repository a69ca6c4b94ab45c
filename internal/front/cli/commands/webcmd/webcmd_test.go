package webcmd_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/webui"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// run runs sosgo with its stderr written to stderr.
func run(ctx context.Context, stderr io.Writer, args ...string) (stdout string, code int) {
	var out strings.Builder
	code = cli.Main(ctx, append([]string{"-offline"}, args...), strings.NewReader(""), &out, stderr,
		cli.Env{Commands: commands.All(), Open: commands.Open, Threads: commands.Threads, Limits: commands.Limits()})
	return out.String(), code
}

// open runs sosgo web and returns an authorized client and the server's address.
func open(t *testing.T, args ...string) (*http.Client, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, w, append([]string{"web"}, args...)...)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if u := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); u != "" {
			go func() { _, _ = io.Copy(io.Discard, r) }()
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			c := &http.Client{Jar: jar}
			resp, err := c.Get(u)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, http.StatusOK, resp.StatusCode)
			return c, u[:strings.Index(u, "/?")]
		}
	}
	t.Fatal("web prints no address")
	return nil, ""
}

func get(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	resp, err := c.Get(address)
	if !assert.NoError(t, err) {
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	assert.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode, "%s", body)
	return string(body)
}

// TestSameDocuments checks that the server answers the same as --json, even concurrently and for failures, except for
// partial lists.
func TestSameDocuments(t *testing.T) {
	d := testdump.Open(t, "net10-zoo").Plain()
	c, at := open(t, d)
	var all sync.WaitGroup
	for _, words := range [][]string{{"dumpheap", "-stat"}, {"clrthreads", "-stacks"}, {"crashinfo"}, {"leaks"}, {"waits"}, {"modules"}, {"doctor"},
		{"dumpobj", "10"}, {"nothing"}, {"query", "from threads | select index, name"}} {
		all.Go(func() {
			want, _ := run(t.Context(), io.Discard, append([]string{"-d", d, "--json"}, words...)...)
			got := get(t, c, at+"/api/"+words[0]+"?"+url.Values{"a": words[1:], "count": {"100000"}}.Encode())
			var w, g map[string]any
			if assert.NoError(t, json.Unmarshal([]byte(want), &w)) && assert.NoError(t, json.Unmarshal([]byte(got), &g)) {
				delete(g, "lists")
				assert.Equal(t, w, g, "%v", words)
			}
		})
	}
	all.Wait()
	assert.Contains(t, get(t, c, at+"/line?"+url.Values{"line": {"clrthreads | grep -i threadcount"}}.Encode()), "ThreadCount")
}

// TestNoFile checks that no request can read or write a file by name.
func TestNoFile(t *testing.T) {
	folder := t.TempDir()
	c, at := open(t, testdump.Open(t, "net10-zoo").Plain())
	out := filepath.Join(folder, "out")
	for _, words := range [][]string{{"pack", "-o", out}, {"traverseheap", out}, {"stacks", "-export", "folded", "-o", out}, {"report", "-o", out}, {"diff", "/etc/passwd"},
		{"export", "gcdump", out}, {"web"}, {"report", "-o", out, "-with", "/etc/passwd"}} {
		assert.Contains(t, get(t, c, at+"/api/"+words[0]+"?"+url.Values{"a": words[1:]}.Encode()), `"kind":"usage"`, "%v", words)
		line := strings.Join(words, " ")
		get(t, c, at+"/line?"+url.Values{"line": {line}}.Encode())
	}
	get(t, c, at+"/line?"+url.Values{"line": {"clrthreads > " + out}}.Encode())
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, list)
}

// TestReportNames checks that report recognizes the dump and the output file in any order.
func TestReportNames(t *testing.T) {
	d := testdump.Open(t, "nativeaot-crash").Plain()
	ways := [][]string{{"report", d, "OUT"}, {"-d", d, "report", "OUT"}, {"report", "OUT", d}, {"report", "-d", d, "OUT"}, {"-d", d, "-c", "report OUT"}}
	for _, words := range testcase.Sample(t, ways, 2) {
		file := filepath.Join(t.TempDir(), "report.html")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "OUT", file)
		}
		var errs strings.Builder
		_, code := run(t.Context(), &errs, words...)
		assert.Zero(t, code, "%v: %s", words, errs.String())
		assert.FileExists(t, file, "%v", words)
	}
	for _, words := range [][]string{{"report", d, d}, {"report", d, "a.html", "b.html"}, {"-d", d, "report", d}} {
		_, code := run(t.Context(), io.Discard, words...)
		assert.Equal(t, cli.ExitUsage, code, "%v", words)
	}
	_, code := run(t.Context(), io.Discard, "report", "a.html", "b.html")
	assert.Equal(t, cli.ExitOpen, code, "the dump is missing")
}

// TestReportFile checks that the file is complete, overwrites nothing and is not too large.
func TestReportFile(t *testing.T) {
	d := testdump.Open(t, "net10-zoo").Plain()
	file := filepath.Join(t.TempDir(), "report.html")
	var errs strings.Builder
	_, code := run(t.Context(), &errs, "report", d, "-o", file)
	require.Zero(t, code, errs.String())
	first, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(first), webui.MaxReport)
	assert.Contains(t, string(first), "Debuggee.Zoo")
	_, code = run(t.Context(), io.Discard, "report", d, "-o", file)
	assert.NotZero(t, code)
	_, code = run(t.Context(), io.Discard, "report", d)
	assert.Equal(t, cli.ExitUsage, code)
	again := file + "2"
	_, code = run(t.Context(), io.Discard, "report", d, "-o", again)
	require.Zero(t, code)
	second, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.True(t, string(first) == string(second), "the same dump gives the same bytes")
}

// TestReportMarkdown checks that a report as text has the findings of triage, and no secret.
func TestReportMarkdown(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10").Plain()
	file := filepath.Join(t.TempDir(), "report.md")
	var errs strings.Builder
	_, code := run(t.Context(), &errs, "report", "-format", "md", d, "-o", file)
	require.Zero(t, code, errs.String())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(text), "\n"), webui.MaxLines)
	out, _ := run(t.Context(), io.Discard, "-d", d, "--redact", "--json", "triage")
	var doc struct {
		Result struct {
			Findings []struct{ Kind, Severity, Strength string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	require.NotEmpty(t, doc.Result.Findings)
	for i, f := range doc.Result.Findings {
		assert.Contains(t, string(text), fmt.Sprintf("%d. **%s** (%s, %s)", i+1, f.Kind, f.Severity, f.Strength))
	}
	full := file + "2"
	_, code = run(t.Context(), io.Discard, "report", "-format", "md", "-full", d, "-o", full)
	require.Zero(t, code)
	errs.Reset()
	_, code = run(t.Context(), &errs, "report", "-format", "md", "-with", d, d, "-o", file+"3")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs.String(), "-with is for html")
	assert.NoFileExists(t, file+"3")
	_, code = run(t.Context(), io.Discard, "report", "-format", "pdf", d, "-o", file+"3")
	assert.Equal(t, cli.ExitUsage, code)
}
