package triage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// sqlPools checks for exhausted connection pools.
func sqlPools(_ context.Context, q *Answers) (view, error) {
	list, err := q.SQLPools.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Pools {
		p := &list.Pools[i]
		v.miss(p.Waiting.Err())
		if f := silentDatabase(p, q.Taken); f != nil {
			v.found = append(v.found, *f)
		}
		if f := silentOpening(p); f != nil {
			v.found = append(v.found, *f)
		}
		if p.Waiting.Err() != nil || p.Waiting.Value == 0 || p.Idle.Err() == nil && p.Idle.Value > 0 {
			continue
		}
		use := answer.Statement{}
		if p.Busy.Err() == nil && p.Max.Err() == nil {
			use = words.ConnectionsInUse.Of(words.N(p.Busy.Value), words.N(p.Max.Value))
		}
		x := answer.Conclude(answer.FindingExhausted, words.WaitForConnection.Of(words.N(p.Waiting.Value), words.Text(p.Connection.String()), use), answer.StrengthProved,
			words.CountsOf.Of(words.Type(p.Type.String()), words.ShortObject(p.Address)))
		x.Count, x.Show = int(p.Waiting.Value), []string{"sqlpools", fmt.Sprintf("dumpobj %x", uint64(p.Address))}
		if p.Idle.Err() != nil || p.Busy.Err() != nil || p.Max.Err() != nil || p.Busy.Value < p.Max.Value {
			x.Strength = answer.StrengthLikely // a free connection may be on its way
		}
		for i := range p.Opening {
			if who := inHandsOf(p.Opening[i].Stack, p.Opening[i].Threads); who != "" {
				x.Sites = append(x.Sites, answer.Site{Method: answer.Text{S: who}, Does: "connection"})
			}
		}
		f := finding(answer.FindingExhausted, slices.Concat([]answer.Verdict{x}, borrowers(p), waiters(p))...)
		f.Object = p.Address
		v.found = append(v.found, f)
	}
	return v, nil
}

// silentDatabase describes the commands of a pool that have waited long for the server, or returns nil. A report may take its time, and says so by
// its timeout: a command is slow after half of that, and after five seconds at least. SqlClient records a date, which is an age only where the time
// of the dump is known.
func silentDatabase(p *answer.SQLPool, now time.Time) *answer.Finding {
	var slow, busy int
	var oldest time.Duration
	of := map[string]int{}
	for i := range p.Connections {
		c := &p.Connections[i]
		if busy++; c.Command.Err() != nil || c.Command.Value == nil {
			continue
		}
		age, limit, known := commandAge(c.Command.Value, now)
		if known && age >= slowRequest && 2*age >= limit {
			slow, oldest = slow+1, max(oldest, age)
			of[inHandsOf(c.Stack, c.Threads)]++
		}
	}
	if slow < manySlow || 2*slow < busy {
		return nil
	}
	delete(of, "")
	fact := words.TimersOf
	if !now.IsZero() {
		fact = words.DeadlinesOf
	}
	x := answer.Conclude(answer.FindingDependency, words.DatabaseSilent.Of(words.N(slow), words.N(busy), words.Text(p.Connection.String()), words.Duration(oldest.Round(time.Second))),
		answer.StrengthRecorded, fact.Of(words.ShortObject(p.Address)))
	x.Count, x.Show = slow, []string{"sqlpools"}
	clauses := grouped(of, func(method string, n int) answer.Verdict {
		x.Sites = append(x.Sites, answer.Site{Method: answer.Text{S: method}, Does: string(answer.WaitServer), Count: n})
		return alikeClause(words.CallsWaitIn.Of(words.N(n), words.Method(method)), n, words.ReferringVariables.Of())
	})
	f := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	f.Object, f.Next = p.Address, []string{"sqlpools"}
	return &f
}

// commandAge returns for how long a running command has waited for the server, and how long it may.
func commandAge(c *answer.SQLCommand, now time.Time) (age, limit time.Duration, known bool) {
	switch {
	case !c.Running:
		return 0, 0, false
	case c.Age.Err() == nil && c.Limit.Err() == nil && c.Limit.Value > 0:
		return milliseconds(c.Age), milliseconds(c.Limit), true
	case now.IsZero() || c.Since.Err() != nil || c.Deadline.Err() != nil || c.Since.Value.IsZero():
		return 0, 0, false
	}
	return now.Sub(c.Since.Value), c.Deadline.Value.Sub(c.Since.Value), true
}

func milliseconds(n answer.Maybe[int64]) time.Duration {
	return time.Duration(n.Value) * time.Millisecond
}

// silentOpening describes the connections of a pool that a server has accepted and does not go on to open, or returns nil. Normal ones are open in
// milliseconds.
func silentOpening(p *answer.SQLPool) *answer.Finding {
	var slow int
	var oldest time.Duration
	of := map[string]int{}
	for i := range p.Opening {
		o := &p.Opening[i]
		if age := milliseconds(o.Age); o.Age.Err() == nil && age >= slowRequest {
			slow, oldest = slow+1, max(oldest, age)
			of[inHandsOf(o.Stack, o.Threads)]++
		}
	}
	if slow < manySlow || 2*slow < len(p.Opening) {
		return nil
	}
	delete(of, "")
	x := answer.Conclude(answer.FindingDependency, words.DatabaseUnopened.Of(words.N(slow), words.N(len(p.Opening)), words.Text(p.Connection.String()), words.Duration(oldest.Round(time.Second))),
		answer.StrengthRecorded, words.TimersOf.Of(words.ShortObject(p.Address)))
	x.Count, x.Show = slow, []string{"sqlpools"}
	clauses := grouped(of, func(method string, n int) answer.Verdict {
		x.Sites = append(x.Sites, answer.Site{Method: answer.Text{S: method}, Does: string(answer.WaitConnection), Count: n})
		return alikeClause(words.CallsWaitIn.Of(words.N(n), words.Method(method)), n, words.OpeningVariables.Of())
	})
	f := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	f.Object, f.Next = p.Address, []string{"sqlpools"}
	return &f
}

// httpClients checks for HttpClients that are not shared, and for requests that wait for a connection.
func httpClients(_ context.Context, q *Answers) (view, error) {
	list, err := q.HTTPClients.get()
	if err != nil {
		return view{}, err
	}
	v, serving, unopened, own := view{partly: firstOf(list.Noted(), nil)}, q.serving(), q.opensLater(), q.ownPools()
	for _, g := range q.silentCode() {
		if !unopened || g.code.remote != answer.WaitConnection {
			v.found = append(v.found, g.finding())
		}
	}
	for _, x := range v.findings(list.Verdicts) {
		v.found = append(v.found, finding(x.Kind, x))
	}
	for i := range list.Pools {
		p := &list.Pools[i]
		waiting := p.Waiting
		if unopened && (p.Opening.Err() != nil || p.Opening.Value > 0) {
			waiting = nil
		}
		if f := silentServer(p, waiting, len(list.Noted()) == 0, serving); f != nil && !own[p.Address] {
			if len(q.served()) > 0 {
				f.Next = append(f.Next, "requests")
			}
			v.found = append(v.found, *f)
		} else if neverOpened(p, waiting) && !own[p.Address] {
			f, missing := q.unopened(p, waiting, len(list.Noted()) == 0)
			if v.miss(missing); f != nil {
				f.Next = []string{"httpclients", "requests"}
				v.found = append(v.found, *f)
			}
		}
		// The time is fresh if a request is served, because the server notes the time on its connection.
		if len(p.Waiting) == 0 || p.Disposed || !full(p) || list.Fresh && len(q.served()) > 0 && moves(p) {
			continue
		}
		x := answer.Conclude(answer.FindingExhausted, words.RequestsWait.Of(words.N(len(p.Waiting)), words.Server(p.Host, p.Port), words.N(p.Count.Value), words.N(p.Max.Value)),
			answer.StrengthProved, words.QueueOfPool.Of(words.ShortObject(p.Address)))
		x.Count, x.Show = len(p.Waiting), []string{"httpclients"}
		for k := range p.Waiting {
			if w := p.Waiting[k].Stack; w != nil {
				x.Sites = append(x.Sites, answer.Site{Method: answer.Text{S: asyncName(w)}, Does: "connection"})
			}
		}
		if len(list.Noted()) > 0 {
			x = words.LowerOne(x, answer.Premises{answer.ListComplete: answer.PremiseDoubtful}.State)
		}
		f := finding(answer.FindingExhausted, x)
		f.Object, f.Next = p.Address, []string{"httpclients"}
		v.found = append(v.found, f)
	}
	return v, nil
}

// full reports whether a pool has as many connections as it may have, and none is free.
func full(p *answer.HTTPPool) bool {
	return p.Max.Err() == nil && p.Count.Err() == nil && p.Count.Value >= p.Max.Value && p.Idle.Err() == nil && p.Idle.Value == 0
}

// moves reports whether all requests that have or wait for a connection came a moment ago: a pool with a limit has a queue under load. A request with
// a short time-out is always young, so its age shows nothing.
func moves(p *answer.HTTPPool) bool {
	old := func(w answer.HTTPWait) bool {
		return w.Age.Err() != nil || time.Duration(w.Age.Value)*time.Millisecond >= briefWait ||
			w.Timeout.Err() == nil && w.Timeout.Value > 0 && time.Duration(w.Timeout.Value)*time.Millisecond < 2*briefWait
	}
	return !slices.ContainsFunc(p.Waiting, old) && !slices.ContainsFunc(p.Running, old)
}

// briefWait is how long requests may wait for a connection of a pool that others use.
const briefWait = time.Second

// Thresholds for a server that does not answer. What looks alike and is normal traffic stays quiet:
//   - most requests are young: they wait less than slowRequest
//   - a few requests are slow: fewer than manySlow, or fewer than half
//   - loops of the program's own wait for events by long polls: fewer than manyAnswers wait for an answer, and no request that the process serves is among them
//   - an answer has begun, as a feed of events does: its request waits no more
const (
	slowRequest = 5 * time.Second
	manySlow    = 5
	manyAnswers = 20
)

// serving returns the async methods that wait for a server on behalf of a request that the process serves. It is empty if that is not known.
func (q *Answers) serving() map[string]bool {
	out := map[string]bool{}
	if w, err := q.Waits.get(); err == nil {
		for i := range w.Operations {
			if op := &w.Operations[i]; op.Request != "" && op.Kind == answer.WaitServer {
				out[compilernames.Pretty(op.Method.S)], out[compilernames.Pretty(op.From)] = true, true
			}
		}
	}
	delete(out, "")
	return out
}

// opensLater reports whether connections of HttpClient that are being opened may stand in the queue of a starved thread pool: nobody has asked their
// servers yet. What could not be read of the queue may be such an item.
func (q *Answers) opensLater() bool {
	p, err := q.ThreadPool.get()
	if err != nil || !slices.ContainsFunc(p.Verdicts, func(x answer.Verdict) bool { return x.Kind == answer.FindingStarved }) {
		return false
	}
	return p.Queues == nil || p.Queues.Lost != nil || slices.ContainsFunc(p.Queues.Queues, func(queue answer.WorkQueue) bool {
		return slices.ContainsFunc(queue.Items, func(x answer.WorkItem) bool {
			return strings.HasPrefix(x.Method.S, "System.Net.Http.HttpConnectionPool.")
		})
	})
}

// silentServer describes the requests of a pool that have waited long for an answer or, if they are in waiting, for a connection, or returns nil. whole is
// false if requests may be missing. serving has the methods that wait on behalf of requests.
func silentServer(p *answer.HTTPPool, waiting []answer.HTTPWait, whole bool, serving map[string]bool) *answer.Finding {
	var slow, connecting int
	var oldest time.Duration
	of, at := map[string]int{}, map[string]int{} // by the outermost and the innermost method of the program
	var code []target.Addr                       // the boxes of the code that waits
	add := func(w *answer.HTTPWait) bool {
		age := milliseconds(w.Age)
		if w.Age.Err() != nil || age < slowRequest {
			return false
		}
		slow, oldest = slow+1, max(oldest, age)
		if w.Stack != nil {
			of[asyncName(w.Stack)]++
			at[cmp.Or(innermost(w.Stack), asyncName(w.Stack))]++
			for k := range w.Stack.Frames {
				code = append(code, w.Stack.Frames[k].Object)
			}
		}
		return true
	}
	for i := range waiting {
		if add(&waiting[i]) {
			connecting++
		}
	}
	for i := range p.Running {
		if w := &p.Running[i]; w.Stack != nil && w.Stack.Remote == answer.WaitServer {
			add(w)
		}
	}
	all := len(p.Waiting) + len(p.Running)
	few := 2*connecting < slow && slow < manyAnswers
	if p.Disposed || slow < manySlow || 2*slow < all || few && !serves(of, serving) {
		return nil
	}
	what, opening := words.AnAnswer.Of(), answer.Statement{}
	if p.Opening.Err() == nil && p.Opening.Value > 0 { // connections of HTTP/2 are not counted
		opening = words.BeingOpened.Of(words.N(p.Opening.Value))
	}
	if connecting == slow {
		what = words.AConnection.Of(opening)
	} else if connecting > 0 {
		what = words.AnAnswerOr.Of(words.N(connecting), opening)
	}
	x := answer.Conclude(answer.FindingDependency, words.ServerSilent.Of(words.N(slow), words.N(all), words.Server(p.Host, p.Port), byProxy(p), what, words.Duration(oldest)),
		answer.StrengthRecorded, words.QueueOfPool.Of(words.ShortObject(p.Address)))
	x.Count, x.Show, x.Waiting = slow, []string{"httpclients"}, code
	if !whole {
		x = words.LowerOne(x, answer.Premises{answer.ListComplete: answer.PremiseDoubtful}.State)
	}
	clauses := waitClauses(&x, of, at, answer.WaitServer)
	f := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	if f.Object = p.Address; few {
		f.Severity = answer.SeverityWarning
	}
	return &f
}

// byProxy returns a phrase with the proxy of a pool, or nothing.
func byProxy(p *answer.HTTPPool) answer.Statement {
	if p.Proxy.Err != nil || p.Proxy.S == "" {
		return answer.Statement{}
	}
	return words.ByProxy.Of(words.Text(p.Proxy.S))
}

// waitClauses returns the clauses that name where code waits for a server, and adds the sites of x: they have the outermost methods.
func waitClauses(x *answer.Verdict, outermost, innermost map[string]int, kind answer.WaitKind) []answer.Verdict {
	for _, method := range slices.Sorted(maps.Keys(outermost)) {
		x.Sites = append(x.Sites, answer.Site{Method: answer.Text{S: method}, Does: string(kind), Count: outermost[method]})
	}
	return grouped(innermost, func(method string, n int) answer.Verdict {
		return alikeClause(words.CallsWaitIn.Of(words.N(n), words.Method(method)), n, words.AwaitingCode.Of())
	})
}

// serves reports whether some of the waiting methods serve requests.
func serves(waiting map[string]int, serving map[string]bool) bool {
	for method := range waiting {
		if serving[method] {
			return true
		}
	}
	return false
}

// redis checks for commands that can't be sent to a Redis server.
func redis(_ context.Context, q *Answers) (view, error) {
	list, err := q.Redis.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for _, x := range v.findings(list.Verdicts) {
		f := finding(x.Kind, x)
		f.Next = []string{"redis"}
		v.found = append(v.found, f)
	}
	return v, nil
}

// mostClauses is how many groups a finding lists.
const mostClauses = 3

// borrowers groups the holders of a pool's connections.
func borrowers(p *answer.SQLPool) []answer.Verdict {
	counts := map[string]int{}
	for i := range p.Connections {
		if who := inHandsOf(p.Connections[i].Stack, p.Connections[i].Threads); who != "" {
			counts[who]++
		}
	}
	return grouped(counts, func(who string, n int) answer.Verdict {
		return alikeClause(words.InHandsOf.Of(words.N(n), words.Method(who)), n, words.ReferringVariables.Of())
	})
}

// waiters groups the code that waits for a pool's connection.
func waiters(p *answer.SQLPool) []answer.Verdict {
	counts := map[string]int{}
	for i := range p.Opening {
		if who := inHandsOf(p.Opening[i].Stack, p.Opening[i].Threads); who != "" {
			counts[who]++
		}
	}
	return grouped(counts, func(who string, n int) answer.Verdict {
		return alikeClause(words.CallsWaitIn.Of(words.N(n), words.Method(who)), n, words.OpeningVariables.Of())
	})
}

// alikeClause returns a clause about n equal holders or waiters, with the evidence of variables.
func alikeClause(says answer.Statement, n int, fact answer.Statement) answer.Verdict {
	x := answer.Conclude(answer.NoFinding, says, answer.StrengthLikely, fact)
	x.Count = n
	return x
}

// inHandsOf names the code that holds something, or returns "".
func inHandsOf(stack *answer.AsyncWork, threads []answer.Worker) string {
	switch {
	case stack != nil:
		return asyncName(stack)
	case len(threads) > 0:
		return compilernames.Pretty(threads[0].Method.String())
	}
	return ""
}

// asyncName returns the outermost method of the program in suspended code, else the innermost method.
func asyncName(w *answer.AsyncWork) string {
	for i := len(w.Frames) - 1; i >= 0; i-- {
		f := &w.Frames[i]
		if !f.Method.IsZero() && f.Method.S != "" && !answer.LibraryMethod(f.Method.S) {
			return compilernames.Pretty(f.Method.S)
		}
	}
	if len(w.Frames) > 0 && !w.Frames[0].Name.IsZero() {
		return w.Frames[0].Name.String()
	}
	return ""
}

// grouped returns a clause for each of the largest groups.
func grouped(counts map[string]int, clause func(name string, n int) answer.Verdict) []answer.Verdict {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var out []answer.Verdict
	for _, name := range names[:min(len(names), mostClauses)] {
		out = append(out, clause(name, counts[name]))
	}
	return out
}

// failedTask describes a failed task. Tasks that failed alike, with messages that may differ, have the same second result.
func failedTask(t *answer.FaultedTask) (failed answer.Statement, alike string) {
	exception, kind := answer.Statement{}, answer.Statement{}
	if len(t.Exceptions) > 0 {
		x := t.Exceptions[0]
		if x.Thrown.S == t.Name.S {
			x.Thrown = answer.Text{} // the task's name says it
		}
		exception = words.Failure(&x)
		x.Message, x.Cause = answer.Text{}, answer.Text{}
		kind = words.Failure(&x)
	}
	method := words.Text(failedMethod(t))
	return words.FailedTask.Of(method, exception), words.FailedTask.Of(method, kind).Text
}

// firstMessage returns the message of the exception that a task failed with, and its cause.
func firstMessage(t *answer.FaultedTask) (message [2]string) {
	if len(t.Exceptions) > 0 {
		message = [2]string{t.Exceptions[0].Message.S, t.Exceptions[0].Cause.S}
	}
	return message
}

// tasksFailed describes failed tasks. Those that failed alike are one clause, the most frequent first. Those that are only counted (more) may have failed in
// another way.
func tasksFailed(total, more int, clauses []answer.Verdict) answer.Statement {
	first, second := clauses[0].Count, 0
	if len(clauses) > 1 {
		second = clauses[1].Count
	}
	switch n, one := words.N(total), clauses[0].Statement; {
	case total == 1:
		return words.OneTaskFailed.Of(one)
	case first == total:
		return words.TasksFailedSo.Of(n, one)
	case first > second+more:
		return words.TasksFailed.Of(n, one)
	default:
		return words.TasksFailedAmong.Of(n, one)
	}
}

// failedMethod returns the method of a failed task, or its type. A task that has ended no longer has its delegate: its exception has the method.
func failedMethod(t *answer.FaultedTask) string {
	if name := t.Name.String(); !strings.HasPrefix(name, "System.Threading.Tasks.") || len(t.Exceptions) == 0 || t.Exceptions[0].Began.S == "" {
		return name
	}
	return t.Exceptions[0].Began.S
}

// failures returns a function that returns the conclusion that a task with a method of a class of the program has failed, or nil. A method with
// several failures, or one that runs, is called for each request: it is not what completes the others. Where tasks are not listed, none is known
// to have failed once.
func (q *Answers) failures() func(class string) *answer.Verdict {
	list, err := q.Tasks.get()
	if err != nil || list.More > 0 {
		return func(string) *answer.Verdict { return nil }
	}
	times := map[string]int{}
	for i := range list.Faults {
		times[failedMethod(&list.Faults[i])]++
	}
	if w, err := q.Waits.get(); err == nil {
		for i := range w.Operations {
			times[w.Operations[i].Method.S] += w.Operations[i].Count
			times[w.Operations[i].From] += w.Operations[i].Count
		}
	}
	of := map[string]*answer.FaultedTask{} // by class
	for i := range list.Faults {
		t := &list.Faults[i]
		name := failedMethod(t)
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 || times[name] != 1 || answer.LibraryMethod(name) || of[name[:dot]] != nil {
			continue
		}
		of[name[:dot]] = t
	}
	return func(class string) *answer.Verdict {
		t := of[class]
		if t == nil {
			return nil
		}
		failed, _ := failedTask(t)
		v := answer.Conclude(answer.FindingTasks, words.OfClassFailed.Of(failed), answer.StrengthLikely)
		v.Show = []string{"tasks -faulted"}
		return &v
	}
}

// joined returns the methods with failures that a conclusion about waits names.
func (q *Answers) joined() map[string]bool {
	out := map[string]bool{}
	w, err := q.Waits.get()
	if err != nil {
		return out
	}
	for i := range w.Verdicts {
		for _, s := range w.Verdicts[i].Sites {
			if len(s.Failed) > 0 {
				out[s.Method.S] = true
			}
		}
	}
	return out
}

// failedTasks checks for tasks with unobserved exceptions.
func failedTasks(_ context.Context, q *Answers) (view, error) {
	list, err := q.Tasks.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	joined := q.joined()
	faults := slices.DeleteFunc(slices.Clone(list.Faults), func(t answer.FaultedTask) bool {
		return t.Awaited || len(t.Exceptions) > 0 && joined[t.Exceptions[0].Began.S]
	})
	total := len(faults) + int(list.More)
	if len(faults) == 0 {
		return v, nil
	}
	counts := map[string]int{}
	says := map[string]answer.Statement{}
	messages := map[string][2]string{}
	var sites []answer.Site
	for i := range faults {
		t := &faults[i]
		sites = append(sites, answer.FailedSite(t.Name, t.Exceptions))
		failed, alike := failedTask(t)
		said, known := says[alike]
		switch message := firstMessage(t); {
		case !known:
			says[alike], messages[alike] = failed, message
		case message != messages[alike] && said.Says != words.FailedAlike.Kind():
			says[alike] = words.FailedAlike.Of(said)
		}
		counts[alike]++
	}
	clauses := grouped(counts, func(name string, n int) answer.Verdict {
		x := answer.Conclude(answer.FindingTasks, says[name], answer.StrengthRecorded)
		x.Count, x.Show = n, []string{"tasks -faulted"}
		return x
	})
	if list.More > 0 {
		sites = append(sites, answer.Site{Count: int(list.More)})
	}
	clauses[0].Sites = sites
	f := finding(answer.FindingTasks, clauses...)
	f.Statement, f.Count = tasksFailed(total, int(list.More), clauses), total
	v.found = append(v.found, f)
	return v, nil
}

// hosts checks for failed hosted services and stopping hosts.
func hosts(_ context.Context, q *Answers) (view, error) {
	list, err := q.Hosts.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for _, x := range v.findings(list.Verdicts) {
		v.found = append(v.found, finding(x.Kind, x))
	}
	return v, nil
}

// initializers checks for failed type initializers. They are one finding, because a failed one makes others fail.
func initializers(_ context.Context, q *Answers) (view, error) {
	list, err := q.TypeInits.get()
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	failed := v.findings(list.Verdicts)
	if n := len(failed); n > 0 {
		f := finding(answer.FindingInitializer, failed...)
		if f.Count = n; n > 1 {
			f.Statement = f.Plus(words.OthersFailed.Of(words.N(n - 1)))
		}
		v.found = append(v.found, f)
	}
	return v, nil
}
