package triage

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

var servedAt = time.Date(2026, 1, 2, 3, 4, 30, 0, time.UTC)

// serve returns n requests of a route that came in a time before the dump, and wait in a method.
func serve(n int, route string, age time.Duration, w answer.AsyncWork, box target.Addr) (out []answer.Request) {
	w.Frames = []answer.AsyncFrame{{Object: box, AsyncPlace: answer.AsyncPlace{Method: answer.Text{S: "Shop.Prices.GetAsync"}}},
		{AsyncPlace: answer.AsyncPlace{Method: answer.Text{S: "Shop.Page.Show"}}}}
	for range n {
		r := answer.Request{Context: 0x10, Server: "Kestrel", State: "in the application", Method: answer.Text{S: "GET"}, Route: answer.Text{S: route}, Stack: &w}
		if age > 0 {
			since := servedAt.Add(-age)
			r.Started = &since
		}
		out = append(out, r)
	}
	return out
}

// TestServed checks that requests of the process that wait long for other servers are a finding, by way of any client library.
func TestServed(t *testing.T) {
	socket, remote := answer.AsyncWork{Why: words.OfASocket.Of()}, answer.AsyncWork{Remote: answer.WaitServer, Why: words.ServersAnswer.Of(answer.Statement{}, answer.Statement{})}
	promise := answer.AsyncWork{Why: words.APromise.Of()}
	begun := serve(30, "/feed", time.Minute, socket, 1)
	for i := range begun {
		begun[i].Begun = true
	}
	httpSys := serve(30, "/feed", time.Minute, socket, 1) // it may be a feed of events
	for i := range httpSys {
		httpSys[i].Server = "HTTP.sys"
	}
	unread := serve(30, "/feed", time.Minute, socket, 1) // nobody knows whether their responses have begun
	for i := range unread {
		unread[i].State = ""
	}
	for name, c := range map[string]struct {
		list []answer.Request
		says string
	}{
		"unread":   {unread, ""},
		"HTTP.sys": {httpSys, ""},
		"sockets": {append(serve(30, "/a", 9*time.Second, socket, 1), serve(3, "/b", 12*time.Second, socket, 1)...),
			"33 of 33 requests that the process serves, the oldest for at least 12 s, wait for an operation of a socket: 30 × GET /a, 3 × GET /b"},
		"answers": {append(serve(5, "/a", 9*time.Second, remote, 1), append(serve(5, "/b", time.Second, remote, 1), begun...)...),
			"5 of 10 requests that the process serves, the oldest for at least 9 s, wait for the server's answer: 5 × GET /a"},
		"few":     {serve(4, "/a", time.Minute, remote, 1), ""},
		"young":   {serve(400, "/a", 4*time.Second, remote, 1), ""},
		"others":  {append(serve(5, "/a", 9*time.Second, remote, 1), serve(6, "/b", time.Second, promise, 1)...), ""},
		"no time": {serve(30, "/a", 0, remote, 1), ""},
		"inside":  {serve(30, "/a", time.Minute, promise, 1), ""},
		"begun":   {begun, ""},
	} {
		q := healthy()
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: c.list}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		if c.says == "" {
			assert.Empty(t, out.Findings, name)
			continue
		}
		require.Len(t, out.Findings, 1, name)
		f := &out.Findings[0]
		assert.Equal(t, answer.FindingDependency, f.Kind)
		assert.Equal(t, f.Count < manyAnswers, f.Severity == answer.SeverityWarning, name)
		assert.Equal(t, f.Count < manyAnswers, f.Strength == answer.StrengthPossible, name)
		assert.Equal(t, c.says, f.Text)
		assert.Equal(t, []answer.Site{{Method: answer.Text{S: "Shop.Page.Show"}, Does: f.Clauses[0].Sites[0].Does, Count: f.Count}}, f.Clauses[0].Sites)
		assert.Contains(t, f.Clauses[1].Text, "calls wait in Shop.Prices.GetAsync")
	}
}

// TestRequestsThatMayBeSlow: a request of unknown age is a gap if it may wait for a server.
func TestRequestsThatMayBeSlow(t *testing.T) {
	socket, promise := answer.AsyncWork{Why: words.OfASocket.Of()}, answer.AsyncWork{Why: words.APromise.Of()}
	lost := serve(6, "/a", 0, promise, 1)
	old := serve(6, "/a", time.Minute, promise, 1)
	for i := range lost {
		lost[i].Stack, old[i].Stack = nil, nil
	}
	for name, c := range map[string]struct {
		list    []answer.Request
		unknown bool
	}{
		"waits for a socket, of unknown age": {serve(6, "/a", 0, socket, 1), true},
		"waits within the process":           {serve(6, "/a", 0, promise, 1), false},
		"nobody knows what it waits for":     {lost, true},
		"old":                                {old, true},
		"young":                              {serve(6, "/a", time.Second, socket, 1), false},
	} {
		q := healthy()
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: c.list}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.unknown, len(out.Unknown) == 1, name)
	}
}

// TestVictims checks that a finding names the requests that wait because of it: by its threads, by the boxes of a pool's waits, and by methods
// that wait for one thing alone.
func TestVictims(t *testing.T) {
	const who = "; 6 of 7 requests that the process serves wait for it, the oldest for at least 9 s: 6 × GET /a"
	remote := answer.AsyncWork{Remote: answer.WaitServer, Why: words.ServersAnswer.Of(answer.Statement{}, answer.Statement{})}
	inside := answer.AsyncWork{Why: words.ASemaphore.Of()}
	judge := func(q *Answers, list []answer.Request) answer.Finding {
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: append(list, answer.Request{Context: 0x20, Server: "Kestrel", State: "in the application"})}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 1)
		return out.Findings[0]
	}
	permits := func(method string) answer.Verdict {
		v := answer.Conclude(answer.FindingPermits, words.Text("no seats"), answer.StrengthProved)
		v.Sites = []answer.Site{{Method: answer.Text{S: method}, Does: string(answer.LockSemaphore), Count: 6}}
		return v
	}
	waits := func(v answer.Verdict, things ...target.Addr) *answer.Waits {
		w := &answer.Waits{Verdicts: []answer.Verdict{v}}
		for _, a := range things {
			w.Operations = append(w.Operations, answer.OperationWait{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Kind: answer.LockSemaphore, Object: a})
		}
		return w
	}

	q := healthy()
	wait := answer.HTTPWait{Age: answer.Known[int64](9000), Stack: &answer.AsyncWork{Remote: answer.WaitServer, Frames: []answer.AsyncFrame{{Object: 0x77}}}}
	q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{{Address: 0x99, Host: answer.Text{S: "api"}, Port: answer.Known[int64](80),
		Running: []answer.HTTPWait{wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, wait}}}}, nil)
	f := judge(q, serve(6, "/a", 9*time.Second, remote, 0x77))
	assert.Equal(t, "20 of 20 requests to api:80 wait for its answer, the oldest for at least 9 s"+who, f.Text, "and the requests are no finding of their own")

	q = healthy()
	q.Waits = Got(waits(permits("Shop.Prices.GetAsync"), 0x55), nil)
	f = judge(q, serve(6, "/a", 9*time.Second, inside, 1))
	assert.Equal(t, "no seats", f.Text)
	assert.Equal(t, answer.StrengthProved, f.Strength)
	assert.Equal(t, who[2:], f.Clauses[1].Text)
	assert.Equal(t, answer.StrengthLikely, f.Clauses[1].Strength)

	q.Waits = Got(waits(permits("Shop.Prices.GetAsync"), 0x55, 0x56), nil)
	assert.Len(t, judge(q, serve(6, "/a", 9*time.Second, inside, 1)).Clauses, 1, "the method waits for two things")
	q.Waits = Got(waits(permits("Shop.Prices.GetAsync"), 0), nil)
	assert.Len(t, judge(q, serve(6, "/a", 9*time.Second, inside, 1)).Clauses, 1, "what it waits for is unknown")
	q.Waits = Got(waits(permits("Shop.Stock.CountAsync"), 0x55), nil)
	assert.Len(t, judge(q, serve(6, "/a", 9*time.Second, inside, 1)).Clauses, 1, "another method")

	held := answer.Conclude(answer.FindingHeld, words.Text("held"), answer.StrengthProved)
	held.Count, held.Sites = 6, []answer.Site{{Thread: 42}}
	q.Waits = Got(waits(held), nil)
	list := serve(6, "/a", 9*time.Second, inside, 1)
	for i := range list {
		list[i].Stack, list[i].Threads = nil, []answer.Worker{{Thread: answer.Thread{OSID: 42}}}
	}
	assert.Equal(t, "held"+who, judge(q, list).Text)
}

// TestBehindSilentDependency checks that requests which wait for a semaphore behind a few others that a server does not answer are one finding with
// them, named by the server, before the missing permits. If the holders are young, the server answers, and it is the permits that are short.
func TestBehindSilentDependency(t *testing.T) {
	socket, inside := answer.AsyncWork{Why: words.DataFrom.Of(words.Text("10.0.0.7:6379"))}, answer.AsyncWork{Why: words.ASemaphore.Of()}
	holder := answer.OperationHolder{Object: 0x77, Method: answer.Text{S: "Shop.Prices.GetAsync"}, Strength: answer.StrengthLikely}
	possible, other := holder, holder
	possible.Strength, other.Object = answer.StrengthPossible, 0x78
	for name, c := range map[string]struct {
		holders []answer.OperationHolder
		age     time.Duration // of the holder
		many    int           // requests behind it
		says    string
	}{
		"silent": {[]answer.OperationHolder{holder}, 9 * time.Second, 30, "1 of 31 requests that the process serves, the oldest for at least 9 s, waits for data from 10.0.0.7:6379: 1 × GET /a; " +
			"30 more wait for Shop.seats (SemaphoreSlim) behind it"},
		"few":                  {[]answer.OperationHolder{holder}, 9 * time.Second, 3, ""},
		"young":                {[]answer.OperationHolder{holder}, 4 * time.Second, 30, ""},
		"another may give":     {[]answer.OperationHolder{holder, other}, 9 * time.Second, 30, ""},
		"may have given":       {[]answer.OperationHolder{possible}, 9 * time.Second, 30, ""},
		"nobody knows holders": {nil, 9 * time.Second, 30, ""},
	} {
		v := answer.Conclude(answer.FindingPermits, words.Text("no seats"), answer.StrengthRecorded)
		v.Sites = []answer.Site{{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Does: string(answer.LockSemaphore), Count: c.many}}
		q := healthy()
		q.Waits = Got(&answer.Waits{Verdicts: []answer.Verdict{v}, Operations: []answer.OperationWait{
			{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Kind: answer.LockSemaphore, Object: 0x55, Name: "Shop.seats", Count: c.many, Holders: c.holders},
			{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Kind: answer.WaitStream, Count: 1}, // the holder waits in the same method
		}}, nil)
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: append(serve(1, "/a", c.age, socket, 0x77), serve(c.many, "/b", 12*time.Second, inside, 1)...)}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		permits := &out.Findings[len(out.Findings)-1]
		assert.Equal(t, answer.FindingPermits, permits.Kind, name)
		follows := "it follows from the finding \"silent dependency\""
		if c.says == "" {
			assert.Len(t, out.Findings, 1, name)
			assert.NotContains(t, permits.Clauses[len(permits.Clauses)-1].Text, follows, name)
			continue
		}
		require.Len(t, out.Findings, 2, name)
		assert.Equal(t, c.says, out.Findings[0].Text)
		assert.Equal(t, []string{"requests", "waits"}, out.Findings[0].Next)
		assert.Equal(t, answer.SeverityHigh, out.Findings[0].Severity)
		assert.Equal(t, answer.StrengthLikely, out.Findings[0].Strength)
		assert.Equal(t, follows, permits.Clauses[len(permits.Clauses)-1].Text)
	}
}

// TestBehindSilentCode checks that requests which wait for a promise are joined with the server that the code which completes it waits for, though that
// code serves no request.
func TestBehindSilentCode(t *testing.T) {
	inside := answer.AsyncWork{Why: words.APromise.Of()}
	wait := func(age int64) answer.HTTPWait {
		f := []answer.AsyncFrame{{Object: 0x66, AsyncPlace: answer.AsyncPlace{Method: answer.Text{S: "Shop.Tokens.FetchAsync"}}}}
		return answer.HTTPWait{Age: answer.Known(age), Stack: &answer.AsyncWork{Remote: answer.WaitServer, Frames: f}}
	}
	for name, c := range map[string]struct {
		running []answer.HTTPWait
		says    string
		left    int
	}{
		"silent": {[]answer.HTTPWait{wait(9000)}, "Shop.Tokens.FetchAsync waits for an answer of login:443, for at least 9 s; " +
			"30 of 30 requests that the process serves, the oldest for at least 12 s, wait for a promise in Shop.asked behind it: 30 × GET /b", 2},
		"many": {slices.Repeat([]answer.HTTPWait{wait(9000)}, 20), "20 of 20 requests to login:443 wait for its answer, the oldest for at least 9 s; " +
			"30 of 30 requests that the process serves, the oldest for at least 12 s, wait for a promise in Shop.asked behind it: 30 × GET /b", 2},
		"young": {[]answer.HTTPWait{wait(900)}, "", 1},
		"none":  {nil, "", 1},
	} {
		v := answer.Conclude(answer.FindingPromises, words.Text("nothing has completed it"), answer.StrengthRecorded)
		v.Sites = []answer.Site{{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Does: string(answer.WaitPromise), Count: 30}}
		q := healthy()
		q.Waits = Got(&answer.Waits{Verdicts: []answer.Verdict{v}, Operations: []answer.OperationWait{{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Kind: answer.WaitPromise, Object: 0x55,
			Name: "Shop.asked", Count: 30, Holders: []answer.OperationHolder{{Object: 0x66, Strength: answer.StrengthLikely}}}}}, nil)
		q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{{Address: 0x99, Host: answer.Text{S: "login"}, Port: answer.Known[int64](443), Running: c.running}}}, nil)
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: serve(30, "/b", 12*time.Second, inside, 1)}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, c.left, name)
		if c.says == "" {
			assert.Equal(t, answer.FindingPromises, out.Findings[0].Kind)
			continue
		}
		assert.Equal(t, c.says, out.Findings[0].Text)
		assert.Contains(t, out.Findings[0].Next, "requests", "the process serves some")
		assert.Equal(t, answer.FindingDependency, out.Findings[0].Kind)
		assert.Equal(t, name == "silent", out.Findings[0].Strength == answer.StrengthPossible, "it may poll for events that the requests wait for")
		last := out.Findings[1].Clauses[len(out.Findings[1].Clauses)-1]
		assert.Equal(t, "it follows from the finding \"silent dependency\"", last.Text)
	}
}

// TestBehindProxy checks that suspended operations which serve no request are joined with the server that the code in their way waits for: for a connection, or for
// an answer while it has entered a semaphore. What completes a promise may wait for the answer to a poll.
func TestBehindProxy(t *testing.T) {
	frames := []answer.AsyncFrame{{Object: 0x66, AsyncPlace: answer.AsyncPlace{Method: answer.Text{S: "Shop.Tokens.FetchAsync"}}}}
	for name, c := range map[string]struct {
		kind   answer.WaitKind
		remote answer.WaitKind
		age    answer.Maybe[int64]
		count  int
		sure   answer.Strength
		served string
		says   string
	}{
		"promise": {answer.WaitPromise, answer.WaitConnection, answer.Known[int64](9000), 30, answer.StrengthLikely, "",
			"Shop.Tokens.FetchAsync waits for a connection to login:443 by way of the proxy squid:3128, for at least 9 s; 30 suspended operations wait for a promise in Shop.asked behind it"},
		"semaphore": {answer.LockSemaphore, answer.WaitServer, answer.Known[int64](9000), 10, answer.StrengthLikely, "",
			"Shop.Tokens.FetchAsync waits for an answer of login:443 by way of the proxy squid:3128, for at least 9 s; 10 suspended operations wait for Shop.asked (SemaphoreSlim) behind it"},
		"a poll":         {answer.WaitPromise, answer.WaitServer, answer.Known[int64](9000), 30, answer.StrengthLikely, "", ""},
		"young":          {answer.WaitPromise, answer.WaitConnection, answer.Known[int64](900), 30, answer.StrengthLikely, "", ""},
		"of unknown age": {answer.WaitPromise, answer.WaitConnection, answer.Missing[int64](target.ErrNotInDump), 30, answer.StrengthLikely, "", ""},
		"few":            {answer.WaitPromise, answer.WaitConnection, answer.Known[int64](9000), 9, answer.StrengthLikely, "", ""},
		"not sure":       {answer.WaitPromise, answer.WaitConnection, answer.Known[int64](9000), 30, answer.StrengthPossible, "", ""},
		"of a request":   {answer.WaitPromise, answer.WaitConnection, answer.Known[int64](9000), 30, answer.StrengthLikely, "GET /a", ""},
	} {
		v := answer.Conclude(answer.FindingPermits, words.Text("no permits"), answer.StrengthLikely)
		v.Sites = []answer.Site{{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Does: string(c.kind), Count: c.count}}
		q := healthy()
		q.Waits = Got(&answer.Waits{Verdicts: []answer.Verdict{v}, Operations: []answer.OperationWait{{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Kind: c.kind, Object: 0x55, Request: c.served,
			Name: "Shop.asked", Count: c.count, Holders: []answer.OperationHolder{{Object: 0x66, Strength: c.sure}}}}}, nil)
		wait := []answer.HTTPWait{{Age: c.age, Stack: &answer.AsyncWork{Remote: c.remote, Frames: frames}}}
		q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{{Address: 0x99, Host: answer.Text{S: "login"}, Port: answer.Known[int64](443), Proxy: answer.Text{S: "squid:3128"}, Waiting: wait}}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		permits := &out.Findings[len(out.Findings)-1]
		if c.says == "" {
			require.Len(t, out.Findings, 1, name)
			assert.Len(t, permits.Clauses, 1, name)
			continue
		}
		require.Len(t, out.Findings, 2, name)
		f := &out.Findings[0]
		assert.Equal(t, c.says, f.Text)
		assert.Equal(t, []any{answer.FindingDependency, answer.SeverityHigh, answer.StrengthLikely, c.count}, []any{f.Kind, f.Severity, f.Strength, f.Count}, name)
		assert.Equal(t, "it follows from the finding \"silent dependency\"", permits.Clauses[len(permits.Clauses)-1].Text, name)
	}
}

// TestPoolThatMoves checks that requests that came a moment ago do not exhaust a pool, if the time is known.
func TestPoolThatMoves(t *testing.T) {
	for name, c := range map[string]struct {
		fresh bool
		age   answer.Maybe[int64]
		found int
	}{
		"moves":   {true, answer.Known[int64](400), 0},
		"stands":  {true, answer.Known[int64](1400), 1},
		"unknown": {true, answer.Missing[int64](target.ErrNotInDump), 1},
		"stale":   {false, answer.Known[int64](400), 1},
	} {
		q := healthy()
		q.HTTPClients = Got(&answer.HTTPClients{Fresh: c.fresh, Pools: []answer.HTTPPool{{Max: answer.Known[int64](4), Count: answer.Known[int64](4),
			Idle: answer.Known[int64](0), Waiting: []answer.HTTPWait{{Age: answer.Known[int64](20)}, {Age: c.age}}}}}, nil)
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: serve(1, "/a", time.Second, answer.AsyncWork{}, 1)}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.Len(t, out.Findings, c.found, name)
	}
}

// TestOwnServer: requests to a server of the process itself wait for no other server, whatever they wait for.
func TestOwnServer(t *testing.T) {
	remote := answer.AsyncWork{Remote: answer.WaitServer, Why: words.ServersAnswer.Of(answer.Statement{}, answer.Statement{})}
	pool := func(host, proxy string, port int64) answer.HTTPPool {
		p := answer.HTTPPool{Address: 0x100, Host: answer.Text{S: host}, Proxy: answer.Text{S: proxy}, Port: answer.Known(port), Max: answer.Missing[int64](target.ErrNotInDump)}
		for range manyAnswers {
			p.Running = append(p.Running, answer.HTTPWait{Age: answer.Known[int64](9_000),
				Stack: &answer.AsyncWork{Remote: answer.WaitServer, Frames: []answer.AsyncFrame{{Object: 1, AsyncPlace: answer.AsyncPlace{Method: answer.Text{S: "Shop.Prices.GetAsync"}}}}}})
		}
		return p
	}
	for name, c := range map[string]struct {
		local string
		pool  answer.HTTPPool
		own   bool
	}{
		"address":         {"127.0.0.1:8080", pool("127.0.0.1", "", 8080), true},
		"mapped":          {"[::ffff:10.0.0.3]:8080", pool("10.0.0.3", "", 8080), true},
		"IPv6":            {"[::1]:8080", pool("[::1]", "", 8080), true},
		"localhost":       {"[::1]:8080", pool("localhost", "", 8080), true},
		"port":            {"127.0.0.1:8080", pool("127.0.0.1", "", 8081), false},
		"other address":   {"10.0.0.3:8080", pool("10.0.0.4", "", 8080), false},
		"not by loopback": {"10.0.0.3:8080", pool("localhost", "", 8080), false},
		"name":            {"10.0.0.3:8080", pool("api", "", 8080), false},
		"proxy":           {"127.0.0.1:8080", pool("127.0.0.1", "proxy:3128", 8080), false},
		"unknown":         {"", pool("127.0.0.1", "", 8080), false},
	} {
		q, list := healthy(), serve(manyAnswers, "/a", 9*time.Second, remote, 1)
		for i := range list {
			list[i].Local = c.local
		}
		q.Requests = Got(&answer.Requests{Now: &servedAt, Requests: list}, nil)
		q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{c.pool}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.own, len(out.Findings) == 0, name)
	}
}
