package triage

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// neverOpened reports whether many requests of a pool wait for connections, none was opened, and the dump does not record since when any of them waits.
// A connection is usually opened in a moment, so few dumps of a healthy process show this.
func neverOpened(p *answer.HTTPPool, waiting []answer.HTTPWait) bool {
	if p.Disposed || len(waiting) < manySlow || len(p.Running) > 0 || p.Opening.Err() != nil || p.Opening.Value == 0 || p.Count.Err() != nil || p.Count.Value > p.Opening.Value {
		return false
	}
	return !slices.ContainsFunc(waiting, func(w answer.HTTPWait) bool { return w.Age.Err() == nil })
}

// unopened describes such a pool. It is a finding if the process waits for it with at least half of the requests that it serves, and does not record since when it
// serves them. Else missing says what is not known.
func (q *Answers) unopened(p *answer.HTTPPool, waiting []answer.HTTPWait, whole bool) (f *answer.Finding, missing error) {
	in := map[target.Addr]bool{}
	var code []target.Addr
	of, at := map[string]int{}, map[string]int{}
	for i := range waiting {
		w := waiting[i].Stack
		if w == nil {
			continue
		}
		of[asyncName(w)]++
		at[cmp.Or(innermost(w), asyncName(w))]++
		for k := range w.Frames {
			in[w.Frames[k].Object] = true
			code = append(code, w.Frames[k].Object)
		}
	}
	all, behind := q.served(), 0
	for i := range all {
		s := &all[i]
		if s.Stack == nil || !slices.ContainsFunc(s.Stack.Frames, func(f answer.AsyncFrame) bool { return in[f.Object] }) {
			continue
		}
		if s.Started != nil {
			return nil, nil // the time since then decides, see slow
		}
		behind++
	}
	if behind < manySlow || 2*behind < len(all) {
		return nil, target.Unsupportedf("since when %d requests to %s wait for a connection: none has been opened, and only time limits and a server's clock record the time",
			len(waiting), words.Server(p.Host, p.Port).Text)
	}
	opening := words.BeingOpened.Of(words.N(p.Opening.Value))
	x := answer.Conclude(answer.FindingDependency, words.ServerUnopened.Of(words.N(len(waiting)), words.Server(p.Host, p.Port), byProxy(p), opening),
		answer.StrengthPossible, words.QueueOfPool.Of(words.ShortObject(p.Address)))
	x.Count, x.Show, x.Waiting = len(waiting), []string{"httpclients"}, code
	if !whole {
		x = words.LowerOne(x, answer.Premises{answer.ListComplete: answer.PremiseDoubtful}.State)
	}
	clauses := waitClauses(&x, of, at, answer.WaitConnection)
	out := finding(answer.FindingDependency, append([]answer.Verdict{x}, clauses...)...)
	out.Object, out.Severity = p.Address, answer.SeverityWarning
	return &out, nil
}
