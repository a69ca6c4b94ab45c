package triage

import (
	"cmp"
	"context"
	"maps"
	"slices"
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

// A slowGroup is the requests that have waited long for one thing.
type slowGroup struct {
	what   answer.Statement
	list   []served
	behind []gate // where others wait for them
}

// A gate is a semaphore that some requests of a group have entered. Others have waited long for it.
type gate struct {
	object  target.Addr
	lock    answer.Statement
	methods map[string]bool // in which the others wait
	list    []served        // the others
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
	return words.ServedSilent.Of(words.N(len(g.list)), words.N(all), oldest(g.list, words.OldestOf), g.what, routes(g.list)).Plus(g.others())
}

// others returns a phrase about the requests that wait behind the group.
func (g *slowGroup) others() answer.Statement {
	out := answer.Statement{}
	for i := range g.behind {
		b := &g.behind[i]
		out = out.Plus(words.MoreBehind.Of(words.N(len(b.list)), b.lock, words.N(len(g.list))))
	}
	return out
}

// slow groups the requests that have waited long for other servers, the largest group first.
func (q *Answers) slow(all []served) []slowGroup {
	pools := q.pooledWaits(false)
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
	q.gates(out, of, inside)
	slices.SortFunc(out, func(a, b slowGroup) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(a.what.Text, b.what.Text))
	})
	return out
}

// gates adds to the groups the semaphores that only their requests are known to have entered, by the boxes of their suspended code (of), with the
// requests that wait for one.
func (q *Answers) gates(groups []slowGroup, of map[target.Addr]int, inside []served) {
	w, err := q.Waits.get()
	if err != nil || len(of) == 0 {
		return
	}
	single := q.singleWaits()
	for _, s := range inside {
		at := awaits(s.Stack)
		i := single[at] - 1
		if i < 0 || !at.semaphore {
			continue
		}
		op := &w.Operations[i]
		group, ok := groupOf(op.Holders, of)
		if !ok {
			continue
		}
		g := &groups[group]
		k := slices.IndexFunc(g.behind, func(b gate) bool { return b.object == op.Object })
		if k < 0 {
			k = len(g.behind)
			g.behind = append(g.behind, gate{object: op.Object, lock: lockOf(op), methods: map[string]bool{}})
		}
		g.behind[k].methods[at.method] = true
		g.behind[k].list = append(g.behind[k].list, s)
	}
}

// lockOf names a semaphore that operations wait for.
func lockOf(op *answer.OperationWait) answer.Statement {
	if op.Name == "" {
		return words.LockAt.Of(words.Text(string(op.Kind)), words.ShortObject(op.Object))
	}
	return words.NamedLock.Of(words.Field(op.Name), words.Text(string(op.Kind)))
}

// groupOf returns the group that all holders of a semaphore belong to.
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
		server := words.Server(list.Pools[k].Host, list.Pools[k].Port)
		if w.Remote == answer.WaitConnection {
			return words.ConnectionTo.Of(server)
		}
		return words.AnswerOf.Of(server)
	}
	return w.Why
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
	few := n < manyAnswers && slow[0].Stack.Remote != answer.WaitConnection
	strength := answer.StrengthLikely
	if few {
		strength = answer.StrengthPossible
	}
	x := answer.Conclude(answer.FindingDependency, g.says(all), strength, words.ServingCode.Of())
	x.Count, x.Show = n, []string{"requests"}
	clauses := waitClauses(&x, of, at, slow[0].Stack.Remote)
	f := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	f.Next = []string{"requests"}
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
		if !slices.Contains(suffering, f.Kind) || len(f.Clauses) == 0 || f.Clauses[0].Says == words.ServedSilent.Kind() {
			continue
		}
		threads, methods, boxes := waitingThreads(f), map[awaitedIn]bool{}, using
		if f.Kind == answer.FindingExhausted {
			boxes = opening // code that uses a connection does not wait for one
		}
		for _, s := range f.Clauses[0].Sites {
			if at := (awaitedIn{s.Method.S, s.Does == string(answer.LockSemaphore)}); s.Thread == 0 && waitFor[at] != 0 {
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
		if len(f.Clauses) == 0 || f.Clauses[0].Says != words.ServedSilent.Kind() {
			return false
		}
		k := slices.IndexFunc(slow, func(g slowGroup) bool { return g.says(len(all)).Text == f.Clauses[0].Text })
		if k < 0 {
			return false
		}
		n, by := 0, map[int]int{}
		for _, s := range slow[k].list {
			if i, ok := named[s.Request]; ok {
				n++
				by[i]++
			}
		}
		if 2*n < len(slow[k].list) {
			followGates(list, slow[k].behind, f.Kind)
			return false
		}
		for i := range by {
			if d := &list[i]; d.Kind == answer.FindingDependency && 2*by[i] >= len(slow[k].list) {
				d.Statement = d.Plus(slow[k].others())
				followGates(list, slow[k].behind, d.Kind)
			}
		}
		return true
	})
}

// followGates adds to the findings about semaphores that they follow from another finding.
func followGates(list []answer.Finding, gates []gate, from answer.FindingKind) {
	for i := range list {
		f := &list[i]
		at := func(s answer.Site) bool {
			return slices.ContainsFunc(gates, func(g gate) bool { return g.methods[compilernames.Pretty(s.Method.S)] })
		}
		if f.Kind != answer.FindingPermits || len(f.Clauses) == 0 || !slices.ContainsFunc(f.Clauses[0].Sites, at) {
			continue
		}
		f.Clauses = append(f.Clauses, answer.Conclude(answer.NoFinding, words.Follows.Of(words.Text(string(from))), answer.Weakest(f.Strength, answer.StrengthLikely)))
	}
}

// An awaitedIn is a method of the program, with whether it waits for a semaphore.
type awaitedIn struct {
	method    string
	semaphore bool
}

// awaits returns where the code of a request waits.
func awaits(w *answer.AsyncWork) awaitedIn {
	return awaitedIn{innermost(w), w.Why.Says == words.ASemaphore.Kind()}
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
		at, what := awaitedIn{compilernames.Pretty(op.Method.S), op.Kind == answer.LockSemaphore}, thing{op.Object, op.Name}
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
