package triage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// waits checks for deadlocks, held locks and blocked threads.
func waits(ctx context.Context, q *Answers) (view, error) {
	w, err := q.Waits.get()
	if err != nil && (w == nil || w.Looked == 0 || ctx.Err() != nil) {
		return view{}, err
	}
	v := view{partly: cmp.Or(err, w.Lost, firstOf(w.Noted(), nil))}
	for _, x := range v.findings(w.Verdicts) {
		f := finding(x.Kind, x)
		if x.Kind == answer.FindingHeld && x.Count < manyWaiters || x.Kind == answer.FindingPermits && x.Count > 0 && x.Count < manyWaiters {
			f.Severity = answer.SeverityWarning // a lock is often held when a dump is written
		}
		f.Severity = cmp.Or(x.Severity, f.Severity)
		if len(x.Show) > 0 {
			f.Next = append(slices.Clone(x.Show), f.Next...)
		}
		v.found = append(v.found, f)
	}
	return v, nil
}

// manyWaiters is how many waiting threads make a lock more than briefly contended.
const manyWaiters = 3

// pool checks whether the thread pool keeps up.
func pool(_ context.Context, q *Answers) (view, error) {
	p, err := q.ThreadPool.get()
	if err != nil {
		return view{}, err
	}
	v := view{workers: len(p.Workers)}
	switch {
	case p.Kind == answer.PoolUnknown:
		return v, firstOf(p.Noted(), target.ErrNotInDump)
	default:
		v.partly = cmp.Or(p.Queued.Err, firstOf(p.Noted(), nil))
	}
	for _, x := range v.findings(p.Verdicts) {
		v.found = append(v.found, finding(x.Kind, x))
	}
	for i := range p.Verdicts {
		if x := &p.Verdicts[i]; x.Strength == answer.StrengthUnknown {
			v.partly = cmp.Or(v.partly, p.Total.Err, p.Running.Err, fmt.Errorf("%s: %w", x.Text, target.ErrNotInDump))
		}
	}
	return v, nil
}
