package triage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A served is a request that the program works on: its response has not begun, and its connection has no other protocol.
type served struct {
	*answer.Request
	route string
	age   time.Duration // 0 if unknown
}

// works reports whether the program works on a request. A stream of events or a WebSocket may be open for hours.
func works(r *answer.Request) bool { return r.Context != 0 && !r.Begun && !r.Upgraded }

// readServed reads the requests that the process serves. What they wait for takes long: it is read if there are enough of them to judge.
func readServed(ctx context.Context, p *process.Process) (*answer.Requests, error) {
	list, err := web.Requests(ctx, p, web.RequestOptions{Brief: true})
	if err != nil || !slices.ContainsFunc(list.Requests, func(r answer.Request) bool { return works(&r) }) {
		return list, err
	}
	return web.Requests(ctx, p, web.RequestOptions{})
}

// served returns the requests that the program works on.
func (q *Answers) served() []served {
	list, err := q.Requests.get()
	if err != nil {
		return nil
	}
	var out []served
	for i := range list.Requests {
		r := &list.Requests[i]
		if !works(r) {
			continue
		}
		s := served{Request: r, route: web.RouteOf(r)}
		if list.Now != nil && r.Started != nil {
			s.age = max(list.Now.Sub(*r.Started), 0).Round(time.Second)
		}
		out = append(out, s)
	}
	return out
}

// webRequests checks for requests that wait long for other servers, by way of any client library.
func webRequests(_ context.Context, q *Answers) (view, error) {
	list, err := q.Requests.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil), beside: len(list.Requests) == 0}
	all, pools := q.served(), q.pooledWaits()
	slow, what := map[string][]served{}, map[string]answer.Statement{}
	for _, s := range all {
		if s.Stack == nil || s.age < slowRequest || s.Stack.Remote == "" && s.Stack.Why.Says != words.OfASocket.Kind() {
			continue
		}
		w := q.remoteOf(s.Stack, pools)
		slow[w.Text], what[w.Text] = append(slow[w.Text], s), w
	}
	for _, g := range slices.SortedFunc(maps.Keys(slow), func(a, b string) int { return cmp.Or(cmp.Compare(len(slow[b]), len(slow[a])), cmp.Compare(a, b)) }) {
		if x := silentFor(slow[g], len(all), what[g]); x != nil {
			v.found = append(v.found, *x)
		}
	}
	return v, nil
}

// remoteOf describes what code waits for: with the server if it waits in a pool of HttpClient.
func (q *Answers) remoteOf(w *answer.AsyncWork, pools map[target.Addr]target.Addr) answer.Statement {
	list, err := q.HTTPClients.get()
	if err != nil {
		return w.Why
	}
	for i := range w.Frames {
		k := slices.IndexFunc(list.Pools, func(p answer.HTTPPool) bool { return p.Address == pools[w.Frames[i].Object] })
		if k < 0 {
			continue
		}
		server := words.Server(list.Pools[k].Host, list.Pools[k].Port)
		if w.Remote == answer.WaitConnection {
			return words.ConnectionTo.Of(server)
		}
		return words.AnswerOf.Of(server)
	}
	return w.Why
}

// silentFor describes requests that have waited long and wait for one thing alike, or returns nil. all is the number of requests that the program
// works on.
func silentFor(slow []served, all int, what answer.Statement) *answer.Finding {
	if len(slow) < manySlow || 2*len(slow) < all {
		return nil
	}
	of, at := map[string]int{}, map[string]int{}
	for i := range slow {
		of[asyncName(slow[i].Stack)]++
		at[cmp.Or(innermost(slow[i].Stack), asyncName(slow[i].Stack))]++
	}
	x := answer.Conclude(answer.FindingDependency, words.ServedSilent.Of(words.N(len(slow)), words.N(all), oldest(slow, words.OldestOf), what, routes(slow)), answer.StrengthLikely,
		words.ServingCode.Of())
	x.Count, x.Show = len(slow), []string{"requests"}
	clauses := waitClauses(&x, of, at, slow[0].Stack.Remote)
	f := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	f.Next = []string{"requests"}
	return &f
}

// oldest returns a phrase with the age of the oldest request, or nothing if no age is known.
func oldest(list []served, phrase *words.Sentence) answer.Statement {
	age := time.Duration(0)
	for i := range list {
		age = max(age, list[i].age)
	}
	if age == 0 {
		return answer.Statement{}
	}
	return phrase.Of(words.Duration(age))
}

// routes counts requests by their method and route, the most frequent first.
func routes(list []served) answer.Statement {
	counts := map[string]int{}
	for i := range list {
		counts[list[i].route]++
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var out []answer.Statement
	for _, name := range names[:min(len(names), mostClauses)] {
		out = append(out, words.OfRoute.Of(words.N(counts[name]), words.Text(cmp.Or(name, "?"))))
	}
	if n := len(names) - mostClauses; n > 0 {
		out = append(out, words.OtherRoutes.Of(words.N(n)))
	}
	return words.Join(", ", out...)
}

// suffering are the kinds of findings that name the requests that wait because of them.
var suffering = []answer.FindingKind{answer.FindingDeadlock, answer.FindingExhausted, answer.FindingDependency, answer.FindingPermits, answer.FindingPromises,
	answer.FindingAbandoned, answer.FindingHeld, answer.FindingCircle, answer.FindingBlocked, answer.FindingStarved}

// victims adds to each finding the requests that wait because of it, and removes findings of requests that have been named so. The requests are
// known by their threads, by the suspended code of a pool's waits, and by methods that wait for one thing alone.
func (q *Answers) victims(list []answer.Finding) []answer.Finding {
	all := q.served()
	if len(all) == 0 {
		return list
	}
	waitFor := q.singleWaits()
	boxes := q.pooledWaits()
	named := map[*answer.Request]bool{}
	for i := range list {
		f := &list[i]
		if !slices.Contains(suffering, f.Kind) || len(f.Clauses) == 0 || f.Clauses[0].Says == words.ServedSilent.Kind() {
			continue
		}
		threads, methods := waitingThreads(f), map[string]bool{}
		for _, s := range f.Clauses[0].Sites {
			if s.Thread == 0 && waitFor[s.Method.S] {
				methods[s.Method.S] = true
			}
		}
		var who []served
		for _, s := range all {
			by := slices.ContainsFunc(s.Threads, func(t answer.Worker) bool { return threads[t.OSID] })
			if s.Stack != nil {
				by = by || f.Object != 0 && slices.ContainsFunc(s.Stack.Frames, func(a answer.AsyncFrame) bool { return boxes[a.Object] == f.Object }) ||
					s.Stack.Remote == "" && methods[innermost(s.Stack)]
			}
			if by {
				who = append(who, s)
				named[s.Request] = true
			}
		}
		if len(who) > 0 {
			f.Statement = f.Plus(words.ServedWait.Of(words.N(len(who)), words.N(len(all)), oldest(who, words.OldestServed), routes(who)))
		}
	}
	return slices.DeleteFunc(list, func(f answer.Finding) bool {
		if len(f.Clauses) == 0 || f.Clauses[0].Says != words.ServedSilent.Kind() {
			return false
		}
		n := 0
		for _, s := range all {
			if named[s.Request] && s.Stack != nil && slices.ContainsFunc(f.Clauses[0].Sites, func(x answer.Site) bool { return x.Method.S == asyncName(s.Stack) }) {
				n++
			}
		}
		return 2*n >= f.Count
	})
}

// singleWaits returns the methods whose operations that serve requests all wait for one thing.
func (q *Answers) singleWaits() map[string]bool {
	out, things := map[string]bool{}, map[string]target.Addr{}
	w, err := q.Waits.get()
	if err != nil {
		return out
	}
	for i := range w.Operations {
		op := &w.Operations[i]
		name := op.Method.S
		known, ok := things[name]
		out[name] = !ok || out[name] && known == op.Object
		things[name] = op.Object
	}
	return out
}

// pooledWaits returns the pools of connections that suspended code waits for, by its boxes.
func (q *Answers) pooledWaits() map[target.Addr]target.Addr {
	out := map[target.Addr]target.Addr{}
	add := func(pool target.Addr, w *answer.AsyncWork) {
		if w != nil {
			for i := range w.Frames {
				out[w.Frames[i].Object] = pool
			}
		}
	}
	if list, err := q.HTTPClients.get(); err == nil {
		for i := range list.Pools {
			p := &list.Pools[i]
			for _, waits := range [][]answer.HTTPWait{p.Waiting, p.Running} {
				for k := range waits {
					add(p.Address, waits[k].Stack)
				}
			}
		}
	}
	if list, err := q.SQLPools.get(); err == nil {
		for i := range list.Pools {
			p := &list.Pools[i]
			for k := range p.Opening {
				add(p.Address, p.Opening[k].Stack)
			}
			for k := range p.Connections {
				add(p.Address, p.Connections[k].Stack)
			}
		}
	}
	return out
}

// innermost returns the innermost method of the program in suspended code, or "".
func innermost(w *answer.AsyncWork) string {
	for i := range w.Frames {
		if f := &w.Frames[i]; f.AsyncPlace != nil && f.Method.S != "" && !answer.LibraryMethod(f.Method.S) {
			return compilernames.Pretty(f.Method.S)
		}
	}
	return ""
}
