package triage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
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
		x.Text = fmt.Sprintf("%s for a connection of the pool %s", counted(int(p.Waiting.Value), "call waits", "calls wait"), p.Connection)
		if p.Busy.Err == nil && p.Max.Err == nil {
			x.Text += fmt.Sprintf(", %d of at most %d are in use", p.Busy.Value, p.Max.Value)
		}
		if p.Idle.Err != nil || p.Busy.Err != nil || p.Max.Err != nil || p.Busy.Value < p.Max.Value {
			x.Strength = answer.StrengthLikely // that none is left: one may be on its way
		}
		x.Evidence = append(x.Evidence, fmt.Sprintf("the counts of %s %x", p.Type, uint64(p.Address)))
		f := finding(answer.FindingExhausted, append([]answer.Verdict{x}, borrowers(p)...)...)
		f.Object = p.Address
		v.found = append(v.found, f)
	}
	return v, nil
}

// mostClauses is how many groups of equal things a finding names.
const mostClauses = 3

// borrowers groups who has the connections of a pool.
func borrowers(p *answer.SQLPool) []answer.Verdict {
	counts := map[string]int{}
	for i := range p.Connections {
		c := &p.Connections[i]
		var who string
		switch {
		case c.Stack != nil:
			who = asyncName(c.Stack)
		case len(c.Threads) > 0:
			who = c.Threads[0].Method.String()
		}
		if who != "" {
			counts[who]++
		}
	}
	return grouped(counts, func(who string, n int) answer.Verdict {
		return answer.Verdict{Text: fmt.Sprintf("%d of the connections are in the hands of %s", n, who), Strength: answer.StrengthLikely, Count: n,
			Evidence: []string{"variables of suspended methods and of threads that refer to them"}}
	})
}

// asyncName returns the outermost method of suspended code that the program itself has, or else the innermost.
func asyncName(w *answer.AsyncWork) string {
	for i := len(w.Frames) - 1; i >= 0; i-- {
		f := &w.Frames[i]
		if f.AsyncPlace != nil && f.Method.S != "" && !answer.LibraryMethod(f.Method.S) {
			return f.Method.S
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
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
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
	for i := range list.Faults {
		t := &list.Faults[i]
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
		return answer.Verdict{Kind: answer.FindingTasks, Text: words, Strength: answer.StrengthRecorded, Count: n, Show: []string{"tasks -faulted"}}
	})
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
	for i := range list.Verdicts {
		x := list.Verdicts[i]
		v.found = append(v.found, finding(x.Kind, x))
	}
	return v, nil
}
