package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// waits checks for deadlocks, held locks and blocked threads.
func waits(ctx context.Context, q *Answers) (view, error) {
	w, err := q.Waits.get()
	if err != nil && (w == nil || w.Looked == 0 || ctx.Err() != nil) {
		return view{}, err
	}
	v := view{}
	notes := append([]error{err, w.Lost}, w.Noted()...)
	slices.SortStableFunc(notes, func(a, b error) int { return cmp.Compare(rankOfNote(a), rankOfNote(b)) })
	v.miss(notes...)
	if n := len(w.Noted()); n > 1 { // any of them may be why something was not found
		v.partly = fmt.Errorf("%w (one of %d parts)", v.partly, n)
	}
	failedIn := q.failures()
	for _, x := range v.findings(w.Verdicts) {
		f := finding(x.Kind, x)
		if x.Kind == answer.FindingHeld && x.Count < manyWaiters ||
			(x.Kind == answer.FindingPermits || x.Kind == answer.FindingFull) && x.Count > 0 && x.Count < manyWaiters {
			f.Severity = answer.SeverityWarning // a lock is often held when a dump is written
		}
		f.Severity = cmp.Or(x.Severity, f.Severity)
		if x.Kind == answer.FindingDependency { // no client library waits
			f.Next = nil
		}
		if len(x.Show) > 0 {
			f.Next = append(slices.Clone(x.Show), f.Next...)
		}
		if failed := failedIn(x.Class); failed != nil {
			f.Clauses = append(f.Clauses, *failed)
		}
		v.found = append(v.found, f)
	}
	v.found = append(v.found, unanswered(w, failedIn)...)
	return v, nil
}

// rankOfNote puts first what says which waits could not be judged: the IL of the program's methods is missing.
func rankOfNote(err error) int {
	if errors.Is(err, dac.ErrILMissing) {
		return 0
	}
	return 1
}

// unanswered describes the promises in dictionaries, such as the answers to requests by their number, that suspended code waits for although
// a task of the class with the dictionary has failed. Without the failure they are the normal state of a client. The failed task may be another
// than what completes the promises: the conclusion is no more than possible.
func unanswered(w *answer.Waits, failedIn func(class string) *answer.Verdict) []answer.Finding {
	var list []answer.Verdict
	of := map[target.Addr]int{}
	for i := range w.Operations {
		o := &w.Operations[i]
		if o.Kind != answer.WaitPromise || !strings.Contains(o.Type.S, "Dictionary") {
			continue
		}
		failed := failedIn(o.Class)
		if failed == nil {
			continue
		}
		at, known := of[o.Object]
		if !known {
			at, of[o.Object] = len(list), len(list)
			list = append(list, answer.Conclude(answer.FindingPromises, failed.Statement, answer.StrengthPossible))
			list[at].Show = []string{"tasks -faulted", "dumpobj " + fmt.Sprintf("%016x", uint64(o.Object))}
		}
		x := &list[at]
		x.Count += o.Count
		x.Statement = words.Unanswered.Of(words.N(x.Count), words.Field(o.Name), failed.Statement)
		x.Because(words.Waiting.Of(words.N(o.Count), words.Method(o.Method.String()), o.Statement))
		x.Sites = append(x.Sites, answer.Site{Method: o.Method, Does: string(o.Kind), Count: o.Count})
	}
	var out []answer.Finding
	for _, x := range list {
		f := finding(x.Kind, x)
		f.Severity, f.Next = answer.SeverityWarning, append(slices.Clone(x.Show), f.Next...)
		out = append(out, f)
	}
	return out
}

// manyWaiters is how many waiting threads make a lock more than briefly contended.
const manyWaiters = 3

// itemsThatSignal returns the conclusions that threads wait for what queued items of the pool were given: no worker takes these items while the
// workers wait for them.
func (q *Answers) itemsThatSignal() []answer.Verdict {
	w, err := q.Waits.get()
	if err != nil {
		return nil
	}
	var out []answer.Verdict
	for _, v := range w.Verdicts {
		if v.Says == words.ItemsSignal.Kind() {
			out = append(out, v)
		}
	}
	return out
}

// mostOverlaps is how many timers with callbacks that overlap are named.
const mostOverlaps = 3

// overlaps describes the timers with several callbacks at once: they take longer than the time between two of them, and fill the pool.
func (q *Answers) overlaps(ctx context.Context) []answer.Verdict {
	if q.timers == nil {
		return nil
	}
	list, err := q.timers(ctx)
	if err != nil {
		return nil // what the timers do is no subject of its own
	}
	several := slices.DeleteFunc(slices.Clone(list.Timers), func(t answer.Timer) bool { return t.Running < 2 || t.Method.S == "" })
	slices.SortStableFunc(several, func(a, b answer.Timer) int { return cmp.Compare(b.Running, a.Running) })
	var out []answer.Verdict
	for i := range several[:min(len(several), mostOverlaps)] {
		t := &several[i]
		every := answer.Statement{}
		if t.Period != nil {
			every = words.DueEvery.Of(words.Duration(time.Duration(*t.Period) * time.Millisecond))
		}
		v := answer.Conclude(answer.NoFinding, words.TimerOverlaps.Of(words.N(t.Running), words.Method(compilernames.Pretty(t.Method.S)), every), answer.StrengthRecorded)
		v.Show, v.Count = []string{"timerinfo"}, int(t.Running)
		out = append(out, v)
	}
	return out
}

// manyOverlaps is how many callbacks of one timer must run at once to be a finding.
const manyOverlaps = 3

// piling returns the timers with so many callbacks at once that most of the busy workers run these: more come until the pool has no worker. It looks at timers only if
// so many workers are in one method.
func (q *Answers) piling(ctx context.Context, p *answer.ThreadPool) (out []answer.Finding) {
	busy, in := 0, map[string]int{}
	for i := range p.Workers {
		if w := &p.Workers[i]; !w.Idle {
			busy++
			in[w.Activity.Caller.S]++
		}
	}
	delete(in, "")
	if !slices.ContainsFunc(slices.Collect(maps.Values(in)), func(n int) bool { return n >= manyOverlaps && 2*n > busy }) {
		return nil
	}
	for _, x := range q.overlaps(ctx) {
		if n := x.Count; n >= manyOverlaps && 2*n > busy {
			x.Kind = answer.FindingPile
			f := finding(x.Kind, x)
			f.Severity, f.Next = answer.SeverityWarning, append(slices.Clone(x.Show), f.Next...)
			out = append(out, f)
		}
	}
	return out
}

// pool checks whether the thread pool keeps up.
func pool(ctx context.Context, q *Answers) (view, error) {
	p, err := q.ThreadPool.get()
	if err != nil {
		return view{}, err
	}
	v := view{workers: len(p.Workers)}
	switch {
	case p.Kind == answer.PoolUnknown:
		return v, firstOf(p.Noted(), target.ErrNotInDump)
	default:
		v.miss(append([]error{p.Queued.Err()}, p.Noted()...)...)
	}
	for _, x := range v.findings(p.Verdicts) {
		f := finding(x.Kind, x)
		if x.Kind == answer.FindingStarved {
			f.Clauses = slices.Concat(f.Clauses, q.itemsThatSignal(), q.overlaps(ctx))
		}
		v.found = append(v.found, f)
	}
	if len(v.found) == 0 {
		v.found = q.piling(ctx, p)
	}
	for i := range p.Verdicts {
		if x := &p.Verdicts[i]; x.Strength == answer.StrengthUnknown {
			v.miss(p.Total.Err(), p.Running.Err(), fmt.Errorf("%s: %w", x.Text, target.ErrNotInDump))
		}
	}
	return v, nil
}
