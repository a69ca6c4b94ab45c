package triage

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
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

// works reports whether the program works on a request. A stream of events or a WebSocket may be open for hours, and not every server shows whether
// a response has begun. Without a state, that could not be read.
func works(r *answer.Request) bool {
	return r.Context != 0 && r.State != "" && !r.Begun && !r.Upgraded && (r.Server == "Kestrel" || r.Server == "IIS")
}

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
	all := q.served()
	unknown, pools := 0, q.pooledWaits(false)
	for i := range all {
		if mayBeSlow(&all[i], list.Now != nil) && !inPool(&all[i], pools) { // pools are judged elsewhere
			unknown++
		}
	}
	if unknown >= manySlow && 2*unknown > len(all) { // fewer would be no finding
		v.miss(target.Unsupportedf("since when %d requests are served, or what they wait for: the server keeps the time only while logging, metrics or tracing are on", unknown))
	}
	for _, g := range q.slow(all) {
		if x := silentFor(g, len(all)); x != nil {
			v.found = append(v.found, *x)
		}
	}
	return v, nil
}

// inPool reports whether a request waits in a pool of connections.
func inPool(s *served, pools map[target.Addr]target.Addr) bool {
	return s.Stack != nil && slices.ContainsFunc(s.Stack.Frames, func(f answer.AsyncFrame) bool { return pools[f.Object] != 0 })
}

// mayBeSlow reports whether a request may have waited long for a server, and the dump does not say so. clocked reports whether the time of the
// dump is known by the server's clock. Code that runs, or waits for something else, has no server to wait for.
func mayBeSlow(s *served, clocked bool) bool {
	switch {
	case clocked && s.Started != nil && s.age < slowRequest:
		return false
	case s.Stack == nil:
		return len(s.Threads) == 0
	}
	return waitsOutside(s.Stack) && (!clocked || s.Started == nil)
}

// waitsOutside reports whether code waits for a server or a socket.
func waitsOutside(w *answer.AsyncWork) bool {
	return w.Remote != "" || tasks.WaitsForPeer(w.Why)
}

// A slowGroup is the requests that have waited long for one thing, or other code of the program that has.
type slowGroup struct {
	what   answer.Statement
	list   []served
	behind []gate   // where others wait for them
	code   *waiting // set if it is no request

	operations int // that wait behind the code and serve no request
}

// A waiting is suspended code that has waited long for a server.
type waiting struct {
	method string
	pool   target.Addr // of HttpClient
	remote answer.WaitKind
	what   answer.Statement
	age    time.Duration
}

// A gate is a semaphore that some code of a group has entered, or a promise that it completes. Requests have waited long for it.
type gate struct {
	object  target.Addr
	thing   answer.Statement
	methods map[string]bool // in which the requests wait
	list    []served        // the requests

	operations int // that serve no request
}

// size returns the number of requests that wait because of what the group waits for.
func (g *slowGroup) size() int {
	n := len(g.list)
	for i := range g.behind {
		n += len(g.behind[i].list)
	}
	return n
}

// says returns the sentence of a finding about the group. all is the number of requests that the program works on.
func (g *slowGroup) says(all int) answer.Statement {
	out := words.ServedSilent.Of(words.N(len(g.list)), words.N(all), oldest(g.list, words.OldestOf), g.what, routes(g.list))
	if c := g.code; c != nil {
		out = words.CodeSilent.Of(words.Method(c.method), g.what, words.Duration(c.age))
	}
	return out.Plus(g.others(all))
}

// others returns a phrase about the requests that wait behind the group.
func (g *slowGroup) others(all int) answer.Statement {
	out := answer.Statement{}
	for i := range g.behind {
		b := &g.behind[i]
		if g.code != nil {
			out = out.Plus(words.BehindCode.Of(words.N(len(b.list)), words.N(all), oldest(b.list, words.OldestOf), b.thing, routes(b.list)))
			continue
		}
		out = out.Plus(words.MoreBehind.Of(words.N(len(b.list)), b.thing, words.N(len(g.list))))
	}
	return out
}

// ownPools returns the pools of HttpClient that lead to the process itself, by their addresses: a request that it serves came to the pool's server. What such a
// request waits for is said of the code that serves it.
func (q *Answers) ownPools() map[target.Addr]bool {
	out := map[target.Addr]bool{}
	requests, err := q.Requests.get()
	if err != nil {
		return out
	}
	list, err := q.HTTPClients.get()
	if err != nil {
		return out
	}
	var ends []netip.AddrPort
	for i := range requests.Requests {
		if end, err := netip.ParseAddrPort(requests.Requests[i].Local); err == nil {
			ends = append(ends, netip.AddrPortFrom(end.Addr().Unmap(), end.Port()))
		}
	}
	for i := range list.Pools {
		if p := &list.Pools[i]; slices.ContainsFunc(ends, func(end netip.AddrPort) bool { return leadsTo(p, end) }) {
			out[p.Address] = true
		}
	}
	return out
}

// leadsTo reports whether a pool's connections lead to an address and a port without a proxy. Another name than localhost may be of any machine.
func leadsTo(p *answer.HTTPPool, end netip.AddrPort) bool {
	if p.Proxy.S != "" || p.Proxy.Err != nil || p.Port.Err() != nil || p.Port.Value != int64(end.Port()) {
		return false
	}
	if strings.EqualFold(p.Host.S, "localhost") {
		return end.Addr().IsLoopback()
	}
	ip, err := netip.ParseAddr(strings.Trim(p.Host.S, "[]"))
	return err == nil && ip.Unmap() == end.Addr()
}

// slow groups the requests that have waited long for other servers, the largest group first.
func (q *Answers) slow(all []served) []slowGroup {
	pools, own := q.pooledWaits(false), q.ownPools()
	index, of := map[string]int{}, map[target.Addr]int{}
	var out []slowGroup
	var inside []served
	for _, s := range all {
		if s.Stack == nil || s.age < slowRequest {
			continue
		}
		if !waitsOutside(s.Stack) {
			inside = append(inside, s)
			continue
		}
		if slices.ContainsFunc(s.Stack.Frames, func(f answer.AsyncFrame) bool { return own[pools[f.Object]] }) {
			continue
		}
		what := q.remoteOf(s.Stack, pools)
		k, ok := index[what.Text]
		if !ok {
			k = len(out)
			index[what.Text] = k
			out = append(out, slowGroup{what: what})
		}
		out[k].list = append(out[k].list, s)
		for i := range s.Stack.Frames {
			of[s.Stack.Frames[i].Object] = k
		}
	}
	out = q.gates(out, of, inside)
	slices.SortFunc(out, func(a, b slowGroup) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(a.what.Text, b.what.Text))
	})
	return out
}

// gates adds to the groups the semaphores that only their code is known to have entered, and the promises that it completes, by the boxes of their
// suspended code (of), with the requests that wait for one. Code that serves no request is a group of its own.
func (q *Answers) gates(groups []slowGroup, of map[target.Addr]int, inside []served) []slowGroup {
	w, err := q.Waits.get()
	if err != nil || len(inside) == 0 {
		return groups
	}
	single, others := q.singleWaits(), map[target.Addr]*waiting(nil)
	for _, s := range inside {
		at := awaits(s.Stack)
		i := single[at] - 1
		if i < 0 || at.kind == "" || len(w.Operations[i].Holders) == 0 {
			continue
		}
		op := &w.Operations[i]
		if others == nil {
			others = q.slowCode()
		}
		for k := range op.Holders {
			h := op.Holders[k].Object
			if c := others[h]; c != nil && len(op.Holders) == 1 {
				if _, known := of[h]; !known {
					of[h] = len(groups)
					groups = append(groups, slowGroup{what: c.what, code: c})
				}
			}
		}
		group, ok := groupOf(op.Holders, of)
		if !ok {
			continue
		}
		g := &groups[group]
		k := slices.IndexFunc(g.behind, func(b gate) bool { return b.object == op.Object })
		if k < 0 {
			k = len(g.behind)
			g.behind = append(g.behind, gate{object: op.Object, thing: thingOf(op), methods: map[string]bool{}})
		}
		g.behind[k].methods[at.method] = true
		g.behind[k].list = append(g.behind[k].list, s)
	}
	return groups
}

// slowCode returns the suspended code that has waited long for a server of HttpClient, by its boxes.
func (q *Answers) slowCode() map[target.Addr]*waiting {
	out := map[target.Addr]*waiting{}
	list, err := q.HTTPClients.get()
	if err != nil {
		return out
	}
	own := q.ownPools()
	for i := range list.Pools {
		p := &list.Pools[i]
		if own[p.Address] {
			continue
		}
		for _, w := range slices.Concat(p.Waiting, p.Running) {
			if w.Stack == nil || w.Age.Err() != nil || milliseconds(w.Age) < slowRequest || w.Stack.Remote == "" {
				continue
			}
			c := &waiting{method: asyncName(w.Stack), pool: p.Address, remote: w.Stack.Remote, what: serverOf(p, w.Stack.Remote), age: milliseconds(w.Age)}
			for k := range w.Stack.Frames {
				out[w.Stack.Frames[k].Object] = c
			}
		}
	}
	return out
}

// manyBehindCode is how many suspended operations must wait behind code that waits for a server to be a finding, where they serve no request of a web server:
// nobody is known to have waited for a response.
const manyBehindCode = 10

// silentCode groups the operations that wait for a semaphore, or for a promise, by the code that has entered the first or completes the second, and has
// waited long for a server of HttpClient itself. Requests that the process serves are not among them. What completes a promise and waits for an answer may poll
// for events, which many wait for.
func (q *Answers) silentCode() []slowGroup {
	w, err := q.Waits.get()
	if err != nil {
		return nil
	}
	var out []slowGroup
	var slow map[target.Addr]*waiting
	for i := range w.Operations {
		op := &w.Operations[i]
		if op.Request != "" || op.Count < manyBehindCode || len(op.Holders) == 0 || op.Kind != answer.WaitPromise && op.Kind != answer.LockSemaphore {
			continue
		}
		if slow == nil {
			slow = q.slowCode()
		}
		c := slow[op.Holders[0].Object]
		if c == nil || op.Kind == answer.WaitPromise && c.remote != answer.WaitConnection ||
			slices.ContainsFunc(op.Holders, func(h answer.OperationHolder) bool { return h.Strength != answer.StrengthLikely || slow[h.Object] != c }) {
			continue
		}
		k := slices.IndexFunc(out, func(g slowGroup) bool { return g.code == c })
		if k < 0 {
			k = len(out)
			out = append(out, slowGroup{what: c.what, code: c})
		}
		out[k].operations += op.Count
		out[k].behind = append(out[k].behind, gate{object: op.Object, thing: thingOf(op), methods: map[string]bool{compilernames.Pretty(op.Method.S): true}, operations: op.Count})
	}
	return out
}

// finding returns the finding about a group of silentCode.
func (g *slowGroup) finding() answer.Finding {
	says := words.CodeSilent.Of(words.Method(g.code.method), g.what, words.Duration(g.code.age))
	for i := range g.behind {
		says = says.Plus(words.OperationsBehind.Of(words.N(g.behind[i].operations), g.behind[i].thing))
	}
	x := answer.Conclude(answer.FindingDependency, says, answer.StrengthLikely, words.AwaitingCode.Of())
	x.Count, x.Show = g.operations, []string{"httpclients"}
	waitClauses(&x, map[string]int{g.code.method: 1}, nil, g.code.remote)
	f := finding(answer.FindingDependency, x)
	f.Object, f.Next = g.code.pool, []string{"httpclients", "waits"}
	return f
}

// thingOf names what operations wait for.
func thingOf(op *answer.OperationWait) answer.Statement {
	switch {
	case op.Kind == answer.WaitPromise && op.Name != "":
		return words.PromiseIn.Of(words.Field(op.Name))
	case op.Kind == answer.WaitPromise:
		return words.APromise.Of()
	case op.Name != "":
		return words.NamedLock.Of(words.Field(op.Name), words.Text(string(op.Kind)))
	}
	return words.LockAt.Of(words.Text(string(op.Kind)), words.ShortObject(op.Object))
}

// groupOf returns the group that all holders of something belong to.
func groupOf(holders []answer.OperationHolder, of map[target.Addr]int) (group int, ok bool) {
	for i := range holders {
		h := &holders[i]
		k, known := of[h.Object]
		if !known || h.Strength != answer.StrengthLikely || i > 0 && k != group {
			return 0, false
		}
		group = k
	}
	return group, len(holders) > 0
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
		return serverOf(&list.Pools[k], w.Remote)
	}
	return w.Why
}

// serverOf describes what code waits for that waits for a server of HttpClient.
func serverOf(p *answer.HTTPPool, remote answer.WaitKind) answer.Statement {
	server := words.Server(p.Host, p.Port).Plus(byProxy(p))
	if remote == answer.WaitConnection {
		return words.ConnectionTo.Of(server)
	}
	return words.AnswerOf.Of(server)
}

// silentFor describes requests that have waited long and wait for one thing alike, or returns nil. all is the number of requests that the program
// works on. A few that wait for an answer may be long polls that the process passes on: they are a warning.
func silentFor(g slowGroup, all int) *answer.Finding {
	slow, n := g.list, g.size()
	if n < manySlow || 2*n < all {
		return nil
	}
	of, at := map[string]int{}, map[string]int{}
	for i := range slow {
		of[asyncName(slow[i].Stack)]++
		at[cmp.Or(innermost(slow[i].Stack), asyncName(slow[i].Stack))]++
	}
	var remote answer.WaitKind
	if g.code != nil {
		remote = g.code.remote
		of[g.code.method], at[g.code.method] = 1, 1
	} else {
		remote = slow[0].Stack.Remote
	}
	few := n < manyAnswers && remote != answer.WaitConnection
	strength := answer.StrengthLikely
	if few || g.code != nil && remote != answer.WaitConnection { // what serves no request may poll for events that requests wait for
		strength = answer.StrengthPossible
	}
	x := answer.Conclude(answer.FindingDependency, g.says(all), strength, words.ServingCode.Of())
	x.Count, x.Show = n, []string{"requests"}
	clauses := waitClauses(&x, of, at, remote)
	f := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	f.Next = []string{"requests"}
	if g.code != nil {
		f.Next = []string{"httpclients", "requests"}
	}
	if len(g.behind) > 0 {
		f.Next = append(f.Next, "waits")
	}
	if few {
		f.Severity = answer.SeverityWarning
	}
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
var suffering = []answer.FindingKind{answer.FindingDeadlock, answer.FindingExhausted, answer.FindingDependency, answer.FindingPermits, answer.FindingFull, answer.FindingPromises,
	answer.FindingAbandoned, answer.FindingHeld, answer.FindingCircle, answer.FindingBlocked}

// victims adds to each finding the requests that wait because of it, and removes findings of requests that have been named so. The requests are
// known by their threads and by the suspended code of a pool's waits. By methods that wait for one thing alone they are likely: they have a clause
// of their own beside a stronger sentence.
func (q *Answers) victims(list []answer.Finding) []answer.Finding {
	all := q.served()
	if len(all) == 0 {
		return list
	}
	waitFor := q.singleWaits()
	using, opening := q.pooledWaits(false), q.pooledWaits(true)
	named := map[*answer.Request]int{} // by the index of a finding
	for i := range list {
		f := &list[i]
		if !slices.Contains(suffering, f.Kind) || len(f.Clauses) == 0 || ofRequests(f) {
			continue
		}
		threads, methods, boxes := waitingThreads(f), map[awaitedIn]bool{}, using
		if f.Kind == answer.FindingExhausted {
			boxes = opening // code that uses a connection does not wait for one
		}
		for _, s := range f.Clauses[0].Sites {
			if at := awaitedAs(s.Method.S, answer.WaitKind(s.Does)); s.Thread == 0 && waitFor[at] != 0 {
				methods[at] = true
			}
		}
		var who []served
		inferred := false
		for _, s := range all {
			by := slices.ContainsFunc(s.Threads, func(t answer.Worker) bool { return threads[t.OSID] })
			if !by && s.Stack != nil {
				by = f.Object != 0 && slices.ContainsFunc(s.Stack.Frames, func(a answer.AsyncFrame) bool { return boxes[a.Object] == f.Object })
				if !by && s.Stack.Remote == "" && methods[awaits(s.Stack)] {
					by, inferred = true, true
				}
			}
			if by {
				who = append(who, s)
				if _, ok := named[s.Request]; !ok || f.Kind == answer.FindingDependency {
					named[s.Request] = i
				}
			}
		}
		said := words.ServedWait.Of(words.N(len(who)), words.N(len(all)), oldest(who, words.OldestServed), routes(who))
		switch {
		case len(who) == 0:
		case inferred && (f.Strength == answer.StrengthProved || f.Strength == answer.StrengthRecorded):
			f.Clauses = slices.Insert(f.Clauses, 1, answer.Conclude(f.Kind, said, answer.StrengthLikely))
		default:
			f.Statement = f.Plus(words.Text("; "), said)
		}
	}
	slow := q.slow(all)
	return slices.DeleteFunc(list, func(f answer.Finding) bool {
		k := slices.IndexFunc(slow, func(g slowGroup) bool { return ofRequests(&f) && g.says(len(all)).Text == f.Clauses[0].Text })
		return k >= 0 && joined(list, &slow[k], named, len(all))
	})
}

// ofRequests reports whether a finding is about requests that wait long for other servers.
func ofRequests(f *answer.Finding) bool {
	return len(f.Clauses) > 0 && (f.Clauses[0].Says == words.ServedSilent.Kind() || f.Clauses[0].Says == words.CodeSilent.Kind())
}

// joined reports whether other findings name most of the requests of a group, or the server that its code waits for: a finding about that server then
// has the requests behind them. named has the finding of each request.
func joined(list []answer.Finding, g *slowGroup, named map[*answer.Request]int, all int) bool {
	n, by := 0, map[int]int{}
	for _, s := range g.list {
		if i, ok := named[s.Request]; ok {
			n++
			by[i]++
		}
	}
	alone := 2*n < len(g.list)
	if g.code != nil {
		i := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingDependency && f.Object == g.code.pool })
		alone = i < 0
		by[i] = 1
	}
	for i := range by {
		if i >= 0 && list[i].Kind == answer.FindingDependency && 2*by[i] >= len(g.list) {
			list[i].Statement = list[i].Plus(g.others(all))
		}
	}
	followGates(list, g.behind, answer.FindingDependency)
	return !alone
}

// followGates adds to the findings about semaphores and promises that they follow from another finding.
func followGates(list []answer.Finding, gates []gate, from answer.FindingKind) {
	for i := range list {
		f := &list[i]
		at := func(s answer.Site) bool {
			return slices.ContainsFunc(gates, func(g gate) bool { return g.methods[compilernames.Pretty(s.Method.S)] })
		}
		if f.Kind != answer.FindingPermits && f.Kind != answer.FindingPromises || len(f.Clauses) == 0 || !slices.ContainsFunc(f.Clauses[0].Sites, at) {
			continue
		}
		f.Clauses = append(f.Clauses, answer.Conclude(answer.NoFinding, words.Follows.Of(words.Text(string(from))), answer.Weakest(f.Strength, answer.StrengthLikely)))
	}
}

// An awaitedIn is a method of the program, with the kind of what it waits for if somebody else in the process has to give or complete it.
type awaitedIn struct {
	method string
	kind   answer.WaitKind
}

// given are the kinds of waits that others in the process end, by the reason of suspended code.
var given = map[string]answer.WaitKind{words.ASemaphore.Kind(): answer.LockSemaphore, words.APromise.Kind(): answer.WaitPromise}

// awaits returns where the code of a request waits.
func awaits(w *answer.AsyncWork) awaitedIn { return awaitedIn{innermost(w), given[w.Why.Says]} }

// awaitedAs returns where operations wait for something of a kind.
func awaitedAs(method string, kind answer.WaitKind) awaitedIn {
	if kind != answer.LockSemaphore && kind != answer.WaitPromise {
		kind = ""
	}
	return awaitedIn{compilernames.Pretty(method), kind}
}

// singleWaits returns where operations that serve requests wait all for one thing, with an operation's index and 1.
func (q *Answers) singleWaits() map[awaitedIn]int {
	type thing struct {
		object target.Addr
		name   string
	}
	out, things := map[awaitedIn]int{}, map[awaitedIn]thing{}
	w, err := q.Waits.get()
	if err != nil {
		return out
	}
	for i := range w.Operations {
		op := &w.Operations[i]
		at, what := awaitedAs(op.Method.S, op.Kind), thing{op.Object, op.Name}
		known, ok := things[at]
		if things[at] = what; what == (thing{}) || ok && (out[at] == 0 || known != what) {
			out[at] = 0
		} else {
			out[at] = i + 1
		}
	}
	return out
}

// pooledWaits returns the pools of connections that suspended code waits for, by its boxes. With opening, that is code that waits for a connection;
// else also code that waits for an answer on one.
func (q *Answers) pooledWaits(opening bool) map[target.Addr]target.Addr {
	out := map[target.Addr]target.Addr{}
	add := func(pool target.Addr, w *answer.AsyncWork) {
		for i := 0; w != nil && i < len(w.Frames); i++ {
			a := w.Frames[i].Object
			if _, ok := out[a]; a != 0 && !ok {
				out[a] = pool
			}
		}
	}
	if list, err := q.HTTPClients.get(); err == nil {
		for i := range list.Pools {
			p := &list.Pools[i]
			for k := range p.Waiting {
				add(p.Address, p.Waiting[k].Stack)
			}
			for k := 0; !opening && k < len(p.Running); k++ {
				add(p.Address, p.Running[k].Stack)
			}
		}
	}
	if list, err := q.SQLPools.get(); err == nil {
		for i := range list.Pools {
			p := &list.Pools[i]
			for k := range p.Opening {
				add(p.Address, p.Opening[k].Stack)
			}
			for k := 0; !opening && k < len(p.Connections); k++ {
				if w := p.Connections[k].Stack; w != nil && w.Remote == answer.WaitServer {
					add(p.Address, w)
				}
			}
		}
	}
	return out
}

// innermost returns the innermost method of the program in suspended code, or "".
func innermost(w *answer.AsyncWork) string {
	for i := range w.Frames {
		if f := &w.Frames[i]; !f.Method.IsZero() && f.Method.S != "" && !answer.LibraryMethod(f.Method.S) {
			return compilernames.Pretty(f.Method.S)
		}
	}
	return ""
}
