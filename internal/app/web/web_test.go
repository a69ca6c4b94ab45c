package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A pendingFact is a request that the program reports as unanswered.
type pendingFact struct{ Method, Path, Query, Correlation, Parked string }

func open(t testing.TB, d *sosgo.Dump) (*sosgo.View, *web.Reader, *heap.Heap) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	r, err := web.Of(v.Process)
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	return v, r, h
}

func requests(t testing.TB, d *sosgo.Dump, o web.RequestOptions) *answer.Requests {
	t.Helper()
	v, r, h := open(t, d)
	out, err := r.Requests(context.Background(), v.Process, h, o)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	return out
}

// fact returns a fact of a manifest.
func fact[T any](t testing.TB, d *testdump.Dump, name string) T {
	t.Helper()
	var v T
	require.Contains(t, d.Manifest.Facts, name)
	require.NoError(t, json.Unmarshal(d.Manifest.Facts[name], &v))
	return v
}

// TestPendingRequests finds every request that the program reports as unanswered, with the code that works on it.
func TestPendingRequests(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		facts := fact[[]pendingFact](t, d, "pending")
		all := requests(t, d.Dump, web.RequestOptions{Headers: true, Scopes: true})
		assert.Len(t, all.Requests, len(facts), "no other request")
		require.NotNil(t, all.Now, "the heartbeat tells the time")
		for _, f := range facts {
			r := find(t, all, f.Path)
			assert.Equal(t, f.Method, r.Method.S)
			assert.Equal(t, f.Query, r.Query.S, f.Path)
			assert.Equal(t, "http", r.Scheme.S)
			assert.Equal(t, "127.0.0.1:5080", r.Host.S)
			assert.Equal(t, "Kestrel", r.Server)
			assert.Equal(t, "HTTP/1.1", r.Protocol.S)
			assert.Equal(t, f.Correlation, header(r, "X-Correlation-Id").Value.S, f.Path)
			assert.Equal(t, strings.HasPrefix(f.Parked, "WebSocket"), r.Upgraded, f.Path)
			assert.NotEmpty(t, r.Age, f.Path)
			require.NotNil(t, r.Trace, f.Path)
			assert.Len(t, r.Trace.Trace.S, 32)
			assert.True(t, strings.HasPrefix(r.ID.S, r.Conn.S+":"), "id %s, connection %s", r.ID, r.Conn)
			scopes := strings.Join(r.Scopes, "\n")
			assert.Contains(t, scopes, "connectionId="+r.Conn.S, f.Path)
			assert.Contains(t, scopes, "traceIdentifier="+r.ID.S, f.Path)
			parked(t, r, f.Parked)
		}
		route := find(t, all, "/orders/17")
		assert.Equal(t, "/orders/{id:int}", route.Route.S)
		return len(facts)
	})
}

// parked compares the thread or code that works on a request with the program's words: "thread blocked in X on …", or
// "async A > B > C, …".
func parked(t *testing.T, r *answer.Request, words string) {
	t.Helper()
	if rest, ok := strings.CutPrefix(words, "thread blocked in "); ok {
		method, _, _ := strings.Cut(rest, " ")
		require.Len(t, r.Threads, 1, words)
		assert.Contains(t, r.Threads[0].Method.S, method)
		assert.Nil(t, r.Stack)
		return
	}
	assert.Empty(t, r.Threads, words)
	require.NotNil(t, r.Stack, words)
	_, chain, ok := strings.Cut(words, "async ")
	require.True(t, ok, words)
	chain, _, _ = strings.Cut(chain, ",")
	var methods []string
	for i := len(r.Stack.Frames) - 1; i >= 0; i-- { // the program lists the outermost first
		if p := &r.Stack.Frames[i].AsyncPlace; !p.Method.IsZero() {
			methods = append(methods, p.Method.S)
		}
	}
	at := 0
	for want := range strings.SplitSeq(chain, " > ") {
		if strings.HasPrefix(want, "Gates.") || strings.HasPrefix(want, "SemaphoreSlim") || strings.HasPrefix(want, "WebSocket.") {
			break // what is awaited
		}
		for at < len(methods) && !strings.HasSuffix(methods[at], want) {
			at++
		}
		require.Less(t, at, len(methods), "%s of %q is not in %v", want, words, methods)
	}
}

func find(t testing.TB, all *answer.Requests, path string) *answer.Request {
	t.Helper()
	for i := range all.Requests {
		if all.Requests[i].Path.S == path {
			return &all.Requests[i]
		}
	}
	require.Fail(t, "no request for "+path)
	return nil
}

func header(r *answer.Request, name string) answer.Header {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			return h
		}
	}
	return answer.Header{}
}

// TestChosenRequests selects requests by URL, header and thread.
func TestChosenRequests(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		one := requests(t, d.Dump, web.RequestOptions{RequestFilter: web.RequestFilter{URL: "/ORDERS/17?"}})
		require.Len(t, one.Requests, 1)
		assert.Equal(t, "/orders/17", one.Requests[0].Path.S)
		assert.Nil(t, one.Requests[0].Headers)
		id := one.Requests[0].Threads[0].ManagedID
		for _, o := range []web.RequestFilter{{Header: "x-correlation-id: corr-0004"}, {Thread: id}, {Thread: one.Requests[0].Threads[0].OSID}} {
			got := requests(t, d.Dump, web.RequestOptions{RequestFilter: o})
			require.Len(t, got.Requests, 1, "%+v", o)
			assert.Equal(t, "/orders/17", got.Requests[0].Path.S)
		}
		assert.Len(t, requests(t, d.Dump, web.RequestOptions{RequestFilter: web.RequestFilter{Header: "X-Correlation-Id"}}).Requests, 6)
		none := requests(t, d.Dump, web.RequestOptions{RequestFilter: web.RequestFilter{User: "nobody"}})
		assert.Empty(t, none.Requests)
		assert.Equal(t, len(requests(t, d.Dump, web.RequestOptions{}).Requests), none.Others)
		return 5
	})
}

// TestSecretHeaders checks that a header with a secret's name is masked unless it is requested.
func TestSecretHeaders(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, _, _ := open(t, d.Dump)
		r := find(t, requests(t, d.Dump, web.RequestOptions{}), "/orders/17")
		reader, err := v.Objects()
		require.NoError(t, err)
		kestrel, err := reader.Object(r.Object)
		require.NoError(t, err)
		headers, err := kestrel.Field("<HttpRequestHeaders>k__BackingField").Object()
		require.NoError(t, err)
		unknown, err := headers.Field("MaybeUnknown").Object()
		require.NoError(t, err)
		b, err := v.Shapes()
		require.NoError(t, err)
		c, err := objects.NewCollections(b).Of(unknown)
		require.NoError(t, err)
		var key target.Addr
		for item, err := range c.Items() {
			require.NoError(t, err)
			key, err = item.Key.Addr()
			require.NoError(t, err)
		}
		const name = "X-Secret-Token-1"
		bytes := []byte{}
		for _, u := range utf16.Encode([]rune(name)) {
			bytes = append(bytes, byte(u), byte(u>>8))
		}
		patched := overlaid(t, d, testdump.Damage{At: key + 12, Bytes: bytes})
		masked := header(find(t, requests(t, patched, web.RequestOptions{Headers: true}), "/orders/17"), name)
		assert.True(t, masked.Masked)
		assert.Equal(t, "***", masked.Value.S)
		text, err := json.Marshal(masked)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "corr-0004")
		plain := header(find(t, requests(t, patched, web.RequestOptions{RequestFilter: web.RequestFilter{Secrets: true}, Headers: true}), "/orders/17"), name)
		assert.False(t, plain.Masked)
		assert.Equal(t, "corr-0004", plain.Value.S)
		return 2
	})
}

// overlaid returns the dump with other bytes at some addresses.
func overlaid(t *testing.T, d *testdump.Dump, damage testdump.Damage) *sosgo.Dump {
	t.Helper()
	out, _ := testdump.OverlaidFile(t, d.Plain(), sosgo.Options{}, damage)
	return out
}

// TestMessages finds the requests that the program sent, answered and not.
func TestMessages(t *testing.T) {
	type completedFact struct {
		Method, Target string
		Status         int64
	}
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		_, r, h := open(t, d.Dump)
		all, err := r.Messages(context.Background(), h, web.MessageOptions{})
		require.NoError(t, err)
		assert.Empty(t, all.Noted())
		uris := map[string]answer.Message{}
		for _, m := range all.Requests {
			u, err := url.Parse(m.URI.S)
			require.NoError(t, err)
			uris[u.RequestURI()] = m
		}
		completed, pending := fact[[]completedFact](t, d, "completed"), fact[[]pendingFact](t, d, "pending")
		assert.Len(t, uris, len(completed)+len(pending))
		for _, f := range completed {
			m := uris[f.Target]
			require.NotNil(t, m.Status, f.Target)
			assert.Equal(t, f.Status, *m.Status)
			assert.Equal(t, f.Method, m.Method.S)
		}
		for _, f := range pending {
			m := uris[f.Path+f.Query]
			assert.Equal(t, f.Method, m.Method.S)
			assert.Equal(t, f.Path == "/feed", m.Status != nil, "the head of that answer has come")
		}
		failed := int64(500)
		some, err := r.Messages(context.Background(), h, web.MessageOptions{Status: &failed, Completed: true, URI: "BOOM"})
		require.NoError(t, err)
		assert.Len(t, some.Requests, 1)
		counts, err := r.Messages(context.Background(), h, web.MessageOptions{Count: true, Pending: true})
		require.NoError(t, err)
		assert.Equal(t, []answer.MessageCount{{Count: 5, Method: "GET", Host: "127.0.0.1"}, {Count: 1, Method: "POST", Host: "127.0.0.1"}}, counts.Counts)
		return len(uris)
	})
}

// TestClients checks that each unanswered request is on a connection.
func TestClients(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		_, r, h := open(t, d.Dump)
		out, err := r.Clients(context.Background(), h, web.ClientOptions{})
		require.NoError(t, err)
		assert.Empty(t, out.Noted())
		assert.Equal(t, 1, out.Clients)
		var paths []string
		for _, p := range out.Pools {
			assert.Equal(t, "127.0.0.1", p.Host.S)
			assert.Equal(t, int64(5080), p.Port.Value)
			assert.Empty(t, p.Waiting)
			for _, w := range p.Running {
				u, err := url.Parse(w.URI.S)
				require.NoError(t, err)
				paths = append(paths, u.RequestURI())
			}
		}
		var want []string
		for _, f := range fact[[]pendingFact](t, d, "pending") {
			want = append(want, f.Path+f.Query)
		}
		assert.ElementsMatch(t, want, paths)
		return len(paths)
	})
}

// TestOwnHandler checks that a handler of the program's own class is named, and that nothing counts as missing for it. The test gives the client
// an object of another class as its handler.
func TestOwnHandler(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	_, r, h := open(t, d.Dump)
	before, err := r.Clients(t.Context(), h, web.ClientOptions{})
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	objects, err := v.Objects()
	require.NoError(t, err)
	client, err := objects.Object(before.List[0].Address)
	require.NoError(t, err)
	uri, err := client.Field("_baseAddress").Addr()
	require.NoError(t, err)
	bad := d.Damaged(t, testdump.Words(client.Field("_handler").Location(), uint64(uri)))
	defer bad.Close()
	_, r, h = open(t, bad)
	out, err := r.Clients(t.Context(), h, web.ClientOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	assert.Equal(t, "System.Uri", out.List[0].Own.S)
	assert.NoError(t, out.List[0].Handler.Err())
	assert.Zero(t, out.List[0].Handler.Value)
}

// TestNoRequests reads a process without a web server, and checks that cancellation ends the query.
func TestNoRequests(t *testing.T) {
	d := testdump.Open(t, "net10-zoo").Dump
	v, r, h := open(t, d)
	out, err := r.Requests(context.Background(), v.Process, h, web.RequestOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Requests)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = r.Requests(ctx, v.Process, h, web.RequestOptions{})
	assert.True(t, errors.Is(err, context.Canceled), "%v", err)
}

// TestWebSockets finds both ends of a WebSocket: the server's, read by a handler of the program, and the client's.
func TestWebSockets(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		chat := ""
		for _, f := range fact[[]pendingFact](t, d, "pending") {
			if strings.HasPrefix(f.Parked, "WebSocket") {
				chat = f.Parked
			}
		}
		if chat == "" {
			return 0
		}
		_, r, h := open(t, d.Dump)
		out, err := r.WebSockets(t.Context(), h, heap.ScanOptions{})
		require.NoError(t, err)
		for _, err := range out.Noted() { // the class is not in the canned slice
			assert.ErrorIs(t, err, target.ErrNotInDump)
		}
		if len(out.Noted()) > 0 {
			assert.Empty(t, out.Sockets)
			return 1
		}
		require.Len(t, out.Sockets, 2, chat)
		sides := map[bool]*answer.WebSocket{}
		for i := range out.Sockets {
			s := &out.Sockets[i]
			require.NoError(t, s.Server.Err())
			sides[s.Server.Value] = s
			assert.Equal(t, "Open", s.State.S)
			assert.False(t, s.Disposed.Value || s.SentClose.Value || s.ReceivedClose.Value)
			assert.True(t, s.CloseStatus.IsZero())
		}
		require.Len(t, sides, 2, "a server's and a client's")
		require.NotNil(t, sides[true].Stack, chat)
		methods := ""
		for _, f := range sides[true].Stack.Frames {
			if !f.Name.IsZero() {
				methods += f.Name.String() + "\n"
			}
		}
		assert.Contains(t, methods, "Chat")
		assert.Contains(t, methods, "ReceiveAsync")
		return 2
	})
}

// TestMissingParts repeats each query, each time without one of the pieces of memory that its answer was read from.
func TestMissingParts(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	for name, ask := range map[string]func(v *sosgo.View) (any, []error, error){
		"requests": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.Requests(t.Context(), v.Process, web.RequestOptions{Headers: true, Brief: true}))
		},
		"messages": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.Messages(t.Context(), v.Process, web.MessageOptions{}))
		},
		"clients": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.HTTPClients(t.Context(), v.Process, web.ClientOptions{Brief: true}))
		},
		"WebSockets": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.Sockets(t.Context(), v.Process))
		},
	} {
		t.Run(name, func(t *testing.T) { d.Sweep(t, 200, false, ask) })
	}
	for name, ask := range map[string]func(v *sosgo.View) (any, []error, error){
		"gRPC": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.GRPCCalls(t.Context(), v.Process))
		},
		"servers of .NET 6": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.Requests(t.Context(), v.Process, web.RequestOptions{}))
		},
		"queues of .NET 6": func(v *sosgo.View) (any, []error, error) {
			return testdump.Asked(web.HTTPClients(t.Context(), v.Process, web.ClientOptions{Brief: true}))
		},
	} {
		t.Run(name, func(t *testing.T) { testdump.SweepLibraries(t, 400, false, ask) })
		if name != "queues of .NET 6" { // the dump's sample of places has no type that this query reads
			t.Run(name+" of types", func(t *testing.T) { testdump.SweepLibraries(t, 60, true, ask) })
		}
	}
}

// TestCanceled checks that a canceled context ends each query with its error.
func TestCanceled(t *testing.T) {
	v, err := testdump.OpenWeb(t, "web-net10").View("")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"requests":   func() error { _, err := web.Requests(ctx, v.Process, web.RequestOptions{}); return err },
		"messages":   func() error { _, err := web.Messages(ctx, v.Process, web.MessageOptions{}); return err },
		"clients":    func() error { _, err := web.HTTPClients(ctx, v.Process, web.ClientOptions{}); return err },
		"WebSockets": func() error { _, err := web.Sockets(ctx, v.Process); return err },
		"gRPC":       func() error { _, err := web.GRPCCalls(ctx, v.Process); return err },
	} {
		assert.ErrorIs(t, ask(), context.Canceled, name)
	}
}

// TestClientCode compares the clients, the code that awaits each request, and its age with the program.
func TestClientCode(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := web.HTTPClients(t.Context(), v.Process, web.ClientOptions{})
		require.NoError(t, err)
		require.Len(t, out.List, 1)
		c := out.List[0]
		assert.Equal(t, "WebDebuggee.Client.Http", c.Name)
		assert.Equal(t, "http://127.0.0.1:5080", c.Base.S)
		assert.Equal(t, answer.Known[int64](4*60*60*1000), c.Timeout)
		assert.True(t, c.Used.Value)
		assert.False(t, c.Disposed.Value)
		assert.False(t, c.Factory)
		assert.NotZero(t, c.Handler.Value)
		assert.Empty(t, out.Verdicts, "one client is no finding")
		who := map[string]string{}
		for _, p := range out.Pools {
			for _, w := range p.Running {
				u, err := url.Parse(w.URI.S)
				require.NoError(t, err)
				require.NotNil(t, w.Stack, w.URI.S)
				who[u.Path] = string(w.Stack.Remote) + " " + w.Stack.Frames[len(w.Stack.Frames)-1].Method.S
				if w.Age.Err() == nil {
					assert.Less(t, w.Age.Value, int64(60_000), "%s: the program sent it within the last minute", w.URI)
					assert.Equal(t, answer.Known[int64](4*60*60*1000), w.Timeout)
				}
				assert.Equal(t, w.Age.Err() == nil, u.Path != "/feed" && u.Path != "/chat", "%s: its response has begun", u.Path)
			}
		}
		const core = " System.Net.Http.HttpClient.<SendAsync>g__Core|83_0"
		assert.Equal(t, map[string]string{"/orders/17": "server" + core, "/reports/monthly": "server" + core, "/stock/AB-12": "server" + core, "/audit/login": "server" + core,
			"/feed": "server WebDebuggee.Client.ReadFeed", "/upload": core, "/chat": " WebDebuggee.Client.Chat"}, who)
		return len(who)
	})
}

// TestAgesWithoutTimers removes the timers of HttpClient's timeouts: the age of a request is then the age of its connection, if that was opened for it and has
// received nothing. Some connections get a buffer of zeros, and one a buffer with bytes. The connection of the first request was used before.
func TestAgesWithoutTimers(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, _, h := open(t, d.Dump)
		o, err := v.Objects()
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		var damage []testcase.Damage
		var zeros, bytes target.Addr
		for x, err := range h.Objects() {
			require.NoError(t, err)
			name, err := rt.TypeName(x.Type.Addr, dac.NameManaged)
			require.NoError(t, err)
			switch {
			case strings.HasPrefix(name, "System.Threading.CancellationTokenSource"):
				source, err := o.Object(x.Addr)
				require.NoError(t, err)
				if f := source.Field("_timer"); f.Err() == nil {
					damage = append(damage, testdump.Words(f.Location(), 0))
				}
			case name == "System.Byte[]":
				array, err := o.Object(x.Addr)
				require.NoError(t, err)
				a, err := array.Array()
				require.NoError(t, err)
				if first, err := a.At(0).Uint(); a.Len > 0 && err == nil && first == 0 {
					zeros = x.Addr
				} else if a.Len > 0 && err == nil {
					bytes = x.Addr
				}
			}
		}
		require.NotZero(t, zeros)
		require.NotZero(t, bytes)
		running := func(d *sosgo.Dump) map[string]answer.HTTPWait {
			v, err := d.View("")
			require.NoError(t, err)
			out, err := web.HTTPClients(t.Context(), v.Process, web.ClientOptions{Unnamed: true})
			require.NoError(t, err)
			waits := map[string]answer.HTTPWait{}
			for _, p := range out.Pools {
				for _, w := range p.Running {
					u, err := url.Parse(w.URI.S)
					require.NoError(t, err)
					waits[u.Path] = w
				}
			}
			return waits
		}
		timed := running(d.Dump)
		for path, buffer := range map[string]target.Addr{"/orders/17": zeros, "/reports/monthly": zeros, "/stock/AB-12": zeros, "/audit/login": bytes} {
			c, err := o.Object(timed[path].Connection)
			require.NoError(t, err)
			b, err := c.Field("_readBuffer").Struct()
			require.NoError(t, err)
			f := b.Field("_bytes")
			if errors.Is(f.Err(), target.ErrNotInDump) { // the canned dump does not have the type: only the corpus' one is examined
				return len(timed)
			}
			require.NoError(t, f.Err())
			damage = append(damage, testdump.Words(f.Location(), uint64(buffer)))
		}
		without := running(d.Damaged(t, damage...))
		for path, mute := range map[string]bool{"/orders/17": false, "/reports/monthly": true, "/stock/AB-12": true, "/audit/login": false, "/feed": false, "/chat": false} {
			age := without[path].Age
			require.Equal(t, mute, age.Err() == nil, path)
			if before := timed[path].Age; mute {
				assert.LessOrEqual(t, age.Value, before.Value, "%s: the connection was opened for it", path)
				assert.Greater(t, age.Value, before.Value-1000, path)
			}
		}
		return len(without)
	})
}

// TestAgesWithoutActivities removes the activities of requests, which a host without logs and listeners does not make, and writes when they came in
// as a host that measures them does: the ages are then those by the clock of Kestrel's heartbeat.
func TestAgesWithoutActivities(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		const age = 90 * time.Second
		v, r, h := open(t, d.Dump)
		o, err := v.Objects()
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		var hosts []target.Addr
		beat := int64(0)
		for x, err := range h.Objects() {
			require.NoError(t, err)
			name, err := rt.TypeName(x.Type.Addr, dac.NameManaged)
			require.NoError(t, err)
			switch name {
			case "Microsoft.AspNetCore.Hosting.HostingApplication+Context":
				hosts = append(hosts, x.Addr)
			case "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.TimeoutControl":
				control, err := o.Object(x.Addr)
				require.NoError(t, err)
				last, err := control.Field("_lastTimestamp").Int()
				require.NoError(t, err)
				beat = max(beat, last)
			}
		}
		all := requests(t, d.Dump, web.RequestOptions{})
		var damage []testcase.Damage
		write := func(a target.Addr, field string, value int64) {
			x, err := o.Object(a)
			require.NoError(t, err)
			f := x.Field(field)
			require.NoError(t, f.Err())
			damage = append(damage, testdump.Words(f.Location(), uint64(value)))
		}
		for _, a := range hosts {
			write(a, "HttpActivityFeature", 0)
			write(a, "<StartTimestamp>k__BackingField", beat-int64(age))
		}
		for i := range all.Requests {
			write(all.Requests[i].Object, "_currentIHttpActivityFeature", 0)
		}
		n := 0
		without := requests(t, d.Damaged(t, damage...), web.RequestOptions{})
		for i := range without.Requests {
			if q := &without.Requests[i]; q.Context != 0 {
				n++
				assert.Nil(t, q.Trace)
				assert.Equal(t, age.String(), q.Age)
			}
		}
		clients, err := r.Clients(t.Context(), h, web.ClientOptions{Unnamed: true, Clock: ticks.Moment{Ticks: answer.Known[int64](1), Same: true}})
		require.NoError(t, err)
		assert.True(t, clients.Fresh)
		assert.Equal(t, beat/int64(time.Millisecond), clients.Clock.Value)
		return n
	})
}
