package webui_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/front/webui"
	"github.com/sosgo/sosgo/internal/test/strangers"
)

// asker answers from functions.
type asker struct {
	ask  func(ctx context.Context, words []string, part report.Window, w io.Writer)
	line func(ctx context.Context, line string, w io.Writer)
}

func (a asker) Ask(ctx context.Context, words []string, part report.Window, w io.Writer) {
	a.ask(ctx, words, part, w)
}

func (a asker) Line(ctx context.Context, line string, w io.Writer) { a.line(ctx, line, w) }

func (a asker) Complete(before string) (found []string, length int) {
	return []string{before + "-one ", before + "-two "}, len(before)
}

// echo answers with the request's words.
var echo = asker{
	ask: func(_ context.Context, words []string, part report.Window, w io.Writer) {
		fmt.Fprintf(w, `{"command":%q,"result":{"words":%q,"part":"%+v"}}`, words[0], strings.Join(words, "|"), part)
	},
	line: func(_ context.Context, line string, w io.Writer) { fmt.Fprintln(w, "ran", line) },
}

// hurry is how long the servers of tests wait for their clients.
const hurry = 500 * time.Millisecond

// serve runs a server, and returns its address with and without the token.
func serve(t *testing.T, a webui.Asker, s webui.Subject, host string) (withToken, origin string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := webui.NewServer(a, s, l, host)
	require.NoError(t, err)
	server.Hurry(hurry)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return server.URL(), "http://" + l.Addr().String()
}

func token(t *testing.T, withToken string) string {
	t.Helper()
	u, err := url.Parse(withToken)
	require.NoError(t, err)
	return u.Query().Get("token")
}

// get asks with headers, given as names and values, and follows no redirect.
func get(t *testing.T, method, address string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// TestWhoIsLetIn checks that access needs the token, the server's own name and its own page.
func TestWhoIsLetIn(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{File: "core.1"}, "127.0.0.1")
	secret := token(t, withToken)
	require.GreaterOrEqual(t, len(secret), 32)
	port := origin[strings.LastIndex(origin, ":")+1:]
	bearer := []string{"Authorization", "Bearer " + secret}
	for _, c := range []struct {
		name    string
		status  int
		headers []string
	}{
		{"no token", http.StatusForbidden, nil},
		{"another token", http.StatusForbidden, []string{"Authorization", "Bearer " + strings.Repeat("A", len(secret))}},
		{"a part of it", http.StatusForbidden, []string{"Authorization", "Bearer " + secret[:10]}},
		{"a header", http.StatusOK, bearer},
		{"a cookie", http.StatusOK, []string{"Cookie", "sosgo-" + port + "=" + secret}},
		{"the cookie of another port", http.StatusForbidden, []string{"Cookie", "sosgo-1=" + secret}},
		{"its own origin", http.StatusOK, append([]string{"Origin", origin}, bearer...)},
		{"another origin", http.StatusForbidden, append([]string{"Origin", "http://evil.example"}, bearer...)},
		{"an origin without name", http.StatusForbidden, append([]string{"Origin", "null"}, bearer...)},
		{"the same host, another port", http.StatusForbidden, append([]string{"Origin", "http://127.0.0.1:1"}, bearer...)},
		{"a page of another site", http.StatusForbidden, append([]string{"Sec-Fetch-Site", "cross-site"}, bearer...)},
		{"a page of the same machine", http.StatusForbidden, append([]string{"Sec-Fetch-Site", "same-site"}, bearer...)},
		{"a name that leads here", http.StatusForbidden, append([]string{"Host", "evil.example:" + port}, bearer...)},
		{"a name without port", http.StatusForbidden, append([]string{"Host", "127.0.0.1"}, bearer...)},
		{"another port", http.StatusForbidden, append([]string{"Host", "127.0.0.1:1"}, bearer...)},
		{"localhost", http.StatusOK, append([]string{"Host", "localhost:" + port}, bearer...)},
	} {
		for _, path := range []string{"/api/version", "/app.js", "/subject.json", "/line?line=x"} {
			resp, body := get(t, http.MethodGet, origin+path, c.headers...)
			assert.Equal(t, c.status, resp.StatusCode, "%s: %s: %s", c.name, path, body)
			if c.status != http.StatusOK {
				assert.NotContains(t, body, secret)
			}
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		resp, _ := get(t, method, origin+"/api/version", bearer...)
		assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, method)
	}
}

// TestFirstRequest checks that the token moves from the address into a cookie hidden from scripts, other sites and
// other ports.
func TestFirstRequest(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{File: "core.1"}, "127.0.0.1")
	resp, _ := get(t, http.MethodGet, withToken)
	assert.Equal(t, http.StatusSeeOther, resp.StatusCode)
	folder := resp.Header.Get("Location")
	assert.Regexp(t, "^/[A-Za-z0-9_-]{12}/$", folder)
	require.Len(t, resp.Cookies(), 1)
	c := resp.Cookies()[0]
	assert.True(t, c.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, c.SameSite)
	assert.Equal(t, folder, c.Path)
	assert.NotContains(t, folder, c.Value)
	assert.Equal(t, "sosgo-"+origin[strings.LastIndex(origin, ":")+1:], c.Name)
	resp, body := get(t, http.MethodGet, origin+folder, "Cookie", c.Name+"="+c.Value)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Contains(t, body, "app.js")
	assert.NotContains(t, body, c.Value)
	for _, path := range []string{"app.js", "app.css", "subject.json", "api/version", "line?line=x"} {
		resp, _ := get(t, http.MethodGet, origin+folder+path, "Cookie", c.Name+"="+c.Value)
		assert.Equal(t, http.StatusOK, resp.StatusCode, path)
		resp, _ = get(t, http.MethodGet, origin+folder+path)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, "the folder is no token")
	}
	resp, _ = get(t, http.MethodGet, origin+"/?token="+c.Value)
	assert.Equal(t, folder, resp.Header.Get("Location"), "who has the token is led to the page")
}

// TestOtherPorts: a browser that has seen the page sends nothing of it to another server of this machine.
func TestOtherPorts(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{File: "core.1"}, "127.0.0.1")
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Cookie"))
	}))
	defer other.Close()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := http.Client{Jar: jar}
	for _, address := range []string{withToken, other.URL, other.URL + "/api/version", other.URL + "/x/y/"} {
		resp, err := browser.Get(address)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		resp.Body.Close()
	}
	assert.Equal(t, []string{"", "", ""}, got)
	resp, err := browser.Get(origin + "/api/version")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusForbidden, resp.StatusCode, "nor to this one beside the page")
}

// TestManyConnections checks that hundreds of idle or refused connections do not lock the owner out.
func TestManyConnections(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{}, "127.0.0.1")
	host := strings.TrimPrefix(origin, "http://")
	atMost := strangers.Come(t, host, "GET /api/version HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
	began := time.Now()
	resp, _ := get(t, http.MethodGet, origin+"/api/version", "Authorization", "Bearer "+token(t, withToken))
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Less(t, time.Since(began), 5*time.Second)
	atMost(64)
}

// TestOwnersStay checks that connections without the token never close a connection with it.
func TestOwnersStay(t *testing.T) {
	hold, asked := make(chan bool), make(chan bool, 1)
	withToken, origin := serve(t, asker{ask: func(_ context.Context, _ []string, _ report.Window, w io.Writer) {
		asked <- true
		<-hold
		fmt.Fprint(w, "late")
	}}, webui.Subject{}, "127.0.0.1")
	answer := make(chan string)
	go func() {
		_, body := get(t, http.MethodGet, origin+"/api/leaks", "Authorization", "Bearer "+token(t, withToken))
		answer <- body
	}()
	<-asked
	for range 200 {
		c, err := net.Dial("tcp", strings.TrimPrefix(origin, "http://"))
		require.NoError(t, err)
		defer c.Close()
	}
	time.Sleep(2 * hurry) // a command may take longer than a client may wait
	close(hold)
	assert.Equal(t, "late", <-answer)
}

// TestIdle: a connection without a request ends.
func TestIdle(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{}, "127.0.0.1")
	host := strings.TrimPrefix(origin, "http://")
	c, err := net.Dial("tcp", host)
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "GET /api/version HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+token(t, withToken)+"\r\n\r\n")
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	text, err := io.ReadAll(c)
	require.NoError(t, err, "the server ends the connection")
	assert.Contains(t, string(text), "200 OK")
}

// TestWhoDoesNotRead: clients that ask and don't read hold their commands for a while, and then others have their turn.
func TestWhoDoesNotRead(t *testing.T) {
	var running atomic.Int32
	withToken, origin := serve(t, asker{ask: func(ctx context.Context, words []string, _ report.Window, w io.Writer) {
		if words[0] == "version" {
			fmt.Fprint(w, "fine")
			return
		}
		running.Add(1)
		defer running.Add(-1)
		for part := make([]byte, 1<<20); ctx.Err() == nil; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}}, webui.Subject{}, "127.0.0.1")
	host := strings.TrimPrefix(origin, "http://")
	for range 4 {
		c, err := net.Dial("tcp", host)
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, "GET /api/leaks HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+token(t, withToken)+"\r\n\r\n")
		require.NoError(t, err)
	}
	assert.Eventually(t, func() bool { return running.Load() == 4 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/api/version", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token(t, withToken))
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "fine", string(body))
}

// TestPolicy: every answer, also a refusal, forbids scripts but the page's own.
func TestPolicy(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{File: "core.1"}, "127.0.0.1")
	for _, path := range []string{"/", "/app.js", "/app.css", "/subject.json", "/api/version", "/nothing", "/line"} {
		for _, headers := range [][]string{nil, {"Authorization", "Bearer " + token(t, withToken)}} {
			resp, _ := get(t, http.MethodGet, origin+path, headers...)
			policy := resp.Header.Get("Content-Security-Policy")
			assert.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'")
			for _, no := range []string{"unsafe", "http:", "https:", "*"} {
				assert.NotContains(t, policy, no)
			}
			assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
			assert.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
			assert.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"))
			assert.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"))
		}
	}
}

// TestQuestions checks that a request's words are a command line, and that a request can select a part of lists.
func TestQuestions(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{File: "core.1"}, "127.0.0.1")
	bearer := []string{"Authorization", "Bearer " + token(t, withToken)}
	for query, want := range map[string]string{
		"dumpheap?a=-stat": `"words":"dumpheap|-stat","part":"{From:0 Count:1000 Last:false List:}"`,
		"query?a=from+objects+|+top+3&from=7&count=2": `"words":"query|from objects | top 3","part":"{From:7 Count:2 Last:false List:}"`,
		"dumpheap?last&list=statistics":               `"part":"{From:0 Count:1000 Last:true List:statistics}"`,
	} {
		_, body := get(t, http.MethodGet, origin+"/api/"+query, bearer...)
		assert.Contains(t, body, want)
	}
	for _, query := range []string{"count=-1", "count=100001", "count=x", "from=-5", "from=99999999999999999999"} {
		resp, _ := get(t, http.MethodGet, origin+"/api/dumpheap?"+query, bearer...)
		assert.Equal(t, http.StatusBadRequest, resp.StatusCode, query)
	}
	_, body := get(t, http.MethodGet, origin+"/line?line=clrthreads+|+head", bearer...)
	assert.Equal(t, "ran clrthreads | head\n", body)
	resp, _ := get(t, http.MethodGet, origin+"/api/", bearer...)
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
	resp, body = get(t, http.MethodGet, origin+"/subject.json", bearer...)
	assert.JSONEq(t, `{"file":"core.1"}`, body)
	assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
}

// TestCancel checks that a command ends when its client has gone, even while it waits for its turn.
func TestCancel(t *testing.T) {
	var running atomic.Int32
	ended := make(chan error, 32)
	withToken, origin := serve(t, asker{ask: func(ctx context.Context, _ []string, _ report.Window, w io.Writer) {
		running.Add(1)
		_, _ = io.WriteString(w, strings.Repeat(" ", 8<<10))
		w.(http.Flusher).Flush()
		<-ctx.Done()
		ended <- context.Cause(ctx)
	}}, webui.Subject{}, "127.0.0.1")
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 6 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/api/leaks", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token(t, withToken))
		began := make(chan struct{})
		go func() {
			resp, err := http.DefaultClient.Do(r)
			if err == nil {
				_, _ = bufio.NewReader(resp.Body).ReadByte()
				close(began)
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
		if i < 4 {
			<-began
		}
	}
	cancel()
	for range 4 {
		select {
		case err := <-ended:
			require.ErrorIs(t, err, context.Canceled)
		case <-time.After(10 * time.Second):
			t.Fatal("a command goes on for nobody")
		}
	}
	assert.EqualValues(t, 4, running.Load(), "who has gone before his turn is not answered")
}

// TestMarkup: the name of a dump that is markup is text on the page.
func TestMarkup(t *testing.T) {
	name := `"><script>alert(1)</script>` + "\u202egnp"
	withToken, origin := serve(t, echo, webui.Subject{File: name}, "127.0.0.1")
	_, body := get(t, http.MethodGet, origin+"/", "Authorization", "Bearer "+token(t, withToken))
	assert.NotContains(t, body, "<script>alert")
	assert.NotContains(t, body, "\u202e")
	assert.Contains(t, body, "&lt;script&gt;alert(1)")
}

// TestListenedName: a server that listens by a name may be called by it.
func TestListenedName(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{}, "build-7.example")
	port := origin[strings.LastIndex(origin, ":")+1:]
	assert.Contains(t, withToken, "http://build-7.example:"+port)
	headers := []string{"Authorization", "Bearer " + token(t, withToken)}
	resp, _ := get(t, http.MethodGet, origin+"/app.js", append(headers, "Host", "build-7.example:"+port)...)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	resp, _ = get(t, http.MethodGet, origin+"/app.js", append(headers, "Host", "other.example:"+port)...)
	assert.Equal(t, http.StatusForbidden, resp.StatusCode)
}

func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	s, err := webui.NewServer(echo, webui.Subject{File: "core.1"}, l, "127.0.0.1")
	if err != nil {
		panic(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, s.URL(), nil)
	s.ServeHTTP(w, r)
	fmt.Println(w.Code, strings.Contains(s.URL(), w.Header().Get("Location")+"?token="))
	// Output: 303 true
}

var errDisk = errors.New("the disk is full")

// brokenWriter takes nothing.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errDisk }
