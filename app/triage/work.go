package triage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
)

// sqlPools looks at pools of connections that have none left.
func sqlPools(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.SQLPools)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Pools {
		p := &list.Pools[i]
		v.partly = cmp.Or(v.partly, p.Waiting.Err)
		if p.Waiting.Err != nil || p.Waiting.Value == 0 || p.Idle.Err == nil && p.Idle.Value > 0 {
			continue
		}
		x := answer.Verdict{Kind: answer.FindingExhausted, Strength: answer.StrengthProved, Count: int(p.Waiting.Value),
			Show: []string{"sqlpools", fmt.Sprintf("dumpobj %x", uint64(p.Address))}}
		x.Text = fmt.Sprintf("%s for a connection of the pool %s", answer.Count(int(p.Waiting.Value), "call waits", "calls wait"), p.Connection)
		if p.Busy.Err == nil && p.Max.Err == nil {
			x.Text += fmt.Sprintf(", %d of at most %d are in use", p.Busy.Value, p.Max.Value)
		}
		if p.Idle.Err != nil || p.Busy.Err != nil || p.Max.Err != nil || p.Busy.Value < p.Max.Value {
			x.Strength = answer.StrengthLikely // that none is left: one may be on its way
		}
		x.Evidence = append(x.Evidence, fmt.Sprintf("the counts of %s %x", p.Type, uint64(p.Address)))
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

// httpClients looks at HttpClients that are not shared, and at requests that wait for a connection.
func httpClients(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.HTTPClients)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Verdicts {
		v.found = append(v.found, finding(list.Verdicts[i].Kind, list.Verdicts[i]))
	}
	for i := range list.Pools {
		p := &list.Pools[i]
		if len(p.Waiting) == 0 || p.Disposed || p.Max.Err != nil || p.Count.Err != nil || p.Count.Value < p.Max.Value || p.Idle.Err != nil || p.Idle.Value > 0 {
			continue // a connection is free, or is being opened
		}
		x := answer.Verdict{Kind: answer.FindingExhausted, Strength: answer.StrengthProved, Count: len(p.Waiting), Show: []string{"httpclients"},
			Evidence: []string{fmt.Sprintf("the queue of HttpConnectionPool %x", uint64(p.Address))}}
		x.Text = fmt.Sprintf("%s for a connection to %s:%d, %d of at most %d are in use", answer.Count(len(p.Waiting), "request waits", "requests wait"), p.Host, p.Port.Value, p.Count.Value, p.Max.Value)
		for k := range p.Waiting {
			if w := p.Waiting[k].Stack; w != nil {
				x.Sites = append(x.Sites, answer.Site{Method: answer.Text{S: asyncName(w)}, Does: "connection"})
			}
		}
		f := finding(answer.FindingExhausted, x)
		f.Object, f.Next = p.Address, []string{"httpclients"}
		v.found = append(v.found, f)
	}
	return v, nil
}

// redis looks at commands that can't be sent to a Redis server.
func redis(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.Redis)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Verdicts {
		v.found = append(v.found, finding(list.Verdicts[i].Kind, list.Verdicts[i]))
	}
	return v, nil
}

// mostClauses is how many groups of equal things a finding names.
const mostClauses = 3

// borrowers groups who has the connections of a pool.
func borrowers(p *answer.SQLPool) []answer.Verdict {
	counts := map[string]int{}
	for i := range p.Connections {
		if who := inHandsOf(p.Connections[i].Stack, p.Connections[i].Threads); who != "" {
			counts[who]++
		}
	}
	return grouped(counts, func(who string, n int) answer.Verdict {
		return answer.Verdict{Statement: answer.Statement{Text: fmt.Sprintf("%s in the hands of %s", answer.Count(n, "of the connections is", "of the connections are"), who)}, Strength: answer.StrengthLikely, Count: n,
			Evidence: []string{"variables of suspended methods and of threads that refer to them"}}
	})
}

// waiters groups who waits for a connection of a pool.
func waiters(p *answer.SQLPool) []answer.Verdict {
	counts := map[string]int{}
	for i := range p.Opening {
		if who := inHandsOf(p.Opening[i].Stack, p.Opening[i].Threads); who != "" {
			counts[who]++
		}
	}
	return grouped(counts, func(who string, n int) answer.Verdict {
		return answer.Verdict{Statement: answer.Statement{Text: fmt.Sprintf("%s in %s", answer.Count(n, "call waits", "calls wait"), who)}, Strength: answer.StrengthLikely, Count: n,
			Evidence: []string{"variables that refer to connections that are being opened"}}
	})
}

// inHandsOf names the code that has something in hand, or returns "".
func inHandsOf(stack *answer.AsyncWork, threads []answer.Worker) string {
	switch {
	case stack != nil:
		return asyncName(stack)
	case len(threads) > 0:
		return compilernames.Pretty(threads[0].Method.String())
	}
	return ""
}

// asyncName returns the outermost method of suspended code that the program itself has, or else the innermost.
func asyncName(w *answer.AsyncWork) string {
	for i := len(w.Frames) - 1; i >= 0; i-- {
		f := &w.Frames[i]
		if f.AsyncPlace != nil && f.Method.S != "" && !answer.LibraryMethod(f.Method.S) {
			return compilernames.Pretty(f.Method.S)
		}
	}
	if len(w.Frames) > 0 && w.Frames[0].AsyncName != nil {
		return w.Frames[0].Name.String()
	}
	return ""
}

// grouped makes a clause of each of the largest groups.
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

// failedTasks looks at tasks whose exceptions nobody has looked at.
func failedTasks(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.Tasks)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	total := len(list.Faults) + int(list.More)
	if total == 0 {
		return v, nil
	}
	counts := map[string]int{}
	var sites []answer.Site
	for i := range list.Faults {
		t := &list.Faults[i]
		sites = append(sites, answer.FailedSite(t.Name, t.Exceptions))
		words := t.Name.String()
		if len(t.Exceptions) > 0 {
			words += ": " + t.Exceptions[0].Type.String()
			if m := t.Exceptions[0].Message; m.Err == nil && m.S != "" {
				words += ": " + m.S
			}
		}
		counts[words]++
	}
	clauses := grouped(counts, func(words string, n int) answer.Verdict {
		return answer.Verdict{Kind: answer.FindingTasks, Statement: answer.Statement{Text: words}, Strength: answer.StrengthRecorded, Count: n, Show: []string{"tasks -faulted"}}
	})
	if list.More > 0 {
		sites = append(sites, answer.Site{Count: int(list.More)})
	}
	clauses[0].Sites = sites
	f := finding(answer.FindingTasks, clauses...)
	f.Text, f.Count = fmt.Sprintf("%d tasks failed, and nobody has looked at their exceptions: most often %s", total, clauses[0].Text), total
	if total == 1 {
		f.Text = "a task failed, and nobody has looked at its exception: " + clauses[0].Text
	}
	v.found = append(v.found, f)
	return v, nil
}

// hosts looks at hosted services that failed, and at hosts that are stopping.
func hosts(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.Hosts)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for _, x := range list.Verdicts {
		v.found = append(v.found, finding(x.Kind, x))
	}
	return v, nil
}

// initializers looks at type initializers that failed. They are one finding: one that fails makes others fail.
func initializers(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.TypeInits)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	if n := len(list.Verdicts); n > 0 {
		f := finding(answer.FindingInitializer, list.Verdicts...)
		if f.Count = n; n > 1 {
			f.Text += "; " + answer.Count(n-1, "other initializer failed", "other initializers failed")
		}
		v.found = append(v.found, f)
	}
	return v, nil
}
